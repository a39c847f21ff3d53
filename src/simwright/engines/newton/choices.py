# SPDX-License-Identifier: Apache-2.0
"""What a user of Newton may ask of an import, in the words of ``ModelBuilder.add_usd``."""

from __future__ import annotations

import dataclasses
import re
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from simwright.core.errors import UsageError
from simwright.model.asset import Asset, Shape
from simwright.model.joint import WORLD, Motion


@dataclasses.dataclass(frozen=True, slots=True)
class Choices:
    """Names, meanings and defaults are those of ``ModelBuilder.add_usd``.

    ``floating`` says what holds an articulation's root: a free joint (True), a fixed one (False), or what the
    asset says (None).  ``joint_drive_gains_scaling`` goes onto the gains of every hinge.  Attributes of the same
    name on the stage's scene (``newton:collapse_fixed_joints``, ``newton:joint_drive_gains_scaling``) come first.
    ``base_joint`` has the arguments of ``ModelBuilder.add_joint`` for the joint of the root; it leads to the body
    ``parent_body`` of the builder, if there is one.
    """

    floating: bool | None = None
    base_joint: Mapping[str, Any] | None = None
    parent_body: int = -1
    override_root_xform: bool = False
    only_load_enabled_joints: bool = True
    joint_ordering: str | None = "dfs"
    bodies_follow_joint_ordering: bool = True
    force_position_velocity_actuation: bool = False
    ignore_paths: Sequence[str] = ()
    root_path: str = "/"
    only_load_enabled_rigid_bodies: bool = False
    collapse_fixed_joints: bool = False
    enable_self_collisions: bool = True
    joint_drive_gains_scaling: float = 1.0
    load_sites: bool = True
    load_visual_shapes: bool = True
    load_static_visual_shapes: bool = True
    hide_collision_shapes: bool = False
    force_show_colliders: bool = False
    skip_mesh_approximation: bool = False
    mesh_maxhullvert: int | None = None


NAMES = frozenset(field.name for field in dataclasses.fields(Choices))
_SCENE = ("collapse_fixed_joints", "joint_drive_gains_scaling")


def settle_choices(choices: Choices, asset: Asset) -> Choices:
    """The choices with what the stage's scene says instead."""
    said: dict[str, Any] = {}
    for attributes in asset.extras.table.get("newton", {}).values():
        for name in _SCENE:
            extra = attributes.get(f"newton:{name}")
            if extra is not None and extra.value is not None:
                said[name] = type(getattr(choices, name))(extra.value)
    return dataclasses.replace(choices, **said) if said else choices


def choose_parts(asset: Asset, choices: Choices) -> Asset:
    """The part of an asset that is wanted, as it is wanted; the asset itself if that is all of it."""
    if choices == Choices():
        return asset
    asset = asset.copy()
    _leave_out(asset, _compile(choices))
    if choices.only_load_enabled_rigid_bodies:
        _drop_bodies(asset, {body.name for body in asset.bodies if not body.enabled})
    if choices.floating is not None or choices.base_joint is not None:
        asset.joints = [j for j in asset.joints if WORLD not in (j.parent, j.child) or j.closes_loop]
    asset.shapes = [shape for shape in asset.shapes if _is_wanted(shape, choices)]
    _show_colliders(asset, choices)
    if not choices.load_sites:
        asset.sites = []
    for articulation in asset.articulations:
        known = asset.origins.get(articulation.path, {})
        if not choices.enable_self_collisions and "self_collision_enabled" not in known:
            articulation.self_collide = False
    if choices.joint_drive_gains_scaling != 1.0:
        _scale_drives(asset, choices.joint_drive_gains_scaling)
    return asset


def _compile(choices: Choices) -> Callable[[str], bool]:
    """A test whether a path is to be left out."""
    try:
        patterns = [re.compile(pattern) for pattern in choices.ignore_paths]
    except re.error as error:
        raise UsageError(f"ignore_paths: {error.pattern!r} is no regular expression: {error}") from None
    root = choices.root_path.rstrip("/")

    def is_out(path: str) -> bool:
        outside = path != root and not path.startswith(f"{root}/")
        return bool(path) and (outside or any(pattern.match(path) for pattern in patterns))

    return is_out


def _leave_out(asset: Asset, is_out: Callable[[str], bool]) -> None:
    _drop_bodies(asset, {body.name for body in asset.bodies if is_out(body.path)})
    for name in ("joints", "shapes", "sites", "actuators", "articulations"):
        setattr(asset, name, [element for element in getattr(asset, name) if not is_out(element.path)])


def _drop_bodies(asset: Asset, gone: set[str]) -> None:
    """Take bodies away with all that sits on them or holds them."""
    if not gone:
        return
    asset.bodies = [body for body in asset.bodies if body.name not in gone]
    asset.shapes = [shape for shape in asset.shapes if shape.body not in gone]
    asset.sites = [site for site in asset.sites if site.body not in gone]
    asset.joints = [joint for joint in asset.joints if not {joint.parent, joint.child} & gone]


def _is_wanted(shape: Shape, choices: Choices) -> bool:
    if shape.collision or (shape.body and choices.load_visual_shapes):
        return True
    return not shape.body and choices.load_visual_shapes and choices.load_static_visual_shapes


def _show_colliders(asset: Asset, choices: Choices) -> None:
    seen = {shape.body for shape in asset.shapes if not shape.collision}
    for shape in asset.shapes:
        if shape.collision and choices.force_show_colliders:
            shape.visual = True
        elif shape.collision and choices.hide_collision_shapes and shape.body in seen:
            shape.visual = False


def _scale_drives(asset: Asset, factor: float) -> None:
    for joint in asset.joints:
        for dof in joint.dofs:
            if dof.drive is not None and dof.motion is Motion.HINGE:
                dof.drive.stiffness *= factor
                dof.drive.damping *= factor
