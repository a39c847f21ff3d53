# SPDX-License-Identifier: Apache-2.0
"""What every family needs while writing: the asset, the planned links and joints, names, files, and the document.

Numbers are written as text that means exactly the same number.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from lxml import etree

from simwright.core.diag import Reporter
from simwright.core.math3d import IDENTITY, Array, Pose
from simwright.core.names import NameScope
from simwright.formats.format import WriteOptions
from simwright.formats.holds import report_lost
from simwright.formats.parts import numbers
from simwright.formats.parts.numbers import tidy
from simwright.formats.parts.words import clean_text
from simwright.formats.urdf.writer.messages import RENAMED
from simwright.formats.xml import Element
from simwright.model.asset import Asset, Body, Site
from simwright.model.joint import Dof, Joint
from simwright.model.kinematics import Tree

WORLD_LINK = "world"


@dataclass(slots=True, eq=False)
class UrdfJoint:
    """One URDF joint with the link it leads to.

    ``joint`` and ``dof`` are those of the model it stands for; ``follows`` is a rule of its own
    (leader, multiplier, offset); ``body`` the body that the link is, None for a link between freedoms or a frame.
    """

    name: str
    type: str
    parent: str
    child: str
    origin: Pose = IDENTITY
    axis: Array | None = None
    joint: Joint | None = None
    dof: Dof | None = None
    follows: tuple[str, float, float] | None = None
    body: Body | None = None


@dataclass(slots=True, eq=False)
class UrdfDocument:
    """The URDF document being written, with everything that its families share.

    ``links`` has the name of the link of every body (and the world, if it is one), ``bare_links`` those of links that
    are none; ``dofs`` the joint of every freedom; ``root_site`` is a frame that is the root.
    """

    asset: Asset
    tree: Tree
    options: WriteOptions
    reporter: Reporter
    root: Element
    joints: list[UrdfJoint] = field(default_factory=list)
    links: dict[str, str] = field(default_factory=dict)
    bare_links: list[str] = field(default_factory=list)
    dofs: dict[str, UrdfJoint] = field(default_factory=dict)
    files: dict[str, bytes] = field(default_factory=dict)
    scopes: dict[str, NameScope] = field(default_factory=dict)
    renamed: dict[str, list[tuple[str, str]]] = field(default_factory=dict)
    root_site: Site | None = None

    def claim(self, family: str, name: str) -> str:
        """A name that is free among links, joints or materials; the one asked for if it can be."""
        # the link "world" stands for the world, whatever a body is called
        scope = self.scopes.setdefault(family, NameScope((WORLD_LINK,) if family == "link" else ()))
        new = scope.claim(clean_text(name) or family)
        if name and new != name:
            self.renamed.setdefault(family, []).append((name, new))
        return new

    def make_address(self, path: str) -> str:
        """The address of a file of the folder, as the option says."""
        place = f"{self.options.side}{path}"
        return (
            # ROS finds packages by name; other tools want a path beside the file
            f"package://{self.options.package_name}/{place}"
            if self.options.mesh_paths == "package"
            else place
        )

    def report_lost(self, what: str, lost: Sequence[Any], advice: str, *, moves: bool = True) -> None:
        """One finding for elements that are left out; ``moves`` tells whether the robot moves differently."""
        if lost:
            report_lost(self.reporter, "URDF", f"{len(lost)} {what}", lost, moves=moves, advice=advice)

    def report_names(self) -> None:
        """One finding per family whose names could not all stay."""
        for family, changes in self.renamed.items():
            old, new = changes[0]
            self.reporter.report(RENAMED, count=len(changes), family=family, old=old, new=new)


UNBOUNDED = 1e100
"""What stands for "no end" where URDF wants a number: parsers do not read "inf"."""


def format_number(value: float) -> str:
    """The shortest text of a double, whole ones without a point."""
    return numbers.format_number(numbers.make_finite(value, UNBOUNDED))


def format_numbers(values: Iterable[float]) -> str:
    """Several, apart by spaces."""
    return " ".join(format_number(float(value)) for value in values)


def write_origin(parent: Element, pose: Pose) -> None:
    """``<origin>``, left out for the identity."""
    position, turn = tidy(pose.p), tidy(pose.rpy)
    # URDF's default is the identity
    if any(position) or any(turn):
        etree.SubElement(parent, "origin", {"xyz": format_numbers(position), "rpy": format_numbers(turn)})
