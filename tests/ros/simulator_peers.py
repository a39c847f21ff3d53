"""Programs of ROS 2 that use any simulator by its standard services, and know nothing of Simwright.

    python simulator_peers.py SCENARIO [ARGUMENT ...]

They import rclpy and messages only, and print what they saw as JSON.
"""

from __future__ import annotations

import json
import sys
import time
from pathlib import Path
from typing import Any

import rclpy
from rclpy.action import ActionClient
from rosgraph_msgs.msg import Clock
from simulation_interfaces import srv
from simulation_interfaces.action import SimulateSteps
from simulation_interfaces.msg import EntityCategory, SimulationState, SimulatorFeatures
from simulation_interfaces.msg import SpawnEntity as SpawnRequest

from peers import SENSOR, Peer

BALL = """<sdf version="1.11"><model name="ball"><link name="body"><pose>0 0 0.1 0 0 0</pose>
<inertial><mass>1</mass></inertial>
<collision name="c"><geometry><sphere><radius>0.1</radius></sphere></geometry></collision></link></model></sdf>"""


class Client:
    """A node that calls services of a simulator."""

    def __init__(self, peer: Peer) -> None:
        self.peer = peer

    def call(self, title: str, **fields: Any) -> Any:
        kind = getattr(srv, title)
        name = "".join(f"_{c.lower()}" if c.isupper() else c for c in title).lstrip("_")
        client = self.peer.create_client(kind, f"/{name}")
        assert client.wait_for_service(60), name
        request = kind.Request()
        for path, value in fields.items():
            target = request
            *way, last = path.split("__")
            for part in way:
                target = getattr(target, part)
            setattr(target, last, value)
        answer = self.peer.wait(client.call_async(request), 60)
        self.peer.destroy_client(client)
        return answer

    def ask(self, title: str, **fields: Any) -> int:
        return int(self.call(title, **fields).result.result)

    def place(self, name: str) -> list[float]:
        at = self.call("GetEntityState", entity=name).state.pose.position
        return [at.x, at.y, at.z]


