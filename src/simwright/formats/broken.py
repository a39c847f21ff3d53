# SPDX-License-Identifier: Apache-2.0
"""Meshes that turn out to be broken when an asset is written: they cost their shapes, not the asset."""

from __future__ import annotations

import dataclasses

from simwright.core.diag import Level, Reporter, declare
from simwright.core.errors import InputError, LimitError
from simwright.model.asset import Asset
from simwright.model.geometry import Mesh

MESH_BROKEN = declare(
    "mesh-broken",
    Level.WARNING,
    "{shape!r} of {body!r} is left out, because its mesh cannot be read: {reason}",
    hint="repair the file or export it again{more}",
    doc="A mesh file that a shape names is not what its name says; everything else is written.",
    loss=True,
)


def find_broken_meshes(asset: Asset) -> dict[str, InputError]:
    """Why the mesh of a shape cannot be read, by the name of the shape."""
    broken: dict[str, InputError] = {}
    for shape in asset.shapes:
        if isinstance(shape.geometry, Mesh):
            try:
                _ = shape.geometry.data
            except LimitError:
                # A budget of the whole asset: leaving one mesh out would only let the next one through.
                raise
            except InputError as error:
                broken[shape.name] = error
    return broken


def leave_out(asset: Asset, broken: dict[str, InputError], reporter: Reporter) -> Asset:
    """The asset without these shapes, each of which is reported."""
    for shape in asset.shapes:
        if shape.name in broken:
            body = shape.body or asset.name
            weighs = shape.collision and shape.body and asset.body(shape.body).inertial is None
            more = "; the mass of the body follows from its shapes, and is now another" if weighs else ""
            reason = str(broken[shape.name])
            reporter.report(MESH_BROKEN, shape.source, shape=shape.name, body=body, reason=reason, more=more)
    return dataclasses.replace(
        asset,
        shapes=[shape for shape in asset.shapes if shape.name not in broken],
        contact_pairs=[pair for pair in asset.contact_pairs if not {pair.a, pair.b} & set(broken)],
        contact_filters=[f for f in asset.contact_filters if f.of == "body" or not {f.a, f.b} & set(broken)],
    )
