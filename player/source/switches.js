// What of the picture is shown, and from where it is seen.
import { element } from "./elements.js";

const MANY = 12; // paths that are offered at once
const GROUPS = [
  ["joints", "joints", true],
  ["elements", "springs and dampers", true],
  ["loads", "loads", true],
  ["reactions", "reactions", false],
  ["floor", "grid", true],
];

/** Check boxes for groups and paths, buttons for the camera. */
export function switches(host, viewer, data) {
  const groups = element("div", { class: "row" });
  for (const [name, label, shown] of GROUPS) {
    if (!viewer.has(name)) continue;
    viewer.toggle(name, shown);
    groups.append(box(label, shown, `swatch ${name}`, (on) => viewer.toggle(name, on)));
  }
  if (viewer.arrows.length) groups.append(stretch(viewer));
  const camera = element("div", { class: "row camera" });
  const views = { fit: () => viewer.fit(), x: () => viewer.look([1, 0, 0]), y: () => viewer.look([0, -1, 0]) };
  views.z = () => viewer.look([0, 0, 1]);
  views["3D"] = () => viewer.look(data.view);
  const titles = { fit: "show all", x: "look along x", y: "look along y", z: "look along z", "3D": "as at the start" };
  for (const [name, act] of Object.entries(views)) {
    camera.append(element("button", { type: "button", title: titles[name], click: act }, name));
  }
  host.append(groups, camera, paths(viewer, data));
}

function paths(viewer, data) {
  const list = element("div", { class: "row" });
  for (const [index, path] of data.paths.entries()) {
    const drawn = viewer.paths[index];
    list.append(box(path.name, path.shown, `swatch c${path.colour}`, (on) => viewer.togglePath(drawn, on)));
  }
  viewer.onClick((body, at) => {
    list.append(clicked(viewer, data.bodies[body].name, body, at));
    list.lastChild.scrollIntoView({ block: "nearest" });
  });
  if (data.paths.length > MANY) return element("details", { id: "paths" }, element("summary", {}, "paths"), list);
  list.prepend(element("span", { class: "title" }, "paths"));
  return element("div", { id: "paths" }, list);
}

/** A point of a body that was clicked at: its path can be hidden and removed. */
function clicked(viewer, name, body, at) {
  const path = viewer.addPoint(body, at);
  const place = at.toArray().map((x) => Number(x.toPrecision(3)) + 0).join(", ").replace(/-/g, "\u2212");
  const label = box(`${name} (${place})`, true, `swatch c${body % 7}`, (on) => viewer.togglePath(path, on));
  label.title = "a point in the frame of its body";
  const entry = element("span", { class: "point" }, label);
  const remove = () => {
    viewer.removePath(path);
    entry.remove();
  };
  entry.append(element("button", { type: "button", "aria-label": "remove this point", click: remove }, "\u00d7"));
  return entry;
}

function stretch(viewer) {
  const range = { type: "range", min: -2, max: 5, step: 0.25, value: 0, title: "length of arrows" };
  const input = element("input", { ...range, input: () => viewer.enlarge(2 ** Number(input.value)) });
  return element("label", {}, "arrows", input);
}

function box(label, checked, swatch, change) {
  const input = element("input", { type: "checkbox", "data-switch": label, change: () => change(input.checked) });
  input.checked = checked;
  return element("label", {}, input, element("span", { class: swatch }), label);
}
