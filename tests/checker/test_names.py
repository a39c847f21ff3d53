"""ROS names as a simulator resolves them: namespaces, interfaces, TF frames."""

from __future__ import annotations

import pytest
from pxr import Usd

from simwright.checker.facts.names import effective_namespace, nearest_frame
from simwright.checker.facts.snapshot import StageSnapshot

STAGE = """#usda 1.0
(
    defaultPrim = "robot"
)
def Xform "robot" (
    prepend apiSchemas = ["RosContextAPI"]
)
{
    string ros:context:namespace = "robot_1"
    def Xform "base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI"]
    )
    {
        def Xform "camera" (
            prepend apiSchemas = ["RosContextAPI"]
        )
        {
            string ros:context:namespace = "left_camera"
            def Xform "optical" (
                prepend apiSchemas = ["RosFrameAPI", "RosTopicAPI"]
            )
            {
                string ros:frame:id = "left_optical"
                string ros:topic:name = "image_raw"
                string ros:topic:type = "sensor_msgs/msg/Image"
                token ros:topic:role = "publisher"
            }
        }
        def Xform "quiet" (
            prepend apiSchemas = ["RosContextAPI"]
        )
        {
            string ros:context:namespace = ""
        }
        def Xform "reset" (
            prepend apiSchemas = ["RosContextAPI"]
        )
        {
            string ros:context:namespace = "/shared"
            def Scope "io" (
                prepend apiSchemas = ["RosServiceAPI"]
            )
            {
                string ros:service:name = "/absolute"
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
    def Xform "loose_part" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI"]
    )
    {
    }
}
def Xform "prop" (
    prepend apiSchemas = ["PhysicsRigidBodyAPI"]
)
{
}
"""


@pytest.fixture
def snapshot():
    stage = Usd.Stage.CreateInMemory()
    assert stage.GetRootLayer().ImportFromString(STAGE)
    return StageSnapshot(stage)


@pytest.mark.parametrize(
    ("path", "namespace"),
    [
        ("/robot", "/robot_1"),
        ("/robot/base", "/robot_1"),
        ("/robot/base/camera/optical", "/robot_1/left_camera"),
        ("/robot/base/quiet", "/robot_1"),
        ("/robot/base/reset/io", "/shared"),
        ("/prop", ""),
    ],
)
def test_namespaces_join_from_the_top(snapshot, path, namespace):
    assert effective_namespace(snapshot.node(path)) == namespace


def test_interface_names(snapshot):
    resolved = {i.node.name: i.resolved for i in snapshot.names.interfaces}
    assert resolved == {"optical": "/robot_1/left_camera/image_raw", "io": "/absolute"}


def test_frames_are_contexts_jointed_bodies_and_explicit_ones(snapshot):
    frames = {frame.node.path: (frame.id, frame.explicit) for frame in snapshot.names.frames}
    assert frames["/robot"] == ("robot", False)
    assert frames["/robot/base"] == ("base", False)
    assert frames["/robot/arm"] == ("arm", False)
    assert frames["/robot/base/camera/optical"] == ("left_optical", True)
    assert "/prop" not in frames
    assert "/robot/loose_part" not in frames
    assert "/robot/base/reset/io" not in frames


def test_data_is_in_the_nearest_frame(snapshot):
    optical = snapshot.node("/robot/base/camera/optical")
    assert nearest_frame(optical, snapshot.names).id == "left_optical"
    assert nearest_frame(snapshot.node("/prop"), snapshot.names) is None


def test_only_the_top_context_is_outermost(snapshot):
    assert [node.path for node in snapshot.names.outermost] == ["/robot"]
