# SPDX-License-Identifier: Apache-2.0
"""The node tree: bodies as joints hold them, shapes, instances, sites, cameras, lights and their animation.

The root node turns the model's Z-up to glTF's Y-up; below it every node is placed in its parent as in the model
(REP-0158 3.7).  Nothing is moved to world space, so a joint is a node that can be turned.

Point instancers are EXT_mesh_gpu_instancing: one node, one mesh, rows of placements (REP-0158 3.5).  A mirrored copy
needs a mirrored node, since the extension does not say which side of it is outside: the node turns everything over and
its rows do so once more.

Lights are KHR_lights_punctual (REP-0158 3.6).  UsdLux gives the luminance of a light's surface [nit]; glTF wants what
arrives: candela for point and spot lights, lux for directional ones.  So a sphere gives its luminance times the disc
one sees, a distant light its luminance times the solid angle it fills.  Lights without a size, and those of formats
that have no units, keep their number.

A body moves against the body that carries it, so its track is turned into that frame.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, Any

import numpy as np

from simwright.core.math3d import IDENTITY, Array, Pose, matrices_from_quats, quat_rotate, quats_from_matrices
from simwright.formats.gltf.document import GltfDocument
from simwright.formats.gltf.meshes import GltfMesh, GltfMeshLibrary
from simwright.formats.gltf.messages import COLLIDERS_LEFT_OUT, PURPOSE_LEFT_OUT
from simwright.model.asset import Body, Shape, scaled
from simwright.model.joint import WORLD

if TYPE_CHECKING:
    from simwright.formats.gltf.meshes import GltfMesh
from collections.abc import Iterator

import numpy.typing as npt

from simwright.formats.gltf.document import Row
from simwright.model.asset import Camera, Light, LightKind
from simwright.model.elements import Movement, Track
from simwright.model.material import make_linear

UP = Pose.of(q=(math.sqrt(0.5), -math.sqrt(0.5), 0.0, 0.0))
"""Z-up to Y-up: a quarter turn about -X."""
_SEEN = frozenset({"default", "render"})


def write_bodies(gltf: GltfDocument) -> None:
    """The root, then every body below the one that carries it."""
    gltf.body_nodes[WORLD] = gltf.add_node(gltf.asset.name, None, UP)
    edges = gltf.tree.parents()
    children: dict[str, list[Body]] = {}
    poses = {WORLD: IDENTITY}
    for body in gltf.asset.bodies:
        edge = edges.get(body.name)
        children.setdefault(edge.parent if edge else WORLD, []).append(body)
        poses[body.name] = body.pose
    # Reversed, since the stack gives them back last first: nodes keep the order of the bodies.
    pending = [(body, WORLD) for body in reversed(children.get(WORLD, []))]
    while pending:
        body, parent = pending.pop()
        local = ~poses[parent] @ body.pose
        gltf.body_nodes[body.name] = gltf.add_node(
            body.name, gltf.body_nodes[parent], local, extras={"simwright": {"role": "body"}}
        )
        pending += [(child, body.name) for child in reversed(children.get(body.name, []))]


def write_shapes(gltf: GltfDocument) -> None:
    """A node for every shape that is seen; with colliders where they are asked for."""
    library = GltfMeshLibrary(gltf)
    scattered: dict[tuple[object, ...], list[tuple[Shape, GltfMesh]]] = {}
    for shape in _choose_shapes(gltf):
        stored = library.find(shape)
        if stored is None:
            continue
        if shape.instancer:
            # One node shows one mesh, so copies of different meshes, or on different bodies, are apart.
            key = (shape.body, shape.instancer, stored.number, is_seen(shape))
            scattered.setdefault(key, []).append((shape, stored))
            continue
        _write_shape(gltf, shape, stored)
    for members in scattered.values():
        # A single copy is a plain node, which every viewer shows; the extension is not that common.
        if len(members) == 1:
            _write_shape(gltf, *members[0])
        else:
            write_instances(gltf, members, describe_shape(gltf, members[0][0]))
    library.report()


def write_sites(gltf: GltfDocument) -> None:
    """A node for every named frame."""
    for site in gltf.asset.sites:
        # The role tells a frame from a body and from a shape, which are nodes too.
        note = {"role": "site"}
        if site.ros_frame:
            note["rosFrame"] = site.ros_frame
        gltf.add_node(site.name, gltf.body_nodes[site.body], site.pose, extras={"simwright": note})


def is_seen(shape: Shape) -> bool:
    """Is it part of the picture?"""
    return shape.visual and shape.purpose in _SEEN


def _choose_shapes(gltf: GltfDocument) -> list[Shape]:
    asset, chosen = gltf.asset, []
    colliders, others = [], []
    for shape in asset.shapes:
        if is_seen(shape) or (shape.collision and gltf.options.collision):
            chosen.append(shape)
        elif shape.collision:
            colliders.append(shape)
        else:
            others.append(shape)
    for kind, left in ((COLLIDERS_LEFT_OUT, colliders), (PURPOSE_LEFT_OUT, others)):
        if left:
            gltf.reporter.report(kind, left[0].source, count=len(left), first=left[0].name)
    return chosen


def _write_shape(gltf: GltfDocument, shape: Shape, stored: GltfMesh) -> None:
    pose, scale = decode(shape.pose, scaled(shape), stored)
    more = {"mesh": stored.number, **describe_shape(gltf, shape)}
    number = gltf.add_node(shape.name, gltf.body_nodes[shape.body], pose, scale, **more)
    gltf.shape_nodes[shape.name] = number
    gltf.decodings[shape.name] = (stored.origin, stored.unit)


def describe_shape(gltf: GltfDocument, shape: Shape) -> dict[str, object]:
    """What a collider is, where colliders are written."""
    if not (gltf.options.collision and shape.collision):
        return {}
    note: dict[str, object] = {"role": "both" if is_seen(shape) else "collision"}
    if not shape.enabled:
        note["enabled"] = False
    if shape.approximation is not None:
        note["approximation"] = shape.approximation.token
    material = next((m for m in gltf.asset.physics_materials if m.name == shape.physics_material), None)
    if material is not None:
        said = {
            "staticFriction": material.static_friction,
            "dynamicFriction": material.dynamic_friction,
            "restitution": material.restitution,
        }
        note.update({word: value for word, value in said.items() if value is not None})
    return {"extras": {"simwright": note}}


def decode(pose: Pose, scale: Array, stored: GltfMesh) -> tuple[Pose, Array]:
    """The placement of stored points that are not in metres."""
    # Exact where nothing is stored otherwise: a product with 1 may still round the position.
    if stored.unit.tolist() == [1.0, 1.0, 1.0] and not np.any(stored.origin):
        return pose, scale
    return Pose(pose.p + quat_rotate(pose.q, scale * stored.origin), pose.q), scale * stored.unit


_INSTANCING = "EXT_mesh_gpu_instancing"


def write_instances(gltf: GltfDocument, members: list[tuple[Shape, GltfMesh]], more: dict[str, Any]) -> None:
    """Nodes for copies of one mesh on one body: one for those that are mirrored, one for the others."""
    stored = members[0][1]
    scales = np.array([scaled(shape) for shape, _ in members])
    turns = matrices_from_quats(np.array([shape.pose.q for shape, _ in members]))
    places = np.array([shape.pose.p for shape, _ in members])
    places = places + np.einsum("nij,nj->ni", turns, scales * [mesh.origin for _, mesh in members])
    scales = scales * [mesh.unit for _, mesh in members]
    # An odd number of negative scales turns the mesh inside out.
    mirrored = np.prod(scales, axis=1) < 0.0
    first = members[0][0]
    name = first.instancer.rpartition("/")[2] or first.name
    for is_mirrored in (False, True):
        chosen = np.flatnonzero(mirrored == is_mirrored)
        if not len(chosen):
            continue
        sign = -1.0 if is_mirrored else 1.0
        rotations, sizes = _make_positive(turns[chosen], sign * scales[chosen])
        attributes = {
            "TRANSLATION": gltf.buffer.add((sign * places[chosen]).astype(np.float32)),
            "ROTATION": gltf.buffer.add(rotations[:, (1, 2, 3, 0)].astype(np.float32)),
            "SCALE": gltf.buffer.add(sizes.astype(np.float32)),
        }
        size = np.full(3, sign)
        number = gltf.add_node(
            name, gltf.body_nodes[first.body], Pose(IDENTITY.p, IDENTITY.q), size, mesh=stored.number, **more
        )
        gltf.extend(gltf.nodes[number], _INSTANCING, {"attributes": attributes})


def _make_positive(turns: Array, scales: Array) -> tuple[Array, Array]:
    """Rotations and positive scales of the same placements; two negative scales are half a turn."""
    flips = np.where(scales < 0.0, -1.0, 1.0)
    # The scale is applied first, so a flip of a local axis is a flip of a column of the rotation.
    return quats_from_matrices(turns * flips[:, None, :]), np.abs(scales)


LIGHTS = "KHR_lights_punctual"
_WIDEST = math.pi / 2.0
_FULL = 1.0 - 1e-6
_ASPECT = 4.0 / 3.0


def write_optics(gltf: GltfDocument) -> None:
    """A node for every camera and every light that shines from a point or from afar."""
    for camera in gltf.asset.cameras:
        gltf.cameras.append(_describe_camera(camera))
        gltf.camera_nodes[camera.name] = gltf.add_node(
            camera.name, gltf.body_nodes[camera.body], camera.pose, camera=len(gltf.cameras) - 1
        )
    for light in gltf.asset.lights:
        # KHR_lights_punctual has neither; the table of losses reports them.
        if light.kind in (LightKind.DOME, LightKind.AREA):
            continue
        gltf.lights.append(_describe_light(light))
        number = gltf.add_node(light.name, gltf.body_nodes[light.body], light.pose)
        gltf.extend(gltf.nodes[number], LIGHTS, {"light": len(gltf.lights) - 1})
        gltf.light_nodes[light.name] = number


_FAR = 1e6
"""Where a parallel view ends that has no end [m]: glTF wants one."""


def _describe_camera(camera: Camera) -> Row:
    width, height = camera.resolution
    if camera.orthographic_height is not None:
        half = camera.orthographic_height / 2.0
        ends = {"znear": max(camera.near, 0.0), "zfar": camera.far if camera.far < math.inf else _FAR}
        across = half * (width / height if width and height else 4.0 / 3.0)
        return {
            "name": camera.name,
            "type": "orthographic",
            "orthographic": {"xmag": across, "ymag": half, **ends},
        }
    # glTF wants an angle between 0 and pi, and a near plane above 0.
    lens: Row = {"yfov": min(max(camera.fov_y, 1e-4), math.pi - 1e-4)}
    if camera.aperture is not None and camera.aperture[0] > 0.0 and camera.aperture[1] > 0.0:
        lens["aspectRatio"] = camera.aperture[0] / camera.aperture[1]
    elif width and height:
        lens["aspectRatio"] = width / height
    lens["znear"] = camera.near if camera.near > 0.0 else 0.01
    if lens["znear"] < camera.far < math.inf:
        lens["zfar"] = camera.far
    return {"name": camera.name, "type": "perspective", "perspective": lens}


def _describe_light(light: Light) -> Row:
    color = make_linear(light.color)
    row: Row = {"name": light.name, "type": light.kind.value}
    shown = [min(max(float(value), 0.0), 1.0) for value in color]
    if shown != [1.0, 1.0, 1.0]:
        row["color"] = shown
    intensity = max(light.intensity * measure_size(light), 0.0)
    if intensity != 1.0:
        row["intensity"] = intensity
    if light.range is not None and 0.0 < light.range < math.inf and light.kind is not LightKind.DIRECTIONAL:
        row["range"] = light.range
    if light.kind is LightKind.SPOT:
        inner, outer = light.cone or (0.0, math.pi / 4.0)
        # The extension asks for 0 <= inner < outer <= pi / 2.
        outer = min(max(outer, 1e-4), _WIDEST)
        row["spot"] = {"innerConeAngle": min(max(inner, 0.0), outer * _FULL), "outerConeAngle": outer}
    return row


def measure_size(light: Light) -> float:
    """What luminance is multiplied with: a disc [m^2], or a solid angle [sr]; 1 where a light has no size."""
    if light.kind is LightKind.DIRECTIONAL:
        if light.angle is None or light.angle <= 0.0 or light.normalized:
            return 1.0
        return math.pi * math.sin(min(light.angle, math.pi) / 2.0) ** 2
    if light.radius <= 0.0:
        return 1.0
    # normalised lights are divided by their surface, of which one sees a quarter
    return 0.25 if light.normalized else math.pi * light.radius**2


_STILL = 1e-9
_STRAIGHT = 1e-7


def write_animation(gltf: GltfDocument) -> None:
    """One animation with a channel for all that changes."""
    movement = gltf.asset.motion
    if not movement or len(movement.times) < 2:
        return
    samplers: list[Row] = []
    channels: list[Row] = []
    for node, track in _list_tracks(gltf, movement):
        for path, rows in (
            ("translation", track.positions),
            ("rotation", make_continuous(track.rotations)[:, (1, 2, 3, 0)]),
            ("scale", track.scales),
        ):
            # A channel for what stands still would only hide the node's own placement.
            if np.ptp(rows, axis=0).max() <= _STILL:
                continue
            # Keys on the line between their neighbours carry nothing.
            kept = choose_keys(movement.times, rows, movement.stepped)
            samplers.append(
                {
                    "input": gltf.buffer.add(movement.times[kept].astype(np.float32), bounds=True),
                    "interpolation": "STEP" if movement.stepped else "LINEAR",
                    "output": gltf.buffer.add(rows[kept].astype(np.float32)),
                }
            )
            channels.append({"sampler": len(samplers) - 1, "target": {"node": node, "path": path}})
    if channels:
        name = gltf.asset.name
        gltf.animations.append({"name": name, "channels": channels, "samplers": samplers})


def _list_tracks(gltf: GltfDocument, movement: Movement) -> Iterator[tuple[int, Track]]:
    """Nodes with their local tracks."""
    parents = {name: edge.parent for name, edge in gltf.tree.parents().items()}
    poses = {body.name: body.pose for body in gltf.asset.bodies}
    count = len(movement.times)

    def place(name: str) -> Track | None:
        if name == WORLD:
            return None
        found = movement.bodies.get(name)
        if found is not None:
            return found
        pose = poses[name]
        return Track(np.tile(pose.p, (count, 1)), np.tile(pose.q, (count, 1)), np.ones((count, 3)))

    for body in gltf.asset.bodies:
        parent = parents.get(body.name, WORLD)
        if body.name in movement.bodies or parent in movement.bodies:
            track = place(body.name)
            # Only the world has no track, and no body is the world.
            assert track is not None
            yield gltf.body_nodes[body.name], _see_from(place(parent), track)
    for name, track in movement.shapes.items():
        if name in gltf.shape_nodes:
            yield gltf.shape_nodes[name], _decode(track, *gltf.decodings[name])
    for nodes, tracks in ((gltf.camera_nodes, movement.cameras), (gltf.light_nodes, movement.lights)):
        for name, track in tracks.items():
            if name in nodes:
                # The scale of a camera or light means nothing to glTF, and viewers would scale what hangs on the
                # node.
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
    # q and -q are one rotation; a viewer that blends between them would take the long way round.
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
