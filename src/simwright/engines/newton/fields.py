# SPDX-License-Identifier: Apache-2.0
"""Distance fields and hydroelastic contact of a shape: checked, and put on the builder.

A cell size beats a resolution.  A field that is asked for without either has 64 cells along its longest side, the
default of Newton's schema.
"""

from __future__ import annotations

import dataclasses
from typing import Any

from simwright.core.diag import Level, Reporter, declare
from simwright.model.asset import Shape
from simwright.model.geometry import Mesh

FIELD_INVALID = declare(
    "newton-field-invalid",
    Level.WARNING,
    "{name} of shape {shape!r} is {value!r}, which is not {expected}; Newton's default is used",
    doc="A setting of a distance field that Newton does not accept.",
)
HYDROELASTIC_LOST = declare(
    "newton-hydroelastic-lost",
    Level.WARNING,
    "mesh {shape!r} is to be hydroelastic but has no distance field; it is not",
    hint="author newton:sdfMaxResolution or newton:sdfTargetVoxelSize",
    doc="Hydroelastic contact of a mesh needs a distance field of known size.",
)
_FORMATS = ("float32", "uint16", "uint8")
_CELLS = 64
_TILE = 8


@dataclasses.dataclass(frozen=True, slots=True)
class Field:
    """What Newton's shape lists hold about a distance field."""

    max_resolution: int | None
    target_voxel_size: float | None
    narrow_band_range: tuple[float, float]
    texture_format: str
    padding: float | None
    is_hydroelastic: bool
    is_asked: bool


def resolve_field(shape: Shape, default: Any, reporter: Reporter) -> Field:
    """The settings of a shape, checked, over a default shape configuration."""
    check = _Check(shape, reporter)
    settings = shape.settings
    cell = check.take("sdf_target_voxel_size", "more than 0", lambda v: v > 0)
    cells = check.take("sdf_max_resolution", "a positive multiple of 8", lambda v: v > 0 and v % _TILE == 0)
    asked = bool(settings.get("sdf_enabled")) or cell is not None or cells is not None
    cell = default.sdf_target_voxel_size if cell is None else cell
    if cell is not None:
        cells = None
    elif cells is None:
        cells = _CELLS if asked else default.sdf_max_resolution
    low, high = default.sdf_narrow_band_range
    hydroelastic = settings.get("hydroelastic_enabled")
    if hydroelastic is None:
        hydroelastic = False if asked else default.is_hydroelastic
    if hydroelastic and isinstance(shape.geometry, Mesh) and cells is None and cell is None:
        reporter.report(HYDROELASTIC_LOST, shape.source, shape=shape.name)
        hydroelastic = False
    return Field(
        None if cells is None else int(cells),
        cell,
        (settings.get("sdf_narrow_band_inner", low), settings.get("sdf_narrow_band_outer", high)),
        check.take("sdf_texture_format", f"one of {', '.join(_FORMATS)}", lambda v: v in _FORMATS)
        or default.sdf_texture_format,
        check.take("sdf_padding", "0 or more", lambda v: v >= 0),
        bool(hydroelastic),
        asked,
    )


class _Check:
    """Takes settings of a shape that pass a test and reports the others."""

    def __init__(self, shape: Shape, reporter: Reporter) -> None:
        self._shape = shape
        self._reporter = reporter

    def take(self, name: str, expected: str, is_good: Any) -> Any:
        value = self._shape.settings.get(name)
        if value is None or is_good(value):
            return value
        self._reporter.report(
            FIELD_INVALID,
            self._shape.source,
            name=name,
            shape=self._shape.name,
            value=value,
            expected=expected,
        )
        return None


def put_field(builder: Any, index: int, field: Field) -> None:
    """Write the settings into the builder, which makes the field when it is finalized."""
    import newton

    builder.shape_sdf_max_resolution[index] = field.max_resolution
    builder.shape_sdf_target_voxel_size[index] = field.target_voxel_size
    builder.shape_sdf_narrow_band_range[index] = field.narrow_band_range
    builder.shape_sdf_texture_format[index] = field.texture_format
    builder.shape_sdf_padding[index] = field.padding
    if field.is_hydroelastic:
        builder.shape_flags[index] |= int(newton.ShapeFlags.HYDROELASTIC)
