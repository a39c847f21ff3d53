# SPDX-License-Identifier: Apache-2.0
"""What acts on bodies beside the tree: constraints, springs, drives, actuators; and surfaces.

Constraints are compared as the files give them; none is solved.  A joint that closes a loop and an equality constraint
that holds the same two bodies mean the same.  Armature, friction, damping and gains that a file does not give are zero.

Surfaces: colour and textures of visuals, friction of collisions.  A value that only one asset gives is a note, not a
difference: the other leaves it to the simulator.
"""

from __future__ import annotations

import io
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any
from urllib.parse import unquote

import numpy as np
from numpy.polynomial import Polynomial

from simwright.compare.difference import DifferenceItem, DifferenceSection, ReadImage, ValueComparer
from simwright.compare.pairing import (
    ComparedAsset,
    Pairing,
    find_mujoco,
    match_elements,
    pair_by_name,
    same_name,
    speaks_mujoco,
)
from simwright.compare.shapes import pair_shapes
from simwright.compare.structure import HOLDS, is_hold
from simwright.core.errors import SimwrightError
from simwright.core.math3d import Pose
from simwright.core.names import make_identifier
from simwright.model.asset import Actuator, Asset, Shape
from simwright.model.joint import Dof, Drive, Equality, EqualityKind, Joint, Mimic, Tendon
from simwright.model.material import PhysicsMaterial, RenderMaterial, Texture
from simwright.model.mechanism import Freedom
from simwright.model.servo import make_law

_HELD = (EqualityKind.CONNECT, EqualityKind.WELD)


@dataclass(slots=True, eq=False)
class FrameConstraint:
    """Two frames that are held together."""

    name: str
    kind: EqualityKind
    a: tuple[str, Pose]
    b: tuple[str, Pose]
    enabled: bool
    origin: Equality | Joint
    """What says so."""


