# SPDX-License-Identifier: Apache-2.0
"""Drake runs scenes and robots with its SAP solver, in the process and environment that ``prove`` has for it.

An asset goes over as a description, not as a file: contact stiffness, dissipation time, friction and hydroelastic
moduli of each shape, reflected inertia and gains of each freedom arrive as they are.  What Drake has no place for is
told.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np

from simwright.core.diag import Level, Reporter, declare
from simwright.core.errors import SimwrightError, UnknownNameError, UsageError
from simwright.core.math3d import Array, Pose
from simwright.engines.layout import Layout, LayoutDof
from simwright.engines.protocol import (
    Capabilities,
    Contact,
    EngineAdapter,
    Settings,
    Simulation,
    WorldSet,
    as_world_set,
    is_sound,
    make_error,
)
from simwright.model.asset import Asset, Shape, scaled
from simwright.model.filtering import find_filtered_pairs
from simwright.model.geometry import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from simwright.model.joint import WORLD, Dof, Motion
from simwright.model.kinematics import Edge, build_tree
from simwright.model.mass import body_inertials
from simwright.model.material import PhysicsMaterial
from simwright.prover.processes import EngineProcess, NotSeenError
from simwright.prover.table import find_engine

NOT_USED = declare(
    "drake-not-used",
    Level.WARNING,
    "Drake does not use {what}: {why}",
    hint="run it in another engine where it matters, or leave it out",
    doc="A property of the asset or an option of the scene has no place in Drake's plant.",
    loss=True,
)
OPTION_NOT_USED = declare(
    "drake-option-not-used",
    Level.INFO,
    "Drake does not use {what}: {why}",
    doc="An option of 'simulation.solver' that Drake's own SAP solver decides itself.",
)
CAPABILITIES = Capabilities(
    name="drake",
    title="Drake, in an environment of its own ('simwright engines install drake')",
    reads="model",
    solvers={
        "sap": "the SAP solver: convex, compliant, with joints and contacts in one problem",
        "tamsi": "TAMSI, Drake's older solver",
        "similar": "SAP's problem with a friction law nearer to Coulomb's",
        "lagged": "SAP's problem with normal forces of the last step in friction",
    },
    options={
        "contact_model": "point, hydroelastic, or hydroelastic_with_fallback",
        "contact_preset_variant": "drake; the others are reported, because Drake has one discretisation",
        "line_search_variant": "exact_root; the others are reported, because Drake searches exactly",
        "contact_beta": "near-rigid threshold of SAP: how stiff a contact may be at most",
        "contact_tau_d": "dissipation time of shapes that say none [s]",
        "fallback_mu": "friction of shapes that say none",
        "fallback_stiffness": "stiffness of shapes that say none [N/m]",
    },
    deterministic=True,
)
DEFAULT_DT = 0.002
_WORDS = {
    "contact_model": ("point", "hydroelastic", "hydroelastic_with_fallback"),
    "contact_preset_variant": ("approx32", "approx64", "drake"),
    "line_search_variant": ("monotone_decay", "armijo_decay", "exact_root"),
}
_FALLBACKS = {
    "contact_tau_d": "dissipation time",
    "fallback_mu": "friction",
    "fallback_stiffness": "stiffness",
}
_NO_SURFACE = "without hydroelastic representation"
"""What Drake says of two shapes that touch."""
_PATIENCE = 600.0
"""Seconds for one question: many steps of many worlds are one."""
_CORNERS = 24
_STIFFEST = 1e6


class DrakeEngine(EngineAdapter["DrakeSimulation"]):
    """Opens assets in Drake."""

    capabilities = CAPABILITIES

    def open_worlds(
        self, source: Asset | WorldSet, worlds: int, settings: Settings, reporter: Reporter
    ) -> DrakeSimulation:
        """Start Drake's interpreter and build the plants there."""
        row = find_engine("drake")
        if not row.environment.ready:
            raise UsageError("Drake is not installed", hint="simwright engines install drake")
        return DrakeSimulation(as_world_set(source, worlds), settings, reporter)


