# SPDX-License-Identifier: Apache-2.0
"""Labels of what an import adds: prim paths for stages, ``robot/link`` for the other formats; never one twice."""

from __future__ import annotations

from simwright.model.asset import Articulation, Asset, Body, Shape, Site
from simwright.model.joint import Joint
from simwright.scenes.builder import Builder


class AssetNames:
    """Gives the labels of one asset; those of SAP Warp where the builder is to agree with it."""

    def __init__(self, builder: Builder, asset: Asset, prefix: str) -> None:
        self._builder = builder
        self._stage = asset.provenance.format == "usd"
        self._sap = builder.compat == "sap"
        self._robot = asset.name
        self._prefix = "" if self._sap else prefix

    def name_body(self, body: Body) -> str:
        """The label of a body."""
        return self._full(body.name, body.path)

    def name_joint(self, joint: Joint) -> str:
        """The label of a joint."""
        return self._full(joint.name, joint.path)

    def name_shape(self, shape: Shape | Site) -> str:
        """The label of a shape or site; empty leaves it to the builder."""
        if self._sap and not self._stage:
            return ""
        return self._full(shape.name, shape.path)

    def name_base(self, body: Body, *, floating: bool) -> str:
        """The label of the joint between the world and a root; empty leaves it to the builder."""
        if self._stage:
            kind = "free_joint" if floating else "fixed_joint"
            return "" if self._sap else f"{self._full(body.name, body.path)}_{kind}"
        base = "floating_base" if floating else "fixed_base"
        label = f"{self._prefix}{self._robot}/{base}"
        taken = label in self._builder.joint_label and not self._sap
        return f"{self._prefix}{self._robot}/{body.name}_{base}" if taken else label

    def name_articulation(self, declared: Articulation | None, root: Body) -> str:
        """The label of an articulation: the robot's, or the path of its root."""
        if self._stage:
            path = (declared.path or declared.name) if declared is not None else root.path or root.name
            return f"{self._prefix}{path.lstrip('/')}" if self._prefix else path
        label = f"{self._prefix}{self._robot}"
        taken = label in self._builder.articulation_label and not self._sap
        return f"{label}/{root.name}" if taken else label

    def _full(self, name: str, path: str) -> str:
        if self._stage:
            return f"{self._prefix}{path.lstrip('/') or name}" if self._prefix else path or name
        return f"{self._prefix}{self._robot}/{name}"
