"""Quantities of a mechanism by name, one list for figures, reports, tables, events and controllers.

A name is a quantity of the whole or part.quantity, of vectors with a component: energy, bob.position.x, pin.angle.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from itertools import product
from typing import Any, NamedTuple

from porthos.errors import ModelError, is_among, nearest

AXES = ("x", "y", "z")
VECTOR = tuple(f".{axis}" for axis in AXES)
MATRIX = tuple(f".{a}{b}" for a, b in product(AXES, AXES))


@dataclass(frozen=True)
class Quantity:
    """Its symbol in legends, {} being the component, what it is, its unit, and the ends of names of its components."""

    symbol: str
    what: str
    unit: str = ""
    components: tuple[str, ...] = ()
    log: bool = False
    momentary: bool = False  # a single state tells it: events and controllers may ask for it

    @property
    def axis(self) -> str:
        """What stands beside an axis."""
        return f"{self.what} [{self.unit}]" if self.unit else self.what


Table = Mapping[str, Quantity]
CONSTRAINT = "largest constraint error"
WHOLE: Table = {
    "energy": Quantity("$H = T + V$", "energy", "J"),
    "kinetic_energy": Quantity("$T$", "energy", "J"),
    "potential_energy": Quantity("$V$", "energy", "J"),
    "stored_energy": Quantity("$V_e$", "energy", "J"),
    "dissipated_energy": Quantity("$D$", "energy", "J"),
    "angular_momentum": Quantity("$L_{}$", "angular momentum", "kg m²/s", VECTOR),
    "linear_momentum": Quantity("$p_{}$", "linear momentum", "kg m/s", VECTOR),
    "position_error": Quantity(r"$\max|g(q)|$", CONSTRAINT, log=True),
    "velocity_error": Quantity(r"$\max|G(q)\,v|$", CONSTRAINT, log=True),
    "power_balance": Quantity(r"$\Delta H - \Delta W + \Delta D$", "defect of a step", "J"),
}

POINT: Table = {
    "position": Quantity("${}$", "position", "m", VECTOR, momentary=True),
    "velocity": Quantity("$v_{}$", "velocity", "m/s", VECTOR, momentary=True),
}
RIGID: Table = {
    **POINT,
    "angular_velocity": Quantity(r"$\omega_{}$", "angular velocity", "rad/s", VECTOR, momentary=True),
    "rotation": Quantity("$R_{{{}}}$", "rotation matrix", "", MATRIX, momentary=True),
}

TURN: Table = {
    "angle": Quantity(r"$\varphi$", "angle", "rad", momentary=True),
    "angle_rate": Quantity(r"$\dot\varphi$", "angular velocity", "rad/s", momentary=True),
}
SLIDE: Table = {
    "displacement": Quantity("$s$", "displacement", "m", momentary=True),
    "displacement_rate": Quantity(r"$\dot s$", "velocity", "m/s", momentary=True),
}
REACTION: Table = {
    "force": Quantity("$F_{}$", "reaction force", "N", VECTOR),
    "torque": Quantity(r"$\tau_{}$", "reaction torque", "N m", VECTOR),
}
MOVING: Mapping[str, Table] = {"revolute": TURN, "prismatic": SLIDE, "cylindrical": {**TURN, **SLIDE}}

WORK: Table = {"work": Quantity("$W$", "work", "J"), "power": Quantity("$P$", "power", "W")}
PORT: Table = {
    "force": Quantity("$F_{}$", "force", "N", VECTOR),
    "torque": Quantity(r"$\tau_{}$", "torque", "N m", VECTOR),
    **WORK,
}
SHIFT: Table = {"motion": Quantity("$s$", "length", "m"), "output": Quantity("$F$", "force", "N"), **WORK}
DRIVES: Mapping[str, Table] = {
    "turn_drive": {"motion": Quantity("$s$", "angle", "rad"), "output": Quantity(r"$\tau$", "torque", "N m"), **WORK},
    "slide_drive": SHIFT,
    "length_drive": SHIFT,
}

STORE: Table = {"energy": Quantity("$V_e$", "energy", "J"), "dissipated": Quantity("$D$", "energy", "J")}
LINE: Table = {"measure": Quantity("$s$", "length", "m"), "force": Quantity("$F$", "force", "N"), **STORE}
HINGE: Table = {"measure": Quantity("$s$", "angle", "rad"), "force": Quantity(r"$\tau$", "torque", "N m"), **STORE}
SEEN: Table = {**LINE, "measure": replace(LINE["measure"], momentary=True)}
ELEMENTS: Mapping[str, Table] = {  # those of bushings, fields and segments of beams are many and have no names
    **dict.fromkeys(("spring", "damper", "attraction", "potential"), SEEN),
    **dict.fromkeys(("torsion_spring", "friction of revolute", "friction of cylindrical"), HINGE),
    "friction of prismatic": LINE,
    **dict.fromkeys(("bushing", "joint_potential", "field", "segment"), STORE),
}


class Part(NamedTuple):
    """Something that has quantities: the group that it belongs to, and its name and kind there."""

    group: str  # bodies, joints, elements, beams, ports or drives; empty for the whole
    name: str
    kind: str = ""

    @property
    def table(self) -> Table:
        """Its quantities."""
        if self.group == "bodies":
            return RIGID if self.kind == "rigid" else POINT
        if self.group == "joints":
            return {**MOVING.get(self.kind, {}), **REACTION}
        if self.group == "drives":
            return DRIVES[self.kind]
        if self.group == "elements":
            return ELEMENTS[self.kind]
        return {"": WHOLE, "beams": STORE, "ports": PORT}[self.group]


class Meaning(NamedTuple):
    """What a name stands for; without a component all of a vector."""

    part: Part
    attribute: str
    component: int | None = None

    @property
    def quantity(self) -> Quantity:
        """What it is."""
        return self.part.table[self.attribute]

    @property
    def single(self) -> bool:
        """Whether it is one number."""
        return self.component is not None or not self.quantity.components

    @property
    def name(self) -> str:
        """The name."""
        end = "" if self.component is None else self.quantity.components[self.component]
        return f"{self.part.name}.{self.attribute}{end}".lstrip(".")


def parts_of(
    bodies: Iterable[tuple[str, str]],
    joints: Iterable[tuple[str, str]],
    elements: Iterable[tuple[str, str, str | None]],
    beams: Iterable[str],
    ports: Iterable[str],
) -> list[Part]:
    """The parts of a mechanism, from names and kinds; elements with the joint that they are in, if they are in one."""
    kinds = dict(joints)
    of_elements = (
        (name, f"friction of {kinds[str(at)]}" if kind == "friction" else kind) for name, kind, at in elements
    )
    return [
        *(Part("bodies", *body) for body in bodies),
        *(Part("joints", *joint) for joint in kinds.items()),
        *(Part("elements", *element) for element in of_elements),
        *(Part("beams", beam) for beam in beams),
        *(Part("ports", port) for port in ports),
        *(Part("drives", *joint) for joint in kinds.items() if joint[1] in DRIVES),
    ]


def all_of(parts: Iterable[Part]) -> dict[str, Meaning]:
    """What the whole and its parts have, by name, without components; of two that are called alike the first."""
    found: dict[str, Meaning] = {}
    for part in (Part("", ""), *parts):
        for attribute in part.table:
            one = Meaning(part, attribute)
            found.setdefault(one.name, one)
    return found


def momentary(known: Mapping[str, Meaning]) -> dict[str, Meaning]:
    """The numbers that a single state tells."""
    chosen = [one for one in known.values() if one.quantity.momentary]
    single = [one._replace(component=k) for one in chosen for k in range(len(one.quantity.components))]
    return {one.name: one for one in (*chosen, *single) if one.single}


def check_text(name: Any) -> None:
    """Refuse what cannot be the name of a quantity."""
    if not isinstance(name, str):
        raise ModelError(f"expected the name of a quantity such as 'energy' or 'bob.position', found {name!r}.")


def named(name: str, known: Mapping[str, Meaning]) -> Meaning:
    """What a name stands for, or an error with the nearest one."""
    if is_among(name, known):
        return known[name]
    check_text(name)
    stem, _, end = name.rpartition(".")
    if stem in known and f".{end}" in known[stem].quantity.components:
        return known[stem]._replace(component=known[stem].quantity.components.index(f".{end}"))
    owners = list(dict.fromkeys(one.part.name for one in known.values() if one.part.name))
    owner = max((one for one in owners if name.startswith(f"{one}.")), key=len, default=None)
    if owner is not None:
        has = [one.name.removeprefix(f"{owner}.") for one in known.values() if one.part.name == owner]
        rest = name.removeprefix(f"{owner}.")
        raise ModelError(f"'{owner}' has no quantity '{rest}'. {nearest(rest, has)}")
    if name in owners:
        first = next(one.name for one in known.values() if one.part.name == name)
        raise ModelError(f"'{name}' is a part; expected one of its quantities, such as '{first}'.")
    if "." not in name or stem in known:
        raise ModelError(f"found no quantity '{name}'. {nearest(name, known)}")
    first = name.partition(".")[0]
    raise ModelError(f"'{name}': found no part '{first}' with quantities. {nearest(first, owners)}")
