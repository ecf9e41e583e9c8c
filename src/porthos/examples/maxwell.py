"""A block on a Maxwell element: a spring and a damper in series, a pH system of its own that is connected by a port.

element     e' = v - k e/c,   F = k e,   H = k e^2/2      the elongation e of the spring is its state
block       m v' = -F                                     a body on a slide, with a force port

Feedback joins them: the element gets the rate v of the block and gives the force -F back. No point without mass lies
between spring and damper; its balance of forces is what makes F the force of both. A spring and a damper side by
side are the force element `model.spring(..., damping=c)`.
"""

from __future__ import annotations

import porthos as ph
from porthos.system.interconnect import Interconnection

SCHEME = ph.Gauss(1)
MASS, STIFFNESS, DAMPING, SPEED = 2.0, 200.0, 30.0, 1.5


def element(stretched: float = 0.0) -> ph.Maxwell:
    """Spring and damper in series: the rate is the input, the force the output."""
    return ph.Maxwell("element", STIFFNESS, DAMPING, elongation=stretched)


def block() -> ph.Model:
    """A block on a slide, knocked at t = 0."""
    model = ph.Model("block")
    model.body("block", ph.Box(MASS, (0.1, 0.1, 0.1)), velocity=(SPEED, 0, 0))
    model.prismatic("slide", model.ground, "block", at=(0, 0, 0), axis=(1, 0, 0))
    model.port("force", "block", kind="force", direction=(1, 0, 0))
    return model


def model() -> Interconnection:
    """Block and element in negative feedback."""
    return ph.interconnect(
        block().assemble(), element(), through=ph.Feedback("force", "rate", name="joint"), name="Maxwell element"
    )


def run(step: float = 0.01, end: float = 2.0) -> ph.StateTrajectory:
    """After the knock."""
    return ph.simulate(model(), SCHEME, step=step, end=end)
