# SPDX-License-Identifier: Apache-2.0
"""What a collision pipeline needs: shapes, their materials and bounds, and which of them may touch.

The shape arrays are those of the model, not copies.  Pairs are kept for one world and written out on demand.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Annotated

import numpy as np

from simwright.runtime.arrays import AnyArray, Bools, Floats, Ints, array
from simwright.runtime.model import Model
from simwright.runtime.pairs import Pairs, Table
from simwright.runtime.state import Cloning


@dataclass(eq=False, kw_only=True)
class CollisionModel:
    """Bounds and pairs beside a model; ``rigid_contact_max`` is the capacity for contacts of all worlds."""

    model: Model
    shape_collision_aabb_lower: Annotated[
        Floats, array("shape", "lower corner in the shape's frame", unit="m", row=(3,))
    ]
    shape_collision_aabb_upper: Annotated[
        Floats, array("shape", "upper corner in the shape's frame", unit="m", row=(3,))
    ]
    rigid_contact_max: int = 0
    pairs: Pairs = field(default_factory=Pairs)

    def __getattr__(self, name: str) -> AnyArray:
        # programs for SAP Warp look for shape arrays here
        if name.startswith("shape_") or name in ("world_count", "shape_count"):
            values: AnyArray = getattr(self.model, name)
            return values
        raise AttributeError(f"a collision model has no {name!r}")

    @property
    def shape_contact_pair_count(self) -> int:
        """Number of pairs that may touch."""
        return len(self.pairs)

    @cached_property
    def shape_contact_pairs(self) -> Table:
        """Pairs of shapes that may touch, ``(n, 2)``, made when first asked for."""
        return self.pairs.expand()

    @property
    def shape_collision_filter_pairs(self) -> set[tuple[int, int]]:
        """Pairs of shapes that never touch, the smaller index first."""
        return set(self.model.shape_filters)


@dataclass(slots=True, eq=False, kw_only=True)
class CollisionState(Cloning):
    """Poses that contacts are found for."""

    body_q: Annotated[
        Floats, array("body", "pose in the world: position, quaternion x, y, z, w", unit="m, 1", row=(7,))
    ]
    custom: dict[str, AnyArray] = field(default_factory=dict)


def find_pairs(model: Model) -> Pairs:
    """Pairs of shapes that may touch: collision flags, groups and filters, by rule, for one world and what is shared.

    Shapes that stand still against each other, both on the world, are no pair.
    """
    local = model.per_world["shape"]
    copies = local * model.world_count
    # one world and what is shared: pairs of other worlds are the same, counted from there
    row = np.r_[0:local, copies : model.shape_count]
    flags, group, body = (
        values[row] for values in (model.shape_flags, model.shape_collision_group, model.shape_body)
    )
    # group 0 touches nothing
    touching = np.flatnonzero((flags & 2 != 0) & (group != 0))
    a, b = np.triu_indices(len(touching), 1)
    a, b = touching[a], touching[b]
    # two shapes that stand still need no contact
    keep = _match_groups(group[a], group[b]) & ~((body[a] < 0) & (body[b] < 0))
    filtered = _keys(model.shape_filters, local, len(row))
    keep &= ~np.isin(a * len(row) + b, filtered)
    a, b = a[keep].astype(np.int32), b[keep].astype(np.int32)
    # indices of shared shapes are the larger ones, so b tells
    inside, shared = b < local, a >= local
    crossing = ~inside & ~shared
    return Pairs(
        np.stack((a[inside], b[inside]), axis=1),
        np.stack((a[crossing], b[crossing] - local), axis=1),
        np.stack((a[shared], b[shared]), axis=1) - np.int32(local),
        local,
        model.world_count,
    )


def _match_groups(a: Ints, b: Ints) -> Bools:
    """Positive groups touch themselves and negative ones; negative ones all that are different."""
    matching: Bools = np.where((a > 0) & (b > 0), a == b, a != b)
    return matching


def _keys(pairs: Pairs, local: int, width: int) -> np.ndarray[tuple[int, ...], np.dtype[np.int64]]:
    """Filtered pairs of one world and the shared shapes as single numbers."""
    table = np.concatenate(
        (pairs.local, pairs.crossing + np.array((0, local), dtype=np.int32), pairs.among + np.int32(local))
    ).astype(np.int64)
    # filters are kept in any order
    table.sort(axis=1)
    return table[:, 0] * width + table[:, 1]
