# SPDX-License-Identifier: Apache-2.0
"""Control sequences are read, held between rows, looped or clamped, and tiled over worlds."""

import json

import pytest

from simwright.core.documents.validate import InvalidDocumentError
from simwright.core.errors import NotFoundError
from simwright.scenes.control import load_control, read_control
from simwright.scenes.document import parse_scene
from simwright.scenes.messages import SceneError


def write(tmp_path, **content):
    file = tmp_path / "c.json"
    file.write_text(json.dumps({"schema_version": 1, **content}))
    return file


ROWS = [[0.0, 1.0], [2.0, 3.0], [4.0, 5.0]]


def test_rows_hold_until_the_next(tmp_path):
    sequence = read_control(write(tmp_path, joint_target_pos={"values": ROWS, "dt": 0.1}))
    rows = [sequence.targets.find_row(time) for time in (-1, 0, 0.05, 0.1, 0.19, 0.2, 0.3, 99)]
    assert rows == [0, 0, 0, 1, 1, 2, 2, 2]
    assert sequence.sample(0.15).tolist() == [2, 3]


def test_every_step_of_an_inexact_dt_is_its_own_row(tmp_path):
    rows = [[float(n)] for n in range(1000)]
    sequence = read_control(write(tmp_path, joint_target_pos={"values": rows, "dt": 0.1}))
    assert [sequence.targets.find_row(n * 0.1) for n in range(1000)] == list(range(1000))


def test_loops(tmp_path):
    sequence = read_control(write(tmp_path, joint_target_pos={"values": ROWS, "dt": 0.25}), loop=True)
    assert [sequence.targets.find_row(time) for time in (0.5, 0.75, 1.0, 1.5, 75.0)] == [2, 0, 1, 0, 0]


def test_times(tmp_path):
    file = write(tmp_path, joint_target_pos={"values": ROWS, "times": [0.0, 1.0, 1.5]})
    sequence = read_control(file)
    assert [sequence.targets.find_row(time) for time in (0.99, 1.0, 1.49, 1.5, 10)] == [0, 1, 1, 2, 2]
    looped = read_control(file, loop=True)
    assert looped.targets.period == 2.0
    assert [looped.targets.find_row(time) for time in (1.9, 2.0, 3.0)] == [2, 0, 1]


def test_rows_are_tiled_over_worlds(tmp_path):
    sequence = read_control(write(tmp_path, joint_target_pos={"values": ROWS, "dt": 1}))
    assert sequence.sample(1.0, 6).tolist() == [2, 3, 2, 3, 2, 3]
    assert sequence.sample(1.0, 2).tolist() == [2, 3]
    for width in (5, 1):
        with pytest.raises(SceneError, match="do not go into"):
            sequence.sample(0, width)


def test_raw_controls_by_name(tmp_path):
    sequence = read_control(write(tmp_path, controls={"values": ROWS, "dt": 0.5, "names": ["a", "b"]}))
    assert sequence.targets is None
    assert sequence.controls.names == ("a", "b")
    assert sequence.controls.sample(0.6).tolist() == [2, 3]
    assert sequence.find_rows(0.6) == (-1, 1)


def test_an_initial_state(tmp_path):
    base = [1.0, 2, 3, 0, 0, 0, 1, 0.5]
    file = write(
        tmp_path,
        joint_target_pos={"values": ROWS, "dt": 1},
        joint_q={"values": [base, [0.0] * 8]},
        joint_qd={"values": [[0.25] * 7]},
    )
    q, qd = read_control(file).make_initial(16, 14, [[-1, 0, 0], [1, 0, 0]])
    assert q.tolist() == [0, *base[1:], 2, *base[1:]]
    assert qd.tolist() == [0.25] * 14
    q, _ = read_control(file).make_initial(8, 7, [[5, 5, 5]])
    assert q.tolist() == base
    nothing = read_control(write(tmp_path, joint_target_pos={"values": ROWS, "dt": 1}))
    assert nothing.make_initial(16, 14) == (None, None)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ({}, "one of 'joint_target_pos' and 'controls'"),
        ({"controls": {"values": ROWS, "dt": 1, "names": ["a"]}}, "1 names for rows of 2 values"),
        ({"joint_target_pos": {"values": ROWS}}, "one of 'dt' and 'times'"),
        ({"joint_target_pos": {"values": ROWS, "dt": 1, "times": [1, 2, 3]}}, "one of 'dt' and 'times'"),
        ({"joint_target_pos": {"values": ROWS, "dt": 0}}, "greater than 0"),
        ({"joint_target_pos": {"values": ROWS, "times": [0, 1]}}, "2 times for 3 rows"),
        ({"joint_target_pos": {"values": ROWS, "times": [0, 2, 1]}}, "times have to rise"),
        ({"joint_target_pos": {"values": [[1], [1, 2]], "dt": 1}}, "equally wide, not 1, 2"),
        ({"joint_target_pos": {"values": [], "dt": 1}}, "at least 1 item"),
        ({"joint_target_pos": {"values": [[]], "dt": 1}}, "equally wide"),
        ({"joint_target_pos": {"values": [1], "dt": 1}}, "valid list"),
        ({"joint_target_pos": {"values": ROWS, "dt": 1, "rate": 3}}, "unknown key 'rate'"),
        ({"schema_version": 2, "joint_target_pos": {"values": ROWS, "dt": 1}}, "schema_version"),
    ],
)
def test_wrong_files(tmp_path, content, message):
    with pytest.raises(InvalidDocumentError) as caught:
        read_control(write(tmp_path, **content))
    assert message in str(caught.value)
    assert caught.value.where.file.endswith("c.json")


def test_a_scene_names_its_control(tmp_path):
    write(tmp_path, joint_target_pos={"values": ROWS, "dt": 1})
    sequence = load_control(parse_scene("control: {source: c.json, loop: true}", folder=tmp_path))
    assert sequence.loop
    assert load_control(parse_scene("name: a")) is None
    with pytest.raises(NotFoundError) as caught:
        load_control(parse_scene("control: {source: d.json}", folder=tmp_path, name="s.yaml"))
    assert str(caught.value.where) == "s.yaml:1:19"
    assert "c.json" in caught.value.hint
