# SPDX-License-Identifier: Apache-2.0
"""The physics scene, and what the solvers' schemas say in order of priority: one value per key, with its origin.

Authored values reach the model.  Where nobody authors one and the importer has no default of its own (contact gap,
iteration count), the fallback of the first solver in the order that has one does, marked as such; for all the rest
each engine's own default applies.  The neutral ExtendedPhysics schemas come before every solver's.  Values are SI and
radians.
"""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass, field
from functools import lru_cache
from typing import Any, Final

import numpy as np

from simwright.core.diag import Level, Where, declare
from simwright.core.math3d import DEGREE, STANDARD_GRAVITY, vec3
from simwright.formats.usd.materials import MaterialBindings
from simwright.formats.usd.scan import StageScan
from simwright.formats.usd.stage_reader import StageReader
from simwright.model.asset import Shape
from simwright.model.extras import Origin, Resolved
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.model.material import PhysicsMaterial
from simwright.resolve.physx import UNREAD
from simwright.resolve.resolver import ResolverOrder
from simwright.resolve.table import PrimType, Scale, find_axis

SCENES_MANY = declare(
    "usd-scenes-many",
    Level.WARNING,
    "the stage has {count} physics scenes; {first} is used",
    hint="keep one PhysicsScene",
    doc="Gravity is taken from the first physics scene; simulation owners are not followed.",
)


def read_environment(reader: StageReader, scan: StageScan) -> None:
    """Set gravity from the first scene; a stage without one says nothing about it."""
    if not scan.scenes:
        return
    first = scan.scenes[0]
    reader.asset.provenance.info["physicsScene"] = first.path
    if len(scan.scenes) > 1:
        where = reader.where(scan.scenes[1].prim)
        reader.reporter.report(SCENES_MANY, where, count=len(scan.scenes), first=first.path)
    direction = reader.get_vector(first.prim, "physics:gravityDirection")
    norm = float(np.linalg.norm(direction))
    down = reader.units.convert_direction(direction / norm) if norm > 0.0 else vec3(0.0, 0.0, -1.0)
    magnitude = reader.get_number(first.prim, "physics:gravityMagnitude", -math.inf)
    # asked again as a size, which reports it; -inf is the fallback and means "of the earth"
    if magnitude == math.inf:
        magnitude = reader.get_size(first.prim, "physics:gravityMagnitude", -1.0)
    # a negative magnitude means "of the earth", whatever the stage unit
    strength = STANDARD_GRAVITY if magnitude < 0.0 else magnitude * reader.units.length
    reader.asset.environment.gravity = down * strength


ITERATIONS: Final = "max_solver_iterations"
_GAP = "gap"


def fall_back(reader: StageReader, scan: StageScan, scale: Scale) -> None:
    """Give the scene and the colliders the values that only a schema has, after all that is authored."""
    if scan.scenes:
        _count_iterations(reader, scan.scenes[0].path)
    _keep_apart(reader, scale)


def _count_iterations(reader: StageReader, scene: str) -> None:
    """Newton's fallback is -1, "as many as you like": that is not a count, so the settings do not hold it."""
    known = reader.asset.origins.get(scene, {})
    found = reader.order.resolve({}, PrimType.SCENE, ITERATIONS)
    if ITERATIONS in known or found.origin is Origin.NONE:
        return
    reader.asset.origins.setdefault(scene, {})[ITERATIONS] = found
    # see the docstring: a negative count is not a count
    if found.value is not None and found.value > 0:
        reader.asset.environment.settings[ITERATIONS] = found.value


def _keep_apart(reader: StageReader, scale: Scale) -> None:
    gap = reader.order.resolve({}, PrimType.SHAPE, _GAP, scale=scale)
    if gap.value is None:
        return
    origins = reader.asset.origins
    for shape in reader.asset.shapes:
        if shape.collision and _GAP not in origins.get(shape.path, ()):
            shape.gap = gap.value
            origins.setdefault(shape.path, {})[_GAP] = gap


