"""What the controllers' relationships lead to is said for every one that the registry defines."""

from __future__ import annotations

from simwright.checker.facts.controllers import EXPECTED_TARGETS
from simwright.checker.facts.schemas import known_classes


def test_every_registered_relationship_has_an_end():
    registered = {
        prop.name
        for name, schema in known_classes().items()
        if name.startswith("RosControl")
        for prop in schema.properties
        if prop.is_relationship
    }
    assert registered == set(EXPECTED_TARGETS)
