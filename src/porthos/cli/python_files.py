"""What a Python file of a user holds under a name, `file.py:name`: a model, a system, or what makes or runs one.

Only this way of naming runs code; model files never do.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from inspect import Parameter, isfunction, signature, unwrap
from pathlib import Path
from types import ModuleType
from typing import Any

from porthos.cli.spelling import scheme_of
from porthos.errors import PorthosError, SimulationError, nearest
from porthos.frontdoor import LISTENER, Request, simulate
from porthos.model.fields import fields_of, misfits
from porthos.model.model import Model
from porthos.model.nodes import parse
from porthos.model.simulation import Simulation
from porthos.results.run import Run
from porthos.system.descriptor import Descriptor
from porthos.system.phdae import PHDAE

SUFFIX = ".py"
USUAL, RUN = "model", "run"  # the names that are looked for if none is given: to show it, and to run it
OPTIONS = "simulation."  # how the command line names what it says about a run


def is_python(target: Path) -> bool:
    """Whether a Python file, or a name in one, is meant."""
    return target.suffix.partition(":")[0] == SUFFIX


def read_object(target: Path) -> Model | PHDAE:
    """Run a file and take from it what has the name, or what it has if that is one thing only."""
    path, name, value = _found(target, USUAL)
    if _makes(value):
        with _blaming(path):
            value = value()
    if not isinstance(value, Model | PHDAE):
        raise PorthosError(
            f"{path.name}: expected that {name}() makes a model or a port-Hamiltonian system, found "
            f"{type(value).__name__}. Write {path.name}:NAME for another one."
        )
    return value


def run_object(target: Path, changes: Mapping[str, str], progress: bool | None) -> Run:
    """The run that a function of a file makes, or that of a model or system with scheme, step and end of `changes`."""
    others = [path for path in changes if not path.startswith(OPTIONS)]
    if others:
        raise PorthosError(f"run: --param changes model files, found '{target}'. Change the Python file itself.")
    given = {path.removeprefix(OPTIONS): _option(path.removeprefix(OPTIONS), text) for path, text in changes.items()}
    path, name, value = _found(target, RUN)
    try:
        with _blaming(path):
            if _makes(value):
                taken = {key: given.pop(key) for key in list(given) if key in signature(value).parameters}
                value = value(**taken)
            if isinstance(value, Model | Descriptor):
                return _simulated(value, given, path, name, progress)
    except SimulationError as error:
        return error.trajectory
    if not isinstance(value, Run):
        raise PorthosError(
            f"{path.name}: expected that {name}() makes a run, a model or a system, found {type(value).__name__}."
        )
    if given:
        raise PorthosError(f"{path.name}: {name}() takes no {' and no '.join(given)}. Change the Python file itself.")
    return value


class _Heard(BaseException):
    """Ends a function of a file where it asks for a run: no handler of the file is meant for this."""

    def __init__(self, request: Request) -> None:
        self.request = request


def _hear(request: Request) -> None:
    raise _Heard(request)


def request_of(target: Path) -> Request:
    """What the run that `run_object` would make is made of, without the run; a model or system alone has no more."""
    path, name, value = _found(target, RUN)
    if _makes(value):
        listening = LISTENER.set(_hear)
        try:
            with _blaming(path):
                value = value()
        except _Heard as heard:
            return heard.request
        finally:
            LISTENER.reset(listening)
    if not isinstance(value, Model | Descriptor):
        raise PorthosError(
            f"{path.name}: expected that {name}() asks for a run by ph.simulate(...), or makes a model or a system, "
            f"found {type(value).__name__}. Write {path.name}:NAME for another one."
        )
    return Request(value)


def _simulated(made: Model | Descriptor, given: dict[str, Any], path: Path, name: str, progress: bool | None) -> Run:
    missing = [f"--{key}" for key in ("scheme", "step", "end") if key not in given]
    if missing:
        raise PorthosError(
            f"{path.name}: {name} is a {type(made).__name__}, and nothing says how to run it: expected "
            f"{', '.join(missing)}. Or write a function run() that returns ph.simulate(...)."
        )
    scheme, step, end = (given.pop(key) for key in ("scheme", "step", "end"))
    return simulate(made, scheme, step, end, progress=progress, **given)


def _option(key: str, text: str) -> Any:
    """What an option of the command line means to `simulate`."""
    if key == "scheme":
        return scheme_of(text)
    kind = fields_of(Simulation)[key].kind
    with misfits(key):
        return kind.read(parse(text, f"--{key}", numbered=False))


def _found(target: Path, usual: str) -> tuple[Path, str, Any]:
    """The file, and what it has under a name: that which is `usual` or the only one, if none is given."""
    file, _, name = str(target).partition(f"{SUFFIX}:")
    path = Path(file + SUFFIX if name else file.removesuffix(":"))
    module = _executed(path)
    known = _known(module)
    if not name:
        ready = [each for each in known if not _makes(getattr(module, each))]
        usually = [each for each in (usual, USUAL) if each in known]
        name = ready[0] if len(ready) == 1 and usual not in known else usually[0] if usually else ""
    if name not in known:
        raise PorthosError(
            f"{path.name}: expected the name of a model, a system, or a function without arguments that makes one, "
            f"found {repr(name) if name else 'no name'}. {nearest(name, known)} Write {path.name}:NAME."
        )
    return path, name, getattr(module, name)


def _makes(value: Any) -> bool:
    """Whether it is a function, also one that remembers what it made."""
    return callable(value) and isfunction(unwrap(value))


def _executed(path: Path) -> ModuleType:
    spec = spec_from_file_location(f"shown {path.stem}", path)  # no import can mean this name
    if not path.is_file() or spec is None or spec.loader is None:
        raise PorthosError(f"'{path}': there is no such file. Expected a Python file, as in pendulum.py:NAME.")
    module = module_from_spec(spec)
    sys.path[:0] = [str(path.resolve().parent), str(Path.cwd())]  # as for `python file.py` and `python -m`
    sys.modules[spec.name] = module  # dataclasses of the file look there
    with _blaming(path):
        spec.loader.exec_module(module)
    return module


@contextmanager
def _blaming(path: Path) -> Iterator[None]:
    """Turn what a file raises into a sentence with its line; messages of Porthos stay what they are."""
    try:
        yield
    except PorthosError:
        raise
    except SyntaxError as error:
        raise PorthosError(f"{Path(error.filename or path).name}, line {error.lineno}: {error.msg}.") from error
    except Exception as error:
        lines = [frame.lineno for frame in traceback.extract_tb(error.__traceback__) if frame.filename == str(path)]
        where = f", line {lines[-1]}" if lines else ""
        raise PorthosError(f"{path.name}{where}: {type(error).__name__}: {error}.") from error


def _known(module: ModuleType) -> list[str]:
    """Names of models and systems, and of functions of this file that need no arguments."""

    def usable(value: Any) -> bool:
        if _makes(value) and value.__module__ == module.__name__:
            needed = (each.default is Parameter.empty for each in signature(value).parameters.values())
            return not any(needed)
        return isinstance(value, Model | PHDAE)

    return [name for name, value in vars(module).items() if not name.startswith("_") and usable(value)]
