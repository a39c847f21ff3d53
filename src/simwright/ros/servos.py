# SPDX-License-Identifier: Apache-2.0
"""Joints that controllers command: drives where the asset has none, and the targets they all aim at.

ros2_control and Gazebo move joints that have no drive in their file; engines do not.  :func:`add_missing_drives` gives
each such joint a drive and reports it: critically damped, as fast as the time step allows, as strong as the joint's
effort limit, with gravity compensated by the bridge.
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from simwright.core.diag import Level, Reporter, declare
from simwright.core.math3d import Array
from simwright.engines.layout import LayoutDof
from simwright.engines.protocol import Simulation
from simwright.model.asset import Asset
from simwright.model.joint import Drive, Joint, Motion
from simwright.model.mass import body_inertials
from simwright.ros.graph import RosGraph

SERVO_ADDED = declare(
    "ros-servo-added",
    Level.WARNING,
    "joint {joint!r} has no drive, and controller {controller!r} commands it: one with stiffness {stiffness:.4g} and "
    "damping {damping:.4g} is added",
    hint="author a drive (PhysicsDriveAPI), an actuator, or gains",
    doc="A commanded joint without a drive would not move; the one that is added decides how it follows.",
    section="4.2.3",
)
BODY_FREED = declare(
    "ros-body-freed",
    Level.INFO,
    "body {body!r} is kinematic, and controller {controller!r} gives it velocities: it is simulated as a dynamic body",
    hint="it stops at obstacles, and falls where nothing is below it",
    doc="Engines do not move kinematic bodies; one that a twist commands would stand still.",
    section="4.2.3",
)
SERVO_SAGS = declare(
    "ros-servo-sags",
    Level.WARNING,
    "this engine does not report gravity loads of joints: joints with added drives sag ({joints})",
    hint="author drives (PhysicsDriveAPI) or actuators, or use --engine mujoco",
    doc="Drives that Simwright adds carry weight by what the engine says of it; without that, joints hang lower.",
    section="4.2.3",
)
_FASTEST = 60.0
"""Natural frequency of added drives at most [rad/s]."""
_SHARE = 0.1
"""How much of a natural period a time step may be, and how much of a velocity damping may take in a step."""
_ARRIVAL, _CLOSE = 0.05, 0.005
"""How fast a joint follows against its own damping [s], and how close it comes against its friction [rad, m]."""
_STEEPEST = 0.1
"""Stiffness times the square of the time step, over the inertia, at most."""
COMMAND_ROLES = ("left", "right", "command")


def list_commanded(graph: RosGraph) -> dict[str, str]:
    """Joints that controllers run by Simwright command -> name of the first such controller.

    Controllers of kind ``ros2_control`` and ``external`` run elsewhere and are left out.
    """
    found: dict[str, str] = {}
    for robot in graph.robots:
        for entry in robot.controllers:
            if entry.controller.kind in ("ros2_control", "external") or not entry.endpoints:
                continue
            for role in COMMAND_ROLES:
                for name in entry.controller.joints.get(role, ()):
                    found.setdefault(name, entry.controller.name)
    return found


def free_twisted_bodies(asset: Asset, reporter: Reporter) -> Asset:
    """The asset, or a copy in which kinematic bodies that a twist controller commands are dynamic.

    Engines do not move kinematic bodies; each change is reported.
    """
    commanded = {
        str(one.settings.get("body", "")): one.name
        for one in asset.controllers
        if one.kind == "rigid_body_twist"
    }
    held = [body.name for body in asset.bodies if body.kinematic and body.name in commanded]
    if not held:
        return asset
    made = asset.copy()
    for name in held:
        body = made.body(name)
        body.kinematic = False
        reporter.report(BODY_FREED, body.source, body=name, controller=commanded[name])
    return made


def list_undriven(asset: Asset, graph: RosGraph) -> dict[str, str]:
    """Commanded joints with one hinge or slide that have neither a drive nor a servo -> name of the controller."""
    servos = {a.target for a in asset.actuators if a.kind in ("position", "velocity", "general")}
    commanded = list_commanded(graph)
    return {
        joint.name: commanded[joint.name]
        for joint in asset.joints
        if joint.name in commanded
        and len(joint.dofs) == 1
        and joint.dofs[0].motion in (Motion.HINGE, Motion.SLIDE)
        and joint.dofs[0].drive is None
        and not servos & {joint.name, joint.dofs[0].name}
    }


def add_missing_drives(
    asset: Asset, graph: RosGraph, probe: Simulation, reporter: Reporter
) -> tuple[Asset, frozenset[str]]:
    """A copy of the asset with drives on commanded joints that have none, and which joints those are.

    ``probe`` is a simulation of the asset as it is: it tells what inertia each joint feels.
    """
    undriven = list_undriven(asset, graph)
    matrix = probe.mass_matrix()
    if not undriven or matrix is None:
        return asset, frozenset()
    made = asset.copy()
    loads = _find_loads(asset, graph)
    for joint in made.joints:
        freedom = next(
            (f for f in probe.layout.freedoms if f.joint is not None and f.joint.name == joint.name), None
        )
        if joint.name not in undriven or freedom is None:
            continue
        # the diagonal: what the joint feels of everything that it moves, the others held
        own = max(float(matrix[freedom.v, freedom.v]), 1e-9)
        drive = _make_drive(joint, own, own + loads.get(joint.name, 0.0), probe.dt)
        joint.dofs[0].drive = drive
        reporter.report(
            SERVO_ADDED,
            joint.source,
            joint=joint.name,
            controller=undriven[joint.name],
            stiffness=drive.stiffness,
            damping=drive.damping,
        )
    return made, frozenset(undriven)


def _make_drive(joint: Joint, own: float, carried: float, dt: float) -> Drive:
    """Critically damped for what it carries; a wheel that lifts off must not become unstable by its damping.

    Damping and friction of the joint itself are overcome: it arrives in a short time, and close.
    """
    # In the air a wheel has its own inertia only.  Damping of 2 carried f takes no more than its whole velocity in a
    # step while 2 carried f dt <= own: beyond that it would change its sign, and grow.
    frequency = min(_FASTEST, _SHARE / dt, 0.5 * own / (carried * dt) if carried > own else math.inf)
    dof = joint.dofs[0]
    resisting = max((dof.damping or 0.0) / _ARRIVAL, (dof.friction or 0.0) / _CLOSE)
    # stiffer than the time step can follow would ring
    stiffness = max(carried * frequency**2, min(resisting, _STEEPEST * own / dt**2))
    start = 0.0 if dof.position is None else float(np.atleast_1d(dof.position)[0])
    return Drive(
        stiffness=stiffness,
        damping=2.0 * math.sqrt(carried * stiffness),
        target_position=start,
        max_force=math.inf if dof.effort_limit is None else dof.effort_limit,
    )


def _find_loads(asset: Asset, graph: RosGraph) -> dict[str, float]:
    """What wheels carry beside themselves [kg m^2]: their share of the robot, at their radius."""
    weights = [inertial.mass for inertial in body_inertials(asset).values() if inertial is not None]
    mass = float(sum(weights))
    loads: dict[str, float] = {}
    for robot in graph.robots:
        for entry in robot.controllers:
            radius = entry.controller.settings.get("wheel_radius")
            wheels = [n for role in ("left", "right") for n in entry.controller.joints.get(role, ())]
            if radius is not None and wheels:
                loads |= dict.fromkeys(wheels, mass * float(radius) ** 2 / len(wheels))
    return loads


@dataclass(slots=True)
class _AddedServo:
    freedom: LayoutDof
    reach: float
    """How far a target may run ahead of the joint: beyond, the drive is at its limit anyway [rad, m]."""


class JointTargets:
    """Targets of all drives: controllers set them, the bridge writes them to the simulation once per step.

    They begin at the targets in the asset, or at the present position of a joint without a drive.
    """

    def __init__(self, simulation: Simulation, added: frozenset[str]) -> None:
        self._simulation = simulation
        layout = simulation.layout
        self.positions, self.velocities, self.efforts = (np.zeros(layout.nv) for _ in range(3))
        start = simulation.positions[0]
        self._added: list[_AddedServo] = []
        self._integrated: dict[int, LayoutDof] = {}
        self.is_used = False
        for freedom in layout.freedoms:
            if freedom.dof is None or freedom.motion not in (Motion.HINGE, Motion.SLIDE):
                continue
            drive = freedom.dof.drive
            self.positions[freedom.v] = drive.target_position if drive is not None else start[freedom.q]
            self.velocities[freedom.v] = drive.target_velocity if drive is not None else 0.0
            if freedom.joint is not None and freedom.joint.name in added and drive is not None:
                reach = drive.max_force / drive.stiffness if math.isfinite(drive.max_force) else math.inf
                self._added.append(_AddedServo(freedom, reach))

    def set_position(self, freedom: LayoutDof, position: float, velocity: float = 0.0) -> None:
        """Set the position target of a dof [rad, m] and the velocity it is passed at; ends a velocity command."""
        self.is_used = True
        self._integrated.pop(freedom.v, None)
        self.positions[freedom.v], self.velocities[freedom.v] = position, velocity

    def set_velocity(self, freedom: LayoutDof, velocity: float) -> None:
        """Set the velocity target of a dof [rad/s, m/s].

        The position target moves along with it, so that the spring of a drive does not pull back.
        """
        self.is_used = True
        if freedom.v not in self._integrated:
            self.positions[freedom.v] = self._simulation.positions[0][freedom.q]
        self._integrated[freedom.v] = freedom
        self.velocities[freedom.v] = velocity

    def set_effort(self, freedom: LayoutDof, effort: float) -> None:
        """Set the effort that is applied to a dof in addition to its drive [N m, N]."""
        self.is_used = True
        self.efforts[freedom.v] = effort

    def aim(self, freedom: LayoutDof, position: float, velocity: float = 0.0) -> None:
        """Deprecated: :meth:`set_position`."""
        warnings.warn("JointTargets.aim is set_position now", DeprecationWarning, stacklevel=2)
        self.set_position(freedom, position, velocity)

    def drive(self, freedom: LayoutDof, velocity: float) -> None:
        """Deprecated: :meth:`set_velocity`."""
        warnings.warn("JointTargets.drive is set_velocity now", DeprecationWarning, stacklevel=2)
        self.set_velocity(freedom, velocity)

    def push(self, freedom: LayoutDof, effort: float) -> None:
        """Deprecated: :meth:`set_effort`."""
        warnings.warn("JointTargets.push is set_effort now", DeprecationWarning, stacklevel=2)
        self.set_effort(freedom, effort)

    def apply(self, place: Callable[[], Array]) -> None:
        """Write all targets to the simulation; ``place`` gives the present positions and is called only if needed."""
        if not self.is_used:
            return
        simulation = self._simulation
        for v, freedom in self._integrated.items():
            self.positions[v] += self.velocities[v] * simulation.dt
            # a wheel that is held must not store up where it wanted to be
            limit = self._find_reach(freedom)
            if math.isfinite(limit):
                now = place()[freedom.q]
                self.positions[v] = np.clip(self.positions[v], now - limit, now + limit)
        efforts = self.efforts.copy()
        # only joints held at a position need gravity compensated; a wheel that turns at a velocity carries nothing
        rows = [s.freedom.v for s in self._added if s.freedom.v not in self._integrated]
        bias = simulation.bias() if rows else None
        if bias is not None:
            efforts[rows] += bias[rows]
        rows_of: list[Array] = [self.positions, self.velocities, efforts]
        worlds = simulation.worlds
        simulation.set_targets(*(np.broadcast_to(row, (worlds, len(row))) for row in rows_of))

    def _find_reach(self, freedom: LayoutDof) -> float:
        return next((servo.reach for servo in self._added if servo.freedom is freedom), math.inf)
