# SPDX-License-Identifier: Apache-2.0
"""Thresholds and choices of the checker; all can be set in ``simwright.toml``."""

from __future__ import annotations

from dataclasses import dataclass, field
from pathlib import Path


@dataclass(frozen=True, slots=True)
class CheckSettings:
    """What rules may ask for.

    ``heavy_elements`` and ``heavy_bytes``: array data in one layer above which it is heavy (REP-0158 gives
    no number).  ``repeat_count``: identical meshes that should be instanced.  ``clone_count``: identical
    articulated subtrees that look like a baked array.  ``max_self_intersection``: triangles above which a
    mesh is not searched for self-intersection; ``self_intersection_budget``: triangles searched on one stage in
    all.  ``interfaces``: extra folders with ROS interface definitions.  ``asset_state``: ``final``, or ``source``
    for assets that an ETL pipeline still works on, where Euler rotations are allowed (REP-0158 1.1).  ``ratified``:
    extension classes that core OpenUSD has, beside those of the registry's own table, as ``Extension:Core``.
    """

    heavy_elements: int = 10_000
    heavy_bytes: int = 256 * 1024
    repeat_count: int = 3
    clone_count: int = 4
    max_self_intersection: int = 20_000
    self_intersection_budget: int = 20_000
    vendor_namespaces: tuple[str, ...] = ()
    allowed_schemes: tuple[str, ...] = ()
    interfaces: tuple[Path, ...] = field(default_factory=tuple)
    asset_state: str = "final"
    ratified: tuple[str, ...] = ()
