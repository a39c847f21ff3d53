# SPDX-License-Identifier: Apache-2.0
"""What every family needs while writing: the asset, the planned tree, names, kept attributes, and the document.

Elements are made by :meth:`MjcfDocument.add`, which leaves out what MuJoCo assumes anyway; ``entry.py`` moves what
repeats into default classes when everything is there.  Numbers are written as text that means exactly the same number.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from lxml import etree

from simwright.core.diag import NOWHERE, Reporter, Where
from simwright.core.math3d import IDENTITY, IDENTITY_QUAT, Array, Pose, quat_conjugate, quat_multiply
from simwright.core.names import NameScope
from simwright.formats.mjcf.writer.kept import KeptAttributes, KeptElement
from simwright.formats.mjcf.writer.messages import NOT_CARRIED, RENAMED
from simwright.formats.parts.numbers import make_finite, tidy
from simwright.formats.parts.words import clean_text
from simwright.formats.xml import Element
from simwright.model.asset import Actuator, Asset, Body
from simwright.model.inertia import Inertial
from simwright.model.joint import POSITIONS, Dof, Motion
from simwright.model.kinematics import Tree

# the usual order of an MJCF file; MuJoCo takes any
SECTIONS = (
    "compiler", "option", "size", "extension", "visual", "statistic", "default", "asset", "worldbody", "contact",
    "tendon", "equality", "actuator", "sensor", "keyframe", "custom",
)  # fmt: skip


_HIDDEN = frozenset({"mesh", "texture", "hfield"})
"""Families whose names only the file itself uses."""


@dataclass(slots=True, eq=False)
class MjcfJoint:
    """One MJCF joint: its name, type, axis and anchor in the body, and the dof it stands for.

    ``owner`` is the name of that dof, or of the free body that no joint of the model holds.
    ``near`` and ``far`` are the joint frames on the parent and on the body; ``is_inverted`` tells that the joint is
    walked from its child to its parent.
    """

    name: str
    motion: Motion
    axis: Any = (0.0, 0.0, 1.0)
    anchor: Any = (0.0, 0.0, 0.0)
    dof: Dof | None = None
    owner: str = ""
    path: str = ""
    pitch: float = 0.0
    near: Pose = IDENTITY
    far: Pose = IDENTITY
    is_inverted: bool = False

    def convert(self, values: Any) -> Array:
        """The model's coordinates as MuJoCo counts them: balls turn in body axes, free ones are poses of the body."""
        q: Array = np.atleast_1d(np.asarray(values, dtype=np.float64))
        if (
            self.motion not in (Motion.BALL, Motion.FREE)
            or self.dof is None
            or len(q) != POSITIONS[self.motion]
        ):
            return q
        # bit for bit: multiplying by identities would normalise the quaternion
        if not self.is_inverted and self.near.is_identity() and self.far.is_identity():
            return q
        moved = self.dof.transform(q) if self.motion is Motion.FREE else Pose.of((0.0, 0.0, 0.0), q)
        # a joint that is walked from its child is the inverse motion
        moved = ~moved if self.is_inverted else moved
        if self.motion is Motion.BALL:
            # MuJoCo's ball turns in the axes of the body, the model's in those of the joint
            return quat_multiply(quat_multiply(self.far.q, moved.q), quat_conjugate(self.far.q))
        pose = self.near @ moved @ ~self.far
        return np.concatenate((pose.p, pose.q))


@dataclass(slots=True, eq=False)
class MjcfBody:
    """A body as it is nested: where it sits in its parent, and how it moves."""

    body: Body
    name: str
    parent: str
    pose: Pose
    joints: list[MjcfJoint] = field(default_factory=list)
    mocap: bool = False
    inertial: Inertial | None = None


class AdjustedInertia(NamedTuple):
    """An inertia that MuJoCo would refuse, and what is written instead."""

    body: Body
    found: Array
    written: Array


