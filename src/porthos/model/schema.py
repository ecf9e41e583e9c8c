"""The JSON schema of model files, for completion and checks in editors, made from the same forms that read them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, get_type_hints

from porthos.model.fields import (
    SCHEME,
    Field,
    event_schema,
    fields_of,
    first_sentence,
    input_schema,
    object_schema,
    signal_schema,
    step_schema,
)
from porthos.model.forms import SECTIONS
from porthos.model.modelfile import SIMULATION, heading
from porthos.model.simulation import Simulation

DIALECT = "https://json-schema.org/draft/2020-12/schema"


def json_schema(schemes: Mapping[str, type]) -> dict[str, Any]:
    """The schema; `schemes` are the classes of the schemes that a file may name."""
    sections = {title: section.schema() for title, section in SECTIONS.items()}
    return {
        "$schema": DIALECT,
        "title": "Porthos model file",
        "description": "A mechanism in SI units, and how to simulate it.",
        "type": "object",
        "properties": {
            **{key: field.schema for key, field in heading().items()},
            **sections,
            SIMULATION: object_schema(fields_of(Simulation), first_sentence(Simulation)),
        },
        "additionalProperties": False,
        "$defs": {
            "signal": signal_schema(),
            "input": input_schema(),
            "scheme": _scheme_schema(schemes),
            "step": step_schema(),
            "event": event_schema(),
        },
    }


def _scheme_schema(schemes: Mapping[str, type]) -> dict[str, Any]:
    """The name of a scheme, or its name and options; an option may be a scheme too."""
    forms = []
    for name, cls in schemes.items():
        hints = {key: hint for key, hint in get_type_hints(cls).items() if isinstance(hint, type)}
        nested = [key for key in hints if any(issubclass(other, hints[key]) for other in schemes.values())]
        keys = fields_of(cls, *nested) | {key: Field(SCHEME, required=False, optional=False) for key in nested}
        forms.append(object_schema(keys, first_sentence(cls), kind=name))
    return {"anyOf": [{"enum": list(schemes)}, *forms]}
