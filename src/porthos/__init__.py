"""Porthos: structure-preserving multibody dynamics as port-Hamiltonian descriptor systems."""

from porthos.errors import (
    InconsistentStateError as InconsistentStateError,
)
from porthos.errors import (
    InputError as InputError,
)
from porthos.errors import (
    ModelError as ModelError,
)
from porthos.errors import (
    PorthosError as PorthosError,
)
from porthos.errors import (
    ResultError as ResultError,
)
from porthos.errors import (
    SimulationError as SimulationError,
)
from porthos.errors import (
    Status as Status,
)
from porthos.errors import (
    StructureError as StructureError,
)
from porthos.integrate.midpoint import Midpoint as Midpoint
from porthos.integrate.midpoint import MidpointGGL as MidpointGGL
from porthos.integrate.runge_kutta import Gauss as Gauss
from porthos.integrate.runge_kutta import LobattoIIIC as LobattoIIIC
from porthos.integrate.runge_kutta import RadauIIA as RadauIIA
from porthos.model.inertia import (
    Box as Box,
)
from porthos.model.inertia import (
    Cylinder as Cylinder,
)
from porthos.model.inertia import (
    HollowCylinder as HollowCylinder,
)
from porthos.model.inertia import (
    Inertia as Inertia,
)
from porthos.model.inertia import (
    Rod as Rod,
)
from porthos.model.inertia import (
    Sphere as Sphere,
)
from porthos.model.joints import (
    Cylindrical as Cylindrical,
)
from porthos.model.joints import (
    Fixed as Fixed,
)
from porthos.model.joints import (
    Joint as Joint,
)
from porthos.model.joints import (
    Planar as Planar,
)
from porthos.model.joints import (
    PointOnLine as PointOnLine,
)
from porthos.model.joints import (
    PointOnPlane as PointOnPlane,
)
from porthos.model.joints import (
    Prismatic as Prismatic,
)
from porthos.model.joints import (
    Revolute as Revolute,
)
from porthos.model.joints import (
    RigidLink as RigidLink,
)
from porthos.model.joints import (
    Spherical as Spherical,
)
from porthos.model.joints import (
    Universal as Universal,
)
from porthos.model.model import Model as Model
from porthos.results.loading import load as load
from porthos.results.states import StateTrajectory as StateTrajectory
from porthos.results.trajectory import Trajectory as Trajectory
from porthos.simulate import simulate as simulate
from porthos.system.general import GeneralPHDAE as GeneralPHDAE
from porthos.system.general import LinearPHDAE as LinearPHDAE
from porthos.system.interconnect import interconnect as interconnect
from porthos.system.mechanical import MechanicalSystem as MechanicalSystem
from porthos.system.phdae import PHDAE as PHDAE

__version__ = "0.1.0"
