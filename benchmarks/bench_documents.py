# SPDX-License-Identifier: Apache-2.0
"""Documents with the place of every value against PyYAML's compiled loader and the standard library, without places."""

from __future__ import annotations

import json
from collections.abc import Iterator

import yaml

from benchmarks.measure import Result, compare_cpu
from simwright.core.documents.read import parse_document
from simwright.scenes.document import parse_scene

BODIES = 2000


def run() -> Iterator[Result | str]:
    bodies = [
        {"id": f"b{n}", "transform": {"p": [n, 0.5, 1.25]}, "shapes": [{"type": "sphere", "radius": 0.1}]}
        for n in range(BODIES)
    ]
    scene = {"schema_version": 1, "bodies": bodies}
    text, plain = yaml.safe_dump(scene), json.dumps(scene)
    ours, theirs = compare_cpu(lambda: parse_document(text), lambda: yaml.load(text, yaml.CSafeLoader))
    yield Result(f"YAML of {BODIES:,} bodies with places", ours, "PyYAML (C), without", theirs, 1.0)
    ours, theirs = compare_cpu(
        lambda: parse_document(plain, syntax="json"), lambda: yaml.load(plain, yaml.CSafeLoader)
    )
    yield Result(f"JSON of {BODIES:,} bodies with places", ours, "PyYAML (C), without", theirs, 1.0)
    ours, theirs = compare_cpu(lambda: parse_scene(text), lambda: yaml.load(text, yaml.CSafeLoader))
    yield Result(
        f"scene of {BODIES:,} bodies, read and validated", ours, "PyYAML (C), unchecked", theirs, 2.0
    )
