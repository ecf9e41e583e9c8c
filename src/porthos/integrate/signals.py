"""Inputs of any descriptor system at the stages of steps: constants, tables, functions u(t), controllers u(t, y)."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np

from porthos.errors import InputError
from porthos.integrate.checkpoint import Question, question, state_of
from porthos.integrate.inputs import CONTROLLER, evaluate, known_ports, signal_of, wants_state
from porthos.integrate.sensing import Sensed, Turns, require_samples
from porthos.notation import Array
from porthos.system.descriptor import Descriptor
from porthos.system.loads import Terminal
from porthos.system.mechanical import MechanicalSystem


class Signals:
    """All inputs of a system as one vector.

    A table gives one row for each step. A controller is asked once before each step, with the outputs there, and its
    answer holds during the step: it may have a memory.
    """

    def __init__(self, system: Descriptor, given: Mapping[str, Any] | None, steps: int) -> None:
        self.system = system
        self.remembers, self.questions = False, dict[str, Question]()  # the last ones to controllers, if it remembers
        terminals = [
            Terminal(name, -1, np.eye(place.stop - place.start), system.sources.get(name))
            for name, place in system.ports.items()
        ]
        given = known_ports(system.name, terminals, given)
        self._constant = np.zeros(system.width)
        self._parts, self.signals = [], list[tuple[Terminal, str, Any]]()
        for terminal, place in zip(terminals, system.ports.values(), strict=True):
            kind, source = signal_of(terminal, given.get(terminal.name), steps)
            if kind == CONTROLLER and wants_state(source) and not isinstance(system, MechanicalSystem):
                raise InputError(
                    f"port '{terminal.name}': expected a controller u(t, y), found one that asks for the state too, "
                    f"which is that of a mechanism, and '{system.name}' is none."
                )
            self.signals.append((terminal, kind, source))
            if kind == "constant":
                self._constant[place] = source
            else:
                self._parts.append((kind, terminal, place, source))
        self.feedback = any(kind == CONTROLLER for kind, *_ in self._parts)
        whole = any(kind == CONTROLLER and wants_state(source) for kind, _, _, source in self._parts)
        self.turns = Turns(system) if whole and isinstance(system, MechanicalSystem) else None

    @property
    def breakpoints(self) -> tuple[float, ...]:
        """Times at which an input or its slope is known to jump."""
        return tuple(t for times in self.kinks.values() for t in times)

    @property
    def kinks(self) -> dict[str, tuple[float, ...]]:
        """The same by the names of ports and drives."""
        known = {terminal.name: getattr(source, "breakpoints", ()) for _, terminal, _, source in self._parts}
        drives = getattr(self.system, "drives", ())
        return known | {drive.name: drive.motion.breakpoints for drive in drives if drive.motion is not None}

    def require_samples(self, h: float) -> None:
        """Refuse sampled controllers whose periods are no whole number of steps."""
        for _, terminal, _, source in self._parts:
            require_samples(terminal.name, source, h)

    def held(self, step: int, h: float, x: Array) -> Array:
        """What holds during a step that begins at x: constants, rows of tables and answers of controllers."""
        u = self._constant.copy()
        y = self.system.y(x, None, step * h) if self.feedback else u
        state = None if self.turns is None else self.turns.look(Sensed.of(self.turns.system, x), h)
        for kind, terminal, place, source in self._parts:
            if kind == "table":
                u[place] = source[min(step, len(source) - 1)]
            elif kind == CONTROLLER:
                seen = y[place].copy() if place.stop - place.start > 1 else float(y[place.start])
                self._ask(terminal, source, (step + 0.5) * h, seen, state, u[place])
        if self.turns is not None:
            self.turns.keep()
        return u

    def _ask(self, terminal: Terminal, controller: Any, t: float, y: Any, state: Sensed | None, u: Array) -> None:
        """Ask a controller, and note question and answer."""
        whole = wants_state(controller)
        before = state_of(terminal.name, controller) if self.remembers else None
        evaluate(terminal, u, controller, t, y, *([state] if whole else []))
        if self.remembers:
            self.questions[terminal.name] = question(terminal.name, controller, whole, t, y, u, before)

    def controllers(self) -> list[tuple[Terminal, Any]]:
        """Those that a run asks."""
        return [(terminal, source) for kind, terminal, _, source in self._parts if kind == CONTROLLER]

    def at(self, t: float, held: Array) -> Array:
        """The inputs at time t of a step in which `held` holds."""
        u = held.copy()
        for kind, terminal, place, source in self._parts:
            if kind == "time":
                evaluate(terminal, u[place], source, t)
        return u

    def at_node(self, t: float, held: Array) -> Array:
        """The same, but NaN where a user's function fails: a node is no stage, and no step needs its value."""
        try:
            return self.at(t, held)
        except InputError:
            return np.full(self.system.width, np.nan)
