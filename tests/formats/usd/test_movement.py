"""Time samples of transforms: tracks of bodies and of what sits on them."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.formats.usd import time_samples

SPIN = """def Xform "R" { def Xform "b" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {
    double3 xformOp:translate.timeSamples = { 0: (0, 0, 0), 10: (%s, 0, 0)
    }
    uniform token[] xformOpOrder = ["xformOp:translate"]
    def Cube "c" { float xformOp:rotateZ.timeSamples = { 0: 0, 10: 90
        }
        uniform token[] xformOpOrder = ["xformOp:rotateZ"] } } }"""


def test_tracks(read):
    found = read(SPIN % 5, meters=0.1)
    motion = found.asset.motion
    assert motion is not None
    assert (len(motion.times), motion.times[0], motion.times[-1]) == (11, 0.0, pytest.approx(10 / 24))
    assert motion.bodies["b"].positions[-1] == pytest.approx([0.5, 0, 0])
    turn = motion.shapes["c"].rotations[-1]
    assert turn == pytest.approx([np.sqrt(0.5), 0, 0, np.sqrt(0.5)], abs=1e-6)
    assert motion.shapes["c"].positions == pytest.approx(np.zeros((11, 3)))


def test_nothing_moves(read):
    assert read('def Xform "R" { def Cube "c" {} }').asset.motion is None


def test_broken_places_have_no_track(read):
    found = read(SPIN % "inf")
    assert found.asset.motion is None or "b" not in found.asset.motion.bodies


def test_other_samples_are_reported(read):
    text = 'def Xform "R" { def Sphere "s" { double radius.timeSamples = { 0: 1, 5: 2 } } }'
    assert "usd-samples-static" in read(text).kinds


def test_too_many_samples_are_reported_and_left_out(read, monkeypatch):
    """The body and the cube on it, at eleven times: 22 placements."""
    monkeypatch.setattr(time_samples, "MAX_PLACEMENTS", 22)
    assert read(SPIN % 5).asset.motion is not None
    monkeypatch.setattr(time_samples, "MAX_PLACEMENTS", 21)
    found = read(SPIN % 5)
    assert found.asset.motion is None
    assert time_samples.MOVEMENT_LONG.code in found.kinds


def test_times_are_counted_from_where_the_stage_starts_to_play(read):
    whole = read(SPIN % 5, said="startTimeCode = -5\nendTimeCode = 10\ntimeCodesPerSecond = 50").asset.motion
    assert whole.times[0] == pytest.approx(5 / 50)
    assert whole.times[-1] == pytest.approx(15 / 50)
    later = read(SPIN % 5, said="startTimeCode = 4\nendTimeCode = 10\ntimeCodesPerSecond = 50").asset.motion
    assert later.times[0] == 0.0


def test_samples_between_frames_and_whole_frames_are_times(read):
    text = SPIN.replace("10: (%s, 0, 0)", "2.5: (%s, 0, 0)").replace("10: 90", "4: 90") % 5
    motion = read(text, said="timeCodesPerSecond = 1").asset.motion
    assert motion.times.tolist() == [0.0, 1.0, 2.0, 2.5, 3.0, 4.0]
