// The page comes alive: one clock, the picture, the plots.
import { readData } from "./data.js";
import { Clock } from "./clock.js";
import { transport } from "./controls.js";
import { Panel } from "./panel.js";
import { Phase } from "./phase.js";
import { switches } from "./switches.js";
import { Viewer, offersWebGL } from "./viewer.js";

const page = (id) => document.getElementById(id);
const data = readData(document);
const clock = new Clock(data.times);
const repaint = [];

transport(page("transport"), clock, data.unit);
if (data.phase) {
  new Phase(page("picture"), page("switches"), data, clock);
} else if (offersWebGL()) {
  const viewer = new Viewer(page("picture"), data);
  switches(page("switches"), viewer, data);
  clock.listen(() => viewer.show(...clock.between(clock.time)));
  repaint.push(() => viewer.paint());
} else {
  page("picture").classList.add("missing");
  page("no-webgl").hidden = false;
}
for (const [index, name] of data.panels.entries()) {
  new Panel(page(index < data.beside ? "plots-beside" : "plots"), data, name, clock);
}

const scheme = page("scheme");
const dark = matchMedia("(prefers-color-scheme: dark)");
const painted = () => repaint.forEach((paint) => paint());
scheme.addEventListener("click", () => {
  const root = document.documentElement;
  const now = root.dataset.scheme ?? (dark.matches ? "dark" : "light");
  root.dataset.scheme = now === "dark" ? "light" : "dark";
  painted();
});
dark.addEventListener("change", painted);
document.documentElement.dataset.ready = "yes";
