# SPDX-License-Identifier: Apache-2.0
"""What is odd in a scene and still allowed: told once, with its place."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import TYPE_CHECKING, Any

from simwright.core.diag import Reporter
from simwright.core.documents.tree import Document, Step
from simwright.scenes.document_shapes import Material, ShapeFields
from simwright.scenes.messages import ID_REPEATED, KEY_WITHOUT_EFFECT

if TYPE_CHECKING:
    from simwright.scenes.document import Scene

_INSTEAD = {
    "kd": "contact dissipation is 'tau' [s]",
    "kf": "contact friction is 'mu'",
    "ka": "there is no adhesion",
}


def review_scene(scene: Scene, document: Document, reporter: Reporter) -> None:
    """Report keys without effect and ids that are there twice."""
    for path, fields in _list_fields(scene):
        said = fields.list_without_effect()
        if fields.sdf_texture_format is not None:
            said.append("sdf_texture_format")
        for key in said:
            reporter.report(
                KEY_WITHOUT_EFFECT,
                document.find_where(*path, key, key=True),
                key=key,
                hint=_INSTEAD.get(key.rsplit("_", 1)[-1], ""),
            )
    if scene.builder.register_mujoco_custom_attributes is not None:
        key = "register_mujoco_custom_attributes"
        where = document.find_where("builder", key, key=True)
        hint = "attributes of MuJoCo are read in any case"
        reporter.report(KEY_WITHOUT_EFFECT, where, key=key, hint=hint)
    _report_repeated(scene.bodies, "bodies", "body", document, reporter)
    _report_repeated(scene.joints, "joints", "joint", document, reporter)


def _list_fields(scene: Scene) -> Iterator[tuple[tuple[Step, ...], ShapeFields]]:
    """Every block of shape fields and its path."""
    yield ("builder", "defaults", "shape"), scene.builder.defaults.shape
    yield from _list_blocks(scene.ground, ("ground",))
    for name in ("assets", "bodies", "post_build"):
        for number, entry in enumerate(getattr(scene, name)):
            if isinstance(entry, Material):
                yield from _list_blocks(entry, (name, number))
            for inner, shape in enumerate(getattr(entry, "shapes", ())):
                yield from _list_blocks(shape, (name, number, "shapes", inner))


def _list_blocks(
    material: Material, path: tuple[Step, ...]
) -> Iterator[tuple[tuple[Step, ...], ShapeFields]]:
    for key in ("physics", "shape", "cfg"):
        block = getattr(material, key)
        if block is not None:
            yield (*path, key), block


def _report_repeated(
    entries: Iterable[Any], key: str, what: str, document: Document, reporter: Reporter
) -> None:
    seen: set[str] = set()
    for number, entry in enumerate(entries):
        if entry.id in seen:
            where = document.find_where(key, number, "id")
            reporter.report(ID_REPEATED, where, what=what, name=entry.id)
        seen.add(entry.id)
