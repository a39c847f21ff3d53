"""Runs that somebody watches: their pace, their page, recordings, worlds and tasks."""

from __future__ import annotations

import math
import os
import signal
import struct
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterator, Sequence
from pathlib import Path
from typing import Any

import msgspec
import numpy as np
import pytest
import viser
import zstandard
from tests.conftest import SAMPLES
from tests.ros.memory import MemoryTransport
from websockets.sync.client import ClientConnection, connect
from websockets.typing import Origin, Subprotocol

import simwright
from simwright.app.bridging import RosOptions
from simwright.app.cli.main import run
from simwright.app.cli.view import ViewRequest, open_comparison, open_replay
from simwright.app.running import run as run_source
from simwright.app.tasking import RunRequest, prepare_run
from simwright.app.watching import LiveOptions, WatchedBatch, check_view, watch_plans
from simwright.app.world_build import make_scene
from simwright.app.worlds import load_world, open_world
from simwright.core.diag import Reporter
from simwright.core.errors import MissingExtraError, SimwrightError
from simwright.core.math3d import Array, poses_compose
from simwright.engines.table import load_engine
from simwright.model.joint import Dof, Motion
from simwright.tasks.baselines.policy import HoldPolicy
from simwright.tasks.rollout import SimRollout
from simwright.view.figure import Dragged, Picked
from simwright.view.live import LivePage, _find_range, list_commands
from simwright.view.pace import Pace, read_speed
from simwright.view.plan import WorldPage
from simwright.view.replay import read_recording
from simwright.view.streaming import pack_plain

QUADRUPED = SAMPLES / "quadruped" / "quadruped.xml"
ARM = SAMPLES / "arm" / "urdf" / "arm.urdf"


def test_a_pace_pauses_steps_and_begins_again() -> None:
    pace = Pace(speed=None)
    assert pace.take_steps(0.0, 0.01, 8) == 8
    pace.step()
    assert pace.is_paused
    assert pace.take_steps(0.0, 0.01, 8) == 1
    threading.Timer(0.1, pace.reset).start()
    while not pace.take_reset():
        assert pace.take_steps(0.01, 0.01, 8) == 0
    assert not pace.take_reset()
    pace.pause(False)
    assert pace.take_steps(0.0, 0.01, 3) == 3
    pace.end()
    assert pace.take_steps(0.0, 0.01, 3) == 0


def test_a_pace_goes_no_faster_than_it_may() -> None:
    pace = Pace(speed=2.0)
    pace.begin(0.0)
    start, moment = time.perf_counter(), 0.0
    while moment < 0.2:
        moment += 0.01 * pace.take_steps(moment, 0.01, 5)
    assert time.perf_counter() - start >= 0.5 * (0.2 - 0.05) - 1e-3


def test_a_simulation_goes_back_to_where_it_was() -> None:
    with load_engine("mujoco").open(simwright.load(QUADRUPED)) as simulation:
        simulation.step(20)
        captured, places = simulation.capture(), simulation.positions
        simulation.step(100)
        after = simulation.positions
        simulation.restore(captured)
        np.testing.assert_array_equal(simulation.positions, places)
        simulation.step(100)
        np.testing.assert_array_equal(simulation.positions, after)


@pytest.fixture
def live() -> Iterator[tuple[LivePage, Any]]:
    asset = simwright.load(ARM)
    with load_engine("mujoco").open(asset, worlds=3) as simulation:
        page = LivePage(asset, simulation, speed=None)
        with visit(page.address):
            # the server notes a visitor a little after the visitor has its answer
            deadline = time.monotonic() + 20.0
            while not page._serving.is_visited and time.monotonic() < deadline:
                time.sleep(0.005)
            yield page, simulation
        page.close()


def visit(address: str) -> ClientConnection:
    """What a browser opens."""
    origin = address.partition("/?")[0]
    subprotocol = Subprotocol(f"viser-v{viser.__version__}")
    return connect(
        address.replace("http", "ws"), subprotocols=[subprotocol], max_size=None, origin=Origin(origin)
    )


