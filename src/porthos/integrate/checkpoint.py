"""What a run has to know to go on as if it had never been interrupted, bit by bit.

Beside the state that is the memory of the scheme: extrapolated guesses, habits, factors that are used again. It is kept
whole, as bytes, so that nothing has to be known of its parts. Of a controller it is the last question, its answer, and
the `state` that the controller had before: asked once more, it proves to be the same and has its memory again.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from porthos.errors import InputError, ResultError
from porthos.integrate.inputs import Inputs, evaluate, wants_state
from porthos.notation import Array

STATE = "state"  # the attribute of a controller that holds its memory
PLAIN = ("done", "wrench", "rows", "events", "turns")  # what JSON holds of a checkpoint as it is


class Question(NamedTuple):
    """The last question to a controller: what it saw, what it answered, and what it remembered before.

    One that looks at the whole mechanism is not asked again, so of it the memory after the question is kept.
    """

    t: float
    y: Any
    u: list[float]
    state: Any = None


@dataclass(frozen=True)
class Checkpoint:
    """Where a run is after `done` compiled steps, or as the memory of a walk says it."""

    done: int
    memory: NDArray[np.uint8]  # q, v and the memory of the scheme; of a walk all that it remembers
    wrench: list[list[float]]  # inputs of all loads, ports and drives in the last substep
    questions: dict[str, Question]
    rows: int  # states that were recorded until then
    events: int = 0  # and what had happened
    turns: list[list[float]] | None = None  # angles of joints that controllers saw last, and in the step before

    @property
    def plain(self) -> dict[str, Any]:
        """All but the bytes, as data for JSON."""
        questions = {name: question._asdict() for name, question in self.questions.items()}
        return {name: getattr(self, name) for name in PLAIN} | {"questions": questions, "bytes": self.memory.size}

    @classmethod
    def read(cls, plain: dict[str, Any], memory: NDArray[np.uint8]) -> Checkpoint:
        """From what `plain` gave, and the bytes."""
        questions = {name: Question(**question) for name, question in plain["questions"].items()}
        known = {name: plain[name] for name in PLAIN if name in plain}
        return cls(**known, questions=questions, memory=memory[: plain["bytes"]])


def packed(tree: Any) -> NDArray[np.uint8]:
    """The bytes of all arrays in nested tuples."""
    return np.frombuffer(b"".join(leaf.tobytes() for leaf in _leaves(tree)), dtype=np.uint8)


def unpack(memory: NDArray[np.uint8], tree: Any) -> None:
    """Write bytes back into the arrays of nested tuples of the same kind."""
    leaves = list(_leaves(tree))
    if sum(leaf.nbytes for leaf in leaves) != memory.size:
        raise ResultError(
            f"resume: expected {sum(leaf.nbytes for leaf in leaves)} bytes of memory of the scheme, found "
            f"{memory.size}. The file is of another version of Porthos; run the simulation again."
        )
    content, at = memory.tobytes(), 0
    for leaf in leaves:
        leaf[...] = np.frombuffer(content, leaf.dtype, leaf.size, at).reshape(leaf.shape)
        at += leaf.nbytes


def _leaves(tree: Any) -> Iterator[NDArray[Any]]:
    if isinstance(tree, tuple):
        for branch in tree:
            yield from _leaves(branch)
    else:
        yield tree


def state_of(port: str, function: Any) -> Any:
    """A copy of what a controller remembers, as data for JSON; None if it does not say."""
    state = getattr(function, STATE, None)
    if state is None:
        return None
    try:
        return np.asarray(state, dtype=np.float64).tolist()
    except (TypeError, ValueError) as error:
        raise InputError(
            f"port '{port}': expected numbers in the attribute '{STATE}' of its controller, from which a run in a file "
            f"can be resumed, found {state!r}. Give the attribute another name, or numbers."
        ) from error


def question(port: str, function: Any, whole: bool, t: float, y: Any, u: Array, before: Any) -> Question:
    """Of a controller that was asked, and had the state `before` until then; `whole` if it looks at all bodies."""
    state = state_of(port, function) if whole and before is not None else before
    return Question(t, y.tolist() if isinstance(y, np.ndarray) else y, u.tolist(), state)


def _restore(function: Any, state: Any) -> None:
    """Give a controller its memory, in the form that it has: a number, a list, a tuple or an array."""
    form: Any = type(getattr(function, STATE, None))
    plain = issubclass(form, float | int | list | tuple) and np.ndim(state) < 2
    setattr(function, STATE, form(state) if plain else np.array(state, dtype=np.float64))


def ask_again(inputs: Inputs, checkpoint: Checkpoint, sizes: Array) -> None:
    """Refuse functions that are not those of the run, and give controllers their memory."""
    t = (checkpoint.done - 0.5) * float(sizes.sum())
    wrench, error = inputs.wrenches(checkpoint.done - 1, 1, sizes)
    if error is not None:
        raise error
    asked = {k: (terminal, function) for k, terminal, function in inputs.controllers()}
    for k, name in enumerate(inputs.system.channel_names):
        if k in asked:
            ask_controller(*asked[k], checkpoint.questions)
        elif wrench[-1, k].tolist() != checkpoint.wrench[k]:
            raise InputError(
                f"'{name}' at t = {t:.6g}: expected the function or numbers of the run that is to be resumed, "
                f"which gave {checkpoint.wrench[k]}, found others: {wrench[-1, k].tolist()}."
            )


def ask_controller(terminal: Any, function: Any, questions: dict[str, Question]) -> None:
    """Give a controller its memory, and refuse one that does not answer as that of the run."""
    question = questions.get(terminal.name)
    if question is None:
        raise InputError(
            f"port '{terminal.name}': the run that is to be resumed had no controller there. Leave it away."
        )
    if question.state is not None:
        _restore(function, question.state)
    if wants_state(function):  # the state in which it was asked is not kept
        return
    u = np.zeros(len(question.u))
    evaluate(terminal, u, function, question.t, np.array(question.y) if isinstance(question.y, list) else question.y)
    if u.tolist() != question.u:
        raise InputError(
            f"port '{terminal.name}' at t = {question.t:.6g}: expected the controller of the run that is to be "
            f"resumed, which answered {question.u} to y = {question.y}, found one that answers {u.tolist()}. If it has "
            f"a memory, keep it as numbers in an attribute '{STATE}' of the controller, which goes to the file; else "
            "give the same function again."
        )
