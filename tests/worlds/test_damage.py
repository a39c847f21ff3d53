"""Damaged worlds: findings or errors with a message, never a traceback."""

from __future__ import annotations

import copy
import random
from pathlib import Path
from typing import Any

import pytest
import yaml

from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.worlds.read import check_quality, read_world

DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
JUNK: tuple[Any, ...] = (
    None, "", "x", -1, 0, 1e300, float("nan"), float("inf"), True, [], {}, [[]], [1, 2], [1, "a", None], {"x": 1},
    {"type": "box"}, {"choices": []}, "kitchen table", "\u202e", 10**30, [[0, 0], [1, 0], [1, 1]], {"relative_to": []},
)  # fmt: skip


def damage(value: Any, chance: random.Random) -> Any:
    """The same data with one value replaced, removed or added."""
    data = copy.deepcopy(value)
    node, steps = data, chance.randint(1, 6)
    for _ in range(steps):
        keys = list(node) if isinstance(node, dict) else list(range(len(node)))
        if not keys:
            break
        key = chance.choice(keys)
        inner = node[key]
        if not isinstance(inner, (dict, list)) or not inner or chance.random() < 0.15:
            action = chance.random()
            if action < 0.7:
                node[key] = copy.deepcopy(chance.choice(JUNK))
            elif action < 0.85:
                del node[key]
            elif isinstance(node, dict):
                node[f"{key}_"] = inner
            else:
                node.append(inner)
            break
        node = inner
    return data


@pytest.mark.parametrize("reference", [False, True])
def test_damaged_worlds_are_reported(samples: Path, tmp_path: Path, reference: bool) -> None:
    lab = samples / "lab"
    files = {
        name: yaml.safe_load((lab / name).read_text())
        for name in ("lab.yaml", "furniture.yaml", "things.yaml")
    }
    read = 0
    said: list[str] = []
    for number in range(60):
        chance = random.Random(number)
        chosen = chance.choice(["lab.yaml", "lab.yaml", "furniture.yaml", "things.yaml"])
        for name, data in files.items():
            text = yaml.dump(damage(data, chance) if name == chosen else data, Dumper=DUMPER)
            (tmp_path / name).write_text(text)
        try:
            reporter = Reporter()
            world = read_world(tmp_path / "lab.yaml", reference=reference, reporter=reporter)
            check_quality(world, reporter)
            read += 1
        except SimwrightError as error:
            said.append(str(error))
    assert read > 15
    assert all(said)
