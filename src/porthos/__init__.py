"""Porthos: structure-preserving multibody dynamics as port-Hamiltonian descriptor systems."""

from porthos.errors import (
    InconsistentStateError as InconsistentStateError,
    InputError as InputError,
    ModelError as ModelError,
    PorthosError as PorthosError,
    ResultError as ResultError,
    SimulationError as SimulationError,
    Status as Status,
    StructureError as StructureError,
)
from porthos.integrate.midpoint import Midpoint as Midpoint, MidpointGGL as MidpointGGL
from porthos.model.inertia import (
    Box as Box,
    Cylinder as Cylinder,
    HollowCylinder as HollowCylinder,
    Inertia as Inertia,
    Rod as Rod,
    Sphere as Sphere,
)
from porthos.model.model import Model as Model
from porthos.results.trajectory import Trajectory as Trajectory
from porthos.simulate import simulate as simulate
from porthos.system.mechanical import MechanicalSystem as MechanicalSystem
from porthos.system.phdae import PHDAE as PHDAE

__version__ = "0.1.0"