def read_messages(frame: bytes) -> list[dict[str, Any]]:
    """What viser's client makes of a frame."""
    size = int.from_bytes(frame[8:16], "little")
    document = msgspec.msgpack.decode(zstandard.ZstdDecompressor().decompress(frame[16 : 16 + size]))
    start, arrays = 16 + size, []
    for length in document["binaryBufferLengths"]:
        start += -start % 8
        arrays.append(frame[start : start + length])
        start += length
    assert start == len(frame)
    for message in document["messages"]:
        for name, value in message.get("updates", {}).items():
            if isinstance(value, dict) and "__binary_index" in value:
                message["updates"][name] = np.frombuffer(
                    arrays[value["__binary_index"]], dtype=value["dtype"]
                )
    found: list[dict[str, Any]] = document["messages"]
    return found


def find_moves(visitor: ClientConnection, names: Sequence[str], wanted: int) -> dict[str, Array]:
    """The newest poses of nodes that are sent as a stream: frames with nothing but poses of these."""
    found: dict[str, Array] = {}
    for frame in iter(lambda: visitor.recv(timeout=20), None):
        assert isinstance(frame, bytes)
        told = read_messages(frame)
        if {message.get("name") for message in told} != set(names):
            continue
        for message in told:
            if "updates" in message:
                parts = (message["updates"]["batched_positions"], message["updates"]["batched_wxyzs"])
                rows = np.concatenate((parts[0].reshape(-1, 3), parts[1].reshape(-1, 4)), axis=1)
                found[message["name"]] = rows
            else:
                values = message.get("position") or message.get("wxyz")
                found[message["name"]] = np.append(found.get(message["name"], ()), values)[-7:]
        wanted -= 1
        if wanted == 0:
            break
    return found


@pytest.mark.parametrize("worlds", [1, 3])
def test_a_visitor_gets_the_poses_of_all_parts_in_one_message(worlds: int) -> None:
    asset = simwright.load(ARM)
    with load_engine("mujoco").open(asset, worlds=worlds) as simulation:
        page = LivePage(asset, simulation, speed=None)
        page.pace.is_paused = True  # every picture is due
        try:
            with visit(page.address) as visitor:
                page.show(simulation, 0.0)
                while read_messages(visitor.recv(timeout=20))[-1]["type"] != "ReplayDoneMessage":  # type: ignore[arg-type]
                    pass
                simulation.set("joint_2", 0.7, world=worlds - 1)
                simulation.set("joint_1", 0.3)
                page.show(simulation, 0.1)
                layer = page.figure._layers["Visuals"]
                names = [name for name, _ in (*layer.singles, *layer.many)]
                assert len(names) > 5
                found = find_moves(visitor, names, 1)
            poses = simulation.body_poses()
            for node, places in layer.nodes:
                if node.name in names:
                    expected = poses_compose(
                        page.figure._rows[:, layer._bodies[places]], layer._poses[places]
                    )
                    np.testing.assert_allclose(
                        found[node.name].reshape(-1, 7), expected.reshape(-1, 7), atol=1e-6
                    )
            np.testing.assert_allclose(page.figure.poses, poses, atol=1e-9)
        finally:
            page.close()


@pytest.mark.parametrize("size", [3, 9_000, 131_072, 131_073, 300_000])
def test_a_plain_frame_is_unpacked_to_its_content(size: int) -> None:
    content = np.random.default_rng(size).bytes(size)
    assert zstandard.ZstdDecompressor().decompress(pack_plain(content)[0]) == content


@pytest.mark.parametrize("start", range(10))
def test_numbers_of_a_plain_frame_are_changed_where_they_are(start: int) -> None:
    # with all starts, some number lies across each border of blocks, which are 131072 bytes apart
    content, numbers = np.random.default_rng(start).bytes(300_000), range(start, 299_992, 9)
    frame, places = pack_plain(content, numbers)
    changed, expected = bytearray(frame), bytearray(content)
    for number, (before, after) in enumerate(zip(numbers, places.tolist(), strict=True)):
        value = struct.pack(">d", 1.0 + number)
        expected[before : before + 8] = changed[after : after + 8] = value
    assert zstandard.ZstdDecompressor().decompress(bytes(changed)) == expected


