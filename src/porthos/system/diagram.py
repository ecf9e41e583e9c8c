"""The graph of a model: parts and the joints and force elements between them, its loops, and how it can move."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace
from typing import Any

from porthos.model.beams import Segment
from porthos.model.bodies import PointMass
from porthos.model.drives import Drive
from porthos.model.gears import GearJoint
from porthos.model.joint_base import Joint
from porthos.model.model import Model
from porthos.system.acting import acting
from porthos.system.mobility import Mobility, mobility


@dataclass(frozen=True)
class Edge:
    """A joint or a force element between two parts; `rows` of an element are none. A drive may move another joint.

    A gear couples parts that joints hold.
    """

    name: str
    kind: str
    a: str
    b: str
    rows: int = 0
    moves: str = ""
    couples: bool = False

    @property
    def words(self) -> str:
        """How it is written."""
        rows = f", {self.rows} row{'s' * (self.rows != 1)}" if self.rows else ""
        return f"{self.name} ({self.kind.replace('_', ' ')}{rows})"


@dataclass(frozen=True)
class Diagram:
    """Print it, or take its text for Mermaid (`mermaid`) or Graphviz (`dot`)."""

    name: str
    parts: dict[str, str]  # name -> what it is
    joints: tuple[Edge, ...]
    elements: tuple[Edge, ...]
    loops: tuple[tuple[str, ...], ...]  # names of the joints of each independent loop
    mobility: Mobility
    inputs: int  # components of all loads and ports

    def __str__(self) -> str:
        return "\n".join([f"{self.name}: {self._counted}", *self._facts(), "", *self._tree(), *self._between()])

    @property
    def _counted(self) -> str:
        beams = sum(kind == "beam" for kind in self.parts.values())
        sizes = {"body/bodies": len(self.parts) - 1 - beams, "beam/beams": beams, "joint/joints": len(self.joints)}
        sizes["loop/loops"] = len(self.loops)
        sizes["force element/force elements"] = len(self.elements)
        return ", ".join(f"{n} {words.split('/')[n != 1]}" for words, n in sizes.items() if n)

    def _facts(self) -> list[str]:
        found = self.mobility
        n, m = 12 * found.bodies + 3 * found.point_masses, 6 * found.bodies + found.rows
        sizes = f"{n} + {n} + {m} states, {self.inputs} inputs"
        lines = [
            f"  pH-DAE            E x' = (J - R) z + B u, x = (q, v, lambda): {sizes}",
            f"  Gruebler's count  {found.coordinates} - {found.rows} = {found.counted}",
            f"  rank of rows      {found.rank}, so {found.freedom} degree{'s' * (found.freedom != 1)} of freedom",
        ]
        lines += [f"  drives            {found.driven}"] * bool(found.drives)
        lines += [f"  loop {k}            {' - '.join(loop)}" for k, loop in enumerate(self.loops, 1)]
        return [*lines, *(f"  redundant         {one}" for one in found.repeats)]

    def _tree(self) -> Iterator[str]:
        """Parts below those that hold them; a joint that closes a loop, or moves another one, leads to a part again."""
        seen, used, looped = set[str](), set[str](), {name for loop in self.loops for name in loop}

        def below(part: str) -> list[tuple[str, list[Any]]]:
            seen.add(part)
            found = []
            for edge in self.joints:
                if part in (edge.a, edge.b) and edge.name not in used and not edge.couples:
                    used.add(edge.name)
                    other = edge.b if edge.a == part else edge.a
                    known = other in seen
                    what = f"moves {edge.moves}" if edge.moves else "closes a loop" if edge.name in looped else "again"
                    label = f"{edge.words} ── {other}{f'  ({what})' * known}"
                    found.append((label, [] if known else below(other)))
            return found

        for part, kind in self.parts.items():
            branches = [] if part in seen else below(part)
            if branches or (kind != "ground" and not used & {e.name for e in self.joints if part in (e.a, e.b)}):
                yield f"  {part}{f' ({kind})' * (kind in ('point mass', 'beam'))}"
                yield from _drawn(branches, "  ")

    def _between(self) -> Iterator[str]:
        gears = [edge for edge in self.joints if edge.couples]
        if gears or self.elements:
            yield ""
        for gear in gears:
            yield f"  {gear.a} == {gear.words} == {gear.b}"
        for element in self.elements:
            yield f"  {element.a} ~~ {element.words} ~~ {element.b}"

    @property
    def mermaid(self) -> str:
        """A flowchart in the language of Mermaid, which Markdown pages and notebooks draw."""
        number = {part: f"p{k}" for k, part in enumerate(self.parts)}
        shape = {"ground": "[[{}]]", "point mass": "(({}))", "beam": "([{}])"}
        lines = [f"  {number[p]}{shape.get(kind, '[{}]').format(_quoted(p))}" for p, kind in self.parts.items()]
        lines += [f"  {number[e.a]} ---|{_quoted(e.words)}| {number[e.b]}" for e in self.joints]
        lines += [f"  {number[e.a]} -.-|{_quoted(e.words)}| {number[e.b]}" for e in self.elements]
        return "\n".join(["flowchart LR", *lines])

    @property
    def dot(self) -> str:
        """A graph in the language of Graphviz."""
        shape = {"ground": "box3d", "point mass": "circle", "beam": "cds"}
        lines = [f"  {_quoted(p)} [shape={shape.get(kind, 'box')}];" for p, kind in self.parts.items()]
        for edges, style in ((self.joints, "solid"), (self.elements, "dashed")):
            lines += [f"  {_quoted(e.a)} -- {_quoted(e.b)} [label={_quoted(e.words)}, style={style}];" for e in edges]
        return "\n".join([f"graph {_quoted(self.name)} {{", *lines, "}"])

    def _repr_markdown_(self) -> str:
        """The flowchart in a notebook."""
        return f"```mermaid\n{self.mermaid}\n```"


def _drawn(branches: list[tuple[str, list[Any]]], indent: str) -> Iterator[str]:
    """The lines of a tree."""
    for k, (label, more) in enumerate(branches, 1):
        last = k == len(branches)
        yield f"{indent}{'└─' if last else '├─'} {label}"
        yield from _drawn(more, indent + ("   " if last else "│  "))


def _quoted(text: str) -> str:
    return '"' + text.replace("\\", "\\\\").replace('"', "'").replace("\n", " ") + '"'


def diagram(model: Model) -> Diagram:
    """The graph of a model where its joints are closed."""
    found = mobility(model)
    known = model.joints_by_name
    whole = {node.name: beam.name for beam in model.beams for node in beam.nodes}
    joints = [_edge(joint, model) for joint in model.joints]
    elements = [
        _lifted(Edge(one.name, one.kind, *one.sides(known)), whole)
        for one in model.elements
        if not isinstance(one, Segment)
    ]
    masses = {body.name: "point mass" if isinstance(body, PointMass) else "body" for body in model.bodies}
    inputs = sum(part.wrench_basis().shape[1] for part in acting(model))
    everything = {model.ground.name: "ground", **masses}
    loops = tuple(_loops(everything, joints))  # a beam between two joints closes none: it gives way
    parts = {name: kind for name, kind in everything.items() if name not in whole}
    parts |= {beam.name: "beam" for beam in model.beams}
    drawn = tuple(_lifted(edge, whole) for edge in joints)
    return Diagram(model.name, parts, drawn, tuple(elements), loops, found, inputs)


def _lifted(edge: Edge, whole: dict[str, str]) -> Edge:
    """An edge to a node of a beam as one to the beam."""
    return replace(edge, a=whole.get(edge.a, edge.a), b=whole.get(edge.b, edge.b))


def _edge(joint: Joint, model: Model) -> Edge:
    rows, couples = sum(row.count for row in joint.rows), isinstance(joint, GearJoint)
    return Edge(joint.name, joint.kind, joint.a, joint.b, rows, _moved(joint, model), couples)


def _moved(joint: Joint, model: Model) -> str:
    """The joint between the same parts that a drive moves, if there is one."""
    between = {joint.a, joint.b}
    others = [one.name for one in model.joints if not isinstance(one, Drive) and {one.a, one.b} == between]
    return others[0] if others and isinstance(joint, Drive) else ""


def _loops(parts: dict[str, str], joints: list[Edge]) -> Iterator[tuple[str, ...]]:
    """For each joint outside a spanning tree the joints of the tree between its parts, and the joint itself.

    A drive that moves another joint closes no loop, and no gear does.
    """
    joints = [edge for edge in joints if not edge.moves and not edge.couples]
    above: dict[str, list[Edge]] = {}  # the way to each part from the root of its tree
    for root in parts:
        if root in above:
            continue
        above[root], waiting = [], [root]
        while waiting:
            part = waiting.pop(0)
            for edge in joints:
                other = {edge.a: edge.b, edge.b: edge.a}.get(part)
                if other is not None and other not in above:
                    above[other] = [*above[part], edge]
                    waiting.append(other)
    tree = {way[-1].name for way in above.values() if way}
    for edge in joints:
        if edge.name not in tree:
            down, up = above[edge.a], above[edge.b]
            common = sum(x is y for x, y in zip(down, up, strict=False))
            yield (*(e.name for e in down[common:][::-1]), *(e.name for e in up[common:]), edge.name)
