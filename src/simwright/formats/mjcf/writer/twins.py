# SPDX-License-Identifier: Apache-2.0
"""Shapes that are seen and touched: one geom, where a stage has one prim for each.

OpenUSD assets keep what is seen apart from what is touched (REP-0158 1.3), so a geom that is both is two prims of one
name.  Read back they are ``wall`` and ``wall_visual``; if they are the same in shape and place they are one geom again.
"""

from __future__ import annotations

import dataclasses

import numpy as np

from simwright.model.asset import Asset, Shape, scaled
from simwright.model.geometry import Geometry, Mesh

_SUFFIX = "_visual"
_PLAIN = ("none", "convexHull")


def join_twins(asset: Asset) -> Asset:
    """The asset, with colliders in the place of twins that are seen; the asset itself where there are none."""
    seen = {shape.name: shape for shape in asset.shapes if shape.visual and not shape.collision}
    joined: dict[str, Shape] = {}
    for shape in asset.shapes:
        twin = seen.get(f"{shape.name}{_SUFFIX}")
        if twin is not None and _is_bare(shape) and _is_same(shape, twin):
            joined[twin.name] = joined[shape.name] = dataclasses.replace(
                shape, visual=True, geometry=twin.geometry, material=twin.material, color=twin.color
            )
    if not joined:
        return asset
    left = [shape for shape in asset.shapes if shape.name not in seen or shape.name not in joined]
    shapes = [joined.get(shape.name, shape) for shape in left]
    return dataclasses.replace(asset, shapes=shapes)


def _is_bare(shape: Shape) -> bool:
    """Is it a collider that is not seen, and no simpler than its geometry?"""
    token = "none" if shape.approximation is None else shape.approximation.token
    return shape.collision and shape.enabled and not shape.visual and token in _PLAIN


def _is_same(shape: Shape, twin: Shape) -> bool:
    if shape.body != twin.body or not np.array_equal(scaled(shape), scaled(twin)):
        return False
    if not np.allclose(shape.pose.matrix, twin.pose.matrix, rtol=0.0, atol=1e-12):
        return False
    return twin.mass is None and twin.density is None and _is_equal(shape.geometry, twin.geometry)


def _is_equal(a: Geometry, b: Geometry) -> bool:
    if type(a) is not type(b):
        return False
    if isinstance(a, Mesh) or isinstance(b, Mesh):
        return a is b or _has_same_faces(a, b)
    fields = (field.name for field in dataclasses.fields(a))
    return all(np.array_equal(getattr(a, name), getattr(b, name)) for name in fields)


def _has_same_faces(a: Geometry, b: Geometry) -> bool:
    assert isinstance(a, Mesh)
    assert isinstance(b, Mesh)
    first, second = a.data, b.data
    if len(first.indices) != len(second.indices):
        return False
    return np.array_equal(first.vertices, second.vertices) and np.array_equal(
        first.triangles(), second.triangles()
    )
