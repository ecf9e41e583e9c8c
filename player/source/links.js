// What lies between points of two parts and follows them: rods, coils that stretch, sleeves that do not.
import { Mesh, MeshStandardMaterial, Vector3 } from "three";
import { shapeOf } from "./solids.js";

const AXIS = new Vector3(0, 0, 1);

export class Link {
  /** `ends` are two pairs of a part and a point in its frame. */
  constructor({ form, radius, more }, ends) {
    Object.assign(this, { form, radius, more, ends });
    const size = form === "coil" ? [radius, more, 1] : [1, 1];
    const geometry = shapeOf(form === "coil" ? "coil" : "cylinder", size).solid;
    this.material = new MeshStandardMaterial({ roughness: 0.6 });
    this.mesh = new Mesh(form === "coil" ? geometry.clone() : geometry, this.material);
    if (form === "coil") this.measure(geometry);
  }

  show() {
    const [start, end] = this.ends.map(([part, at]) => at.clone().applyMatrix4(part.matrix));
    const [length, along] = [start.distanceTo(end), end.clone().sub(start).normalize()];
    if (this.form === "sleeve") end.copy(start).addScaledVector(along, this.more);
    this.mesh.position.copy(start).add(end).divideScalar(2);
    this.mesh.quaternion.setFromUnitVectors(AXIS, along);
    if (this.form === "coil") this.stretch(length);
    else this.mesh.scale.set(this.radius, this.radius, this.form === "sleeve" ? this.more : length);
  }

  /** For each point of a coil of length 1: the height of the line of its wire, and how far it is above it. */
  measure(geometry) {
    const { position } = geometry.attributes;
    const { path, tubularSegments, radialSegments } = geometry.parameters;
    const lines = Array.from({ length: tubularSegments + 1 }, (_, ring) => path.getPointAt(ring / tubularSegments).z);
    this.height = Array.from({ length: position.count }, (_, k) => lines[Math.floor(k / (radialSegments + 1))]);
    this.above = this.height.map((z, k) => position.getZ(k) - z);
  }

  /** The line of a coil becomes longer, its wire stays round. */
  stretch(length) {
    const { position } = this.mesh.geometry.attributes;
    for (let k = 0; k < position.count; k++) position.setZ(k, length * this.height[k] + this.above[k]);
    position.needsUpdate = true;
    this.mesh.geometry.computeBoundingSphere();
  }
}
