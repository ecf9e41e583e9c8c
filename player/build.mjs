// Bundles source/ and the parts of three.js it uses into one script of the Python package; run by `make player`.
import { createHash } from "node:crypto";
import { readFileSync, readdirSync, writeFileSync } from "node:fs";
import { build } from "esbuild";

const here = new URL("./", import.meta.url);
const target = new URL("../src/porthos/show/player/player.js", here);
const read = (name) => readFileSync(new URL(name, here), "utf8");

// tests/test_player.py computes both hashes, so that a bundle older than its sources, or edited by hand, is noticed
const names = ["build.mjs", "package-lock.json", "package.json", ...readdirSync(new URL("source/", here)).map((n) => `source/${n}`)];
const hash = createHash("sha256");
for (const name of names.sort()) hash.update(`${name}\n${read(name)}\n`);

const three = JSON.parse(read("node_modules/three/package.json"));
const licence = read("node_modules/three/LICENSE").trim().replace(/\r/g, "");
const notice = `/*! The player of Porthos (MIT licence), with parts of three.js ${three.version}:\n\n${licence}\n*/`;

const result = await build({
  absWorkingDir: new URL(".", here).pathname,
  entryPoints: ["source/main.js"],
  bundle: true,
  minify: true,
  format: "iife",
  target: "es2022",
  legalComments: "none",
  banner: { js: notice },
  write: false,
});
const body = result.outputFiles[0].text;
const sums = { sources: hash.digest("hex"), bundle: createHash("sha256").update(body).digest("hex") };
const script = `/* sources sha256 ${sums.sources}, bundle sha256 ${sums.bundle} */\n${body}`;
if (/<\/script|<!--/i.test(script)) throw new Error("the bundle would end the <script> element that holds it");
writeFileSync(target, script);
writeFileSync(new URL("LICENSE-three.txt", target), `${licence}\n`);
console.log(`${target.pathname.split("/").slice(-5).join("/")}: ${(script.length / 1e3).toFixed(0)} kB`);
