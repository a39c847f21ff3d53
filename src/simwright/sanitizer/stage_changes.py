# SPDX-License-Identifier: Apache-2.0
"""What edits changed on a stage, as OpenUSD itself tells; a fix is not asked.

A machine is what its stage says.  Where nothing changed but how transforms are written, and metadata that no machine is
made of, it is enough to compare where prims stand (:class:`StageChanges`).  Where opinions only moved between layers it
is enough that both stages compose to the same (:func:`compose_alike`).
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from pxr import Sdf, Tf, Usd, UsdGeom, UsdPhysics

from simwright.usd.edit import Edit
from simwright.usd.silence import capture

_OPS, _ORDER = "xformOp:", "xformOpOrder"
STAGE_METADATA = frozenset({
    "kilogramsPerUnit", "metersPerUnit", "upAxis", "timeCodesPerSecond", "framesPerSecond", "defaultPrim",
    "documentation", "comment",
})  # fmt: skip
"""What a stage may say of itself without being another machine, as long as its numbers mean the same."""
PRIM_METADATA = frozenset({"kind", "assetInfo", "documentation", "comment", "displayName"})
"""What a prim may say of itself without being a part of another machine."""


class StageChanges:
    """Changes of all watched blocks of edits together.

    ``recomposed`` says that prims may have come, gone or got other arcs, ``only_transforms`` that apart from metadata
    nothing but transform ops changed, ``only_layers`` that nothing but metadata did outside of blocks that only move
    opinions between layers.
    """

    def __init__(self) -> None:
        self.recomposed = False
        self.only_transforms = True
        self.only_layers = True
        self._is_more = False
        self._has_apis = False
        self._roots: list[Sdf.Path] = []

    @contextmanager
    def watch(self, stage: Usd.Stage) -> Iterator[None]:
        """Take down what happens to a stage."""
        key = Tf.Notice.Register(Usd.Notice.ObjectsChanged, self._listen, stage)
        try:
            yield
        finally:
            key.Revoke()

    def classify_edits(self, edits: Iterable[Edit], *, within_layers: bool = False) -> None:
        """Say what the edits of a block were: of what is composed anew OpenUSD does not tell the parts.

        ``within_layers`` says that they are meant to move opinions between layers, which has to be proven.
        """
        roots, self._roots = self._roots, []
        has_apis, self._has_apis = self._has_apis, False
        made = list(edits)
        # OpenUSD resyncs a root for harmless metadata too, and does not say what else changed below it
        if roots and not all(_is_metadata(edit, roots) for edit in made):
            self._recompose()
        # the same: with an applied schema a prim is resynced as a whole
        if has_apis and not all(_is_within(edit) for edit in made):
            self._recompose()
        self.only_layers &= within_layers or not self._is_more
        self._is_more = False

    def _recompose(self) -> None:
        self.recomposed, self.only_transforms, self._is_more = True, False, True

    def _listen(self, notice: Any, _: Any) -> None:
        for path in notice.GetResyncedPaths():
            if path.IsPropertyPath():
                self._is_more = True
                self.only_transforms &= _is_op(path)
            elif path.IsAbsoluteRootPath() or _is_harmless(path, notice):
                self._roots.append(path)
            elif set(notice.GetChangedFields(path)) == {"apiSchemas"}:
                self.only_transforms, self._is_more, self._has_apis = False, True, True
            else:
                self._recompose()
        for path in notice.GetChangedInfoOnlyPaths():
            # both answers are known: the rest of thousands of paths need not be asked
            if self._is_more and not self.only_transforms:
                return
            is_op = _is_op(path)
            if is_op or not _is_harmless(path, notice):
                self._is_more = True
                self.only_transforms &= is_op


def _is_metadata(edit: Edit, roots: list[Sdf.Path]) -> bool:
    """Is it one of a layer or prim that was composed anew, and harmless; or elsewhere?"""
    if not any(edit.path.HasPrefix(root) for root in roots):
        return True
    known = STAGE_METADATA if edit.path.IsAbsoluteRootPath() else PRIM_METADATA
    return edit.path in roots and edit.what.partition(" = ")[0] in known


def _is_within(edit: Edit) -> bool:
    """Is it about a property or an applied schema, so that no prims can come and no arcs lead elsewhere?"""
    return bool(edit.path.IsPropertyPath()) or "apiSchemas: " in edit.what


def _is_harmless(path: Sdf.Path, notice: Any) -> bool:
    """Did nothing but metadata change that no machine is made of?  Units are compared as numbers."""
    fields = notice.GetChangedFields(path)
    known = (
        STAGE_METADATA if path.IsAbsoluteRootPath() else PRIM_METADATA if path.IsPrimPath() else frozenset()
    )
    return bool(fields) and known.issuperset(fields)


def _is_op(path: Sdf.Path) -> bool:
    return bool(path.IsPropertyPath()) and (path.name.startswith(_OPS) or path.name == _ORDER)


_SCHEMAS = "apiSchemas"
_CHILD_ORDERS = frozenset({"primOrder", "propertyOrder"})
"""Fields by which an order of children comes about; the order itself is compared."""


def compose_alike(before: Usd.Stage, after: Usd.Stage) -> bool:
    """Is everything that one stage says said by the other, and nothing else?

    Not counted are metadata that no machine is made of, the order in which schemas are applied, and the folder of the
    asset in addresses of its files.
    """
    prims = _list_prims(before)
    if not _count_alike(before, after) or prims != _list_prims(after):
        return False
    with capture():
        return _FlatDifference(before, after, prims).are_nothing()


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
    """Paths of all prims of a stage, in their order."""
    every = Usd.PrimRange(stage.GetPseudoRoot(), Usd.PrimAllPrimsPredicate)
    return [prim.GetPath() for prim in every]


def _equalize_metadata(mirror: Sdf.Layer, wanted: Sdf.Layer, prims: list[Sdf.Path]) -> None:
    """Let what does not count be the same: OpenUSD tells of a prim that is composed anew, not what changed below it."""
    # one loop over prims: what does not count has to be equal before OpenUSD is asked for differences, or
    # every
    # prim with another kind or order would count as composed anew
    with Sdf.ChangeBlock():
        for path in prims:
            old, new = mirror.GetObjectAtPath(path), wanted.GetObjectAtPath(path)
            if old is None or new is None:
                continue
            for key in STAGE_METADATA if path.IsAbsoluteRootPath() else PRIM_METADATA:
                _copy_field(old, new, key)
            for key in _CHILD_ORDERS:
                _copy_field(old, new, key)
            if old.HasInfo(_SCHEMAS) and new.HasInfo(_SCHEMAS):
                lists = [spec.GetInfo(_SCHEMAS) for spec in (old, new)]
                applied = [sorted(listed.GetAppliedItems()) for listed in lists]
                # list operations differ where layers were merged, though the same schemas are applied
                if lists[0] != lists[1] and applied[0] == applied[1]:
                    old.SetInfo(_SCHEMAS, lists[1])


def _copy_field(old: Any, new: Any, key: str) -> None:
    if new.HasInfo(key):
        if not old.HasInfo(key) or old.GetInfo(key) != new.GetInfo(key):
            old.SetInfo(key, new.GetInfo(key))
    elif old.HasInfo(key):
        old.ClearInfo(key)


class _FlatDifference:
    """What has to be changed on one stage to make it the other: ``composed`` anew, or only with another value."""

    def __init__(self, before: Usd.Stage, after: Usd.Stage, prims: list[Sdf.Path]) -> None:
        self.stages = (before, after)
        self.folders = tuple(Path(stage.GetRootLayer().realPath).parent for stage in self.stages)
        self.composed: list[Sdf.Path] = []
        self.values: dict[Sdf.Path, set[str]] = {}
        # flattening leaves one layer of plain opinions, whatever layers they came from
        mirror = before.Flatten(addSourceFileComment=False)
        wanted = after.Flatten(addSourceFileComment=False)
        _equalize_metadata(mirror, wanted, prims)
        # a flattened layer has no arcs but those to its own prototypes, so nothing is loaded
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
        # addresses are defaults; time samples or metadata that differ are real differences
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
