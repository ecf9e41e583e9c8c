"""A DC motor with a gear and a flywheel: an electrical circuit, a mechanism and their connections as pH systems.

circuit   phi' = -R i + V + e,   i = phi/L       ports: voltage (V, i), armature (e, i)
gyrator   e = -k w_r,   torque = k i             the motor: no power is lost between circuit and rotor
gear      w_f = w_r/n,   torque_r = -torque_f/n  a transformer between rotor and flywheel
"""

from __future__ import annotations

import porthos as ph

SCHEME = ph.Gauss(1)
VOLTAGE, RESISTANCE, INDUCTANCE, CONSTANT, RATIO = 12.0, 0.8, 0.05, 0.6, 3.0
ROTOR, FLYWHEEL = ph.Cylinder(0.8, 0.1, 0.2, axis="x"), ph.Cylinder(5.0, 0.3, 0.05, axis="x")


def circuit() -> ph.LinearPHDAE:
    """The winding: the flux linkage phi is its state, H = phi^2/(2 L)."""
    return ph.LinearPHDAE(
        "winding",
        J=[[0]],
        R=[[RESISTANCE]],
        Q=[[1 / INDUCTANCE]],
        B=[[1, 1]],
        states=["flux"],
        ports=["voltage", "armature"],
        initial=[0.0],
    )


def mechanism() -> ph.Model:
    """Rotor and flywheel in bearings; a torque port for the motor and one on each side of the gear."""
    model = ph.Model("shafts")
    for name, shape, z in (("rotor", ROTOR, 0.0), ("flywheel", FLYWHEEL, 0.4)):
        model.body(name, shape, position=(0, 0, z))
        model.revolute(f"bearing of {name}", model.ground, name, at=(0, 0, z), axis=(1, 0, 0))
    for port, body in (("motor", "rotor"), ("pinion", "rotor"), ("wheel", "flywheel")):
        model.port(port, body, kind="torque", direction=(1, 0, 0))
    return model


def model() -> ph.PHDAE:
    """The whole drive, with the port 'voltage' left open."""
    return ph.interconnect(
        circuit(),
        mechanism().assemble(),
        through=[
            ph.Gyrator("armature", "motor", CONSTANT, name="motor"),
            ph.Transformer("pinion", "wheel", 1 / RATIO, name="gear"),
        ],
        name="DC motor",
    )


def run(scheme: ph.Gauss | ph.RadauIIA = SCHEME, step: float = 0.01, end: float = 0.3) -> ph.StateTrajectory:
    """The motor is switched on at t = 0."""
    return ph.simulate(model(), scheme, step=step, end=end, inputs={"voltage": VOLTAGE})
