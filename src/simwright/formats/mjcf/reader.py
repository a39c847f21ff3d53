# SPDX-License-Identifier: Apache-2.0
"""What every element family needs while reading: the compiled model, names, places and the asset.

MuJoCo allows unnamed elements; the model does not.  An unnamed element gets a name made from what it is
and where it sits, after all given names are taken.  Attributes the model has no word for are kept as
extras in namespace ``mjc`` under ``family/name`` (``joint/elbow``, ``geom/pad`` ...), with MJCF's
attribute name, and only where they differ from MuJoCo's default.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any

import numpy as np

from simwright.core.diag import Level, Reporter, Where, declare
from simwright.core.math3d import Array
from simwright.core.names import NameScope
from simwright.formats.mjcf.places import MjcfSource
from simwright.model.asset import Asset
from simwright.model.joint import WORLD

NOT_CARRIED = declare(
    "mjcf-not-carried",
    Level.WARNING,
    "{what} {verb} read but left out of the model: {names}",
    hint="{advice}",
    doc="The MJCF file holds something the neutral model cannot express.",
    loss=True,
)

NAMESPACE = "mjc"
"""The namespace of extras that are MJCF attributes."""
DEFAULT_RGBA = (0.5, 0.5, 0.5, 1.0)
"""MuJoCo's colour of geoms, sites and tendons that have none of their own."""


@dataclass(frozen=True, slots=True)
class MjcfFamily:
    """How one kind of element is listed: its object type, its count, its list in MjSpec, its XML section."""

    objects: str
    count: str
    listed: str
    section: str


# in the order of claiming names: names that are made from bodies need those of the bodies
FAMILIES = {
    "body": MjcfFamily("BODY", "nbody", "bodies", "body"),
    "joint": MjcfFamily("JOINT", "njnt", "joints", "joint"),
    "geom": MjcfFamily("GEOM", "ngeom", "geoms", "geom"),
    "site": MjcfFamily("SITE", "nsite", "sites", "site"),
    "camera": MjcfFamily("CAMERA", "ncam", "cameras", "camera"),
    "light": MjcfFamily("LIGHT", "nlight", "lights", "light"),
    "mesh": MjcfFamily("MESH", "nmesh", "meshes", "mesh"),
    "hfield": MjcfFamily("HFIELD", "nhfield", "hfields", "hfield"),
    "texture": MjcfFamily("TEXTURE", "ntex", "textures", "texture"),
    "material": MjcfFamily("MATERIAL", "nmat", "materials", "material"),
    "tendon": MjcfFamily("TENDON", "ntendon", "tendons", "tendon"),
    "equality": MjcfFamily("EQUALITY", "neq", "equalities", "equality"),
    "actuator": MjcfFamily("ACTUATOR", "nactuator", "actuators", "actuator"),
    "sensor": MjcfFamily("SENSOR", "nsensor", "sensors", "sensor"),
    "pair": MjcfFamily("PAIR", "npair", "pairs", "contact"),
    "exclude": MjcfFamily("EXCLUDE", "nexclude", "excludes", "contact"),
    "key": MjcfFamily("KEY", "nkey", "keys", "keyframe"),
    "flex": MjcfFamily("FLEX", "nflex", "flexes", "deformable"),
    "skin": MjcfFamily("SKIN", "nskin", "skins", "deformable"),
    "plugin": MjcfFamily("PLUGIN", "nplugin", "plugins", "plugin"),
    "numeric": MjcfFamily("NUMERIC", "nnumeric", "numerics", "custom"),
    "text": MjcfFamily("TEXT", "ntext", "texts", "custom"),
    "tuple": MjcfFamily("TUPLE", "ntuple", "tuples", "custom"),
}


# families of elements inside bodies, with MuJoCo's short word for their arrays
_ON_BODIES = {"joint": "jnt", "geom": "geom", "site": "site", "camera": "cam", "light": "light"}