class DrakeSimulation(Simulation):
    """Worlds in Drake's process; see :class:`~simwright.engines.protocol.Simulation`."""

    def __init__(self, scene: WorldSet, settings: Settings, reporter: Reporter) -> None:
        before = len(reporter)
        first = scene.assets[0]
        self.layout = Layout(first)
        self.worlds, self.threads, self.sensors = scene.worlds, 1, ()
        self.dt = settings.dt if settings.dt is not None else first.environment.timestep or DEFAULT_DT
        options = _read_options(settings, reporter)
        kinds = _describe_kinds(scene.assets, options, reporter)
        self._owners = {row["name"]: row["body"] for row in kinds[0]["shapes"]}
        told = {
            "dt": self.dt,
            "solver": settings.solver or CAPABILITIES.default_solver,
            "contact_model": options["contact_model"],
            "near_rigid": options["contact_beta"],
        }
        driven = [freedom for freedom in self.layout.freedoms if _find_drive(freedom) is not None]
        self.actuators = tuple(freedom.name for freedom in driven)
        self._columns = np.array([freedom.v for freedom in driven], dtype=np.int64)
        self._pushes = np.array([not _is_servo(freedom) for freedom in driven], dtype=bool)
        self._controls = np.zeros((self.worlds, len(driven)))
        self._process = EngineProcess(dataclasses.replace(find_engine("drake"), worker="drake_scene"))
        self.engine = str(
            self._ask({"ask": "open", "kinds": kinds, "worlds": list(scene.kinds), "settings": told})
        )
        self._places = np.zeros((self.worlds, self.layout.nq))
        self._rates = np.zeros((self.worlds, self.layout.nv))
        self._start(scene)
        self.findings = tuple(list(reporter)[before:])

    def _start(self, scene: WorldSet) -> None:
        """The initial states, and targets that drives of the asset aim at."""
        for world, kind in enumerate(scene.kinds):
            self._places[world], self._rates[world] = _read_initial(scene.assets[kind], self.layout)
        self.set_state(self._places, self._rates)
        place, rate = np.zeros((2, self.worlds, self.layout.nv))
        for freedom in self.layout.freedoms:
            drive = _find_drive(freedom)
            if drive is not None:
                place[:, freedom.v], rate[:, freedom.v] = drive.target_position, drive.target_velocity
        self._controls[:] = np.where(self._pushes, 0.0, place[:, self._columns])
        self.set_targets(place, rate)

    def _ask(self, question: Mapping[str, Any]) -> Any:
        try:
            told = self._process.ask(question, _PATIENCE)
        except NotSeenError as error:
            raise SimwrightError(f"Drake: {error}") from None
        if "error" in told:
            self._process.end()
            if _NO_SURFACE in told["error"]:
                raise UsageError(
                    "the contact_model 'hydroelastic' has no forces between two shapes that touch: one has no "
                    "hydroelastic surface",
                    hint="give both is_hydroelastic, or use hydroelastic_with_fallback",
                )
            raise SimwrightError(f"Drake refuses it: {told['error']}")
        return told["answer"]

    def _take(self, rows: Sequence[tuple[Sequence[float], Sequence[float]]]) -> None:
        for world, (places, rates) in enumerate(rows):
            self._places[world], self._rates[world] = places, rates

    @property
    def positions(self) -> Array:
        """See the protocol."""
        return self._places.copy()

    @property
    def velocities(self) -> Array:
        """See the protocol."""
        return self._rates.copy()

    def set_state(
        self,
        positions: Array | None = None,
        velocities: Array | None = None,
        worlds: Sequence[int] | None = None,
    ) -> None:
        """See the protocol."""
        chosen = list(range(self.worlds) if worlds is None else worlds)
        if positions is not None:
            self._places[chosen] = positions
        if velocities is not None:
            self._rates[chosen] = velocities
        rows = [[world, self._places[world].tolist(), self._rates[world].tolist()] for world in chosen]
        self._take(self._ask({"ask": "set", "rows": rows}))

    @property
    def controls(self) -> Array:
        """What servos aim at, or the effort of what only pushes."""
        return self._controls.copy()

    def set_controls(self, controls: Array) -> None:
        """See the protocol."""
        self._controls[:] = controls
        place, effort = np.zeros((2, self.worlds, self.layout.nv))
        place[:, self._columns] = np.where(self._pushes, 0.0, self._controls)
        effort[:, self._columns] = np.where(self._pushes, self._controls, 0.0)
        self.set_targets(place, None, effort)

    def set_targets(
        self,
        positions: Array | None = None,
        velocities: Array | None = None,
        efforts: Array | None = None,
    ) -> None:
        """See the protocol."""
        if not len(self._columns):
            return
        nothing = np.zeros((self.worlds, self.layout.nv))
        given = [
            nothing if values is None else np.asarray(values) for values in (positions, velocities, efforts)
        ]
        rows = [[values[world].tolist() for values in given] for world in range(self.worlds)]
        self._ask({"ask": "targets", "rows": rows})

    def apply_forces(self, forces: Array | None = None, wrenches: Array | None = None) -> None:
        """See the protocol."""
        rows = [
            [
                None if values is None or not np.any(values[world]) else values[world].tolist()
                for values in (forces, wrenches)
            ]
            for world in range(self.worlds)
        ]
        self._ask({"ask": "forces", "rows": rows})

    def step(self, steps: int = 1) -> None:
        """See the protocol."""
        held = self._places.copy(), self._rates.copy()
        self._take(self._ask({"ask": "step", "count": steps}))
        self.count += steps
        for world in range(self.worlds):
            if not (is_sound(self._places[world]) and is_sound(self._rates[world])):
                error = make_error(
                    self.layout, self._places[world], self._rates[world], world, self.count * self.dt
                )
                self._places, self._rates = held
                raise error

    def body_poses(self) -> Array:
        """See the protocol."""
        return np.array(self._ask({"ask": "poses"}), dtype=np.float64).reshape(self.worlds, -1, 7)

    def contacts(self, world: int = 0) -> list[Contact]:
        """See the protocol."""
        return [
            Contact(
                self._owners[row["shapes"][0]],
                self._owners[row["shapes"][1]],
                tuple(row["position"]),
                tuple(row["normal"]),
                row["distance"],
                row["force"],
                row["friction"],
            )
            for row in self._ask({"ask": "contacts", "world": world})
        ]

    def close(self) -> None:
        """End Drake's process."""
        self._process.end()


