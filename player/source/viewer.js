// The moving mechanism: solids on parts, links between parts, arrows, paths; drawn only when something changed.
import {
  AmbientLight, Color, DirectionalLight, GridHelper, Group, HemisphereLight, LineBasicMaterial, LineSegments, Mesh,
  MeshStandardMaterial, PerspectiveCamera, Quaternion, Scene, Vector3, WebGLRenderer,
} from "three";
import { OrbitControls } from "three/addons/controls/OrbitControls.js";
import { Arrow } from "./arrows.js";
import { nice } from "./controls.js";
import { colour, element, furnish } from "./elements.js";
import { linkOf } from "./links.js";
import { listenToClicks, MOTION, Path, storedWay, wayOf } from "./paths.js";
import { shapeOf } from "./solids.js";

const OPENING = 32; // degrees
const MARGIN = 1.08; // around the scene
const FINE = 0.002; // shares of the size of the scene: edges of what is thinner would cover it

/** Whether a picture can be drawn at all. */
export function offersWebGL() {
  try {
    return Boolean(document.createElement("canvas").getContext("webgl2"));
  } catch {
    return false;
  }
}

export class Viewer {
  constructor(host, data) {
    this.host = host;
    this.data = data;
    this.up = new Vector3(...data.up);
    const names = ["joints", "elements", "loads", "reactions", "floor"];
    this.groups = Object.fromEntries(names.map((name) => [name, new Group()]));
    this.enlarged = 1; // of arrows
    this.onParts = { joints: [], elements: [] }; // solids of these groups
    this.materials = []; // [material, name of its colour]
    this.scene = new Scene();
    this.scene.add(...Object.values(this.groups));
    this.addParts();
    this.links = data.links.map((link) => this.addLink(link));
    this.arrows = data.arrows.map((arrow) => this.addArrow(arrow));
    this.paths = data.paths.map((path) => this.addPath(storedWay(data, path), `c${path.colour}`, path.shown));
    this.addFloor();
    this.addLights();
    this.addCamera();
    this.paint();
    this.look(data.view);
  }

  // --- what is in the scene

  addParts() {
    this.parts = this.data.bodies.map(() => new Group());
    this.ground = new Group();
    this.motion = this.data.bodies.map((body) => this.data.table(body.motion, MOTION));
    this.scene.add(this.ground, ...this.parts);
    for (const solid of this.data.solids) {
      const { solid: geometry, edges, round, mark } = shapeOf(solid.kind, solid.size);
      const material = new MeshStandardMaterial({
        roughness: 0.55,
        metalness: 0.05,
        flatShading: false,
        transparent: solid.opacity < 1,
        opacity: solid.opacity,
        depthWrite: solid.opacity === 1,
        polygonOffset: true, // edges lie on top
        polygonOffsetFactor: 1,
        polygonOffsetUnits: 1,
      });
      const mesh = new Mesh(geometry, material);
      this.materials.push([material, solid.colour]);
      if (!round && solid.opacity === 1 && Math.min(...solid.size) > FINE * this.data.size) {
        const line = new LineBasicMaterial({ transparent: true, opacity: 0.55 });
        this.materials.push([line, "edge"]);
        mesh.add(new LineSegments(edges, line));
        if (mark && solid.group === "bodies") mesh.add(new LineSegments(mark, line));
      }
      mesh.position.set(...solid.at);
      mesh.quaternion.set(...solid.turn);
      if (solid.group === "bodies" && solid.part >= 0) mesh.userData.body = solid.part;
      this.partOf(solid.part).add(mesh);
      this.onParts[solid.group]?.push(mesh);
    }
  }

  partOf(index) {
    return index < 0 ? this.ground : this.parts[index];
  }

  addLink(link) {
    const ends = [link.a, link.b].map(({ part, at }) => [this.partOf(part), new Vector3(...at)]);
    const made = linkOf(link, ends);
    this.materials.push([made.material, link.colour]);
    (this.groups[link.group] ?? this.scene).add(made.mesh);
    return made;
  }

  addArrow(arrow) {
    const made = new Arrow(arrow, this.data, this.partOf(arrow.part));
    this.materials.push([made.material, arrow.group === "loads" ? "load" : "reaction"]);
    this.groups[arrow.group].add(made.group);
    return made;
  }

