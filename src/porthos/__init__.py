"""Porthos: structure-preserving multibody dynamics as port-Hamiltonian descriptor systems.

Public names are loaded when they are first used, so that describing a model needs no compiler and the command line
answers at once.
"""

import importlib
from typing import TYPE_CHECKING, Any

from porthos.startup import undisturbed

if TYPE_CHECKING:  # what type checkers see; _HOMES says the same at run time, and a test compares them
    from porthos.errors import InconsistentStateError as InconsistentStateError
    from porthos.errors import InputError as InputError
    from porthos.errors import ModelError as ModelError
    from porthos.errors import ModelFileError as ModelFileError
    from porthos.errors import PorthosError as PorthosError
    from porthos.errors import ResultError as ResultError
    from porthos.errors import SimulationError as SimulationError
    from porthos.errors import Status as Status
    from porthos.errors import StructureError as StructureError
    from porthos.frontdoor import simulate as simulate
    from porthos.frontdoor import simulate_file as simulate_file
    from porthos.integrate.composition import Composition as Composition
    from porthos.integrate.discrete_gradient import DiscreteGradient as DiscreteGradient
    from porthos.integrate.events import Event as Event
    from porthos.integrate.generalized_alpha import GeneralizedAlpha as GeneralizedAlpha
    from porthos.integrate.generalized_alpha import HHT as HHT
    from porthos.integrate.half_explicit import HEDOP5 as HEDOP5
    from porthos.integrate.index_one import DOP853 as DOP853
    from porthos.integrate.index_one import MDOP5 as MDOP5
    from porthos.integrate.livens import Livens as Livens
    from porthos.integrate.midpoint import Midpoint as Midpoint
    from porthos.integrate.midpoint import MidpointGGL as MidpointGGL
    from porthos.integrate.multistep import BDF as BDF
    from porthos.integrate.partitioned import LobattoPair as LobattoPair
    from porthos.integrate.partitioned import Murua as Murua
    from porthos.integrate.runge_kutta import Gauss as Gauss
    from porthos.integrate.runge_kutta import LobattoIIIC as LobattoIIIC
    from porthos.integrate.runge_kutta import RadauIIA as RadauIIA
    from porthos.integrate.scipy_solvers import SciPy as SciPy
    from porthos.integrate.sensing import Sampled as Sampled
    from porthos.integrate.sundials import IDA as IDA
    from porthos.model.beams import Beam as Beam
    from porthos.model.controllers import PD as PD
    from porthos.model.controllers import EnergyShaping as EnergyShaping
    from porthos.model.crossings import Crossing as Crossing
    from porthos.model.inertia import Box as Box
    from porthos.model.inertia import Cylinder as Cylinder
    from porthos.model.inertia import HollowCylinder as HollowCylinder
    from porthos.model.inertia import Inertia as Inertia
    from porthos.model.inertia import Rod as Rod
    from porthos.model.inertia import Sphere as Sphere
    from porthos.model.joint_base import Joint as Joint
    from porthos.model.joints import Cylindrical as Cylindrical
    from porthos.model.joints import Fixed as Fixed
    from porthos.model.joints import Planar as Planar
    from porthos.model.joints import PointOnLine as PointOnLine
    from porthos.model.joints import PointOnPlane as PointOnPlane
    from porthos.model.joints import Prismatic as Prismatic
    from porthos.model.joints import Revolute as Revolute
    from porthos.model.joints import RigidLink as RigidLink
    from porthos.model.joints import Spherical as Spherical
    from porthos.model.joints import Universal as Universal
    from porthos.model.model import Model as Model
    from porthos.model.modelfile import ModelFile as ModelFile
    from porthos.model.modelfile import load_model as load_model
    from porthos.model.sections import CircularSection as CircularSection
    from porthos.model.sections import PipeSection as PipeSection
    from porthos.model.sections import RectangularSection as RectangularSection
    from porthos.model.sections import Section as Section
    from porthos.model.signals import Expression as Expression
    from porthos.model.signals import Ramp as Ramp
    from porthos.model.signals import Sine as Sine
    from porthos.model.signals import Step as Step
    from porthos.model.signals import Table as Table
    from porthos.model.simulation import Simulation as Simulation
    from porthos.results.lagrangian import LagrangianTrajectory as LagrangianTrajectory
    from porthos.results.loading import load as load
    from porthos.results.states import StateTrajectory as StateTrajectory
    from porthos.results.trajectory import Trajectory as Trajectory
    from porthos.resuming import resume as resume
    from porthos.steps import Adaptive as Adaptive
    from porthos.steps import Reversible as Reversible
    from porthos.study.schemes import compare as compare
    from porthos.system.connections import Feedback as Feedback
    from porthos.system.connections import Gyrator as Gyrator
    from porthos.system.connections import Relation as Relation
    from porthos.system.connections import Transformer as Transformer
    from porthos.system.general import GeneralPHDAE as GeneralPHDAE
    from porthos.system.general import LinearPHDAE as LinearPHDAE
    from porthos.system.inner_states import FirstOrderActuator as FirstOrderActuator
    from porthos.system.inner_states import Maxwell as Maxwell
    from porthos.system.interconnect import interconnect as interconnect
    from porthos.system.kinematic_pair import KinematicPair as KinematicPair
    from porthos.system.lagrangian import Lagrangian as Lagrangian
    from porthos.system.lagrangian import NumericLagrangian as NumericLagrangian
    from porthos.system.mechanical import MechanicalSystem as MechanicalSystem
    from porthos.system.modes import Modes as Modes
    from porthos.system.modes import modes as modes
    from porthos.system.phdae import PHDAE as PHDAE

