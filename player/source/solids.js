// Solids of the description as geometries; equal ones share theirs. Long axes are z, as in the description.
import {
  BoxGeometry, BufferGeometry, CapsuleGeometry, Curve, CylinderGeometry, EdgesGeometry, LatheGeometry, SphereGeometry,
  TubeGeometry, Vector2, Vector3,
} from "three";

const SIDES = 40;
const SHARP = 35; // degrees from which an edge is drawn
const [TURNS, PIECES, ROUND, LEAD] = [8, 24, 6, 0.12]; // of a coil: turns, pieces a turn, sides of its wire, straight ends
const known = new Map();

/** The line of a coil about z: straight at its ends, wound between, at its radius after half a turn. */
class Winding extends Curve {
  constructor(radius, length) {
    super();
    [this.radius, this.length] = [radius, length];
  }

  getPoint(share, point = new Vector3()) {
    const wound = Math.min(1, Math.max(0, (share - LEAD) / (1 - 2 * LEAD)));
    const angle = 2 * Math.PI * TURNS * wound;
    const width = this.radius * Math.min(1, 2 * TURNS * Math.min(wound, 1 - wound));
    return point.set(width * Math.cos(angle), width * Math.sin(angle), this.length * (share - 0.5));
  }
}

const MAKERS = {
  box: (a, b, c) => new BoxGeometry(a, b, c),
  ellipsoid: (a, b, c) => new SphereGeometry(1, SIDES, SIDES / 2).scale(a, b, c),
  cylinder: (radius, length) => new CylinderGeometry(radius, radius, length, SIDES).rotateX(Math.PI / 2),
  cone: (radius, length) => new CylinderGeometry(0, radius, length, SIDES).rotateX(Math.PI / 2),
  rod: (radius, length) => new CapsuleGeometry(radius, length, 6, 16).rotateX(Math.PI / 2),
  coil: (radius, wire, length) => new TubeGeometry(new Winding(radius, length), TURNS * PIECES, wire, ROUND),
  tube: (outer, inner, length) => {
    const [low, high] = [-length / 2, length / 2];
    const corners = [[inner, low], [outer, low], [outer, low], [outer, high], [outer, high], [inner, high], [inner, high], [inner, low]];
    const turned = new LatheGeometry(corners.map(([r, z]) => new Vector2(r, z)), SIDES);
    return flat(turned).rotateX(Math.PI / 2);
  },
};

/** Normals of each face for itself, or a turned corner would look round. */
function flat(geometry) {
  const faces = geometry.toNonIndexed();
  faces.computeVertexNormals();
  return faces;
}

/** A line along the side and over both ends of what is round about z: without it nobody sees a wheel turn. */
function markOf(kind, size) {
  const [outer, length, inner] = [size[0], size.at(-1), kind === "tube" ? size[1] : 0];
  const [low, high] = [-length / 2, length / 2];
  const corners = [[inner, low], [outer, low], [outer, low], [outer, high], [outer, high], [inner, high]];
  return new BufferGeometry().setFromPoints(corners.map(([r, z]) => new Vector3(r, 0, z)));
}

/** Geometry and edges of a solid, and a mark on cylinders and tubes. */
export function shapeOf(kind, size) {
  const key = `${kind} ${size.join(" ")}`;
  if (!known.has(key)) {
    const solid = MAKERS[kind](...size);
    const round = ["ellipsoid", "rod", "cone", "coil"].includes(kind);
    const edges = round ? new BufferGeometry() : new EdgesGeometry(solid, SHARP);
    known.set(key, { solid, edges, round, mark: ["cylinder", "tube"].includes(kind) && markOf(kind, size) });
  }
  return known.get(key);
}