  addPath(points, colour, shown) {
    const path = new Path(points, colour, shown);
    this.materials.push(...path.materials);
    this.scene.add(path.group);
    return path;
  }

  /** The path of a point of a body, with a mark on it. */
  addPoint(body, at) {
    const path = this.addPath(wayOf(this.motion[body], this.data.frames, at), `c${body % 7}`, true);
    path.mark(this.parts[body], at, this.data.size);
    this.materials.push(path.materials.at(-1));
    this.paths.push(path);
    this.paint();
    this.show(...this.now);
    return path;
  }

  addFloor() {
    const { size } = this.data;
    const [low, high] = [this.data.low, this.data.high].map((corner) => new Vector3(...corner));
    const centre = low.clone().add(high).divideScalar(2);
    const cell = nice(size / 12);
    const count = 2 * Math.ceil((0.9 * size) / cell);
    const floor = new GridHelper(count * cell, count);
    this.floorMaterial = floor.material;
    floor.material.vertexColors = false;
    floor.material.transparent = true;
    floor.material.depthWrite = false;
    const flat = (axis) => Math.abs(this.up[axis]) < 0.1; // lines lie on round numbers
    for (const axis of ["x", "y", "z"]) if (flat(axis)) centre[axis] = cell * Math.round(centre[axis] / cell);
    const depth = Math.min(low.dot(this.up), high.dot(this.up)) - centre.dot(this.up);
    floor.quaternion.setFromUnitVectors(new Vector3(0, 1, 0), this.up);
    floor.position.copy(centre).addScaledVector(this.up, depth - 0.02 * size);
    this.groups.floor.add(floor);
    const axes = ["x", "y", "z"].map((axis) => element("b", { style: `color: var(--axis-${axis})` }, axis));
    this.host.append(element("div", { class: "scale" }, ...axes, `grid ${Number(cell.toPrecision(3))} m`));
    this.addAxes(0.09 * size);
  }

  /** The axes of the world at its origin; their tips are to be seen where the origin is within the scene. */
  addAxes(length) {
    const inside = [0, 1, 2].every((c) => this.data.low[c] <= 0 && this.data.high[c] >= 0);
    this.tips = inside ? [0, 1, 2].map((c) => [0, 1, 2].map((k) => (k === c ? length : 0))) : [];
    for (const [k, axis] of ["x", "y", "z"].entries()) {
      const turn = new Quaternion().setFromUnitVectors(new Vector3(0, 0, 1), new Vector3(k === 0, k === 1, k === 2));
      const material = new MeshStandardMaterial({ roughness: 0.6 });
      this.materials.push([material, `axis-${axis}`]);
      const shaft = new Mesh(shapeOf("cylinder", [0.018, 0.8]).solid, material);
      const tip = new Mesh(shapeOf("cone", [0.06, 0.2]).solid, material);
      shaft.position.z = 0.4;
      tip.position.z = 0.9;
      const group = new Group().add(shaft, tip);
      group.quaternion.copy(turn);
      group.scale.setScalar(length);
      this.groups.floor.add(group);
    }
  }

  addLights() {
    const sky = new HemisphereLight(0xffffff, 0xb0b8c0, 1.5);
    sky.position.copy(this.up);
    this.sun = new DirectionalLight(0xffffff, 1.9);
    this.scene.add(sky, new AmbientLight(0xffffff, 0.35), this.sun, this.sun.target);
  }

  addCamera() {
    this.renderer = new WebGLRenderer({ antialias: true, alpha: true, preserveDrawingBuffer: true });
    this.renderer.setPixelRatio(Math.min(2, devicePixelRatio));
    furnish(this.renderer.domElement, { role: "img", "aria-label": "the mechanism, moving; drag to turn it" });
    this.host.append(this.renderer.domElement);
    this.camera = new PerspectiveCamera(OPENING, 1, this.data.size / 1000, this.data.size * 100);
    this.camera.up.copy(this.up);
    this.controls = new OrbitControls(this.camera, this.renderer.domElement);
    this.controls.addEventListener("change", () => this.draw());
    new ResizeObserver(() => this.resize()).observe(this.host);
    this.resize();
  }

  // --- what is asked of it

  has(group) {
    return this.groups[group].children.length > 0 || Boolean(this.onParts[group]?.length);
  }

