# SPDX-License-Identifier: Apache-2.0
"""Shapes of scene files, and the fields of material and collision that shapes, bodies, assets and defaults share.

Aliases (``contact_margin``, ``shape_mu``, ``relaxation_time`` ...) become the field they mean.  Two words for the same
field in one mapping are a contradiction and refused; SAP Warp takes the later one, and so does ``compat="sap"``.
"""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import Discriminator, Field, Tag, ValidationInfo, model_validator

from simwright.core.documents.expressions import Number
from simwright.core.documents.record import Record, refuse
from simwright.scenes.builder_config import ALIASES, MATERIAL_FIELDS
from simwright.scenes.document_values import (
    IDENTITY,
    Color,
    Factors,
    Length,
    Quantity,
    TransformFields,
    is_compat,
)

ALIASES_OF: dict[str, tuple[str, ...]] = {
    field: tuple(word for word, meant in ALIASES.items() if meant == field)
    for field in dict.fromkeys(ALIASES.values())
}
WITHOUT_EFFECT = ("kd", "kf", "ka", "shape_kd", "shape_kf", "shape_ka", "contact_ka", "shape_material_ka")
"""Read, because scene files have them, and not used: contact dissipation is ``tau``."""


def rename_aliases(data: Any, info: ValidationInfo) -> Any:
    """``data`` with aliases replaced by the field they mean."""
    if not isinstance(data, dict) or not any(key in ALIASES for key in data):
        return data
    renamed: dict[str, Any] = {}
    words: dict[str, str] = {}
    for key, value in data.items():
        field = ALIASES.get(str(key), str(key))
        # in one mapping nobody can mean both; in SAP Warp the later key wins
        if field in renamed and not is_compat(info):
            raise refuse(f"{words[field]!r} and {key!r} are two words for the same thing")
        # put last again: the order of keys is that of the words
        renamed.pop(field, None)
        renamed[field] = value
        words[field] = key
    return renamed


class DirectMaterial(Record):
    """The five fields that stand directly on bodies, shapes and assets, and the blocks that hold more."""

    margin: Quantity | None = Field(default=None, description="thickness added to the surface in contact [m]")
    gap: Quantity | None = Field(
        default=None, ge=0, description="distance at which contacts are looked for [m]"
    )
    mu: Quantity | None = Field(default=None, ge=0, description="Coulomb friction")
    ke: Quantity | None = Field(default=None, ge=0, description="contact stiffness [N/m]")
    tau: Quantity | None = Field(default=None, ge=0, description="dissipation time of contacts [s]")
    _aliases = model_validator(mode="before")(rename_aliases)

    @property
    def material(self) -> dict[str, Any]:
        """What is said directly, by field."""
        return {name: value for name in MATERIAL_FIELDS if (value := getattr(self, name)) is not None}


class ShapeFields(DirectMaterial):
    """Material and collision of a shape; what is not said keeps its default."""

    density: Quantity | None = Field(default=None, ge=0, le=1e6, description="density [kg/m^3]")
    restitution: Quantity | None = Field(default=None, ge=0, description="restitution")
    mu_torsional: Quantity | None = Field(default=None, ge=0, description="torsional friction [m]")
    mu_rolling: Quantity | None = Field(default=None, ge=0, description="rolling friction [m]")
    is_solid: bool | None = Field(default=None, description="filled, or a shell?")
    collision_group: int | None = Field(
        default=None, description="0 touches nothing; a positive group touches itself and negative ones"
    )
    collision_filter_parent: bool | None = Field(
        default=None, description="no contact with the body's parent"
    )
    has_shape_collision: bool | None = Field(default=None, description="touches other shapes")
    has_particle_collision: bool | None = Field(default=None, description="touches particles")
    is_visible: bool | None = Field(default=None, description="is drawn")
    is_site: bool | None = Field(default=None, description="a marker: no contact, no mass")
    is_hydroelastic: bool | None = Field(default=None, description="takes part in hydroelastic contact")
    kh: Quantity | None = Field(default=None, ge=0, description="hydroelastic stiffness [Pa]")
    sdf_narrow_band_range: tuple[Length, Length] | None = Field(
        default=None, description="band of the distance field [m]"
    )
    sdf_target_voxel_size: Quantity | None = Field(
        default=None, gt=0, description="cells of the distance field [m]"
    )
    sdf_max_resolution: int | None = Field(default=None, gt=0, description="most cells along an axis")
    sdf_texture_format: str | None = Field(default=None, description="how the distance field is stored")
    flags: int | None = Field(
        default=None, ge=0, description="bits: 1 visible, 2 shapes, 4 particles, 8 site, 16 hydroelastic"
    )
    kd: Quantity | None = Field(default=None, description="has no effect; see tau")
    kf: Quantity | None = Field(default=None, description="has no effect; see mu")
    ka: Quantity | None = Field(default=None, description="has no effect")
    shape_kd: Quantity | None = Field(default=None, description="has no effect; see tau")
    shape_kf: Quantity | None = Field(default=None, description="has no effect; see mu")
    shape_ka: Quantity | None = Field(default=None, description="has no effect")
    contact_ka: Quantity | None = Field(default=None, description="has no effect")
    shape_material_ka: Quantity | None = Field(default=None, description="has no effect")

    def list_values(self) -> dict[str, Any]:
        """What is said, by field."""
        return {
            name: value
            for name in type(self).model_fields
            if name not in WITHOUT_EFFECT and (value := getattr(self, name)) is not None
        }

    def list_without_effect(self) -> list[str]:
        """Keys that are said and mean nothing."""
        return [name for name in WITHOUT_EFFECT if getattr(self, name) is not None]


