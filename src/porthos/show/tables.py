"""The model of a run as HTML tables: bodies, joints, force elements, loads and ports. All text is escaped."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape
from typing import Any

import numpy as np

from porthos.results.trajectory import Trajectory
from porthos.show.beam_solids import nodes

MOST_ROWS = 200  # of a table; larger models are files


def model_tables(run: Trajectory) -> str:
    """All tables that have rows."""
    about = run.system.description
    gravity, slices = _vector(about["gravity"]), nodes(run)
    tables = [
        table(
            f"Bodies, gravity {gravity} m/s²",
            ["name", "shape", "mass [kg]", "moments of inertia [kg m²]", "position at the start [m]"],
            [_body(run, k, body) for k, body in enumerate(about["bodies"]) if k not in slices],
        ),
        table(
            "Beams",
            ["name", "cross-section", "length [m]", "elements"],
            [_beam(beam) for beam in about.get("beams", [])],
        ),
        table(
            "Joints",
            ["name", "kind", "between", "point [m]", "axis or normal", "rows"],
            [_joint(run, k, joint) for k, joint in enumerate(about["joints"])],
        ),
        table(
            "Drives",
            ["name", "kind", "motion, in SI units"],
            [
                [escape(joint["name"]), escape(joint["kind"].replace("_", " ")), escape(joint["motion"])]
                for joint in about["joints"]
                if "motion" in joint
            ],
        ),
        table(
            "Force elements",
            ["name", "kind", "between", "law, in SI units"],
            [_element(element) for element in about.get("elements", []) if element["kind"] != "segment"],
        ),
        table(
            "Loads and ports",
            ["name", "kind", "on", "inputs"],
            [
                [escape(terminal.name), _kind(about, terminal.name), _acted_on(run, k, terminal), _inputs(terminal)]
                for k, terminal in enumerate(run.system.terminals)
            ],
        ),
    ]
    return f'<div class="tables">{"".join(tables)}</div>'


def table(title: str, head: Sequence[str], rows: Sequence[Sequence[str]]) -> str:
    """A table of cells that are HTML already; nothing if it has no rows."""
    if not rows:
        return ""
    shown = [f"<tr>{''.join(f'<td>{cell}</td>' for cell in row)}</tr>" for row in rows[:MOST_ROWS]]
    more = f"<p>and {len(rows) - MOST_ROWS} more</p>" if len(rows) > MOST_ROWS else ""
    names = "".join(f"<th>{escape(name)}</th>" for name in head)
    text = f"<table><thead><tr>{names}</tr></thead><tbody>{''.join(shown)}</tbody></table>"
    return f'<div class="card"><h3>{escape(title)}</h3><div class="scroll">{text}</div>{more}</div>'


def _body(run: Trajectory, k: int, body: dict[str, Any]) -> list[str]:
    name = f'<span class="swatch c{k % 7}"></span>{escape(body["name"])}'
    shape, rigid = body["shape"], body["kind"] == "rigid"
    record = run.system.mech.body[k]
    moments = np.asarray(record.euler).sum() - np.asarray(record.euler)
    start = _vector(run.raw.q[0][k, 0])
    return [name, escape(_words(shape)), f"{body['mass']:.6g}", _vector(moments) if rigid else "\N{EN DASH}", start]


def _words(shape: dict[str, Any]) -> str:
    """A shape in words: its name and its lengths."""
    if shape["type"] == "PointMass":
        return "point mass"
    lengths = {key: value for key, value in shape.items() if key not in ("type", "mass", "tensor")}
    words = [f"{key.replace('_', ' ')} {_number_or_vector(value)}" for key, value in lengths.items()]
    kind = "".join(f" {letter.lower()}" if letter.isupper() else letter for letter in shape["type"]).strip()
    return f"{kind}: {', '.join(words)}" if words else "given by its inertia"


def _beam(beam: dict[str, Any]) -> list[str]:
    given = dict(beam["section"])
    for key in ("stiffness", "turning_stiffness", "mass_per_length", "inertia_per_length"):
        if "young" in given:  # what follows from shape and material is left out
            del given[key]
    return [escape(beam["name"]), escape(_words(given)), f"{beam['length']:.6g}", str(len(beam["segments"]))]


def _joint(run: Trajectory, k: int, joint: dict[str, Any]) -> list[str]:
    axes = [joint[key] for key in ("axis", "axis_a", "axis_b", "normal") if key in joint]
    points = [joint[key] for key in ("at", "point_a", "point_b") if key in joint]
    record = run.system.mech.joint[k]
    return [
        escape(joint["name"]),
        escape(joint["kind"].replace("_", " ")),
        f"{escape(joint['a'])}, {escape(joint['b'])}",
        " to ".join(map(_vector, points)),
        "; ".join(map(_vector, axes)) or "\N{EN DASH}",
        str(int(record.last) - int(record.first)),
    ]


def _element(element: dict[str, Any]) -> list[str]:
    place = {
        "name",
        "kind",
        "a",
        "b",
        "points",
        "point_a",
        "point_b",
        "at",
        "at_b",
        "joint",
        "frame",
        "rotation_b",
        "axes",
    }
    law = {key: value for key, value in element.items() if key not in place and value is not None}
    words = [f"{key.replace('_', ' ')} {_law(value)}" for key, value in law.items() if np.any(value)]
    return [
        escape(element["name"]),
        escape(element["kind"].replace("_", " ")),
        f"{escape(element['a'])}, {escape(element['b'])}",
        escape(", ".join(words)),
    ]


def _law(value: Any) -> str:
    """A number, a list of numbers, or a table of pairs."""
    return f"of {len(value)} pairs" if np.ndim(value) == 2 else _number_or_vector(value)


def _kind(about: dict[str, Any], name: str) -> str:
    kinds = {port["name"]: f"port: {port['kind']}" for port in about["ports"]}
    return escape(kinds.get(name, "load"))


def _body_name(run: Trajectory, index: int) -> str:
    return escape([*run.system.body_names, "ground"][index])


def _acted_on(run: Trajectory, k: int, terminal: Any) -> str:
    """The body, or both of a joint."""
    other = int(run.system.mech.load[k].other)
    return f"{_body_name(run, other)} \N{EN DASH} " * (other >= 0) + _body_name(run, terminal.body)


def _inputs(terminal: Any) -> str:
    return str(terminal.basis.shape[1])


def _number_or_vector(value: Any) -> str:
    return value if isinstance(value, str) else f"{value:.6g}" if np.ndim(value) == 0 else _vector(value)


def _vector(values: Any) -> str:
    return f"({numbers(values)})"


def numbers(values: Any) -> str:
    """Numbers with five digits."""
    return ", ".join(f"{value + 0.0:.5g}" for value in np.asarray(values, dtype=np.float64)).replace(
        "-", "\N{MINUS SIGN}"
    )
