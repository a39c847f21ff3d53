# SPDX-License-Identifier: Apache-2.0
"""What is left out because no layer mentions it must not change what rules read."""

from __future__ import annotations

import gc
from collections.abc import Callable

import pytest
from pxr import Usd, UsdGeom

from simwright.checker.facts.attributes import read_number
from simwright.checker.facts.meshes import MeshCache
from simwright.checker.facts.owners import find_owners
from simwright.checker.facts.snapshot import PrimNode, StageSnapshot
from simwright.core.collector import pause_collector

LOWER = "physics:lowerLimit"


def make_joint() -> Usd.Stage:
    stage = Usd.Stage.CreateInMemory()
    stage.DefinePrim("/joint", "PhysicsRevoluteJoint")
    return stage


def look_at(stage: Usd.Stage, path: str = "/joint") -> PrimNode:
    snapshot = StageSnapshot(stage)
    assert snapshot.layers
    node = snapshot.node(path)
    assert node is not None
    return node


def test_fallback_is_a_value_but_not_authored() -> None:
    stage = make_joint()
    node = look_at(stage)
    assert not node.may_say(LOWER)
    assert node.value(LOWER) == -float("inf")
    assert node.authored(LOWER) is None
    assert node.value("physics:nonsense") is None


def test_fallback_that_is_written_down_is_authored() -> None:
    stage = make_joint()
    stage.GetPrimAtPath("/joint").GetAttribute(LOWER).Set(-float("inf"))
    assert look_at(stage).authored(LOWER) == -float("inf")


def test_authored_on_one_prim_is_not_authored_on_the_next() -> None:
    stage = make_joint()
    stage.DefinePrim("/other", "PhysicsRevoluteJoint").GetAttribute(LOWER).Set(3.0)
    node = look_at(stage)
    assert node.may_say(LOWER)
    assert node.authored(LOWER) is None
    assert node.value(LOWER) == -float("inf")


def test_blocked_value_is_not_authored() -> None:
    stage = make_joint()
    stage.GetPrimAtPath("/joint").GetAttribute(LOWER).Block()
    node = look_at(stage)
    assert node.authored(LOWER) is None
    assert read_number(node, LOWER) is None


def test_session_layer_counts() -> None:
    stage = make_joint()
    with Usd.EditContext(stage, stage.GetSessionLayer()):
        stage.GetPrimAtPath("/joint").GetAttribute(LOWER).Set(-5.0)
    node = look_at(stage)
    assert node.authored(LOWER) == -5.0
    assert not StageSnapshot(stage).is_plain


def test_value_clips_may_say_anything() -> None:
    stage = make_joint()
    Usd.ClipsAPI(stage.GetPrimAtPath("/joint")).SetClipPrimPath("/joint")
    assert look_at(stage).may_say("physics:breakForce")


def test_collector_is_as_before_also_after_an_error() -> None:
    def fail() -> None:
        with pause_collector():
            assert not gc.isenabled()
            raise ValueError("stop")

    assert gc.isenabled()
    with pytest.raises(ValueError, match="stop"):
        fail()
    assert gc.isenabled()
    gc.disable()
    try:
        with pause_collector():
            pass
        assert not gc.isenabled()
    finally:
        gc.enable()


def mesh(points: object, counts: object, indices: object) -> Callable[[str], object]:
    return {"points": points, "faceVertexCounts": counts, "faceVertexIndices": indices}.get


def test_meshes_with_one_sketch_are_told_apart() -> None:
    book = MeshCache()
    counts, indices = [3, 3], [0, 1, 2, 2, 3, 4]
    points = [[0, 0, 0], [1, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]]
    other = [[0, 0, 0], [2, 0, 0], [1, 1, 0], [0, 1, 0], [0, 0, 1]]
    first, second, third, fourth = (
        book.facts(mesh(p, counts, indices)) for p in (points, other, points, other)
    )
    assert first is third
    assert second is fourth
    assert first is not second
    assert book.facts(mesh(points, counts, indices[::-1])) is not first


def test_owners_keep_their_name_unless_an_arc_leads_to_them() -> None:
    stage = Usd.Stage.CreateInMemory()
    shape = UsdGeom.Cube.Define(stage, "/library/shape")
    UsdGeom.Xform.Define(stage, "/robot")
    path = shape.GetPath().AppendProperty("size")
    plain = StageSnapshot(stage)
    owners = find_owners([path], plain)
    assert owners.names == {"shape"}
    assert not owners.anywhere
    stage.DefinePrim("/robot/part").GetReferences().AddInternalReference("/library/shape")
    again = StageSnapshot(stage)
    part = again.node("/robot/part")
    assert part is not None
    assert find_owners([path], again).may_be(part)