@dataclass(slots=True, eq=False)
class MjcfDocument:
    """The MJCF document being written, with everything that its families share.

    ``exact`` leaves every number as it is, for a result that only MuJoCo reads or whose source was MJCF; other results
    are for people too, and computed numbers lose the rounding in their last bits.  ``sets_springs`` tells that whoever
    compiles the result sets the springs of contacts and stops, for which MJCF has no attribute.  ``made`` are the names
    under which MuJoCo knows what an element of the model became, by family and name: several geoms of a shape, several
    joints of a dof.
    """

    asset: Asset
    tree: Tree
    reporter: Reporter
    kept: KeptAttributes
    root: Element
    exact: bool = False
    sets_springs: bool = False
    bodies: dict[str, MjcfBody] = field(default_factory=dict)
    nodes: dict[str, Element] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    dofs: dict[str, MjcfJoint] = field(default_factory=dict)
    names: dict[tuple[str, str], str] = field(default_factory=dict)
    scopes: dict[str, NameScope] = field(default_factory=dict)
    adjusted: list[AdjustedInertia] = field(default_factory=list)
    idle: list[Actuator] = field(default_factory=list)
    renamed: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    written_names: dict[str, dict[str, list[str]]] = field(default_factory=dict)

    def claim(self, family: str, name: str) -> str:
        """A name that is free in its family; the one asked for if it can be."""
        # MuJoCo keeps the name "world" of bodies for itself
        scope = self.scopes.setdefault(family, NameScope(("world",) if family == "body" else ()))
        new = scope.claim(clean_text(name) or family)
        # the first of several elements with one name is the one that others mean
        self.names.setdefault((family, name), new)
        if name and new != name and family not in _HIDDEN:
            self.renamed.setdefault(family, []).append((name, new))
        return new

    def note_written(self, family: str, name: str, made: str) -> None:
        """Note that an element of the model became (among others) the MJCF element ``made``."""
        self.written_names.setdefault(family, {}).setdefault(name, []).append(made)

    def tidy(self, values: Any) -> list[float]:
        """Numbers as they are to be written: see ``exact``."""
        return [float(value) for value in values] if self.exact else tidy(values)

    def prefer_kept(self, value: Any, kept: Any) -> Any:
        """A number or vector as its source had it, where that is the same up to rounding, else the value itself."""
        if kept is None or np.shape(kept) != np.shape(value):
            return value
        # a value that somebody changed since it was read is another one, not a rounding of the kept one
        return kept if np.allclose(kept, value, rtol=1e-13, atol=1e-15) else value

    def describe_pose(self, pose: Pose) -> dict[str, Any]:
        """``pos`` and ``quat`` of a pose, each only where it says something."""
        values: dict[str, Any] = {}
        position, turn = self.tidy(pose.p), self.tidy(pose.q)
        if any(position):
            values["pos"] = position
        if not is_equal(turn, IDENTITY_QUAT):
            values["quat"] = turn
        return values

    def find_name(self, family: str, name: str) -> str | None:
        """The name under which an element of the model was written, None if it was not."""
        return self.names.get((family, name))

    def section(self, tag: str) -> Element:
        """A top-level section, made when it is first asked for."""
        found = self.root.find(tag)
        return etree.SubElement(self.root, tag) if found is None else found

    def add(
        self,
        parent: Element,
        tag: str,
        values: Mapping[str, Any],
        defaults: Mapping[str, Any] | None = None,
    ) -> Element:
        """An element with the attributes that say something MuJoCo does not assume."""
        node = etree.SubElement(parent, tag)
        self.set_values(node, values, defaults or {})
        return node

    def set_values(self, node: Element, values: Mapping[str, Any], defaults: Mapping[str, Any]) -> None:
        """Attributes of an element, without those that are None or a default."""
        for attribute, value in values.items():
            # a default that is written is not an error, but it hides what the file is about
            if value is None or (attribute in defaults and is_equal(value, defaults[attribute])):
                continue
            # what was kept from another format is whatever its file says
            if _is_writable(value):
                node.set(attribute, format_value(value))
            else:
                self.reporter.report(
                    NOT_CARRIED,
                    count=1,
                    what=f"values that are neither numbers nor a text for {attribute!r}",
                    first=str(value)[:80],
                    advice="correct it in the source",
                )

    def find_kept(self, element: KeptElement, family: str, *attributes: str) -> dict[str, Any]:
        """Attributes an element was read with, under their MJCF names."""
        return self.kept.get_all(element, family, attributes)

    def report_lost(self, what: str, lost: list[Any], advice: str = "MuJoCo has no such element") -> None:
        """One finding for elements that are left out."""
        if lost:
            where: Where = getattr(lost[0], "source", NOWHERE)
            self.reporter.report(
                NOT_CARRIED, where, count=len(lost), what=what, first=lost[0].name, advice=advice
            )

    def report_names(self) -> None:
        """One finding per family whose names could not all stay."""
        for family, changes in self.renamed.items():
            old, new = changes[0]
            self.reporter.report(RENAMED, count=len(changes), family=family, old=old, new=new)


_NUMBERS = (int, float, np.number, np.bool_)


def _is_writable(value: Any) -> bool:
    if isinstance(value, (str, *_NUMBERS)):
        return True
    return isinstance(value, Iterable) and all(isinstance(v, _NUMBERS) for v in value)


UNBOUNDED = 1e10
"""What stands for "no end" where MJCF wants both ends of a range."""


def format_number(value: float) -> str:
    """The shortest text of a double; infinities become numbers that MuJoCo reads."""
    value = make_finite(value, UNBOUNDED)
    # larger ones are shorter as powers of ten
    if value == int(value) and abs(value) < 1e15:
        return str(int(value))
    # repr gives the shortest text that reads back to the same double
    return repr(float(value))


def format_value(value: Any) -> str:
    """The text of an attribute: numbers, lists of them, flags and words."""
    if isinstance(value, str):
        return clean_text(value)
    if isinstance(value, (bool, np.bool_)):
        return "true" if value else "false"
    if isinstance(value, (int, float, np.number)):
        return format_number(float(value))
    assert isinstance(value, Iterable), f"no attribute value: {value!r}"
    return " ".join(format_number(float(v)) for v in value)


def is_equal(value: Any, default: Any) -> bool:
    """Is it the default?  Lists are equal if their numbers are."""
    if default is None or value is None:
        return value is default
    if isinstance(value, (int, float, str)) or isinstance(default, str):
        return bool(value == default)
    # short lists, which Python compares sooner than numpy begins
    value, default = (rows.tolist() if isinstance(rows, np.ndarray) else rows for rows in (value, default))
    if isinstance(value, (list, tuple)) and isinstance(default, (list, tuple)):
        return len(value) == len(default) and all(a == b for a, b in zip(value, default, strict=True))
    ours, theirs = np.atleast_1d(value), np.atleast_1d(default)
    return ours.shape == theirs.shape and bool(np.all(ours == theirs))


def describe_idle(values: dict[str, Any], word: str, switch: str, *, is_limited: bool) -> dict[str, Any]:
    """The values, with a range that an MJCF source has and switches off, unless there is a limit now."""
    idle = values.pop(f"idle_{word}", None)
    if idle is not None and not is_limited:
        values |= {word: idle, switch: "false"}
    return values
