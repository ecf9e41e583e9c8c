"""What the tests run over: all schemes, all joints, and problems built from them. Plain lists, no discovery."""

from __future__ import annotations

import minimal_coordinates as reference

import porthos as ph

COMPOSITIONS = (*(ph.Composition(ph.MidpointGGL(), order) for order in (4, 6, 8)), ph.Composition(ph.Midpoint(), 4))
MIDPOINTS = (ph.Midpoint(), ph.MidpointGGL())
ALL_SCHEMES = (*MIDPOINTS, *COMPOSITIONS, ph.Livens())
RUNGE_KUTTA = (*map(ph.Gauss, (1, 2, 3)), *map(ph.RadauIIA, (1, 2, 3)), *map(ph.LobattoIIIC, (2, 3, 4)))
STATE_SCHEMES = (*RUNGE_KUTTA, ph.DiscreteGradient())
COMPOSED_STATES = tuple(ph.Composition(base, 4) for base in (ph.LobattoPair(2), ph.Gauss(1), ph.DiscreteGradient()))
MECHANICAL = (
    *map(ph.LobattoPair, (2, 3)), *map(ph.Murua, (1, 2)), ph.Murua(2, ggl=True),
    *(ph.GeneralizedAlpha(form=form) for form in ("index 3", "index 2", "stabilised")), ph.HHT(),
    ph.HEDOP5(), ph.MDOP5(), ph.DOP853(), ph.DOP853("Baumgarte"),
)  # fmt: skip
OF_LIBRARIES = (ph.IDA(), *map(ph.SciPy, ("Radau", "BDF", "LSODA")))
CONTRACTS = (*ALL_SCHEMES, *STATE_SCHEMES, *COMPOSED_STATES, ph.BDF(1), ph.BDF(3), *MECHANICAL, *OF_LIBRARIES)
ALL_JOINTS = reference.KINDS


def by_name(scheme: ph.Midpoint | ph.Composition) -> str:
    """What a test with a scheme is called."""
    base = getattr(scheme, "base", scheme)
    return type(base).__name__ + ("" if base is scheme else f"{scheme.order}")


def joint_model(kind: str) -> ph.Model:
    """Body A hinged to the ground, body B joined to A: the model that `minimal_coordinates` solves independently."""
    case = reference.joint_case(kind)
    model = ph.Model(kind, gravity=case.gravity)
    for name, data in (("a", case.a), ("b", case.b)):
        model.body(
            name,
            ph.Inertia(data.mass, data.inertia),
            position=data.position,
            rotation=data.rotation,
            velocity=data.velocity,
            angular_velocity=data.angular_velocity,
        )
    model.revolute("hinge", model.ground, "a", at=case.hinge_point, axis=case.hinge_axis)
    getattr(model, kind)("joint", "a", "b", **case.geometry)
    return model