def _read_options(settings: Settings, reporter: Reporter) -> dict[str, Any]:
    """The options that count; what Drake decides itself is told."""
    said = dict(settings.options)
    for name, known in _WORDS.items():
        if said.get(name) is not None and said[name] not in known:
            raise UnknownNameError(f"{name} of drake", str(said[name]), known)
    model = said.get("contact_model", "hydroelastic_with_fallback")
    preset, search = said.get("contact_preset_variant"), said.get("line_search_variant")
    if preset not in (None, "drake"):
        why = "its contact weights, contact points and integration are those of the preset 'drake', in double precision"
        reporter.report(OPTION_NOT_USED, what=f"contact_preset_variant: {preset}", why=why)
    if search not in (None, "exact_root"):
        why = "its SAP solver searches for the exact root along the line"
        reporter.report(OPTION_NOT_USED, what=f"line_search_variant: {search}", why=why)
    numbers = {name: _read_number(name, said.get(name)) for name in ("contact_beta", *_FALLBACKS)}
    return {"contact_model": model, **numbers}


def _read_number(name: str, said: Any) -> float | None:
    """A number of an option; a stiffness of zero would hold nothing."""
    if said is None:
        return None
    try:
        number = float(said)
    except (TypeError, ValueError):
        raise UsageError(f"{name} is {said!r}", hint="a number") from None
    if not (math.isfinite(number) and number >= 0.0) or (number == 0.0 and name == "fallback_stiffness"):
        least = "above zero" if name == "fallback_stiffness" else "from zero on"
        raise UsageError(f"{name} is {said!r}", hint=f"a number {least}")
    return number


def _describe_kinds(
    assets: Sequence[Asset], options: Mapping[str, Any], reporter: Reporter
) -> list[dict[str, Any]]:
    """Every kind of world; what is lost is the same for all and said of the first."""
    kinds = [
        _Description(asset, options, reporter if not kind else Reporter())
        for kind, asset in enumerate(assets)
    ]
    found = [kind.make() for kind in kinds]
    for name, word in _FALLBACKS.items():
        if options[name] is not None and not any(name in kind.taken for kind in kinds):
            # builders of scenes give every shape all three, as those of SAP Warp do
            why = f"every shape has a {word} of its own"
            reporter.report(OPTION_NOT_USED, what=f"{name}: {options[name]:g}", why=why)
    return found


