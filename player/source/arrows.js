// Arrows of forces (one head) and torques (two heads); the longest is that of the largest value of its kind.
import { Group, Mesh, MeshStandardMaterial, Vector3 } from "three";
import { shapeOf } from "./solids.js";

const LONGEST = 0.22; // shares of the size of the scene
const THIN = 0.0035; // half the width of a shaft
const HEAD = 0.032; // length of a head
const BLUNT = 0.36; // half its width, as a share of its length
const Z = new Vector3(0, 0, 1);

/** One arrow that follows a table of vectors; its root is a point of a part. */
export class Arrow {
  constructor(arrow, data, part) {
    this.values = data.table(arrow.values, 3);
    this.part = part;
    this.root = new Vector3(...arrow.at);
    this.size = data.size;
    this.scale = arrow.largest > 0 ? (LONGEST * data.size) / arrow.largest : 0;
    this.material = new MeshStandardMaterial({ roughness: 0.6 });
    this.shaft = new Mesh(shapeOf("cylinder", [1, 1]).solid, this.material);
    const count = arrow.kind === "torque" ? 2 : 1;
    this.heads = Array.from({ length: count }, () => new Mesh(shapeOf("cone", [1, 1]).solid, this.material));
    this.group = new Group().add(this.shaft, ...this.heads);
    this.value = new Vector3();
  }

  /** The vector between two frames, `enlarged`; nothing where it is too short to see. */
  show(low, high, share, enlarged) {
    const mix = (c) => this.values[3 * low + c] * (1 - share) + this.values[3 * high + c] * share;
    this.value.set(mix(0), mix(1), mix(2)).multiplyScalar(this.scale * enlarged);
    const length = this.value.length();
    this.group.visible = length > THIN * this.size;
    if (!this.group.visible) return;
    this.group.position.copy(this.root).applyMatrix4(this.part.matrix);
    this.group.quaternion.setFromUnitVectors(Z, this.value.divideScalar(length));
    const head = Math.min(HEAD * this.size, 0.4 * length);
    const width = THIN * this.size * Math.min(1, head / (HEAD * this.size));
    this.shaft.scale.set(width, width, length - head);
    this.shaft.position.set(0, 0, (length - head) / 2);
    for (const [k, mesh] of this.heads.entries()) {
      mesh.scale.set(BLUNT * head, BLUNT * head, head);
      mesh.position.set(0, 0, length - head / 2 - 0.6 * k * head);
    }
  }
}
