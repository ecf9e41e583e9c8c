"""Controllers u(t, y) of a run, asked before every step from within compiled code.

A call from compiled code costs 0.2 us; leaving the loop for each step instead costs 25 us for its tables alone.
"""

from __future__ import annotations

import ctypes
from collections.abc import Callable

import numpy as np

from porthos.integrate.checkpoint import Question, question, state_of
from porthos.integrate.inputs import Inputs, evaluate, wants_state
from porthos.integrate.sensing import Sensed, Turns, require_samples
from porthos.kernels.feedback import NOBODY, QUESTION, Feedback
from porthos.notation import Array


class Controllers:
    """Answers the questions of a march; `feedback` is what compiled code has to know of it."""

    def __init__(
        self, inputs: Inputs, h: float, interrupted: Callable[[], bool] = lambda: False, every: int = 1
    ) -> None:
        chosen = inputs.controllers()
        for _, terminal, function in chosen:
            require_samples(terminal.name, function, h)
        self.latest = np.full((len(chosen), 6), np.nan)  # what they answered last, as wrenches
        self._held: list[Array] = []  # what they held in the steps that begin at recorded states
        self.first = 0  # the number of the step that the march calls 0
        self.error: BaseException | None = None
        self._h, self._interrupted, self._every = h, interrupted, every
        self.questions: dict[str, Question] = {}  # the last ones that all controllers have answered
        self.remembers = False  # whether their memory is kept
        self.sensed: Sensed | None = None  # the mechanism of the march
        self.turns = Turns(inputs.system) if any(wants_state(function) for *_, function in chosen) else None
        self._question = QUESTION(self._answer)  # lives as long as its address is in use
        self.feedback = NOBODY
        if chosen:
            basis, y, u = np.zeros((len(chosen), 6, 6)), np.zeros((len(chosen), 6)), np.zeros((len(chosen), 6))
            for k, (_, terminal, _) in enumerate(chosen):
                basis[k, :, : terminal.basis.shape[1]] = terminal.basis
            address = ctypes.cast(self._question, ctypes.c_void_p).value or 0
            self.feedback = Feedback(address, inputs.answered, basis, y, u)
        sizes = [terminal.basis.shape[1] for _, terminal, _ in chosen]
        self._asked = [
            (terminal, function, self.feedback.y[k, :size], self.feedback.u[k, :size], size > 1, wants_state(function))
            for k, ((_, terminal, function), size) in enumerate(zip(chosen, sizes, strict=True))
        ]

    def hold(self, wrench: Array, made: int) -> None:
        """Note the inputs (S, L+D, 6) of the steps for which they were asked; the first begins at a recorded state."""
        answers = wrench[:, self.feedback.terminal]
        self._held.append(answers[: made : self._every])
        self.latest = answers[-1] if len(answers) else self.latest

    def held(self) -> tuple[Array, Array]:
        """Wrenches (C, 6) and (K, C, 6) at the state where a block begins and at those which it recorded.

        They are those of the step that begins at a state; at the last one, where none does yet, the last answers.
        """
        answers, self._held = [*self._held, self.latest[None]], []
        together = np.concatenate(answers)
        return together[0], together[1:]

    def _answer(self, n: int) -> int:
        """Evaluate all controllers for step n of a march: 1, or 0 if it shall stop."""
        try:
            if (
                self.first + n
            ) % self._every == 0 and self._interrupted():  # between recorded states it could not go on
                return 0
            t, questions = (self.first + n + 0.5) * self._h, {}
            if self.turns is not None and self.sensed is not None:
                self.turns.look(self.sensed, self._h)
            for terminal, function, y, u, several, all_of_it in self._asked:
                state = state_of(terminal.name, function) if self.remembers else None
                seen = (y.copy() if several else y.item(0), *([self.sensed] if all_of_it else []))
                evaluate(terminal, u, function, t, *seen)
                questions[terminal.name] = question(
                    terminal.name, function, all_of_it, t, y if several else y.item(0), u, state
                )
            self.questions = questions
            if self.turns is not None:
                self.turns.keep()
        except BaseException as error:  # noqa: BLE001 - no exception passes through compiled code; march raises it
            self.error = error
            return 0
        return 1