def compare_constraints(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Mimics by follower, holds and tendons by name."""
    _compare_mimics(section, pairing, ruler)
    _compare_holds(section, pairing, ruler)
    _compare_tendons(section, pairing, ruler)
    _compare_equalities(section, pairing, ruler)


def _compare_mimics(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    names = {b.name: a.name for a, b in pairing.freedoms}
    refs = [{p[number].name: pairing.zeros(*p)[number] for p in pairing.freedoms} for number in (0, 1)]
    # a joint follows at most one other, so the follower identifies a mimic
    first = {mimic.follower: mimic for mimic in pairing.a.asset.mimics}
    second = {names.get(mimic.follower, mimic.follower): mimic for mimic in pairing.b.asset.mimics}
    for follower in dict.fromkeys((*first, *second)):
        a, b = first.get(follower), second.get(follower)
        element = f"mimic of {follower!r}"
        if a is None or b is None:
            leaders = [None if mimic is None else mimic.leader for mimic in (a, b)]
            section.items.append(DifferenceItem(element, "leader", *leaders))
            continue
        section.compared += 1
        leader = names.get(b.leader, b.leader)
        if a.leader != leader:
            section.items.append(DifferenceItem(element, "leader", a.leader, leader))
            continue
        ruler.compare(section, element, "law", _law(a, refs[0]), _law(b, refs[1]))
        ruler.compare(section, element, "enabled", a.enabled, b.enabled)


def _law(mimic: Mimic, refs: dict[str, float]) -> list[float]:
    """Coefficients between coordinates counted from ``refs``."""
    # both files' laws are rewritten for coordinates counted from the same zero, then coefficients compare
    law = Polynomial(np.array((mimic.offset, mimic.multiplier, *mimic.polynomial)))
    moved = law(Polynomial((refs.get(mimic.leader, 0.0), 1.0)))
    values = [float(value) for value in moved.coef] + [0.0] * (5 - len(moved.coef))
    values[0] -= refs.get(mimic.follower, 0.0)
    return values


def list_holds(side: ComparedAsset) -> list[FrameConstraint]:
    """Connects and welds of a side, and joints that close loops likewise."""
    holds = [
        FrameConstraint(e.name, e.kind, (e.a, e.frame_a), (e.b, e.frame_b), e.enabled, e)
        for e in side.asset.equalities
        if e.kind in _HELD
    ]
    holds += [
        FrameConstraint(
            j.name, HOLDS[j.kind], (j.parent, j.parent_frame), (j.child, j.child_frame), j.enabled, j
        )
        for j in side.asset.joints
        if is_hold(side, j)
    ]
    return holds


def _compare_holds(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    first, second = list_holds(pairing.a), list_holds(pairing.b)
    left = list(second)
    for hold in first:
        # by place, not by name: OpenUSD and MJCF name loop constraints differently
        best = min(left, key=lambda twin: _distance(pairing, hold, twin), default=None)
        gap = np.inf if best is None else _distance(pairing, hold, best)
        if best is None or not np.isfinite(gap):
            section.items.append(DifferenceItem(f"equality {hold.name!r}", str(hold.kind), hold.name, None))
            continue
        left.remove(best)
        section.compared += 1
        element = f"equality {hold.name!r}"
        if gap / ruler.length > ruler.rtol:
            section.items.append(
                DifferenceItem(element, "where it holds", hold.name, best.name, error=gap / ruler.length)
            )
        ruler.compare(section, element, "enabled", hold.enabled, best.enabled)
        scales = [getattr(found.origin, "torque_scale", 1.0) for found in (hold, best)]
        ruler.compare(section, element, "torque scale", *scales)
        found = (element, "equality", hold.origin, best.origin)
        compare_mujoco(section, pairing, ruler, found, usual=_MUJOCO_EQUALITY, unsaid=Counter())
    section.items += [
        DifferenceItem(f"equality {hold.name!r}", str(hold.kind), None, hold.name) for hold in left
    ]


def _distance(pairing: Pairing, a: FrameConstraint, b: FrameConstraint) -> float:
    """How far the held points are apart [m]; infinite for other bodies or another kind."""
    if a.kind is not b.kind:
        return float("inf")
    gaps = []
    # which of the two bodies is first has no meaning
    for ends in ((b.a, b.b), (b.b, b.a)):
        met = [pairing.meet(x, y) for x, y in zip((a.a, a.b), ends, strict=True)]
        if None in met:
            continue
        (pa, qa), (pb, qb) = (m for m in met if m is not None)
        # a connect holds points together, a weld whole frames
        if a.kind is EqualityKind.CONNECT:
            gaps.append(max(float(np.linalg.norm(x.p - y.p)) for x, y in ((pa, qa), (pb, qb))))
        else:
            gaps.append(float(np.abs((pa @ ~pb).matrix - (qa @ ~qb).matrix).max()))
    return min(gaps, default=float("inf"))


def _compare_tendons(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    tendons = pairing.a.asset.tendons, pairing.b.asset.tendons
    for tendon, twin in pair_by_name(section, "tendon", *tendons):
        element = f"tendon {tendon.name!r}"
        _compare_path(section, ruler, element, tendon, twin)
        for what in ("lower", "upper", "stiffness", "damping", "friction", "armature", "rest_length"):
            x, y = getattr(tendon, what), getattr(twin, what)
            ruler.compare(section, element, what.replace("_", " "), x, y)
        found = (element, "tendon", tendon, twin)
        compare_mujoco(section, pairing, ruler, found, usual=_MUJOCO_TENDON, unsaid=Counter())


def _compare_path(
    section: DifferenceSection, ruler: ValueComparer, element: str, a: Tendon, b: Tendon
) -> None:
    same = len(a.path) == len(b.path) and all(
        x.kind == y.kind and same_name(x.name, y.name) and same_name(x.side, y.side)
        for x, y in zip(a.path, b.path, strict=True)
    )
    if not same:
        paths = ([f"{point.kind} {point.name}".strip() for point in t.path] for t in (a, b))
        section.items.append(DifferenceItem(element, "path", *paths))
    else:
        values = ([point.value for point in t.path] for t in (a, b))
        ruler.compare(section, element, "path coefficients", *values)


# one function: found, of the same kind, with the same ends and law
def _compare_equalities(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Those between tendons, and distances."""
    first, second = ([e for e in s.asset.equalities if e.kind not in _HELD] for s in (pairing.a, pairing.b))
    matches = match_elements(first, second)
    twins = {equality.name: equality for equality in second}
    for equality in first:
        twin = twins.get(matches.get(equality.name, ""))
        element = f"equality {equality.name!r}"
        if twin is None or twin.kind is not equality.kind:
            section.items.append(
                DifferenceItem(element, str(equality.kind), equality.name, twin and str(twin.kind))
            )
            continue
        section.compared += 1
        for end in ("a", "b"):
            if not same_name(getattr(equality, end), getattr(twin, end)):
                section.items.append(
                    DifferenceItem(element, f"end {end}", getattr(equality, end), getattr(twin, end))
                )
        ruler.compare(section, element, "law", equality.polynomial, twin.polynomial)
        ruler.compare(section, element, "enabled", equality.enabled, twin.enabled)
        found = (element, "equality", equality, twin)
        compare_mujoco(section, pairing, ruler, found, usual=_MUJOCO_EQUALITY, unsaid=Counter())
    taken = set(matches.values())
    section.items += [
        DifferenceItem(f"equality {e.name!r}", str(e.kind), None, e.name)
        for e in second
        if e.name not in taken
    ]


_PASSIVE = ("armature", "friction", "damping", "stiffness")
_WORDS = {"mjcf"}
"""Settings that only say in which words a law was written."""
_DRIVE = ("stiffness", "damping", "target_velocity")


def compare_drives(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Freedom by freedom."""
    unsaid: Counter[str] = Counter()
    section.compared = len(pairing.freedoms)
    for a, b in pairing.freedoms:
        # a free base has no drives and no springs
        if a.is_base:
            continue
        element = f"DOF {a.name!r}"
        zeros = pairing.zeros(a, b)
        for what in _PASSIVE:
            ruler.compare(section, element, what, getattr(a.dof, what) or 0.0, getattr(b.dof, what) or 0.0)
        # without a spring its rest position has no effect
        if a.dof.stiffness and b.dof.stiffness:
            rests = [(f.dof.spring_ref or 0.0) - zero for f, zero in zip((a, b), zeros, strict=True)]
            ruler.compare(section, element, "rest of the spring", *rests, scale=1.0)
        _compare_drive(section, ruler, element, (a.dof, b.dof), zeros)
        if a.joint is not None and b.joint is not None:
            found = (element, "joint", a.joint, b.joint)
            parts = [_name_part(a), _name_part(b)]
            compare_mujoco(section, pairing, ruler, found, usual=_MUJOCO_JOINT, unsaid=unsaid, parts=parts)
    for what, count in unsaid.items():
        section.notes.append(f"{what} is said by one side only: {count} joint(s)")


def _name_part(freedom: Freedom) -> str:
    """The name of a freedom where its joint has several."""
    return freedom.dof.name if freedom.joint is not None and len(freedom.joint.dofs) > 1 else ""


def _compare_drive(
    section: DifferenceSection,
    ruler: ValueComparer,
    element: str,
    dofs: tuple[Dof, Dof],
    zeros: tuple[float, float],
) -> None:
    # no drive and a drive with zero gains move the same
    first, second = (dof.drive or Drive() for dof in dofs)
    for what in _DRIVE:
        x, y = getattr(first, what), getattr(second, what)
        ruler.compare(section, element, f"drive {what.replace('_', ' ')}", x, y)
    if first.stiffness and second.stiffness:
        targets = (first.target_position - zeros[0], second.target_position - zeros[1])
        ruler.compare(section, element, "drive target", *targets, scale=1.0)
    # force or acceleration makes no difference to zero gains
    gains = first.stiffness or first.damping or second.stiffness or second.damping
    if gains:
        ruler.compare(section, element, "drive is acceleration", first.acceleration, second.acceleration)


def compare_actuators(section: DifferenceSection, pairing: Pairing, ruler: ValueComparer) -> None:
    """Motors by name: what they pull on, and by which law."""
    actuators = pairing.a.asset.actuators, pairing.b.asset.actuators
    for actuator, twin in pair_by_name(section, "actuator", *actuators, told="kind"):
        _compare_actuator(section, pairing, ruler, actuator, twin)


def _compare_actuator(
    section: DifferenceSection, pairing: Pairing, ruler: ValueComparer, a: Actuator, b: Actuator
) -> None:
    element = f"actuator {a.name!r}"
    dofs = {x.name: y.name for x, y in pairing.freedoms}
    target = dofs.get(a.target, pairing.joints.get(a.target, a.target))
    if not same_name(target, b.target):
        section.items.append(DifferenceItem(element, "target", a.target, b.target))
    for what in ("transmission", "control_range", "force_range"):
        ruler.compare(section, element, what.replace("_", " "), getattr(a, what), getattr(b, what))
    ruler.compare(section, element, "gear", _trim(a.gear), _trim(b.gear))
    first, second = _complete(a), _complete(b)
    for key in sorted({*first, *second} - _WORDS):
        ruler.compare(section, element, key.replace("_", " "), first.get(key), second.get(key))


def _complete(actuator: Actuator) -> dict[str, Any]:
    """Settings with the whole law: that of a plain servo where none is said."""
    law = {**make_law(actuator.kind, actuator.stiffness, actuator.damping), **actuator.settings}
    if law["bias_type"] == "none":
        law["bias"] = [0.0] * len(law["bias"])  # numbers of a bias that is switched off
    return law


def _trim(gear: tuple[float, ...]) -> list[Any]:
    """Without zeros at the end."""
    values = list(gear)
    while len(values) > 1 and values[-1] == 0.0:
        values.pop()
    return values


_CONTACT = (
    "static_friction", "dynamic_friction", "torsional_friction", "rolling_friction", "restitution",
    "stiffness", "damping",
)  # fmt: skip


_MUJOCO_GEOM: dict[str, Any] = {
    "solref": (0.02, 1.0), "solimp": (0.9, 0.95, 0.001, 0.5, 2.0), "condim": 3, "priority": 0, "solmix": 1.0,
    "adhesion": 0.0, "surfacevel": (0.0,) * 6, "fluid": None,
}  # fmt: skip
_MUJOCO_LIMIT: dict[str, Any] = {
    "solreflimit": (0.02, 1.0), "solimplimit": (0.9, 0.95, 0.001, 0.5, 2.0), "solreffriction": (0.02, 1.0),
    "solimpfriction": (0.9, 0.95, 0.001, 0.5, 2.0), "margin": 0.0, "springyield": 0.0, "stiffnesspoly": None,
    "dampingpoly": None,
}  # fmt: skip
_MUJOCO_JOINT: dict[str, Any] = {**_MUJOCO_LIMIT, "actuatorgravcomp": False}
_MUJOCO_TENDON: dict[str, Any] = {**_MUJOCO_LIMIT, "actuatorfrcrange": None}
_MUJOCO_EQUALITY: dict[str, Any] = {"solref": (0.02, 1.0), "solimp": (0.9, 0.95, 0.001, 0.5, 2.0)}
"""MuJoCo's own attributes of contacts, limits and equalities, with what it takes where nothing is said."""


def compare_materials(
    section: DifferenceSection,
    pairing: Pairing,
    ruler: ValueComparer,
    read_image: ReadImage | None = None,
) -> None:
    """Looks of visuals, contact values of collisions."""
    # one function for looks and contact values: what only one side says is counted over both and told once
    unsaid: Counter[str] = Counter()
    images = ImageReader(read_image)
    first, second = (
        {material.name: material for material in side.asset.materials} for side in (pairing.a, pairing.b)
    )
    for pair in pair_shapes(pairing, ruler, "visual")[0]:
        section.compared += 1
        looks = _read_appearance(pair.a, first), _read_appearance(pair.b, second)
        _compare_appearance(section, ruler, looks, images, unsaid)
    contacts = [_index_contacts(side.asset) for side in (pairing.a, pairing.b)]
    for pair in pair_shapes(pairing, ruler, "collision")[0]:
        section.compared += 1
        element = f"collision {pair.a.name!r}"
        a, b = contacts[0].get(pair.a.physics_material), contacts[1].get(pair.b.physics_material)
        for what in _CONTACT:
            word = what.replace("_", " ")
            x, y = (None if material is None else getattr(material, what) for material in (a, b))
            if x is not None and y is not None:
                ruler.compare(section, element, word, x, y)
            elif x is not None or y is not None:
                unsaid[word] += 1
        found = (element, "geom", pair.a, pair.b)
        compare_mujoco(section, pairing, ruler, found, usual=_MUJOCO_GEOM, unsaid=unsaid)
    for what, count in unsaid.items():
        section.notes.append(f"{what} is said by one side only: {count} shape(s)")


def _index_contacts(asset: Asset) -> dict[str, PhysicsMaterial]:
    return {material.name: material for material in asset.physics_materials}


def compare_mujoco(
    section: DifferenceSection,
    pairing: Pairing,
    ruler: ValueComparer,
    pair: tuple[str, str, Any, Any],
    *,
    usual: dict[str, Any],
    unsaid: Counter[str],
    parts: Sequence[str] = ("", ""),
) -> None:
    """Attributes of MuJoCo's own, where both sides give such attributes."""
    element, family, a, b = pair
    sides = (pairing.a.asset, pairing.b.asset)
    for name, default in usual.items():
        owners = zip(sides, (a, b), parts, strict=True)
        x, y = (find_mujoco(side, owner, family, name, part) for side, owner, part in owners)
        if x is None and y is None:
            continue
        if all(speaks_mujoco(side) for side in sides):
            ruler.compare(section, element, name, default if x is None else x, default if y is None else y)
        else:
            unsaid[name] += 1


class ImageReader:
    """What is in images: equal pixels are the same image, whatever file they are in."""

    def __init__(self, read: ReadImage | None) -> None:
        self._read = read
        self._known: dict[str, str] = {}

    def identify(self, file: str) -> str:
        """The same word for the same pixels; for an image that cannot be read, its name."""
        if file not in self._known:
            self._known[file] = self._digest(file) or show_image(file)
        return self._known[file]

    def _digest(self, file: str) -> str:
        if self._read is None:
            return ""
        # Pillow and OpenSSL are large, and few comparisons meet an image
        import hashlib

        from PIL import Image

        try:
            content = self._read(file)
            with Image.open(io.BytesIO(content)) as image:
                pixels = image.convert("RGBA")
                size = f"{image.width}x{image.height}"
        except (SimwrightError, OSError, ValueError, SyntaxError, Image.DecompressionBombError):
            return ""
        return f"{size} {hashlib.blake2b(pixels.tobytes(), digest_size=16).hexdigest()}"


def show_image(file: str) -> str:
    """The name of an image as formats that rename files still have it."""
    if file.startswith("data:"):
        file = unquote(file.partition(";name=")[2].partition(";")[0])
    return make_identifier(PurePosixPath(file.replace("\\", "/")).stem).lower()


@dataclass(slots=True, eq=False)
class ShapeAppearance:
    """How a shape looks: colour and opacity, and what images there are."""

    shape: str
    color: tuple[float, ...] | None
    images: dict[str, Texture]
    values: dict[str, Any]


def _read_appearance(shape: Shape, materials: dict[str, RenderMaterial]) -> ShapeAppearance:
    """How a shape looks: by its material, else by its own colour."""
    material = materials.get(shape.material)
    if material is None:
        return ShapeAppearance(shape.name, shape.color, {}, {})
    values = {
        "metallic": material.metallic,
        "roughness": material.roughness,
        "emissive": material.emissive,
    }
    return ShapeAppearance(shape.name, (*material.diffuse, material.opacity), material.textures, values)


def _compare_appearance(
    section: DifferenceSection,
    ruler: ValueComparer,
    looks: tuple[ShapeAppearance, ShapeAppearance],
    images: ImageReader,
    unsaid: Counter[str],
) -> None:
    a, b = looks
    element = f"visual {a.shape!r}"
    # a mesh without a material has the colours of its file, which is not read here
    if None in (a.color, b.color) and a.images.keys() != b.images.keys():
        unsaid["textures"] += 1
    elif a.images.keys() != b.images.keys():
        names = [{key: show_image(t.file) for key, t in side.images.items()} for side in (a, b)]
        section.items.append(DifferenceItem(element, "textures", *names))
    else:
        for key in a.images:
            _compare_texture(
                section, ruler, images, (f"{element}: {key}", key), (a.images[key], b.images[key])
            )
    _compare_color(section, ruler, looks, unsaid)
    for what in a.values.keys() & b.values.keys():
        if what not in a.images:
            ruler.compare(section, element, what, a.values[what], b.values[what], scale=1.0)


def _compare_color(
    section: DifferenceSection,
    ruler: ValueComparer,
    looks: tuple[ShapeAppearance, ShapeAppearance],
    unsaid: Counter[str],
) -> None:
    a, b = looks
    element = f"visual {a.shape!r}"
    if a.color is None or b.color is None:
        # an image replaces the colour that only one side gives
        if a.color != b.color and not ("diffuse" in a.images and "diffuse" in b.images):
            unsaid["colour"] += 1
    elif "diffuse" not in a.images or "diffuse" not in b.images:
        ruler.compare(section, element, "colour", a.color, b.color, scale=1.0)
    elif "opacity" not in {*a.images, *b.images}:
        ruler.compare(section, element, "opacity", a.color[3:], b.color[3:], scale=1.0)


_COLORED = frozenset({"diffuse", "emissive", "specular"})
_MADE = frozenset({"st_uniform", "st_cube", "st_cube_uniform", "st_side", "st_side_uniform"})
"""Texture coordinates that are made from the shape (``formats.parts.coordinates``)."""


def _compare_texture(
    section: DifferenceSection,
    ruler: ValueComparer,
    images: ImageReader,
    where: tuple[str, str],
    pair: tuple[Texture, Texture],
) -> None:
    element, key = where
    a, b = pair
    if images.identify(a.file) != images.identify(b.file):
        section.items.append(DifferenceItem(element, "image", show_image(a.file), show_image(b.file)))
    for what, word in (
        ("scale", "repeat"),
        ("rotation", "rotation"),
        ("wrap_s", "wrap"),
        ("wrap_t", "wrap up"),
    ):
        ruler.compare(section, element, word, getattr(a, what), getattr(b, what), scale=1.0)
    # whole repeats make no difference; an offset just below one is as good as zero
    gaps = [abs(x - y) % 1.0 for x, y in zip(a.offset, b.offset, strict=True)]
    if max(min(gap, 1.0 - gap) for gap in gaps) > ruler.rtol:
        section.items.append(DifferenceItem(element, "offset", a.offset, b.offset))
    # the alpha of a gain acts on opacity only
    number = 4 if key == "opacity" else 3
    ruler.compare(section, element, "tint", a.gain[:number], b.gain[:number], scale=1.0)
    ruler.compare(section, element, "bias", a.bias[:number], b.bias[:number], scale=1.0)
    spaces = [_find_space(texture, key) for texture in pair]
    ruler.compare(section, element, "colour space", *spaces)
    # other names only say which of a mesh's coordinates; these say how they are made
    made = [texture.uv_set if texture.uv_set in _MADE else "" for texture in pair]
    ruler.compare(section, element, "coordinates", *made)


def _find_space(texture: Texture, key: str) -> str:
    """Left open, pictures have display colours and data do not."""
    if texture.color_space == "auto":
        return "sRGB" if key in _COLORED else "raw"
    return texture.color_space
