# SPDX-License-Identifier: Apache-2.0
"""What peers of an asset would stumble over, found in its graph without any ROS.

Names that two endpoints claim, policies that do not match what ROS nodes have unless told otherwise, frames that two
things claim, joints that ROS cannot tell apart, and what belongs to the simulator (REP-0158 2.9).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

from simwright.checker.facts.interfaces import SENSOR_TYPES
from simwright.core.diag import NOWHERE, Level, Reporter, declare
from simwright.model.ros import InterfaceKind
from simwright.ros.graph import GraphRobot, RosEndpoint, RosGraph
from simwright.ros.qos import DEFAULT_QOS, explain_mismatch
from simwright.ros.sources import COMPUTED

TYPE_CLASH = declare(
    "ros-type-clash",
    Level.ERROR,
    "topic {name!r} has the types {first} and {second}",
    hint="give one of them another name, or another namespace",
    doc="Peers of two types on one topic never see each other.",
    section="2.3",
)
SERVER_CLASH = declare(
    "ros-server-clash",
    Level.ERROR,
    "{count} servers of {kind} {name!r}",
    hint="give each robot a namespace of its own",
    doc="Which of several servers answers is left to chance.",
    section="2.1.1",
)
PUBLISHER_CLASH = declare(
    "ros-publisher-clash",
    Level.WARNING,
    "{count} publishers of topic {name!r}",
    hint="give each robot a namespace of its own",
    doc="Subscribers cannot tell the messages of several publishers apart.",
    section="2.1.1",
)
QOS_MISMATCH = declare(
    "ros-qos-mismatch",
    Level.WARNING,
    "{role} of {name!r} does not match a {other} with the defaults of ROS: {why}",
    hint="use the default policy (system_default), or document it for users of the asset",
    doc="Endpoints whose policies do not match exchange nothing, without an error on either side.",
    section="2.4",
)
QOS_SENSOR = declare(
    "ros-qos-sensor",
    Level.INFO,
    "{name!r} is best effort, as sensors are: subscriptions need the sensor profile",
    doc="A reliable subscription gets nothing of a best-effort publisher (REP 2003).",
    section="2.4",
)
FRAME_CLASH = declare(
    "ros-frame-clash",
    Level.ERROR,
    "frame {frame!r} of robot {robot!r} is claimed by {other!r} too",
    hint="give one of them another name (ros:frame:id, or the prim's)",
    doc="A TF frame has one parent; of two frames with one name, only one is published.",
    section="2.7",
)
FRAME_CYCLE = declare(
    "ros-frame-cycle",
    Level.ERROR,
    "frame {frame!r} is its own ancestor: {chain}",
    hint="give one of the contexts another parent frame, or a namespace of its own",
    doc="Robots that publish frames on one topic share one TF tree; a cycle in it has no root.",
    section="2.7",
)
JOINT_CLASH = declare(
    "ros-joint-clash",
    Level.ERROR,
    "{count} joints of robot {robot!r} are called {name!r}",
    hint="author ros:joint:name",
    doc="Joint states and trajectories name joints; two of one name cannot be told apart.",
    section="2.10",
)
SIMULATOR_NAME = declare(
    "ros-simulator-name",
    Level.ERROR,
    "{kind} {name!r} belongs to the simulator",
    hint="remove it from the asset",
    doc="The clock and the interfaces of simulation_interfaces are the simulator's own.",
    section="2.9",
)
RATE_MISSING = declare(
    "ros-rate-missing",
    Level.WARNING,
    "publisher {name!r} has no rate; {rate:g} Hz is used",
    hint="set one: ros:topic:publish_rate in OpenUSD, <update_rate> in SDFormat",
    doc="The rate of a publisher is for the asset to say.",
    section="2.4",
)
DEFAULT_RATE = 50.0
"""Of publishers whose rate the asset does not say [Hz]."""

NOT_COMPUTED = declare(
    "ros-not-computed",
    Level.INFO,
    "Simwright computes no messages of type {type}: publisher {name!r} is not served",
    hint="all other interfaces are served",
    doc="Simwright computes messages of some types only, and makes nothing up for others.",
    section="2.3",
)


def check_graph(graph: RosGraph, reporter: Reporter) -> None:
    """Report everything found; types have been looked up when the graph was built."""
    _check_names(graph.endpoints, reporter)
    for endpoint in graph.endpoints:
        _check_endpoint(endpoint, reporter)
    for robot in graph.robots:
        _check_robot(robot, reporter)
    _check_cycles(graph.robots, reporter)


def is_simulators(endpoint: RosEndpoint) -> bool:
    """Is it something that only the simulator may offer?"""
    return endpoint.type == "rosgraph_msgs/msg/Clock" or endpoint.type.startswith("simulation_interfaces/")


def _check_names(endpoints: Sequence[RosEndpoint], reporter: Reporter) -> None:
    groups: dict[tuple[int | None, InterfaceKind, str], list[RosEndpoint]] = {}
    for endpoint in endpoints:
        groups.setdefault((endpoint.domain_id, endpoint.kind, endpoint.name), []).append(endpoint)
    for (_, kind, name), group in groups.items():
        types = list(dict.fromkeys(endpoint.type for endpoint in group))
        if len(types) > 1:
            reporter.report(TYPE_CLASH, group[-1].source, name=name, first=types[0], second=types[1])
        for role, count in Counter(endpoint.role for endpoint in group).items():
            if count > 1 and role == "server":
                reporter.report(SERVER_CLASH, group[-1].source, count=count, kind=kind.value, name=name)
            elif count > 1 and role == "publisher":
                reporter.report(PUBLISHER_CLASH, group[-1].source, count=count, name=name)


def _check_endpoint(endpoint: RosEndpoint, reporter: Reporter) -> None:
    # a controller may compute what no source does
    if endpoint.role == "publisher" and endpoint.type not in COMPUTED and not endpoint.controller:
        reporter.report(NOT_COMPUTED, endpoint.source, type=endpoint.type, name=endpoint.name)
    if is_simulators(endpoint):
        reporter.report(SIMULATOR_NAME, endpoint.source, kind=endpoint.kind.value, name=endpoint.name)
    if endpoint.kind is not InterfaceKind.TOPIC:
        return
    if endpoint.role == "publisher":
        why, other = explain_mismatch(endpoint.qos, DEFAULT_QOS), "subscription"
        if endpoint.rate is None:
            reporter.report(RATE_MISSING, endpoint.source, name=endpoint.name, rate=DEFAULT_RATE)
    else:
        why, other = explain_mismatch(DEFAULT_QOS, endpoint.qos), "publisher"
    if why and endpoint.type in SENSOR_TYPES and endpoint.role == "publisher":
        reporter.report(QOS_SENSOR, endpoint.source, name=endpoint.name)
    elif why:
        reporter.report(
            QOS_MISMATCH, endpoint.source, role=endpoint.role, name=endpoint.name, other=other, why=why
        )


def _check_robot(robot: GraphRobot, reporter: Reporter) -> None:
    where = robot.context.source if robot.context is not None else NOWHERE
    for frame, other in robot.frames.clashes:
        reporter.report(FRAME_CLASH, where, frame=frame, robot=robot.name, other=other)
    for name, count in Counter(joint.public_name for joint in robot.joints).items():
        if count > 1:
            at = next(joint.source for joint in robot.joints if joint.public_name == name)
            reporter.report(JOINT_CLASH, at, count=count, robot=robot.name, name=name)


def _check_cycles(robots: Sequence[GraphRobot], reporter: Reporter) -> None:
    """Robots may hang on frames of each other, where they tell them on one topic; but not in a circle."""
    trees: dict[tuple[int | None, str], dict[str, str]] = {}
    for robot in robots:
        parents = trees.setdefault((robot.domain_id, robot.tf_topic), {})
        parents |= {frame.id: frame.parent for frame in robot.frames.frames if frame.parent}
    for parents in trees.values():
        settled: set[str] = set()
        for start in parents:
            chain: dict[str, None] = {}
            frame = start
            while frame in parents and frame not in settled and frame not in chain:
                chain[frame] = None
                frame = parents[frame]
            if frame in chain:
                names = [*chain][[*chain].index(frame) :]
                shown = " -> ".join([*names[:10], frame])
                reporter.report(FRAME_CYCLE, frame=frame, chain=shown)
            settled |= set(chain)
