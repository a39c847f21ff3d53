# SPDX-License-Identifier: Apache-2.0
"""Do two stages compose to the same, opinion by opinion?  Then they are the same machine, and need not be read.

Moving opinions between layers changes where something is said and nothing else.  Both stages are flattened to one layer
each; the second is transferred into the first, and OpenUSD itself tells what that changed.
"""

from __future__ import annotations

from pathlib import Path
from typing import Any

from pxr import Sdf, Tf, Usd, UsdGeom, UsdPhysics

from simwright.sanitizer.footprint import PRIM_METADATA, STAGE_METADATA
from simwright.usd.silence import capture

_SCHEMAS = "apiSchemas"
_ORDERS = frozenset({"primOrder", "propertyOrder"})
"""How an order comes about; the order itself is compared."""


def compose_alike(before: Usd.Stage, after: Usd.Stage) -> bool:
    """Is everything that one stage says said by the other, and nothing else?

    Not counted are metadata that no machine is made of, the order in which schemas are applied, and the folder of the
    asset in addresses of its files.
    """
    prims = _list_prims(before)
    if not _count_alike(before, after) or prims != _list_prims(after):
        return False
    with capture():
        return _Changes(before, after, prims).are_nothing()


def _count_alike(before: Usd.Stage, after: Usd.Stage) -> bool:
    """Do numbers mean the same?"""
    units: list[Any] = [
        (
            UsdGeom.GetStageMetersPerUnit(stage),
            UsdPhysics.GetStageKilogramsPerUnit(stage),
            UsdGeom.GetStageUpAxis(stage),
            stage.GetTimeCodesPerSecond(),
        )
        for stage in (before, after)
    ]
    return bool(units[0] == units[1])


def _list_prims(stage: Usd.Stage) -> list[Sdf.Path]:
    """All prims in their order."""
    every = Usd.PrimRange(stage.GetPseudoRoot(), Usd.PrimAllPrimsPredicate)
    return [prim.GetPath() for prim in every]


def _settle_metadata(mirror: Sdf.Layer, wanted: Sdf.Layer, prims: list[Sdf.Path]) -> None:
    """Let what does not count be the same: OpenUSD tells of a prim that is composed anew, not what changed below it."""
    with Sdf.ChangeBlock():
        for path in prims:
            old, new = mirror.GetObjectAtPath(path), wanted.GetObjectAtPath(path)
            if old is None or new is None:
                continue
            for key in STAGE_METADATA if path.IsAbsoluteRootPath() else PRIM_METADATA:
                _copy_field(old, new, key)
            for key in _ORDERS:
                _copy_field(old, new, key)
            if old.HasInfo(_SCHEMAS) and new.HasInfo(_SCHEMAS):
                lists = [spec.GetInfo(_SCHEMAS) for spec in (old, new)]
                applied = [sorted(listed.GetAppliedItems()) for listed in lists]
                if lists[0] != lists[1] and applied[0] == applied[1]:
                    old.SetInfo(_SCHEMAS, lists[1])


def _copy_field(old: Any, new: Any, key: str) -> None:
    if new.HasInfo(key):
        if not old.HasInfo(key) or old.GetInfo(key) != new.GetInfo(key):
            old.SetInfo(key, new.GetInfo(key))
    elif old.HasInfo(key):
        old.ClearInfo(key)


class _Changes:
    """What has to be changed on one stage to make it the other: ``composed`` anew, or only with another value."""

    def __init__(self, before: Usd.Stage, after: Usd.Stage, prims: list[Sdf.Path]) -> None:
        self.stages = (before, after)
        self.folders = tuple(Path(stage.GetRootLayer().realPath).parent for stage in self.stages)
        self.composed: list[Sdf.Path] = []
        self.values: dict[Sdf.Path, set[str]] = {}
        mirror = before.Flatten(addSourceFileComment=False)
        wanted = after.Flatten(addSourceFileComment=False)
        _settle_metadata(mirror, wanted, prims)
        watched = Usd.Stage.Open(mirror, Usd.Stage.LoadNone)
        key = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._listen, watched)
        try:
            mirror.TransferContent(wanted)
        finally:
            key.Revoke()

    def _listen(self, notice: Any, _: Any) -> None:
        self.composed += notice.GetResyncedPaths()
        for path in notice.GetChangedInfoOnlyPaths():
            self.values.setdefault(path, set()).update(notice.GetChangedFields(path))

    def are_nothing(self) -> bool:
        """Does nothing change but folders in addresses?"""
        if self.composed or any(fields != {"default"} for fields in self.values.values()):
            return False
        return all(map(self._names_same, self.values))

    def _names_same(self, path: Sdf.Path) -> bool:
        """Does an attribute name the same files of the asset?"""
        one, other = (
            _list_files(stage.GetAttributeAtPath(path), folder)
            for stage, folder in zip(self.stages, self.folders, strict=True)
        )
        return one is not None and one == other


def _list_files(attribute: Usd.Attribute, folder: Path) -> list[str] | None:
    """Files that an attribute names, those of the asset as seen from its folder; None if it names none."""
    value: Any = attribute.Get() if attribute else None
    if isinstance(value, Sdf.AssetPath):
        value = [value]
    elif not isinstance(value, Sdf.AssetPathArray):
        return None
    found = []
    for item in value:
        file = Path(item.resolvedPath or item.path)
        found.append(file.relative_to(folder).as_posix() if file.is_relative_to(folder) else str(file))
    return found
