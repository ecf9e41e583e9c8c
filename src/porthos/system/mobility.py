"""How a mechanism can move, at its initial placement: f = 6 N + 3 P - rank(G), against Gruebler's count 6 N + 3 P - R.

N rigid bodies, P point masses, R rows of joints. G maps twists (v, omega) to the rates of the rows, in world axes:
coincide, in-plane and distance rows see the velocity of points, angle rows a.b see omega_A.(a x b) + omega_B.(b x a).
From the model alone, with dense matrices: no tables, no compiled code.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from porthos.errors import ModelError
from porthos.model import joints as j
from porthos.model.bodies import Body, RigidBody
from porthos.model.model import Model
from porthos.notation import Array
from porthos.system.ranks import dependent_rows

MOST_ROWS = 1000  # for which the rank is computed; it takes about a second
CONSISTENT = 1e-8  # violation, relative to the size of the mechanism, from which initial values count as moved


@dataclass(frozen=True)
class Violation:
    """How far the initial values of a model are off a joint."""

    joint: str
    position: float  # m
    velocity: float  # m/s, or rad/s for angles


@dataclass(frozen=True)
class Mobility:
    """Degrees of freedom by counting and by rank, the joints whose rows repeat others, and the initial violations."""

    bodies: int
    point_masses: int
    joints: int
    rows: int
    rank: int | None  # None where the mechanism is too large for dense matrices
    redundant_joints: tuple[str, ...]
    violations: tuple[Violation, ...]

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


def mobility(model: Model) -> Mobility:
    """Count and measure how a model can move and how well its initial values fit its joints."""
    if not model.bodies:
        raise ModelError(f"model '{model.name}': there is no body. Add one to its bodies.")
    jacobian = _Jacobian(model)
    rigid = sum(isinstance(body, RigidBody) for body in model.bodies)
    counts = [sum(row.count for row in joint.rows) for joint in model.joints]
    owners = np.repeat(np.arange(len(counts)), counts)
    rank, repeated = None, np.zeros(0, dtype=np.int64)
    if owners.size <= MOST_ROWS:
        rank, repeated = dependent_rows(jacobian.matrix())
    return Mobility(
        bodies=rigid,
        point_masses=len(model.bodies) - rigid,
        joints=len(model.joints),
        rows=int(owners.size),
        rank=rank,
        redundant_joints=tuple(model.joints[k].name for k in np.unique(owners[repeated])),
        violations=jacobian.violations(),
    )


class _Jacobian:
    """Rows of G in world axes; rotations are measured in lengths by the longest lever arm."""

    def __init__(self, model: Model) -> None:
        self.model = model
        self.index = {body.name: k for k, body in enumerate(model.bodies)}
        self.position = {body.name: np.asarray(body.position) for body in model.bodies}
        arms = [np.linalg.norm(p - self._centre(name)) for x in model.joints for name, p in self._held(x)]
        self.length = float(max(arms, default=1.0)) or 1.0

    def _centre(self, name: str) -> Array:
        return self.position.get(name, np.zeros(3))

    def _held(self, joint: j.Joint) -> list[tuple[str, Array]]:
        """The bodies of a joint, without the ground, and their points."""
        return [(n, p) for n, p in zip((joint.a, joint.b), joint.points, strict=True) if n in self.index]

    def matrix(self) -> Array:
        """G (R, 6 N + 6 P); the columns of rotations of point masses are zero."""
        columns = 6 * len(self.index)
        rows = [self._placed(joint, *sides) for joint in self.model.joints for sides in self._sides(joint)]
        G = np.array(rows).reshape(-1, columns)
        G.reshape(-1, len(self.index), 6)[:, :, 3:] /= self.length
        return G

    def _placed(self, joint: j.Joint, a: Array, b: Array) -> Array:
        row = np.zeros((len(self.index), 6))
        for name, part in ((joint.a, a), (joint.b, b)):
            if name in self.index:
                row[self.index[name]] += part
        return row.ravel()

    def _sides(self, joint: j.Joint) -> list[tuple[Array, Array]]:
        """(row for the twist of A, row for the twist of B) of each row of a joint."""
        result = []
        for row in joint.rows:
            match row:
                case j.Coincide(pa, pb):
                    result += [(-self._moves(joint.a, pa, e), self._moves(joint.b, pb, e)) for e in np.eye(3)]
                case j.InPlane(n, pa, pb):
                    turned = np.concatenate([np.zeros(3), np.cross(n, pb - pa)])
                    result.append((turned - self._moves(joint.a, pa, n), self._moves(joint.b, pb, n)))
                case j.Angle(u, w):
                    turned = np.concatenate([np.zeros(3), np.cross(u, w)])
                    result.append((turned, -turned))
                case j.Distance(pa, pb, length):
                    n = (pb - pa) / length
                    result.append((-self._moves(joint.a, pa, n), self._moves(joint.b, pb, n)))
        return result

    def _moves(self, name: str, point: Array, along: Array) -> Array:
        """n . (v + omega x r) as a row for (v, omega)."""
        return np.concatenate([along, np.cross(point - self._centre(name), along)])

    def violations(self) -> tuple[Violation, ...]:
        """The joints that the initial values violate by more than round-off."""
        twist = {
            body.name: np.concatenate(
                [np.asarray(body.velocity), np.asarray(getattr(body, "angular_velocity", (0,) * 3))]
            )
            for body in self.model.bodies
        }
        speed = max([1.0, *(float(np.abs(t).max()) for t in twist.values())])
        result = []
        still = np.zeros(6)
        for joint in self.model.joints:
            gap = max(row.gap() for row in joint.rows)
            rates = [a @ twist.get(joint.a, still) + b @ twist.get(joint.b, still) for a, b in self._sides(joint)]
            rate = float(np.abs(rates).max())
            if gap > CONSISTENT * self.length or rate > CONSISTENT * speed:
                result.append(Violation(joint.name, gap, rate))
        return tuple(result)


def _twist(body: Body) -> Array:
    """(v, omega) as given."""
    omega = body.angular_velocity if isinstance(body, RigidBody) else np.zeros(3)
    return np.concatenate([np.asarray(body.velocity), np.asarray(omega)])
