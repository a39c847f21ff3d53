"""ROS contexts, interfaces, frames and controllers."""

from __future__ import annotations

import math

import numpy as np

from simwright.model.ros import InterfaceKind, Qos

ROBOT = """
def Xform "R" ( prepend apiSchemas = ["RosContextAPI"] ) {
    string ros:context:namespace = "robot_1"
    int ros:context:domain_id = 7
    def Xform "base" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
        float physics:mass = 1
        float3 physics:diagonalInertia = (1, 1, 1)
        def Xform "optical" ( prepend apiSchemas = ["RosFrameAPI"] ) {
            string ros:frame:id = "camera_optical"
            bool ros:frame:static = false
            double xformOp:rotateX = 180
            double3 xformOp:translate = (0, 0, 1)
            uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:rotateX"]
            def Xform "image" ( prepend apiSchemas = ["RosTopicAPI"] ) {
                token ros:topic:role = "publisher"
                string ros:topic:name = "image_raw"
                string ros:topic:type = "sensor_msgs/msg/Image"
                double ros:topic:publish_rate = 30
                string ros:topic:override_frame_id = "map"
                bool ros:topic:starts_enabled = false
                token ros:topic:qos:reliability = "best_effort"
                int ros:topic:qos:depth = 3
            }
        }
        def Sphere "marker" ( prepend apiSchemas = ["MjcSiteAPI"] ) { double radius = 0.1 }
    }
    def Xform "wheel" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) {
        float physics:mass = 1
        float3 physics:diagonalInertia = (1, 1, 1)
    }
    def PhysicsRevoluteJoint "left" {
        rel physics:body0 = </R/base>
        rel physics:body1 = </R/wheel>
    }
    def Scope "Interfaces" {
        def Scope "cmd" ( prepend apiSchemas = ["RosTopicAPI"] ) {
            token ros:topic:role = "subscription"
            string ros:topic:name = "cmd_vel"
            string ros:topic:type = "geometry_msgs/msg/Twist"
        }
        def Scope "light" ( prepend apiSchemas = ["RosServiceAPI"] ) {
            token ros:service:role = "server"
            string ros:service:name = "blink"
            string ros:service:type = "std_srvs/srv/SetBool"
        }
        def Scope "move" ( prepend apiSchemas = ["RosActionAPI"] ) {
            token ros:action:role = "boss"
            string ros:action:name = "move"
        }
        def Scope "drive" ( prepend apiSchemas = ["RosControlDiffDriveAPI"] ) {
            rel ros:diff_drive:subscriber = </R/Interfaces/cmd>
            rel ros:diff_drive:left_wheels = </R/left>
            rel ros:diff_drive:right_wheels = </R/gone>
            double ros:diff_drive:wheel_radius = 0.2
            double ros:diff_drive:linear:x:max_velocity = 2
        }
        def Scope "outside" ( prepend apiSchemas = ["RosControlExternalAPI"] ) {}
    }
}"""


def test_context_and_interfaces(read):
    found = read(ROBOT)
    (context,) = found.asset.contexts
    assert (context.namespace, context.domain_id, context.parent_frame) == ("robot_1", 7, "world")
    assert context.at == found.asset.name == "R"
    image, cmd, blink = found.asset.interfaces
    assert (image.kind, image.role, image.name) == (InterfaceKind.TOPIC, "publisher", "image_raw")
    assert (image.type, image.rate, image.frame_override) == ("sensor_msgs/msg/Image", 30.0, "map")
    assert not image.starts_enabled
    assert image.qos == Qos(reliability="best_effort", depth=3)
    assert image.at == "optical"
    assert (cmd.role, cmd.at, cmd.rate) == ("subscription", "", None)
    assert (blink.kind, blink.role) == (InterfaceKind.SERVICE, "server")
    assert found.kinds == {"usd-ros-role", "usd-controller-target"}


def test_frames_and_sites(read):
    optical, marker = read(ROBOT).asset.sites
    assert (optical.body, optical.ros_frame, optical.static) == ("base", "camera_optical", False)
    np.testing.assert_allclose(optical.pose.p, (0, 0, 1))
    np.testing.assert_allclose(optical.pose.rotation @ (0, 0, 1), (0, 0, -1), atol=1e-12)
    assert (marker.name, marker.ros_frame) == ("marker", None)
    assert math.isclose(marker.geometry.radius, 0.1)


def test_site_geometry_is_no_shape(read):
    assert read(ROBOT).asset.shapes == []


def test_controllers(read):
    drive, outside = read(ROBOT).asset.controllers
    assert (drive.name, drive.kind) == ("drive", "diff_drive")
    assert drive.joints == {"left": ["left"]}
    assert drive.interfaces == {"subscriber": "cmd_vel"}
    assert drive.settings["wheel_radius"] == 0.2
    assert drive.settings["linear.x.max_velocity"] == 2.0
    assert drive.settings["cmd_vel_timeout"] == 0.5
    assert (outside.name, outside.kind, outside.settings) == ("outside", "external", {})
