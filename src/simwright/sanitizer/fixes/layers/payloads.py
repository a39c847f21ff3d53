# SPDX-License-Identifier: Apache-2.0
"""Heavy data by payload, and links, joints and sensors never (REP-0158 1.2.3, 4.2.4)."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from pxr import Ar, Sdf

from simwright.core.diag import Diagnostic
from simwright.sanitizer.fixer import Wishes, fix
from simwright.sanitizer.fixes.layers.decomposition import extract
from simwright.sanitizer.layering.arcs import (
    ask_payload,
    ask_reference,
    find_holders,
    is_pure,
    lighten,
    list_arcs,
)
from simwright.sanitizer.layering.stacks import Stack, find_stack, find_stacks, is_settled
from simwright.usd.edit import Editor, Refused

_PAYLOAD = "payload"


@fix("payload-no-kinematics", "payload-topology-loaded", phase=3)
def load_kinematics(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The payload becomes a reference, and the mesh data in it a payload."""
    open_payloads(editor, list(_find_specs(editor, finding)))


@fix("sens-traversable", phase=3)
def load_sensors(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The same for sensors."""
    open_payloads(editor, list(_find_specs(editor, finding)))


@fix("payload-geo-only", phase=3)
def load_features(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """The same for a layer that only payloads bring in."""
    stacks = find_stacks(editor)
    layer = editor.find_layer(finding.where.file)
    roots = [stack.root for stack in stacks if layer in stack.layers]
    specs = [spec for root in roots for spec in find_holders(editor, stacks, _PAYLOAD, root)]
    open_payloads(editor, specs)


@fix("payload-heavy", phase=3)
def load_late(editor: Editor, finding: Diagnostic, _: Wishes) -> None:
    """References to mesh data become payloads; mesh data among other things gets a layer of its own."""
    if is_settled(editor):
        return
    stack = find_stack(editor, finding.where.file)
    if stack.is_entry or stack.root != editor.find_layer(finding.where.file) or not is_pure(stack):
        extract(editor, finding)
        return
    for spec in find_holders(editor, find_stacks(editor), "references", stack.root):
        ask_payload(editor, spec, stack.root)


def open_payloads(editor: Editor, specs: list[Any]) -> None:
    """Let payloads be references, with the mesh data of what they bring in behind payloads of its own."""
    if not specs:
        raise Refused("no payload of the asset itself brings it in")
    stacks = find_stacks(editor)
    for spec in specs:
        ask_reference(editor, spec)
        for stack in _list_brought(editor, stacks, spec):
            lighten(editor, stacks, stack)


def _list_brought(editor: Editor, stacks: list[Stack], spec: Any) -> Iterator[Stack]:
    with Ar.ResolverContextBinder(editor.stage.GetPathResolverContext()):
        layers = [
            Sdf.Layer.FindRelativeToLayer(spec.layer, arc.assetPath) for arc in list_arcs(spec, _PAYLOAD)
        ]
    yield from (stack for stack in stacks if stack.root in layers)


def _find_specs(editor: Editor, finding: Diagnostic) -> Iterator[Any]:
    """The payloads that bring a prim in: those of the nearest prim that has some."""
    file, path = finding.where.file, finding.where.prim
    layer = editor.find_layer(file) if file in editor.own else None
    named = layer.GetPrimAtPath(path) if layer is not None and path else None
    if named is not None and list_arcs(named, _PAYLOAD):
        yield named
        return
    prim = editor.stage.GetPrimAtPath(path) if path else None
    while prim and not prim.IsPseudoRoot():
        specs = [spec for spec in prim.GetPrimStack() if list_arcs(spec, _PAYLOAD)]
        if specs:
            yield from (spec for spec in specs if spec.layer.identifier in editor.own)
            return
        prim = prim.GetParent()