def test_pictures_come_thirty_times_a_second_and_no_more_often(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr("simwright.view.pace.time.perf_counter", lambda: clock[0])
    pace, pictures = Pace(speed=None), 0
    while clock[0] < 110.0:
        if pace.is_picture_due():
            clock[0] += 0.0005
            pace.note_picture(0.0005)
            pictures += 1
        clock[0] += 0.003  # a round of steps
    assert 290 <= pictures <= 301
    # after a pause they are not made up for
    clock[0] += 5.0
    assert pace.is_picture_due()
    pace.note_picture(0.0)
    assert not pace.is_picture_due()


def test_nobody_looks_and_nothing_is_drawn() -> None:
    asset = simwright.load(ARM)
    with load_engine("mujoco").open(asset) as simulation:
        page = LivePage(asset, simulation, speed=None)
        try:
            before = page.figure.poses.copy()
            simulation.set("joint_2", 0.7)
            page.show(simulation, 0.1)
            np.testing.assert_array_equal(page.figure.poses, before)
        finally:
            page.close()


def test_a_link_that_is_picked_is_marked(live: tuple[LivePage, Any]) -> None:
    page, _ = live
    page.pick(page.asset.body_names[2])
    ((overlay, _, world),) = page.figure._marks
    assert (set(np.asarray(overlay.bodies).tolist()), world) == ({2}, 0)
    page.pick("")
    assert page.figure._marks == []


def test_speeds_are_told_as_they_are_chosen() -> None:
    assert read_speed("0.5x") == 0.5
    assert read_speed("as fast as possible") is None


def test_a_page_shows_all_worlds_where_they_are(live: tuple[LivePage, Any]) -> None:
    page, simulation = live
    simulation.set("joint_2", 0.7, world=1)
    page.show(simulation, 0.0)
    assert page.figure.poses.shape[0] == 3
    row = simulation.layout.find_body("forearm_link")
    np.testing.assert_allclose(page.figure.poses[1, row], simulation.body_poses()[1, row], atol=1e-9)
    assert np.linalg.norm(page.figure.poses[1, row, :3] - page.figure.poses[0, row, :3]) > 0.05
    assert len({tuple(root) for root in page.figure.roots}) == 3


def test_what_is_dragged_is_pulled_until_it_is_let_go(live: tuple[LivePage, Any]) -> None:
    page, simulation = live
    row = page.asset.body_names.index("forearm_link")
    start = page.figure.poses[2, row, :3] + page.figure.roots[2, :3]
    page._drag(Dragged(row, 2, "update", start, start + np.array((0.3, 0.0, 0.0))))
    page.act(simulation)
    simulation.step(50)
    moved = np.abs(simulation.positions[2] - simulation.positions[0]).max()
    assert moved > 1e-3
    np.testing.assert_allclose(simulation.positions[1], simulation.positions[0])
    page._drag(Dragged(row, 2, "end", start, start))
    page.act(simulation)
    assert not simulation.batch.view("xfrc_applied").any()


def test_joints_go_where_they_are_commanded_by_hand() -> None:
    asset = simwright.load(QUADRUPED)
    with load_engine("mujoco").open(asset) as simulation:
        page = LivePage(asset, simulation, speed=None)
        try:
            found = list_commands(asset, simulation)
            name = next(actuator.name for actuator in asset.actuators if actuator.target == "FL_calf")
            lower, upper, _ = found[name]
            wanted = lower + 0.4 * (upper - lower)
            page.command(name, wanted)
            page.command_by_hand(True)
            for _ in range(40):
                page.act(simulation)
                simulation.step(25)
            assert simulation.get("FL_calf") == pytest.approx(wanted, abs=0.1)
        finally:
            page.close()


def test_signals_are_drawn_as_they_come(live: tuple[LivePage, Any]) -> None:
    page, simulation = live
    page.plot.clear()
    page.plot.add("joint_1")
    page.plot.add("contact force [N]")
    page.pace.is_paused = True  # every picture is due
    for number in range(3):
        simulation.set("joint_1", 0.1 * number)
        page.show(simulation, 0.1 * number)
        time.sleep(0.25)
    times, first, forces = page.plot._chart.data
    np.testing.assert_allclose(first, 10 * times * 0.1)
    assert np.isfinite(forces).all()


def test_numbers_beside_a_chart_are_no_closer_than_they_are_written(live: tuple[LivePage, Any]) -> None:
    """uPlot writes three decimals: rewards of a ten thousandth had "0" beside each of five lines."""
    live[0].plot.clear()
    live[0].plot.add("joint_1")
    steps = live[0].plot._chart.axes[1]["incrs"]
    assert min(steps) == 1e-3
    assert all(float(f"{step:.3f}") == step for step in steps)


def test_a_plot_begins_again_where_time_does(live: tuple[LivePage, Any]) -> None:
    plot = live[0].plot
    plot.clear()
    plot.add("joint_1")
    for moment, value in ((1.0, 5.0), (2.0, 6.0)):
        plot.take(moment, {"joint_1": value})
    assert plot._kept[:, : plot._count].tolist() == [[1.0, 2.0], [5.0, 6.0]]
    plot.take(0.5, {"joint_1": 7.0})
    assert plot._kept[:, : plot._count].tolist() == [[0.5], [7.0]]


def test_what_has_no_limits_is_commanded_in_a_usual_range() -> None:
    assert _find_range(None) == (-1.0, 1.0)
    assert _find_range(Dof(Motion.SLIDE)) == (-1.0, 1.0)
    assert _find_range(Dof(Motion.HINGE)) == (-math.pi, math.pi)
    assert _find_range(Dof(Motion.HINGE, lower=-0.5, upper=2.0)) == (-0.5, 2.0)


def test_a_page_that_cannot_be_made_is_told_before_the_run(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _: None)
    check_view(None)
    with pytest.raises(MissingExtraError, match="viser"):
        check_view(LiveOptions(lambda _: None))


def end_after(seconds: float) -> Callable[[str], None]:
    """Ctrl-C, some time after the page is there."""
    return lambda _: threading.Timer(seconds, os.kill, (os.getpid(), signal.SIGINT)).start()


def test_a_run_is_watched_until_it_is_ended() -> None:
    result = run_source(QUADRUPED, keyframe="home", ground=True, view=LiveOptions(end_after(1.0), speed=None))
    assert result.stopped == ""
    assert result.frames > 100
    assert result.asked == result.frames


def test_watching_changes_nothing() -> None:
    plain = run_source(QUADRUPED, keyframe="home", ground=True, frames=200)
    watched = run_source(
        QUADRUPED, keyframe="home", ground=True, frames=200, view=LiveOptions(lambda _: None, speed=None)
    )
    np.testing.assert_array_equal(watched.positions, plain.positions)


@pytest.mark.parametrize("recorded", [False, True])
def test_what_is_recorded_cannot_be_set_back(
    recorded: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    pages: list[LivePage] = []

    class KeptPage(LivePage):
        def __init__(self, *args: Any, **options: Any) -> None:
            super().__init__(*args, **options)
            pages.append(self)

    monkeypatch.setattr("simwright.view.live.LivePage", KeptPage)
    record = tmp_path / "run.npz" if recorded else None
    run_source(ARM, frames=2, record=record, view=LiveOptions(lambda _: None, speed=None))
    assert ("Reset" in pages[0]._run._buttons.options) != recorded


@pytest.fixture
def transport(monkeypatch: pytest.MonkeyPatch) -> MemoryTransport:
    """What ROS would hear."""
    made = MemoryTransport()
    monkeypatch.setattr("simwright.ros.transports.table.open_transport", lambda *_: made)
    return made


def test_a_run_is_watched_and_served_at_once(transport: MemoryTransport) -> None:
    given: dict[str, Any] = {"frames": 200, "ros": RosOptions("memory", realtime=False)}
    alone = run_source(ARM, **given)
    heard = [time for time, _ in transport.sent["/clock"]]
    transport.sent.clear()
    visitors: list[ClientConnection] = []
    watched = run_source(
        ARM, **given, view=LiveOptions(lambda address: visitors.append(visit(address)), speed=None)
    )
    visitors[0].close()
    assert watched.frames == alone.frames == 200
    np.testing.assert_array_equal(watched.positions, alone.positions)
    assert [time for time, _ in transport.sent["/clock"]] == heard


def test_a_task_is_watched_and_served_at_once(transport: MemoryTransport) -> None:
    given: dict[str, Any] = {"robot": "sample_arm", "policy": "random", "episodes": 1, "max_steps": 20}
    alone = prepare_run(RunRequest("reach", **given)).run()
    visitors: list[ClientConnection] = []
    view = LiveOptions(lambda address: visitors.append(visit(address)), speed=None)
    ready = prepare_run(RunRequest("reach", **given, view=view, ros=RosOptions("memory")))
    summary = ready.run()
    visitors[0].close()
    assert summary.episodes[0].total_reward == alone.episodes[0].total_reward
    assert len(transport.sent["/joint_states"]) > 10
    assert transport.last("/task/success") == {"data": summary.episodes[0].success}


def test_a_world_is_watched_and_served_at_once(transport: MemoryTransport) -> None:
    simulation = open_world(load_world(SAMPLES / "lab" / "lab.yaml"))
    watch_plans(
        simulation, LiveOptions(lambda _: None, speed=None), seconds=2.0, ros=RosOptions("memory"),
        goals=["at bench"], robot="tender",
    )  # fmt: skip
    assert simulation.time == pytest.approx(2.0)
    odometry = [message["pose"]["pose"]["position"] for _, message in transport.sent["/tender/odom"]]
    assert len(odometry) > 50
    assert odometry[-1] != odometry[0]


def test_a_speed_that_is_none_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert run(["run", str(QUADRUPED), "--view", "--speed", "fast", "--no-browser"]) == 2
    assert "fast" in capsys.readouterr().err


# -- recordings --------------------------------------------------------------------------------------------------


@pytest.mark.parametrize("source", [QUADRUPED, SAMPLES / "playground" / "playground.yaml"])
def test_a_recording_is_replayed_with_the_file_it_names(source: Path, tmp_path: Path) -> None:
    record = tmp_path / "run.npz"
    result = run_source(source, frames=40, num_worlds=2, record=record, record_every=10)
    recording = read_recording(record)
    assert (record.parent / recording.source).resolve() == source.resolve()
    assert recording.poses.shape[:2] == (5, 2)
    page = open_replay(str(source), str(record), ViewRequest(), Reporter())
    try:
        page.is_playing = False
        time.sleep(0.1)
        page.go_to(4)
        assert page.slider.value == 4
        assert "of 0" in page._told.content
        np.testing.assert_allclose(page.figure.poses, recording.poses[4][:, page._order], atol=1e-6)
        assert result.frames == 40
    finally:
        page.close()


def test_episodes_of_a_task_are_replayed(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    record = tmp_path / "reach.npz"
    given = ["task", "run", "reach", "--robot", "sample_arm", "--policy", "random", "--episodes", "2"]
    assert run([*given, "--max-steps", "15", "--set", "goal_radius=0.06", "--record", str(record)]) == 0
    recording = read_recording(record)
    assert (recording.task, recording.robot) == ("reach", "sample_arm")
    assert len(recording.times) == 30
    assert np.all(np.diff(recording.times) > 0)
    assert {"reward", "episode", "qpos 0"} <= set(recording.signals)
    page = open_replay("", str(record), ViewRequest(), Reporter())
    try:
        page.is_playing = False
        tool = recording.bodies.index("robot/forearm_link")
        assert np.ptp(recording.poses[:15, 0, tool, :3], axis=0).max() > 1e-3
        page.go_to(29)
        np.testing.assert_allclose(page.figure.poses[0], recording.poses[29, 0, page._order], atol=1e-6)
    finally:
        page.close()
    # a robot that is in no list has to be named
    with np.load(record) as arrays:
        changed = {name: arrays[name] for name in arrays.files}
    changed["meta"] = np.array(str(changed["meta"]).replace("sample_arm", "../elsewhere.urdf"))
    np.savez(record, **changed)
    capsys.readouterr()
    assert run(["view", str(record), "--no-browser"]) == 2
    assert "--robot FILE" in capsys.readouterr().err


def test_a_recording_does_not_lead_to_files_elsewhere(tmp_path: Path) -> None:
    record = tmp_path / "a" / "run.npz"
    record.parent.mkdir()
    arrays = {
        "times": np.zeros(1), "body_poses": np.zeros((1, 1, 1, 7)), "body_names": np.array(["a"]),
        "position_names": np.array(["q"]), "positions": np.zeros((1, 1, 1)),
    }  # fmt: skip
    np.savez(record, source=np.array("../../../../etc/robot.urdf"), **arrays)  # type: ignore[arg-type]
    with pytest.raises(SimwrightError, match="outside"):
        open_replay("", str(record), ViewRequest(), Reporter())


def test_what_is_no_recording_is_told(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    file = tmp_path / "x.npz"
    file.write_bytes(b"no archive")
    assert run(["view", str(file), "--no-browser"]) == 2
    assert "not a recording" in capsys.readouterr().err
    np.savez(file, times=np.zeros(2), body_poses=np.zeros((2, 1, 3, 7)), body_names=np.array(["a"]),
             position_names=np.array(["q"]), positions=np.zeros((2, 1, 1)))  # fmt: skip
    assert run(["view", str(QUADRUPED), "--recording", str(file), "--no-browser"]) == 2
    assert "damaged" in capsys.readouterr().err


# -- comparing ---------------------------------------------------------------------------------------------------


def test_two_files_are_moved_together_and_what_differs_is_marked(tmp_path: Path) -> None:
    other = SAMPLES / "arm" / "urdf" / "arm.urdf"
    text = other.read_text().replace('mass value="5.9"', 'mass value="4.1"')
    changed = tmp_path / "changed.urdf"
    # without its meshes: those are beside the original
    changed.write_text(text)
    page = open_comparison((str(other), str(changed)), ViewRequest(), [Reporter(), Reporter()])
    try:
        masses = [item for section, item in page.items if section == "masses"]
        assert [item.element for item in masses] == ["body 'upper_arm_link'"]
        row = page.configurations[0].asset.body_names.index("upper_arm_link")
        assert page.find_links(masses[0]) == [[row], [row]]
        page.light(masses[0])
        assert all(figure._marks for figure in page.figures)
        page.move({"joint_3": 0.6})
        assert [one.get("joint_3") for one in page.configurations] == [0.6, 0.6]
        np.testing.assert_allclose(page.figures[0].poses, page.figures[1].poses)
        assert np.linalg.norm(page.figures[1].roots[0, :3]) > 0.1
        page.place(over=True)
        np.testing.assert_array_equal(page.figures[0].roots, page.figures[1].roots)
    finally:
        page.close()


# -- worlds and tasks --------------------------------------------------------------------------------------------


@pytest.fixture
def plan() -> Iterator[WorldPage]:
    world = load_world(SAMPLES / "lab" / "lab.yaml")
    page = WorldPage(open_world(world), make_scene(world), speed=None)
    page.pace.is_paused = True  # every picture is due
    yield page
    page.close()


def test_a_page_that_is_closed_ends_what_waits_for_it(plan: WorldPage) -> None:
    assert not plan.pace.is_ended
    plan.close()
    assert plan.pace.is_ended


def test_a_door_opens_and_closes_by_a_click(plan: WorldPage) -> None:
    hallway = next(one for one in plan.world.hallways if not one.is_locked)
    was = hallway.is_open
    plan.toggle(hallway.name)
    plan.follow()
    plan.show()
    assert hallway.is_open is not was
    assert plan._doors[hallway.name].options == ("closed" if was else "open",)
    door = next(f for placed, f in plan.figures if placed[0].facts.get("hallway") == hallway.name)
    assert door.shown["Visuals"] is was
    locked = next(one for one in plan.world.hallways if one.is_locked)
    plan.toggle(locked.name)
    plan.follow()
    assert "locked" in plan._run.note


def test_a_robot_goes_where_it_is_sent_and_is_drawn_there(plan: WorldPage) -> None:
    robot = plan.world.robots[0]
    before = robot.pose
    plan.send(robot.name, "desk0")
    plan.follow()
    while plan.simulation.is_busy(robot.name):
        plan.simulation.step(0.5)
    plan.show()
    assert (robot.pose.x, robot.pose.y) != (before.x, before.y)
    placed = next((p, f) for p, f in plan.figures if p[0].name == robot.name)
    np.testing.assert_allclose(placed[1].roots[0, :2], (robot.pose.x, robot.pose.y), atol=1e-6)
    assert robot.pose.yaw != pytest.approx(before.yaw)
    w, x, y, z = placed[1].roots[0, 3:]
    assert (x, y) == pytest.approx((0.0, 0.0), abs=1e-6), "it stands upright"
    assert math.remainder(2.0 * math.atan2(z, w) - robot.pose.yaw, math.tau) == pytest.approx(0.0, abs=1e-6)
    assert robot.name in plan._trails


def test_a_click_on_the_floor_sends_the_robot_to_where_the_line_of_sight_meets_it(plan: WorldPage) -> None:
    placements, _ = plan.figures[0]
    # from 4 m up at (1, 2), two down for each one along x: it is met at (3, 2)
    plan._pick(placements, Picked(-1, [], 0, np.array((1.0, 2.0, 4.0)), np.array((1.0, 0.0, -2.0))))
    ((what, (robot, pose)),) = plan._asked
    assert (what, robot) == ("send", plan._chosen())
    assert (pose.x, pose.y, pose.z) == pytest.approx((3.0, 2.0, 0.0))


def test_many_worlds_of_a_task_stand_in_a_grid() -> None:
    ready = prepare_run(
        RunRequest("reach", robot="sample_arm", policy="random", episodes=5, num_worlds=5, max_steps=20,
                   view=LiveOptions(lambda address: seen.append(visit(address)), speed=None))
    )  # fmt: skip
    seen: list[ClientConnection] = []
    plain = prepare_run(
        RunRequest("reach", robot="sample_arm", policy="random", episodes=5, num_worlds=5, max_steps=20)
    ).run()
    pages: list[LivePage] = []
    shown = WatchedBatch.begin_episode

    def begin(self: WatchedBatch) -> None:
        pages.append(self.page)
        shown(self)

    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(WatchedBatch, "begin_episode", begin)
        summary = ready.run()
    seen[0].close()
    assert [episode.total_reward for episode in summary.episodes] == [
        episode.total_reward for episode in plain.episodes
    ]
    assert pages[0].worlds == 5
    assert len({tuple(root) for root in pages[0].figure.roots}) == 5
    hand = pages[0].asset.body_names.index("robot/forearm_link")
    # every world has its own actions
    assert len({tuple(row) for row in pages[0].figure.poses[:, hand].round(6)}) == 5


def test_nobody_is_sent_to_a_page_of_a_task_that_cannot_run(tmp_path: Path) -> None:
    """What is wrong is told before the address is."""
    told: list[str] = []
    view = LiveOptions(told.append, speed=None)
    wrong: list[tuple[dict[str, Any], str]] = [
        ({"policy": "push", "num_worlds": 9}, "'push' drives one world at a time"),
        ({"policy": "pull"}, "'tabletop_push' has no cabinet and no drawer"),
        ({"policy": "push", "record": str(tmp_path / "run.mp4"), "camera": "nope"}, "unknown camera 'nope'"),
        ({"policy": "hold", "record": "/proc/self/nowhere/run.npz"}, "cannot be written"),
        ({"policy": "hold", "num_worlds": 9, "record": str(tmp_path / "run.npz")}, "not recorded"),
    ]
    for options, message in wrong:
        with pytest.raises(SimwrightError, match=message):
            prepare_run(RunRequest("tabletop_push", robot="sample_arm", view=view, **options))
    assert told == []

    class Stubborn(HoldPolicy):
        def start(self, rollout: SimRollout) -> None:
            raise SimwrightError("it does not begin")

    ready = prepare_run(RunRequest("reach", robot="sample_arm", max_steps=3, episodes=1, view=view))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr("simwright.app.tasking.make_policy", lambda *_: Stubborn())
        with pytest.raises(SimwrightError, match="does not begin"):
            ready.run()
    assert told == []
    ready.run()
    assert len(told) == 1


def test_nobody_is_sent_to_a_page_of_a_world_whose_goal_is_none() -> None:
    told: list[str] = []
    simulation = open_world(load_world(SAMPLES / "lab" / "lab.yaml"))
    with pytest.raises(SimwrightError, match="no object 'nothing'"):
        watch_plans(simulation, LiveOptions(told.append), goals=["nothing at desk0"], robot="tender")
    assert told == []


def test_a_pace_ends_wherever_it_is_interrupted() -> None:
    """Ctrl-C may come between any two instructions of a sleep; asking for the end has to come back all the same."""
    code = """
import random, signal
from simwright.view.pace import Pace
def interrupt(*_):
    raise KeyboardInterrupt
signal.signal(signal.SIGALRM, interrupt)
chosen = random.Random(5)
for _ in range(3000):
    pace = Pace()
    try:
        signal.setitimer(signal.ITIMER_REAL, chosen.uniform(1e-5, 2e-4))
        while True:
            pace.look()
            pace.take_steps(0.0, 1.0, 1)
            pace._sleep(1e-6)
    except KeyboardInterrupt:
        pass
    signal.alarm(0)
    pace.end()
print("done")
"""
    done = subprocess.run(
        [sys.executable, "-c", code], capture_output=True, text=True, timeout=120, check=False
    )
    assert done.stdout == "done\n", done.stderr


def start(*arguments: str) -> subprocess.Popen[str]:
    return subprocess.Popen(
        [sys.executable, "-m", "simwright", *arguments, "--no-browser"], stdout=subprocess.PIPE,
        stderr=subprocess.PIPE, text=True,
    )  # fmt: skip


@pytest.mark.parametrize(
    "arguments",
    [
        ("world", "run", str(SAMPLES / "lab" / "lab.yaml"), "--view"),
        ("task", "run", "reach", "--robot", "sample_arm", "--policy", "reach", "--view"),
        ("view", "reach", "--robot", "sample_arm"),
        (
            "task",
            "run",
            "reach",
            "--robot",
            "sample_arm",
            "--policy",
            "random",
            "--num-worlds",
            "6",
            "--view",
        ),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_worlds_and_tasks_are_watched_and_end_by_a_signal(arguments: tuple[str, ...]) -> None:
    with start(*arguments) as process:
        assert process.stdout is not None
        line = next((line for line in process.stdout if line.startswith("http")), "")
        try:
            assert line.startswith("http://127.0.0.1:")
            # an episode of this task takes a fifth of a second: what ends with it is not there to be looked at
            with pytest.raises(subprocess.TimeoutExpired):
                process.wait(1.0)
            process.send_signal(signal.SIGINT)
            out, err = process.communicate(timeout=120)
        finally:
            # one that does not end is a failure, not a test that never ends
            process.kill()
        assert "Traceback" not in out + err
        assert process.returncode in (0, 130)
