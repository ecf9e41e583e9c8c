"""Results for other programs: a table of named columns (pandas, CSV, Parquet), and nested structures (MATLAB).

Columns are called as in `plot`: energy, slider.position.x, A.angle, B.force.z, motor.work; H, flux, q.0.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from porthos.errors import PorthosError
from porthos.notation import Array, names
from porthos.results.quantities import all_values, columns_of
from porthos.results.run import Run
from porthos.results.state_quantities import STATES, series, state_columns
from porthos.results.states import StateTrajectory
from porthos.results.storage import attributes
from porthos.results.trajectory import Trajectory

if TYPE_CHECKING:
    import pandas

LONGEST = 63  # characters of a name in MATLAB


def columns(run: Run, *names: str) -> dict[str, Array]:
    """Every number over time (T,) of named quantities, or of all, by its name."""
    if isinstance(run, Trajectory):
        return columns_of(run, *names)
    assert isinstance(run, StateTrajectory)
    return state_columns(run, *names)


def to_pandas(run: Run, *quantities: str) -> pandas.DataFrame:
    """A table with a row for each recorded time; `attrs` say where it comes from."""
    import pandas

    frame = pandas.DataFrame(columns(run, *(quantities or run.outputs)), index=pandas.Index(run.t, name="time"))
    frame.attrs.update(attributes(run))
    return frame


def write_csv(run: Run, path: Path, quantities: Sequence[str] = ()) -> None:
    """Comma-separated values, every number with all its digits."""
    to_pandas(run, *names(quantities, "export: quantities")).to_csv(path, na_rep="nan")


def write_parquet(run: Run, path: Path, quantities: Sequence[str] = ()) -> None:
    """A Parquet file; needs pyarrow."""
    try:
        import pyarrow  # noqa: F401
    except ImportError as error:
        raise PorthosError(
            f"'{path}': writing Parquet needs the package pyarrow, which is not installed. "
            "Try `pip install 'porthos[parquet]'`, or a file that ends in .csv."
        ) from error
    to_pandas(run, *names(quantities, "export: quantities")).to_parquet(path)


def write_matlab(run: Run, path: Path) -> None:
    """A MATLAB file: time, balances, and structures such as bodies.crank.position, joints.B.force, ports.motor.work.

    A run over states has states.flux.value, ports.voltage.work, connections.gear_wheel.power. Names that MATLAB does
    not allow are changed; each structure holds the right one as `name`.
    """
    from scipy.io import savemat

    data: dict[str, Any] = {"time": run.t[:, None], **attributes(run)}
    groups: dict[str, dict[str, dict[str, Any]]] = {}
    for group, owner, attribute, values in _members(run):
        column = values if values.ndim > 1 else values[:, None]
        if owner is None:
            data[attribute] = column
        else:
            groups.setdefault(group, {}).setdefault(owner, {"name": owner})[attribute] = column
    for group, members in groups.items():
        data[group] = dict(zip(matlab_names(list(members)), members.values(), strict=True))
    savemat(path, data, long_field_names=True, do_compression=True)


def _members(run: Run) -> Iterator[tuple[str, str | None, str, Array]]:
    """(group, owner, attribute, values) of all quantities; the owner is None for those of the whole run."""
    if isinstance(run, StateTrajectory):
        for one in series(run).values():
            attribute = "value" if one.group == STATES else one.name.rpartition(".")[2]
            yield one.group, one.owner or None, attribute, one.values
    elif isinstance(run, Trajectory):
        for meant, values in all_values(run):
            group = "ports" if meant.part.group == "drives" else meant.part.group
            yield group, meant.part.name or None, meant.attribute, values


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
