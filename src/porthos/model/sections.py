"""Cross-sections of beams: what they resist and what they weigh, for each metre of the beam.

Axis 3 runs along the beam, axis 1 along the width, axis 2 along the height of the section:
stiffness (k G A, k G A, E A), turning stiffness (E I_1, E I_2, G J), inertia rho (I_1, I_2, I_1 + I_2).
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import ArrayLike

from porthos.errors import ModelError
from porthos.model.inertia import Inertia
from porthos.notation import positive, vector

ODD = 2 * np.arange(20) + 1  # of a series for torsion; what is left out is below 1e-9


@dataclass(frozen=True, kw_only=True)
class Section:
    """A cross-section by its numbers.

    `stiffness` is (k G A_1, k G A_2, E A) in N, `turning_stiffness` (E I_1, E I_2, G J) in N m^2, `mass_per_length` in
    kg/m, `inertia_per_length` has the moments about the axes 1, 2 and 3 in kg m.
    """

    stiffness: ArrayLike
    turning_stiffness: ArrayLike
    mass_per_length: float
    inertia_per_length: ArrayLike
    kind: ClassVar[str] = "numbers"

    def __post_init__(self) -> None:
        for key in ("stiffness", "turning_stiffness", "inertia_per_length"):
            values = vector(getattr(self, key), f"{type(self).__name__}: {key}")
            for value in values:
                positive(value, f"{type(self).__name__}: {key}")
            object.__setattr__(self, key, values)
        self._positive("mass_per_length")
        self.slice(1.0)  # whose inertia must be one

    def _positive(self, *keys: str) -> None:
        """Store the fields named as positive floats, or say which section and field is wrong."""
        for key in keys:
            object.__setattr__(self, key, positive(getattr(self, key), f"{type(self).__name__}: {key}"))

    def slice(self, length: float) -> Inertia:
        """Mass and inertia of so much of the beam, as if it were all in one plane."""
        return Inertia(length * self.mass_per_length, length * np.asarray(self.inertia_per_length))


@dataclass(frozen=True, kw_only=True)
class _Solid(Section):
    """A section of one material with Young's modulus E = `young` in Pa; G = E/(2 (1 + poisson))."""

    young: float
    poisson: float
    density: float
    stiffness: ArrayLike = field(init=False, repr=False)
    turning_stiffness: ArrayLike = field(init=False, repr=False)
    mass_per_length: float = field(init=False, repr=False)
    inertia_per_length: ArrayLike = field(init=False, repr=False)

    def _check_material(self) -> None:
        self._positive("young", "density")
        nu: Any = self.poisson
        if not (isinstance(nu, int | float) and -1.0 < nu <= 0.5):
            raise ModelError(
                f"{type(self).__name__}: poisson: expected a number above -1 and at most 0.5, found {nu!r}. "
                "Steel has 0.3."
            )
        object.__setattr__(self, "poisson", float(nu))

    def _fill(self, area: float, I1: float, I2: float, J: float, k: float) -> None:
        """Set stiffness and inertia from area, second moments, torsion constant and shear factor."""
        E, G, rho = self.young, self.young / (2.0 * (1.0 + self.poisson)), self.density
        object.__setattr__(self, "stiffness", area * np.array([k * G, k * G, E]))
        object.__setattr__(self, "turning_stiffness", np.array([E * I1, E * I2, G * J]))
        object.__setattr__(self, "mass_per_length", rho * area)
        object.__setattr__(self, "inertia_per_length", rho * np.array([I1, I2, I1 + I2]))
        super().__post_init__()

    def _fill_round(self, outer: float, inner: float) -> None:
        """The same for a circle with a hole; the shear factor is that of Cowper (1966)."""
        nu, m = self.poisson, (inner / outer) ** 2
        k = 6 * (1 + nu) * (1 + m) ** 2 / ((7 + 6 * nu) * (1 + m) ** 2 + (20 + 12 * nu) * m)
        second = np.pi / 4 * (outer**4 - inner**4)
        self._fill(np.pi * (outer**2 - inner**2), second, second, 2 * second, k)


@dataclass(frozen=True, kw_only=True)
class RectangularSection(_Solid):
    """A solid rectangle: `height` along the direction `up` of the beam, `width` across it."""

    width: float
    height: float
    kind: ClassVar[str] = "rectangle"

    def __post_init__(self) -> None:
        self._check_material()
        self._positive("width", "height")
        b, h, nu = self.width, self.height, self.poisson
        long, thin = max(b, h), min(b, h)
        rest = np.sum(np.tanh(ODD * np.pi * long / (2 * thin)) / ODD**5) * 64 / np.pi**5 * thin / long
        J = long * thin**3 * (1 / 3 - float(rest))  # Saint-Venant
        self._fill(b * h, b * h**3 / 12, h * b**3 / 12, J, 10 * (1 + nu) / (12 + 11 * nu))


@dataclass(frozen=True, kw_only=True)
class CircularSection(_Solid):
    """A solid circle."""

    radius: float
    kind: ClassVar[str] = "circle"

    def __post_init__(self) -> None:
        self._check_material()
        self._positive("radius")
        self._fill_round(self.radius, 0.0)


@dataclass(frozen=True, kw_only=True)
class PipeSection(_Solid):
    """A pipe."""

    outer_radius: float
    inner_radius: float
    kind: ClassVar[str] = "pipe"

    def __post_init__(self) -> None:
        self._check_material()
        self._positive("outer_radius", "inner_radius")
        if self.inner_radius >= self.outer_radius:
            raise ModelError(
                f"PipeSection: inner_radius: expected less than the outer radius {self.outer_radius}, found "
                f"{self.inner_radius}. Use CircularSection for a solid one."
            )
        self._fill_round(self.outer_radius, self.inner_radius)


CROSS_SECTIONS: tuple[type[Section], ...] = (RectangularSection, CircularSection, PipeSection, Section)