__version__ = "0.1.0"

_HOMES = {
    "errors": "InconsistentStateError InputError ModelError ModelFileError PorthosError ResultError SimulationError "
    "Status StructureError",
    "frontdoor": "simulate simulate_file",
    "integrate.composition": "Composition",
    "integrate.discrete_gradient": "DiscreteGradient",
    "integrate.events": "Event",
    "integrate.sensing": "Sampled",
    "integrate.generalized_alpha": "GeneralizedAlpha HHT",
    "integrate.half_explicit": "HEDOP5",
    "integrate.index_one": "DOP853 MDOP5",
    "integrate.livens": "Livens",
    "integrate.midpoint": "Midpoint MidpointGGL",
    "integrate.multistep": "BDF",
    "integrate.partitioned": "LobattoPair Murua",
    "integrate.runge_kutta": "Gauss LobattoIIIC RadauIIA",
    "integrate.scipy_solvers": "SciPy",
    "integrate.sundials": "IDA",
    "model.beams": "Beam",
    "model.controllers": "EnergyShaping PD",
    "model.crossings": "Crossing",
    "model.inertia": "Box Cylinder HollowCylinder Inertia Rod Sphere",
    "model.joint_base": "Joint",
    "model.joints": "Cylindrical Fixed Planar PointOnLine PointOnPlane Prismatic Revolute RigidLink Spherical "
    "Universal",
    "model.model": "Model",
    "model.modelfile": "ModelFile load_model",
    "model.sections": "CircularSection PipeSection RectangularSection Section",
    "model.signals": "Expression Ramp Sine Step Table",
    "model.simulation": "Simulation",
    "results.lagrangian": "LagrangianTrajectory",
    "results.loading": "load",
    "results.states": "StateTrajectory",
    "results.trajectory": "Trajectory",
    "resuming": "resume",
    "steps": "Adaptive Reversible",
    "study.schemes": "compare",
    "system.connections": "Feedback Gyrator Relation Transformer",
    "system.general": "GeneralPHDAE LinearPHDAE",
    "system.inner_states": "FirstOrderActuator Maxwell",
    "system.interconnect": "interconnect",
    "system.kinematic_pair": "KinematicPair",
    "system.lagrangian": "Lagrangian NumericLagrangian",
    "system.mechanical": "MechanicalSystem",
    "system.modes": "Modes modes",
    "system.phdae": "PHDAE",
}
_HOME = {name: home for home, names in _HOMES.items() for name in names.split()}
__all__ = tuple(_HOME)


if not TYPE_CHECKING:  # type checkers would believe that every name exists

    def __getattr__(name: str) -> Any:
        if name not in _HOME:
            raise AttributeError(f"module 'porthos' has no attribute '{name}'")
        with undisturbed():
            value = getattr(importlib.import_module(f"porthos.{_HOME[name]}"), name)
        globals()[name] = value
        return value


def __dir__() -> list[str]:
    return sorted([*globals(), *_HOME])
