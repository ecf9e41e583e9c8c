"""A run for ParaView and other programs that read VTK: x.pvd lists the times, the folder x holds a surface for each.

Cells carry `part`, the number of their body (-1: ground, links), points carry their velocity; `bodies` lists the names.
"""

from __future__ import annotations

import base64
from pathlib import Path
from xml.sax.saxutils import quoteattr

import numpy as np
from numpy.typing import NDArray

from porthos.notation import Array, whole
from porthos.results.trajectory import Trajectory
from porthos.show.meshes import Surface
from porthos.show.scene import scene_of
from porthos.show.stage import spread

MOST = 200  # surfaces, unless asked otherwise
HEAD = '<?xml version="1.0"?>\n<VTKFile type="{}" version="1.0" byte_order="LittleEndian" header_type="UInt64">\n'
TYPES = {"<f4": "Float32", "<i4": "Int32"}


def write_vtk(run: Trajectory, path: Path, frames: int = MOST) -> None:
    """Write at most `frames` surfaces, evenly spread over the run."""
    count = whole(frames, f"export: '{path}': frames", least=1)
    some = run.thinned(spread(run.t.size, count))
    surface = Surface(some, scene_of(some))
    folder = path.with_suffix("")
    folder.mkdir(parents=True, exist_ok=True)
    lines = []
    for k, time in enumerate(some.t.tolist()):
        file = folder / f"{k:05d}.vtp"
        file.write_text(_polydata(some, surface, k), encoding="ascii")
        lines.append(f'<DataSet timestep="{time!r}" part="0" file={quoteattr(f"{folder.name}/{file.name}")}/>')
    body = "\n".join(lines)
    path.write_text(f"{HEAD.format('Collection')}<Collection>\n{body}\n</Collection>\n</VTKFile>\n", encoding="utf-8")


def _polydata(run: Trajectory, surface: Surface, frame: int) -> str:
    """One surface as XML."""
    count, parts = len(surface.triangles), np.array([solid.part for solid in surface.solids])
    points = surface.points(frame)
    names = " ".join(str(byte) for name in run.system.body_names for byte in (*name.encode(), 0))
    bodies = len(run.system.body_names)
    return f"""{HEAD.format("PolyData")}<PolyData>
<FieldData><Array type="String" Name="bodies" NumberOfTuples="{bodies}" format="ascii">{names}</Array></FieldData>
<Piece NumberOfPoints="{len(points)}" NumberOfVerts="0" NumberOfLines="0" NumberOfStrips="0" NumberOfPolys="{count}">
<PointData Vectors="velocity">{_array("velocity", surface.velocities(frame), "<f4")}</PointData>
<CellData Scalars="part">{_array("part", parts[surface.solid_of_triangle], "<i4")}</CellData>
<Points>{_array("points", points, "<f4")}</Points>
<Polys>{_array("connectivity", surface.triangles.ravel(), "<i4")}
{_array("offsets", 3 * np.arange(1, count + 1), "<i4")}</Polys>
</Piece>
</PolyData>
</VTKFile>
"""


def _array(name: str, values: Array | NDArray[np.int64], kind: str) -> str:
    """Numbers in base64 behind their length in bytes."""
    data = np.ascontiguousarray(values, dtype=kind).tobytes()
    text = base64.b64encode(np.array([len(data)], dtype="<u8").tobytes() + data).decode("ascii")
    width = values.shape[1] if values.ndim > 1 else 1
    return (
        f'<DataArray type="{TYPES[kind]}" Name="{name}" NumberOfComponents="{width}" format="binary">{text}</DataArray>'
    )
