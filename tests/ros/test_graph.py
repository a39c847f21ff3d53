"""The interface graph of assets: names, domains, policies, types, frames, as REP-0158 section 2 has them."""

from __future__ import annotations

import json
import xml.etree.ElementTree as ET
from pathlib import Path

import pytest

import simwright
from simwright.app.cli.main import run as run_cli
from simwright.core.diag import Reporter
from simwright.model.asset import Asset, Body, Site
from simwright.ros.checking import check_graph
from simwright.ros.graph import GraphRobot, RosGraph, build_graph, draw_frames
from simwright.ros.qos import DEFAULT_QOS, EndpointQos, explain_mismatch
from simwright.ros.transports import table
from stages import make_arm, make_topic, write_stage

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "simwright_samples"


def read_graph(file: Path, **options: object) -> tuple[RosGraph, Reporter]:
    reporter = Reporter()
    asset = simwright.load(file, **options)  # type: ignore[arg-type]
    return build_graph(asset, reporter), reporter


def list_edges(robot: GraphRobot, *, static: bool) -> set[tuple[str, str]]:
    return {(parent.id, child.id) for parent, child in robot.frames.list_edges(static=static)}


def codes(reporter: Reporter) -> list[str]:
    return [found.kind for found in reporter]


@pytest.fixture(scope="module")
def arm(tmp_path_factory: pytest.TempPathFactory) -> GraphRobot:
    context = 'int ros:context:domain_id = 7\n    uniform string ros:context:parent_frame = "map"'
    graph, reporter = read_graph(
        write_stage(tmp_path_factory.mktemp("arm"), make_arm(namespace="robot_1", context=context))
    )
    assert not list(reporter)
    return graph.robots[0]


def test_namespaces_are_joined_from_the_top(arm: GraphRobot) -> None:
    assert arm.namespace == "/robot_1"
    assert [endpoint.name for endpoint in arm.endpoints] == [
        "/robot_1/camera/imu",
        "/robot_1/joint_states",
        "/robot_1/follow",
    ]


def test_the_domain_is_that_of_the_nearest_context_which_says_one(tmp_path: Path, arm: GraphRobot) -> None:
    assert {endpoint.domain_id for endpoint in arm.endpoints} == {7}
    inner = 'uniform string ros:context:namespace = "camera"'
    prim = make_arm(context="int ros:context:domain_id = 7").replace(
        inner, f"{inner}\n            int ros:context:domain_id = 9"
    )
    graph, _ = read_graph(write_stage(tmp_path, prim))
    assert [endpoint.domain_id for endpoint in graph.endpoints] == [9, 7, 7]
    graph, _ = read_graph(write_stage(tmp_path, make_arm()))
    assert {endpoint.domain_id for endpoint in graph.endpoints} == {None}


def test_an_absolute_namespace_starts_again(tmp_path: Path) -> None:
    prim = make_arm().replace('namespace = "camera"', 'namespace = "/cameras/left"')
    graph, _ = read_graph(write_stage(tmp_path, prim))
    assert graph.endpoints[0].name == "/cameras/left/imu"


def test_tf_topics_have_the_outermost_namespace_only(arm: GraphRobot) -> None:
    assert (arm.tf_topic, arm.static_tf_topic) == ("/robot_1/tf", "/robot_1/tf_static")


def test_frames_follow_joints_and_rigid_parents(arm: GraphRobot) -> None:
    assert list_edges(arm, static=False) == {("base", "link")}
    assert list_edges(arm, static=True) == {
        ("map", "arm"),
        ("arm", "base"),
        ("link", "tool"),
        ("base", "camera_mount"),
        ("camera_mount", "camera_optical"),
    }
    assert arm.frames.roots == ["map"]


def test_an_interface_is_in_the_nearest_frame_above(arm: GraphRobot) -> None:
    assert [endpoint.frame_id for endpoint in arm.endpoints] == ["camera_optical", "arm", "arm"]


def test_joints_have_the_names_that_ros_has_for_them(arm: GraphRobot) -> None:
    states, follow = arm.endpoints[1:]
    assert states.joints == follow.joints == ("elbow",)
    assert follow.controller == "trajectory"


def test_sensors_are_best_effort_unless_the_asset_says_otherwise(tmp_path: Path, arm: GraphRobot) -> None:
    assert arm.endpoints[0].qos == EndpointQos("best_effort")
    assert arm.endpoints[1].qos == DEFAULT_QOS
    said = 'uniform token ros:topic:qos:reliability = "reliable"\n uniform int ros:topic:qos:depth = 3'
    graph, _ = read_graph(write_stage(tmp_path, make_arm(imu=said)))
    assert graph.endpoints[0].qos == EndpointQos(depth=3)


