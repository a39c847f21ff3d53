"""Plugins that mean controllers or ROS interfaces, in both generations of Gazebo."""

from __future__ import annotations

import pytest

ROBOT = """<link name="base"/><link name="l"/><link name="r"/>
<joint name="left" type="continuous"><parent>base</parent><child>l</child>
<axis><xyz>0 1 0</xyz></axis></joint>
<joint name="right" type="continuous"><parent>base</parent><child>r</child>
<axis><xyz>0 1 0</xyz></axis></joint>
"""


def plugin(file: str, inner: str = "", name: str = "p") -> str:
    return f'<plugin filename="{file}" name="{name}">{inner}</plugin>'


def topics(asset):
    return {(i.role, i.name, i.type) for i in asset.interfaces}


def test_diff_drive_of_gazebo_sim(read_model):
    asset = read_model(
        ROBOT
        + plugin(
            "gz-sim-diff-drive-system",
            """<left_joint>left</left_joint><right_joint>right</right_joint><wheel_separation>0.4</wheel_separation>
            <wheel_radius>0.1</wheel_radius><odom_publish_frequency>20</odom_publish_frequency>
            <frame_id>odom</frame_id><max_linear_velocity>1.5</max_linear_velocity><strange>1</strange>""",
            "gz::sim::systems::DiffDrive",
        )
    )
    (made,) = asset.controllers
    assert made.kind == "diff_drive"
    assert made.joints == {"left": ["left"], "right": ["right"]}
    assert made.settings == {
        "wheel_separation": 0.4,
        "wheel_radius": 0.1,
        "max_linear_velocity": 1.5,
        "odom_frame": "odom",
    }
    assert made.interfaces == {"subscriber": "/model/m/cmd_vel", "odom": "/model/m/odometry"}
    assert topics(asset) == {
        ("subscription", "/model/m/cmd_vel", "geometry_msgs/msg/Twist"),
        ("publisher", "/model/m/odometry", "nav_msgs/msg/Odometry"),
    }
    assert next(i for i in asset.interfaces if i.role == "publisher").rate == 20
    assert asset.extras.get("gazebo", "plugin:gz::sim::systems::DiffDrive", "strange") == 1


def test_diff_drive_of_gazebo_classic(read_model):
    asset = read_model(
        ROBOT
        + plugin(
            "libgazebo_ros_diff_drive.so",
            """<ros><namespace>/demo</namespace><remapping>cmd_vel:=cmd</remapping>
            <remapping>odom:=/abs/odom</remapping></ros><left_joint>left</left_joint>
            <right_joint>right</right_joint><wheel_separation>0.4</wheel_separation>
            <wheel_diameter>0.2</wheel_diameter>""",
        )
    )
    (made,) = asset.controllers
    assert made.settings["wheel_radius"] == 0.1
    assert made.interfaces == {"subscriber": "/demo/cmd", "odom": "/abs/odom"}


def test_unknown_joint(read_model, found):
    asset = read_model(ROBOT + plugin("gz-sim-diff-drive-system", "<left_joint>lefd</left_joint>"))
    assert asset.controllers[0].joints["left"] == []
    assert "'left'" in found("sdf-plugin-joint")[0].hint


def test_joint_state_publisher(read_model):
    asset = read_model(ROBOT + plugin("gz-sim-joint-state-publisher-system"))
    (made,) = asset.controllers
    assert made.kind == "joint_state_broadcaster"
    assert made.joints["state"] == ["left", "right"]
    assert topics(asset) == {
        ("publisher", "/world/default/model/m/joint_state", "sensor_msgs/msg/JointState")
    }
    classic = plugin("libgazebo_ros_joint_state_publisher.so", "<joint_name>left</joint_name>")
    asset = read_model(ROBOT + classic)
    assert asset.controllers[0].joints["state"] == ["left"]
    assert asset.interfaces[0].name == "joint_states"


