"""Exceptions, and the status of a run: each is a sentence that says what to do next."""

from __future__ import annotations

from collections.abc import Container, Iterable
from difflib import get_close_matches
from enum import Enum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from porthos.results.states import StateTrajectory
    from porthos.results.trajectory import Trajectory


class PorthosError(Exception):
    """Any error that Porthos raises on purpose."""


class ModelError(PorthosError, ValueError):
    """The description of a mechanism is wrong; the message names the part."""


class ModelFileError(ModelError):
    """A model file is wrong; the message begins with its name and the line."""


class InconsistentStateError(ModelError):
    """Initial positions or velocities contradict the joints."""


class StructureError(PorthosError):
    """A pH-DAE lacks a structural property (skew J, R >= 0, E^T z = grad H, ...)."""


class ResultError(PorthosError, ValueError):
    """A stored result cannot be read, or has not what was asked of it."""


class Status(Enum):
    """How a run ended. The value is the message."""

    OK = "The run reached its end."
    NEWTON_STALLED = (
        "Newton's method stopped converging. Halve the step, or take step=ph.Adaptive(...), which tries smaller ones; "
        "if that does not help, run system.check(): a singular configuration or redundant joints are the usual cause."
    )
    SINGULAR = (
        "The constraint Jacobian loses rank: the mechanism comes to a singular configuration, such as a dead point. "
        "Let drives stop before it, drive another joint, or put a force in the place of the drive."
    )
    BAD_INPUT = "An input (load, port or controller) gave a value that is not a finite number."
    STEP_TOO_LARGE = (
        "A body turned by more than 127 degrees within one step, or two bodies with a torsion spring by half a turn "
        "against each other: the step is too large for the motion. "
        "Use a step of which a turn of the fastest body takes ten or more, or step=ph.Adaptive(...)."
    )
    STRAYED = (
        "A potential left the range for which it is made. Give it a larger one, by `between` or `within`, or a force "
        "that keeps the motion within it."
    )
    STEP_TOO_SMALL = (
        "The tolerance asks for a step below the minimum. Loosen rtol or atol, or lower the minimum; if an input "
        "jumps, name the times in Adaptive(breakpoints=...)."
    )
    TOO_MANY_STEPS = "The run took max_steps steps before its end. Loosen rtol or atol, or allow more steps."
    EVENT = "An event ended the run."
    INTERRUPTED = "The run was stopped before its end, by Ctrl-C or from outside. What was computed until then is kept."

    @property
    def wanted(self) -> bool:
        """Whether the run ended where it should."""
        return self in (Status.OK, Status.EVENT)


class InputError(PorthosError, ValueError):
    """An input of a port or a load gave something that cannot be a force."""

    status = Status.BAD_INPUT


class StrayedError(InputError):
    """A state is beyond what a potential is made for."""

    status = Status.STRAYED


class SimulationError(PorthosError):
    """A run stopped before its end. `trajectory` holds all that was computed, `status` says why."""

    def __init__(self, message: str, status: Status, trajectory: Trajectory | StateTrajectory) -> None:
        super().__init__(message)
        self.status = status
        self.trajectory = trajectory


def is_among(name: object, known: Container[str]) -> bool:
    """Whether a name is one of those that are known; what is no text is none of them."""
    return isinstance(name, str) and name in known


def nearest(name: str, known: Iterable[str]) -> str:
    """A sentence that helps with a misspelt name: the nearest one, and the list of all."""
    names = list(known)
    lower = {n.lower(): n for n in names}  # a wrong case is the smallest of mistakes
    close = [lower[n] for n in get_close_matches(str(name).lower(), lower, n=1)]
    hint = f"Did you mean '{close[0]}'? " if close else ""
    listed = ", ".join(f"'{n}'" for n in names[:12]) + (", ..." if len(names) > 12 else ".")
    return f"{hint}Known: {listed}" if names else "There are none."
