# SPDX-License-Identifier: Apache-2.0
"""What a user of Newton may ask of an import, in the words of ``ModelBuilder.add_usd``."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from typing import Any

from simwright.model.asset import Asset, Shape
from simwright.model.joint import WORLD
from simwright.model.selection import Selection, compile_paths, drop_disabled, leave_out, scale_drives


@dataclasses.dataclass(frozen=True, slots=True)
class Choices(Selection):
    """Names, meanings and defaults are those of ``ModelBuilder.add_usd``.

    ``floating`` says what holds an articulation's root: a free joint (True), a fixed one (False), or what the
    asset says (None).  ``joint_drive_gains_scaling`` goes onto the gains of every hinge.  Attributes of the same
    name on the stage's scene (``newton:collapse_fixed_joints``, ``newton:joint_drive_gains_scaling``) come first.
    ``base_joint`` has the arguments of ``ModelBuilder.add_joint`` for the joint of the root; it leads to the body
    ``parent_body`` of the builder, if there is one.  ``articulate`` makes an articulation of every tree of joints;
    without it, trees that no articulation root declares stay outside, as Newton's own importer leaves them.
    """

    base_joint: Mapping[str, Any] | None = None
    parent_body: int = -1
    override_root_xform: bool = False
    collapse_fixed_joints: bool = False
    load_static_visual_shapes: bool = True
    parse_mujoco_options: bool = True
    convert_mjc_equality_constraints: bool = True
    legacy_springref_units: bool = False
    allow_unsafe_torch_checkpoints: bool = False
    articulate: bool = True


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
    # choice by choice, in the order in which Newton's importer applies them
    asset = asset.copy()
    is_out = compile_paths(choices)
    leave_out(asset, lambda _, path: is_out(path))
    if choices.only_load_enabled_rigid_bodies:
        drop_disabled(asset)
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
        scale_drives(asset, choices.joint_drive_gains_scaling)
    return asset


def _is_wanted(shape: Shape, choices: Choices) -> bool:
    if shape.collision or (shape.body and choices.load_visual_shapes):
        return True
    return not shape.body and choices.load_visual_shapes and choices.load_static_visual_shapes


def _show_colliders(asset: Asset, choices: Choices) -> None:
    seen = {shape.body for shape in asset.shapes if not shape.collision}
    for shape in asset.shapes:
        if shape.collision and shape.enabled and choices.force_show_colliders:
            shape.visual, shape.purpose = True, "default"
        elif shape.collision and choices.hide_collision_shapes and shape.body in seen:
            shape.visual = False
