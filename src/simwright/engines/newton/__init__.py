# SPDX-License-Identifier: Apache-2.0
"""Newton: fill a ``newton.ModelBuilder`` from any file Simwright reads, or from an asset.

::

    import newton
    from simwright.engines.newton import add_usd

    builder = newton.ModelBuilder()
    result = add_usd(builder, "robot.usda")
    model = builder.finalize()

What Newton's own importer does differently is listed in ``docs/newton-differences.md``.

build       from an asset or a file to a builder: bodies and joints branch by branch, then all that hangs on them
drop_in     ``add_usd`` with Newton's signature and answer; ``install`` puts it in Newton's place
direct      links, joints and shapes written straight into the lists of a builder
choices     what a user may ask of an import, in the words of ``ModelBuilder.add_usd``
joints      joints, what holds the roots; mimics, equalities, motors, tendons, filters
equalities  MuJoCo's equalities and Newton's actuators of a stage
looks       visual meshes and splats of a stage, as Newton builds them
hulls       convex hulls and other approximations of mesh colliders
shapes      shapes, sites, pictures on meshes, distance fields
registered  custom attributes, and those that solvers have registered on the builder
result      where the parts of an asset are in the builder
types       the parts of ``ModelBuilder`` that are used, as a type
messages    what Newton has no place for
simulate    Newton in the table of engines, and its worlds while they move
"""

from types import SimpleNamespace
from typing import Any

from simwright.core.errors import MissingExtraError
from simwright.engines.newton.build import add_asset, add_file
from simwright.engines.newton.choices import Choices
from simwright.engines.newton.drop_in import add_usd, install, uninstall
from simwright.engines.newton.result import Imported, UsdImport
from simwright.runtime.arrays import iterate_arrays

__all__ = [
    "Choices",
    "Imported",
    "UsdImport",
    "add_asset",
    "add_file",
    "add_usd",
    "install",
    "to_warp",
    "uninstall",
]

_ROWS = {
    ("float32", (2,)): "vec2f",
    ("float32", (3,)): "vec3f",
    ("float32", (4,)): "vec4f",
    ("float32", (6,)): "spatial_vectorf",
    ("float32", (7,)): "transformf",
    ("float32", (3, 3)): "mat33f",
}
"""Warp's types of rows; others stay arrays of numbers."""


def to_warp(holder: Any) -> SimpleNamespace:
    """All arrays of a model, state, control, collision model or collision state, by name, as Warp views.

    Keep the holder: the views are its memory, which is numpy's, on the CPU; ``.to("cuda:0")`` of Warp copies them to a
    device.
    """
    try:
        import warp
    except ImportError:
        raise MissingExtraError("warp-lang", "newton", "a view for Warp") from None
    views: dict[str, Any] = {}
    for info, values in iterate_arrays(holder):
        kind = _ROWS.get((info.dtype, info.row))
        if not values.flags.c_contiguous or not values.flags.writeable:
            raise ValueError(f"{info.name} is not a contiguous, writeable array")
        dtype = getattr(warp, kind if kind is not None else info.dtype)
        views[info.name] = warp.array(values, dtype=dtype, device="cpu", copy=False)
    return SimpleNamespace(**views)
