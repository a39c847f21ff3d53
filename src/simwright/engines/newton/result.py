# SPDX-License-Identifier: Apache-2.0
"""Where the parts of an asset are in a builder."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from simwright.core.diag import Reporter
from simwright.model.asset import Asset
from simwright.model.flat_joints import ElementIndices
from simwright.resolve.resolver import DEFAULT_ORDER, SchemaResolver, schema_attrs

_STEP = 1e-3
"""The step of Newton's importer for a scene that names none [s]."""


@dataclass(slots=True, eq=False, kw_only=True)
class Imported(ElementIndices):
    """Builder indices by model name, and by source path where the elements have one.

    The ``path_*_map`` dictionaries have the names of those Newton's own importer returns.
    """

    asset: Asset
    reporter: Reporter
    equalities: dict[str, int] = field(default_factory=dict)
    collapse_results: dict[str, Any] | None = None
    resolvers: Sequence[str | SchemaResolver] = DEFAULT_ORDER

    @property
    def path_body_map(self) -> dict[str, int]:
        """Body index by prim path."""
        return _by_path(self.asset.bodies, self.bodies)

    @property
    def path_joint_map(self) -> dict[str, int]:
        """Joint index by prim path; equalities are joints that close loops."""
        joints = _by_path(self.asset.joints, self.joints)
        return joints | {
            equality.source.prim: self.equalities[equality.name]
            for equality in self.asset.equalities
            if equality.source.prim and equality.name in self.equalities
        }

    @property
    def path_shape_map(self) -> dict[str, int]:
        """Shape and site index by prim path."""
        return _by_path(self.asset.shapes, self.shapes) | _by_path(self.asset.sites, self.sites)

    @property
    def path_articulation_map(self) -> dict[str, int]:
        """Articulation index by the path of its root."""
        return _by_path(self.asset.articulations, self.articulations)

    @property
    def schema_attrs(self) -> dict[str, dict[str, dict[str, Any]]]:
        """Solver attributes as they were authored: solver, prim, attribute."""
        return schema_attrs(self.asset, self.resolvers)

    def as_newton(self) -> dict[str, Any]:
        """The same under the keys of the dictionary that Newton's own importer returns."""
        environment, info = self.asset.environment, self.asset.provenance.info
        scene = info.get("physicsScene")
        step = environment.timestep
        if step is None and scene:
            step = _STEP
        return {
            "path_body_map": self.path_body_map,
            "path_joint_map": self.path_joint_map,
            "path_shape_map": self.path_shape_map,
            "schema_attrs": self.schema_attrs,
            "physics_scene_path": scene,
            "physics_dt": step,
            "max_solver_iterations": self._count_iterations(),
            "linear_unit": info.get("metersPerUnit", 1.0),
            "mass_unit": info.get("kilogramsPerUnit", 1.0),
            "collapse_results": self.collapse_results,
        }

    def _count_iterations(self) -> Any:
        """The resolved count: also the fallback of a schema, which may be -1, "as many as you like"."""
        known = self.asset.origins.get(self.asset.provenance.info.get("physicsScene", ""), {})
        if "max_solver_iterations" in known:
            return known["max_solver_iterations"].value
        return self.asset.environment.settings.get("max_solver_iterations")


def _by_path(elements: Iterable[Any], indices: dict[str, int]) -> dict[str, int]:
    return {e.path: indices[e.name] for e in elements if e.path and e.name in indices}
