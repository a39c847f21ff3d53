# SPDX-License-Identifier: Apache-2.0
"""External assets of scene files, by type, with the options each importer knows."""

from __future__ import annotations

import re
from typing import Annotated, Any, Literal

from pydantic import AfterValidator, Discriminator, Field, Tag, ValidationInfo, field_validator

from simwright.core.documents.record import refuse, refuse_word
from simwright.scenes.document_shapes import Material
from simwright.scenes.document_sources import ExternalAsset, SourceFields
from simwright.scenes.document_values import (
    IDENTITY,
    Factor,
    Factors,
    TransformFields,
    UnsupportedType,
    is_compat,
    name_type,
)

_ORDERINGS = frozenset({"dfs", "bfs", None})


def check_pattern(text: str) -> str:
    """A regular expression of reasonable length."""
    # long patterns are how regular expressions become slow
    if len(text) > 200:
        raise refuse("a pattern may have 200 characters")
    try:
        re.compile(text)
    except re.error as error:
        raise refuse(f"is not a regular expression: {error}") from None
    return text


Pattern = Annotated[str, AfterValidator(check_pattern)]


class AssetOptions(Material):
    """What every asset may have.  The last five are known, but nothing is done with them."""

    id: str = Field(default="", description="name for messages")
    source: SourceFields = Field(description="path, XML text, or {git: {repo, rev, path, sparse}}")
    xform: TransformFields = Field(default=IDENTITY, description="pose of the root")
    floating: bool | None = Field(
        default=None, description="free base (true), fixed base (false), or as the file says"
    )
    enable_self_collisions: bool = Field(
        default=True, description="may parts of one robot, which joints hold together, touch each other?"
    )
    force_show_colliders: bool = Field(default=False, description="colliders are visible")
    hide_collision_shapes: bool = Field(default=False, description="colliders are invisible")
    load_visual_shapes: bool = Field(default=True, description="keep shapes that are only seen")
    ignore_inertial_definitions: bool = Field(
        default=False, description="mass from shapes, not from the file"
    )
    mesh_maxhullvert: int = Field(default=64, gt=3, description="most corners of a convex hull")
    joint_ordering: str | None = Field(
        default="dfs",
        description="order of joints: dfs, bfs, or null for the file's",
        json_schema_extra={"enum": ["dfs", "bfs", None]},
    )
    bodies_follow_joint_ordering: bool = Field(default=True, description="bodies in the order of the joints")
    collapse_fixed_joints: bool = Field(
        default=False, description="merge bodies that do not move relative to each other"
    )
    base_joint: Any = Field(default=None, description="not supported")
    parent_body: int = Field(default=-1, description="not supported, except -1")
    override_root_xform: bool = Field(default=False, description="not supported")
    up_axis: str | int = Field(default="z", description="not supported, except z")
    split_bimanual_root_articulation: bool = Field(default=False, description="not supported")

    @field_validator("joint_ordering")
    @classmethod
    def _check_ordering(cls, value: str | None, info: ValidationInfo) -> str | None:
        if value not in _ORDERINGS and not is_compat(info):
            raise refuse_word(value, ("dfs", "bfs"))
        return value

    def list_unsupported(self) -> list[str]:
        """Options that are asked for and not supported, as words for ``unsupported_features``."""
        found = [
            name
            for name in ("base_joint", "override_root_xform", "split_bimanual_root_articulation")
            if getattr(self, name)
        ]
        if self.parent_body != -1:
            found.append("parent_body")
        if str(self.up_axis).lower().removeprefix("axis.") not in {"z", "2"}:
            found.append("up_axis")
        if self.joint_ordering not in _ORDERINGS:
            found.append(f"joint_ordering={self.joint_ordering}")
        return [f"asset[{self.id}] {name}" for name in found]


class UrdfAsset(AssetOptions):
    """A URDF or xacro file."""

    type: Literal["urdf"]
    scale: Factor = Field(default=1.0, gt=0, description="factor for everything")
    mesh_scale: Factors | None = Field(default=None, description="factor for meshes")
    parse_visuals_as_colliders: bool = Field(
        default=False, description="visual shapes collide, colliders are left out"
    )


# options of URDF assets fit: both formats scale as a whole and tell visuals from colliders
class SdfAsset(UrdfAsset):
    """An SDFormat file."""

    type: Literal["sdf"]  # type: ignore[assignment]


class MjcfAsset(AssetOptions):
    """An MJCF file."""

    type: Literal["mjcf"]
    scale: Factor = Field(default=1.0, gt=0, description="factor for everything")
    armature_scale: Factor = Field(default=1.0, description="factor for armature")
    parse_visuals_as_colliders: bool = Field(
        default=False, description="visual geoms collide, colliders are left out"
    )
    parse_meshes: bool = Field(default=True, description="keep mesh geoms")
    parse_sites: bool = Field(default=True, description="keep sites")
    parse_visuals: bool = Field(default=True, description="keep geoms that are only seen")
    no_class_as_colliders: bool = Field(default=True, description="geoms of no class collide")
    visual_classes: list[Pattern] = Field(
        default_factory=lambda: ["visual"], description="classes of geoms that are only seen"
    )
    collider_classes: list[Pattern] = Field(
        default_factory=lambda: ["collision"], description="classes of geoms that collide"
    )
    ignore_names: list[Pattern] = Field(default_factory=list, description="bodies and geoms to leave out")
    ignore_classes: list[Pattern] = Field(default_factory=list, description="classes to leave out")
    external_assets: list[ExternalAsset] = Field(
        default_factory=list, description="files laid beside the MJCF file"
    )


class UsdAsset(AssetOptions):
    """An OpenUSD file."""

    type: Literal["usd"]
    only_load_enabled_rigid_bodies: bool = Field(default=False, description="leave out disabled bodies")
    only_load_enabled_joints: bool = Field(default=True, description="leave out disabled joints")
    ignore_paths: list[Pattern] = Field(
        default_factory=list, description="patterns of prim paths to leave out"
    )
    apply_up_axis_from_stage: bool = Field(default=False, description="turn the stage to z up")
    root_path: str = Field(default="/", description="prim to begin at")
    skip_mesh_approximation: bool = Field(default=False, description="meshes stay meshes")
    load_sites: bool = Field(default=True, description="keep sites")
    force_position_velocity_actuation: bool = Field(
        default=False, description="drives with both gains have position and velocity targets"
    )
    joint_drive_gains_scaling: Factor = Field(default=1.0, description="factor for drive gains")


TYPES = ("usd", "urdf", "mjcf", "sdf")


class UnsupportedAsset(UnsupportedType):
    """A type nobody knows: an error, except in ``compat="sap"``, where it is recorded."""

    what = "asset"
    known = TYPES


def name_asset(data: Any) -> str:
    """Which of the types a mapping is."""
    return name_type(data, TYPES)


SceneAsset = Annotated[
    Annotated[UsdAsset, Tag("usd")]
    | Annotated[UrdfAsset, Tag("urdf")]
    | Annotated[MjcfAsset, Tag("mjcf")]
    | Annotated[SdfAsset, Tag("sdf")]
    | Annotated[UnsupportedAsset, Tag("unsupported")],
    Discriminator(name_asset),
]
"""One external asset, told apart by its type."""