def _find_drive(freedom: LayoutDof) -> Any:
    single = freedom.motion in (Motion.HINGE, Motion.SLIDE)
    return freedom.dof.drive if single and freedom.dof is not None else None


def _is_servo(freedom: LayoutDof) -> bool:
    drive = _find_drive(freedom)
    return bool(drive.stiffness or drive.damping)


def _read_initial(asset: Asset, layout: Layout) -> tuple[Array, Array]:
    """Positions and velocities that the asset begins with."""
    places, rates = np.zeros(layout.nq), np.zeros(layout.nv)
    bodies = {body.name: body for body in asset.bodies}
    dofs = {freedom.name: freedom for freedom in Layout(asset).freedoms}
    for freedom in layout.freedoms:
        dof = dofs[freedom.name].dof
        if dof is None:
            body = bodies[freedom.body]
            places[freedom.positions] = _seven(body.pose)
            for rate, part in ((body.linear_velocity, slice(0, 3)), (body.angular_velocity, slice(3, 6))):
                rates[freedom.velocities][part] = 0.0 if rate is None else rate
            continue
        places[freedom.positions] = dof.neutral() if dof.position is None else np.atleast_1d(dof.position)
        rates[freedom.velocities] = 0.0 if dof.velocity is None else np.atleast_1d(dof.velocity)
    return places, rates


