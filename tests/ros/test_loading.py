"""What is run becomes another thing while peers are there: scenes, worlds in the plane, other variants."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from memory import MemoryGoal, make_trajectory
from test_simulator import BALL, serve

from simwright.ros.transports.transport import ParameterNode, ParameterValue
from stages import make_arm, make_topic, write_stage

SAMPLES = Path(__file__).resolve().parents[2] / "samples" / "simwright_samples"
FLAGS = {"fail_on_unsupported_element": False, "ignore_missing_or_unsupported_assets": False}
AVAILABLE: dict[str, Any] = {
    "additional_sources": [], "filter": {"tags": [], "filter_mode": 0}, "offline_only": True,
    "continue_on_error": True,
}  # fmt: skip


def name_file(path: Path) -> dict[str, str]:
    return {"uri": path.resolve().as_uri(), "resource_string": ""}


def test_a_scene_is_loaded_as_a_world_and_not_spawned(tmp_path: Path) -> None:
    arm = write_stage(tmp_path, make_arm())
    scene = tmp_path / "pair.yaml"
    rows = (f"  - {{id: {name}, type: usd, source: arm.usda}}\n" for name in ("left", "right"))
    scene.write_text("schema_version: 1\nname: pair\nassets:\n" + "".join(rows))
    (tmp_path / "notes.yaml").write_text("remember: milk\n")
    with serve(arm) as (client, transport, simulator):
        listed = client.call("get_available_worlds", **AVAILABLE)["worlds"]
        assert {Path(one["world_resource"]["uri"]).name for one in listed} == {"arm.usda", "pair.yaml"}
        spawnable = client.call("get_spawnables", sources=[])["spawnables"]
        assert [Path(one["entity_resource"]["uri"]).name for one in spawnable] == ["arm.usda"]
        told = client.spawn(scene.resolve().as_uri(), "pair", 103)
        assert "load_world" in told["result"]["error_message"]
        world = client.call("load_world", world_resource=name_file(scene), **FLAGS)["world"]
        assert world["name"] == "pair"
        assert "/arm/follow" not in transport.actions
        client.call("set_simulation_state", state={"state": 1})
        goal = MemoryGoal(make_trajectory(["elbow"], (0.2, [0.3])))
        transport.actions["/left/arm/follow"].begin(goal)
        simulator.run(400)
        assert goal.state == "succeeded"
        places = [transport.last(f"/{n}/arm/joint_states")["position"][0] for n in ("left", "right")]
        assert places == pytest.approx([0.3, 0.0], abs=0.02)


def test_a_world_in_the_plane_is_loaded_as_rooms_with_robots_that_drive(tmp_path: Path) -> None:
    for file in (SAMPLES / "lab").glob("*.yaml"):
        (tmp_path / file.name).write_bytes(file.read_bytes())
    with serve(write_stage(tmp_path, make_arm())) as (client, transport, simulator):
        client.call("load_world", world_resource=name_file(tmp_path / "lab.yaml"), **FLAGS)
        assert "tender" in client.list()
        client.call("set_simulation_state", state={"state": 1})
        simulator.run(10)
        before = transport.last("/tender/odom")["pose"]["pose"]["position"]
        still = {"x": 0.0, "y": 0.0, "z": 0.0}
        transport.receivers["/tender/cmd_vel"]({"linear": still | {"x": 0.5}, "angular": still})
        simulator.run(200)
        after = transport.last("/tender/odom")["pose"]["pose"]["position"]
        moved = ((after["x"] - before["x"]) ** 2 + (after["y"] - before["y"]) ** 2) ** 0.5
        assert moved == pytest.approx(0.2, rel=0.1)


def make_variants() -> str:
    """Two variants of the arm, each with a topic of its own."""
    rows = (("full", "chosen"), ("none", "left_out"))
    bodies = (
        f'"{name}" {{\n{make_topic(topic, topic, "sensor_msgs/msg/JointState")}\n}}\n' for name, topic in rows
    )
    return f'variantSet "parts" = {{\n{"".join(bodies)}\n}}\n'


def write_variants(folder: Path) -> Path:
    more = '\n    variants = {\n        string parts = "full"\n    }\n    prepend variantSets = "parts"'
    return write_stage(folder, make_arm(extra=make_variants(), more=more))


def test_a_variant_is_switched_while_it_runs(tmp_path: Path) -> None:
    with serve(write_variants(tmp_path)) as (client, transport, simulator):
        simulator.run(50)
        assert transport.set_parameter("variant.parts", "full") == ""
        goal = MemoryGoal(make_trajectory(["elbow"], (0.2, [0.4])))
        transport.actions["/arm/follow"].begin(goal)
        simulator.run(450)
        assert goal.state == "succeeded"
        client.spawn(BALL, "ball")
        sent = len(transport.sent["/arm/chosen"])
        assert sent == 11
        assert transport.set_parameter("variant.parts", "none") == ""
        simulator.run(100)
        # its interfaces are gone and others are there; time, joints and what was spawned go on
        assert len(transport.sent["/arm/chosen"]) == sent
        assert len(transport.sent["/arm/left_out"]) == 2
        assert transport.last("/arm/joint_states")["position"][0] == pytest.approx(0.4, abs=0.02)
        assert simulator.time == 1_200_000_000
        assert sorted(client.list()) == ["arm", "ball"]
        (values,) = [values for values, _ in transport.parameters if "variant.parts" in values]
        assert values == {"variant.parts": "none"}
        assert "'half'" in transport.set_parameter("variant.parts", "half")
        assert "unknown variant set" in simulator.select_variant("looks", "red")
        # the API does the same, and peers see it
        assert simulator.select_variant("parts", "full") == ""
        simulator.run(50)
        assert len(transport.sent["/arm/chosen"]) == sent + 1
        client.call("unload_world")
        simulator.poll()
        assert not any("variant.parts" in values for values, _ in transport.parameters)
        assert simulator.select_variant("parts", "none") == "no world is loaded"


def test_parameters_by_services() -> None:
    opened: dict[str, Any] = {}
    closed: list[str] = []

    class Service:
        def __init__(self, name: str) -> None:
            self._name = name

        def close(self) -> None:
            closed.append(self._name)

    def serve_one(endpoint: Any, answer: Any) -> Any:
        opened[endpoint.name] = answer
        return Service(endpoint.name)

    heard: list[tuple[str, ParameterValue]] = []

    def change(name: str, value: ParameterValue) -> str:
        heard.append((name, value))
        return "it is stuck" if value == "stuck" else ""

    node = ParameterNode("simwright", serve_one)
    first = node.offer({"enabled./arm/imu": False, "variant.parts": "full"}, change)
    second = node.offer({"enabled.trajectory": True}, change)

    def ask(service: str, **request: Any) -> Any:
        return opened[f"/simwright/{service}"](request)

    def value(name: str) -> Any:
        return ask("get_parameters", names=[name])["values"][0]

    listed = ask("list_parameters", prefixes=[], depth=0)["result"]
    assert listed["names"] == ["enabled./arm/imu", "enabled.trajectory", "variant.parts"]
    assert listed["prefixes"] == ["enabled", "variant"]
    assert ask("list_parameters", prefixes=["variant"], depth=0)["result"]["names"] == ["variant.parts"]
    assert ask("get_parameter_types", names=["variant.parts", "no", "enabled.trajectory"])["types"] == [
        4,
        0,
        1,
    ]
    assert ask("describe_parameters", names=["variant.parts"])["descriptors"][0]["type"] == 4
    on = {"name": "enabled./arm/imu", "value": {"type": 1, "bool_value": True}}
    stuck = {"name": "variant.parts", "value": {"type": 4, "string_value": "stuck"}}
    wrong = {"name": "enabled.trajectory", "value": {"type": 4, "string_value": "yes"}}
    lost = {"name": "nobody", "value": {"type": 1, "bool_value": True}}
    results = ask("set_parameters", parameters=[on, stuck, wrong, lost])["results"]
    assert [one["successful"] for one in results] == [True, False, False, False]
    assert [one["reason"] for one in results[1:3]] == ["it is stuck", "'enabled.trajectory' is a bool"]
    assert value("enabled./arm/imu") == {"type": 1, "bool_value": True}
    # all or nothing: what was set before the one that fails is set back
    off = {"name": "enabled./arm/imu", "value": {"type": 1, "bool_value": False}}
    assert not ask("set_parameters_atomically", parameters=[off, stuck])["result"]["successful"]
    assert heard[-3:] == [("enabled./arm/imu", False), ("variant.parts", "stuck"), ("enabled./arm/imu", True)]
    assert value("enabled./arm/imu")["bool_value"]
    first.close()
    assert ask("list_parameters", prefixes=[], depth=0)["result"]["names"] == ["enabled.trajectory"]
    second.close()
    node.close()
    assert len(closed) == len(opened) == 6