def test_maps_stay_for_those_who_come_later(tmp_path: Path) -> None:
    topic = make_topic("map", "map", "nav_msgs/msg/OccupancyGrid")
    graph, _ = read_graph(write_stage(tmp_path, make_arm(interfaces=topic)))
    found = next(endpoint for endpoint in graph.endpoints if endpoint.name.endswith("/map"))
    assert found.qos.durability == "transient_local"


def test_an_unknown_type_disables_its_endpoint_only(tmp_path: Path) -> None:
    topic = make_topic("odd", "odd", "nobody_msgs/msg/Nothing")
    graph, reporter = read_graph(write_stage(tmp_path, make_arm(interfaces=topic)))
    assert codes(reporter) == ["ros-type-unknown"]
    assert [(e.name, e.enabled) for e in graph.endpoints if e.problem] == [("/arm/odd", False)]
    assert sum(endpoint.enabled for endpoint in graph.endpoints) == 3


def test_a_type_of_a_folder_is_known(tmp_path: Path) -> None:
    folder = tmp_path / "nobody_msgs" / "msg"
    folder.mkdir(parents=True)
    (folder / "Nothing.msg").write_text("int32 nothing\n")
    file = write_stage(tmp_path, make_arm(interfaces=make_topic("odd", "odd", "nobody_msgs/msg/Nothing")))
    assert run_cli(["ros", "check", str(file), "--interfaces", str(tmp_path)]) == 0


def test_what_starts_disabled_is_told(tmp_path: Path) -> None:
    graph, _ = read_graph(
        write_stage(tmp_path, make_arm(imu="uniform bool ros:topic:starts_enabled = false"))
    )
    assert [endpoint.enabled for endpoint in graph.endpoints] == [False, True, True]


def test_two_robots_of_one_asset_keep_to_themselves(tmp_path: Path) -> None:
    source = tmp_path / "one"
    source.mkdir()
    write_stage(source, make_arm())
    twins = "".join(
        f"""
    def Xform "{name}" (
        prepend references = @one/arm.usda@
        prepend apiSchemas = ["RosContextAPI"]
    )
    {{
        uniform string ros:context:namespace = "{name}"
        double3 xformOp:translate = (0, {y}, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
    }}
"""
        for y, name in enumerate(("left", "right"))
    )
    graph, reporter = read_graph(write_stage(tmp_path, f'def Xform "pair"\n{{{twins}}}\n', root="pair"))
    check_graph(graph, reporter)
    assert [robot.namespace for robot in graph.robots] == ["/left", "/right"]
    assert [e.name for e in graph.robots[1].endpoints] == [
        "/right/camera/imu",
        "/right/joint_states",
        "/right/follow",
    ]
    # frames have equal names on topics of their own
    for robot in graph.robots:
        assert ("base", "link") in list_edges(robot, static=False)
        assert robot.controllers[0].endpoints["server"].name == f"{robot.namespace}/follow"
    assert not [found for found in reporter if found.level.value == "error"]


def test_a_variant_takes_its_interfaces_with_it(tmp_path: Path) -> None:
    topic = make_topic("extra", "extra", "std_msgs/msg/String")
    extra = f"""
    variantSet "sensor" = {{
        "none" {{
        }}
        "full" {{
            {topic}
        }}
    }}
"""
    more = '\n    variants = {\n        string sensor = "full"\n    }\n    prepend variantSets = "sensor"'
    file = write_stage(tmp_path, make_arm(extra=extra, more=more))
    assert "/arm/extra" in {endpoint.name for endpoint in read_graph(file)[0].endpoints}
    without, _ = read_graph(file, variants={"sensor": "none"})
    assert "/arm/extra" not in {endpoint.name for endpoint in without.endpoints}


def test_a_robot_with_odometry_hangs_on_its_odometry_frame() -> None:
    graph, _ = read_graph(SAMPLES / "rover" / "model.sdf")
    robot = graph.robots[0]
    assert robot.frames.roots == ["odom"]
    moving = list_edges(robot, static=False)
    assert ("odom", "base_footprint") in moving
    assert ("base_link", "left_wheel") in moving
    assert ("base_footprint", "base_link") in list_edges(robot, static=True)
    assert next(e for e in robot.endpoints if e.name == "/odom").frame_id == "odom"


def test_frames_of_an_asset_without_a_mechanism_hang_on_the_world() -> None:
    asset = Asset("dock", bodies=[Body("plate")])
    asset.sites = [Site("entry", ros_frame="dock_entry"), Site("mark", "plate", ros_frame="dock_mark")]
    robot = build_graph(asset, Reporter()).robots[0]
    assert robot.frames.roots == ["world"]
    assert list_edges(robot, static=True) | list_edges(robot, static=False) == {
        ("world", "dock_entry"),
        ("world", "dock_mark"),
    }


def test_joints_that_close_loops_have_no_state() -> None:
    graph, _ = read_graph(SAMPLES / "fourbar" / "fourbar.usda")
    assert "loop_joint" not in graph.endpoints[0].joints


