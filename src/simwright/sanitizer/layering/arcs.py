# SPDX-License-Identifier: Apache-2.0
"""References that become payloads, and payloads that become references (REP-0158 1.2.3).

Both bring in the same; a reference is stronger, which only counts where a prim has several arcs.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from pxr import Ar, Sdf

from simwright.sanitizer.layering.library import Library
from simwright.sanitizer.layering.stacks import Stack
from simwright.usd.edit import Editor, Refused

_LISTS = ("explicitItems", "prependedItems", "appendedItems", "addedItems")


def find_holders(editor: Editor, stacks: Collection[Stack], key: str, target: Any) -> Iterator[Any]:
    """Specs of the asset that bring in a layer; ``key`` is ``references`` or ``payload``."""
    with Ar.ResolverContextBinder(editor.stage.GetPathResolverContext()):
        for layer in {layer.identifier: layer for stack in stacks for layer in stack.layers}.values():
            kind = "reference" if key == "references" else "payload"
            for path in {arc.path for arc in stacks_facts(stacks, layer).arcs if arc.kind == kind}:
                spec = layer.GetPrimAtPath(path)
                if any(_leads_to(layer, arc, target) for arc in list_arcs(spec, key)):
                    yield spec


def stacks_facts(stacks: Collection[Stack], layer: Any) -> Any:
    """What is known of a layer in one of some stacks."""
    return next(stack.facts[layer.identifier] for stack in stacks if layer.identifier in stack.facts)


def list_arcs(spec: Any, key: str) -> list[Any]:
    """References or payloads that a spec adds."""
    if not spec.HasInfo(key):
        return []
    listed = spec.GetInfo(key)
    return [arc for kind in _LISTS for arc in getattr(listed, kind)]


def _leads_to(layer: Any, arc: Any, target: Any) -> bool:
    return bool(arc.assetPath) and Sdf.Layer.FindRelativeToLayer(layer, arc.assetPath) == target


def ask_reference(editor: Editor, spec: Any) -> None:
    """Let the payloads of a spec be references, the weakest of them."""
    check_alone(editor, spec)
    arcs = list_arcs(spec, "payload")
    if arcs:
        turn = lambda: _turn(spec, arcs, "payload", "references")  # noqa: E731 - asked for, made later
        editor.add(spec.layer, spec.path, "payload becomes a reference", turn)


def ask_payload(editor: Editor, spec: Any, target: Any) -> None:
    """Let the references of a spec to a layer be payloads, the strongest of them."""
    check_alone(editor, spec)
    arcs = list_arcs(spec, "references")
    with Ar.ResolverContextBinder(editor.stage.GetPathResolverContext()):
        chosen = [arc for arc in arcs if _leads_to(spec.layer, arc, target)]
    if chosen != arcs[len(arcs) - len(chosen) :]:
        raise Refused(f"{spec.path} refers to {target.GetDisplayName()} before other layers; list it last")
    if chosen:
        turn = lambda: _turn(spec, chosen, "references", "payload")  # noqa: E731 - asked for, made later
        editor.add(spec.layer, spec.path, "reference becomes a payload", turn)


def check_alone(editor: Editor, spec: Any) -> None:
    """Refuse lists of arcs that several layers put together."""
    prim = editor.stage.GetPrimAtPath(spec.path.StripAllVariantSelections())
    for other in prim.GetPrimStack() if prim else ():
        is_other = other.layer != spec.layer and other.path == spec.path
        if is_other and (other.HasInfo("references") or other.HasInfo("payload")):
            where = f"{spec.layer.GetDisplayName()} and {other.layer.GetDisplayName()}"
            raise Refused(f"{where} both bring layers in at {spec.path}; list them in one")
    for key in ("references", "payload"):
        listed = spec.GetInfo(key) if spec.HasInfo(key) else None
        if listed is not None and (listed.deletedItems or listed.orderedItems):
            raise Refused(f"{spec.path} deletes or orders layers that others bring in")


def _turn(spec: Any, chosen: list[Any], old: str, new: str) -> None:
    """Make arcs of one kind arcs of the other; they stand between those that are references and payloads already."""
    left = [arc for arc in list_arcs(spec, old) if arc not in chosen]
    kind = _find_list(spec, old)
    make = Sdf.Reference if new == "references" else Sdf.Payload
    arcs = [make(arc.assetPath, arc.primPath, arc.layerOffset) for arc in chosen]
    there = list_arcs(spec, new)
    _write(
        spec, new, _find_list(spec, new) or kind, [*there, *arcs] if new == "references" else [*arcs, *there]
    )
    _write(spec, old, kind, left)


def _find_list(spec: Any, key: str) -> str:
    if not spec.HasInfo(key):
        return ""
    return next((kind for kind in _LISTS if getattr(spec.GetInfo(key), kind)), "")


def _write(spec: Any, key: str, kind: str, arcs: list[Any]) -> None:
    spec.ClearInfo(key)
    if arcs:
        operation = Sdf.ReferenceListOp if key == "references" else Sdf.PayloadListOp
        if kind == "explicitItems":
            listed = operation.CreateExplicit(arcs)
        else:
            listed = operation()
            setattr(listed, kind, arcs)
        spec.SetInfo(key, listed)


def lighten(editor: Editor, stacks: list[Stack], stack: Stack, seen: set[str] | None = None) -> None:
    """Put the mesh data that a stack brings in behind payloads, its own and what it refers to."""
    known = seen if seen is not None else set()
    if stack.root.identifier in known:
        return
    known.add(stack.root.identifier)
    Library(editor, stack).ask([layer for layer in stack.layers if stack.read(layer).has_meshes])
    for other in stacks:
        holders = [s for s in find_holders(editor, [stack], "references", other.root) if other is not stack]
        if not holders:
            continue
        if is_pure(other):
            for spec in holders:
                ask_payload(editor, spec, other.root)
        else:
            lighten(editor, stacks, other, known)


def is_pure(stack: Stack) -> bool:
    """Is it mesh data and nothing that has to be there without it?"""
    facts = [stack.read(layer) for layer in stack.layers]
    is_plain = not any(known.features or known.placed or known.looks for known in facts)
    return is_plain and any(known.has_meshes for known in facts)
