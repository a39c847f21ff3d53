# SPDX-License-Identifier: Apache-2.0
"""Chains of joints that Simwright wrote for one joint of several freedoms (see ``writer.chains``), joined again."""

from __future__ import annotations

import dataclasses
from typing import Any

from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.stage_reader import StageReader
from simwright.model.joint import Joint, JointKind


def join_chains(reader: StageReader, scan: StageScan) -> None:
    """One joint of each chain that is whole; its links between go."""
    chains: dict[str, list[Joint]] = {}
    for joint in reader.asset.joints:
        whole = scan.notes.get(joint.path, {}).get("chain_of")
        if isinstance(whole, str) and whole:
            chains.setdefault(whole, []).append(joint)
    for whole, parts in chains.items():
        ordered = _order(parts)
        if ordered is not None and _is_bare(reader, [part.child for part in ordered[:-1]]):
            _join(reader, whole, ordered, scan.notes.get(ordered[-1].path, {}))


def _order(parts: list[Joint]) -> list[Joint] | None:
    """The joints from parent to child; None if they are no chain any more."""
    by_parent = {part.parent: part for part in parts}
    children = {part.child for part in parts}
    first = [part for part in parts if part.parent not in children]
    if len(first) != 1 or len(by_parent) != len(parts):
        return None
    ordered = [first[0]]
    while ordered[-1].child in by_parent and len(ordered) < len(parts):
        ordered.append(by_parent[ordered[-1].child])
    return ordered if len(ordered) == len(parts) > 1 else None


def _is_bare(reader: StageReader, links: list[str]) -> bool:
    """Has nobody put anything on the links between?"""
    asset, names = reader.asset, set(links)
    placed: tuple[Any, ...] = (*asset.shapes, *asset.sites, *asset.cameras, *asset.lights, *asset.sensors)
    return not any(element.body in names for element in placed)


def _join(reader: StageReader, whole: str, parts: list[Joint], note: dict[str, Any]) -> None:
    asset, first, last = reader.asset, parts[0], parts[-1]
    kind = note.get("part_kind")
    dofs = [dataclasses.replace(dof, path=part.path) for part in parts for dof in part.dofs]
    joined = dataclasses.replace(
        last,
        name=whole,
        kind=JointKind(kind) if kind in set(JointKind) else JointKind.D6,
        parent=first.parent,
        parent_frame=first.parent_frame,
        dofs=dofs,
        rest=None,
    )
    gone = {id(part) for part in parts[:-1]}
    links = {part.child for part in parts[:-1]}
    asset.joints = [joined if j is last else j for j in asset.joints if id(j) not in gone]
    asset.bodies = [body for body in asset.bodies if body.name not in links]
    if not joined.collide:
        _drop_filter(reader, {joined.parent, joined.child})
    _move_articulations(reader, joined, links, {part.path for part in parts})


def _drop_filter(reader: StageReader, ends: set[str]) -> None:
    """The pair of the two ends that the writer filtered: their one joint says it again."""
    filters = reader.asset.contact_filters
    reader.asset.contact_filters = [pair for pair in filters if pair.of != "body" or {pair.a, pair.b} != ends]


def _move_articulations(reader: StageReader, joined: Joint, links: set[str], joints: set[str]) -> None:
    """Articulations at a link or joint of the chain are at the child or the joint that is left; its links go."""
    paths = {path for path, body in reader.bodies.items() if body.name in links}
    reader.bodies = {path: body for path, body in reader.bodies.items() if path not in paths}
    home = next(path for path, body in reader.bodies.items() if body.name == joined.child)
    for articulation in reader.asset.articulations:
        if articulation.root in links:
            articulation.root = joined.child
        if articulation.path in paths:
            articulation.path = home
        elif articulation.path in joints:
            articulation.path = joined.path
