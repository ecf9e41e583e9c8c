// Play, scrub, speed; keys: space plays, arrows step.
import { element, number } from "./elements.js";

const FACTORS = [1 / 16, 1 / 8, 1 / 4, 1 / 2, 1, 2, 4, 8, 16];
const LONGEST = 30; // seconds that playing should take at most
const SHORTEST = 1.5;
const TAKE_ARROWS = "select, input[type=range]:not(#scrub)"; // they have a use of their own for these keys
const TAKE_SPACE = "select, input[type=checkbox], summary, button";

/** The bar below the picture. */
export function transport(host, clock, unit) {
  const duration = clock.end - clock.start;
  const natural = duration > LONGEST || duration < SHORTEST ? nice(duration / 10) : 1;
  clock.speed = natural;

  const play = element("button", { id: "play", class: "round", type: "button", click: () => clock.toggle() });
  const scrub = element("input", {
    id: "scrub",
    type: "range",
    min: clock.start,
    max: clock.end,
    step: "any",
    "aria-label": "time",
    input: () => {
      const wanted = Number(scrub.value);
      clock.pause(); // tells all listeners, of which the slider is one
      clock.set(wanted);
    },
  });
  const readout = element("output", { id: "time" });
  const speed = element("select", {
    id: "speed",
    title: "time of the run in a second",
    "aria-label": "speed",
    change: () => (clock.speed = Number(speed.value)),
  });
  for (const factor of FACTORS) {
    const value = factor * natural;
    speed.append(element("option", { value }, `\u00d7 ${number(value, 3).replace(/\.?0+$/, "")}`));
  }
  speed.selectedIndex = FACTORS.indexOf(1);
  host.append(play, scrub, readout, speed);

  clock.listen(() => {
    play.classList.toggle("playing", clock.playing);
    play.setAttribute("aria-label", clock.playing ? "pause" : "play");
    scrub.value = clock.time;
    scrub.style.setProperty("--done", `${duration > 0 ? (100 * (clock.time - clock.start)) / duration : 0}%`);
    readout.textContent = `${number(clock.time, 5)} ${unit}`.trim();
  });
  document.addEventListener("keydown", (event) => {
    const action = { " ": () => clock.toggle(), ArrowRight: () => clock.step(1), ArrowLeft: () => clock.step(-1) };
    if (!(event.key in action) || event.ctrlKey || event.metaKey || event.altKey) return;
    if (event.target.closest(event.key === " " ? TAKE_SPACE : TAKE_ARROWS)) return;
    event.preventDefault();
    action[event.key]();
  });
}

/** The nearest of 1, 2, 5 times a power of ten. */
export function nice(value) {
  if (!(value > 0)) return 1;
  const power = 10 ** Math.floor(Math.log10(value));
  const lead = value / power;
  return power * (lead < 1.5 ? 1 : lead < 3.5 ? 2 : lead < 7.5 ? 5 : 10);
}
