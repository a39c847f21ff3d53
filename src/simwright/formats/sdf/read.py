# SPDX-License-Identifier: Apache-2.0
"""SDFormat to the neutral model: the table of contents of this folder.

The file and what it includes become a tree of models (``include``), every named thing gets a frame
(``poses``), and then links, joints, lights, plugins and the world are read, each by its own module.
"""

from __future__ import annotations

from pathlib import Path

from simwright.core.diag import Level, Reporter, declare
from simwright.core.errors import ParseError
from simwright.formats.format import ReadOptions
from simwright.formats.sdf.context import Reading
from simwright.formats.sdf.document import Document, open_document
from simwright.formats.sdf.foreign import graft
from simwright.formats.sdf.include import TreeBuilder
from simwright.formats.sdf.joints import mark_loops, read_joint, read_mimics
from simwright.formats.sdf.lights import read_world_light
from simwright.formats.sdf.links import read_link, settle_masses
from simwright.formats.sdf.models import read_articulation, read_frame, read_model_settings
from simwright.formats.sdf.plugins import read_plugin
from simwright.formats.sdf.poses import FrameGraph
from simwright.formats.sdf.tree import ModelNode, assign_keys
from simwright.formats.sdf.world import read_environment, report_other_worlds
from simwright.model.asset import Asset, Provenance

SEVERAL_MODELS = declare(
    "sdf-several-models",
    Level.WARNING,
    "the file holds {count} models side by side",
    hint="all of them are read; since SDFormat 1.8 a file holds one model or one world",
    doc="More than one <model> directly below <sdf>.",
)

_ROOT_TAGS = {"world", "model", "light", "actor", "include"}


def read(path: Path, options: ReadOptions, reporter: Reporter) -> Asset:
    """Read an SDFormat file (1.4 to 1.12) with everything it includes."""
    document = open_document(path, reporter)
    worlds = list(document.children(document.root, "world"))
    gate = options.make_gate(path, reporter)
    builder = TreeBuilder(gate, reporter)
    top = builder.build_top(document, worlds[0] if worlds else document.root, is_world=bool(worlds))
    _check_root(document, top)
    links = [item for model in top.walk() for item in model.links]
    joints = [item for model in top.walk() for item in model.joints]
    assign_keys(links)
    assign_keys(joints)

    asset = Asset(_choose_name(document, top))
    asset.provenance = Provenance(str(path), "sdf", document.version_text)
    reading = Reading(asset, reporter, gate, FrameGraph(top, reporter))
    if top.is_world:
        reading.world_name = top.name
        read_environment(reading, document, top.element)
        report_other_worlds(reading, document, worlds)
    for item in links:
        if item.document.foreign is None:
            read_link(reading, item)
    settle_masses(reading, links)
    for item in joints:
        if item.document.foreign is None:
            read_joint(reading, item)
    for model in top.walk():
        graft(reading, model)
    read_mimics(reading)
    mark_loops(asset)
    for model in top.walk():
        _read_model(reading, model, top)
    return asset


def _read_model(reading: Reading, model: ModelNode, top: ModelNode) -> None:
    """What a model (or the world) holds besides links and joints."""
    for item in model.frames:
        read_frame(reading, item)
    for item in model.lights:
        read_world_light(reading, item)
    if model is not top:
        read_model_settings(reading, model)
        if model.parent is top:
            read_articulation(reading, model)
    for document, element in model.plugins:
        read_plugin(reading, document, element, None if model is top else model)


def _check_root(document: Document, top: ModelNode) -> None:
    document.unknown(document.root, _ROOT_TAGS)
    if top.is_world:
        return
    if not (top.models or top.lights) and not any(True for _ in document.children(document.root, "actor")):
        raise ParseError(
            "the file holds no model and no world",
            hint="is it the right file?",
            where=document.where(document.root),
        )
    if len(top.models) > 1:
        where = document.where(top.models[1].element)
        document.reporter.report(SEVERAL_MODELS, where, count=len(top.models))
    elif top.models:
        _drop_scope(top.models[0])


def _drop_scope(root: ModelNode) -> None:
    """In a file with one model, names are told apart inside that model: its own name is no scope."""
    for model in root.walk():
        model.scope = "::".join(model.scope.split("::")[root.name.count("::") + 1 :])


def _choose_name(document: Document, top: ModelNode) -> str:
    if top.is_world and top.name:
        return top.name
    return top.models[0].name if len(top.models) == 1 else document.path.stem