SOLVERS_DIFFER = declare(
    "usd-solvers-differ",
    Level.INFO,
    "{count} value(s) are authored differently for several solvers; the first is {key} of {first}, where "
    "{winner} wins over {loser}",
    hint="`simwright resolve FILE --schema-resolvers ...` shows them all; the order decides",
    doc="The attributes of two solver schemas mean the same but hold different values.",
)
REFERENCE_IGNORED = declare(
    "usd-reference-ignored",
    Level.WARNING,
    "joint {name!r} is no hinge or slide but has {count} degree(s) of freedom; mjc:ref and mjc:springref are left out",
    hint="use one joint for each degree of freedom",
    doc="A joint reference shifts the coordinate of a hinge or slide; it says nothing about other joints.",
    loss=True,
)

WORD_UNREAD = declare(
    "usd-solver-word-unread",
    Level.WARNING,
    "{count} prim(s) author {attribute}: {what}; it is kept as it is, but no engine other than PhysX knows it, the "
    "first is {first}",
    hint="use attributes that every engine has, such as friction, damping or limits",
    doc="An attribute of PhysX that changes motion and that nothing else has a counterpart for.",
    loss=True,
)

_DOF_FIELDS = (
    "armature", "friction", "damping", "stiffness", "spring_ref", "ref", "effort_limit", "velocity_limit",
)  # fmt: skip
# MuJoCo's references are scalars, so they mean nothing for balls and generic joints
_REFERENCES = frozenset({"ref", "spring_ref"})
_LIMIT_FIELDS = (("ke", "limit_stiffness"), ("kd", "limit_damping"))
_STATE_FIELDS = ("position", "velocity")
_BODY_FIELDS = (
    ("rigid_body_linear_damping", "linear_damping"),
    ("rigid_body_angular_damping", "angular_damping"),
    ("gravity_scale", "gravity_scale"),
)
_SHAPE_FIELDS = ("gap", "margin")
_MATERIAL_FIELDS = {
    "mu_torsional": "torsional_friction",
    "mu_rolling": "rolling_friction",
    "ke": "stiffness",
    "kd": "damping",
}


def read_solvers(reader: StageReader, scan: StageScan, bindings: MaterialBindings) -> None:
    """Resolve everything that any solver says about scene, bodies, joints, shapes and materials."""
    resolution = _SolverValues(reader, _read_scale(reader, scan))
    if reader.authored:
        _fill_elements(resolution, scan, bindings)
        _report_unread(reader, scan)
    fall_back(reader, scan, resolution.scale)


@lru_cache(maxsize=4096)
def _find_unread(name: str) -> tuple[Any, str] | None:
    """What a word that has no row means, with its value that changes nothing; None for all others."""
    first, _, rest = name.partition(":")
    return UNREAD.get(name) or UNREAD.get(f"{first}:*:{rest.rpartition(':')[2]}")


def _report_unread(reader: StageReader, scan: StageScan) -> None:
    """One finding for each word that changes motion and has no row."""
    # most stages have none of them; value clips may give values to names that no prim has
    if not scan.is_timed and not any(map(_find_unread, scan.names)):
        return
    found: dict[str, list[str]] = {}
    for path, authored in reader.authored.items():
        for name, value in authored.items():
            entry = _find_unread(name)
            if entry is not None and value != entry[0]:
                found.setdefault(name, []).append(path)
    for name, paths in found.items():
        entry = _find_unread(name)
        assert entry is not None
        where = Where(reader.file, prim=paths[0], prop=name)
        reader.reporter.report(
            WORD_UNREAD, where, attribute=name, what=entry[1], count=len(paths), first=paths[0]
        )


def _fill_elements(resolution: _SolverValues, scan: StageScan, bindings: MaterialBindings) -> None:
    """Give scene, joints, bodies, colliders and materials of the asset the values that solvers have for them."""
    reader, asset = resolution.reader, resolution.reader.asset
    _resolve_scene(resolution, scan)
    for joint in asset.joints:
        _resolve_joint(resolution, joint)
    for body in asset.bodies:
        if body.path in reader.authored:
            for key, name in _BODY_FIELDS:
                resolution.put(body, name, body.path, PrimType.BODY, key)
    for articulation in asset.articulations:
        found = resolution.ask(articulation.path, PrimType.ARTICULATION, "self_collision_enabled")
        if found is not None and found.value is not None:
            articulation.self_collide = bool(found.value)
    for shape in asset.shapes:
        if shape.collision:
            _resolve_shape(resolution, shape)
    prims = dict(bindings.contacts())
    for material in asset.physics_materials:
        _resolve_material(resolution, material, str(prims[material.name].GetPath()))
    resolution.report()