class Material(DirectMaterial):
    """What bodies, shapes and assets say about material and collision."""

    physics: ShapeFields | None = Field(default=None, description="material and collision")
    shape: ShapeFields | None = Field(
        default=None, description="material and collision; stronger than physics"
    )
    cfg: ShapeFields | None = Field(default=None, description="material and collision; strongest")

    def merge_fields(self, *, only_material: bool = False, with_cfg: bool = True) -> dict[str, Any]:
        """Everything said, by field: physics < shape < direct < cfg.

        With ``only_material``, ``physics`` and ``shape`` carry just the five fields (as SAP Warp reads them).
        """
        # measured order of SAP Warp, which knows the last block for shapes and assets only
        merged: dict[str, Any] = {}
        for block in (self.physics, self.shape):
            if block is not None:
                values = block.material if only_material else block.list_values()
                merged.update(values)
        merged.update(self.material)
        if with_cfg and self.cfg is not None:
            merged.update(self.cfg.list_values())
        return merged


class InlineShape(Material):
    """What every inline shape may have."""

    label: str = Field(default="", description="name of the shape; shape_<number> if not said")
    transform: TransformFields = Field(default=IDENTITY, description="pose in the body")
    color: Color | None = Field(default=None, description="[red, green, blue] from 0 to 1, or to 255")


Size = Annotated[Number, Field(gt=0, le=1e6)]


class BoxShape(InlineShape):
    """A box by its half extents."""

    type: Literal["box"] = "box"
    hx: Size = Field(default=0.5, description="half extent along x [m]")
    hy: Size = Field(default=0.5, description="half extent along y [m]")
    hz: Size = Field(default=0.5, description="half extent along z [m]")


class SphereShape(InlineShape):
    """A ball."""

    type: Literal["sphere"]
    radius: Size = Field(default=1.0, description="radius [m]")


class _RoundShape(InlineShape):
    radius: Size = Field(default=1.0, description="radius [m]")
    half_height: Size = Field(
        default=0.5, description="half of the length along z [m], without the caps of a capsule"
    )


class CapsuleShape(_RoundShape):
    """A cylinder along z with round caps."""

    type: Literal["capsule"]


class CylinderShape(_RoundShape):
    """A cylinder along z."""

    type: Literal["cylinder"]


class ConeShape(_RoundShape):
    """A cone along z, its tip up."""

    type: Literal["cone"]


class EllipsoidShape(InlineShape):
    """An ellipsoid by its radii."""

    type: Literal["ellipsoid"]
    a: Size = Field(default=1.0, description="radius along x [m]")
    b: Size = Field(default=0.75, description="radius along y [m]")
    c: Size = Field(default=0.5, description="radius along z [m]")


Order = tuple[Literal[0, 1, 2], Literal[0, 1, 2], Literal[0, 1, 2]]


class MeshShape(InlineShape):
    """A mesh from a file, or the first mesh of a URDF file."""

    type: Literal["mesh"]
    path: Annotated[str, Field(min_length=1)] = Field(
        description="mesh file (STL, OBJ, DAE, glTF, PLY) or .urdf"
    )
    mesh_scale: Factors | None = Field(default=None, description="factor, or one for each axis")
    scale: Factors | None = Field(default=None, description="the same as mesh_scale")
    axis_order: Order | None = Field(default=None, description="which coordinate of the file is x, y, z")
    face_order: Order | None = Field(default=None, description="order of the corners of each triangle")
    is_solid: bool | None = Field(default=None, description="filled, or a shell?")

    @model_validator(mode="after")
    def _check(self, info: ValidationInfo) -> MeshShape:
        if self.scale is not None and self.mesh_scale is not None and not is_compat(info):
            raise refuse("'mesh_scale' and 'scale' are two words for the same thing")
        for name in ("axis_order", "face_order"):
            order = getattr(self, name)
            if order is not None and sorted(order) != [0, 1, 2]:
                raise refuse(f"{name} has to hold 0, 1 and 2 once each")
        return self

    @property
    def factors(self) -> tuple[float, float, float]:
        """Scale of the mesh."""
        return self.mesh_scale or self.scale or (1.0, 1.0, 1.0)


SHAPES: tuple[type[InlineShape], ...] = (
    BoxShape,
    SphereShape,
    CapsuleShape,
    CylinderShape,
    ConeShape,
    EllipsoidShape,
    MeshShape,
)


def name_shape(data: Any) -> str:
    """Which of :data:`SHAPES` a mapping is; a box if it does not say."""
    # box is SAP Warp's default
    kind = data.get("type", "box") if isinstance(data, dict) else getattr(data, "type", "box")
    return str(kind).lower()


AnyInlineShape = Annotated[
    Annotated[BoxShape, Tag("box")]
    | Annotated[SphereShape, Tag("sphere")]
    | Annotated[CapsuleShape, Tag("capsule")]
    | Annotated[CylinderShape, Tag("cylinder")]
    | Annotated[ConeShape, Tag("cone")]
    | Annotated[EllipsoidShape, Tag("ellipsoid")]
    | Annotated[MeshShape, Tag("mesh")],
    Discriminator(name_shape),
]
"""One inline shape, told apart by its type."""
