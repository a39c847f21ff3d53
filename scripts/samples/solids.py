# SPDX-License-Identifier: Apache-2.0
"""Mass properties of links made of simple solids, from the exact moments of :mod:`simwright.model.mass`."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from samples.meshes import Mesh
from simwright.core.math3d import IDENTITY, Pose
from simwright.model.geometry import Geometry
from simwright.model.inertia import Inertial, combine
from simwright.model.moments import compute_moments, mesh_moments


@dataclass(frozen=True, slots=True, eq=False)
class Solid:
    """A primitive at a pose in its link's frame."""

    geometry: Geometry
    pose: Pose = IDENTITY


def inertial_of_solids(solids: Sequence[Solid], mass: float) -> Inertial:
    """Uniform density over all solids, scaled to ``mass`` [kg]."""
    parts = [compute_moments(solid.geometry).inertial(1.0).moved(solid.pose) for solid in solids]
    return combine(parts).scaled_to(mass)


def inertial_of_mesh(mesh: Mesh, mass: float) -> Inertial:
    """Uniform density inside a closed mesh, scaled to ``mass`` [kg]."""
    return mesh_moments(mesh.vertices, mesh.faces).inertial(1.0).scaled_to(mass)


def inertial_of_meshes(meshes: Sequence[Mesh], density: float) -> Inertial:
    """Several closed meshes at one ``density`` [kg/m^3]."""
    return combine([mesh_moments(mesh.vertices, mesh.faces).inertial(density) for mesh in meshes])
