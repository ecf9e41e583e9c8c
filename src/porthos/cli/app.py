"""The commands of `porthos`, each a few lines that hand on to the module that does the work."""

from __future__ import annotations

import json
from contextlib import AbstractContextManager, nullcontext
from pathlib import Path
from typing import Annotated

import typer

from porthos.cli.answers import Answering, written
from porthos.cli.options import AsJson, ModelPath, Params, Quiet, Report, ResultPath, RunPath, changes, run_command

OVERVIEW = """Structure-preserving simulation of multibody systems.

Begin with `porthos examples run pendulum`, or `porthos examples copy pendulum` and edit the file."""
EXITS = (
    "Exit codes: 0 all is well, 1 something that was given is wrong, 2 wrong usage, 3 a run stopped before its end, "
    "4 the self-test failed, 130 stopped by Ctrl-C."
)

app = typer.Typer(
    name="porthos",
    cls=Answering,
    help=OVERVIEW,
    epilog=EXITS,
    no_args_is_help=True,
    pretty_exceptions_enable=False,
    rich_markup_mode=None,  # help in boxes would take 0.15 s more
    context_settings={"help_option_names": ["-h", "--help"]},
)
examples_app = typer.Typer()
app.add_typer(examples_app, name="examples")

Moment = Annotated[float, typer.Option("--time", help="Time at which loads and drives are looked at, in seconds.")]
Picture = Annotated[Path | None, typer.Option("--out", "-o", help="File of the figure; its ending chooses the format.")]
Page = Annotated[Path | None, typer.Option("--out", "-o", help="File of the report.")]
Targets = Annotated[list[Path], typer.Option("--to", help="File to write; may be given several times.")]
Only = Annotated[
    list[str] | None,
    typer.Option("--quantity", metavar="NAME", help="Column of a table; give several. The outputs of FILE.nc, or all."),
]
Shows = Annotated[list[Path] | None, typer.Option("--to", help="File that shows a mode: mode.gif, mode.html.")]
Mode = Annotated[int | None, typer.Option(help="Number of the mode to show; the slowest if not given.")]
OtherPath = Annotated[
    Path | None, typer.Argument(metavar="[OTHER.nc]", help="The result to compare it with; none for a model file.")
]
Compared = Annotated[
    Path, typer.Argument(metavar="FILE", help="A result, or what `porthos run` takes, to compare schemes on.")
]
Schemes = Annotated[list[str] | None, typer.Option("--scheme", help="Such as Midpoint or 'Composition(order=6)'.")]
Steps = Annotated[list[float] | None, typer.Option("--step", help="Step in seconds; give several.")]
Tolerances = Annotated[list[float] | None, typer.Option("--rtol", help="Tolerance of adaptive steps; give several.")]
Until = Annotated[float | None, typer.Option("--end", help="Time at which errors are taken, in seconds.")]
SchemaFile = Annotated[Path | None, typer.Option("--out", "-o", help="Write to this file instead of stdout.")]
Quantities = Annotated[
    list[str] | None, typer.Argument(metavar="[QUANTITY]...", help="Such as energy or slider.position.x.")
]
Sources = Annotated[
    Path | None, typer.Option("--sources", help="Folder of the sources of Porthos, to compare with other programs.")
]
Shown = Annotated[
    Path, typer.Argument(metavar="FILE", help="A model file, a result, or NAME in a Python file: pendulum.py:NAME.")
]
Style = Annotated[str, typer.Option("--as", help="text, mermaid, dot, equations or latex.")]
Form = Annotated[
    str | None,
    typer.Option(help="Of a Lagrangian: general (8), multibody (19), 'constant mass' (24) or 'index 1' (61)."),
]
Again = Annotated[
    Path | None, typer.Option("--model", metavar="FILE", help="What was run: NAME in a Python file, motor.py:NAME.")
]
NAME = typer.Argument(metavar="NAME", help="Name of an example, see `porthos examples list`.")
NamedExample = Annotated[Path, NAME]


app.command("run")(run_command(RunPath, nullcontext, "Simulate FILE and say how well the balances hold."))


def _version(wanted: bool) -> None:
    if wanted:
        from importlib.metadata import version

        typer.echo(f"porthos {version('porthos')}")
        raise typer.Exit


