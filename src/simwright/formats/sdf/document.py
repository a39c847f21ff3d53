# SPDX-License-Identifier: Apache-2.0
"""One SDFormat file: its version, its folder, and typed values from child elements.

SDFormat writes values as element text (``<mass>2</mass>``) where URDF writes attributes, so this adds that
kind of access to :class:`~simwright.formats.xml.XmlReader`.  Poses follow the SDFormat specification of
``<pose>``: fixed-axis Euler angles, ``degrees`` and ``rotation_format="quat_xyzw"`` (1.9).
"""

from __future__ import annotations

import math
import re
from pathlib import Path
from typing import Any

import numpy as np

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.errors import ParseError
from simwright.core.math3d import DEGREE, HUGE, IDENTITY, Array, Pose
from simwright.formats.xml import BAD_NUMBER, Element, XmlReader, parse
from simwright.model.asset import Asset

NEWEST = (1, 12)
"""The newest version of the specification this reader knows."""
CLOSES_LOOP = "{urn:simwright}closes_loop"
"""Attribute of joints that close a loop: SDFormat itself does not say which of the joints of a loop carries it."""
ENDLESS = 1e16
"""Limits at or beyond this mean "no limit" in SDFormat up to 1.9."""

BAD_FLAG = declare(
    "sdf-bad-flag",
    Level.ERROR,
    "<{tag}> is {text!r}, which is neither true nor false",
    hint="{default} is used; write true or false",
    doc="An element that must hold a boolean holds something else.",
)
BAD_ROTATION = declare(
    "sdf-bad-rotation-format",
    Level.ERROR,
    "<pose> has rotation_format {text!r}",
    hint="write euler_rpy or quat_xyzw; euler_rpy is used",
    doc="A pose names a rotation format SDFormat does not have.",
)
UNKNOWN_VERSION = declare(
    "sdf-unknown-version",
    Level.WARNING,
    "the SDFormat version is {text!r}",
    hint="it is read as {used}; the reader knows 1.4 to 1.12",
    doc="The version attribute is missing, malformed or newer than the reader.",
)

_TRUE = {"true", "1"}
_FALSE = {"false", "0"}
_ROOTS = {"sdf", "gazebo"}


