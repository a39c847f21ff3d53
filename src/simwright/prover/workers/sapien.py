# SPDX-License-Identifier: Apache-2.0
"""SAPIEN: what its URDF loader makes of a file, on PhysX.

Trees that float beside others
become articulations of their own, and links that float alone become actors.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

import numpy as np
import sapien
from sapien import physx

from .seen import (
    WORLD,
    Configuration,
    Evaluated,
    Moment,
    MotionOrder,
    Moved,
    NotAbleError,
    Seen,
    SeenFreedom,
    WorldSettings,
    bound,
    find_position,
    find_root,
    find_speed,
    name_of,
    pack_inertia,
    record,
    rotate,
    serve,
)

_KINDS = {"revolute": "hinge", "revolute_unwrapped": "hinge", "continuous": "hinge", "prismatic": "slide"}

_NO_MASS = 1.1e-6
"""What SAPIEN has for a link without mass [kg]: PhysX has to have some."""


class SapienRobot:
    """A scene with articulations, and actors that are single links."""

    def __init__(self, scene: Any, trees: Sequence[Any], actors: Sequence[Any], *, held: bool) -> None:
        self.scene, self.trees, self.held = scene, trees, held
        self.engine = f"SAPIEN {sapien.__version__}"
        self.actors = {
            name_of(actor.name): actor.find_component_by_type(physx.PhysxRigidDynamicComponent)
            for actor in actors
        }
        self.joints = [joint for tree in trees for joint in tree.active_joints]
        self.frictions = {joint.name: float(joint.friction) for joint in self.joints}

    def describe(self) -> Seen:
        """What does not depend on the configuration."""
        seen = Seen(self.engine)
        for name, body in [*self._list_links(), *self.actors.items()]:
            if body.mass <= _NO_MASS:
                seen.masses[name] = 0.0
                continue
            center = body.cmass_local_pose
            turn = rotate(center.q)
            seen.masses[name] = float(body.mass)
            seen.inertias[name] = pack_inertia(center.p, turn @ np.diag(body.inertia) @ turn.T)
        for tree in self.trees:
            root = name_of(tree.root.name)
            if not self._is_held(tree):
                seen.floating.append(root)
                seen.freedoms += [SeenFreedom(f"{root}_free", root, "free") for _ in range(6)]
            seen.freedoms += [_describe_joint(joint, self.frictions) for joint in tree.active_joints]
        for name in self.actors:
            seen.floating.append(name)
            seen.freedoms += [SeenFreedom(f"{name}_free", name, "free") for _ in range(6)]
        seen.blank["mimics"] = "SAPIEN 3.0 does not report which joint a joint follows"
        if seen.floating:
            seen.blank["bias"] = "SAPIEN 3.0 reports forces of fixed bases only"
        return seen

    def evaluate(self, configuration: Configuration) -> Evaluated:
        """Poses, mass matrix and bias forces in a configuration."""
        self._place(configuration)
        forces = [
            force
            for tree in self.trees
            for force in tree.compute_passive_force(gravity=True, coriolis_and_centrifugal=True)
        ]
        held = not self.actors and all(self._is_held(tree) for tree in self.trees)
        return Evaluated(self._read_poses(), None, [float(force) for force in forces] if held else None)

    def move(self, order: MotionOrder) -> Moved:
        """Do a motion."""
        if order.targets:
            raise NotAbleError("URDF has no place for drives")
        self.scene.set_timestep(order.step)
        self._place(order.start)
        self._take_out_brakes()

        def advance(count: int) -> None:
            for _ in range(count):
                self.scene.step()

        def read() -> Moment:
            joints: list[float | None] = []
            for tree in self.trees:
                joints += [] if self._is_held(tree) else [None] * 6
                joints += [float(value) for value in tree.qpos]
            return [*joints, *[None] * (6 * len(self.actors))], self._read_poses()

        return record(order, advance, read)

    def _take_out_brakes(self) -> None:
        """Without what it brakes every asset by, the rest of the motion can be compared.

        Its loader (3.0.3) drops the friction of the file and leaves a coefficient of 0.05 at every joint, which the
        structure tells, and slows all links down by 0.05 1/s.
        """
        for joint in self.joints:
            joint.set_friction(0.0)
        for _, body in [*self._list_links(), *self.actors.items()]:
            body.set_linear_damping(0.0)
            body.set_angular_damping(0.0)

    def _is_held(self, tree: Any) -> bool:
        """The loader holds the tree of the root link; those that float beside it are others."""
        return self.held and name_of(tree.root.name) == WORLD

    def _list_links(self) -> list[tuple[str, Any]]:
        return [
            (name_of(link.name), link) for tree in self.trees for link in tree.links if link.name != WORLD
        ]

    def _place(self, configuration: Configuration) -> None:
        places = configuration.get("roots", {})
        for tree in self.trees:
            pose = places.get(name_of(tree.root.name))
            if pose is not None and not self._is_held(tree):
                tree.root_pose = sapien.Pose(pose[:3], pose[3:])
                tree.root_linear_velocity = tree.root_angular_velocity = np.zeros(3)
            names = [(name_of(joint.name), name_of(joint.child_link.name)) for joint in tree.active_joints]
            tree.qpos = np.array([find_position(configuration, *pair) for pair in names])
            tree.qvel = np.array([find_speed(configuration, *pair) for pair in names])
        for name, body in self.actors.items():
            if name in places:
                body.entity.set_pose(sapien.Pose(places[name][:3], places[name][3:]))
                body.linear_velocity = body.angular_velocity = np.zeros(3)

    def _read_poses(self) -> dict[str, list[float]]:
        rows = [(name, link.entity_pose) for name, link in self._list_links()]
        rows += [(name, body.entity.pose) for name, body in self.actors.items()]
        return {name: [*map(float, pose.p), *map(float, pose.q)] for name, pose in rows}


def _describe_joint(joint: Any, frictions: Mapping[str, float]) -> SeenFreedom:
    low, high = np.ravel(joint.limits)[:2]
    return SeenFreedom(
        name_of(joint.name),
        name_of(joint.child_link.name),
        _KINDS.get(joint.type, "axis"),
        limit=(bound(low), bound(high)),
        armature=float(np.ravel(joint.armature)[0]),
        friction=frictions[joint.name],
        passive_damping=float(joint.damping),
        label=joint.name,
    )


def open_file(file: Path, world: WorldSettings) -> SapienRobot:
    """Load it into a scene without a renderer."""
    physx.set_scene_config(gravity=np.array(world.gravity, dtype=np.float32))
    if world.ground is not None:
        physx.set_default_material(world.ground, world.ground, 0.0)
    scene = sapien.Scene([physx.PhysxCpuSystem()])
    loader = scene.create_urdf_loader()
    held = find_root(file) == WORLD
    loader.fix_root_link = held
    # it asks for a rendering device where a link has looks, and finds meshes beside the file
    plain = file.with_name(f".{file.stem}-without-looks.urdf")
    try:
        document = ET.parse(file)  # noqa: S314 - written by Simwright
        for link in document.getroot().iter("link"):
            for look in link.findall("visual"):
                link.remove(look)
        document.write(plain)
        trees, actors = loader.load_multiple(str(plain))
    except KeyError as error:
        raise ValueError(f"its URDF loader raises KeyError: {error}") from None
    finally:
        plain.unlink(missing_ok=True)
    if world.ground is not None:
        scene.add_ground(0.0, render=False)
    return SapienRobot(scene, trees, [actor for actor in actors if actor.name != WORLD], held=held)


if __name__ == "__main__":
    serve(open_file)