class _Description:
    """One kind of world, as the worker builds it."""

    def __init__(self, asset: Asset, options: Mapping[str, Any], reporter: Reporter) -> None:
        self._asset, self._options, self._reporter = asset, options, reporter
        self._tree = build_tree(asset)
        self._layout = Layout(asset, self._tree)
        self._materials = {material.name: material for material in asset.physics_materials}
        self.taken: set[str] = set()
        """Options that some shape needs, because it says nothing itself."""

    def make(self) -> dict[str, Any]:
        """Everything that JSON can hold."""
        asset = self._asset
        shapes = [row for shape in asset.shapes if (row := self._describe_shape(shape)) is not None]
        known = {row["name"] for row in shapes}
        gravity = asset.environment.gravity
        self._tell_lost()
        return {
            "bodies": self._list_bodies(),
            "joints": [*self._list_roots(), *(self._describe_joint(edge) for edge in self._tree.edges)],
            "shapes": shapes,
            "filters": [list(pair) for pair in sorted(find_filtered_pairs(asset)) if known.issuperset(pair)],
            "mimics": self._list_mimics(),
            "gravity": [0.0, 0.0, -9.81] if gravity is None else [float(value) for value in gravity],
        }

    def _tell_lost(self) -> None:
        asset = self._asset
        names = ("actuators", "tendons", "equalities", "contact_pairs")
        for name in names:
            found = getattr(asset, name)
            if found:
                why = (
                    "only drives of joints are carried over"
                    if name == "actuators"
                    else "there is no counterpart"
                )
                self._lose(f"{len(found)} {name.replace('_', ' ')}", why)
        if self._tree.loops:
            self._lose(f"{len(self._tree.loops)} joints that close loops", "they are not carried over")
        dofs = [dof for joint in asset.joints for dof in joint.dofs]
        if any(dof.friction for dof in dofs):
            self._lose("friction of joints", "it has damping only")
        if any(dof.limit_stiffness for dof in dofs if dof.is_limited):
            self._reporter.report(
                OPTION_NOT_USED,
                what="limit_ke and limit_kd",
                why="its stops are as stiff as the time step allows",
            )

    def _lose(self, what: str, why: str) -> None:
        self._reporter.report(NOT_USED, what=what, why=why)

    def _list_bodies(self) -> list[dict[str, Any]]:
        inertials = body_inertials(self._asset)
        rows = []
        for body in self._asset.bodies:
            held = inertials.get(body.name)
            row: dict[str, Any] = {"name": body.name, "mass": 0.0, "com": [0.0] * 3, "inertia": [0.0] * 6}
            if held is not None and held.mass > 0.0:
                i = held.inertia
                row["mass"], row["com"] = float(held.mass), [float(value) for value in held.com]
                row["inertia"] = [float(i[r, c]) for r, c in ((0, 0), (1, 1), (2, 2), (0, 1), (0, 2), (1, 2))]
            rows.append(row)
        return rows

    def _list_roots(self) -> list[dict[str, Any]]:
        """What holds bodies that no joint of the asset holds."""
        floating = {freedom.body: freedom for freedom in self._layout.freedoms if freedom.joint is None}
        still = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        rows = []
        for body in self._asset.bodies:
            if body.name not in self._tree.roots:
                continue
            freedom = floating.get(body.name)
            near = still if freedom is not None else _seven(body.pose)
            dofs = [] if freedom is None else [_plain_dof(freedom)]
            name = f"{body.name}_root"
            rows.append(
                {"name": name, "parent": WORLD, "child": body.name, "near": near, "far": still, "dofs": dofs}
            )
        return rows

    def _describe_joint(self, edge: Edge) -> dict[str, Any]:
        joint = edge.joint
        near, far = joint.parent_frame, joint.child_frame
        if edge.reversed:
            near, far = far, near
        freedoms = [freedom for freedom in self._layout.freedoms if freedom.joint is joint]
        if edge.reversed:
            # walked backwards the last freedom comes first, and each turns the other way
            freedoms.reverse()
        return {
            "name": joint.name,
            "parent": edge.parent,
            "child": edge.child,
            "near": _seven(near),
            "far": _seven(far),
            "dofs": [self._describe_dof(freedom) for freedom in freedoms],
        }

    def _describe_dof(self, freedom: LayoutDof) -> dict[str, Any]:
        dof = freedom.dof
        assert dof is not None
        row = _plain_dof(freedom)
        if freedom.inverted and freedom.motion in (Motion.BALL, Motion.FREE):
            raise UsageError(
                f"Drake cannot have joint {freedom.name!r} turned round", hint="swap its two bodies"
            )
        sign = -1.0 if freedom.inverted else 1.0
        row |= {
            "axis": [sign * float(value) for value in dof.axis],
            "anchor": [float(value) for value in dof.anchor],
            "ref": float(dof.ref),
            "lower": _bound(dof.lower),
            "upper": _bound(dof.upper),
            "damping": float(dof.damping or 0.0),
            "armature": float(dof.armature or 0.0),
        }
        if dof.stiffness:
            row["spring"] = [float(dof.stiffness), float(dof.spring_ref or 0.0) - float(dof.ref)]
        row["drive"] = self._describe_drive(freedom, dof)
        return row

    def _describe_drive(self, freedom: LayoutDof, dof: Dof) -> dict[str, Any] | None:
        drive = dof.drive
        if drive is None:
            return None
        if freedom.motion in (Motion.BALL, Motion.FREE):
            self._lose(f"the drive of {freedom.name!r}", "it drives hinges and slides")
            return None
        return {
            "stiffness": float(drive.stiffness),
            "damping": float(drive.damping),
            "force": _bound(drive.max_force),
        }

    def _list_mimics(self) -> list[list[Any]]:
        single = {
            freedom.joint.name: freedom for freedom in self._layout.freedoms if freedom.joint is not None
        }
        rows: list[list[Any]] = []
        for mimic in self._asset.mimics:
            if mimic.follower not in single or mimic.leader not in single:
                self._lose(f"the mimic of {mimic.follower!r}", "one of the joints has no degree of freedom")
                continue
            rows.append(
                [single[mimic.follower].name, single[mimic.leader].name, mimic.multiplier, mimic.offset]
            )
        return rows

    def _describe_shape(self, shape: Shape) -> dict[str, Any] | None:
        if not (shape.collision and shape.enabled):
            return None
        described = _describe_solid(shape)
        if described is None:
            self._lose(f"collider {shape.name!r}", f"a {shape.geometry.kind} of this form has no counterpart")
            return None
        return {
            "name": shape.name,
            "body": shape.body,
            "pose": _seven(shape.pose),
            **described,
            **self._describe_contact(shape, self._materials.get(shape.physics_material)),
        }

    def _describe_contact(self, shape: Shape, material: PhysicsMaterial | None) -> dict[str, Any]:
        own = shape.settings
        stiffness = own.get("ke") if material is None or material.stiffness is None else material.stiffness
        damping = own.get("kd") if material is None or material.damping is None else material.damping
        mu = None if material is None else material.list_contact()["mu"]
        # the words of a scene are stiffness and dissipation time; a file has stiffness and damping
        tau = float(damping) / float(stiffness) if stiffness and damping is not None else None
        soft = own.get("hydroelastic_enabled")
        return {
            # as SAP Warp has it: none is said by zero
            "stiffness": self._choose("fallback_stiffness", stiffness or None, _STIFFEST),
            "tau": self._choose("contact_tau_d", tau, 0.01),
            "mu": self._choose("fallback_mu", mu, 1.0),
            "hydroelastic": float(own.get("kh") or 1e7) if soft else None,
        }

    def _choose(self, option: str, own: float | None, default: float) -> float:
        """What a shape says itself, else the option, else what is usual."""
        if own is not None:
            return float(own)
        self.taken.add(option)
        said = self._options[option]
        return default if said is None else float(said)


