# SPDX-License-Identifier: Apache-2.0
"""An asset as plain data at full precision: what ``simwright inspect --format json`` prints.

The layout is version 1 of ``schemas/inspect.v1.schema.json``.  Numbers are SI and radians; an infinite or
undefined number is the text "inf", "-inf" or "nan", so the document stays valid JSON.
"""

from __future__ import annotations

import dataclasses
import enum
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simwright.compare.difference import CompareSettings, Difference, DifferenceSection
from simwright.core.diag import Diagnostic, Where
from simwright.core.math3d import Pose
from simwright.model.asset import Articulation, Asset, Body, Shape
from simwright.model.extras import Lost
from simwright.model.filtering import find_filtered_pairs, find_members
from simwright.model.geometry import Geometry, Heightfield, Mesh
from simwright.model.inertia import Inertial
from simwright.model.joint import Joint
from simwright.model.kinematics import Tree, build_tree
from simwright.model.mass import body_inertials
from simwright.resolve.resolver import schema_attrs

VERSION = 1
_PLAIN_LISTS = (
    "sites", "cameras", "lights", "sensors", "actuators", "tendons", "equalities", "mimics", "materials",
    "physics_materials", "collision_groups", "contact_filters", "contact_pairs",
    "interfaces", "contexts", "controllers", "keyframes", "custom_attributes",
)  # fmt: skip


def describe_asset(asset: Asset, findings: list[Diagnostic] | None = None) -> dict[str, Any]:
    """The whole asset as a JSON-ready dictionary."""
    tree = build_tree(asset)
    inertials = body_inertials(asset)
    # by identity: shapes that share a mesh are to point at the same entry
    geometries = {id(g): index for index, g in enumerate(asset.geometries())}
    return {
        "version": VERSION,
        "name": asset.name,
        "provenance": to_plain(asset.provenance),
        "summary": summarize(asset, tree, inertials),
        "environment": to_plain(asset.environment),
        "bodies": [_describe_body(body, inertials[body.name]) for body in asset.bodies],
        "joints": [_describe_joint(joint) for joint in asset.joints],
        "tree": _describe_tree(tree),
        "shapes": [_describe_shape(shape, geometries) for shape in asset.shapes],
        "geometries": [_describe_geometry(g) for g in asset.geometries()],
        "articulations": [_describe_articulation(asset, found, tree) for found in asset.articulations],
        "filtered_pairs": sorted(map(list, find_filtered_pairs(asset, tree))),
        **{name: [to_plain(item) for item in getattr(asset, name)] for name in _PLAIN_LISTS},
        "extras": to_plain(asset.extras.values()),
        "schema_attrs": to_plain(schema_attrs(asset)),
        "origins": to_plain(asset.origins),
        "findings": [to_plain(found) for found in findings or []],
    }


def summarize(asset: Asset, tree: Tree, inertials: Mapping[str, Inertial]) -> dict[str, Any]:
    """The counts that fit in one line."""
    return {
        "bodies": len(asset.bodies),
        "joints": len(asset.joints),
        "dofs": tree.velocities(),
        "loops": len(tree.loops),
        "shapes": len(asset.shapes),
        "visuals": sum(shape.visual for shape in asset.shapes),
        "collisions": sum(shape.collision for shape in asset.shapes),
        "sensors": len(asset.sensors),
        "actuators": len(asset.actuators),
        "interfaces": len(asset.interfaces),
        # fsum: the sum does not depend on the order of the bodies, so that equal robots give equal
        # reports
        "mass": to_plain(math.fsum(i.mass for i in inertials.values())),
    }


def _describe_body(body: Body, inertial: Inertial) -> dict[str, Any]:
    row: dict[str, Any] = to_plain(body)
    row["inertial"] = {
        "mass": to_plain(inertial.mass),
        "com": to_plain(inertial.com),
        "inertia": to_plain(inertial.inertia),
        "authored": body.inertial is not None,
    }
    return row


def _describe_joint(joint: Joint) -> dict[str, Any]:
    row: dict[str, Any] = to_plain(joint)
    row["public_name"] = joint.public_name
    return row


