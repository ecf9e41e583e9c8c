"""Hypothesis strategies: random trees and loops of rigid bodies and point masses with all joint types."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from hypothesis import assume
from hypothesis import strategies as st

import porthos as ph
from porthos.model.bodies import RigidBody
from porthos.notation import Array, normals

KINDS = (
    "spherical", "revolute", "cylindrical", "prismatic", "universal", "planar", "fixed", "distance", "point_on_line",
    "point_on_plane",
)  # fmt: skip
LOOP_KINDS = KINDS[:6] + KINDS[7:]
POINT_KINDS = ("spherical", "distance", "point_on_line", "point_on_plane")
APART = 0.5  # m, distance of points with a spring between them
SHORTEST = 0.2  # m, of a rod: around a shorter one bodies whirl too fast for the steps of the tests
WELL_CONDITIONED = 1e-2  # smallest singular value of G with rows of length one
FAR_FROM_STRETCHED = 0.2  # the same where a drive changes a distance: joints must allow its motion


def add_random_body(model: ph.Model, name: str, rng: np.random.Generator, position: Array, light: float = 1.0) -> None:
    """A body with random Euler values (so that its inertia is possible), orientation and velocities."""
    euler = rng.uniform(0.02, 0.2, 3)
    moments = np.diag(euler.sum() - euler)
    Q, _ = np.linalg.qr(rng.normal(size=(3, 3)))
    model.body(
        name,
        ph.Inertia(light * rng.uniform(0.5, 2.0), light * Q @ moments @ Q.T),
        position=position,
        rotation=(rng.normal(size=3), rng.uniform(-3, 3)),
        velocity=rng.normal(size=3) * 0.5,
        angular_velocity=rng.normal(size=3),
    )


def join(model: ph.Model, name: str, kind: str, a: str, b: str, at: Array, rng: np.random.Generator) -> None:
    """A joint of the given kind with random axes."""
    axis = rng.normal(size=3)
    apart = rng.normal(size=3)
    apart *= rng.uniform(SHORTEST, 0.8) / np.linalg.norm(apart)
    geometry: dict[str, dict[str, object]] = {
        "spherical": {"at": at},
        "fixed": {"at": at},
        "universal": {"at": at, "axis_a": axis, "axis_b": normals(axis / np.linalg.norm(axis))[0]},
        "planar": {"at": at, "normal": axis},
        "point_on_plane": {"at": at, "normal": axis},
        "distance": {"point_a": at + apart, "point_b": at},
    }
    getattr(model, kind)(name, a, b, **geometry.get(kind, {"at": at, "axis": axis}))


@st.composite
def trees(draw: st.DrawFn, grounded: bool | None = None, gravity: bool = True) -> ph.Model:
    """A tree of 1 to 5 rigid bodies and up to 2 point masses; `grounded` says whether it hangs on the ground."""
    rng = np.random.default_rng(draw(st.integers(0, 2**32 - 1)))
    hangs = draw(st.booleans()) if grounded is None else grounded
    model = ph.Model("tree", gravity=rng.normal(size=3) * 5 if gravity else (0, 0, 0))
    count = draw(st.integers(1, 5))
    places: dict[str, Array] = {"ground": np.zeros(3)}
    for k in range(count):
        name = f"body{k}"
        parent = draw(st.sampled_from([n for n in places if hangs or k == 0 or n != "ground"]))
        position = places[parent] + rng.normal(size=3)
        add_random_body(model, name, rng, position)
        if hangs or k > 0:
            at = (places[parent] + position) / 2 + 0.2 * rng.normal(size=3)
            join(model, f"joint{k}", draw(st.sampled_from(KINDS)), parent, name, at, rng)
        places[name] = position
    for k in range(draw(st.integers(0, 2))):
        parent = draw(st.sampled_from([n for n in places if n.startswith("body")]))
        position = places[parent] + rng.normal(size=3)
        model.point_mass(f"point{k}", rng.uniform(0.2, 1.0), position=position, velocity=rng.normal(size=3))
        kind = draw(st.sampled_from(POINT_KINDS))
        join(model, f"hold{k}", kind, parent, f"point{k}", position, rng)
    return model


@st.composite
def loops(draw: st.DrawFn, grounded: bool | None = None, gravity: bool = True, lightest: int = 0) -> ph.Model:
    """A ring of 3 to 5 bodies, closed over the ground or over themselves, that can move and has independent rows.

    One of them may be lighter than the others by that many powers of ten.
    """
    seed, over_ground = draw(st.integers(0, 2**32 - 1)), draw(st.booleans()) if grounded is None else grounded
    count = draw(st.integers(3, 5))
    kinds = [draw(st.sampled_from(LOOP_KINDS)) for _ in range(count + over_ground)]
    model = ring(seed, kinds, over_ground, gravity, 10.0 ** -draw(st.integers(0, lightest)))
    rows = sum(row.count for joint in model.joints for row in joint.rows)
    assume(6 * count - rows >= (1 if over_ground else 7))
    assume(smallest_singular_value(model) > WELL_CONDITIONED)
    return model


def ring(seed: int, kinds: Sequence[str], over_ground: bool, gravity: bool = True, light: float = 1.0) -> ph.Model:
    """A random ring of bodies with these joints, the last one or two of which close it; body 1 can be very light."""
    rng, count = np.random.default_rng(seed), len(kinds) - over_ground
    model = ph.Model("loop", gravity=rng.normal(size=3) * 5 if gravity else (0, 0, 0))
    angles = 2 * np.pi * np.arange(count) / count
    places = np.c_[np.cos(angles), np.sin(angles), 0.3 * rng.normal(size=count)] + 0.1 * rng.normal(size=(count, 3))
    for k in range(count):
        add_random_body(model, f"body{k}", rng, places[k], light if k == 1 else 1.0)
    pairs = [(f"body{k}", f"body{k + 1}", (places[k] + places[k + 1]) / 2) for k in range(count - 1)]
    if over_ground:
        pairs += [("ground", "body0", places[0] + rng.normal(size=3) / 3)]
        pairs += [("ground", f"body{count - 1}", places[-1] + rng.normal(size=3) / 3)]
    else:
        pairs += [(f"body{count - 1}", "body0", (places[-1] + places[0]) / 2)]
    for k, (kind, (a, b, at)) in enumerate(zip(kinds, pairs, strict=True)):
        join(model, f"joint{k}", kind, a, b, at, rng)
    return model


def smallest_singular_value(model: ph.Model) -> float:
    """Of the constraint Jacobian at the initial placement, rows scaled to length one; 0 if there are too many rows."""
    try:
        system = model.assemble()
    except ph.InconsistentStateError:  # a drive that the joints do not allow
        return 0.0
    G = system.G(system.split(system.initial_state())[0]).toarray()
    if G.shape[0] > G.shape[1]:
        return 0.0
    return float(np.linalg.svd(G / np.linalg.norm(G, axis=1, keepdims=True), compute_uv=False)[-1])


def add_elements(model: ph.Model, rng: np.random.Generator, lossless: bool = False) -> ph.Model:
    """A random force element of each kind between random parts that it may join."""
    rigid = [body.name for body in model.bodies if isinstance(body, RigidBody)]
    places = {body.name: np.asarray(body.position) for body in model.bodies}
    c = 0.0 if lossless else 1.0

    def two(names: list[str]) -> tuple[str, str, Array, Array]:
        """Two parts, and points of them that are not close to each other: a force along their line needs one."""
        while True:
            a, b = rng.permutation(names)[:2].tolist()
            ends = [places[name] + (0.3 * rng.normal(size=3) if name in rigid else 0.0) for name in (a, b)]
            if np.linalg.norm(ends[1] - ends[0]) > APART:
                return a, b, ends[0], ends[1]

    held = any("ground" in (joint.a, joint.b) for joint in model.joints)
    names = [*places, "ground"] if held else [*places]
    places["ground"] = np.full(3, 1.5)
    if len(names) > 1:
        k = (rng.uniform(5, 50), rng.uniform(-3, 3), rng.uniform(0, 50))
        model.spring("spring", *two(names), stiffness=k, damping=c * rng.uniform(0, 2), force=rng.normal())
        a, b, pa, pb = two(names)
        model.spring("bumper", a, b, pa, pb, table=[(-0.3, -30), (-0.01, 0), (0.02, 0.5), (0.1, 9.0)], force=0.2)
        model.attraction("push", *two(names), strength=-rng.uniform(0, 2))  # what attracts may come too close
    others = [name for name in names if name in rigid or name == "ground"]
    if len(others) > 1:
        a, b = rng.permutation(others)[:2].tolist()
        k, d = rng.uniform(5, 50, (2, 3)), c * rng.uniform(0, 1, (2, 3))
        model.bushing("bushing", a, b, places[b], k[0], d[0], k[1], d[1])
    for joint in model.joints:
        if joint.kind in ("revolute", "cylindrical"):
            model.torsion_spring(f"coil at {joint.name}", joint, stiffness=(5.0, 0.5), damping=c * 0.1, torque=0.3)
    return model


def add_drive(model: ph.Model, rng: np.random.Generator) -> ph.Model:
    """A drive in a random joint that can turn or slide; if there is none, on the distance of a body from another."""
    can = [joint for joint in model.joints if joint.kind in ("revolute", "cylindrical", "prismatic")]
    motion = ph.Sine(rng.uniform(0.05, 0.3), rng.uniform(0.5, 3.0))
    if can:
        joint = can[rng.integers(len(can))]
        place = {"at": joint.points[0], "axis": joint.axis}
        if joint.kind == "prismatic":
            model.slide_drive("drive", joint.a, joint.b, **place, displacement=motion)
        else:
            model.turn_drive("drive", joint.a, joint.b, **place, angle=motion)
        return model
    held = any("ground" in (joint.a, joint.b) for joint in model.joints)
    names = [body.name for body in model.bodies]
    places = {body.name: np.asarray(body.position) for body in model.bodies} | {"ground": np.full(3, 2.0)}
    if held or len(names) > 1:
        a, b = names[0], "ground" if len(names) == 1 else names[-1]
        length = float(np.linalg.norm(places[b] - places[a]))
        changing = ph.Sine(0.003 * length, 2.0, offset=length)
        model.length_drive("drive", a, b, places[a], places[b], length=changing)
        assume(smallest_singular_value(model) > FAR_FROM_STRETCHED)
    return model


def with_drive(models: st.SearchStrategy[ph.Model]) -> st.SearchStrategy[ph.Model]:
    """The same mechanisms with a drive."""
    seeds = st.integers(0, 2**32 - 1)
    return st.builds(lambda model, seed: add_drive(model, np.random.default_rng(seed)), models, seeds)


def with_elements(models: st.SearchStrategy[ph.Model], lossless: bool = False) -> st.SearchStrategy[ph.Model]:
    """The same mechanisms with random force elements."""
    seeds = st.integers(0, 2**32 - 1)
    return st.builds(lambda model, seed: add_elements(model, np.random.default_rng(seed), lossless), models, seeds)