@pytest.mark.parametrize(
    ("file", "inner", "kind", "topic"),
    [
        (
            "gz-sim-joint-trajectory-controller-system",
            "",
            "joint_trajectory",
            ("subscription", "/model/m/joint_trajectory", "trajectory_msgs/msg/JointTrajectory"),
        ),
        (
            "gz-sim-joint-position-controller-system",
            "<joint_name>left</joint_name><p_gain>3</p_gain>",
            "joint_position",
            ("subscription", "/model/m/joint/left/0/cmd_pos", "std_msgs/msg/Float64"),
        ),
        (
            "gz-sim-joint-controller-system",
            "<joint_name>left</joint_name>",
            "joint_velocity",
            ("subscription", "/model/m/joint/left/cmd_vel", "std_msgs/msg/Float64"),
        ),
        (
            "gz-sim-apply-joint-force-system",
            "<joint_name>left</joint_name>",
            "joint_effort",
            ("subscription", "/model/m/joint/left/cmd_force", "std_msgs/msg/Float64"),
        ),
        (
            "gz-sim-ackermann-steering-system",
            "<steering_only>true</steering_only><left_steering_joint>left</left_steering_joint>",
            "ackermann",
            ("subscription", "/model/m/steer_angle", "std_msgs/msg/Float64"),
        ),
        (
            "gz-sim-velocity-control-system",
            "<topic>go</topic>",
            "rigid_body_twist",
            ("subscription", "go", "geometry_msgs/msg/Twist"),
        ),
    ],
)
def test_controllers(read_model, file, inner, kind, topic):
    asset = read_model(ROBOT + plugin(file, inner))
    assert [c.kind for c in asset.controllers] == [kind]
    assert topics(asset) == {topic}


@pytest.mark.parametrize(
    ("file", "inner", "kind", "role"),
    [
        ("gz-sim-mecanum-drive-system", "<front_left_joint>left</front_left_joint>", "mecanum", "front_left"),
        ("gz-sim-ackermann-steering-system", "<left_joint>left</left_joint>", "ackermann", "left"),
    ],
)
def test_bases(read_model, file, inner, kind, role):
    asset = read_model(
        ROBOT + plugin(file, inner + "<wheel_radius>0.1</wheel_radius><sub_topic>go</sub_topic>")
    )
    (made,) = asset.controllers
    assert (made.kind, made.joints[role], made.settings["wheel_radius"]) == (kind, ["left"], 0.1)
    assert topics(asset) == {
        ("subscription", "/model/m/go", "geometry_msgs/msg/Twist"),
        ("publisher", "/model/m/odometry", "nav_msgs/msg/Odometry"),
    }


def test_tracks_are_links(read_model):
    inner = "<left_track><link>l</link></left_track><right_track><link>r</link></right_track>"
    asset = read_model(ROBOT + plugin("gz-sim-tracked-vehicle-system", inner))
    assert asset.controllers[0].settings == {"left_tracks": ["l"], "right_tracks": ["r"]}


def test_publishers_without_a_controller(read_model):
    asset = read_model(
        ROBOT + plugin("gz-sim-odometry-publisher-system") + plugin("gz-sim-pose-publisher-system")
    )
    assert not asset.controllers
    assert topics(asset) == {
        ("publisher", "/model/m/odometry", "nav_msgs/msg/Odometry"),
        ("publisher", "/model/m/pose", "tf2_msgs/msg/TFMessage"),
    }
    assert {i.at for i in asset.interfaces} == {"base"}


