"""`porthos doctor`: what is installed, where compiled code is kept, and whether it gives right numbers.

Runs are compared with exact solutions: a pendulum with Jacobi's elliptic functions, and a free symmetric top, whose
axis turns about the angular momentum L at the rate |L|/J. Results of a scheme of order p at h and h/2 give
(2^p x(h/2) - x(h))/(2^p - 1) with a smaller error.
"""

from __future__ import annotations

import os
import platform
import time
from collections.abc import Callable
from dataclasses import asdict, dataclass
from importlib.metadata import PackageNotFoundError, version
from pathlib import Path
from typing import Any

import numpy as np
import typer
from scipy.special import ellipj

from porthos.cli.answers import UNSOUND, aligned, tell
from porthos.frontdoor import simulate
from porthos.integrate.catalogue import SCHEMES, scheme_named
from porthos.integrate.scheme import ENERGIES, Scheme
from porthos.integrate.state_scheme import OwnSteps
from porthos.kernels.compile import cache_folder
from porthos.model.inertia import Inertia
from porthos.model.model import Model
from porthos.notation import Array

PACKAGES = ("porthos", "numpy", "scipy", "numba", "llvmlite", "xarray", "h5netcdf", "h5py", "matplotlib", "PyYAML")
ALLOWED = 1e-7  # error of the extrapolated results
DRIFT = 1e-11  # of the energy, relative to its largest part


@dataclass(frozen=True)
class Finding:
    """One comparison with an exact solution."""

    test: str
    error: float
    order: float
    claimed: int
    energy_drift: float
    conserving: bool

    @property
    def ok(self) -> bool:
        """Whether result, order and energy are as the scheme claims (a NaN never is)."""
        kept = self.energy_drift <= DRIFT or not self.conserving
        return bool(self.error <= ALLOWED and abs(self.order - self.claimed) < 0.05 * self.claimed and kept)

    def __str__(self) -> str:
        return f"error {self.error:.1e}, order {self.order:.3f}, energy within {self.energy_drift:.0e}"


def examine(as_json: bool) -> None:
    """Tell all that is found; exit code 4 if a number is wrong."""
    began = time.perf_counter()
    findings = [_compared(name, test) for name in tested() for test in (_pendulum, _top)]
    seconds = time.perf_counter() - began
    versions, cache = _versions(), _cache()
    sound = all(finding.ok for finding in findings)
    verdict = (
        f"right numbers: {len(findings)} comparisons with exact solutions hold ({seconds:.1f} s)"
        if sound
        else "WRONG numbers: do not trust results of this installation. Remove the compiled code and try again."
    )
    tests = {f"{'ok  ' if f.ok else 'FAIL'} {f.test}": str(f) for f in findings}
    lines = ["versions", aligned(versions), "compiled code", aligned(cache), "self-test", aligned(tests), verdict]
    data = {
        "versions": versions,
        "compiled_code": cache,
        "self_test": [asdict(f) | {"ok": f.ok} for f in findings],
        "ok": sound,
    }
    tell("\n".join(lines), data, as_json)
    if not sound:
        raise typer.Exit(UNSOUND)


def _versions() -> dict[str, str]:
    found = {"python": f"{platform.python_version()} on {platform.system()} {platform.machine()}"}
    for package in PACKAGES:
        try:
            found[package] = version(package)
        except PackageNotFoundError:
            found[package] = "not installed"
    return found


def _cache() -> dict[str, str]:
    folder = cache_folder()
    sizes = [file.stat().st_size for file in folder.rglob("*") if file.is_file()]
    older = [other for other in folder.parent.glob("kernels-*") if other != folder]
    above = next((place for place in (folder, *folder.parents) if place.exists()), Path())
    return {
        "place": str(folder),
        "size": f"{sum(sizes) / 1e6:.1f} MB in {len(sizes)} files",
        "writable": "yes" if os.access(above, os.W_OK) else "no: kernels are compiled again by every process",
        "older": f"{len(older)} folder(s) of other versions beside it, which may be removed" if older else "none",
    }


def tested() -> list[str]:
    """The schemes with steps of one size; those of order 2 that are not compiled would need a minute."""
    chosen = {name: scheme for name in SCHEMES if not isinstance(scheme := scheme_named(name), OwnSteps)}
    return [name for name, scheme in chosen.items() if isinstance(scheme, Scheme) or scheme.order > 2]


def _compared(scheme: str, test: Callable[[Any, float], tuple[Array, Array, float]]) -> Finding:
    """Two runs, with h and h/2, against the exact solution."""
    chosen = scheme_named(scheme)
    compiled = isinstance(chosen, Scheme)
    slow = 2e-3 if compiled else 8e-3
    h = 0.2 if chosen.order > 6 else 0.02 if chosen.order > 2 else slow  # far from round-off, and done in seconds
    (coarse, exact, _), (fine, _, drift) = test(chosen, h), test(chosen, h / 2)
    order = float(np.log2(np.linalg.norm(coarse - exact) / np.linalg.norm(fine - exact)))
    error = float(np.abs(fine + (fine - coarse) / (2**chosen.order - 1) - exact).max())
    name = f"{(test.__doc__ or '').split(':')[0]}, {scheme}"
    return Finding(name, error, order, chosen.order, drift, not ENERGIES.isdisjoint(chosen.preserves))


def _pendulum(scheme: Any, h: float) -> tuple[Array, Array, float]:
    """pendulum: position at t = 1 after release at 90 degrees; sin(a/2) = k cd(w t, k) with k^2 = 1/2."""
    model, g, end = Model("pendulum", gravity=(0, 0, -9.81)), 9.81, 1.0
    model.point_mass("bob", 1.0, position=(1, 0, 0))
    model.distance("rod", "ground", "bob", point_a=(0, 0, 0), point_b=(1, 0, 0))
    run = simulate(model, scheme, h, end, progress=False)
    _, cn, dn, _ = ellipj(np.sqrt(g) * end, 0.5)
    sine, cosine = np.sqrt(0.5) * cn / dn, np.sqrt(0.5) / dn
    exact = np.array([2 * sine * cosine, 0.0, sine**2 - cosine**2])
    return run["bob"].position[-1], exact, float(np.ptp(run.energy) / np.abs(run.potential_energy).max())


def _top(scheme: Any, h: float) -> tuple[Array, Array, float]:
    """free top: its axis at t = 1, turned about the angular momentum."""
    moments, omega, end = np.array([2.0, 2.0, 3.0]), np.array([1.0, 0.0, 2.0]), 1.0
    model = Model("free top")
    model.body("top", Inertia(1.0, moments), angular_velocity=omega)
    run = simulate(model, scheme, h, end, progress=False)
    L = moments * omega
    n, angle, axis = L / np.linalg.norm(L), np.linalg.norm(L) / moments[0] * end, np.array([0.0, 0.0, 1.0])
    exact = axis * np.cos(angle) + np.cross(n, axis) * np.sin(angle) + n * (n @ axis) * (1 - np.cos(angle))
    return run["top"].rotation[-1] @ axis, exact, float(np.ptp(run.energy) / run.energy[0])
