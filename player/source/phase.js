// A plane of two quantities in which a system without bodies moves: its whole way, the past of it, and where it is now.
import { axes, limits, path, withPower } from "./axes.js";
import { drawing, element } from "./elements.js";
import { linearTicks, powerOf } from "./ticks.js";

const ROOM = { left: 64, right: 18, top: 16, bottom: 40 };

export class Phase {
  constructor(host, bar, data, clock) {
    Object.assign(this, { host, data, clock });
    this.svg = drawing("svg", { role: "img", class: "phase" });
    host.append(this.svg);
    this.across = this.menu("across", data.phase.x);
    this.along = this.menu("upwards", data.phase.y);
    bar.append(...[this.across, this.along].map((menu) => element("label", {}, menu.title, menu)));
    new ResizeObserver(() => this.draw()).observe(host);
    clock.listen(() => this.follow());
  }

  /** Every curve of the page, to choose from. */
  menu(title, [name, number]) {
    const menu = element("select", { title, "aria-label": title, change: () => this.draw() });
    for (const group of new Set(this.data.quantities.map((q) => q.group))) {
      const options = [];
      for (const q of this.data.quantities.filter((one) => one.group === group)) {
        for (const [k, curve] of q.curves.entries()) {
          const text = q.curves.length > 1 ? `${q.title}, ${curve.symbol}` : q.title;
          options.push(element("option", { value: JSON.stringify([q.name, k]) }, text));
        }
      }
      menu.append(element("optgroup", { label: group }, ...options));
    }
    menu.value = JSON.stringify([name, number]);
    return menu;
  }

  chosen(menu) {
    const [name, k] = JSON.parse(menu.value);
    const quantity = this.data.quantities.find((q) => q.name === name);
    const { symbol, values } = quantity.curves[k];
    const said = quantity.axis === symbol ? symbol : `${symbol}, ${quantity.axis}`;
    return { said, values: this.data.table(values, 1) };
  }

  draw() {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (!width || !height) return;
    const box = { left: ROOM.left, right: width - ROOM.right, top: ROOM.top, bottom: height - ROOM.bottom };
    const [x, y] = [this.chosen(this.across), this.chosen(this.along)];
    const [xs, ys] = [limits(x.values), limits(y.values)];
    const toX = (value) => box.left + ((value - xs[0]) / (xs[1] - xs[0])) * (box.right - box.left);
    const toY = (value) => box.bottom - ((value - ys[0]) / (ys[1] - ys[0])) * (box.bottom - box.top);
    const [px, py] = [xs, ys].map(([low, high]) => powerOf(Math.max(Math.abs(low), Math.abs(high))));
    const frame = axes(box, {
      rows: linearTicks(...ys, (box.bottom - box.top) / 60, py),
      columns: linearTicks(...xs, (box.right - box.left) / 90, px),
      toX, toY,
      below: withPower(x.said, px),
      beside: withPower(y.said, py),
    });
    this.points = Array.from(x.values, (value, k) => [toX(value), toY(y.values[k])]);
    this.svg.setAttribute("viewBox", `0 0 ${width} ${height}`);
    this.svg.setAttribute("aria-label", `${y.said} over ${x.said}`);
    this.past = drawing("path", { class: "curve past" });
    this.dot = drawing("circle", { class: "dot c0", r: 6 });
    this.svg.replaceChildren(...frame, drawing("path", { class: "curve whole", d: path(this.points) }), this.past, this.dot);
    this.follow();
  }

  /** The way until now. */
  follow() {
    if (!this.points) return;
    const [low, high, share] = this.clock.between(this.clock.time);
    const now = [0, 1].map((c) => this.points[low][c] * (1 - share) + this.points[high][c] * share);
    const seen = now.every(Number.isFinite);
    this.past.setAttribute("d", path(seen ? [...this.points.slice(0, low + 1), now] : this.points.slice(0, low + 1)));
    this.dot.style.display = seen ? "" : "none";
    if (!seen) return;
    this.dot.setAttribute("cx", now[0]);
    this.dot.setAttribute("cy", now[1]);
  }
}