@app.callback()
def _main(
    version: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of all commands."""


@app.command()
def resume(
    file: ResultPath, model: Again = None, report: Report = None, quiet: Quiet = False, as_json: AsJson = False
) -> None:
    """Go on with a run that was interrupted or killed.

    FILE.nc is what `porthos run --out` had written until then; it becomes that of a run without an interruption, bit by
    bit. A run whose model has functions in Python, or whose system is no mechanism, needs --model.
    """
    from porthos.cli.running import resume_file

    resume_file(file, model, report, quiet, as_json)


@app.command()
def check(file: ModelPath, param: Params = None, as_json: AsJson = False) -> None:
    """Check FILE without simulating it.

    Says which parts it has, how many degrees of freedom, which joints are redundant, and whether its initial values
    fit.
    """
    from porthos.cli.checking import check_file

    check_file(file, changes(param), as_json)


@app.command()
def show(file: Shown, param: Params = None, style: Style = "text", form: Form = None, as_json: AsJson = False) -> None:
    """The graph of FILE or its equations.

    As text: bodies, joints, loops, degrees of freedom, and the sizes of the equations; the same in the language of
    Mermaid or Graphviz (dot) for a picture. As equations or latex: the port-Hamiltonian system with all its parts by
    name. A Python file, which is run for this, may hold a model, a Lagrangian or another system, or a function that
    makes one.
    """
    from porthos.cli.drawing import show_file

    show_file(file, changes(param), style, form, as_json)


@app.command()
def modes(
    file: ModelPath,
    param: Params = None,
    time: Moment = 0.0,
    mode: Mode = None,
    to: Shows = None,
    as_json: AsJson = False,
) -> None:
    """Frequencies and shapes of small vibrations of FILE.

    They are about the state of rest next to its initial placement, with loads as they are at --time and drives that
    hold the value they have then. With --to a mode is shown as a film (.gif, .mp4) or
    as a report in which it moves (.html).
    """
    from porthos.cli.vibrations import modes_of_file

    modes_of_file(file, changes(param), time, mode, to or [], as_json)


@app.command()
def plot(file: ResultPath, quantities: Quantities = None, out: Picture = None, as_json: AsJson = False) -> None:
    """Draw a result over time.

    Without quantities the outputs that its model file names, or an overview.
    """
    from porthos.cli.results import plot_file

    written("figure written to", plot_file(file, quantities or [], out), as_json=as_json)


@app.command()
def report(file: ResultPath, out: Page = None, as_json: AsJson = False) -> None:
    """Write an HTML report of a result.

    It is one file that needs no other.
    """
    from porthos.cli.results import report_file

    written("report written to", report_file(file, out), as_json=as_json)


@app.command()
def export(file: ResultPath, to: Targets, quantity: Only = None, as_json: AsJson = False) -> None:
    """Write a result for other programs.

    The ending of the name chooses: .csv, .parquet, .mat (MATLAB), .nc or .h5 (NetCDF4), .pvd (VTK), .gif, .mp4.
    """
    from porthos.cli.results import export_file

    written("written to", *export_file(file, to, quantity or []), as_json=as_json)


@app.command()
def compare(
    file: Compared,
    other: OtherPath = None,
    scheme: Schemes = None,
    step: Steps = None,
    rtol: Tolerances = None,
    end: Until = None,
    out: Picture = None,
    as_json: AsJson = False,
) -> None:
    """Differences of two results, or of schemes on a model.

    Two results are compared at the times that both recorded. On a model file, or what a Python file runs, every
    scheme runs with every step and tolerance; errors against a reference of high order, orders, invariants and wall
    times are told.
    """
    if other is not None:
        from porthos.cli.results import compare_files

        compare_files(file, other, as_json)
    else:
        from porthos.cli.comparing import compare_schemes

        compare_schemes(file, scheme or [], step or [], rtol or [], end, out, as_json)


@app.command()
def schema(out: SchemaFile = None) -> None:
    """The JSON schema of model files, for editors."""
    from porthos.integrate.catalogue import SCHEMES, scheme_class
    from porthos.model.schema import json_schema

    text = json.dumps(json_schema({name: scheme_class(name) for name in SCHEMES}), indent=2)
    if out is None:
        typer.echo(text)
    else:
        out.write_text(text + "\n", encoding="utf-8")


@app.command()
def doctor(as_json: AsJson = False) -> None:
    """Does this installation give right numbers?

    Says versions and where compiled code is kept, and compares runs with exact solutions.
    """
    from porthos.cli.doctor import examine

    examine(as_json)


@app.command()
def bench(sources: Sources = None, as_json: AsJson = False) -> None:
    """How fast is this machine?

    Says what a step takes on some examples, and how long Exudyn and MuJoCo take, if they are installed.
    """
    from porthos.cli.benching import bench as measure

    measure(sources, as_json)


@examples_app.callback(invoke_without_command=True)
def _examples(context: typer.Context) -> None:
    """List, copy or run examples that come with Porthos."""
    if context.invoked_subcommand is None:
        list_examples()


@examples_app.command("list")
def list_examples(as_json: AsJson = False) -> None:
    """The names of all examples."""
    from porthos.cli.examples import listed

    listed(as_json)


@examples_app.command("copy")
def copy_example(
    name: Annotated[str, NAME],
    to: Annotated[Path, typer.Argument(metavar="[FOLDER]", help="Folder or file to copy to.")] = Path(),
    as_json: AsJson = False,
) -> None:
    """Copy an example, to edit it."""
    from porthos.cli.examples import copied

    written("copied to", copied(name, to), as_json=as_json)


def _example(name: Path) -> AbstractContextManager[Path]:
    from porthos.cli.examples import example

    return example(str(name))


examples_app.command("run")(run_command(NamedExample, _example, "Simulate an example."))


def main() -> None:
    """The entry point of the command `porthos`."""
    app()
