"""What a user's Python file holds under a name, `file.py:name`: a model, a system, or a function that makes one.

Only this way of naming runs code; model files never do.
"""

from __future__ import annotations

import sys
import traceback
from collections.abc import Iterator
from contextlib import contextmanager
from importlib.util import module_from_spec, spec_from_file_location
from inspect import Parameter, isfunction, signature
from pathlib import Path
from types import ModuleType
from typing import Any

from porthos.errors import PorthosError, nearest
from porthos.model.model import Model
from porthos.system.phdae import PHDAE

SUFFIX = ".py"
USUAL = "model"  # the name that is looked for if none is given


def read_object(target: Path) -> Model | PHDAE:
    """Run a file and take from it what has the name, or what it has if that is one thing only."""
    file, _, name = str(target).partition(f"{SUFFIX}:")
    path = Path(file + SUFFIX if name else file.removesuffix(":"))
    module = _executed(path)
    known = _known(module)
    if not name:
        ready = [each for each in known if not isfunction(getattr(module, each))]
        name = ready[0] if len(ready) == 1 else USUAL if USUAL in known else ""
    if name not in known:
        raise PorthosError(
            f"{path.name}: expected the name of a model, a system, or a function without arguments that makes one, "
            f"found {repr(name) if name else 'no name'}. {nearest(name, known)} Write {path.name}:NAME."
        )
    value = getattr(module, name)
    if isfunction(value):
        with _blaming(path):
            value = value()
    if not isinstance(value, Model | PHDAE):
        raise PorthosError(
            f"{path.name}: expected that {name}() makes a model or a port-Hamiltonian system, found "
            f"{type(value).__name__}. {nearest('', [each for each in known if each != name])}"
        )
    return value


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
        if isfunction(value) and value.__module__ == module.__name__:
            needed = (each.default is Parameter.empty for each in signature(value).parameters.values())
            return not any(needed)
        return isinstance(value, Model | PHDAE)

    return [name for name, value in vars(module).items() if not name.startswith("_") and usable(value)]
