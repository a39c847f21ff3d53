# SPDX-License-Identifier: Apache-2.0
"""The document as it grows: lists of rows that refer to each other by number."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

from simwright.core.diag import Reporter
from simwright.core.math3d import Array, Pose
from simwright.formats.format import WriteOptions
from simwright.formats.gltf.materials import Materials
from simwright.formats.gltf.textures import Textures
from simwright.formats.gltf.vertices import Buffer
from simwright.model.asset import Asset
from simwright.model.kinematics import Tree

Row = dict[str, Any]


@dataclass(slots=True, eq=False)
class GltfDocument:
    """An asset on its way into a document.

    ``body_nodes`` and the like give the node of an element by its name; the world's is the root.
    """

    asset: Asset
    tree: Tree
    reporter: Reporter
    options: WriteOptions
    buffer: Buffer = field(default_factory=Buffer)
    textures: Textures = field(default_factory=Textures)
    materials: Materials = field(init=False)
    nodes: list[Row] = field(default_factory=list)
    meshes: list[Row] = field(default_factory=list)
    cameras: list[Row] = field(default_factory=list)
    lights: list[Row] = field(default_factory=list)
    animations: list[Row] = field(default_factory=list)
    extras: Row = field(default_factory=dict)
    used: set[str] = field(default_factory=set)
    required: set[str] = field(default_factory=set)
    body_nodes: dict[str, int] = field(default_factory=dict)
    shape_nodes: dict[str, int] = field(default_factory=dict)
    camera_nodes: dict[str, int] = field(default_factory=dict)
    light_nodes: dict[str, int] = field(default_factory=dict)
    decodings: dict[str, tuple[Array, Array]] = field(default_factory=dict)
    """By shape: where the origin and the unit of its stored points are."""

    def __post_init__(self) -> None:
        self.materials = Materials(self.textures, self.reporter)

    def add_node(
        self, name: str, parent: int | None, pose: Pose, scale: Array | None = None, **more: Any
    ) -> int:
        """A node below another; what is glTF's default is not written."""
        row: Row = {"name": name} if name else {}
        if any(pose.p.tolist()):
            row["translation"] = pose.p.tolist()
        # The model has w first, glTF last.
        w, x, y, z = pose.q.tolist()
        if (x, y, z) != (0.0, 0.0, 0.0):
            # Rounding may leave a part just outside of what glTF allows.
            row["rotation"] = [min(max(value, -1.0), 1.0) for value in (x, y, z, w)]
        if scale is not None and scale.tolist() != [1.0, 1.0, 1.0]:
            row["scale"] = scale.tolist()
        row.update(more)
        self.nodes.append(row)
        number = len(self.nodes) - 1
        if parent is not None:
            self.nodes[parent].setdefault("children", []).append(number)
        return number

    def extend(self, row: Row, name: str, value: Row) -> None:
        """Put an extension on a row."""
        row.setdefault("extensions", {})[name] = value
        self.used.add(name)
