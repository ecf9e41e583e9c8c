// What lies between points of two parts and follows them: rods, coils that stretch, sleeves that do not, and beams.
import { BufferAttribute, BufferGeometry, Mesh, MeshStandardMaterial, Vector3 } from "three";
import { shapeOf } from "./solids.js";

const AXIS = new Vector3(0, 0, 1);

const PIECES = 4; // of a segment of a beam
const CORNERS = 4; // outlines with so many are drawn with edges, others are round

/** A link for the description of one. */
export function linkOf(description, ends) {
  return description.form === "beam" ? new Segment(description, ends) : new Link(description, ends);
}

/** A piece of a beam: a prism that bends with the frames of its two nodes. */
class Segment {
  constructor({ outline }, ends) {
    this.ends = ends;
    this.corners = Array.from({ length: outline.length / 2 }, (_, k) => [outline[2 * k], outline[2 * k + 1]]);
    const [n, faces] = [this.corners.length, []];
    for (let ring = 0; ring < PIECES; ring++) {
      for (let k = 0; k < n; k++) {
        const [here, there] = [ring * n + k, ring * n + ((k + 1) % n)];
        faces.push(here, there, there + n, here, there + n, here + n);
      }
    }
    for (let k = 1; k < n - 1; k++) faces.push(0, k + 1, k, PIECES * n, PIECES * n + k, PIECES * n + k + 1);
    const geometry = new BufferGeometry();
    geometry.setAttribute("position", new BufferAttribute(new Float32Array(3 * n * (PIECES + 1)), 3));
    geometry.setIndex(faces);
    this.material = new MeshStandardMaterial({ roughness: 0.55, metalness: 0.05, flatShading: n === CORNERS });
    this.mesh = new Mesh(geometry, this.material);
  }

  /** A cubic line with the directions of both ends; sections have the mean of the axes of both. */
  show() {
    const [a, b] = this.ends.map(([part]) => part.matrix);
    const [x, y] = [a, b].map((matrix) => new Vector3().setFromMatrixPosition(matrix));
    const axes = [a, b].map((matrix) => [0, 1, 2].map((k) => new Vector3().setFromMatrixColumn(matrix, k)));
    const { position } = this.mesh.geometry.attributes;
    const [chord, n, point] = [x.distanceTo(y), this.corners.length, new Vector3()];
    for (let ring = 0; ring <= PIECES; ring++) {
      const s = ring / PIECES;
      const shares = [(1 + 2 * s) * (1 - s) ** 2, s ** 2 * (3 - 2 * s), chord * s * (1 - s) ** 2, -chord * s ** 2 * (1 - s)];
      for (let k = 0; k < n; k++) {
        const [u, v] = this.corners[k];
        point.set(0, 0, 0).addScaledVector(x, shares[0]).addScaledVector(y, shares[1]);
        point.addScaledVector(axes[0][2], shares[2]).addScaledVector(axes[1][2], shares[3]);
        point.addScaledVector(axes[0][0], u * (1 - s)).addScaledVector(axes[0][1], v * (1 - s));
        point.addScaledVector(axes[1][0], u * s).addScaledVector(axes[1][1], v * s);
        position.setXYZ(ring * n + k, point.x, point.y, point.z);
      }
    }
    position.needsUpdate = true;
    this.mesh.geometry.computeVertexNormals();
    this.mesh.geometry.computeBoundingSphere();
  }
}

class Link {
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
