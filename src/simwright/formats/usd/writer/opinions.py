# SPDX-License-Identifier: Apache-2.0
"""Solver values by the rows of the resolvers: settings of colliders, and authored numbers in the units of the layers.

A setting that came from an attribute goes with that attribute; one without (of another format, or said by a schema that
is applied and nothing else) is written by the first solver that has a word for it.
"""

from __future__ import annotations

from typing import Any, Final

from simwright.core.units import DEGREE
from simwright.formats.usd.writer.attributes import write_typed
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.sheet import Sheet
from simwright.model.asset import Asset, Shape
from simwright.model.joint import Motion
from simwright.resolve import mjc, newton, physx
from simwright.resolve.table import ANGULAR_AXES, NUMBER, PrimType, Row, Scale

ROWS: Final[dict[str, tuple[Row, ...]]] = {"newton": newton.ROWS, "physx": physx.ROWS, "mjc": mjc.ROWS}
FIELD: Final = "NewtonSDFCollisionAPI"
FIELD_ASKED: Final = "sdf_enabled"
"""The schema that asks for a distance field by being applied, so it is not applied for a setting alone."""
_DERIVED = frozenset({"contact_first", "shell_density"})
"""Settings that follow from others and from the order of the resolvers."""


def write_key(sheets: dict[str, Sheet], path: str, prim: PrimType, key: str, value: Any) -> bool:
    """By the first solver that has a word for it; a switch has none for a half.  False if nobody has."""
    for space, rows in ROWS.items():
        for row in rows:
            words = row.write(value) if row.prim is prim and row.key == key else {}
            for name, raw in words.items():
                write_typed(sheets[space], path, name, raw, row.schema)
            if words:
                return True
    return False


def write_settings(layout: Layout, sheets: dict[str, Sheet]) -> None:
    """What only solvers say about colliders."""
    for shape in layout.asset.shapes:
        path = layout.colliders.get(shape.name, "")
        if not (shape.settings and shape.collision and path):
            continue
        for key, value in _list_bare(layout.asset, shape):
            if key != FIELD_ASKED:
                write_key(sheets, path, PrimType.SHAPE, key, value)
            elif value:
                sheets["newton"].apply(path, FIELD)


def find_lost_settings(asset: Asset, shape: Shape) -> list[str]:
    """The settings of a collider that no schema can say."""
    sayable = {row.key for rows in ROWS.values() for row in rows if row.prim is PrimType.SHAPE}
    return [key for key, _ in _list_bare(asset, shape) if key not in sayable | {FIELD_ASKED}]


def _list_bare(asset: Asset, shape: Shape) -> list[tuple[str, Any]]:
    """The settings that come with no attribute."""
    authored = {name for elements in asset.extras.table.values() for name in elements.get(shape.path, ())}
    said = {
        row.key
        for rows in ROWS.values()
        for row in rows
        if row.prim is PrimType.SHAPE and not authored.isdisjoint(row.attributes)
    }
    return [(key, value) for key, value in shape.settings.items() if key not in said | _DERIVED]


class Rescaler:
    """Turns authored numbers into those that say the same in metres and kilograms."""

    def __init__(self, asset: Asset) -> None:
        info = asset.provenance.info
        words = asset.extras.table.get("mjc", {}).get(str(info.get("physicsScene", "")), {})
        angle = words.get("mjc:compiler:angle")
        self._scale = Scale(
            float(info.get("metersPerUnit", 1.0)),
            float(info.get("kilogramsPerUnit", 1.0)),
            1.0 if angle is not None and angle.value == "radian" else DEGREE,
        )
        self._turning = {
            joint.path for joint in asset.joints if any(dof.motion is not Motion.SLIDE for dof in joint.dofs)
        }
        self._rows = {
            (row.prim, name): row for rows in ROWS.values() for row in rows for name in row.attributes
        }

    def convert(self, element: str, prim: PrimType | None, attribute: str, value: Any) -> Any:
        """The value of an attribute; one that no row knows stays as it is."""
        row = None if prim is None else self._rows.get((prim, attribute))
        if row is None or row.unit is NUMBER or isinstance(value, bool) or not isinstance(value, int | float):
            return value
        angular = row.axis in ANGULAR_AXES if row.axis else element in self._turning
        factor = row.unit.factor(self._scale, angular=angular) / row.unit.factor(Scale(), angular=angular)
        return value if factor == 1.0 else value * factor