def use_everything(peer: Peer, robot: str) -> dict[str, Any]:
    """Spawn, move, query, step, reset, delete, load: every feature that the simulator claims."""
    client, seen = Client(peer), {}
    # once its node is there, all its services are
    told = client.call("GetSimulatorFeatures").features
    names = {
        getattr(SimulatorFeatures, name): name
        for name in dir(SimulatorFeatures)
        if name.isupper() and isinstance(getattr(SimulatorFeatures, name), int)
    }
    seen["features"] = sorted(names[number] for number in told.features)
    seen["formats"] = list(told.spawn_formats)
    services = {name.removeprefix("/") for name, kinds in peer.get_service_names_and_types()
                if any(kind.startswith("simulation_interfaces/") for kind in kinds)}  # fmt: skip
    seen["services"] = sorted(name for name in services if "/" not in name)
    seen["before"] = list(client.call("GetEntities").entities)
    peer.listen(Clock, "/clock", SENSOR)
    seen["paused"] = client.ask("SetSimulationState", state__state=SimulationState.STATE_PAUSED)
    seen["state"] = client.call("GetSimulationState").state.state
    # time stands still: what was under way arrives first
    peer.spin(1.0)
    ticks = len(peer.got["/clock"])
    peer.spin(1.5)
    seen["standing"] = len(peer.got["/clock"]) - ticks
    # spawn: a text, and a robot by its URI, below a namespace
    spawn = {"entity_resource__resource_string": BALL, "initial_pose__pose__position__x": 5.0}
    seen["ball"] = client.call(
        "SpawnEntity", name="ball", initial_pose__pose__position__z=3.0, **spawn
    ).entity_name
    one = SpawnRequest(name="twin", entity_namespace="twin")
    one.entity_resource.uri = Path(robot).as_uri()
    one.initial_pose.pose.position.y = 2.0
    seen["twin"] = client.ask("SpawnEntities", spawn_requests=[one])
    seen["after"] = sorted(client.call("GetEntities").entities)
    seen["place"] = client.place("ball")
    # step 100, by the service and by the action
    began = time.monotonic()
    seen["stepped"] = client.ask("StepSimulation", steps=100)
    seen["seconds"] = time.monotonic() - began
    seen["fallen"] = client.place("ball")
    action = ActionClient(peer, SimulateSteps, "/simulate_steps")
    assert action.wait_for_server(20)
    feedback: list[Any] = []
    goal = SimulateSteps.Goal(steps=50)
    handle = peer.wait(action.send_goal_async(goal, feedback_callback=feedback.append))
    result = peer.wait(handle.get_result_async(), 60).result.result
    peer.spin(20, lambda: bool(feedback) and feedback[-1].feedback.remaining_steps == 0)
    seen["action"] = [result.result, len(feedback), feedback[-1].feedback.remaining_steps]
    seen["deeper"] = client.place("ball")
    peer.spin(2.0, lambda: bool(peer.got["/clock"]))
    stamp = peer.got["/clock"][-1].clock
    seen["topics"] = sorted(name for name, _ in peer.get_topic_names_and_types() if name.startswith("/twin"))
    # move
    move = client.call(
        "SetEntityState", entity="ball", set_pose=True, state__pose__position__x=1.0,
        state__pose__position__z=2.0, set_twist=True, state__twist__linear__x=0.5,
    )  # fmt: skip
    seen["moved"] = [move.result.result, client.place("ball")]
    # describe
    seen["described"] = client.ask(
        "SetEntityInfo", entity="ball", info__tags=["red"], info__description="a toy",
        info__category=EntityCategory(category=EntityCategory.CATEGORY_HUMAN),
    )  # fmt: skip
    info = client.call("GetEntityInfo", entity="ball").info
    seen["info"] = [list(info.tags), info.description, info.category.category]
    seen["tagged"] = list(client.call("GetEntitiesStates", filters__tags__tags=["red"]).entities)
    bounds = client.call("GetEntityBounds", entity="ball").bounds
    seen["bounds"] = [bounds.type, [[p.x, p.y, p.z] for p in bounds.points]]
    seen["poses"] = client.ask("GetNamedPoses")
    seen["spawnables"] = [one.entity_resource.uri for one in client.call("GetSpawnables").spawnables]
    # refuse
    outside = client.call("SpawnEntity", name="secret", entity_resource__uri="/etc/passwd")
    seen["refused"] = [outside.result.result, outside.result.error_message]
    seen["unknown"] = client.ask("DeleteEntity", entity="nobody")
    # reset and delete
    seen["deleted"] = client.ask("DeleteEntity", entity="twin")
    seen["left"] = sorted(client.call("GetEntities").entities)
    seen["reset"] = client.ask("ResetSimulation", scope=srv.ResetSimulation.Request.SCOPE_SPAWNED)
    seen["rest"] = list(client.call("GetEntities").entities)
    count = len(peer.got["/clock"])
    seen["rewound"] = client.ask("ResetSimulation", scope=srv.ResetSimulation.Request.SCOPE_ALL)
    peer.spin(5, lambda: len(peer.got["/clock"]) > count)
    seen["times"] = [stamp.sec + stamp.nanosec * 1e-9, peer.got["/clock"][-1].clock.nanosec * 1e-9]
    # worlds
    seen["world"] = client.call("GetCurrentWorld").world.world_resource.uri
    seen["worlds"] = [one.world_resource.uri for one in client.call("GetAvailableWorlds").worlds]
    seen["loaded"] = client.ask("LoadWorld", world_resource__resource_string=BALL)
    seen["new"] = list(client.call("GetEntities").entities)
    for name in ("pair.yaml", "lab.yaml"):
        seen[name] = client.ask("LoadWorld", world_resource__uri=Path(robot).with_name(name).as_uri())
        seen[f"entities of {name}"] = sorted(client.call("GetEntities").entities)
    seen["unloaded"] = client.ask("UnloadWorld")
    seen["again"] = client.ask("LoadWorld", world_resource__uri=Path(robot).as_uri())
    seen["playing"] = client.ask("SetSimulationState", state__state=SimulationState.STATE_PLAYING)
    count = len(peer.got["/clock"])
    seen["running"] = peer.spin(10, lambda: len(peer.got["/clock"]) > count + 10)
    return seen


SCENARIOS = {"everything": use_everything}

if __name__ == "__main__":
    rclpy.init()
    sys.stdout.write(json.dumps(SCENARIOS[sys.argv[1]](Peer(), *sys.argv[2:])) + "\n")
