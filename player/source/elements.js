// Small helpers for elements of the page. Text always goes in as text, never as markup: names are the user's.

/** An element with attributes and children; functions become listeners. */
export function element(tag, attributes = {}, ...children) {
  return furnish(document.createElement(tag), attributes, children);
}

/** The same for drawings. */
export function drawing(tag, attributes = {}, ...children) {
  return furnish(document.createElementNS("http://www.w3.org/2000/svg", tag), attributes, children);
}

/** Gives an element attributes, listeners and children. */
export function furnish(node, attributes, children = []) {
  for (const [name, value] of Object.entries(attributes)) {
    if (typeof value === "function") node.addEventListener(name, value);
    else node.setAttribute(name, value);
  }
  node.append(...children);
  return node;
}

/** A symbol such as L_x, its index written low. */
export function symbol(text) {
  const [stem, index] = text.split(/_(?=[^_\s]+$)/);
  const node = element("i", {}, stem);
  if (index) node.append(element("sub", {}, index));
  return node;
}

/** A number with `digits` digits, powers of ten where they are shorter. */
export function number(value, digits = 5) {
  if (!Number.isFinite(value)) return "–";
  if (value === 0) return "0";
  const power = Math.floor(Math.log10(Math.abs(value)));
  const text = power < -3 || power > 5 ? value.toExponential(digits - 2) : value.toPrecision(digits);
  return text.replace(/-/g, "\u2212").replace("e+", "e");
}

/** A colour of the style sheet as the browser resolves it now, "rgb(...)". */
export function colour(name) {
  const probe = element("span", { style: `color: var(--${name}); display: none` });
  document.body.append(probe);
  const value = getComputedStyle(probe).color;
  probe.remove();
  return value;
}
