// One plot over time: a menu of quantities, curves, a cursor at the time of the clock, a reading under the pointer.
import { axes, limits, path, withPower } from "./axes.js";
import { drawing, element, number, symbol } from "./elements.js";
import { linearTicks, logTicks, powerOf } from "./ticks.js";

const ROOM = { left: 58, right: 12, top: 8, bottom: 34 };
const COVERED = 0.01; // curves nearer to each other than this share of the panel cover each other
const DASHES = ["", "6 4", "7 3 2 3", "2 3"];

export class Panel {
  constructor(host, data, name, clock) {
    this.data = data;
    this.clock = clock;
    this.menu = element("select", { "aria-label": "quantity", change: () => this.choose(this.menu.value) });
    for (const group of new Set(data.quantities.map((q) => q.group))) {
      const options = data.quantities.filter((q) => q.group === group);
      this.menu.append(element("optgroup", { label: group }, ...options.map((q) => element("option", { value: q.name }, q.title))));
    }
    this.legend = element("div", { class: "legend" });
    this.svg = drawing("svg", { role: "img" });
    this.figure = element("figure", { class: "panel" }, element("header", {}, this.menu, this.legend), this.svg);
    host.append(this.figure);
    this.listenToPointer();
    this.choose(name);
    new ResizeObserver(() => this.draw()).observe(this.svg);
    clock.listen(() => this.follow());
  }

  listenToPointer() {
    const time = (event) => this.timeAt(event.clientX - this.svg.getBoundingClientRect().left);
    const scrub = (event) => {
      const wanted = time(event);
      this.clock.pause();
      this.clock.set(wanted);
    };
    this.svg.addEventListener("pointerdown", (event) => {
      this.svg.setPointerCapture(event.pointerId);
      scrub(event);
    });
    this.svg.addEventListener("pointermove", (event) => {
      if (event.buttons & 1) scrub(event);
      this.hover = time(event);
      this.follow();
    });
    this.svg.addEventListener("pointerleave", () => {
      this.hover = undefined;
      this.follow();
    });
  }

  choose(name) {
    this.quantity = this.data.quantities.find((q) => q.name === name);
    this.menu.value = name;
    this.svg.setAttribute("aria-label", `${this.quantity.title} over time`);
    this.curves = this.quantity.curves.map((curve) => ({ ...curve, values: this.data.table(curve.values, 1) }));
    this.readings = this.curves.map(() => element("output"));
    const entries = this.curves.map((curve, k) =>
      element("span", { class: `entry c${k % 7}` }, element("span", { class: "line" }), symbol(curve.symbol), " ", this.readings[k]),
    );
    this.moment = element("span", { class: "moment" });
    this.legend.replaceChildren(...entries, this.moment);
    this.draw();
  }

  draw() {
    const width = this.svg.clientWidth;
    const height = this.svg.clientHeight;
    if (!width || !height) return;
    this.box = { left: ROOM.left, right: width - ROOM.right, top: ROOM.top, bottom: height - ROOM.bottom };
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.scale();
    this.cursor = drawing("line", { class: "cursor" });
    this.dots = this.curves.map((_, k) => drawing("circle", { class: `dot c${k % 7}`, r: 3.5 }));
    this.hair = drawing("line", { class: "hair" });
    this.svg.replaceChildren(...this.axes(), ...this.lines(), this.hair, this.cursor, ...this.dots);
    this.follow();
  }

  /** Limits of both axes and the maps from values to pixels. */
  scale() {
    const { log } = this.quantity;
    const all = this.curves.flatMap((curve) => Array.from(curve.values));
    const [low, high] = log ? decades(all) : limits(all);
    const { left, right, top, bottom } = this.box;
    const { start, end } = this.clock;
    const span = end > start ? end - start : 1;
    this.limits = { low, high };
    this.toX = (t) => left + ((t - start) / span) * (right - left);
    this.toY = (y) => bottom - (((log ? Math.log10(y) : y) - low) / (high - low)) * (bottom - top);
    this.timeAt = (x) => start + ((x - left) / (right - left)) * span;
  }

  axes() {
    const { left, right, top, bottom } = this.box;
    const { log, axis } = this.quantity;
    const { low, high } = this.limits;
    const power = log ? 0 : powerOf(Math.max(Math.abs(low), Math.abs(high)));
    return axes(this.box, {
      rows: log ? logTicks(low, high) : linearTicks(low, high, (bottom - top) / 42, power),
      columns: linearTicks(this.clock.start, this.clock.end, (right - left) / 80, 0),
      toX: this.toX,
      toY: this.toY,
      below: this.data.unit ? `time t [${this.data.unit}]` : "time t",
      beside: withPower(axis, power),
    });
  }

  lines() {
    const times = this.clock.times;
    const { top, bottom } = this.box;
    const pixels = this.curves.map(({ values }) => Array.from(values, (y) => this.toY(y)));
    return pixels.map((curve, k) => {
      const covers = (other) => curve.every((y, i) => !(Math.abs(y - other[i]) > COVERED * (bottom - top)));
      const dash = DASHES[pixels.slice(0, k).filter(covers).length % DASHES.length];
      const points = curve.map((y, i) => [this.toX(times[i]), y]); // a zero on a logarithmic axis is a gap
      return drawing("path", { class: `curve c${k % 7}`, d: path(points), "stroke-dasharray": dash });
    });
  }

  /** Cursor, dots and readings at the time of the clock, or under the pointer. */
  follow() {
    if (!this.cursor) return;
    const { top, bottom } = this.box;
    const x = this.toX(this.clock.time);
    for (const [name, value] of Object.entries({ x1: x, x2: x, y1: top, y2: bottom })) this.cursor.setAttribute(name, value);
    const read = this.clock.nearest(this.hover ?? this.clock.time);
    const at = this.clock.times[read];
    this.hair.style.display = this.hover === undefined ? "none" : "";
    for (const [name, value] of Object.entries({ x1: this.toX(at), x2: this.toX(at), y1: top, y2: bottom })) this.hair.setAttribute(name, value);
    for (const [k, { values }] of this.curves.entries()) {
      this.readings[k].textContent = number(values[read]);
      const y = this.toY(values[read]);
      const seen = Number.isFinite(y);
      this.dots[k].style.display = seen ? "" : "none";
      if (seen) {
        this.dots[k].setAttribute("cx", this.toX(at));
        this.dots[k].setAttribute("cy", y);
      }
    }
    this.moment.textContent = this.hover === undefined ? "" : `at ${number(at, 4)} ${this.data.unit}`;
  }
}

/** Exponents of ten around the positive values, at least two of them. */
function decades(values) {
  const positive = values.filter((y) => Number.isFinite(y) && y > 0);
  if (!positive.length) return [-17, -15];
  const low = Math.min(...positive);
  return [Math.log10(low / 2), Math.log10(Math.max(2 * Math.max(...positive), 100 * low))];
}
