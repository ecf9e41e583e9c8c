"""A lever and a bead held by one force element of each kind: for pictures, pages and tables."""

import porthos as ph


def rocker(end=0.5, every=1):
    """A lever on a hinge with a torsion spring, a strut, a damper and a ball in rubber; a bead is attracted by it."""
    model = ph.Model("rocker", gravity=(0, 0, -9.81))
    model.body("lever", ph.Box(2.0, (0.6, 0.1, 0.06)), position=(0.3, 0, 0.5), rotation=((1, 0, 0), 0.2))
    model.body("ball", ph.Sphere(0.3, 0.06), position=(0.66, 0, 0.5))
    model.point_mass("bead", 0.1, position=(0.3, 0.3, 0.8))
    model.distance("string", "ground", "bead", (0.3, 0.3, 1.2), (0.3, 0.3, 0.8))
    model.revolute("hinge", "ground", "lever", (0, 0, 0.5), (0, 1, 0))
    model.torsion_spring("coil", "hinge", stiffness=6.0)
    model.spring("strut", "ground", "lever", (0.4, 0, 0), (0.4, 0, 0.5), stiffness=(400, 0, 900), damping=4.0)
    model.damper("brake", "lever", "ground", (0.2, 0, 0.5), (0.1, 0.1, 0.1), damping=2.0)
    model.bushing("rubber", "lever", "ball", (0.6, 0, 0.5), (900, 900, 900), (1, 1, 1), (4, 4, 4), (0.1, 0.1, 0.1))
    model.attraction("pull", "ball", "bead", (0.66, 0, 0.56), (0.3, 0.3, 0.8), strength=0.2)
    return ph.simulate(model, ph.MidpointGGL(), step=0.005, end=end, every=every)