@dataclass(slots=True)
class MjcfReader:
    """One reading: MuJoCo, its specification and compiled model, the text, and the asset being built.

    ``mesh_scales`` are those of meshes that MuJoCo did not load.
    """

    mujoco: Any
    spec: Any
    model: Any
    source: MjcfSource
    reporter: Reporter
    asset: Asset
    names: dict[str, list[str]] = field(default_factory=dict)
    specs: dict[str, dict[int, Any]] = field(default_factory=dict)
    places: dict[tuple[str, int], Where] = field(default_factory=dict)
    mesh_scales: dict[str, Array] = field(default_factory=dict)

    def count(self, family: str) -> int:
        """Number of compiled elements."""
        count = FAMILIES[family].count
        if count == "nactuator" and not hasattr(self.model, count):
            count = "nu"  # MuJoCo before 4.0: one control per actuator
        return int(getattr(self.model, count))

    def name(self, family: str, index: int) -> str:
        """The name of a compiled element, the world's and no element's being empty."""
        if index < 0 or (family == "body" and index == 0):
            return WORLD
        return self.names[family][index]

    def key(self, family: str, index: int) -> str:
        """Where extras of an element are kept, and its path."""
        return f"{family}/{self.name(family, index)}"

    def find_given_name(self, family: str, index: int) -> str:
        """The name in the file, empty if there is none."""
        kind = getattr(self.mujoco.mjtObj, f"mjOBJ_{FAMILIES[family].objects}")
        return str(self.mujoco.mj_id2name(self.model, int(kind), index) or "")

    def read_word(self, enumeration: str, value: Any) -> str:
        """A choice by its MJCF word: ``mjtGeom`` 2 is ``mjGEOM_SPHERE``, which is ``sphere``."""
        member = str(getattr(self.mujoco, enumeration)(int(value)).name)
        return member.partition("_")[2].lower()

    def find_spec(self, family: str, index: int) -> Any | None:
        """The MjSpec element, for what compiling drops; None for elements the compiler made itself."""
        if family not in self.specs:
            listed = getattr(self.spec, FAMILIES[family].listed, ())
            # by id, which MjSpec sets when it compiles
            self.specs[family] = {int(getattr(e, "id", i)): e for i, e in enumerate(listed)}
        # another name shows an element that the compiler made, or one that it renumbered
        element = self.specs[family].get(index)
        return (
            element if element is not None and element.name == self.find_given_name(family, index) else None
        )

    def where(self, family: str, index: int) -> Where:
        """File and line, as near as the text allows."""
        if (family, index) not in self.places:
            self.places[family, index] = self._find_place(family, index)
        return self.places[family, index]

    def _find_place(self, family: str, index: int) -> Where:
        name, section = self.find_given_name(family, index), FAMILIES[family].section
        info = str(getattr(self.find_spec(family, index), "info", "") or "")
        found = self.source.find(section, name, info)
        # MuJoCo gives no line for what an include brought; its place among its siblings tells it
        if found.line is None and family in _ON_BODIES:
            return self._where_on_body(family, index) or found
        return found

    def _where_on_body(self, family: str, index: int) -> Where | None:
        owners = getattr(self.model, f"{_ON_BODIES[family]}_bodyid")
        same = [int(i) for i in np.flatnonzero(owners == owners[index])]
        body = self.find_given_name("body", int(owners[index]))
        return self.source.find_child(body, family, same.index(index), len(same))

    # fields come and go with the versions of MuJoCo
    def field(self, name: str, index: int, default: Any = None) -> Any:
        """One row of a compiled array, the default where this MuJoCo has no such array."""
        array = getattr(self.model, name, None)
        return default if array is None or index >= len(array) else array[index]

    def keep(self, family: str, index: int, attribute: str, value: Any, default: Any = None) -> None:
        """Keep an attribute the model has no word for, unless it is MuJoCo's default."""
        if value is None:
            return
        # most are: thousands are asked
        if default is not None and type(value) is type(default) and value == default:
            return
        # extras are written to YAML and USD, which know no numpy
        plain = make_plain(value)
        if default is not None and is_same(plain, default):
            return
        key, where = self.key(family, index), self.where(family, index)
        self.asset.extras.keep(NAMESPACE, key, attribute, plain, where)

    def keep_user(self, family: str, index: int, array: str) -> None:
        """Keep the user data of an element, unless all of it is zero."""
        values = self.field(array, index)
        if values is not None and np.any(values):
            self.keep(family, index, "user", values)

    def report_loss(self, family: str, indices: list[int], advice: str, what: str = "") -> None:
        """One finding for some elements of a family."""
        plural = "" if len(indices) == 1 else "es" if family == "flex" else "s"
        verb = "are" if what or len(indices) > 1 else "is"
        what = what or f"{len(indices)} {family}{plural}"
        shown = ", ".join(repr(self.name(family, i)) for i in indices[:5])
        names = shown + (", ..." if len(indices) > 5 else "")
        where = self.where(family, indices[0])
        self.reporter.report(NOT_CARRIED, where, what=what, verb=verb, names=names, advice=advice)


def make_plain(value: Any) -> Any:
    """Python numbers and lists instead of numpy ones; see :func:`read_floats` for single precision."""
    if isinstance(value, (np.ndarray, np.generic)) and value.dtype == np.float32:
        return read_floats(value) if value.ndim else read_floats(value)[0]
    if isinstance(value, np.ndarray):
        return value.tolist()
    if isinstance(value, np.generic):
        return value.item()
    return list(value) if isinstance(value, tuple) else value


def read_floats(values: Any) -> list[float]:
    """Numbers of a compiled array; single-precision ones as the shortest decimal that means the same.

    MuJoCo stores looks in single precision: 0.3 in the file comes back as 0.3, not 0.30000001192092896.
    """
    array = np.atleast_1d(values)
    return [float(str(v)) if array.dtype == np.float32 else float(v) for v in array]


def is_same(value: Any, default: Any) -> bool:
    """Equal in every bit; numbers of MuJoCo's single-precision fields are as :func:`read_floats` has them."""
    if isinstance(value, (list, tuple)):
        return len(value) == len(default) and all(map(is_same, value, default))
    return bool(value == default)


def claim_names(reader: MjcfReader) -> None:
    """Give every element of every family a unique name, the ones in the file first."""
    for family in FAMILIES:
        given = [reader.find_given_name(family, i) for i in range(reader.count(family))]
        # given names first, so that a made-up name never takes one that stands in the file
        scope = NameScope(name for name in given if name)
        names: list[str] = []
        reader.names[family] = names
        for index, name in enumerate(given):
            names.append(name or scope.claim(_make_name(reader, family, index)))


def _make_name(reader: MjcfReader, family: str, index: int) -> str:
    model = reader.model
    if family == "body":
        parent = reader.name("body", int(model.body_parentid[index])) if index else ""
        return f"{parent}_body" if parent else "body"
    if family == "joint":
        kind = reader.read_word("mjtJoint", model.jnt_type[index])
        return f"{reader.name('body', int(model.jnt_bodyid[index]))}_{kind}"
    if family in ("geom", "site"):
        body = reader.name("body", int(getattr(model, f"{family}_bodyid")[index])) or "world"
        kind = reader.read_word("mjtGeom", getattr(model, f"{family}_type")[index])
        return f"{body}_{kind}" if family == "geom" else f"{body}_site"
    return family
