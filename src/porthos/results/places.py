"""Whether the tables of a file point into each other as they should: compiled code would follow them anywhere."""

from __future__ import annotations

from typing import Any

import numpy as np

from porthos.kernels.tables import LENGTH, PIECE_TERMS, PIECES, TURN, VALUE


def check_places(tables: dict[str, Any], sizes: dict[str, int]) -> None:
    """Compiled code trusts the tables, so no number of a body or row may point outside them."""
    bodies, rows, ports = sizes["n_body"], sizes["n_row"], sizes["n_port"]
    edges = tables["joint_row"]
    links = sizes["n_joint"] + sizes["n_element"]
    if sizes["n_body_ground"] != bodies + 1 or (sizes["n_link"], sizes["n_link_edge"]) != (links, links + 1):
        raise ValueError("tables of different systems")
    _check_laws(tables, sizes)
    _check_drives(tables, sizes)
    _check_gears(tables, sizes)
    if edges[0] != 0 or edges[-1] != rows or np.any(np.diff(edges) < 0):
        raise ValueError("table 'joint_row' does not divide the rows among the joints")
    for name, limit in (("row_body", bodies + 1), ("joint_body", bodies + 1)):
        if np.any(tables[name] < 0) or np.any(tables[name] >= limit):
            raise ValueError(f"table '{name}' names a body that does not exist")
    _check_loads(tables, bodies)
    if np.any(tables["port_body"] != tables["load_body"]) or tables["port_inputs"].sum() != sizes["n_input"]:
        raise ValueError(f"the tables of the {ports} loads and ports contradict each other")


def _check_loads(tables: dict[str, Any], bodies: int) -> None:
    """Loads act on bodies; a port in a joint may have the ground on one side."""
    body, other = tables["load_body"], tables["load_other"]
    last = np.where(other >= 0, bodies, bodies - 1)
    if np.any(body < 0) or np.any(body > last) or np.any(other < -1) or np.any(other > bodies) or np.any(body == other):
        raise ValueError("table 'load_body' or 'load_other' names a body that does not exist")
    if not np.all(np.isin(tables["load_turning"], (0, 1))):
        raise ValueError("table 'load_turning' has a number that means nothing")


def _check_laws(tables: dict[str, Any], sizes: dict[str, int]) -> None:
    """Rows of joints have no law, those of force elements one of the table; pieces lie in theirs."""
    laws, first = tables["row_law"], tables["joint_row"][sizes["n_joint"]]
    if np.any(laws[:first] != -1) or np.any(laws[first:] < 0) or np.any(laws[first:] >= sizes["n_law"]):
        raise ValueError("table 'row_law' does not fit the joints and force elements")
    for name, limit in (
        ("law_measure", 2),
        ("law_form", PIECES),
        ("law_terms", PIECE_TERMS),
        ("law_pieces", sizes["n_piece"]),
        ("law_pressing", first),
    ):
        if np.any(tables[name] < 0) or np.any(tables[name] > limit):
            raise ValueError(f"table '{name}' has a number that means nothing")
    counts = np.bincount(laws[first:], minlength=sizes["n_law"])
    if np.any(counts != np.where(tables["law_measure"] == TURN, 2, 1)) or np.any(np.diff(laws[first:]) < 0):
        raise ValueError("table 'row_law' does not give each law its rows")


def _check_drives(tables: dict[str, Any], sizes: dict[str, int]) -> None:
    """Drives follow rows of joints that look as they should."""
    rows, last = tables["drive_row"], tables["joint_row"][sizes["n_joint"]]
    if sizes["n_channel"] != sizes["n_port"] + sizes["n_drive"]:
        raise ValueError("the tables of loads, ports and drives contradict each other")
    if np.any(rows < 0) or np.any(rows >= last) or not np.all(np.isin(tables["drive_measure"], (LENGTH, VALUE, TURN))):
        raise ValueError("table 'drive_row' or 'drive_measure' has a number that means nothing")


def _check_gears(tables: dict[str, Any], sizes: dict[str, int]) -> None:
    """Gears are rows of joints in their order, each with one or two wheels."""
    rows, last = tables["gear_row"], tables["joint_row"][sizes["n_joint"]]
    if np.any(rows < 0) or np.any(rows >= last) or np.any(np.diff(rows) <= 0) or not np.all(tables["gear_pitch"] > 0.0):
        raise ValueError("table 'gear_row' or 'gear_pitch' has a number that means nothing")
    wheels, sides = tables["wheel_row"], np.stack([tables["wheel_side"], tables["wheel_part"]])
    if np.any(np.diff(wheels) < 0) or not np.array_equal(np.unique(wheels), rows) or not np.all(np.isin(sides, (0, 1))):
        raise ValueError("table 'wheel_row', 'wheel_side' or 'wheel_part' has a number that means nothing")
