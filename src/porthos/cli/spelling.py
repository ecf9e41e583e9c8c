"""Schemes as the command line takes them: as calls, "Gauss(2)", or as in files, "{kind: Gauss, stages: 2}"."""

from __future__ import annotations

import json
from collections.abc import Mapping

from porthos.integrate.catalogue import scheme_named, spelled
from porthos.integrate.scheme import Contract
from porthos.model.fields import SCHEME, misfits
from porthos.model.nodes import parse
from porthos.model.simulation import SchemeChoice

KEY = "simulation.scheme"  # how the command line names the scheme of a run


def scheme_of(text: str) -> Contract:
    """The scheme that a text means, in either form."""
    if not text.lstrip().startswith("{"):
        return spelled(text)
    with misfits("scheme"):
        choice = SCHEME.read(parse(text, "--scheme", numbered=False))
    return scheme_named(choice.kind, choice.options)


def as_in_files(changes: Mapping[str, str]) -> Mapping[str, str]:
    """Changes to a model file, where a scheme that is written as a call takes the form of files."""
    text = changes.get(KEY, "")
    if "(" not in text or text.lstrip().startswith("{"):
        return changes
    return {**changes, KEY: json.dumps(SchemeChoice.of(scheme_of(text)).plain)}
