"""A small robot for ROS in OpenUSD, written as text: what tests of the graph and of the bridge share."""

from __future__ import annotations

from pathlib import Path

HEAD = """#usda 1.0
(
    defaultPrim = "{root}"
    metersPerUnit = 1
    kilogramsPerUnit = 1
    upAxis = "Z"
)
"""
ARM = """
def Xform "{name}" (
    prepend apiSchemas = ["RosContextAPI"]{more}
)
{{
    uniform string ros:context:namespace = "{namespace}"
    {context}
    double3 xformOp:translate = ({x}, 0, 0.5)
    uniform token[] xformOpOrder = ["xformOp:translate"]

    def Xform "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI", "PhysicsArticulationRootAPI"])
    {{
        float physics:mass = 5
        float3 physics:diagonalInertia = (0.1, 0.1, 0.1)

        def Xform "camera_mount" (prepend apiSchemas = ["RosContextAPI"])
        {{
            uniform string ros:context:namespace = "camera"
            double3 xformOp:translate = (0.1, 0, 0.2)
            uniform token[] xformOpOrder = ["xformOp:translate"]

            def Xform "optical" (prepend apiSchemas = ["RosFrameAPI"])
            {{
                uniform string ros:frame:id = "camera_optical"

                def Xform "info" (prepend apiSchemas = ["RosTopicAPI"])
                {{
                    uniform token ros:topic:role = "publisher"
                    uniform string ros:topic:name = "imu"
                    uniform string ros:topic:type = "sensor_msgs/msg/Imu"
                    uniform double ros:topic:publish_rate = 100
                    {imu}
                }}
            }}
        }}
    }}

    def Xform "link" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        float physics:mass = 1
        float3 physics:diagonalInertia = (0.01, 0.01, 0.01)
        float3 physics:centerOfMass = (0.1, 0, 0)
        double3 xformOp:translate = (0, 0, 0.3)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}

    def Xform "tool" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        float physics:mass = 0.2
        float3 physics:diagonalInertia = (0.001, 0.001, 0.001)
        double3 xformOp:translate = (0.2, 0, 0.3)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}

    def Scope "Joints"
    {{
        def PhysicsFixedJoint "anchor"
        {{
            rel physics:body1 = </{name}/base>
            point3f physics:localPos0 = ({x}, 0, 0.5)
        }}

        def PhysicsRevoluteJoint "hinge" (prepend apiSchemas = ["PhysicsDriveAPI:angular"])
        {{
            rel physics:body0 = </{name}/base>
            rel physics:body1 = </{name}/link>
            point3f physics:localPos0 = (0, 0, 0.3)
            uniform token physics:axis = "Z"
            float physics:lowerLimit = -90
            float physics:upperLimit = 90
            float drive:angular:physics:stiffness = 10
            float drive:angular:physics:damping = 0.5
            custom string ros:joint:name = "elbow"
        }}

        def PhysicsFixedJoint "flange"
        {{
            rel physics:body0 = </{name}/link>
            rel physics:body1 = </{name}/tool>
            point3f physics:localPos0 = (0.2, 0, 0)
        }}
    }}

    def Scope "Interfaces"
    {{
        def Scope "states" (prepend apiSchemas = ["RosTopicAPI"])
        {{
            uniform token ros:topic:role = "publisher"
            uniform string ros:topic:name = "joint_states"
            uniform string ros:topic:type = "sensor_msgs/msg/JointState"
            uniform double ros:topic:publish_rate = 50
        }}

        def Scope "follow" (prepend apiSchemas = ["RosActionAPI"])
        {{
            uniform token ros:action:role = "server"
            uniform string ros:action:name = "follow"
            uniform string ros:action:type = "control_msgs/action/FollowJointTrajectory"
        }}
{interfaces}
    }}

    def Scope "Controllers"
    {{
        def Scope "trajectory" (prepend apiSchemas = ["RosControlJointTrajectoryAPI"])
        {{
            rel ros:joint_trajectory:server = </{name}/Interfaces/follow>
            rel ros:joint_trajectory:command_joints = </{name}/Joints/hinge>
        }}
    }}
{extra}
}}
"""


def make_arm(
    name: str = "arm",
    namespace: str = "arm",
    *,
    x: float = 0.0,
    context: str = "",
    imu: str = "",
    interfaces: str = "",
    extra: str = "",
    more: str = "",
) -> str:
    """The prim of an arm: base, movable link and tool, a camera with a namespace of its own, a trajectory action."""
    return ARM.format(
        name=name,
        namespace=namespace,
        x=x,
        context=context,
        imu=imu,
        interfaces=interfaces,
        extra=extra,
        more=more,
    )


def make_topic(name: str, topic: str, kind: str, *, role: str = "publisher", more: str = "") -> str:
    """The prim of a topic."""
    return f"""
        def Scope "{name}" (prepend apiSchemas = ["RosTopicAPI"])
        {{
            uniform token ros:topic:role = "{role}"
            uniform string ros:topic:name = "{topic}"
            uniform string ros:topic:type = "{kind}"
            uniform double ros:topic:publish_rate = 10
            {more}
        }}
"""


def write_stage(folder: Path, *prims: str, root: str = "arm") -> Path:
    """A stage with those root prims."""
    file = folder / f"{root}.usda"
    file.write_text(HEAD.format(root=root) + "".join(prims))
    return file


