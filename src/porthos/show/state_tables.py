"""The system of a run over states as HTML tables: parts, states, ports, connections. All text is escaped."""

from __future__ import annotations

from html import escape

from porthos.results.parts import mechanisms
from porthos.results.states import StateTrajectory
from porthos.show.tables import model_tables, numbers, table


def system_tables(run: StateTrajectory) -> str:
    """All tables that have rows; then those of the mechanisms among the parts."""
    moving = mechanisms(run)
    of_mechanisms = {f"{part}: {block}" for part in moving for block in run.parts[part].blocks}
    tables = [
        table(
            "Parts",
            ["name", "states", "ports", "what it is"],
            [
                [escape(name), str(part.dimension), escape(", ".join(part.ports)), type(part).__name__]
                for name, part in run.parts.items()
            ],
        ),
        table(
            f"States of the {type(run.system).__name__}",
            ["name", "at the start", "at the end"],
            [
                [escape(name), numbers(run.x[0, place]), numbers(run.x[-1, place])]
                for name, place in run.system.blocks.items()
                if name not in of_mechanisms
            ],
        ),
        table(
            "Ports",
            ["name", "inputs", "energy that came in"],
            [
                [escape(name), str(place.stop - place.start), numbers(run.port(name).work[-1:])]
                for name, place in run.system.ports.items()
            ],
        ),
        table(
            "Connections",
            ["name", "energy into the systems at its ports"],
            [[escape(name), _work(run, name)] for name in run.connections],
        ),
    ]
    return f'<div class="tables">{"".join(tables)}</div>' + "".join(model_tables(run.part(name)) for name in moving)


def _work(run: StateTrajectory, connection: str) -> str:
    work = run.connection(connection).work
    return "; ".join(f"{escape(port)}: {numbers(values[-1:])}" for port, values in work.items())
