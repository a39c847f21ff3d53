"""Names through instances: one place per instance, each with its own namespace."""

from __future__ import annotations

from simwright.checker.facts.interfaces import find_types
from simwright.checker.facts.names import (
    effective_namespace,
    find_places,
    is_frame_id,
    nearest_frame,
    outermost_context,
)
from simwright.checker.facts.snapshot import StageSnapshot
from simwright.checker.settings import CheckSettings
from simwright.usd.open import open_stage

_PART = """#usda 1.0
(
    defaultPrim = "cam"
)
def Xform "cam" (
    prepend apiSchemas = ["RosContextAPI"]
)
{
    string ros:context:namespace = "cam"
    def Xform "image" (
        prepend apiSchemas = ["RosTopicAPI"]
    )
    {
        token ros:topic:role = "publisher"
        string ros:topic:name = "raw"
    }
}
"""

_PAIR = """#usda 1.0
(
    defaultPrim = "pair"
)
def Xform "pair"
{
    def Xform "left" (
        prepend references = @./part.usda@
        prepend apiSchemas = ["RosContextAPI"]
        instanceable = true
    )
    {
        string ros:context:namespace = "left"
    }
    def Xform "right" (
        prepend references = @./part.usda@
        instanceable = true
    )
    {
    }
}
"""

_ROBOT = """#usda 1.0
(
    defaultPrim = "robot"
)
def Xform "robot" (
    prepend apiSchemas = ["RosContextAPI"]
)
{
    string ros:context:namespace = "r1"
    def Xform "front" (
        prepend references = @./pair.usda@
        prepend apiSchemas = ["RosContextAPI"]
        instanceable = true
    )
    {
        string ros:context:namespace = "front"
    }
    def Xform "back" (
        prepend references = @./pair.usda@
        prepend apiSchemas = ["RosContextAPI"]
        instanceable = true
    )
    {
        string ros:context:namespace = "/back"
    }
}
"""


def _open(tmp_path, settings=None):
    for name, text in (("part", _PART), ("pair", _PAIR), ("robot", _ROBOT)):
        (tmp_path / f"{name}.usda").write_text(text)
    return StageSnapshot(open_stage(tmp_path / "robot.usda"), settings)


def test_every_instance_has_its_own_names(tmp_path):
    names = _open(tmp_path).names
    assert {(i.path, i.resolved) for i in names.everywhere} == {
        ("/robot/front/left/image", "/r1/front/left/raw"),
        ("/robot/front/right/image", "/r1/front/cam/raw"),
        ("/robot/back/left/image", "/back/left/raw"),
        ("/robot/back/right/image", "/back/cam/raw"),
    }
    assert len(names.interfaces) == len({i.node.path for i in names.interfaces}) == 1


def test_contexts_in_prototypes_know_what_is_above(tmp_path):
    snapshot = _open(tmp_path)
    outermost = [c.path for c in snapshot.names.contexts if c.above is None]
    assert outermost == ["/robot"]
    image = snapshot.names.interfaces[0].node
    assert outermost_context(image).path == "/robot"
    assert effective_namespace(image) == "/r1/front/left"
    assert len(find_places(image)) == 4


def test_types_come_from_settings(tmp_path):
    (tmp_path / "acme_msgs/msg").mkdir(parents=True)
    (tmp_path / "acme_msgs/msg/Widget.msg").write_text("int32 a\n")
    snapshot = _open(tmp_path, CheckSettings(interfaces=(tmp_path,)))
    assert find_types(snapshot).knows("acme_msgs/msg/Widget")


def test_frame_ids():
    assert is_frame_id("base_link")
    assert is_frame_id("r1/base_link")
    assert not any(is_frame_id(text) for text in ("", "/world", "a//b", "a b", "a/"))


_CHAIN = """#usda 1.0
(
    defaultPrim = "robot"
)
def Xform "robot" (
    prepend apiSchemas = ["RosContextAPI"]
)
{
    string ros:context:namespace = "r1"
    def Xform "base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI"]
    )
    {
        def Xform "empty" (
            prepend apiSchemas = ["RosContextAPI"]
        )
        {
            string ros:context:namespace = ""
            def Xform "scan" (
                prepend apiSchemas = ["RosTopicAPI"]
            )
            {
                string ros:topic:name = "scan"
            }
        }
    }
    def Xform "arm" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI"]
    )
    {
    }
    def PhysicsRevoluteJoint "joint"
    {
        rel physics:body0 = </robot/base>
        rel physics:body1 = </robot/arm>
    }
}
def Xform "crate" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI"]
)
{
}
"""


def test_segments_join_from_the_top_and_empty_ones_add_nothing(tmp_path):
    (tmp_path / "chain.usda").write_text(_CHAIN)
    names = StageSnapshot(open_stage(tmp_path / "chain.usda")).names
    assert [i.resolved for i in names.interfaces] == ["/r1/scan"]


def test_frames_are_contexts_and_joined_bodies_not_props_nor_interfaces(tmp_path):
    (tmp_path / "chain.usda").write_text(_CHAIN)
    snapshot = StageSnapshot(open_stage(tmp_path / "chain.usda"))
    names = snapshot.names
    assert set(names.frame_of) == {"/robot", "/robot/base", "/robot/base/empty", "/robot/arm"}
    assert nearest_frame(snapshot.node("/robot/base/empty/scan"), names).id == "empty"
