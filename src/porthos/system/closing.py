"""Closing of joints: bodies that were placed roughly are moved until all joints hold, heavy ones least.

The gaps r of all joints (lengths relative to the size of the mechanism, pairs of axes as differences of unit vectors,
so that opposite axes are furthest apart) are made zero by Levenberg-Marquardt steps s in the metric of M,

    (J^T J + mu M) s = -J^T r,

first from the placement, then from placements in which the joints of a spanning tree are closed with random turns.
From the model alone: no tables, no compiled code.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from porthos.errors import InconsistentStateError, ModelError, is_among, nearest
from porthos.model.bodies import STILL, Body, Pose, RigidBody, least_turn, rotation_matrix
from porthos.model.element_base import Element
from porthos.model.gears import GearJoint
from porthos.model.joint_base import GAP_LIMIT, Joint
from porthos.model.joints import RigidLink
from porthos.model.model import Model
from porthos.model.rows import Coincide
from porthos.notation import Array, IntArray
from porthos.system.coefficients import Placement, Rows, inverse_root, moved, reduced_blocks

CLOSED = 1e-9  # gaps below this, relative to the size of the mechanism, are left to the projection onto the joints
ROUND_OFF = 1e-15
SEEN = 1e-6  # gaps below this are not told where a joint cannot close
STEPS = 200
STARTS = 30  # placements from which it is tried
STALLED = 1e-2  # relative decrease of the squared gaps in PATIENCE steps at which other placements are tried
LEAST = 1e-10  # the same where the least gaps are sought
PATIENCE = 10
LARGEST_TURN = 1.0  # rad in a step
STRONG = (1e2, 1e4, 1e6)  # weights of the other joints where the smallest gap of one is sought; the first lead near it
LARGEST_DENSE = 300  # unknowns up to which steps are solved with dense matrices


@dataclass(frozen=True)
class JointGap:
    """How far a joint was open as the bodies were placed, and how far it is after the assembly; metres and radians."""

    joint: str
    distance: float
    angle: float
    distance_left: float
    angle_left: float

    def __str__(self) -> str:
        return (
            f"'{self.joint}': open by {self.distance:.3g} m and {self.angle:.3g} rad, "
            f"now {self.distance_left:.1e} m and {self.angle_left:.1e} rad"
        )


@dataclass(frozen=True)
class Closing:
    """Where the bodies are when the joints are closed, and how far each joint was open."""

    q: Array  # (N+1, 4, 3)
    joints: tuple[JointGap, ...]
    motion: dict[str, Pose]  # of each body, from its placement

    def closed(self, joint: Joint) -> Joint:
        """The joint in world coordinates where it is closed."""
        return joint.moved(self.motion.get(joint.a, STILL), self.motion.get(joint.b, STILL))


def settled(model: Model, closing: Closing | None) -> list[Element]:
    """The force elements with what they take from where the joints are closed, such as lengths at rest."""
    joints, motion = model.joints_by_name, {} if closing is None else closing.motion
    ends = [(element, *element.sides(joints)) for element in model.elements]
    return [element.settled(motion.get(a, STILL), motion.get(b, STILL)) for element, a, b in ends]


def is_open(model: Model) -> bool:
    """Whether a joint is open by more than the projection of initial values can be trusted to close."""
    rough = [joint.gaps for joint in model.joints if joint.rough]  # the others were looked at when they were added
    length = _length(model) if rough else 1.0
    return any(gap > GAP_LIMIT * length or angle > GAP_LIMIT for gap, angle in rough)


def close(model: Model, hold: Iterable[Body | str] = ()) -> Closing:
    """Close all joints without moving the bodies to `hold`, or say which cannot close and by how much."""
    problem = _Problem(model, held_bodies(model, hold))
    everything = np.arange(len(model.joints))
    q, best = problem.search(problem.placement.q, everything)
    if best > CLOSED:
        _refuse(problem, q)
    q = problem.polished(q)
    result = Closing(q, (), motions(problem.model, problem.placement.q, q))
    gaps = [(joint.name, *joint.gaps, *result.closed(joint).gaps) for joint in model.joints]
    return Closing(q, tuple(JointGap(*gap) for gap in gaps), result.motion)


def held_bodies(model: Model, hold: Iterable[Body | str]) -> set[str]:
    """The names of the bodies to hold: those named here, and those that are always held."""
    names = [body.name for body in model.bodies]
    try:
        parts = [hold] if isinstance(hold, str) else list(hold)
    except Exception as error:  # what is no list may raise anything
        raise ModelError(f"model '{model.name}': hold: expected bodies or their names, found {hold!r}.") from error
    held: list[Any] = [getattr(part, "name", part) for part in parts]
    for name in held:
        if not is_among(name, names):
            raise ModelError(f"model '{model.name}': hold: found no body {name!r}. {nearest(name, names)}")
    return {*held, *(body.name for body in model.bodies if body.hold)}


def _length(model: Model) -> float:
    """The size of the mechanism: its longest lever arm."""
    position = {body.name: np.asarray(body.position) for body in model.bodies}
    ends = [(n, x) for joint in model.joints for n, x in zip((joint.a, joint.b), joint.points, strict=True)]
    links = [joint.length or 0.0 for joint in model.joints if isinstance(joint, RigidLink)]
    arms = [float(np.linalg.norm(x - position[n])) for n, x in ends if n in position]
    return max([*links, *arms], default=1.0) or 1.0


class _Problem:
    """The gaps of all joints of a model as functions of where its bodies are."""

    def __init__(self, model: Model, held: set[str]) -> None:
        self.model, self.held = model, held
        self.placement = Placement(model)
        self.length = _length(model)
        rows = Rows(self.placement)
        for joint in model.joints:
            rows.add_closing(joint, self.length)
        self.count = len(model.bodies)
        self.joint: IntArray = np.repeat(np.arange(len(model.joints)), rows.counts)
        sides = [[self.placement.index[name] for name in pair] for pair in rows.sides]
        self.ends: IntArray = np.array(sides, dtype=np.int64).reshape(-1, 2)
        self.sides = self.ends[self.joint]
        self.cu, self.cw = np.array(rows.cu).reshape(-1, 2, 4), np.array(rows.cw).reshape(-1, 2, 4)
        self.u0, self.c = np.array(rows.u0).reshape(-1, 3), np.array(rows.c)
        self.free = self._free()

    def _free(self) -> IntArray:
        """The unknowns: motions of bodies that are not held, turns only of those that can turn."""
        free = np.ones((self.count, 6), dtype=bool)
        for k, body in enumerate(self.model.bodies):
            free[k] = body.name not in self.held
            free[k, 3:] &= isinstance(body, RigidBody)
        return np.flatnonzero(free)

    def gaps(self, q: Array, weight: Array) -> tuple[Array, Array, Array]:
        """r, and u and w of all rows."""
        sides = q[self.sides]
        u = self.u0 + np.einsum("rsi,rsik->rk", self.cu, sides)
        w = np.einsum("rsi,rsik->rk", self.cw, sides)
        return weight * (np.einsum("rk,rk->r", u, w) - self.c), u, w

    def slopes(self, q: Array, u: Array, w: Array, weight: Array, metric: Array) -> Any:
        """J M^(-1/2) for the unknowns; a sparse matrix if it is large."""
        blocks = weight[:, None, None] * reduced_blocks(q, self.sides, self.cu, self.cw, u, w)
        blocks = np.einsum("rsi,rsij->rsj", blocks, metric[self.sides])
        shape = weight.size, 6 * (self.count + 1)
        rows = np.broadcast_to(np.arange(weight.size)[:, None, None], blocks.shape)
        columns = 6 * self.sides[:, :, None] + np.arange(6)
        if self.free.size > LARGEST_DENSE:
            from scipy import sparse

            return sparse.csc_array((blocks.ravel(), (rows.ravel(), columns.ravel())), shape=shape)[:, self.free]
        J = np.zeros(shape)
        np.add.at(J, (rows, columns), blocks)
        return J[:, self.free]

    def spread(self, step: Array, metric: Array) -> Array:
        """Increments (N, 6) of all bodies from a step of the unknowns."""
        motion = np.zeros(6 * self.count)
        motion[self.free] = step
        return np.einsum("bij,bj->bi", metric[:-1], motion.reshape(-1, 6))

    def descend(self, q: Array, weight: Array, stalled: float = STALLED) -> tuple[Array, float]:
        """The configuration with the least gaps next to q, and the largest gap that is left there."""
        (r, u, w), mu, growth = self.gaps(q, weight), 1e-3, 2.0
        history = [float(r @ r)]
        for _ in range(STEPS):
            if np.abs(r).max(initial=0.0) <= ROUND_OFF or not self.free.size:
                break
            metric = inverse_root(self.model, self.placement, q, self.length)
            J = self.slopes(q, u, w, weight, metric)
            step = _solve(J, r, mu)
            motion = self.spread(step, metric)
            shrink = min(1.0, LARGEST_TURN / max(np.abs(motion[:, 3:]).max(), 1e-300))
            after = moved(q, shrink * motion)
            new = self.gaps(after, weight)
            reached, expected = float(new[0] @ new[0]), float(np.sum((r + shrink * (J @ step)) ** 2))
            gain = min(1.0, (history[-1] - reached) / max(history[-1] - expected, 1e-300))
            if reached < history[-1]:
                q, (r, u, w) = after, new
                mu, growth = max(1e-14, mu * max(1 / 10, 1 - (2 * gain - 1) ** 3)), 2.0
                history.append(reached)
                if len(history) > PATIENCE and history[-1] > (1 - stalled) * history[-1 - PATIENCE]:
                    break
            else:
                mu, growth = mu * growth, 2.0 * growth
                if mu > 1e6:
                    break
        return q, float(np.abs(r).max(initial=0.0))

    def search(self, q: Array, joints: Iterable[int]) -> tuple[Array, float]:
        """Descend from q, then from other placements, until these joints are closed; the best that was found."""
        chosen = np.isin(self.joint, np.fromiter(joints, dtype=np.int64)).astype(float)
        best, left = self.descend(q, chosen)
        rng = np.random.default_rng(0)
        for k in range(STARTS - 1):
            if left <= CLOSED:
                break
            other, gap = self.descend(self.tree(q, rng, turned=k > 0), chosen)
            if gap < left:
                best, left = other, gap
        return best, left

    def tree(self, q: Array, rng: np.random.Generator, turned: bool) -> Array:
        """A placement in which the joints of a spanning tree are closed, with bodies `turned` at random or not."""
        result, ground = q.copy(), self.count
        placed = {ground, *(self.placement.index[name] for name in self.held)}
        for root in [None, *range(self.count)]:
            if root is not None and root not in placed:
                placed.add(root)
            found = True
            while found:
                found = False
                for joint, (a, b) in zip(self.model.joints, self.ends.tolist(), strict=True):
                    if not isinstance(joint, GearJoint) and (a in placed) != (b in placed):
                        side = int(a not in placed)
                        self._attach(result, joint, (a, b), side, rng if turned else None)
                        placed |= {a, b}
                        found = True
        turning = [isinstance(body, RigidBody) for body in self.model.bodies]
        result[:-1][np.logical_not(turning), 1:] = np.eye(3)  # point masses do not turn
        return result

    def _attach(
        self, q: Array, joint: Joint, ends: tuple[int, int], side: int, rng: np.random.Generator | None
    ) -> None:
        """Move the body at the other end of a joint so that the joint is closed, but for slides at random."""
        start, here, there = self.placement.q, ends[side], ends[1 - side]

        def now(k: int, world: Array) -> Array:
            return (start[k, 1:] @ world) @ q[k, 1:]

        if rng is not None:
            q[there, 1:] = q[there, 1:] @ rotation_matrix(rng.normal(size=4)).T
        pairs = joint.pairs
        for pair in pairs[:2]:  # the first two of three axes fix the third
            u, v = now(here, pair[side]), now(there, pair[1 - side])
            if pair is pairs[0]:
                turn = least_turn(v, u)
            else:  # turn about the axis that fits already
                n = now(here, pairs[0][side])
                turn = rotation_matrix((n, float(np.arctan2(n @ np.cross(v, u), u @ v))))
            q[there, 1:] = q[there, 1:] @ turn.T
        points = [q[k, 0] + now(k, joint.points[s] - start[k, 0]) for k, s in ((here, side), (there, 1 - side))]
        q[there, 0] += points[0] - points[1]
        if isinstance(joint, RigidLink):
            away = points[1] - points[0] if rng is None else rng.normal(size=3)
            q[there, 0] += (joint.length or 0.0) * away / max(float(np.linalg.norm(away)), 1e-300)
        elif rng is not None and not any(isinstance(row, Coincide) for row in joint.rows):
            q[there, 0] += self.length * rng.normal(size=3)  # it may slide; steps bring it back onto its line

    def polished(self, q: Array) -> Array:
        """Gauss-Newton steps of least norm down to round-off, where dense matrices are small."""
        weight = np.ones(self.joint.size)
        if self.free.size > LARGEST_DENSE:
            return q
        for _ in range(4):
            (r, u, w), metric = self.gaps(q, weight), inverse_root(self.model, self.placement, q, self.length)
            if np.abs(r).max(initial=0.0) <= ROUND_OFF:
                break
            step = np.linalg.lstsq(self.slopes(q, u, w, weight, metric), -r, rcond=1e-9)[0]
            q = moved(q, self.spread(step, metric))
        return q


def motions(model: Model, start: Array, q: Array) -> dict[str, Pose]:
    """The motion of each body from one configuration to another."""
    result = {}
    for k, body in enumerate(model.bodies):
        turn = q[k, 1:].T @ start[k, 1:]
        result[body.name] = Pose(q[k, 0] - turn @ start[k, 0], turn)
    return result


def _solve(J: Any, r: Array, mu: float) -> Array:
    """The step of least length for which |r + J s|^2 + mu |J^T J| |s|^2 is least."""
    if isinstance(J, np.ndarray):
        A = J.T @ J
        A[np.diag_indices_from(A)] += mu * max(float(A.diagonal().max()), 1e-300)
        return np.linalg.solve(A, -J.T @ r)
    from scipy import sparse
    from scipy.sparse.linalg import spsolve

    A = J.T @ J
    A = sparse.csc_array(A + mu * A.diagonal().max() * sparse.eye_array(J.shape[1]))
    return np.asarray(spsolve(A, -J.T @ r))


def _refuse(problem: _Problem, q: Array) -> None:
    """Raise an error that names the joints that cannot close, in the order in which they were added."""
    model, names = problem.model, [joint.name for joint in problem.model.joints]
    r = np.abs(problem.gaps(q, np.ones(problem.joint.size))[0])
    share = [k for k in range(len(names)) if r[problem.joint == k].max(initial=0.0) > CLOSED]
    holds, cannot = [k for k in range(len(names)) if k not in share], []
    for k in share:
        at, left = problem.search(q, [*holds, k])
        if left <= CLOSED:
            holds, q = [*holds, k], at
        else:
            cannot.append(k)
    for strong in STRONG:
        q, _ = problem.descend(q, np.where(np.isin(problem.joint, cannot), 1.0, strong), LEAST)
    closing = Closing(q, (), motions(problem.model, problem.placement.q, q))
    lines = []
    for k in cannot:
        gap, angle = closing.closed(model.joints[k]).gaps
        sizes = [f"{gap:.4g} m"] * (gap > SEEN * problem.length) + [f"{angle:.4g} rad"] * (angle > SEEN)
        lines.append(f"{model.joints[k].where} cannot close: a gap of {' and '.join(sizes)} is the smallest")
    with_it = ", ".join(f"'{names[k]}'" for k in share if k not in cannot) or "the others"
    raise InconsistentStateError(
        f"model '{model.name}': the joints do not fit together. {'; '.join(lines)} found "
        f"while {with_it} hold. "
        "Expected points and axes that fit at some placement of the bodies; check the lengths of the bodies in this "
        f"loop{', the bodies to hold' if problem.held else ''} and the frames in which points are given."
    )
