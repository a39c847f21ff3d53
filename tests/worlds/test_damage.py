"""Damaged worlds: findings or errors with a message, never a traceback."""

from __future__ import annotations

import copy
import os
import random
import re
from pathlib import Path
from typing import Any

import pytest
import yaml

from simwright.core.diag import Reporter
from simwright.core.errors import SimwrightError
from simwright.worlds.acting.manipulation import find_object
from simwright.worlds.entities import WorldObject
from simwright.worlds.planning.goals import find_goals, list_places
from simwright.worlds.read import check_quality, read_world

DUMPER = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
JUNK: tuple[Any, ...] = (
    None, "", "x", -1, 0, 1e300, float("nan"), float("inf"), True, [], {}, [[]], [1, 2], [1, "a", None], {"x": 1},
    {"type": "box"}, {"choices": []}, "kitchen table", "\u202e", 10**30, [[0, 0], [1, 0], [1, 1]], {"relative_to": []},
)  # fmt: skip


# SIMWRIGHT_DAMAGED=2000 tries more than `make test` has time for
COUNT = int(os.environ.get("SIMWRIGHT_DAMAGED", "60"))
BROKEN = 50
BLOCK = {
    "seed": 3,
    "floors": {
        "low": {"rooms": ["workshop", "storage"]},
        "high": {"elevation": 4.0, "rooms": ["office", "server_room"]},
    },
    "lifts": {"lift": {"stops": {"low": "storage", "high": "server_room"}, "speed": 1.0, "door_time": 3.0}},
    "places": {"corner": [1.0, 0.5, 0.0]},
    "entities": {"bench": {"mass": 3.0}},
}


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
    files["lab.yaml"]["simwright"] = BLOCK
    read = 0
    said: list[str] = []
    unplaced: list[str] = []
    for number in range(COUNT):
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
            # findings about what stands in a file say where
            unplaced += [item.message for item in reporter if item.where.file and not item.where.line]
        except SimwrightError as error:
            said.append(str(error))
            unplaced += [str(error)] * (error.where is None or not error.where.line)
    assert read > COUNT // 4
    assert all(said)
    assert unplaced == []


@pytest.mark.parametrize("number", range(BROKEN))
def test_broken_files_are_refused_with_a_line(samples: Path, tmp_path: Path, number: int) -> None:
    """Cut off, with bytes that are none, with brackets that do not match, with tabs, aliases and the like."""
    chance = random.Random(number)
    for name in ("furniture.yaml", "things.yaml"):
        (tmp_path / name).write_bytes((samples / "lab" / name).read_bytes())
    data = bytearray((samples / "lab" / "lab.yaml").read_bytes())
    at = chance.randrange(len(data) // 3, len(data))
    kind = number % 10
    if kind == 0:
        data = data[:number]
    elif kind == 1:
        data[at:at] = b"\xff\xfe\x00"
    else:
        line = data.rfind(b"\n", 0, at) + 1
        data[line:line] = (
            b"\t- [\n", b"}: {\n", b"*nobody: 1\n", b"!!python/object:os.system x\n", b"'never closed\n",
            b"rooms: 1\nrooms: 2\n", b"&a [*a]\n", b"@x: ]\n",
        )[kind - 2]  # fmt: skip
    (tmp_path / "lab.yaml").write_bytes(bytes(data))
    reporter = Reporter()
    found: SimwrightError | None = None
    try:
        read_world(tmp_path / "lab.yaml", reporter=reporter)
    except SimwrightError as error:
        found = error
    if found is not None:
        assert found.where is not None
        assert found.where.line, str(found)
    # what can be read all the same, such as text that another text goes on with, is told or harmless
    assert all(item.where.line for item in reporter if item.where.file)


@pytest.mark.parametrize(
    ("old", "new", "text"),
    [
        ("probabilities: [0.8, 0.2]", "probabilities: [1.8, -0.8]", "the probability -0.8 is negative"),
        ("object_radius: 0.02", "object_radius: 1e-9", "which is text to YAML: write 1.0e-9"),
        (
            "[[-2.5, 3.4], [1.6, 3.4], [2.6, 4.4], [2.6, 6.6], [-2.5, 6.6]]",
            "[[-2.5, 3.4], [2.6, 6.6], [2.6, 3.4], [-2.5, 6.6]]",
            "edges 1 and 3 cross at (0.05, 5)",
        ),
    ],
)
def test_messages_say_what_is_wrong(samples: Path, tmp_path: Path, old: str, new: str, text: str) -> None:
    for name in ("lab.yaml", "furniture.yaml", "things.yaml"):
        content = (samples / "lab" / name).read_text()
        assert name != "lab.yaml" or old in content
        (tmp_path / name).write_text(content.replace(old, new))
    reporter = Reporter()
    read_world(tmp_path / "lab.yaml", reporter=reporter)
    found = [item for item in reporter if text in item.message]
    assert found, [item.message for item in reporter]
    assert found[0].where.line


@pytest.mark.parametrize("text", ["", "# nothing\n\n", "null", "[]", "3"])
def test_empty_files_are_refused_with_a_line(tmp_path: Path, text: str) -> None:
    (tmp_path / "empty.yaml").write_text(text)
    with pytest.raises(SimwrightError) as raised:
        read_world(tmp_path / "empty.yaml")
    assert raised.value.where is not None
    assert raised.value.where.line == 1


def test_names_with_blanks_are_found(samples: Path, tmp_path: Path) -> None:
    for name in ("lab.yaml", "furniture.yaml", "things.yaml"):
        content = (samples / "lab" / name).read_text()
        content = content.replace("name: bench", 'name: "my bench"').replace(
            "parent: bench", 'parent: "my bench"'
        )
        (tmp_path / name).write_text(content.replace("relative_to: bench", 'relative_to: "my bench"'))
    world = read_world(tmp_path / "lab.yaml", strict=True)
    assert (
        sum(item.spawn is not None and item.spawn.location.name == "my bench" for item in world.objects) == 3
    )
    goals = find_goals(world, world.robots[0], "my bench")
    assert goals.poses
    assert list_places(world, world.robots[0], "workshop workbench")[0] == [world.find("my bench")]


def test_names_with_blanks_are_found_among_other_words(samples: Path, tmp_path: Path) -> None:
    changes = {"office": '"big office"', "bench": '"my bench"'}
    for name in ("lab.yaml", "furniture.yaml", "things.yaml"):
        content = (samples / "lab" / name).read_text()
        for old, new in changes.items() if name == "lab.yaml" else ():
            content = re.sub(
                rf"((?:name|parent|room_start|room_end|relative_to|location): ){old}\b", rf"\1{new}", content
            )
        if name == "lab.yaml":
            content = content.replace(
                "robots:", '  - {category: mug, parent: "big office desk"}\n\nrobots:', 1
            )
        (tmp_path / name).write_text(content)
    world = read_world(tmp_path / "lab.yaml", strict=True)
    robot = world.robots[0]
    assert world.objects[-1].room is world.find("big office")
    assert {place.name for place in list_places(world, robot, "big office desk")[0]} == {"desk0", "desk1"}
    assert list_places(world, robot, "workshop my bench")[0] == [world.find("my bench")]
    found = find_object(world, robot, "my bench gear")
    assert isinstance(found, WorldObject)
    assert found.spawn is not None
    assert found.spawn.location.name == "my bench"
