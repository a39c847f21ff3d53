"""A robot whose ROS side is wrong in many ways at once becomes right in one run, over several layers."""

from __future__ import annotations

from pathlib import Path

import pytest
from pxr import Usd

import simwright
from simwright.core.diag import Level
from simwright.sanitizer.result import FixResult

BODY = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    kilogramsPerUnit = 1
    timeCodesPerSecond = 1
    upAxis = "Z"
    subLayers = [@./ros.usda@]
)
def Xform "robot" (
    kind = "component"
    prepend apiSchemas = ["PhysicsArticulationRootAPI"]
    assetInfo = {
        string identifier = "robot"
        string version = "1.0.0"
    }
)
{
    def Xform "base_link" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        float physics:mass = 5
        float3 physics:diagonalInertia = (1, 1, 1)
        def Camera "camera"
        {
            double3 xformOp:translate = (0.2, 0, 0.1)
            quatd xformOp:orient = (0.5, 0.5, -0.5, -0.5)
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
        }
    }
    def Xform "arm"
    {
        def Xform "tool" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
        {
            float physics:mass = 1
            float3 physics:diagonalInertia = (0.1, 0.1, 0.1)
        }
    }
    def PhysicsRevoluteJoint "elbow"
    {
        rel physics:body0 = </robot/base_link>
        rel physics:body1 = </robot/arm/tool>
        uniform token physics:axis = "Z"
        float physics:lowerLimit = -90
        float physics:upperLimit = 90
    }
}
"""
ROS = """#usda 1.0
over "robot"
{
    over "base_link" (prepend apiSchemas = ["RosContextAPI", "RosTopicAPI"])
    {
        string ros:context:namespace = "robot"
        token ros:topic:role = "publisher"
        string ros:topic:name = "joint_states"
        string ros:topic:type = "sensor_msgs/msg/JointState"
        double ros:topic:publish_rate = 50
        over "camera" (prepend apiSchemas = ["RosTopicAPI"])
        {
            token ros:topic:role = "publisher"
            string ros:topic:name = "front camera/image"
            string ros:topic:type = "sensor_msgs/msg/Image"
            double ros:topic:publish_rate = 30
        }
        def Xform "info" (prepend apiSchemas = ["RosTopicAPI"])
        {
            token ros:topic:role = "publisher"
            string ros:topic:name = "camera_info"
            string ros:topic:type = "sensor_msgs/msg/CameraInfo"
            double ros:topic:publish_rate = 30
        }
        def Xform "tool" (prepend apiSchemas = ["RosFrameAPI"])
        {
        }
    }
    def Xform "time" (prepend apiSchemas = ["RosTopicAPI", "RosServiceAPI"])
    {
        token ros:topic:role = "publisher"
        string ros:topic:name = "/clock"
        string ros:topic:type = "rosgraph_msgs/msg/Clock"
        double ros:topic:publish_rate = 100
        token ros:service:role = "server"
        string ros:service:name = "reset"
        string ros:service:type = "std_srvs/srv/Empty"
    }
}
"""


@pytest.fixture(name="result", scope="module")
def fixture_result(tmp_path_factory: pytest.TempPathFactory) -> FixResult:
    folder = tmp_path_factory.mktemp("robot")
    (folder / "robot.usda").write_text(BODY)
    (folder / "ros.usda").write_text(ROS)
    return simwright.fix(folder / "robot.usda", folder / "out" / "robot", select=["2"], unsafe=True)


def test_no_error_of_the_ros_section_is_left(result: FixResult) -> None:
    wrong = [f for f in result.before if f.section.startswith("2") and f.level is Level.ERROR]
    left = [f for f in result.after if f.section.startswith("2") and f.level is not Level.INFO]
    assert len({finding.kind for finding in wrong}) >= 6
    assert not left
    assert result.proven
    assert not [note for note in result.notes if note.kind != "fix-newly-found"]


def test_everything_is_where_it_belongs(result: FixResult) -> None:
    stage = Usd.Stage.Open(result.entry)
    applied = {
        prim.GetPath().pathString: [api for api in prim.GetAppliedSchemas() if api.startswith("Ros")]
        for prim in stage.Traverse()
        if any(api.startswith("Ros") for api in prim.GetAppliedSchemas())
    }
    camera = "/robot/base_link/camera/camera_optical_frame"
    assert applied == {
        "/robot": ["RosContextAPI"],
        "/robot/Interfaces/joint_states": ["RosTopicAPI"],
        camera: ["RosFrameAPI", "RosTopicAPI"],
        f"{camera}/info": ["RosTopicAPI"],
        "/robot/base_link/tool": ["RosFrameAPI"],
        "/robot/time/reset": ["RosServiceAPI"],
        "/robot/arm/tool": ["RosFrameAPI"],
    }
    assert stage.GetPrimAtPath(camera).GetAttribute("ros:topic:name").Get() == "front_camera/image"


def test_the_ros_layer_still_holds_the_ros_side(result: FixResult) -> None:
    text = (Path(result.entry).parent / "ros.usda").read_text()
    assert "joint_states" in text
    assert "Ros" not in (Path(result.entry)).read_text()


def test_a_second_run_changes_nothing(result: FixResult, tmp_path: Path) -> None:
    again = simwright.fix(result.entry, tmp_path / "robot", select=["2"], unsafe=True)
    assert again.status == "unchanged"