def _plain_dof(freedom: LayoutDof) -> dict[str, Any]:
    return {
        "name": freedom.name,
        "motion": freedom.motion.value,
        "q": freedom.q,
        "v": freedom.v,
        "axis": [0.0, 0.0, 1.0],
        "anchor": [0.0, 0.0, 0.0],
        "ref": 0.0,
        "lower": None,
        "upper": None,
        "damping": 0.0,
        "armature": 0.0,
        "spring": None,
        "drive": None,
    }


def _seven(pose: Pose) -> list[float]:
    """Position and quaternion w, x, y, z."""
    return [*(float(value) for value in pose.p), *(float(value) for value in pose.q)]


def _bound(value: float) -> float | None:
    return float(value) if math.isfinite(value) else None


def _describe_solid(shape: Shape) -> dict[str, Any] | None:
    """Kind and size of a solid as Drake has them; what is none of its primitives is the hull of its corners."""
    scale = scaled(shape)
    # a case for each geometry; round ones keep their kind only where their axes are scaled alike
    x, y, z = (abs(float(value)) for value in scale)
    match shape.geometry:
        case Plane():
            return {"kind": "plane", "size": [1.0]}
        case Box():
            return {
                "kind": "box",
                "size": [float(v) * s for v, s in zip(shape.geometry.size, (x, y, z), strict=True)],
            }
        case Sphere() if x == y == z:
            return {"kind": "sphere", "size": [shape.geometry.radius * x]}
        case Sphere():
            return {"kind": "ellipsoid", "size": [shape.geometry.radius * s for s in (x, y, z)]}
        case Ellipsoid():
            radii = zip(shape.geometry.radii, (x, y, z), strict=True)
            return {"kind": "ellipsoid", "size": [float(r) * s for r, s in radii]}
        case Capsule() if x == y == z:
            return {"kind": "capsule", "size": [shape.geometry.radius * x, shape.geometry.length * z]}
        case Cylinder() if x == y:
            return {"kind": "cylinder", "size": [shape.geometry.radius * x, shape.geometry.length * z]}
        case Cone():
            return _describe_hull(_list_cone(shape.geometry) * scale)
        case Mesh():
            return _describe_hull(shape.geometry.data.vertices * scale)
    return None


def _describe_hull(points: Array) -> dict[str, Any]:
    half = (points.max(axis=0) - points.min(axis=0)) / 2
    return {"kind": "convex", "size": [max(float(value), 1e-3) for value in half], "points": points.tolist()}


def _list_cone(cone: Cone) -> Array:
    around = np.linspace(0.0, 2 * math.pi, _CORNERS, endpoint=False)
    low = np.full(_CORNERS, -cone.length / 2)
    ring = np.stack((cone.radius * np.cos(around), cone.radius * np.sin(around), low), axis=1)
    return np.vstack((ring, (0.0, 0.0, cone.length / 2)))


ENGINE = DrakeEngine()