  toggle(group, shown) {
    this.groups[group].visible = shown;
    for (const mesh of this.onParts[group] ?? []) mesh.visible = shown;
    this.draw();
  }

  togglePath(path, shown) {
    path.toggle(shown);
    this.draw();
  }

  removePath(path) {
    this.paths.splice(this.paths.indexOf(path), 1);
    path.remove();
    this.draw();
  }

  /** Calls `found(body, point)` where a body is clicked at. */
  onClick(found) {
    listenToClicks(this.renderer.domElement, this.camera, this.parts, found);
  }

  /** The mechanism between two frames. */
  show(low, high, share) {
    const [from, to] = [new Quaternion(), new Quaternion()];
    for (const [k, part] of this.parts.entries()) {
      const m = this.motion[k];
      const [a, b] = [MOTION * low, MOTION * high];
      part.position.set(...[0, 1, 2].map((c) => m[a + c] * (1 - share) + m[b + c] * share));
      part.quaternion.slerpQuaternions(from.fromArray(m, a + 3), to.fromArray(m, b + 3), share);
      part.updateMatrix();
    }
    for (const link of this.links) link.show();
    for (const arrow of this.arrows) arrow.show(low, high, share, this.enlarged);
    this.now = [low, high, share];
    for (const path of this.paths) path.show(low, share);
    this.draw();
  }

  /** Longer or shorter arrows. */
  enlarge(factor) {
    this.enlarged = factor;
    if (this.now) this.show(...this.now);
  }

  /** Looks from a direction and shows all. */
  look(from) {
    const direction = new Vector3(...from).normalize();
    const steep = Math.abs(direction.dot(this.up)) > 0.999;
    if (steep) direction.addScaledVector(new Vector3(this.up.y, this.up.z, this.up.x), -1e-3).normalize();
    this.camera.position.copy(this.controls.target).add(direction);
    this.fit();
  }

  /** Moves the camera, without turning it, until everything is in the picture and in its middle. */
  fit() {
    const back = this.camera.position.clone().sub(this.controls.target).normalize();
    const right = this.up.clone().cross(back).normalize();
    const axes = [right, back.clone().cross(right), back];
    const points = [...this.data.outermost, ...this.tips].map((point) => axes.map((axis) => axis.dot(new Vector3(...point))));
    const middle = [0, 1, 2].map((c) => (Math.min(...points.map((p) => p[c])) + Math.max(...points.map((p) => p[c]))) / 2);
    const tall = Math.tan((OPENING / 2) * (Math.PI / 180));
    const opening = [tall * this.camera.aspect, tall];
    let distance = this.data.size / 100;
    for (const point of points) {
      const need = Math.max(...[0, 1].map((c) => Math.abs(point[c] - middle[c]) / opening[c]));
      distance = Math.max(distance, MARGIN * need + point[2] - middle[2]);
    }
    this.controls.target.set(0, 0, 0);
    for (const [c, axis] of axes.entries()) this.controls.target.addScaledVector(axis, middle[c]);
    this.camera.position.copy(this.controls.target).addScaledVector(back, distance);
    this.controls.update();
    this.draw();
  }

  /** Colours of the style sheet, which change with the colour scheme. */
  paint() {
    const names = new Map();
    for (const [material, name] of this.materials) {
      if (!names.has(name)) names.set(name, new Color(colour(name)));
      material.color.copy(names.get(name));
    }
    this.floorMaterial.color.set(new Color(colour("grid")));
    this.draw();
  }

  resize() {
    const { clientWidth: width, clientHeight: height } = this.host;
    if (!width || !height) return;
    const first = this.width === undefined;
    this.width = width;
    this.renderer.setSize(width, height);
    this.camera.aspect = width / height;
    this.camera.updateProjectionMatrix();
    if (!first) this.fit();
  }

  /** Draws once before the next picture of the browser, however often it is asked for. */
  draw() {
    if (this.waiting || !this.renderer) return;
    this.waiting = true;
    requestAnimationFrame(() => {
      this.waiting = false;
      this.sun.position.copy(this.camera.position).addScaledVector(this.up, 0.6 * this.data.size);
      this.sun.target.position.copy(this.controls.target);
      this.renderer.render(this.scene, this.camera);
    });
  }
}
