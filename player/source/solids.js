// Solids of the description as geometries; equal ones share theirs. Long axes are z, as in the description.
import {
  BoxGeometry, BufferGeometry, CapsuleGeometry, CylinderGeometry, EdgesGeometry, LatheGeometry, SphereGeometry, Vector2,
} from "three";

const SIDES = 40;
const SHARP = 35; // degrees from which an edge is drawn
const known = new Map();

const MAKERS = {
  box: (a, b, c) => new BoxGeometry(a, b, c),
  ellipsoid: (a, b, c) => new SphereGeometry(1, SIDES, SIDES / 2).scale(a, b, c),
  cylinder: (radius, length) => new CylinderGeometry(radius, radius, length, SIDES).rotateX(Math.PI / 2),
  cone: (radius, length) => new CylinderGeometry(0, radius, length, SIDES).rotateX(Math.PI / 2),
  rod: (radius, length) => new CapsuleGeometry(radius, length, 6, 16).rotateX(Math.PI / 2),
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

/** Geometry and edges of a solid. */
export function shapeOf(kind, size) {
  const key = `${kind} ${size.join(" ")}`;
  if (!known.has(key)) {
    const solid = MAKERS[kind](...size);
    const round = kind === "ellipsoid" || kind === "rod" || kind === "cone";
    known.set(key, { solid, edges: round ? new BufferGeometry() : new EdgesGeometry(solid, SHARP), round });
  }
  return known.get(key);
}
