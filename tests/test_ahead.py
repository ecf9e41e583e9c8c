"""Kernels are compiled by child processes once, and loaded afterwards."""

import subprocess
import sys

import pytest

from porthos.kernels import ahead

COUNT = """
import porthos as ph
from numba.core import event

class Compiled(event.Listener):
    def on_start(self, e):
        print(e.data["dispatcher"].py_func.__name__)

    def on_end(self, e):
        pass

event.register("numba:compile", Compiled())
model = ph.Model("pendulum")
model.body("bob", ph.Sphere(1.0, 0.1), position=(1.0, 0.0, 0.0))
model.revolute("pivot", model.ground, "bob", at=(0.0, 0.0, 0.0), axis=(0.0, 1.0, 0.0))
for scheme in (ph.Midpoint(), ph.MidpointGGL()):
    ph.simulate(model, scheme, 0.01, 0.1)
"""


def test_a_program_finds_all_kernels_of_a_run_in_the_cache():
    """The types of the samples are those of real runs: no kernel is compiled for others."""
    for part in (ahead.ASSEMBLY, *ahead.MARCHES):
        ahead.ready(part)
        assert ahead.done(part).exists()
    compiled = subprocess.run([sys.executable, "-c", COUNT], capture_output=True, text=True, timeout=300, check=True)
    assert compiled.stdout == ""


def test_a_second_installation_compiles_for_itself(monkeypatch):
    """Numba does not load kernels whose sources are elsewhere, so that they are in the cache is not said of them."""
    here = ahead.done(ahead.GGL)
    monkeypatch.setattr(ahead, "__file__", "/elsewhere/porthos/kernels/ahead.py")
    assert ahead.done(ahead.GGL) != here
    assert ahead.done(ahead.GGL).parent == here.parent


@pytest.mark.parametrize("program", ["fails", "missing", "none", "unwritable"])
def test_nothing_is_waited_for_where_no_child_can_compile(program, monkeypatch, tmp_path):
    path = tmp_path / "python"
    if program == "fails":
        path.write_text("#!/bin/sh\nexit 1\n")
        path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", None if program == "none" else str(path))
    folder = tmp_path / "file" / "cache" if program == "unwritable" else tmp_path
    (tmp_path / "file").write_text("no folder")
    monkeypatch.setattr(ahead, "cache_folder", lambda: folder)
    monkeypatch.setattr(ahead, "_children", {})
    monkeypatch.setattr(ahead, "_settled", set())
    for part in (ahead.GGL, ahead.ASSEMBLY, ahead.MIDPOINT):
        ahead.ready(part)  # does not wait for what never comes
        assert not ahead.done(part).exists()


def test_a_program_that_waits_says_once_for_what(monkeypatch, tmp_path, caplog):
    path = tmp_path / "python"
    path.write_text("#!/bin/sh\nsleep 1\n")
    path.chmod(0o755)
    monkeypatch.setattr(sys, "executable", str(path))
    monkeypatch.setattr(ahead, "cache_folder", lambda: tmp_path)
    monkeypatch.setattr(ahead, "_children", {})
    monkeypatch.setattr(ahead, "_settled", set())
    monkeypatch.setattr(ahead, "_told", False)
    for part in (ahead.ASSEMBLY, *ahead.MARCHES):
        ahead.ready(part)
    (record,) = caplog.records
    assert (record.levelname, "compiles its kernels" in record.message) == ("WARNING", True)
    caplog.clear()
    ahead.ready(ahead.GGL)
    assert not caplog.records


def test_nothing_is_read_once_all_is_known(monkeypatch):
    """Each run asks; to look at the sources again took three times as long as a short run."""
    for part in (ahead.ASSEMBLY, *ahead.MARCHES):
        ahead.ready(part)
    monkeypatch.setattr(ahead, "cache_folder", lambda: pytest.fail("the sources are looked at"))
    ahead.start(ahead.MIDPOINT)