_UNASKED = Resolved()


@dataclass(slots=True, eq=False)
class _SolverValues:
    """Asks the resolvers and notes the answers in the asset; prims that say the same get the same answer."""

    reader: StageReader
    scale: Scale
    differing: list[tuple[str, str, Resolved]] = field(default_factory=list)
    answers: dict[tuple[int, PrimType, str | tuple[str, ...], bool], Resolved | None] = field(
        default_factory=dict
    )
    said: dict[tuple[int, PrimType], set[str]] = field(default_factory=dict)

    def ask(
        self,
        path: str,
        prim: PrimType,
        keys: str | tuple[str, ...],
        label: str = "",
        *,
        angular: bool = False,
    ) -> Resolved | None:
        """The authored value of a key; ``label`` is its name among the origins if not the key itself."""
        authored = self.reader.authored.get(path)
        if authored is None:
            return None
        # prims of the same opinions share the table of authored values, so they share the answer
        key = id(authored), prim, keys, angular
        found = self.answers.get(key, _UNASKED)
        if found is _UNASKED:
            found = self.answers[key] = self.reader.order.resolve_authored(
                authored, prim, keys, scale=self.scale, angular=angular
            )
        if found is not None:
            label = label or (keys if isinstance(keys, str) else keys[-1])
            self.reader.asset.origins.setdefault(path, {})[label] = found
            # values of solvers that lost are compared in SI, since their attributes have different units
            if found.lost and any(_differs(found.value, hit.value) for hit in found.lost):
                self.differing.append((path, label, found))
        return found

    def find_said(self, path: str, prim: PrimType) -> set[str]:
        """The keys that are worth asking for."""
        authored = self.reader.authored.get(path)
        if authored is None:
            return set()
        key = id(authored), prim
        known = self.said.get(key)
        if known is None:
            known = self.said[key] = self.reader.order.find_said(authored, prim)
        return known

    def put(self, element: Any, name: str, path: str, prim: PrimType, key: str) -> None:
        """Set a field if the key is authored and has a value."""
        found = self.ask(path, prim, key)
        if found is not None and found.value is not None:
            setattr(element, name, found.value)

    def settings(self, path: str, prim: PrimType, said: set[str], skipped: Iterable[str]) -> dict[str, Any]:
        """The authored values of the other keys."""
        result = {}
        for key in self.reader.order.keys(prim):
            found = self.ask(path, prim, key) if key in said and key not in skipped else None
            if found is not None and found.value is not None:
                result[key] = found.value
        return result

    def report(self) -> None:
        """One finding for all disagreements."""
        if not self.differing:
            return
        path, label, found = self.differing[0]
        loser = next(hit for hit in found.lost if _differs(found.value, hit.value))
        self.reader.reporter.report(
            SOLVERS_DIFFER,
            Where(self.reader.file, prim=path, prop=found.attribute.partition(",")[0]),
            count=len(self.differing),
            key=label,
            first=path,
            winner=f"{found.attribute} ({found.value})",
            loser=f"{loser.attribute} ({loser.value})",
        )


def _differs(a: Any, b: Any) -> bool:
    if isinstance(a, float) and isinstance(b, (int, float)):
        # single precision and unit factors leave about 1e-7
        return not math.isclose(a, b, rel_tol=1e-5, abs_tol=1e-12)
    return bool(a != b)


def _read_scale(reader: StageReader, scan: StageScan) -> Scale:
    """Stage units, and the angle unit that MuJoCo's compiler setting on the scene names."""
    scenes = (reader.authored.get(found.path, {}) for found in scan.scenes[:1])
    radians = any(scene.get("mjc:compiler:angle") == "radian" for scene in scenes)
    return Scale(reader.units.length, reader.units.mass, 1.0 if radians else DEGREE)


def _resolve_scene(resolution: _SolverValues, scan: StageScan) -> None:
    if not scan.scenes:
        return
    path, environment = scan.scenes[0].path, resolution.reader.asset.environment
    rate = resolution.ask(path, PrimType.SCENE, "time_steps_per_second")
    # schemas give a rate; the model a step [s]
    if rate is not None and rate.value and rate.value > 0:
        environment.timestep = 1.0 / rate.value
    iterations = resolution.ask(path, PrimType.SCENE, ITERATIONS)
    if iterations is not None and iterations.value is not None:
        environment.settings[ITERATIONS] = iterations.value
    gravity = resolution.ask(path, PrimType.SCENE, "gravity_enabled")
    # Newton can switch gravity off without touching UsdPhysics
    if gravity is not None and not gravity.value:
        environment.gravity = np.zeros(3)


