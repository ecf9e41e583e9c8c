// Where an axis has its numbers, and how they are written.
import { nice } from "./controls.js";

/** The power of ten that goes to the unit of an axis; 0 where numbers are short without it. */
export function powerOf(size) {
  const power = size > 0 ? Math.floor(Math.log10(size)) : 0;
  return power < -3 || power > 4 ? power : 0;
}

/** About `count` round values between two limits, written in units of 10^power. */
export function linearTicks(low, high, count, power) {
  const step = nice((high - low) / Math.max(2, count));
  const digits = Math.max(0, -Math.floor(Math.log10(step) - power + 1e-9));
  const ticks = [];
  for (let k = Math.ceil(low / step - 1e-9); k * step <= high + 1e-9 * step; k++) {
    const base = ((k * step) / 10 ** power).toFixed(Math.min(digits, 12)).replace("-", "\u2212");
    ticks.push({ value: k * step, label: { base } });
  }
  return ticks;
}

/** Powers of ten between two exponents, at most about seven. */
export function logTicks(low, high) {
  const step = Math.max(1, Math.ceil((high - low) / 6));
  const ticks = [];
  for (let e = Math.ceil(low / step) * step; e <= high; e += step) {
    ticks.push({ value: 10 ** e, label: { base: "10", exponent: String(e).replace("-", "\u2212") } });
  }
  return ticks;
}
