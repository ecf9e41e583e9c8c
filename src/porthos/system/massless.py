"""Bodies without mass or moments of inertia: [M G^T; G 0] is regular if joints hold each motion that has no inertia.

Such motions t, M t = 0, span a space; the matrix is singular if G t = 0 for one of them. Chains of such bodies are
looked at one by one. The matrix of a step gets a little inertia in the place of none, its residual does not.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from porthos.errors import ModelError
from porthos.model.bodies import Body, RigidBody
from porthos.notation import Array
from porthos.system.ranks import RANK_TOLERANCE

GHOST = 1e-4  # of masses and moments nearby: what stands for none in the matrix; errors shrink by this in an iteration
TINY = 1e-6  # of the largest mass: a mass below this is treated as none in the matrix, where it would be lost in others
INVOLVED = 0.1  # share of the largest motion from which a body is named

Sides = Mapping[str, Array]  # blocks (r, 6) of the rows of a joint for the twists of its bodies


def without_inertia(body: Body) -> NDArray[np.bool_]:
    """Which of the six motions of a body have no inertia; the spin of a rod with mass may stay undetermined."""
    still = isinstance(body, RigidBody) and not np.any(body.inertia.tensor)
    return np.repeat([body.mass == 0.0, still], 3)


def require_held(name: str, bodies: Sequence[Body], joints: Sequence[Sides], length: float) -> None:
    """Refuse a model in which something without inertia moves freely, and say what; `length` is that of its levers."""
    free = {body.name: columns for body in bodies if (columns := without_inertia(body)).any()}
    for chain, holding in _chains(free, joints):
        motion = _free_motion({part: free[part] for part in chain}, holding, length)
        if motion is not None:
            raise ModelError(f"model '{name}': {_blame(bodies, motion)}")


def carried(bodies: Sequence[Body], names: set[str], joints: Sequence[Sides], length: float) -> set[str]:
    """Those of the bodies of these `names` that joints to others hold in all their motions; a free one is its own."""
    none = {body.name: without_inertia(body) for body in bodies}
    whole = {body.name: np.repeat([True, isinstance(body, RigidBody)], 3) for body in bodies if body.name in names}
    free = {part: columns for part, columns in (none | whole).items() if columns.any()}
    chains = [(chain, holding) for chain, holding in _chains(free, joints) if not names.isdisjoint(chain)]
    held = [c for c, holding in chains if _free_motion({part: free[part] for part in c}, holding, length) is None]
    return names & set().union(*held)


def _chains(free: Mapping[str, NDArray[np.bool_]], joints: Sequence[Sides]) -> list[tuple[list[str], list[Sides]]]:
    """The bodies without inertia, those that joints connect together, and the joints that hold them."""
    chain_of = {part: [part] for part in free}
    touched = [([part for part in sides if part in free], sides) for sides in joints]
    for parts, _ in touched:
        for part in parts[1:]:
            longer, shorter = chain_of[parts[0]], chain_of[part]
            if longer is not shorter:
                if len(longer) < len(shorter):
                    longer, shorter = shorter, longer
                longer += shorter
                chain_of.update(dict.fromkeys(shorter, longer))
    holding: dict[int, list[Sides]] = {id(chain): [] for chain in chain_of.values()}
    for parts, sides in touched:
        if parts:
            holding[id(chain_of[parts[0]])].append(sides)
    chains = {id(chain): chain for chain in chain_of.values()}
    return [(chain, holding[key]) for key, chain in chains.items()]


def _free_motion(
    free: Mapping[str, NDArray[np.bool_]], joints: Sequence[Sides], length: float
) -> dict[str, Array] | None:
    """A motion (6,) of each body, in lengths, that neither inertia nor joints resist; None if there is none."""
    scale = np.repeat([1.0, 1.0 / length], 3)
    rows = [np.zeros((0, sum(int(columns.sum()) for columns in free.values())))]
    for sides in joints:
        none = np.zeros((len(next(iter(sides.values()))), 6))
        rows.append(np.hstack([(sides.get(part, none) * scale)[:, columns] for part, columns in free.items()]))
    G = np.vstack(rows)
    G = G / np.maximum(np.linalg.norm(G, axis=1, keepdims=True), 1e-300)
    _, singular, right = np.linalg.svd(G, full_matrices=True)
    rank = int(np.sum(singular > RANK_TOLERANCE * singular.max(initial=0.0)))
    if rank == G.shape[1]:
        return None
    null = right[rank:]
    part = null.T @ null[:, int(np.argmax(np.linalg.norm(null, axis=0)))]  # the motion that is most of one direction
    result, at = {}, 0
    for body, columns in free.items():
        result[body] = np.zeros(6)
        result[body][columns] = part[at : at + int(columns.sum())]
        at += int(columns.sum())
    return result


def _blame(bodies: Sequence[Body], motion: Mapping[str, Array]) -> str:
    """What moves freely, and what to do about it."""
    largest = max(float(np.linalg.norm(part)) for part in motion.values())
    sentences = []
    for body in bodies:
        part = motion.get(body.name, np.zeros(6))
        if np.linalg.norm(part) <= INVOLVED * largest:
            continue
        shifts = np.linalg.norm(part[:3]) >= np.linalg.norm(part[3:])
        way = part[:3] if shifts else part[3:]
        along = ", ".join(f"{x:.3g}" for x in way / np.linalg.norm(way) + 0.0)
        kind = "body" if isinstance(body, RigidBody) else "point mass"
        lack, verb = ("mass", "moving along") if shifts else ("moments of inertia", "turning about")
        sentences.append(f"{kind} '{body.name}' has no {lack}, and no joint keeps it from {verb} ({along})")
    return (
        f"{'; '.join(sentences)}. So nothing determines that motion, and [M G^T; G 0] is singular; springs, dampers "
        "and loads do not count. Hold it by joints, leave it out (a rod between two ball joints is model.distance), or "
        "give it a small mass: the result differs in proportion to it."
    )
