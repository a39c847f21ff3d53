# SPDX-License-Identifier: Apache-2.0
"""From the specs of an asset's layers to the prims that they make, and what these are.

Specs in variants that are not chosen make no prim: they are looked at by their own words, and by the prim that stands
at the same place.
"""

from __future__ import annotations

import copy
import dataclasses
from collections.abc import Iterator
from typing import Any
from weakref import WeakKeyDictionary

from pxr import Sdf, Usd, UsdPhysics

from simwright.sanitizer.conversion.dimensions import AREA_LIGHTS, NORMALIZED, PrimRole
from simwright.usd.edit import Editor

_ACTUATORS = ("newton:targets", "ext_physics:actuator:targets", "mjc:target")
_LEADERS = ("ext_physics:mimic:joint", "newton:mimicJoint", "mjc:target")
_JOINTS = {"PhysicsRevoluteJoint": "turn", "PhysicsPrismaticJoint": "slide", "PhysicsSphericalJoint": "turn"}
_GENERIC = ("transX", "transY", "transZ", "rotX", "rotY", "rotZ")


_KNOWN: WeakKeyDictionary[Editor, SpecIndex] = WeakKeyDictionary()


def read_index(editor: Editor) -> SpecIndex:
    """The index of the stage that an editor looks at, made once: nothing changes while edits are asked for."""
    if editor not in _KNOWN:
        _KNOWN[editor] = SpecIndex(editor.stage)
    return _KNOWN[editor]


class SpecIndex:
    """Which prims each spec makes; ``prims`` are all, those of prototypes included, but no instance proxies."""

    def __init__(self, stage: Usd.Stage) -> None:
        self.stage = stage
        # inactive and undefined prims too: their opinions are converted like all others
        self.prims: list[Usd.Prim] = list(stage.TraverseAll())
        for prototype in stage.GetPrototypes():
            self.prims += Usd.PrimRange.AllPrims(prototype)
        self._users: dict[tuple[str, Sdf.Path], list[Usd.Prim]] = {}
        for prim in self.prims:
            for spec in prim.GetPrimStack():
                self._users.setdefault((spec.layer.identifier, spec.path), []).append(prim)
        self._joints: dict[str, list[tuple[Usd.Prim, int]]] | None = None
        self.ignores_sharing = False
        self._roles: dict[Sdf.Path, PrimRole] = {}

    def without_sharing(self) -> SpecIndex:
        """The same index for an edit that is right for all prims that share a spec."""
        other = copy.copy(self)
        other.ignores_sharing = True
        return other

    def find_users(self, spec: Sdf.PrimSpec) -> list[Usd.Prim]:
        """The prims that a spec is part of."""
        return self._users.get((spec.layer.identifier, spec.path), [])

    def is_shared(self, prim: Usd.Prim, editor: Editor) -> bool:
        """Is something said of this prim in the asset also said of another one?"""
        if self.ignores_sharing:
            return False
        return any(len(self.find_users(spec)) > 1 for spec in editor.list_prim_specs(prim))

    def list_joints(self, path: str) -> list[tuple[Usd.Prim, int]]:
        """Joints with a side that is fixed to a prim, and which side it is; ``/`` stands for the world."""
        if self._joints is None:
            self._joints = {}
            for prim in self.prims:
                if prim.IsA(UsdPhysics.Joint) and not prim.IsInPrototype():
                    for number in (0, 1):
                        targets = prim.GetRelationship(f"physics:body{number}").GetTargets()
                        at = str(targets[0]) if targets else "/"
                        self._joints.setdefault(at, []).append((prim, number))
        return self._joints.get(path, [])

    def describe(self, spec: Sdf.PrimSpec) -> PrimRole:
        """What the prim of a spec is."""
        # a spec of a variant that is not chosen makes no prim: the one at the same path is the best guess
        users = self.find_users(spec)
        prim = users[0] if users else self.stage.GetPrimAtPath(spec.path.StripAllVariantSelections())
        if not prim:
            return PrimRole(spec.typeName, _JOINTS.get(spec.typeName, ""))
        role = self.describe_prim(prim)
        if spec.typeName and spec.typeName != role.type:
            motion = _JOINTS.get(spec.typeName, role.motion)
            return dataclasses.replace(role, type=spec.typeName, motion=motion)
        return role

    def describe_prim(self, prim: Usd.Prim) -> PrimRole:
        """What a prim is."""
        path = prim.GetPath()
        if path not in self._roles:
            self._roles[path] = _describe(prim)
        return self._roles[path]


