"""Results for other programs: a table of named columns (pandas, CSV, Parquet), and nested structures (MATLAB).

Columns are called as in `plot`: energy, angular_momentum.x, slider.position.x, B.force.z, motor.work.
"""

from __future__ import annotations

import re
from itertools import product
from pathlib import Path
from typing import TYPE_CHECKING, Any

import numpy as np

from porthos.errors import PorthosError
from porthos.notation import Array
from porthos.results.storage import QUANTITIES, attribute_of, attributes, owners_of, quantities
from porthos.results.trajectory import Trajectory

if TYPE_CHECKING:
    import pandas

AXES = "xyz"
GROUPS = {"body": "bodies", "joint": "joints", "element": "elements", "port": "ports"}
LONGEST = 63  # characters of a name in MATLAB


def columns(run: Trajectory) -> dict[str, Array]:
    """Every number of the named quantities over time (T,), by its name."""
    found: dict[str, Array] = {}
    for name, values in quantities(run).items():
        owners = owners_of(run, QUANTITIES[name][0])
        attribute = attribute_of(name)
        stems = [attribute] if owners is None else [f"{owner}.{attribute}" for owner in owners]
        table = values.reshape(run.t.size, len(stems), -1) if stems else np.zeros((run.t.size, 0, 1))
        ends = {1: [""], 3: [f".{a}" for a in AXES], 9: [f".{a}{b}" for a, b in product(AXES, AXES)]}[table.shape[2]]
        found |= {stem + end: table[:, i, k] for (i, stem), (k, end) in product(enumerate(stems), enumerate(ends))}
    return found


def to_pandas(run: Trajectory) -> pandas.DataFrame:
    """A table with a row for each recorded time; `attrs` say where it comes from."""
    import pandas

    frame = pandas.DataFrame(columns(run), index=pandas.Index(run.t, name="time"))
    frame.attrs.update(attributes(run))
    return frame


def write_csv(run: Trajectory, path: Path) -> None:
    """Comma-separated values, every number with all its digits."""
    to_pandas(run).to_csv(path)


def write_parquet(run: Trajectory, path: Path) -> None:
    """A Parquet file; needs pyarrow."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise PorthosError(
            f"'{path}': writing Parquet needs the package pyarrow, which is not installed. "
            "Try `pip install 'porthos[parquet]'`, or a file that ends in .csv."
        ) from error
    to_pandas(run).to_parquet(path)


def write_matlab(run: Trajectory, path: Path) -> None:
    """A MATLAB file: time, balances, and structures such as bodies.crank.position, joints.B.force, ports.motor.work.

    Names that MATLAB does not allow are changed; each structure holds the right one as `name`.
    """
    from scipy.io import savemat

    data: dict[str, Any] = {"time": run.t[:, None], **attributes(run)}
    groups: dict[str, dict[str, dict[str, Any]]] = {group: {} for group in GROUPS.values()}
    for name, values in quantities(run).items():
        dimensions = QUANTITIES[name][0]
        owners = owners_of(run, dimensions)
        if owners is None:
            data[name] = values if values.ndim > 1 else values[:, None]
            continue
        members = groups[GROUPS[dimensions[1]]]
        for k, owner in enumerate(owners):
            part = values[:, k] if values.ndim > 2 else values[:, k, None]
            members.setdefault(owner, {"name": owner})[attribute_of(name)] = part
    for group, members in groups.items():
        if members:
            data[group] = dict(zip(matlab_names(list(members)), members.values(), strict=True))
    savemat(path, data, long_field_names=True, do_compression=True)


def matlab_names(names: list[str]) -> list[str]:
    """Names that MATLAB allows, all different: letters, digits and underscores after a letter, not too long."""
    found: list[str] = []
    for name in names:
        stem = re.sub(r"\W", "_", name, flags=re.ASCII)
        stem = (stem if re.match(r"[A-Za-z]", stem) else f"x{stem}")[:LONGEST]
        allowed, k = stem, 2
        while allowed in found:
            allowed, k = f"{stem[: LONGEST - len(str(k)) - 1]}_{k}", k + 1
        found.append(allowed)
    return found
