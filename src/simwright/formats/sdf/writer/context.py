# SPDX-License-Identifier: Apache-2.0
"""What every family needs while writing: the asset, the models and links that are planned, names, files, the version.

A :class:`ModelElement` is a ``<model>`` (or the ``<world>``), a :class:`WrittenLink` the link or frame that a body
became.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from lxml import etree

from simwright.core.diag import NOWHERE, Kind, Reporter, Where
from simwright.core.math3d import IDENTITY, Array, Pose, quat_angle, quat_from_rpy
from simwright.core.names import NameScope
from simwright.formats.format import WriteOptions
from simwright.formats.holds import report_lost
from simwright.formats.parts.numbers import format_number, tidy
from simwright.formats.parts.words import clean_text, name_of
from simwright.formats.sdf.writer.messages import RENAMED
from simwright.formats.xml import Element
from simwright.model.asset import Asset, Body
from simwright.model.inertia import Inertial
from simwright.model.kinematics import Tree

SEPARATOR = "::"
OLDEST = (1, 9)
"""The version that is written unless something needs a newer one: the first with quaternions in poses."""
_RESERVED = ("world",)
_EXACT = 1e-15


@dataclass(slots=True, eq=False)
class ModelElement:
    """A model, or the world.  ``base`` is the pose of its frame in the asset; ``names`` those of its children."""

    name: str
    node: Element
    parent: ModelElement | None = None
    base: Pose = IDENTITY
    names: NameScope = field(default_factory=lambda: NameScope(_RESERVED))
    models: dict[str, ModelElement] = field(default_factory=dict)

    @property
    def is_world(self) -> bool:
        """Is it the world and no model?"""
        return bool(self.node.tag == "world")

    def path(self) -> list[ModelElement]:
        """The models from the outermost to this one."""
        return [*(self.parent.path() if self.parent else ()), self]


@dataclass(slots=True, eq=False)
class WrittenLink:
    """What a body became: a link, or a frame that sits ``offset`` in the link.

    ``names`` are those of the things on the link.
    """

    model: ModelElement
    name: str
    link: Element
    offset: Pose = IDENTITY
    names: NameScope = field(default_factory=NameScope)


@dataclass(slots=True, eq=False)
class WrittenAxis:
    """Where a freedom is: the ``<axis>`` or ``<axis2>`` of a joint in a model."""

    model: ModelElement
    joint: str
    node: Element


@dataclass(slots=True, eq=False)
class WrittenJoint:
    """A written joint, and its frame on the link of its child."""

    model: ModelElement
    name: str
    node: Element
    frame: Pose


@dataclass(slots=True, eq=False)
class SdfWriteContext:
    """Everything that the writers of one file share.

    ``written_links`` has every body, and the world where static things have a link; ``static_links`` the links of
    static models by their path in the source.  ``poses`` tells where bodies stand when all joints are at zero.
    ``wanted`` is the version the user asked for, ``needs`` the version that has a word for all that is written so far.
    ``expanded`` and ``folded`` are ids of joints that became chains, and that hold a body written as a frame.
    ``invented`` and ``adjusted`` are bodies whose mass or inertia (found, written) is not that of the model.
    ``kept`` is what the source said beyond the model, ``spent`` what of that is written again.
    """

    asset: Asset
    tree: Tree
    options: WriteOptions
    reporter: Reporter
    root: Element
    top: ModelElement = field(init=False)
    wanted: tuple[int, int] | None = None
    needs: tuple[int, int] = OLDEST
    poses: dict[str, Pose] = field(default_factory=dict)
    inertials: dict[str, Inertial] = field(default_factory=dict)
    written_links: dict[str, WrittenLink] = field(default_factory=dict)
    static_links: dict[str, WrittenLink] = field(default_factory=dict)
    models: list[ModelElement] = field(default_factory=list)
    dofs: dict[str, WrittenAxis] = field(default_factory=dict)
    written_joints: dict[str, WrittenJoint] = field(default_factory=dict)
    expanded: set[int] = field(default_factory=set)
    folded: set[int] = field(default_factory=set)
    shapes: dict[str, str] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    renamed: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    invented: list[Body] = field(default_factory=list)
    adjusted: list[tuple[Body, Array, Array]] = field(default_factory=list)
    published: set[int] = field(default_factory=set)
    kept: dict[str, dict[str, Any]] = field(default_factory=dict)
    spent: set[tuple[str, str]] = field(default_factory=set)

    def allows(self, version: tuple[int, int]) -> bool:
        """May something that came with this version be written?  If so the file is at least of this version."""
        # The user's version is never exceeded; what needs a newer one is reported.
        if self.wanted is not None and version > self.wanted:
            return False
        self.needs = max(self.needs, version)
        return True

    @property
    def version(self) -> tuple[int, int]:
        """The version of the file."""
        return self.needs if self.wanted is None else self.wanted

    def claim(self, names: NameScope, family: str, name: str) -> str:
        """A name that is free among its siblings; the one asked for if it can be."""
        legal = clean_text(name).replace(SEPARATOR, "_").strip()
        # Reserved by SDFormat: __model__, __root__.
        if legal.startswith("__") and legal.endswith("__"):
            legal = legal.strip("_")
        new = names.claim(legal or family)
        if name and new != name:
            self.renamed.setdefault(family, []).append((name, new))
        return new

    def lose(self, what: str, lost: Sequence[Any], advice: str, *, moves: bool = True) -> None:
        """One finding for elements that are left out; ``moves`` tells whether the model moves differently."""
        if lost:
            report_lost(self.reporter, "SDFormat", f"{len(lost)} {what}", lost, moves=moves, advice=advice)

    def report(self, kind: Kind, found: Sequence[Any], /, **words: Any) -> None:
        """One finding for several elements."""
        where: Where = getattr(found[0], "source", NOWHERE)
        self.reporter.report(kind, where, count=len(found), first=name_of(found[0]), **words)

    def report_names(self) -> None:
        """One finding per family whose names could not all stay."""
        for family, changes in self.renamed.items():
            old, new = changes[0]
            self.reporter.report(RENAMED, count=len(changes), family=family, old=old, new=new)


def add(parent: Element, tag: str, value: Any = None, **attributes: str) -> Element:
    """A child with a text: numbers in full, lists of them, flags and words."""
    node = etree.SubElement(parent, tag, attributes)
    if value is not None:
        node.text = format_value(value)
    return node


def format_value(value: Any) -> str:
    """The text of an element."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, np.integer)):
        return str(int(value))
    if isinstance(value, (float, np.floating)):
        return format_number(float(value))
    if isinstance(value, Iterable):
        return " ".join(format_value(item) for item in value)
    return "" if value is None else clean_text(str(value))


