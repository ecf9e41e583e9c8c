"""How a mechanism can move, at its initial placement: f = 6 N + 3 P - rank(G), against Gruebler's count 6 N + 3 P - R.

N rigid bodies, P point masses, R rows of joints. G maps twists (v, omega) to the rates of the rows, in world axes:
coincide, in-plane and distance rows see the velocity of points, angle rows a.b see omega_A.(a x b) + omega_B.(b x a).
A wheel sees psi' = h.(y' - omega x y), h = (n x y)/|n x y|^2, of the vector y that it faces.
From the model alone: no tables, no compiled code. Dense matrices of closed loops only, since trees have full rank.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

import numpy as np

from porthos.errors import ModelError
from porthos.model.bodies import Body, RigidBody
from porthos.model.drives import Drive
from porthos.model.joint_base import Joint
from porthos.model.model import Model
from porthos.model.rows import Angle, Coincide, Distance, InPlane, Mesh, Roll
from porthos.notation import Array, IntArray
from porthos.system.closing import Closing, close, is_open
from porthos.system.massless import carried, require_held
from porthos.system.ranks import dependent_rows

MOST_ROWS = 400  # of closed loops, for which the rank is computed; it takes some tenths of a second
DEPENDENT = 1e-8  # a row of length one this near to the span of others repeats them
CONSISTENT = 1e-8  # violation, relative to the size of the mechanism, from which initial values count as moved


@dataclass(frozen=True)
class Violation:
    """How far the initial values of a model are off a joint."""

    joint: str
    position: float  # m, or rad for angles
    velocity: float  # m/s, or rad/s for angles


@dataclass(frozen=True)
class Repeat:
    """How many rows of a joint repeat what the joints before it fix already."""

    kind: str
    joint: str
    translations: int
    rotations: int
    others: tuple[str, ...]  # the joints with which they form dependences

    def __str__(self) -> str:
        counts = {"translation": self.translations, "rotation": self.rotations}
        rows = [f"{n} {word} row{'s' * (n != 1)}" for word, n in counts.items() if n]
        verb = "repeats" if self.translations + self.rotations == 1 else "repeat"
        fix = "fixes" if len(self.others) == 1 else "fix"
        return f"{self.kind} '{self.joint}': {' and '.join(rows)} {verb} what {', '.join(self.others)} {fix} already"


@dataclass(frozen=True)
class Mobility:
    """Degrees of freedom by counting and by rank, the joints whose rows repeat others, and the initial violations."""

    bodies: int
    point_masses: int
    joints: int
    rows: int
    rank: int | None  # None where closed loops are too large for dense matrices
    redundant_joints: tuple[str, ...]
    violations: tuple[Violation, ...]
    repeats: tuple[Repeat, ...] = ()  # joint by joint, in the order in which they were added
    drives: tuple[str, ...] = ()  # among the joints
    beams: int = 0
    nodes: int = 0  # of beams, among the bodies

    @property
    def coordinates(self) -> int:
        """Directions in which free bodies could move."""
        return 6 * self.bodies + 3 * self.point_masses

    @property
    def counted(self) -> int:
        """Degrees of freedom by Gruebler's count; wrong, even negative, where joints repeat each other."""
        return self.coordinates - self.rows

    @property
    def freedom(self) -> int | None:
        """Degrees of freedom by the rank of G."""
        return None if self.rank is None else self.coordinates - self.rank

    @property
    def redundant(self) -> int | None:
        """How many rows repeat others."""
        return None if self.rank is None else self.rows - self.rank

    @property
    def driven(self) -> str:
        """What drives do to the degrees of freedom, in words; nothing without drives."""
        if len(self.drives) < 2:
            return "".join(f"{name} takes one degree of freedom" for name in self.drives)
        return f"{', '.join(self.drives[:-1])} and {self.drives[-1]} take one degree of freedom each"


def mobility(model: Model) -> Mobility:
    """Count and measure how a model can move and how well its initial values fit its joints.

    Refuses bodies without mass that nothing holds, as the assembly does.
    """
    if not model.bodies:
        raise ModelError(f"model '{model.name}': there is no body. Add one to its bodies.")
    jacobian = Jacobian(model, close(model) if is_open(model) else None)
    jacobian.require_held()
    rigid = sum(isinstance(body, RigidBody) for body in model.bodies)
    rank, repeated, repeats = jacobian.rank()
    return Mobility(
        bodies=rigid,
        point_masses=len(model.bodies) - rigid,
        joints=len(model.joints),
        rows=sum(jacobian.counts),
        rank=rank,
        redundant_joints=tuple(model.joints[k].name for k in repeated),
        violations=jacobian.violations(),
        repeats=repeats,
        drives=tuple(joint.name for joint in model.joints if isinstance(joint, Drive)),
        beams=len(model.beams),
        nodes=sum(len(beam.nodes) for beam in model.beams),
    )


