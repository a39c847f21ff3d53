# SPDX-License-Identifier: Apache-2.0
"""What edits changed on a stage, as OpenUSD itself tells; a fix is not asked.

A machine is what its stage says.  Where nothing changed but how transforms are written, and metadata that no machine is
made of, it is enough to compare where prims stand: everything else is what it was.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from typing import Any

from pxr import Sdf, Tf, Usd

from simwright.usd.edit import Edit

_OPS, _ORDER = "xformOp:", "xformOpOrder"
STAGE_METADATA = frozenset({
    "kilogramsPerUnit", "metersPerUnit", "upAxis", "timeCodesPerSecond", "framesPerSecond", "defaultPrim",
    "documentation", "comment",
})  # fmt: skip
"""What a stage may say of itself without being another machine, as long as its numbers mean the same."""
PRIM_METADATA = frozenset({"kind", "assetInfo", "documentation", "comment", "displayName"})
"""The same of a prim."""


class Footprint:
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

    def settle(self, edits: Iterable[Edit], *, within_layers: bool = False) -> None:
        """Say what the edits of a block were: of what is composed anew OpenUSD does not tell the parts.

        ``within_layers`` says that they are meant to move opinions between layers, which has to be proven.
        """
        roots, self._roots = self._roots, []
        has_apis, self._has_apis = self._has_apis, False
        made = list(edits)
        if roots and not all(_is_metadata(edit, roots) for edit in made):
            self._recompose()
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