def _describe(prim: Usd.Prim) -> PrimRole:
    kind = str(prim.GetTypeName())
    if prim.IsA(UsdPhysics.Joint):
        # one function for all kinds of prims: what decides is which of their relationships is there
        leader = _follow(prim, _LEADERS) or _follow_physx(prim)
        return PrimRole(
            kind,
            find_motion(prim),
            find_motion(leader) if leader else "",
            frozenset(axis for axis in _list_drives(prim) if _accelerates(prim, axis)),
        )
    if kind == "MjcTendon":
        # a spatial tendon leads over sites and has no joints: it is as long as it is, so it counts as sliding
        joints = [find_motion(target) for target in _list_targets(prim, "mjc:path")]
        return PrimRole(kind, "turn" if "turn" in joints else "slide")
    if kind in AREA_LIGHTS:
        return PrimRole(kind, mode=NORMALIZED if prim.GetAttribute("inputs:normalize").Get() else "")
    driven = _follow(prim, _ACTUATORS)
    mode = prim.GetAttribute("ext_physics:actuator:controlMode").Get() or "effort"
    return PrimRole(kind, find_motion(driven) if driven else "", mode=str(mode))


def find_motion(prim: Usd.Prim) -> str:
    """``turn``, ``slide``, ``both`` or nothing: how a joint moves."""
    kind = str(prim.GetTypeName())
    if kind != "PhysicsJoint":
        return _JOINTS.get(kind, "")
    free = {"turn" if axis.startswith("rot") else "slide" for axis in _GENERIC if not _is_locked(prim, axis)}
    return next(iter(free)) if len(free) == 1 else "both" if free else ""


def _is_locked(prim: Usd.Prim, axis: str) -> bool:
    if not prim.HasAPI(UsdPhysics.LimitAPI, axis):
        return False
    limit = UsdPhysics.LimitAPI(prim, axis)
    low: Any = limit.GetLowAttr().Get()
    high: Any = limit.GetHighAttr().Get()
    # UsdPhysics: a limit whose low is above its high locks the axis
    return low is not None and high is not None and low > high


def _list_drives(prim: Usd.Prim) -> list[str]:
    names = (name for name in prim.GetAppliedSchemas() if name.startswith("PhysicsDriveAPI:"))
    return [name.partition(":")[2] for name in names]


def _accelerates(prim: Usd.Prim, axis: str) -> bool:
    return str(prim.GetAttribute(f"drive:{axis}:physics:type").Get()) == "acceleration"


def _follow(prim: Usd.Prim, names: tuple[str, ...]) -> Usd.Prim | None:
    for name in names:
        targets = _list_targets(prim, name)
        if targets:
            return targets[0]
    return None


def _follow_physx(prim: Usd.Prim) -> Usd.Prim | None:
    names = [
        n
        for n in prim.GetPropertyNames()
        if n.startswith("physxMimicJoint:") and n.endswith(":referenceJoint")
    ]
    return _follow(prim, tuple(names))


def _list_targets(prim: Usd.Prim, name: str) -> list[Usd.Prim]:
    relationship = prim.GetRelationship(name)
    paths = relationship.GetTargets() if relationship else []
    found = (prim.GetStage().GetPrimAtPath(path) for path in paths)
    return [target for target in found if target]


def walk_specs(layer: Sdf.Layer) -> Iterator[Sdf.PrimSpec]:
    """Every prim spec of a layer, those of all variants included."""
    paths: list[Sdf.Path] = []

    def note(path: Sdf.Path) -> None:
        if path.IsPrimPath() or path.IsPrimVariantSelectionPath():
            paths.append(path)

    layer.Traverse(Sdf.Path.absoluteRootPath, note)
    for path in paths:
        spec = layer.GetPrimAtPath(path)
        if spec is not None:
            yield spec
