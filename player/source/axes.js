// The frame of a plot: grid, numbers, and what both axes say.
import { drawing } from "./elements.js";

/** Lines and texts of both axes; `rows` and `columns` are ticks, `below` and `beside` what is said of x and y. */
export function axes(box, { rows, columns, toX, toY, below, beside }) {
  const { left, right, top, bottom } = box;
  const parts = [];
  for (const { value, label } of rows) {
    const y = toY(value);
    parts.push(drawing("line", { class: "grid", x1: left, x2: right, y1: y, y2: y }));
    const text = drawing("text", { class: "tick", x: left - 6, y: y + 4, "text-anchor": "end" });
    text.append(label.base);
    if (label.exponent !== undefined) text.append(drawing("tspan", { dy: -5, class: "exponent" }, label.exponent));
    parts.push(text);
  }
  for (const { value, label } of columns) {
    const x = toX(value);
    parts.push(drawing("line", { class: "grid", x1: x, x2: x, y1: top, y2: bottom }));
    parts.push(drawing("text", { class: "tick", x, y: bottom + 15, "text-anchor": "middle" }, label.base));
  }
  parts.push(drawing("path", { class: "frame", d: `M ${left} ${top} V ${bottom} H ${right}` }));
  parts.push(drawing("text", { class: "axis", x: right, y: bottom + 30, "text-anchor": "end" }, below));
  parts.push(drawing("text", { class: "axis", x: left - 50, y: bottom + 30 }, beside));
  return parts;
}

/** Limits of values with a rim; constants, but for round-off, are drawn as constants. */
export function limits(values) {
  const FLAT = 1e-6; // a curve that varies less, relative to its size
  let low = Infinity;
  let high = -Infinity;
  for (const value of values) {
    if (!Number.isFinite(value)) continue;
    low = Math.min(low, value);
    high = Math.max(high, value);
  }
  if (low > high) [low, high] = [-1, 1];
  const size = Math.max(Math.abs(low), Math.abs(high));
  if (high - low <= FLAT * size || size === 0) [low, high] = [low - 0.1 * (size || 1), high + 0.1 * (size || 1)];
  const rim = 0.06 * (high - low);
  return [low - rim, high + rim];
}

/** What an axis says, with the power of ten that its numbers are written in. */
export function withPower(axis, power) {
  if (!power) return axis;
  const scale = `1e${power}`;
  return (axis.includes("[") ? axis.replace("[", `[${scale} `) : `${axis} [${scale}]`).replace("-", "\u2212");
}

/** A line through points, with gaps where one is no finite number. */
export function path(points) {
  let text = "";
  let pen = "M";
  for (const [x, y] of points) {
    const finite = Number.isFinite(x) && Number.isFinite(y);
    if (finite) text += `${pen}${x.toFixed(1)} ${y.toFixed(1)}`;
    pen = finite ? "L" : "M";
  }
  return text;
}
