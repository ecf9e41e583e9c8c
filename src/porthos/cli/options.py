"""Arguments and options that several commands share.

Annotations are evaluated where they stand (no `from __future__ import annotations`): `run_command` makes some of them.
"""

from collections.abc import Callable
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Annotated, Any, TypeAlias

import typer

ModelPath: TypeAlias = Annotated[Path, typer.Argument(metavar="FILE", help="A model file, see `porthos examples`.")]
RunPath: TypeAlias = Annotated[
    Path,
    typer.Argument(metavar="FILE", help="A model file, or NAME in a Python file: motor.py:NAME."),
]
ResultPath: TypeAlias = Annotated[Path, typer.Argument(metavar="FILE.nc", help="A result written by `porthos run`.")]
AsJson: TypeAlias = Annotated[bool, typer.Option("--json", help="Answer in JSON, for programs.")]
Scheme: TypeAlias = Annotated[str | None, typer.Option(help="Such as Midpoint or 'Composition(order=6)'.")]
StepSize: TypeAlias = Annotated[str | None, typer.Option("--step", help="Step in seconds.")]
Rtol: TypeAlias = Annotated[
    str | None, typer.Option("--rtol", help="Adaptive steps with this relative tolerance, in the place of --step.")
]
Atol: TypeAlias = Annotated[str | None, typer.Option("--atol", help="Absolute tolerance of adaptive steps.")]
End: TypeAlias = Annotated[str | None, typer.Option("--end", help="Time at which the run ends, in seconds.")]
Every: TypeAlias = Annotated[str | None, typer.Option("--every", help="Keep each k-th state.")]
Out: TypeAlias = Annotated[
    Path | None, typer.Option("--out", "-o", help="Write the states to this NetCDF4 file while the run goes on.")
]
Report: TypeAlias = Annotated[Path | None, typer.Option(help="Write an HTML report to this file.")]
Params: TypeAlias = Annotated[
    list[str] | None,
    typer.Option("--param", "-p", metavar="PATH=VALUE", help="Replace a value of the file: body.crank.mass=0.2"),
]
Quiet: TypeAlias = Annotated[bool, typer.Option("--quiet", "-q", help="No progress bar and no summary.")]


def changes(
    params: list[str] | None,
    scheme: str | None = None,
    step: str | None = None,
    end: str | None = None,
    every: str | None = None,
    rtol: str | None = None,
    atol: str | None = None,
) -> dict[str, str]:
    """What the options change in a model file: path -> value."""
    result = {}
    for param in params or []:
        path, sign, value = param.partition("=")
        if not sign or not path:
            raise typer.BadParameter(f"expected PATH=VALUE such as body.crank.mass=0.2, found '{param}'")
        result[path.strip()] = value.strip()
    if rtol is not None or atol is not None:
        if step is not None:
            raise typer.BadParameter("expected --step for fixed steps, or --rtol and --atol for others, found both")
        every = every or "1"  # what a file keeps of fixed steps
        tolerances = {"rtol": rtol, "atol": atol}
        step = f"{{kind: adaptive{''.join(f', {key}: {value}' for key, value in tolerances.items() if value)}}}"
    given = {"scheme": scheme, "step": step, "end": end, "every": every}
    return result | {f"simulation.{key}": value for key, value in given.items() if value is not None}


def run_command(place: Any, opened: Callable[[Path], AbstractContextManager[Path]], about: str) -> Callable[..., None]:
    """A command that simulates the file which `opened` finds for its argument `place`."""

    def command(
        file: place,
        scheme: Scheme = None,
        step: StepSize = None,
        end: End = None,
        every: Every = None,
        rtol: Rtol = None,
        atol: Atol = None,
        out: Out = None,
        report: Report = None,
        param: Params = None,
        quiet: Quiet = False,
        as_json: AsJson = False,
    ) -> None:
        from porthos.cli.running import run_file

        with opened(file) as path:
            run_file(path, changes(param, scheme, step, end, every, rtol, atol), out, report, quiet, as_json)

    command.__doc__ = about
    return command
