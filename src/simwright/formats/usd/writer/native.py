# SPDX-License-Identifier: Apache-2.0
"""Attributes in a source format's own words: MJCF's in ``mujoco.usda``, Gazebo's in ``gazebo.usda`` (REP-0158 1.4).

Where MuJoCo's schemas have the attribute, it has their name and type; else it is a custom attribute of the vendor's
namespace.  Elements without a prim, and lights, which are to have nothing but UsdLux, are spoken of at the root, by
kind and name.
"""

from __future__ import annotations

import json
from typing import Any

from simwright.formats.usd.writer.attributes import make_attribute_name, write_plain
from simwright.formats.usd.writer.layout import Layout
from simwright.formats.usd.writer.sheet import Sheet

_SOFT = dict.fromkeys(("solreflimit", "solimplimit", "solreffriction", "solimpfriction"), "double[]")
_TYPED: dict[str, tuple[str, dict[str, str]]] = {
    "joint": ("MjcJointAPI", {**_SOFT, "margin": "double", "group": "int", "actuatorgravcomp": "bool"}),
    "geom": (
        "MjcCollisionAPI",
        {
            "condim": "int", "priority": "int", "solmix": "double", "solref": "double[]", "solimp": "double[]",
            "group": "int", "shellinertia": "bool",
        },
    ),
    "tendon": ("", {**_SOFT, "group": "int", "margin": "double"}),
    "actuator": ("", {"group": "int"}),
    "equality": ("", {"solref": "double[]", "solimp": "double[]"}),
    "site": ("", {"group": "int"}),
    "key": ("", {"act": "double[]", "mpos": "double[]", "mquat": "double[]"}),
}  # fmt: skip
"""Family of MJCF elements -> schema and types of attributes that MuJoCo's schemas have under the same name."""
_SAID = ("physics_material/",)
"""Elements whose extras are said by those of others."""


class NativeExtras:
    """Finds the prims of elements by their model names."""

    def __init__(self, layout: Layout) -> None:
        self._layout = layout
        mimics = {
            m.name: layout.freedoms[m.follower][0]
            for m in layout.asset.mimics
            if m.follower in layout.freedoms
        }
        self._families: dict[str, dict[str, str]] = {
            "body": layout.bodies,
            "joint": {name: path for name, (path, _) in layout.freedoms.items()},
            "geom": {**layout.visuals, **layout.colliders},
            "site": layout.sites,
            "camera": layout.cameras,
            "sensor": layout.sensors,
            "tendon": layout.tendons,
            "actuator": layout.actuators,
            "equality": {**mimics, **layout.equalities},
            "material": layout.materials,
            "key": layout.keyframes,
        }
        self._words = {name: word for name, (_, word) in layout.freedoms.items()}

    def write(self, sheets: dict[str, Sheet], space: str, element: str, attribute: str, value: Any) -> bool:
        """Write one attribute; False if the space has no layer."""
        if space == "mjc":
            self._write_mjc(sheets["mjc"], element, attribute, value)
        elif space == "gazebo":
            path, words = self._find_any(element)
            write_plain(sheets["gazebo"], path, make_attribute_name("gazebo", *words, attribute), value)
        elif space == "urdf":
            path, words = self._find_any(element)
            key = ".".join((*words, attribute))
            self._note(sheets["gazebo"], path, key, value)
        else:
            return False
        return True

    def _write_mjc(self, sheet: Sheet, element: str, attribute: str, value: Any) -> None:
        if element.startswith(_SAID):
            return
        family, slash, name = element.partition("/")
        path = self._families.get(family, {}).get(name, "") if slash else ""
        if not path:
            write_plain(sheet, self._layout.root, make_attribute_name("mjc", family, name, attribute), value)
            return
        if attribute == "actuatorfrcrange" and self._words.get(name, "") in ("", "angular", "linear"):
            for end, number in zip(("min", "max"), value, strict=True):
                sheet.set(path, f"mjc:{attribute}:{end}", "double", number, uniform=True)
            sheet.set(path, "mjc:actuatorfrclimited", "token", "true", uniform=True)
            return
        schema, types = _TYPED.get(family, ("", {}))
        kind = types.get(attribute)
        word = self._words.get(name, "") if family == "joint" else ""
        is_single = word in ("", "angular", "linear", "ball")
        if kind is None or not is_single:
            words = ("mjc",) if is_single else ("mjc", word)
            write_plain(sheet, path, make_attribute_name(*words, attribute), value)
            return
        if schema and not (family == "geom" and path not in self._layout.colliders.values()):
            sheet.apply(path, schema)
        sheet.set(path, f"mjc:{attribute}", kind, value, uniform=True)

    def _find_any(self, element: str) -> tuple[str, tuple[str, ...]]:
        """The prim of an element that is known by its name only, else the root and the name."""
        for family in ("body", "joint", "geom", "site", "sensor", "camera", "material"):
            if element in self._families[family]:
                return self._families[family][element], ()
        if element in self._layout.joints:
            return self._layout.joints[element], ()
        return self._layout.root, () if element == self._layout.asset.name else (element,)

    @staticmethod
    def _note(sheet: Sheet, path: str, key: str, value: Any) -> None:
        known = sheet.read_note(path, "urdf")
        words = json.loads(known) if known else {}
        sheet.note(path, urdf=json.dumps({**words, key: value}, sort_keys=True))
