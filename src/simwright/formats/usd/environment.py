# SPDX-License-Identifier: Apache-2.0
"""The physics scene (gravity) and what the asset says about itself (assetInfo, kind; REP-0158 1.2.5)."""

from __future__ import annotations

import math

import numpy as np
from pxr import Usd

from simwright.core.diag import Level, declare
from simwright.core.math3d import vec3
from simwright.core.units import STANDARD_GRAVITY
from simwright.formats.usd.leftovers import make_plain
from simwright.formats.usd.scan import Scan
from simwright.formats.usd.source import Source

SCENES_MANY = declare(
    "usd-scenes-many",
    Level.WARNING,
    "the stage has {count} physics scenes; {first} is used",
    hint="keep one PhysicsScene",
    doc="Gravity is taken from the first physics scene; simulation owners are not followed.",
)
DEFAULT_PRIM_MISSING = declare(
    "usd-default-prim-missing",
    Level.INFO,
    "the stage has no default prim, so it says nothing about itself",
    hint="author defaultPrim in the root layer",
    doc="assetInfo and kind are read from the default prim.",
    section="1.2.5",
)


def read_environment(source: Source, scan: Scan) -> None:
    """Set gravity from the first scene; a stage without one says nothing about it."""
    if not scan.scenes:
        return
    first = scan.scenes[0]
    source.asset.provenance.info["physicsScene"] = first.path
    if len(scan.scenes) > 1:
        where = source.where(scan.scenes[1].prim)
        source.reporter.report(SCENES_MANY, where, count=len(scan.scenes), first=first.path)
    direction = source.get_vector(first.prim, "physics:gravityDirection")
    norm = float(np.linalg.norm(direction))
    down = source.units.convert_direction(direction / norm) if norm > 0.0 else vec3(0.0, 0.0, -1.0)
    magnitude = source.get_number(first.prim, "physics:gravityMagnitude", -math.inf)
    if magnitude == math.inf:
        magnitude = source.get_size(first.prim, "physics:gravityMagnitude", -1.0)
    # a negative magnitude means "of the earth", whatever the stage unit
    strength = STANDARD_GRAVITY if magnitude < 0.0 else magnitude * source.units.length
    source.asset.environment.gravity = down * strength


def read_provenance(source: Source) -> None:
    """Note identifier, version, kind and units."""
    provenance = source.asset.provenance
    provenance.format = "usd"
    provenance.file = source.file
    layer = source.stage.GetRootLayer()
    provenance.info |= {
        "metersPerUnit": source.units.length,
        "kilogramsPerUnit": source.units.mass,
        "upAxis": source.units.up,
    }
    custom = make_plain(dict(layer.customLayerData))
    if custom:
        provenance.info["customLayerData"] = custom
    provenance.generator = str(custom.get("creator") or custom.get("generator") or "")
    prim = source.stage.GetDefaultPrim()
    if prim:
        _read_asset_info(source, prim)
    else:
        source.reporter.report(DEFAULT_PRIM_MISSING, source.where(source.stage.GetPseudoRoot()))


def _read_asset_info(source: Source, prim: Usd.Prim) -> None:
    provenance = source.asset.provenance
    info = make_plain(dict(prim.GetAssetInfo()))
    provenance.identifier = str(info.get("identifier", ""))
    provenance.version = str(info.get("version", ""))
    if info:
        provenance.info["assetInfo"] = info
    kind = Usd.ModelAPI(prim).GetKind()
    if kind:
        provenance.info["kind"] = str(kind)
