// Ways of points through space: faint as a whole, strong in the past; a point that was clicked at has a mark.
import {
  BufferAttribute, BufferGeometry, Group, Line, LineBasicMaterial, Mesh, MeshStandardMaterial, Quaternion, Raycaster,
  Vector2, Vector3,
} from "three";
import { shapeOf } from "./solids.js";

const STILL = 4; // pixels that a click may move; more is a turn of the camera
const MARK = 0.007; // radius of a mark, as a share of the size of the scene
export const MOTION = 7; // numbers a body and frame: position, quaternion

export class Path {
  /** `points` are three numbers a frame. */
  constructor(points, colour, shown) {
    const geometry = new BufferGeometry().setAttribute("position", new BufferAttribute(points, 3));
    this.past = new Line(geometry.clone(), new LineBasicMaterial({ transparent: true, opacity: 0.95 }));
    this.whole = new Line(geometry, new LineBasicMaterial({ transparent: true, opacity: 0.3 }));
    this.materials = [[this.past.material, colour], [this.whole.material, colour]];
    this.group = new Group().add(this.whole, this.past);
    this.toggle(shown);
  }

  /** Marks where the point is on its part. */
  mark(part, at, size) {
    const material = new MeshStandardMaterial({ roughness: 0.4 });
    this.materials.push([material, "ink"]);
    this.dot = new Mesh(shapeOf("ellipsoid", [1, 1, 1].map((r) => r * MARK * size)).solid, material);
    this.dot.position.copy(at);
    part.add(this.dot);
  }

  toggle(shown) {
    this.group.visible = shown;
    if (this.dot) this.dot.visible = shown;
  }

  /** The past ends between two frames. */
  show(low, share) {
    this.past.geometry.setDrawRange(0, low + 1 + Math.round(share));
  }

  remove() {
    this.group.removeFromParent();
    this.dot?.removeFromParent();
  }
}

/** The way of a point of a body, from the motion of the body. */
export function wayOf(motion, frames, at) {
  const points = new Float32Array(3 * frames);
  const [point, turn] = [new Vector3(), new Quaternion()];
  for (let k = 0; k < frames; k++) {
    point.copy(at).applyQuaternion(turn.fromArray(motion, MOTION * k + 3));
    for (const c of [0, 1, 2]) points[3 * k + c] = motion[MOTION * k + c] + point.getComponent(c);
  }
  return points;
}

/** The way that the description of a page holds. */
export function storedWay(data, path) {
  const table = data.table(path.values, path.width);
  const points = new Float32Array(3 * data.frames);
  for (let k = 0; k < data.frames; k++) points.set(table.subarray(path.width * k, path.width * k + 3), 3 * k);
  return points;
}

/** Calls `found(body, point)` where a body is clicked at, with the point in its frame. */
export function listenToClicks(canvas, camera, parts, found) {
  let start;
  canvas.addEventListener("pointerdown", (event) => (start = [event.clientX, event.clientY]));
  canvas.addEventListener("pointerup", (event) => {
    if (!start || Math.hypot(event.clientX - start[0], event.clientY - start[1]) > STILL) return;
    const { left, top, width, height } = canvas.getBoundingClientRect();
    const place = new Vector2((2 * (event.clientX - left)) / width - 1, 1 - (2 * (event.clientY - top)) / height);
    const ray = new Raycaster();
    ray.setFromCamera(place, camera);
    const hit = ray.intersectObjects(parts).find(({ object }) => object.isMesh && object.userData.body !== undefined);
    if (hit) found(hit.object.userData.body, parts[hit.object.userData.body].worldToLocal(hit.point.clone()));
  });
}