@pytest.mark.parametrize(
    ("publisher", "subscription", "fits"),
    [
        (DEFAULT_QOS, DEFAULT_QOS, True),
        (EndpointQos("best_effort"), DEFAULT_QOS, False),
        (EndpointQos("best_effort"), EndpointQos("best_effort"), True),
        (DEFAULT_QOS, EndpointQos("best_effort"), True),
        (DEFAULT_QOS, EndpointQos(durability="transient_local"), False),
        (DEFAULT_QOS, EndpointQos(durability="transient_local", match_publisher=True), True),
    ],
)
def test_policies_match_as_in_dds(publisher: EndpointQos, subscription: EndpointQos, fits: bool) -> None:
    assert (explain_mismatch(publisher, subscription) == "") is fits


def test_policies_are_told_in_words() -> None:
    assert str(DEFAULT_QOS) == "reliable, volatile, keep_last 10"
    assert str(EndpointQos("best_effort", history="keep_all")) == "best_effort, volatile, keep_all"
    assert str(EndpointQos(depth=1, match_publisher=True)) == "as the publisher, keep_last 1"


@pytest.mark.parametrize(
    ("topics", "code"),
    [
        ([("a", "same", "std_msgs/msg/String"), ("b", "same", "std_msgs/msg/Bool")], "ros-type-clash"),
        ([("a", "same", "std_msgs/msg/Bool"), ("b", "same", "std_msgs/msg/Bool")], "ros-publisher-clash"),
        ([("a", "/clock", "rosgraph_msgs/msg/Clock")], "ros-simulator-name"),
    ],
)
def test_clashes_are_found(tmp_path: Path, topics: list[tuple[str, str, str]], code: str) -> None:
    interfaces = "".join(make_topic(*topic) for topic in topics)
    graph, reporter = read_graph(write_stage(tmp_path, make_arm(interfaces=interfaces)))
    check_graph(graph, reporter)
    assert code in codes(reporter)


def test_policies_that_no_default_node_matches_are_found(tmp_path: Path) -> None:
    more = 'uniform token ros:topic:qos:durability = "transient_local"'
    topic = make_topic("a", "orders", "std_msgs/msg/String", role="subscription", more=more)
    graph, reporter = read_graph(write_stage(tmp_path, make_arm(interfaces=topic)))
    check_graph(graph, reporter)
    assert "ros-qos-mismatch" in codes(reporter)


def test_frames_that_two_things_claim_are_found(tmp_path: Path) -> None:
    prim = make_arm().replace('ros:frame:id = "camera_optical"', 'ros:frame:id = "tool"')
    graph, reporter = read_graph(write_stage(tmp_path, prim))
    check_graph(graph, reporter)
    assert "ros-frame-clash" in codes(reporter)


def test_the_command_prints_draws_and_describes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = write_stage(tmp_path, make_arm())
    picture = tmp_path / "tf.svg"
    assert run_cli(["ros", "graph", str(file), "-o", str(picture)]) == 0
    assert "/arm/camera/imu" in capsys.readouterr().out
    texts = [
        node.text for node in ET.fromstring(picture.read_text()).iter("{http://www.w3.org/2000/svg}text")
    ]
    assert {"world", "arm", "base", "link", "tool", "camera_mount", "camera_optical"} <= set(texts)
    assert run_cli(["ros", "graph", str(file), "--format", "json"]) == 0
    described = json.loads(capsys.readouterr().out)
    assert described["robots"][0]["endpoints"][0]["qos"]["reliability"] == "best_effort"
    assert run_cli(["ros", "graph", str(file), "-o", str(tmp_path / "tf.png")]) == 2


def test_names_of_assets_cannot_break_a_picture(tmp_path: Path) -> None:
    prim = make_arm().replace('ros:frame:id = "camera_optical"', 'ros:frame:id = "<x>&\\u001b"')
    graph, _ = read_graph(write_stage(tmp_path, prim))
    ET.fromstring(draw_frames(graph))


def test_a_transport_works_where_its_library_is(monkeypatch: pytest.MonkeyPatch) -> None:
    here = {"rclpy": True, "bag": False, "foxglove": True}
    modules = {module: here[name] for name, (module, _) in table._ABOUT.items() if name in here}
    monkeypatch.setattr(
        table.importlib.util, "find_spec", lambda module: object() if modules.get(module) else None
    )
    rows = {row["name"]: row for row in table.examine_transports()}
    assert rows["rclpy"]["works"]
    assert not rows["bag"]["works"]
    assert rows["bag"]["notes"] == [f"missing: {table.INSTALL['bag']}"]
    # packages of ROS are what rclpy alone wants
    assert "ros-$ROS_DISTRO" in " ".join(rows["rclpy"]["notes"])
    assert rows["foxglove"]["works"]
    assert "ROS_DISTRO" not in " ".join(rows["foxglove"]["notes"])
