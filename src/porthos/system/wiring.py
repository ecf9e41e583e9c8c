"""Where ports, multipliers and blocks of connected systems lie in the vectors of the whole."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np

from porthos.errors import StructureError, nearest
from porthos.notation import Array, IntArray
from porthos.system.connections import Law
from porthos.system.descriptor import Descriptor


@dataclass(frozen=True)
class Port:
    """A port of a part: its name here and there, the number of its part, its place among the inputs of all parts."""

    name: str
    own: str
    part: int
    place: slice

    @property
    def width(self) -> int:
        """Number of inputs."""
        return self.place.stop - self.place.start


@dataclass(frozen=True)
class Wire:
    """A connection with its law, the parts of its ports and the place of its multipliers."""

    label: str
    ports: tuple[Port, ...]
    law: Law
    place: slice


def port_called(name: str, ports: Sequence[Port], parts: Sequence[str], label: str) -> Port:
    """The port that a connection names, alone or with its part in front."""
    known = {f"{parts[port.part]}: {port.own}": port for port in ports} | {port.name: port for port in ports}
    if name in known:
        return known[name]
    twice = [port.name for port in ports if port.own == name]
    if twice:
        raise StructureError(f"connection '{label}': port '{name}' is not unique; write one of {twice}.")
    raise StructureError(f"connection '{label}': there is no port '{name}'. {nearest(name, (p.name for p in ports))}")


def require_open(port: Port, system: Descriptor, label: str) -> None:
    """Refuse a load or a drive: what it gets is a function of time already."""
    if port.own in system.sources:
        raise StructureError(
            f"connection '{label}': expected a port that waits for its input, found '{port.name}', a load or drive "
            "whose input is a function of time. Give the model a port there, model.port(...) or model.joint_port(...)."
        )


def places(sizes: Sequence[int]) -> list[slice]:
    """Slices of these sizes, one after the other."""
    ends = np.cumsum(sizes, dtype=int).tolist()
    return [slice(end - size, end) for end, size in zip(ends, sizes, strict=True)]


def indices(slices: Iterable[slice]) -> IntArray:
    """All numbers in these slices."""
    return np.array([k for place in slices for k in range(place.start, place.stop)], dtype=np.int64)


def block_diagonal(blocks: list[Array]) -> Array:
    """diag(blocks); unlike SciPy's it keeps blocks without columns in their rows."""
    result = np.zeros((sum(b.shape[0] for b in blocks), sum(b.shape[1] for b in blocks)))
    row = column = 0
    for b in blocks:
        result[row : row + b.shape[0], column : column + b.shape[1]] = b
        row, column = row + b.shape[0], column + b.shape[1]
    return result