class Jacobian:
    """Rows of G in world axes, as one block for each side of a joint."""

    def __init__(self, model: Model, closing: Closing | None) -> None:
        self.model = model
        self.bodies: dict[str, Body] = {body.name: body for body in model.bodies}
        self.position = {body.name: np.asarray(body.position) for body in model.bodies}
        self.joints = model.joints
        if closing is not None:
            self.position = {name: motion.point(self.position[name]) for name, motion in closing.motion.items()}
            self.joints = tuple(closing.closed(joint) for joint in model.joints)
        arms = [
            np.linalg.norm(point - self.position[name])
            for joint in self.joints
            for name, point in zip((joint.a, joint.b), joint.points, strict=True)
            if name in self.position
        ]
        self.length = float(max(arms, default=1.0)) or 1.0
        self.sides = [{joint.a: A, joint.b: B} for joint in self.joints for A, B in [self._blocks(joint)]]
        self.counts = [len(sides[joint.a]) for joint, sides in zip(self.joints, self.sides, strict=True)]

    def require_held(self) -> None:
        """Refuse what has no inertia and moves freely."""
        require_held(self.model.name, self.model.bodies, self.sides, self.length)

    def carried(self, names: Iterable[str]) -> set[str]:
        """Those of the bodies of which joints determine every motion, as if they had no inertia."""
        return carried(self.model.bodies, set(names), self.sides, self.length)

    def _blocks(self, joint: Joint) -> tuple[Array, Array]:
        """Blocks (r, 6) for the twists of A and B."""
        pairs: list[tuple[Array, Array]] = []
        for row in joint.rows:
            match row:
                case Coincide(pa, pb):
                    pairs += [(-self._moves(joint.a, pa, e), self._moves(joint.b, pb, e)) for e in np.eye(3)]
                case InPlane(n, pa, pb):
                    turned = np.concatenate([np.zeros(3), np.cross(n, pb - pa)])
                    pairs.append((turned - self._moves(joint.a, pa, n), self._moves(joint.b, pb, n)))
                case Angle(u, w):
                    turned = np.concatenate([np.zeros(3), np.cross(u, w)])
                    pairs.append((turned, -turned))
                case Distance(pa, pb, length):
                    n = (pb - pa) / length
                    pairs.append((-self._moves(joint.a, pa, n), self._moves(joint.b, pb, n)))
                case Mesh() | Roll():
                    pairs.append(self._turning(joint, row))
        A, B = zip(*pairs, strict=True)
        return np.array(A), np.array(B)

    def _turning(self, joint: Joint, row: Mesh | Roll) -> tuple[Array, Array]:
        """The row of a gear for the twists of A and B."""
        sides, (pa, pb) = [np.zeros(6), np.zeros(6)], joint.points
        for wheel in row.wheels:
            h, y = wheel.radius * wheel.across, wheel.faced
            sides[wheel.side][3:] -= np.cross(y, h)
            if isinstance(row, Roll) or row.bevel:  # y is fixed in the other side
                sides[1 - wheel.side][3:] += np.cross(y, h)
            else:
                sides[0] -= self._moves(joint.a, pa, h)
                sides[1] += self._moves(joint.b, pb, h)
        if isinstance(row, Roll):
            sides[0] -= self._moves(joint.a, pa, row.along_b)
            sides[1] += self._moves(joint.b, pb, row.along_b)
            sides[1][3:] += np.cross(row.along_b, pb - pa)
        return sides[0], sides[1]

    def _moves(self, name: str, point: Array, along: Array) -> Array:
        """n . (v + omega x r) as a row for (v, omega)."""
        return np.concatenate([along, np.cross(point - self.position.get(name, np.zeros(3)), along)])

    def _scaled(self, name: str, block: Array) -> Array:
        """Columns in which rotations are lengths; a point mass has none, the ground has no columns."""
        turning = isinstance(self.bodies.get(name), RigidBody)
        return block * np.repeat([1.0, 1.0 / self.length if turning else 0.0], 3)

    def rank(self) -> tuple[int | None, list[int], tuple[Repeat, ...]]:
        """The rank of G, None if it is too large, the joints whose rows take part in a dependence, and which repeat."""
        cut, core = self._without_leaves()
        owners = np.repeat(core, [self.counts[k] for k in core])
        if owners.size > MOST_ROWS:
            return None, [], ()
        names = sorted({name for k in core for name in self.sides[k] if name in self.position})
        columns = {name: slice(6 * c, 6 * c + 6) for c, name in enumerate(names)}
        G = np.zeros((owners.size, 6 * len(names)))
        for k in core:
            for name, block in self.sides[k].items():
                if name in columns:
                    G[owners == k, columns[name]] += self._scaled(name, block)
        rank, repeated = dependent_rows(G)
        involved = np.unique(owners[repeated]).tolist()
        return cut + rank, involved, self._repeats(G, owners) if involved else ()

    def _repeats(self, G: Array, owners: IntArray) -> tuple[Repeat, ...]:
        """The rows that lie in the span of those before them, counted by joints and kinds."""
        angles = Angle | Mesh
        kinds = {k: [isinstance(row, angles) for row in self.joints[k].rows for _ in range(row.count)] for k in owners}
        turning = np.concatenate([kinds[k] for k in dict.fromkeys(owners.tolist())])
        rows, basis = G / np.linalg.norm(G, axis=1, keepdims=True), np.zeros((0, G.shape[1]))
        repeating: dict[int, list[int]] = {}
        for r, row in enumerate(rows):
            rest = row - basis.T @ (basis @ row)
            rest -= basis.T @ (basis @ rest)
            if np.linalg.norm(rest) > DEPENDENT:
                basis = np.vstack([basis, rest / np.linalg.norm(rest)])
            else:
                repeating.setdefault(int(owners[r]), []).append(r)
        result = []
        for k, repeated in repeating.items():
            before = np.flatnonzero(owners != k)
            before = before[before < min(repeated)]
            shares = np.linalg.lstsq(rows[before].T, rows[repeated].T, rcond=DEPENDENT)[0]
            others = np.unique(owners[before][np.abs(shares).max(axis=1, initial=0.0) > DEPENDENT])
            names, turns = tuple(self.joints[i].name for i in others), int(turning[repeated].sum())
            result.append(Repeat(self.joints[k].kind, self.joints[k].name, len(repeated) - turns, turns, names))
        return tuple(result)

    def _without_leaves(self) -> tuple[int, list[int]]:
        """Rows of joints that cannot repeat others, and the other joints.

        The rows of a joint to a body that no other joint holds are independent of all others if they are of each other.
        Without this body the same is true of its neighbour: of a tree nothing is left, of loops only they.
        """
        at: dict[str, set[int]] = {name: set() for name in self.position}
        for k, sides in enumerate(self.sides):
            for name in sides.keys() & at.keys():
                at[name].add(k)
        left, rows, leaves = set(range(len(self.sides))), 0, list(at)
        while leaves:
            name = leaves.pop()
            if len(at[name]) != 1:
                continue
            (k,) = at[name]
            if dependent_rows(self._scaled(name, self.sides[k][name]))[0] < self.counts[k]:
                continue
            left.remove(k)
            rows += self.counts[k]
            for side in self.sides[k].keys() & at.keys():
                at[side].remove(k)
                leaves.append(side)
        return rows, sorted(left)

    def violations(self) -> tuple[Violation, ...]:
        """The joints that the initial values violate by more than round-off."""
        twist = {name: _twist(body) for name, body in self.bodies.items()}
        speed = max([1.0, *(float(np.abs(t).max()) for t in twist.values())])
        result = []
        for joint, sides in zip(self.model.joints, self.sides, strict=True):
            gap = max(joint.gaps)
            given = np.zeros(1) if not isinstance(joint, Drive) else joint.motion.rates(np.zeros(1))
            rate = float(np.abs(sum(block @ twist[n] for n, block in sides.items() if n in twist) - given).max())
            if gap > CONSISTENT * self.length or rate > CONSISTENT * speed:
                result.append(Violation(joint.name, gap, rate))
        return tuple(result)


def _twist(body: Body) -> Array:
    """(v, omega) as given."""
    omega = body.angular_velocity if isinstance(body, RigidBody) else np.zeros(3)
    return np.concatenate([np.asarray(body.velocity), np.asarray(omega)])
