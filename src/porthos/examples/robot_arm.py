"""A robot arm with two drives under PD control: the controller is a pH system that is connected with both hinges.

The gallery has its equations, figures and numbers.
"""

from __future__ import annotations

import numpy as np

import porthos as ph
from porthos.system.interconnect import Interconnection

SCHEME = ph.Gauss(2)
STIFFNESS, DAMPING, WANTED = (120.0, 60.0), (25.0, 8.0), (2.0, -1.2)
LENGTH = 1.0
BARS = ("upper bar", "lower bar")


def arm() -> ph.Model:
    """The bars hang at rest; torques and rates of the hinges are positive against the angles."""
    model = ph.Model("double pendulum", gravity=(0, 0, -9.81))
    before = "ground"
    for bar, top in zip(BARS, (0.0, -LENGTH), strict=True):
        model.body(bar, ph.Box(1.0, (0.05, 0.05, LENGTH)), position=(0, 0, top - LENGTH / 2))
        hinge = model.revolute(f"hinge of the {bar}", before, bar, at=(0, 0, top), axis=(0, 1, 0))
        model.joint_port(f"drive of the {bar}", hinge)
        before = bar
    return model


def controller() -> ph.LinearPHDAE:
    """Stiffness is what is stored, damping a feed-through; rates are those of the hinges, against the angles."""
    return ph.LinearPHDAE(
        "controller",
        J=np.zeros((2, 2)),
        Q=np.diag(STIFFNESS),
        B=np.eye(2),
        S=np.diag(DAMPING),
        states=["shoulder", "elbow"],
        ports=["shoulder", "elbow"],
        initial=np.array(WANTED),
    )


def model() -> Interconnection:
    """Each hinge and its part of the controller in negative feedback."""
    drives = [
        ph.Feedback(f"drive of the {bar}", hinge, name=hinge)
        for bar, hinge in zip(BARS, ("shoulder", "elbow"), strict=True)
    ]
    return ph.interconnect(arm().assemble(), controller(), through=drives, name="robot arm")


def run(step: float = 0.02, end: float = 1.0) -> ph.StateTrajectory:
    """From rest to the posture that is wanted."""
    return ph.simulate(model(), SCHEME, step=step, end=end)
