"""The README is true: its code runs, its claims hold."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np

README = (Path(__file__).parent.parent / "README.md").read_text()


def test_examples_of_the_readme_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    first, second = re.findall(r"```python\n(.*?)```", README, re.DOTALL)
    assert len([line for line in first.splitlines() if line.strip()]) <= 10
    names: dict = {}
    exec(compile(first, "README, first example", "exec"), names)
    assert "power balance" in capsys.readouterr().out
    assert (tmp_path / "double_pendulum.png").stat().st_size > 20_000
    run = names["run"]
    assert np.abs(run.energy - run.energy[0]).max() < 1e-12
    assert max(run.position_error.max(), run.velocity_error.max()) < 1e-13
    assert [a.body for a in run.system.adjustments] == ["arm", "bob"]
    exec(compile(second, "README, second example", "exec"), names)
    assert "all properties hold" in capsys.readouterr().out
    assert (tmp_path / "run.nc").exists()
    assert (tmp_path / "run.html").exists()
