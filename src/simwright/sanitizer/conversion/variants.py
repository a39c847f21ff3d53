# SPDX-License-Identifier: Apache-2.0
"""Variants that are not chosen: a push that looks at the composed stage does not see them."""

from __future__ import annotations

from collections.abc import Iterator

from pxr import Sdf, Usd

from simwright.sanitizer.conversion.dimensions import Role, find_dimension
from simwright.usd.edit import Editor, Refused
from simwright.usd.xform import ORDER


def refuse_variants(editor: Editor, prim: Usd.Prim, *, only_ops: bool = False) -> None:
    """Refuse where another choice says transforms or shapes of the prim, or of what is below it."""
    for spec in editor.list_prim_specs(prim):
        for name, variant in _list_unchosen(prim, spec):
            for below in _walk(variant):
                if _is_sensitive(below) and (not only_ops or below == variant):
                    raise Refused(
                        f"the variant {name} of {prim.GetPath()} says transforms or shapes too; "
                        "fix it with that variant chosen, or by hand"
                    )
            if only_ops:
                continue
            if any(below.hasReferences or below.hasPayloads for below in _walk(variant)):
                raise Refused(
                    f"the variant {name} of {prim.GetPath()} brings in files; fix those by themselves"
                )


def _list_unchosen(prim: Usd.Prim, spec: Sdf.PrimSpec) -> Iterator[tuple[str, Sdf.PrimSpec]]:
    for group in spec.variantSets.values():
        chosen = prim.GetVariantSet(group.name).GetVariantSelection()
        for variant in group.variants.values():
            if variant.name != chosen:
                yield f"{group.name}={variant.name}", variant.primSpec


def _walk(spec: Sdf.PrimSpec) -> Iterator[Sdf.PrimSpec]:
    pending = [spec]
    while pending:
        found = pending.pop()
        yield found
        pending.extend(found.nameChildren.values())


def _is_sensitive(spec: Sdf.PrimSpec) -> bool:
    for prop in spec.properties:
        if prop.name == ORDER or prop.name.startswith("xformOp:"):
            return True
        dimension = find_dimension(prop.name, Role(spec.typeName))
        if dimension is not None and dimension.length and not dimension.mass:
            return True
    return False
