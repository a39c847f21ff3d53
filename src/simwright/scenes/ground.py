# SPDX-License-Identifier: Apache-2.0
"""The ground: a plane without end that all worlds share, added after they were copied."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from simwright.runtime.kinds import ShapeType
from simwright.scenes.builder import Builder, Triple
from simwright.scenes.finish import World, finish_world

DEFAULT_LABEL = "ground_plane"


def build_shared(
    builder: Builder,
    *,
    ground: bool = True,
    height: float = 0.0,
    label: str = DEFAULT_LABEL,
    config: Mapping[str, Any] | None = None,
    color: Triple | None = None,
) -> World:
    """What the worlds of a scene share: the ground, made with the defaults of its builder, or nothing."""
    shared = Builder(
        compat=builder.compat,
        gravity=builder.gravity,
        rigid_gap=builder.rigid_gap,
        default_shape=builder.default_shape,
    )
    if ground:
        shared.add_shape(
            -1,
            ShapeType.PLANE,
            (0.0, 0.0, 0.0),
            pose=(0.0, 0.0, height, 0.0, 0.0, 0.0, 1.0),
            config=builder.default_shape.with_values(config or {}),
            label=label,
            color=color,
        )
    return finish_world(shared, move=False)