def _resolve_joint(resolution: _SolverValues, joint: Joint) -> None:
    authored = resolution.reader.authored.get(joint.path)
    if authored is None:
        return
    single = joint.kind in (JointKind.REVOLUTE, JointKind.PRISMATIC)
    if not single and ("mjc:ref" in authored or "mjc:springref" in authored):
        resolution.reader.reporter.report(
            REFERENCE_IGNORED, joint.source, name=joint.name, count=joint.velocities
        )
    said = resolution.find_said(joint.path, PrimType.JOINT)
    if not said:
        return
    for dof in joint.dofs:
        axis = find_axis(joint, dof)
        _resolve_dof(resolution, joint, dof, axis, said if single else said - _REFERENCES)
        if axis:
            _resolve_axis(resolution, joint, dof, axis, said)


def _resolve_dof(resolution: _SolverValues, joint: Joint, dof: Dof, axis: str, said: set[str]) -> None:
    """What is said about a joint holds for each of its freedoms."""
    angular = dof.motion is not Motion.SLIDE
    for name in _DOF_FIELDS:
        if name not in said:
            continue
        label = name if len(joint.dofs) == 1 else f"{axis}_{name}"
        found = resolution.ask(joint.path, PrimType.JOINT, name, label, angular=angular)
        if found is not None and found.value is not None and math.isfinite(found.value):
            setattr(dof, name, found.value)


def _resolve_axis(resolution: _SolverValues, joint: Joint, dof: Dof, axis: str, said: set[str]) -> None:
    """Stops: a value for all axes comes before one for this axis.  Then the initial state."""
    angular = dof.motion is not Motion.SLIDE
    for gain, name in _LIMIT_FIELDS:
        keys = (f"limit_{gain}", f"limit_{axis}_{gain}")
        if said.isdisjoint(keys):
            continue
        found = resolution.ask(joint.path, PrimType.JOINT, keys, angular=angular)
        if found is not None:
            setattr(dof, name, found.value)
    for name in _STATE_FIELDS:
        if f"{axis}_{name}" not in said:
            continue
        found = resolution.ask(joint.path, PrimType.JOINT, f"{axis}_{name}")
        if found is not None and found.value is not None and math.isfinite(found.value):
            setattr(dof, name, found.value)


def _resolve_shape(resolution: _SolverValues, shape: Shape) -> None:
    said = resolution.find_said(shape.path, PrimType.SHAPE)
    if not said:
        return
    for name in _SHAPE_FIELDS:
        resolution.put(shape, name, shape.path, PrimType.SHAPE, name)
    shape.settings |= resolution.settings(shape.path, PrimType.SHAPE, said, _SHAPE_FIELDS)
    if _is_surface(resolution, shape):
        shape.settings["shell_density"] = "area"
    if _puts_solref_first(resolution.reader.order) and "mjc:solref" in resolution.reader.authored[shape.path]:
        shape.settings["contact_first"] = True


def _is_surface(resolution: _SolverValues, shape: Shape) -> bool:
    """Is it hollow by MuJoCo's word, without a wall of its own?  Then density is a mass per area."""
    if shape.settings.get("mass_model") != "shell" or "shell_thickness" in shape.settings:
        return False
    return resolution.reader.asset.origins[shape.path]["mass_model"].namespace == "mjc"


def _puts_solref_first(order: ResolverOrder) -> bool:
    """Does MuJoCo come before Newton?  Then ``mjc:solref`` of a shape beats the gains of its material."""
    names = [resolver.name for resolver in order.resolvers]
    return "mjc" in names and ("newton" not in names or names.index("mjc") < names.index("newton"))


def _resolve_material(resolution: _SolverValues, material: PhysicsMaterial, path: str) -> None:
    said = resolution.find_said(path, PrimType.MATERIAL)
    if not said:
        return
    for key, name in _MATERIAL_FIELDS.items():
        resolution.put(material, name, path, PrimType.MATERIAL, key)
    material.settings |= resolution.settings(path, PrimType.MATERIAL, said, _MATERIAL_FIELDS)
