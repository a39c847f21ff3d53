# SPDX-License-Identifier: Apache-2.0
"""What a user of Newton may ask of an import, in the words of ``ModelBuilder.add_usd``."""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Mapping
from typing import Any

from simwright.model.asset import Articulation, Asset, Environment, Shape
from simwright.model.joint import WORLD, Joint
from simwright.model.selection import (
    Selection,
    compile_paths,
    drop_disabled,
    hold_disabled,
    leave_out,
    scale_drives,
)


@dataclasses.dataclass(frozen=True, slots=True)
class Choices(Selection):
    """Names, meanings and defaults are those of ``ModelBuilder.add_usd``.

    ``floating`` says what holds an articulation's root: a free joint (True), a fixed one (False), or what the
    asset says (None).  ``joint_drive_gains_scaling`` goes onto the gains of every hinge.  Attributes of the same
    name on the stage's scene (``newton:collapse_fixed_joints``, ``newton:joint_drive_gains_scaling``) come first.
    ``base_joint`` has the arguments of ``ModelBuilder.add_joint`` for the joint of the root; it leads to the body
    ``parent_body`` of the builder, if there is one.  ``articulate`` makes an articulation of every tree of joints;
    without it, trees that no articulation root declares stay outside, as Newton's own importer leaves them.
    ``allow_partial`` imports the rest where Newton cannot hold a relation between joints; without it that raises.
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
    allow_partial: bool = True

    @property
    def asks_for_base(self) -> bool:
        """Does the caller say what holds the roots?"""
        return self.floating is not None or self.base_joint is not None

    @property
    def makes_mechanisms(self) -> bool:
        """Do joints that no articulation root declares make articulations, too?

        Who says what holds the roots wants mechanisms, not constraints.  Of a root that declares one body on the
        world Newton makes none either: OpenUSD's parser lists no body of it.
        """
        return self.articulate or self.asks_for_base or self.parent_body != -1


NAMES = frozenset(field.name for field in dataclasses.fields(Choices))
DRAWN = frozenset({"default", "proxy"})
"""Purposes that viewports draw."""
_SCENE = ("collapse_fixed_joints", "joint_drive_gains_scaling")
_SCENE_PATH = "physicsScene"
"""Where the reader notes the path of the scene, beside what else the file says of itself."""


def settle_choices(choices: Choices, asset: Asset) -> Choices:
    """The choices with what the stage's scene says instead, where it is a part of what is wanted."""
    if _leaves_scene(asset, choices):
        return choices
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
    # choice by choice, in the order in which Newton's importer applies them; lists and elements that change are made
    # anew, so that only drives, which change in place, ask for a copy of everything
    is_changed = choices.joint_drive_gains_scaling != 1.0 or choices.only_load_enabled_rigid_bodies
    asset = asset.copy() if is_changed else copy.copy(asset)
    hold_disabled(asset)
    if choices.ignore_paths or choices.root_path != "/":
        is_out = compile_paths(choices)
        leave_out(asset, lambda _, path: is_out(path))
    if _leaves_scene(asset, choices):
        _forget_scene(asset)
    if choices.only_load_enabled_rigid_bodies:
        drop_disabled(asset)
    if choices.asks_for_base:
        asset.joints = [joint for joint in asset.joints if _is_inside(joint)]
    asset.shapes = _show_colliders(asset.shapes, choices)
    if not choices.load_sites:
        asset.sites = []
    if not choices.enable_self_collisions:
        asset.articulations = _part_bodies(asset)
    if choices.joint_drive_gains_scaling != 1.0:
        scale_drives(asset, choices.joint_drive_gains_scaling)
    return asset


def _leaves_scene(asset: Asset, choices: Choices) -> bool:
    """Is the stage's scene outside of what is wanted?  Expressions say nothing of it, as with Newton's importer."""
    scene = asset.provenance.info.get(_SCENE_PATH)
    if not scene:
        return False
    plain = [path.rstrip("/") for path in choices.ignore_paths if ".*" not in path]
    inside = f"{scene}/".startswith(f"{choices.root_path.rstrip('/')}/")
    return not inside or any(f"{scene}/".startswith(f"{path}/") for path in plain)


def _forget_scene(asset: Asset) -> None:
    """Gravity, steps and declarations of attributes are of a scene that is not wanted; the asset is a copy."""
    info = {key: value for key, value in asset.provenance.info.items() if key != _SCENE_PATH}
    asset.provenance = dataclasses.replace(asset.provenance, info=info)
    asset.environment = Environment()
    asset.custom_attributes = []


def list_split(asset: Asset, choices: Choices) -> frozenset[str]:
    """Names of colliders that go on being drawn as the asset has them, by shapes beside what they are approximated by.

    What only ``force_show_colliders`` shows is shown as it collides; ``asset`` is what the choices were not applied to.
    """
    if not choices.load_visual_shapes:
        return frozenset()
    return frozenset(s.name for s in asset.shapes if s.collision and s.visual and s.purpose in DRAWN)


def _is_inside(joint: Joint) -> bool:
    """Is it more than what holds a root on the world?"""
    return WORLD not in (joint.parent, joint.child) or joint.closes_loop


def _part_bodies(asset: Asset) -> list[Articulation]:
    """Articulations whose bodies do not touch each other, except where one of them says."""
    return [
        found
        if "self_collision_enabled" in asset.origins.get(found.path, {})
        else dataclasses.replace(found, self_collide=False)
        for found in asset.articulations
    ]


def _is_wanted(shape: Shape, choices: Choices) -> bool:
    if shape.collision or (shape.body and choices.load_visual_shapes):
        return True
    return not shape.body and choices.load_visual_shapes and choices.load_static_visual_shapes


def _show_colliders(shapes: list[Shape], choices: Choices) -> list[Shape]:
    """The shapes that are wanted, with the visibility that is asked for."""
    shapes = [shape for shape in shapes if _is_wanted(shape, choices)]
    if not (choices.force_show_colliders or choices.hide_collision_shapes):
        return shapes
    seen = {shape.body for shape in shapes if not shape.collision}
    return [_show(shape, choices, seen) if shape.collision else shape for shape in shapes]


def _show(collider: Shape, choices: Choices, seen: set[str]) -> Shape:
    # who wants both sees the colliders of bodies that have nothing else to see
    if choices.hide_collision_shapes and collider.body in seen:
        return dataclasses.replace(collider, visual=False)
    if collider.enabled and choices.force_show_colliders:
        return dataclasses.replace(collider, visual=True, purpose="default")
    return collider