@pytest.mark.parametrize(
    ("kind", "file", "inner", "expected"),
    [
        (
            "imu",
            "libgazebo_ros_imu_sensor.so",
            "<ros><namespace>/r</namespace><remapping>~/out:=imu</remapping></ros>",
            {("publisher", "/r/imu", "sensor_msgs/msg/Imu")},
        ),
        (
            "ray",
            "libgazebo_ros_ray_sensor.so",
            "<ros><remapping>~/out:=scan</remapping></ros><output_type>sensor_msgs/LaserScan</output_type>",
            {("publisher", "scan", "sensor_msgs/msg/LaserScan")},
        ),
        (
            "ray",
            "libgazebo_ros_laser.so",
            "<topicName>/scan</topicName><frameName>laser</frameName>",
            {("publisher", "/scan", "sensor_msgs/msg/LaserScan")},
        ),
        (
            "camera",
            "libgazebo_ros_camera.so",
            "<camera_name>front</camera_name>",
            {
                ("publisher", "front/image_raw", "sensor_msgs/msg/Image"),
                ("publisher", "front/camera_info", "sensor_msgs/msg/CameraInfo"),
            },
        ),
        ("gps", "libgazebo_ros_gps_sensor.so", "", {("publisher", "p/out", "sensor_msgs/msg/NavSatFix")}),
    ],
)
def test_sensor_plugins_of_gazebo_classic(read_model, kind, file, inner, expected):
    asset = read_model(
        f"""<link name="a"><sensor name="s" type="{kind}"><update_rate>10</update_rate><topic>gz</topic>
        {plugin(file, inner)}</sensor></link>"""
    )
    assert topics(asset) == expected
    assert all(i.at == "s" and i.rate == 10 for i in asset.interfaces)


def test_unknown_plugins_are_kept(read_text, found):
    asset = read_text(
        """<sdf version="1.9"><world name="w"><plugin filename="libworld.so" name="tick"><every>2</every>
        </plugin>
        <model name="m"><link name="a"/><plugin filename="libfly.so" name="fly"><a><b>1 2 3</b></a></plugin>
        </model></world></sdf>"""
    )
    assert asset.extras.get("gazebo", "m", "plugin:fly") == "libfly.so"
    assert asset.extras.get("gazebo", "m", "plugin:fly/a/b") == (1.0, 2.0, 3.0)
    assert asset.extras.get("gazebo", "w", "plugin:tick/every") == 2
    assert [d.where.line for d in found("sdf-plugin-kept")] == [1, 3]


PID = "gz-sim-joint-position-controller-system"


def test_gains_of_a_position_controller_are_a_drive(read_model, found):
    inner = "<joint_name>left</joint_name><p_gain>30</p_gain><i_gain>0</i_gain><d_gain>2</d_gain>"
    more = "<cmd_max>5</cmd_max><cmd_min>-5</cmd_min><initial_position>0.4</initial_position>"
    asset = read_model(ROBOT + plugin(PID, inner + more))
    drives = {dof.name: dof.drive for joint in asset.joints for dof in joint.dofs}
    assert drives["right"] is None
    drive = drives["left"]
    assert (drive.stiffness, drive.damping, drive.max_force, drive.target_position) == (30, 2, 5, 0.4)
    assert not found("sdf-controller-reduced")


def test_what_a_drive_cannot_say_of_a_controller_is_told(read_model, found):
    # Gazebo's own values where nothing is said: p 1, i 0.1, d 0.01, efforts of 1000
    asset = read_model(ROBOT + plugin(PID, "<joint_name>left</joint_name><cmd_min>-3</cmd_min>"))
    drive = asset.joints[0].dofs[0].drive
    assert (drive.stiffness, drive.damping, drive.max_force) == (1, 0.01, 3)
    assert [finding.message.partition(" has ")[2] for finding in found("sdf-controller-reduced")] == [
        "an integral gain of 0.1, which a drive does not have",
        "a range of efforts from -3 to 1000, which a drive does not have",
    ]


def test_a_controller_that_sets_velocities_is_no_spring(read_model):
    inner = "<joint_name>left</joint_name><use_velocity_commands>true</use_velocity_commands>"
    asset = read_model(ROBOT + plugin(PID, inner))
    assert asset.joints[0].dofs[0].drive is None
