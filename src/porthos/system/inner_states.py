"""Force elements with states of their own, as pH systems to be connected with a port of a mechanism by Feedback.

interconnect(system, element, through=Feedback("port of the mechanism", "rate")): the element gets the rate of the port
and gives the force back, so that what it stores and loses is in the balance of the whole.
"""

from __future__ import annotations

from porthos.notation import number, positive
from porthos.system.general import LinearPHDAE


class Maxwell(LinearPHDAE):
    """A spring and a damper in series: e' = rate - k e/c, F = k e, H = k e^2/2; e is the elongation of the spring."""

    def __init__(self, name: str, stiffness: float, damping: float, elongation: float = 0.0) -> None:
        k, c = positive(stiffness, f"{name}: stiffness"), positive(damping, f"{name}: damping")
        super().__init__(
            name, J=[[0]], R=[[1 / c]], Q=[[k]], B=[[1]], states=["elongation"], ports=["rate"],
            initial=[number(elongation, f"{name}: elongation")],
        )  # fmt: skip


class FirstOrderActuator(LinearPHDAE):
    """A motor with a lag: T f' = gain command - f - droop rate, as of an armature with resistance and inductance.

    Its force f is that of the port `rate`, `command` is an input. With R = droop/gain^2, L = T R and k = droop/gain:
    L i' = command - R i - k rate, f = k i, H = L i^2/2. The droop is what the command does through the motor: without
    it the force would be work from nowhere.
    """

    def __init__(self, name: str, gain: float, droop: float, time_constant: float, force: float = 0.0) -> None:
        K, D = positive(gain, f"{name}: gain"), positive(droop, f"{name}: droop")
        R, k = D / K**2, D / K
        L = positive(time_constant, f"{name}: time_constant") * R
        super().__init__(
            name, J=[[0]], R=[[R]], Q=[[1 / L]], B=[[1, -k]], states=["flux"], ports=["command", "rate"],
            initial=[L * number(force, f"{name}: force") / k],
        )  # fmt: skip