class SdfDocument(XmlReader):
    """A parsed file.  ``version`` decides the default frames; ``base`` is where relative addresses start.

    ``foreign`` is the asset of a file in another format, for which the elements only stand.
    """

    def __init__(self, path: Path, root: Element, reporter: Reporter) -> None:
        super().__init__(str(path), reporter)
        self.path = path
        self.base = path.parent
        self.root = root
        self.foreign: Asset | None = None
        self.version_text = root.get("version", "")
        self.version = self._read_version()

    def _read_version(self) -> tuple[int, int]:
        match = re.fullmatch(r"(\d{1,3})\.(\d{1,3})(\.\d+)?", self.version_text.strip())
        # 1.6 is the last version with the old frame rules; a file without a version is likely to be an old one.
        used = (int(match.group(1)), int(match.group(2))) if match else (1, 6)
        if match is None or used > NEWEST:
            used = min(used, NEWEST)
            self.reporter.report(
                UNKNOWN_VERSION,
                self.where(self.root),
                text=self.version_text[:40],
                used=f"{used[0]}.{used[1]}",
            )
        return used

    def child(self, element: Element, *tags: str) -> Element | None:
        """The first descendant along a path of tags, None if any step is absent."""
        for tag in tags:
            if element is None:
                return None
            element = next(self.children(element, tag), None)
        return element

    def text(self, element: Element | None, *tags: str) -> str:
        """Stripped text of a descendant, empty if absent."""
        found = None if element is None else self.child(element, *tags)
        return (found.text or "").strip() if found is not None else ""

    def value(self, element: Element | None, *tags: str) -> float | None:
        """One number of a descendant; None if it is absent or wrong (which is reported).

        ``inf`` is allowed, as the specification has it for limits.
        """
        found = None if element is None else self.child(element, *tags)
        if found is None or not (found.text or "").strip():
            return None
        try:
            number = float(found.text.strip())
        except ValueError:
            number = math.nan
        # Infinity is allowed here: limits use it.
        if math.isnan(number):
            self.report_number(found, found.text, "a number", "the default")
            return None
        return number

    def finite(self, element: Element | None, *tags: str, default: float = 0.0) -> float:
        """One finite number of a descendant, the default if it is absent or wrong."""
        number = self.amount(element, *tags)
        return default if number is None else number

    def amount(self, element: Element | None, *tags: str) -> float | None:
        """One finite number of a descendant, None if it is absent or wrong."""
        number = self.value(element, *tags)
        if number is None or abs(number) <= HUGE:
            return number
        assert element is not None
        self.report_number(self.child(element, *tags), str(number), "a finite number", "the default")
        return None

    def quantity(self, element: Element | None, *tags: str) -> float | None:
        """One positive finite number of a descendant, None if it is absent or wrong."""
        number = self.amount(element, *tags)
        if number is None or number > 0.0:
            return number
        assert element is not None
        self.report_number(self.child(element, *tags), f"{number:g}", "a positive number", "the default")
        return None

    def positive(self, element: Element | None, *tags: str, default: float) -> float:
        """One positive finite number, the default if it is absent or wrong."""
        number = self.finite(element, *tags, default=default)
        if number > 0.0:
            return number
        assert element is not None
        self.report_number(self.child(element, *tags), f"{number:g}", "a positive number", f"{default:g}")
        return default

    def values(self, element: Element | None, tag: str, count: int, default: Any) -> Array:
        """Several finite numbers of a child element."""
        found = None if element is None else self.child(element, tag)
        if found is None:
            return np.array(default, dtype=np.float64)
        return self.numbers(found, found.text, count, default, f"<{tag}>")

    def flag(self, element: Element | None, *tags: str, default: bool = False) -> bool:
        """A boolean of a descendant."""
        text = self.text(element, *tags).lower()
        if not text:
            return default
        if text in _TRUE or text in _FALSE:
            return text in _TRUE
        assert element is not None
        found = self.child(element, *tags)
        self.reporter.report(
            BAD_FLAG, self.where(found), tag=tags[-1], text=text[:40], default=str(default).lower()
        )
        return default

    def flag_attribute(self, element: Element, name: str) -> bool:
        """A boolean attribute, false if it is absent."""
        return (element.get(name) or "").strip().lower() in _TRUE

    def pose(self, element: Element) -> tuple[Pose, str]:
        """The ``<pose>`` child and the frame it is relative to (empty: the default one)."""
        found = self.child(element, "pose")
        if found is None:
            return IDENTITY, ""
        name = found.get("relative_to")
        if name is None and self.version < (1, 7):
            name = found.get("frame")  # the attribute's name up to 1.6
        return self._pose_of(found), (name or "").strip()

    def _pose_of(self, element: Element) -> Pose:
        text = (element.text or "").strip()
        if not text:
            return IDENTITY
        rotation = element.get("rotation_format", "euler_rpy")
        # x, y, z, w in the file, w first in the model.
        if rotation == "quat_xyzw":
            values = self.numbers(element, text, 7, (0, 0, 0, 0, 0, 0, 1), "<pose>")
            x, y, z, w = values[3:]
            return Pose.of(values[:3], (w, x, y, z))
        if rotation != "euler_rpy":
            self.reporter.report(BAD_ROTATION, self.where(element), text=rotation[:40])
        values = self.numbers(element, text, 6, (0, 0, 0, 0, 0, 0), "<pose>")
        # "degrees" is an attribute of <pose> since 1.9.
        unit = DEGREE if element.get("degrees", "").strip().lower() in _TRUE else 1.0
        return Pose.from_rpy(values[:3], values[3:] * unit)

    def report_number(self, element: Element, text: str, expected: str, default: str) -> None:
        """Report a number that is not what it must be."""
        self.reporter.report(
            BAD_NUMBER,
            self.where(element),
            what=f"<{element.tag}>",
            text=text.strip()[:80],
            expected=expected,
            default=default,
        )


def open_document(path: Path, reporter: Reporter) -> SdfDocument:
    """Parse a file whose root must be ``<sdf>`` (or ``<gazebo>``, before 1.3)."""
    root = parse(path, reporter=reporter)
    _drop_default_namespace(root)
    if root.tag not in _ROOTS:
        raise ParseError(
            f"the root element is <{root.tag}>, not <sdf>",
            hint="is it an SDFormat file?",
            where=Where(str(path), root.sourceline),
        )
    return SdfDocument(path, root, reporter)


def _drop_default_namespace(root: Element) -> None:
    """``xmlns="..."`` is an attribute like any other to libsdformat, and changes no name."""
    if root.prefix is None and str(root.tag).startswith("{"):
        for element in root.iter():
            if element.prefix is None and isinstance(element.tag, str):
                element.tag = element.tag.rpartition("}")[2]


def spell_attribute(element: Element, name: str) -> str:
    """The name of an attribute as it is written."""
    space, brace, local = name.rpartition("}")
    if not brace:
        return name
    prefixes = (prefix for prefix, uri in element.nsmap.items() if uri == space[1:] and prefix)
    return f"{next(prefixes, 'xml')}:{local}"