ROOM = """
def Xform "room"
{
    def Cube "floor" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double size = 1
        double3 xformOp:translate = (0, 0, -0.05)
        double3 xformOp:scale = (10, 10, 0.1)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    }

    def Cube "wall" (prepend apiSchemas = ["PhysicsCollisionAPI"])
    {
        double size = 1
        double3 xformOp:translate = (2, 0, 2)
        double3 xformOp:scale = (0.2, 8, 4)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]
    }
}
"""
PROBE = """
def Xform "probe" (prepend apiSchemas = ["RosContextAPI"])
{
    uniform string ros:context:namespace = "probe"

    def Xform "head" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        float physics:mass = 1
        float3 physics:diagonalInertia = (0.1, 0.1, 0.1)
        double3 xformOp:translate = (0, 0, 1)
        uniform token[] xformOpOrder = ["xformOp:translate"]

        def Scope "range" (prepend apiSchemas = ["RosTopicAPI"])
        {
            uniform token ros:topic:role = "publisher"
            uniform string ros:topic:name = "range"
            uniform string ros:topic:type = "sensor_msgs/msg/Range"
            uniform double ros:topic:publish_rate = 20
        }

        def Scope "points" (prepend apiSchemas = ["RosTopicAPI"])
        {
            uniform token ros:topic:role = "publisher"
            uniform string ros:topic:name = "points"
            uniform string ros:topic:type = "sensor_msgs/msg/PointCloud2"
            uniform double ros:topic:publish_rate = 10
        }

        def Camera "camera"
        {
            float focalLength = 20
            float horizontalAperture = 32
            float verticalAperture = 24
            quatd xformOp:orient = (0.5, 0.5, -0.5, -0.5)
            uniform token[] xformOpOrder = ["xformOp:orient"]

            def Xform "optical" (prepend apiSchemas = ["RosFrameAPI"])
            {
                uniform string ros:frame:id = "camera_optical"
                quatd xformOp:orient = (0, 1, 0, 0)
                uniform token[] xformOpOrder = ["xformOp:orient"]

                def Scope "image" (prepend apiSchemas = ["RosTopicAPI"])
                {
                    uniform token ros:topic:role = "publisher"
                    uniform string ros:topic:name = "image"
                    uniform string ros:topic:type = "sensor_msgs/msg/Image"
                    uniform double ros:topic:publish_rate = 5
                }

                def Scope "depth" (prepend apiSchemas = ["RosTopicAPI"])
                {
                    uniform token ros:topic:role = "publisher"
                    uniform string ros:topic:name = "depth"
                    uniform string ros:topic:type = "sensor_msgs/msg/Image"
                    uniform double ros:topic:publish_rate = 5
                }

                def Scope "info" (prepend apiSchemas = ["RosTopicAPI"])
                {
                    uniform token ros:topic:role = "publisher"
                    uniform string ros:topic:name = "camera_info"
                    uniform string ros:topic:type = "sensor_msgs/msg/CameraInfo"
                    uniform double ros:topic:publish_rate = 5
                }
            }
        }
    }

    def PhysicsFixedJoint "anchor"
    {
        rel physics:body1 = </probe/head>
        point3f physics:localPos0 = (0, 0, 1)
    }
}
"""
DRONE = """
def Xform "drone" (prepend apiSchemas = ["RosContextAPI"])
{
    uniform string ros:context:namespace = "drone"
    int ros:context:domain_id = 5

    def Xform "base_link" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        float physics:mass = 1
        float3 physics:diagonalInertia = (0.1, 0.1, 0.1)
        double3 xformOp:translate = (-3, 0, 1)
        uniform token[] xformOpOrder = ["xformOp:translate"]

        def Scope "odom" (prepend apiSchemas = ["RosTopicAPI"])
        {
            uniform token ros:topic:role = "publisher"
            uniform string ros:topic:name = "odom"
            uniform string ros:topic:type = "nav_msgs/msg/Odometry"
            uniform double ros:topic:publish_rate = 50
        }
    }

    def Scope "cmd_vel" (prepend apiSchemas = ["RosTopicAPI"])
    {
        uniform token ros:topic:role = "subscription"
        uniform string ros:topic:name = "cmd_vel"
        uniform string ros:topic:type = "geometry_msgs/msg/Twist"
    }

    def Scope "mover" (prepend apiSchemas = ["RosControlRigidBodyTwistAPI"])
    {
        rel ros:rigid_body_twist:subscriber = </drone/cmd_vel>
        rel ros:rigid_body_twist:body = </drone/base_link>
    }
}

def Xform "ball" (prepend apiSchemas = ["RosContextAPI"])
{
    uniform string ros:context:namespace = "ball"

    def Xform "body" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        float physics:mass = 1
        float3 physics:diagonalInertia = (0.004, 0.004, 0.004)
        double3 xformOp:translate = (0, 3, 0.6)
        uniform token[] xformOpOrder = ["xformOp:translate"]

        def Sphere "shell" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {
            double radius = 0.1
        }

        def Scope "contact" (prepend apiSchemas = ["RosTopicAPI"])
        {
            uniform token ros:topic:role = "publisher"
            uniform string ros:topic:name = "contact"
            uniform string ros:topic:type = "std_msgs/msg/Bool"
            uniform double ros:topic:publish_rate = 50
        }
    }
}
"""
TRIGGER = """
        def Scope "begin" (prepend apiSchemas = ["RosServiceAPI"])
        {
            uniform token ros:service:role = "server"
            uniform string ros:service:name = "begin"
            uniform string ros:service:type = "std_srvs/srv/Trigger"
        }
"""


def write_room(folder: Path) -> Path:
    """A floor, a wall 1.9 m ahead of a fixed probe, a body that follows a twist in domain 5, and a ball that falls."""
    return write_stage(folder, f'def Xform "all"\n{{\n{ROOM}{below(PROBE)}{below(DRONE)}\n}}\n', root="all")


def below(text: str) -> str:
    """Prims of a stage, below a prim ``all``."""
    return text.replace("</", "</all/")
