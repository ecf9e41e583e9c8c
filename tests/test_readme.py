"""The README is true: its code runs, its claims hold."""

from __future__ import annotations

import re
from pathlib import Path

import numpy as np
from typer.testing import CliRunner

import porthos as ph
from docs.site.pages import blocks
from porthos.cli.app import EXITS, app

COMMANDS = ("run", "modes", "check", "show", "plot", "export", "compare", "schema", "examples", "doctor", "bench")
README = (Path(__file__).parent.parent / "README.md").read_text()


def test_examples_of_the_readme_run(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (_, first), (_, second) = blocks(README, "python")
    assert len([line for line in first.splitlines() if line.strip()]) <= 10
    names: dict = {}
    exec(compile(first, "README, first example", "exec"), names)
    assert "power balance" in capsys.readouterr().out
    assert (tmp_path / "double_pendulum.png").stat().st_size > 20_000
    assert (tmp_path / "double_pendulum.html").stat().st_size > 500_000
    run = names["run"]
    assert np.abs(run.energy - run.energy[0]).max() < 1e-12
    assert max(run.position_error.max(), run.velocity_error.max()) < 1e-13
    assert [a.body for a in run.system.adjustments] == ["arm", "bob"]
    exec(compile(second, "README, second example", "exec"), names)
    assert "all properties hold" in capsys.readouterr().out
    assert (tmp_path / "run.nc").exists()
    assert (tmp_path / "run.html").exists()


def test_model_file_of_the_readme_runs(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    ((_, text),) = blocks(README, "yaml")
    assert len(text.splitlines()) <= 15
    (tmp_path / "swing.yaml").write_text(text)
    commands = re.findall(r"^    porthos (.*?)(?:  +#.*)?$", README, re.MULTILINE)
    assert {command.split()[0] for command in commands} == set(COMMANDS)
    for command in commands:
        answer = CliRunner().invoke(app, command.split())
        assert answer.exit_code == 0, (command, answer.output)
    assert (tmp_path / "swing.html").stat().st_size > 20_000
    run = ph.simulate_file(tmp_path / "swing.yaml", {"bodies.arm.mass": 0.2})
    assert np.abs(run.power_balance).max() < 1e-13
    codes = re.search(r"Exit codes: (.*?)130", README, re.DOTALL).group(1).split()
    assert codes == re.search(r"Exit codes: (.*?)130", EXITS, re.DOTALL).group(1).split()
