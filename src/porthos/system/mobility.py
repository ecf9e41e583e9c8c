"""How a mechanism can move, at its initial placement: f = 6 N + 3 P - rank(G), against Gruebler's count 6 N + 3 P - R.

N rigid bodies, P point masses, R rows of joints. G maps twists (v, omega) to the rates of the rows, in world axes:
coincide, in-plane and distance rows see the velocity of points, angle rows a.b see omega_A.(a x b) + omega_B.(b x a).
A wheel sees psi' = h.(y' - omega x y), h = (n x y)/|n x y|^2, of the vector y that it faces.
From the model alone: no tables, no compiled code.
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
from porthos.notation import Array
from porthos.system.closing import Closing, JointGap, close, is_open
from porthos.system.fronts import DEPENDENT, last_rows, rank_and_null_space
from porthos.system.massless import carried, require_held

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
    rank: int
    redundant_joints: tuple[str, ...]
    violations: tuple[Violation, ...]
    repeats: tuple[Repeat, ...] = ()  # joint by joint, in the order in which they were added
    drives: tuple[str, ...] = ()  # among the joints
    closed: tuple[JointGap, ...] = ()  # every joint, if some had to be closed
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
    def freedom(self) -> int:
        """Degrees of freedom by the rank of G."""
        return self.coordinates - self.rank

    @property
    def redundant(self) -> int:
        """How many rows repeat others."""
        return self.rows - self.rank

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
    closing = close(model) if is_open(model) else None
    jacobian = Jacobian(model, closing)
    jacobian.require_held()
    rigid = sum(isinstance(body, RigidBody) for body in model.bodies)
    rank, repeats, involved = jacobian.rank()
    return Mobility(
        bodies=rigid,
        point_masses=len(model.bodies) - rigid,
        joints=len(model.joints),
        rows=sum(jacobian.counts),
        rank=rank,
        redundant_joints=tuple(model.joints[k].name for k in sorted(involved)),
        violations=jacobian.violations(),
        repeats=repeats,
        drives=tuple(joint.name for joint in model.joints if isinstance(joint, Drive)),
        closed=() if closing is None else closing.joints,
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

    def rank(self) -> tuple[int, tuple[Repeat, ...], set[int]]:
        """The rank of G, the rows that repeat others, joint by joint, and the joints that take part in a dependence."""
        number = {name: k for k, name in enumerate(self.position)}
        groups = []
        for sides in self.sides:
            held = [(number[name], self._scaled(name, block)) for name, block in sides.items() if name in number]
            groups.append((tuple(k for k, _ in held), np.hstack([block for _, block in held])))
        rank, null_space = rank_and_null_space(groups, len(number))
        return rank, *self._repeats(null_space)

    def _repeats(self, null_space: Array) -> tuple[tuple[Repeat, ...], set[int]]:
        """The rows that lie in the span of those before them, and the joints whose rows, kept, span them."""
        owners = np.repeat(np.arange(len(self.joints)), self.counts)
        repeated = last_rows(null_space)
        shares = np.abs(null_space @ np.linalg.inv(null_space[repeated])) > DEPENDENT  # of kept rows in repeated ones
        result, involved = [], set[int]()
        for k in dict.fromkeys(owners[repeated].tolist()):
            mine = owners[repeated] == k
            others = np.setdiff1d(owners[shares[:, mine].any(axis=1)], [k]).tolist()
            turning = [isinstance(row, Angle | Mesh) for row in self.joints[k].rows for _ in range(row.count)]
            turns = int(np.array(turning)[repeated[mine] - np.flatnonzero(owners == k)[0]].sum())
            names = tuple(self.joints[i].name for i in others)
            result.append(Repeat(self.joints[k].kind, self.joints[k].name, int(mine.sum()) - turns, turns, names))
            involved |= {k, *others}
        return tuple(result), involved

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
