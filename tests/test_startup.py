"""Loading without the garbage collector leaves it as it was."""

from __future__ import annotations

import gc

import pytest

import porthos as ph
from porthos.startup import undisturbed


@pytest.mark.parametrize("collecting", [True, False])
def test_the_collector_is_afterwards_as_it_was(collecting):
    before = gc.isenabled()
    try:
        (gc.enable if collecting else gc.disable)()
        with undisturbed():
            assert not gc.isenabled()
        assert gc.isenabled() == collecting
        with pytest.raises(ph.ModelError, match="there is no body"):
            ph.Model("empty").assemble()
        assert gc.isenabled() == collecting
    finally:
        (gc.enable if before else gc.disable)()