def add_pose(parent: Element, pose: Pose, relative_to: str = "") -> None:
    """``<pose>``, left out for the identity; as a quaternion where roll, pitch and yaw are not as exact."""
    position, turn = tidy(pose.p), tidy(pose.rpy)
    if not (any(position) or any(turn) or relative_to):
        return
    attributes = {"relative_to": relative_to} if relative_to else {}
    # People read angles better, but near a pitch of 90 degrees they lose digits.
    if quat_angle(quat_from_rpy(turn), pose.q) <= _EXACT:
        add(parent, "pose", [*position, *turn], **attributes)
    else:
        w, x, y, z = pose.q.tolist()
        add(parent, "pose", [*position, x, y, z, w], **attributes, rotation_format="quat_xyzw")


def refer(model: ModelElement, target: ModelElement, name: str) -> str | None:
    """The name of something in ``target`` as it is said in ``model``, None where it cannot be."""
    path, own = target.path(), model.path()
    # Names lead down only: SDFormat has no word for the model outside.
    if path[: len(own)] != own:
        return None
    return SEPARATOR.join([*(inner.name for inner in path[len(own) :]), name])


def strip_scope(name: str, scope: str) -> str:
    """A name as its own model says it."""
    return name.removeprefix(f"{scope}{SEPARATOR}") if scope else name
