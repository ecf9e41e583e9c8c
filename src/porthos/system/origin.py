"""Of what a run was made, as a model file says it: the model as it was assembled, scheme, step, end, inputs, ..."""

from __future__ import annotations

import json
import re
from collections.abc import Callable, Container, Mapping
from copy import copy
from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np

from porthos.errors import ModelError, PorthosError, ResultError
from porthos.model.model import Model
from porthos.model.simulation import Simulation
from porthos.steps import Adaptive, Reversible

NOTHING, WITHOUT = "# Not written", "# Without the section 'simulation'"  # how such texts begin


def snapshot(model: Model, held: Container[str]) -> Model:
    """The model as it is now, with the bodies `held`; parts do not change, but more may be added later."""
    now = copy(model)
    vars(now).update({name: dict(parts) for name, parts in vars(model).items() if isinstance(parts, dict)})
    now._bodies = {
        name: replace(body, hold=True) if name in held and not body.hold else body for name, body in now._bodies.items()
    }
    return now


@dataclass(frozen=True, eq=False)
class Origin:
    """The text of a model file that describes a run, written when it is asked for, and the steps of the run."""

    write: Callable[[], str]
    step: str
    end: float
    outputs: tuple[str, ...] = ()  # the quantities that are shown where nothing else is asked for

    @classmethod
    def of(
        cls,
        model: Model,
        scheme: Any,
        step: float | Adaptive | Reversible,
        end: float,
        every: int,
        inputs: Mapping[str, Any] | None,
        times: Any,
        events: Mapping[str, Any] | None,
        outputs: tuple[str, ...],
    ) -> Origin:
        """Of a run that is to be made."""

        def plan() -> Simulation:
            for name, value in (inputs or {}).items():
                if np.ndim(value) > 1:
                    raise ModelError(f"inputs: '{name}' has a row for each step, which a file does not hold.")
            told = (scheme, every, inputs or {}, times, events or {}, outputs)
            return Simulation(step, end, *told)  # type: ignore[arg-type] # refuses others

        return cls(lambda: _written(model, plan), str(step), float(end), outputs)

    @cached_property
    def text(self) -> str:
        """The model file; functions in Python are in no file, and a comment in the first line says so."""
        return self.write()

    @property
    def attributes(self) -> dict[str, Any]:
        """As files hold it."""
        told = {"model_file": self.text, "step": self.step, "end_time": self.end}
        return {**told, "outputs": json.dumps(self.outputs)}

    @property
    def model(self) -> Model:
        """The model that the text describes."""
        if self.text.startswith(NOTHING):
            raise ResultError(f"the model of this run is in no file. {self.text.lstrip('# ').strip()}")
        from porthos.model.modelfile import ModelFile  # runs that neither read nor write files start without it
        from porthos.model.nodes import parse_model

        return ModelFile.of(parse_model(self.text, "model_file"), Path("model_file")).model


def _written(model: Model, plan: Callable[[], Simulation]) -> str:
    """Model and plan; the model alone, or only the reason, where they are functions in Python."""
    from porthos.model.modelfile import to_yaml

    try:
        whole = to_yaml(model)
    except PorthosError as error:
        return f"{NOTHING}, because a file holds no functions in Python: {_line(error)}\n"
    try:
        return to_yaml(model, plan())
    except PorthosError as error:
        return f"{WITHOUT}, because a file holds no functions in Python: {_line(error)}\n{whole}"


def _line(error: PorthosError) -> str:
    """Without the functions themselves, whose places in memory are others in the next run."""
    return re.sub(r" <.*? at 0x[0-9a-fA-F]+>", "", " ".join(str(error).split()))
