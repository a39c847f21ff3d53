# SPDX-License-Identifier: Apache-2.0
"""Movement as an animation: translation, rotation and scale of nodes over time.

A body moves against the body that carries it, so its track is turned into that frame.  Keys that lie on the line
between their neighbours are left out.
"""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np
import numpy.typing as npt

from simwright.core.math3d import Array, matrices_from_quats, quats_from_matrices
from simwright.formats.gltf.draft import Draft, Row
from simwright.model.joint import WORLD
from simwright.model.movement import Movement, Track

_STILL = 1e-9
_STRAIGHT = 1e-7


def write_animation(draft: Draft) -> None:
    """One animation with a channel for all that changes."""
    movement = draft.asset.motion
    if not movement or len(movement.times) < 2:
        return
    samplers: list[Row] = []
    channels: list[Row] = []
    for node, track in _list_tracks(draft, movement):
        for path, rows in (
            ("translation", track.positions),
            ("rotation", make_continuous(track.rotations)[:, (1, 2, 3, 0)]),
            ("scale", track.scales),
        ):
            if np.ptp(rows, axis=0).max() <= _STILL:
                continue
            kept = choose_keys(movement.times, rows, movement.stepped)
            samplers.append(
                {
                    "input": draft.buffer.add(movement.times[kept].astype(np.float32), bounds=True),
                    "interpolation": "STEP" if movement.stepped else "LINEAR",
                    "output": draft.buffer.add(rows[kept].astype(np.float32)),
                }
            )
            channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})
    if channels:
        name = draft.asset.name
        draft.animations.append({"name": name, "channels": channels, "samplers": samplers})


def _list_tracks(draft: Draft, movement: Movement) -> Iterator[tuple[int, Track]]:
    """Nodes with their local tracks."""
    parents = {name: edge.parent for name, edge in draft.tree.parents().items()}
    poses = {body.name: body.pose for body in draft.asset.bodies}
    count = len(movement.times)

    def place(name: str) -> Track | None:
        if name == WORLD:
            return None
        found = movement.bodies.get(name)
        if found is not None:
            return found
        pose = poses[name]
        return Track(np.tile(pose.p, (count, 1)), np.tile(pose.q, (count, 1)), np.ones((count, 3)))

    for body in draft.asset.bodies:
        parent = parents.get(body.name, WORLD)
        if body.name in movement.bodies or parent in movement.bodies:
            track = place(body.name)
            assert track is not None
            yield draft.body_nodes[body.name], _see_from(place(parent), track)
    for name, track in movement.shapes.items():
        if name in draft.shape_nodes:
            yield draft.shape_nodes[name], _decode(track, *draft.decodings[name])
    for nodes, tracks in ((draft.camera_nodes, movement.cameras), (draft.light_nodes, movement.lights)):
        for name, track in tracks.items():
            if name in nodes:
                yield nodes[name], Track(track.positions, track.rotations, np.ones_like(track.scales))


def _see_from(parent: Track | None, child: Track) -> Track:
    """A track in the frame of another one."""
    if parent is None:
        return child
    turn = matrices_from_quats(parent.rotations).transpose(0, 2, 1)
    places = np.einsum("nij,nj->ni", turn, child.positions - parent.positions)
    rotations = quats_from_matrices(turn @ matrices_from_quats(child.rotations))
    return Track(places, rotations, child.scales)


def _decode(track: Track, origin: Array, unit: Array) -> Track:
    """The track of a node whose points are stored in another unit."""
    turns = matrices_from_quats(track.rotations)
    shift = np.einsum("nij,nj->ni", turns, track.scales * origin)
    return Track(track.positions + shift, track.rotations, track.scales * unit)


def make_continuous(rotations: Array) -> Array:
    """Quaternions each on the same side as the one before."""
    signs = np.ones(len(rotations))
    signs[1:] = np.where(np.einsum("ij,ij->i", rotations[1:], rotations[:-1]) < 0.0, -1.0, 1.0)
    return rotations * np.cumprod(signs)[:, None]


def choose_keys(times: Array, rows: Array, stepped: bool) -> npt.NDArray[np.int64]:
    """Numbers of the keys that are needed: ends, and where the line bends (or the value changes)."""
    needed = np.ones(len(times), dtype=bool)
    if stepped:
        changes = np.abs(np.diff(rows, axis=0)).max(axis=1)
        needed[1:-1] = changes[:-1] > _STILL
    else:
        share = ((times[1:-1] - times[:-2]) / (times[2:] - times[:-2]))[:, None]
        between = rows[:-2] * (1.0 - share) + rows[2:] * share
        needed[1:-1] = (np.abs(between - rows[1:-1]) > _STRAIGHT).any(axis=1)
    return np.flatnonzero(needed)