def _describe_tree(tree: Tree) -> dict[str, Any]:
    return {
        "roots": list(tree.roots),
        "edges": [
            {"joint": e.joint.name, "parent": e.parent, "child": e.child, "reversed": e.reversed}
            for e in tree.edges
        ],
        "loops": [joint.name for joint in tree.loops],
        "dangling": [joint.name for joint in tree.dangling],
        "disabled": [joint.name for joint in tree.disabled],
    }


def _describe_articulation(asset: Asset, articulation: Articulation, tree: Tree) -> dict[str, Any]:
    """With its members, and what holds it."""
    return {**to_plain(articulation), **to_plain(find_members(asset, articulation, tree))}


def _describe_shape(shape: Shape, geometries: Mapping[int, int]) -> dict[str, Any]:
    row = {
        field.name: to_plain(getattr(shape, field.name))
        for field in dataclasses.fields(shape)
        if field.name != "geometry"
    }
    row["geometry"] = geometries[id(shape.geometry)]
    return row


def _describe_geometry(geometry: Geometry) -> dict[str, Any]:
    """A geometry by its numbers; big arrays (mesh vertices, heights) are told by size only."""
    if isinstance(geometry, Mesh):
        row: dict[str, Any] = {"kind": geometry.kind, "file": geometry.file, "source": geometry.source}
        if geometry.is_loaded:
            row["vertices"] = len(geometry.data.vertices)
            row["faces"] = geometry.data.face_count
        return row
    if isinstance(geometry, Heightfield):
        rows, columns = geometry.heights.shape
        return {"kind": geometry.kind, "rows": rows, "columns": columns, "size": to_plain(geometry.size)}
    return {"kind": geometry.kind, **to_plain(geometry)}


def to_plain(value: Any) -> Any:
    """Any model value as JSON-ready data."""
    match value:
        case None | bool() | int() | str():
            return value.value if isinstance(value, enum.Enum) else value
        case float():
            return value if math.isfinite(value) else str(value)
        case np.ndarray() | np.generic():
            return to_plain(value.tolist())
        case Mapping():
            return {str(key): to_plain(item) for key, item in value.items()}
        case Lost():  # a tuple by type, an object with names by meaning: before the tuples
            return to_plain(value._asdict())
        case list() | tuple() | set() | frozenset():
            return [to_plain(item) for item in value]
    return _plain_object(value)


def _plain_object(value: Any) -> Any:
    """An object of the model; those whose fields are no good JSON have a form of their own."""
    match value:
        case Pose():
            return {"position": value.p.tolist(), "quaternion": value.q.tolist()}
        case Where():
            return _plain_where(value)
        case Mesh():  # without its arrays, which would make the report as large as the mesh
            return {"kind": value.kind, "file": value.file, "source": value.source}
    if dataclasses.is_dataclass(value) and not isinstance(value, type):
        return {f.name: to_plain(getattr(value, f.name)) for f in dataclasses.fields(value)}
    return str(value)


def _plain_where(where: Where) -> dict[str, Any] | None:
    if not where:
        return None
    return {key: item for key, item in dataclasses.asdict(where).items() if item not in (None, "")}


DIFF_VERSION = 1
"""Of the JSON report, ``schemas/diff.v1.schema.json``; numbers are SI and radians, infinite ones texts."""


def describe_difference(
    difference: Difference, settings: CompareSettings, findings: Sequence[Diagnostic] = ()
) -> dict[str, Any]:
    """The whole result as a JSON-ready dictionary."""
    return {
        "version": DIFF_VERSION,
        "a": difference.a,
        "b": difference.b,
        "equal": difference.equal,
        "settings": {
            "rtol": settings.rtol,
            "configurations": settings.configurations,
            "seed": settings.seed,
        },
        "sections": [_describe_section(section) for section in difference.sections],
        "findings": [to_plain(found) for found in findings],
    }


def _describe_section(section: DifferenceSection) -> dict[str, Any]:
    return {
        "name": section.name,
        "group": section.group,
        "equal": section.equal,
        "compared": section.compared,
        "figures": [
            {
                "name": figure.name,
                "error": to_plain(figure.error),
                "tolerance": figure.tolerance,
                "equal": figure.equal,
                "where": figure.where,
            }
            for figure in section.figures
        ],
        "differences": [to_plain(item) for item in section.items],
        "notes": list(section.notes),
    }
