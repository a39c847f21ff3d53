# SPDX-License-Identifier: Apache-2.0
"""``initial_joint_q``: by index, by joint, by offset."""

import math

import pytest

from simwright.core.diag import Reporter
from simwright.scenes.builder import Builder
from simwright.scenes.document import parse_scene
from simwright.scenes.load import build_world
from simwright.scenes.messages import SceneError
from simwright.scenes.sources import SourceFinder

BASE = """
bodies: [{id: a, shapes: [{}]}, {id: b, shapes: [{}]}]
joints:
  - {id: f, label: robot/base, type: free, child: a}
  - {id: h, label: robot/hinge, type: revolute, parent: a, child: b}
articulations: [{joints: [f, h]}]
initial_joint_q:
"""


def positions(*entries):
    text = BASE + "".join(f"  - {entry}\n" for entry in entries)
    file = parse_scene(text, name="s.yaml")
    builder = Builder()
    build_world(builder, file, SourceFinder(file), Reporter())
    assert builder.joint_q_edited
    return builder.joint_q


@pytest.mark.parametrize(
    ("entry", "index"),
    [
        ("{index: 7, value: pi / 2}", 7),
        ("{index: -1, value: pi / 2}", 7),
        ("{joint: h, value: pi / 2}", 7),
        ("{joint_label: robot/hinge, value: pi / 2}", 7),
        ("{joint: hinge, value: pi / 2}", 7),
        ("{joint: 1, value: pi / 2}", 7),
        ("{joint: f, offset: 2, value: pi / 2}", 2),
        ("{joint: base, value: pi / 2}", 0),
    ],
)
def test_ways_to_name_an_entry(entry, index):
    assert positions(entry)[index] == pytest.approx(math.pi / 2)


@pytest.mark.parametrize(
    ("entry", "message", "column"),
    [
        ("{index: 8, value: 1}", "index 8 is not in joint_q, which has 8 entries", 13),
        ("{joint: h, offset: 1, value: 1}", "offset 1 is beyond joint 'h', which has 1 positions", 24),
        ("{joint: elbow, value: 1}", "there is no 'elbow'", 13),
        ("{joint: hinges, value: 1}", "did you mean 'hinge'?", 13),
    ],
)
def test_entries_that_are_not_there(entry, message, column):
    with pytest.raises(SceneError) as caught:
        positions(entry)
    assert message in caught.value.message
    assert (caught.value.where.line, caught.value.where.column) == (8, column)
