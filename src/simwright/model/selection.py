# SPDX-License-Identifier: Apache-2.0
"""Which parts of an asset a builder gets: the options that importers share, and how parts are left out."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass

from simwright.core.errors import UsageError
from simwright.core.math3d import Pose
from simwright.model.asset import Asset
from simwright.model.joint import WORLD, Joint, Motion


@dataclass(frozen=True, slots=True)
class Selection:
    """What every importer into a builder may be asked for.

    ``floating`` says what holds a root: a free joint (True), a fixed one (False), or what is usual (None).
    ``joint_drive_gains_scaling`` goes onto the gains of every hinge.
    """

    floating: bool | None = None
    only_load_enabled_joints: bool = True
    joint_ordering: str | None = "dfs"
    bodies_follow_joint_ordering: bool = True
    force_position_velocity_actuation: bool = False
    ignore_paths: Sequence[str] = ()
    root_path: str = "/"
    only_load_enabled_rigid_bodies: bool = False
    enable_self_collisions: bool = True
    joint_drive_gains_scaling: float = 1.0
    load_sites: bool = True
    load_visual_shapes: bool = True
    hide_collision_shapes: bool = False
    force_show_colliders: bool = False
    skip_mesh_approximation: bool = False
    mesh_maxhullvert: int | None = None


def compile_patterns(option: str, patterns: Sequence[str]) -> Callable[[str], bool]:
    """A test whether a text begins as one of the regular expressions says."""
    try:
        compiled = [re.compile(pattern) for pattern in patterns]
    except re.error as error:
        raise UsageError(f"{option}: {error.pattern!r} is not a regular expression: {error}") from None
    # match, not search: Newton's ignore_paths begin at the start of a path
    return lambda text: any(pattern.match(text) for pattern in compiled)


def compile_paths(selection: Selection) -> Callable[[str], bool]:
    """A test whether a path is to be left out: outside of the root, or ignored; an empty one is not."""
    is_ignored = compile_patterns("ignore_paths", selection.ignore_paths)
    root = selection.root_path.rstrip("/")

    def is_out(path: str) -> bool:
        # with the slash: /robot2 is not below /robot
        outside = path != root and not path.startswith(f"{root}/")
        return bool(path) and (outside or is_ignored(path))

    return is_out


def leave_out(asset: Asset, is_out: Callable[[str, str], bool]) -> None:
    """Drop the elements whose name and path are out."""
    drop_bodies(asset, {body.name for body in asset.bodies if is_out(body.name, body.path)})
    for kind in ("joints", "shapes", "sites", "actuators", "articulations"):
        kept = [element for element in getattr(asset, kind) if not is_out(element.name, element.path)]
        setattr(asset, kind, kept)


def drop_bodies(asset: Asset, gone: set[str]) -> None:
    """Take bodies away with all that sits on them or holds them."""
    if not gone:
        return
    asset.bodies = [body for body in asset.bodies if body.name not in gone]
    asset.shapes = [shape for shape in asset.shapes if shape.body not in gone]
    asset.sites = [site for site in asset.sites if site.body not in gone]
    asset.joints = [joint for joint in asset.joints if not {joint.parent, joint.child} & gone]


def hold_disabled(asset: Asset) -> None:
    """Let bodies that are switched off stand still: colliders and joints on them are those of the world there.

    So UsdPhysics has it.  Lists and elements that change are made anew.
    """
    off = {body.name: body.pose for body in asset.bodies if not body.enabled}
    if not off:
        return
    asset.bodies = [
        dataclasses.replace(body, kinematic=True) if body.name in off else body for body in asset.bodies
    ]
    asset.shapes = [
        dataclasses.replace(shape, body=WORLD, pose=off[shape.body] @ shape.pose)
        if shape.collision and shape.body in off
        else shape
        for shape in asset.shapes
    ]
    asset.joints = [
        joint if not {joint.parent, joint.child} & off.keys() else _hang_on_world(joint, off)
        for joint in asset.joints
        if not {joint.parent, joint.child} <= off.keys() | {WORLD}
    ]


def _hang_on_world(joint: Joint, places: Mapping[str, Pose]) -> Joint:
    """The joint with the world in the place of bodies that stand somewhere."""
    parent, child = places.get(joint.parent), places.get(joint.child)
    return dataclasses.replace(
        joint,
        parent=joint.parent if parent is None else WORLD,
        child=joint.child if child is None else WORLD,
        parent_frame=joint.parent_frame if parent is None else parent @ joint.parent_frame,
        child_frame=joint.child_frame if child is None else child @ joint.child_frame,
        rest=None,
    )


def drop_disabled(asset: Asset) -> None:
    """Take bodies away that are switched off."""
    drop_bodies(asset, {body.name for body in asset.bodies if not body.enabled})


def scale_drives(asset: Asset, factor: float) -> None:
    """Multiply the gains of every driven hinge."""
    for joint in asset.joints:
        for dof in joint.dofs:
            # Newton scales angular gains only
            if dof.drive is not None and dof.motion is Motion.HINGE:
                dof.drive.stiffness *= factor
                dof.drive.damping *= factor
