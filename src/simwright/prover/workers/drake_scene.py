# SPDX-License-Identifier: Apache-2.0
"""Drake as an engine that runs worlds: plants are built call by call from a description, and stepped as they are asked.

The description (``simwright.prover.drake_engine``) has the bodies, joints, colliders and pairs of one kind of world;
every world is a simulator of its kind's plant.  Coordinates come and go in the order of ``simwright.engines.layout``.
One line of JSON is asked and one is answered, as in ``seen``.
"""

from __future__ import annotations

import itertools
import json
import os
import sys
from collections.abc import Callable, Mapping
from importlib.metadata import version
from typing import Any

import numpy as np
from pydrake.common.eigen_geometry import Quaternion
from pydrake.geometry import (
    AddCompliantHydroelasticProperties,
    AddContactMaterial,
    AddRigidHydroelasticProperties,
    Box,
    Capsule,
    CollisionFilterDeclaration,
    Convex,
    Cylinder,
    Ellipsoid,
    GeometrySet,
    HalfSpace,
    ProximityProperties,
    Sphere,
)
from pydrake.math import RigidTransform, RollPitchYaw, RotationMatrix
from pydrake.multibody.math import SpatialForce
from pydrake.multibody.plant import (
    AddMultibodyPlantSceneGraph,
    ContactModel,
    CoulombFriction,
    DiscreteContactApproximation,
    ExternallyAppliedSpatialForce,
)
from pydrake.multibody.tree import (
    BallRpyJoint,
    FixedOffsetFrame,
    PdControllerGains,
    PrismaticJoint,
    PrismaticSpring,
    QuaternionFloatingJoint,
    RevoluteJoint,
    RevoluteSpring,
    RotationalInertia,
    SpatialInertia,
    UnitInertia,
    WeldJoint,
)
from pydrake.systems.analysis import Simulator
from pydrake.systems.framework import DiagramBuilder

_SOLVERS = {
    "sap": DiscreteContactApproximation.kSap,
    "tamsi": DiscreteContactApproximation.kTamsi,
    "similar": DiscreteContactApproximation.kSimilar,
    "lagged": DiscreteContactApproximation.kLagged,
}
_MODELS = {
    "point": ContactModel.kPoint,
    "hydroelastic": ContactModel.kHydroelastic,
    "hydroelastic_with_fallback": ContactModel.kHydroelasticWithFallback,
}
_COARSEST = 0.5
"""Edge of the triangles of a hydroelastic surface, of its smallest size."""
_POINT = 1e-7
"""Radius of a corner [m]: so small that depths are those of the corner itself."""
_RIM = 8
_MOST_CORNERS = 64


def pose_of(seven: Any) -> RigidTransform:
    """A pose of position and quaternion w, x, y, z."""
    turn = np.array(seven[3:], dtype=float)
    return RigidTransform(Quaternion(turn / np.linalg.norm(turn)), np.array(seven[:3], dtype=float))


class DrakeKind:
    """The plant of one kind of world; ``rows`` tell where each joint's numbers stand in the layout."""

    def __init__(self, told: Mapping[str, Any], settings: Mapping[str, Any]) -> None:
        builder = DiagramBuilder()
        plant, scene = AddMultibodyPlantSceneGraph(builder, time_step=settings["dt"])
        plant.set_discrete_contact_approximation(_SOLVERS[settings["solver"]])
        plant.set_contact_model(_MODELS[settings["contact_model"]])
        if settings["near_rigid"] is not None:
            plant.set_sap_near_rigid_threshold(settings["near_rigid"])
        # what may touch is said pair by pair
        plant.set_adjacent_bodies_collision_filters(False)
        self.plant, self._scene = plant, scene
        self.bodies = {row["name"]: self._add_body(row) for row in told["bodies"]}
        self.rows: list[tuple[Any, dict[str, Any]]] = []
        self.actuators: list[tuple[Any, int]] = []
        for row in told["joints"]:
            self._add_joint(row)
        shapes = {row["name"]: self._add_shape(row) for row in told["shapes"]}
        self._filter(told, shapes)
        self._couple(told["mimics"])
        plant.mutable_gravity_field().set_gravity_vector(np.array(told["gravity"], dtype=float))
        plant.Finalize()
        self.diagram = builder.Build()
        self.shapes = {shape: name for name, (whole, points) in shapes.items() for shape in (whole, *points)}

    def _filter(self, told: Mapping[str, Any], shapes: Mapping[str, tuple[Any, list[Any]]]) -> None:
        """Pairs that never touch; corners touch planes, which the solids that have them leave to them."""

        def exclude(a: list[Any], b: list[Any]) -> None:
            if a and b:
                rule = CollisionFilterDeclaration().ExcludeBetween(GeometrySet(a), GeometrySet(b))
                self._scene.collision_filter_manager().Apply(rule)

        planes = [shapes[row["name"]][0] for row in told["shapes"] if row["kind"] == "plane"]
        solids = [shapes[row["name"]][0] for row in told["shapes"] if row["kind"] != "plane"]
        corners = [point for _, points in shapes.values() for point in points]
        exclude([whole for whole, points in shapes.values() if points], planes)
        exclude(corners, solids)
        if corners:
            rule = CollisionFilterDeclaration().ExcludeWithin(GeometrySet(corners))
            self._scene.collision_filter_manager().Apply(rule)
        for a, b in told["filters"]:
            exclude([shapes[a][0], *shapes[a][1]], [shapes[b][0], *shapes[b][1]])

    def _add_body(self, row: Mapping[str, Any]) -> Any:
        mass, com = row["mass"], np.array(row["com"])
        if mass <= 0.0:
            return self.plant.AddRigidBody(row["name"], SpatialInertia.Zero())
        ixx, iyy, izz, ixy, ixz, iyz = row["inertia"]
        # Drake wants the inertia about the body's origin, per kilogram
        about = RotationalInertia(ixx, iyy, izz, ixy, ixz, iyz).ShiftFromCenterOfMass(mass, -com)
        unit = UnitInertia(*(about.get_moments() / mass), *(about.get_products() / mass))
        inertia = SpatialInertia(mass, com, unit, skip_validity_check=False)
        return self.plant.AddRigidBody(row["name"], inertia)

    def _find_body(self, name: str) -> Any:
        return self.bodies[name] if name else self.plant.world_body()

    def _add_frame(self, body: Any, seven: Any, label: str) -> Any:
        return self.plant.AddFrame(FixedOffsetFrame(label, body.body_frame(), pose_of(seven)))

    def _add_joint(self, row: Mapping[str, Any]) -> None:
        """A joint, or for several freedoms a chain of joints with massless bodies between."""
        plant, name = self.plant, row["name"]
        parent, child = self._find_body(row["parent"]), self._find_body(row["child"])
        dofs = row["dofs"]
        if not dofs:
            near, far = (
                self._add_frame(parent, row["near"], f"{name}_F"),
                self._add_frame(child, row["far"], f"{name}_M"),
            )
            plant.AddJoint(WeldJoint(name, near, far, RigidTransform()))
            return
        still = [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
        before, at = parent, row["near"]
        for number, dof in enumerate(dofs):
            last = number == len(dofs) - 1
            between = child if last else plant.AddRigidBody(f"{name}_part_{number}", SpatialInertia.Zero())
            anchor = RigidTransform(np.array(dof["anchor"], dtype=float))
            pair = [
                plant.AddFrame(
                    FixedOffsetFrame(f"{name}_{number}_{word}", body.body_frame(), pose_of(place) @ anchor)
                )
                for word, body, place in (("F", before, at), ("M", between, row["far"] if last else still))
            ]
            joint = plant.AddJoint(_make_joint(dof, f"{name}_{number}" if len(dofs) > 1 else name, pair))
            self.rows.append((joint, dof))
            self._drive(joint, dof)
            before, at = between, still

    def _drive(self, joint: Any, dof: Mapping[str, Any]) -> None:
        plant, drive = self.plant, dof["drive"]
        if dof["spring"]:
            stiffness, nominal = dof["spring"]
            kind = RevoluteSpring if dof["motion"] == "hinge" else PrismaticSpring
            plant.AddForceElement(kind(joint, nominal, stiffness))
        if drive is None and not dof["armature"]:
            return
        limit = np.inf if drive is None or drive["force"] is None else drive["force"]
        motor = plant.AddJointActuator(joint.name(), joint, limit)
        # reflected inertia is that of a rotor behind a gear of one
        motor.set_default_rotor_inertia(dof["armature"])
        motor.set_default_gear_ratio(1.0)
        if drive is not None and (drive["stiffness"] or drive["damping"]):
            motor.set_controller_gains(PdControllerGains(p=drive["stiffness"], d=drive["damping"]))
        self.actuators.append((motor, dof["v"]))

    def _couple(self, mimics: Any) -> None:
        joints = {row["name"]: joint for joint, row in self.rows}
        for follower, leader, ratio, offset in mimics:
            self.plant.AddCouplerConstraint(joints[follower], joints[leader], ratio, offset)

    def _add_shape(self, row: Mapping[str, Any]) -> tuple[Any, list[Any]]:
        """A solid, and points at its corners: two solids touch in one point in Drake, on which nothing can stand."""
        properties = ProximityProperties()
        friction = CoulombFriction(row["mu"], row["mu"])
        AddContactMaterial(None, row["stiffness"], friction, properties)
        # SAP's dissipation: a time, added up over the two shapes
        properties.AddProperty("material", "relaxation_time", row["tau"])
        if row["hydroelastic"] is not None:
            modulus = row["hydroelastic"]
            # a half space has no mesh of its own: soft things press into it as into something rigid
            if row["kind"] == "plane":
                AddRigidHydroelasticProperties(properties)
            else:
                AddCompliantHydroelasticProperties(_COARSEST * min(row["size"]), modulus, properties)
        body, pose = self._find_body(row["body"]), pose_of(row["pose"])
        whole = self.plant.RegisterCollisionGeometry(body, pose, _make_shape(row), row["name"], properties)
        # hydroelastic surfaces are patches already
        corners = [] if row["hydroelastic"] is not None else _list_corners(row)
        points = [
            self.plant.RegisterCollisionGeometry(
                body,
                pose @ RigidTransform(np.array(corner, dtype=float)),
                Sphere(_POINT),
                f"{row['name']}_corner_{number}",
                properties,
            )
            for number, corner in enumerate(corners)
        ]
        return whole, points


def _make_joint(dof: Mapping[str, Any], name: str, frames: Any) -> Any:
    near, far = frames
    if dof["motion"] in ("hinge", "slide"):
        kind = RevoluteJoint if dof["motion"] == "hinge" else PrismaticJoint
        # Drake counts from where the frames meet
        low, high = (
            limit if value is None else value - dof["ref"]
            for value, limit in ((dof["lower"], -np.inf), (dof["upper"], np.inf))
        )
        return kind(name, near, far, np.array(dof["axis"]), low, high, dof["damping"])
    if dof["motion"] == "ball":
        return BallRpyJoint(name, near, far, dof["damping"])
    return QuaternionFloatingJoint(name, near, far)


def _list_corners(row: Mapping[str, Any]) -> Any:
    """Points that a solid stands on."""
    if row["kind"] == "box":
        half = np.array(row["size"]) / 2
        return [half * signs for signs in itertools.product((-1.0, 1.0), repeat=3)]
    if row["kind"] == "cylinder":
        radius, length = row["size"]
        around = np.arange(_RIM) * 2 * np.pi / _RIM
        rim = np.stack((radius * np.cos(around), radius * np.sin(around), np.full(_RIM, length / 2)), axis=1)
        return [*rim, *(rim * (1.0, 1.0, -1.0))]
    if row["kind"] == "convex" and len(row["points"]) <= _MOST_CORNERS:
        return row["points"]
    return []


def _make_shape(row: Mapping[str, Any]) -> Any:
    kind, size = row["kind"], row["size"]
    makers: dict[str, Callable[[], Any]] = {
        "sphere": lambda: Sphere(size[0]),
        "box": lambda: Box(*size),
        "capsule": lambda: Capsule(size[0], size[1]),
        "cylinder": lambda: Cylinder(size[0], size[1]),
        "ellipsoid": lambda: Ellipsoid(*size),
        "plane": HalfSpace,
        "convex": lambda: Convex(points=np.array(row["points"], dtype=float).T, label=row["name"]),
    }
    return makers[kind]()


class DrakeWorld:
    """One world: a simulator, and its coordinates in the order of the layout."""

    def __init__(self, kind: DrakeKind) -> None:
        self._kind, self._plant = kind, kind.plant
        self._simulator = Simulator(kind.diagram)
        self._root = self._simulator.get_mutable_context()
        self.context = kind.plant.GetMyMutableContextFromRoot(self._root)
        self._steps = 0
        # inputs hold what is set until it is set again
        self.targets = np.zeros((3, len(kind.actuators)))
        self._write_targets()
        self._simulator.Initialize()

    def _write_targets(self) -> None:
        plant, motors = self._plant, self._kind.actuators
        if not motors:
            return
        driven = [number for number, (motor, _) in enumerate(motors) if motor.has_controller()]
        if driven:
            both = np.concatenate((self.targets[0, driven], self.targets[1, driven]))
            plant.get_desired_state_input_port(motors[0][0].model_instance()).FixValue(self.context, both)
        plant.get_actuation_input_port().FixValue(self.context, self.targets[2])

    def set_targets(self, positions: Any, velocities: Any, efforts: Any) -> None:
        """Of each freedom, in the order of the layout."""
        refs = {dof["v"]: dof["ref"] for _, dof in self._kind.rows}
        for number, (_, v) in enumerate(self._kind.actuators):
            self.targets[:, number] = positions[v] - refs[v], velocities[v], efforts[v]
        self._write_targets()

    def read(self) -> tuple[list[float], list[float]]:
        """Positions and velocities."""
        width = sum(_WIDTHS[dof["motion"]][0] for _, dof in self._kind.rows)
        places = np.zeros(width)
        rates = np.zeros(sum(_WIDTHS[dof["motion"]][1] for _, dof in self._kind.rows))
        for joint, dof in self._kind.rows:
            q, v, motion = dof["q"], dof["v"], dof["motion"]
            if motion == "hinge":
                places[q], rates[v] = (
                    joint.get_angle(self.context) + dof["ref"],
                    joint.get_angular_rate(self.context),
                )
            elif motion == "slide":
                places[q] = joint.get_translation(self.context) + dof["ref"]
                rates[v] = joint.get_translation_rate(self.context)
            elif motion == "ball":
                turn = RollPitchYaw(joint.get_angles(self.context)).ToQuaternion()
                places[q : q + 4], rates[v : v + 3] = turn.wxyz(), joint.get_angular_velocity(self.context)
            else:
                places[q : q + 3] = joint.get_translation(self.context)
                places[q + 3 : q + 7] = joint.get_quaternion(self.context).wxyz()
                rates[v : v + 3] = joint.get_translational_velocity(self.context)
                rates[v + 3 : v + 6] = joint.get_angular_velocity(self.context)
        return places.tolist(), rates.tolist()

    def write(self, places: Any, rates: Any) -> None:
        """Set both."""
        for joint, dof in self._kind.rows:
            q, v, motion, context = dof["q"], dof["v"], dof["motion"], self.context
            if motion == "hinge":
                joint.set_angle(context, places[q] - dof["ref"])
                joint.set_angular_rate(context, rates[v])
            elif motion == "slide":
                joint.set_translation(context, places[q] - dof["ref"])
                joint.set_translation_rate(context, rates[v])
            elif motion == "ball":
                joint.set_angles(context, RollPitchYaw(RotationMatrix(_turn(places[q : q + 4]))).vector())
                joint.set_angular_velocity(context, rates[v : v + 3])
            else:
                joint.SetTranslation(context, np.array(places[q : q + 3]))
                joint.SetQuaternion(context, _turn(places[q + 3 : q + 7]))
                joint.set_translational_velocity(context, rates[v : v + 3])
                joint.set_angular_velocity(context, rates[v + 3 : v + 6])

    def push(self, forces: Any, wrenches: Any) -> None:
        """Generalised forces in the order of the layout, and wrenches of bodies at their centres of mass."""
        plant, pushed = self._plant, np.zeros(self._plant.num_velocities())
        applied: list[Any] = []
        for joint, dof in self._kind.rows if forces is not None else ():
            v, at = dof["v"], joint.velocity_start()
            if dof["motion"] in ("hinge", "slide"):
                pushed[at] = forces[v]
            elif dof["motion"] == "ball":
                pushed[at : at + 3] = forces[v : v + 3]
            else:
                # along the axes of the joint's frame on the parent, at the centre of mass
                turn = joint.frame_on_parent().CalcPoseInWorld(self.context).rotation()
                applied.append(
                    self._wrench(joint.child_body(), turn @ forces[v : v + 3], turn @ forces[v + 3 : v + 6])
                )
        for body, row in zip(self._kind.bodies.values(), wrenches or (), strict=False):
            if any(row):
                applied.append(self._wrench(body, np.array(row[:3]), np.array(row[3:])))
        plant.get_applied_generalized_force_input_port().FixValue(self.context, pushed)
        # an empty list tells no type: the port makes the value
        value = plant.get_applied_spatial_force_input_port().Allocate()
        value.set_value(applied)
        plant.get_applied_spatial_force_input_port().FixValue(self.context, value)

    def _wrench(self, body: Any, force: Any, torque: Any) -> Any:
        applied = ExternallyAppliedSpatialForce()
        applied.body_index = body.index()
        applied.p_BoBq_B = body.CalcCenterOfMassInBodyFrame(self.context)
        applied.F_Bq_W = SpatialForce(np.asarray(torque, dtype=float), np.asarray(force, dtype=float))
        return applied

    def step(self, count: int, dt: float) -> None:
        """Move on by time steps."""
        self._steps += count
        # counted, not added up: an end that is short of a step by rounding would leave the step out
        self._simulator.AdvanceTo(self._steps * dt)

    def poses(self) -> list[list[float]]:
        """Of all bodies that were told, in that order."""
        found = []
        for body in self._kind.bodies.values():
            place = self._plant.EvalBodyPoseInWorld(self.context, body)
            found.append([*place.translation().tolist(), *place.rotation().ToQuaternion().wxyz().tolist()])
        return found

    def contacts(self) -> list[dict[str, Any]]:
        """What touches what, with the forces of the last step."""
        results = self._plant.get_contact_results_output_port().Eval(self.context)
        found = []
        for number in range(results.num_point_pair_contacts()):
            info = results.point_pair_contact_info(number)
            pair = info.point_pair()
            found.append(
                self._describe(
                    (pair.id_A, pair.id_B),
                    info.contact_point(),
                    -pair.nhat_BA_W,
                    -pair.depth,
                    info.contact_force(),
                )
            )
        for number in range(results.num_hydroelastic_contacts()):
            info = results.hydroelastic_contact_info(number)
            surface, force = info.contact_surface(), info.F_Ac_W().translational()
            size = float(np.linalg.norm(force)) or 1.0
            found.append(
                self._describe(
                    (surface.id_M(), surface.id_N()), surface.centroid(), -force / size, 0.0, -force
                )
            )
        return found

    def _describe(self, pair: Any, point: Any, normal: Any, distance: float, force: Any) -> dict[str, Any]:
        (a, b), names = pair, self._kind.shapes
        along = float(np.dot(force, normal))
        across = float(np.linalg.norm(np.asarray(force) - along * np.asarray(normal)))
        return {
            "shapes": [names[a], names[b]],
            "position": np.asarray(point).tolist(),
            "normal": np.asarray(normal).tolist(),
            "distance": float(distance),
            "force": along,
            "friction": across,
        }


_WIDTHS = {"hinge": (1, 1), "slide": (1, 1), "ball": (4, 3), "free": (7, 6)}


def _turn(wxyz: Any) -> Quaternion:
    values = np.array(wxyz, dtype=float)
    return Quaternion(values / np.linalg.norm(values))


class DrakeWorlds:
    """All worlds, and the questions about them."""

    def __init__(self, told: Mapping[str, Any]) -> None:
        self._dt = told["settings"]["dt"]
        kinds = [DrakeKind(kind, told["settings"]) for kind in told["kinds"]]
        self._worlds = [DrakeWorld(kinds[number]) for number in told["worlds"]]
        self.engine = f"Drake {version('drake')}"

    def answer(self, asked: Mapping[str, Any]) -> Any:
        """One question."""
        # a branch for each question; what changes a state answers with all states
        what = asked["ask"]
        if what == "set":
            for number, places, rates in asked["rows"]:
                self._worlds[number].write(places, rates)
        elif what == "targets":
            for world, row in zip(self._worlds, asked["rows"], strict=True):
                world.set_targets(*row)
        elif what == "forces":
            for world, row in zip(self._worlds, asked["rows"], strict=True):
                world.push(*row)
        elif what == "step":
            for world in self._worlds:
                world.step(asked["count"], self._dt)
        elif what == "poses":
            return [world.poses() for world in self._worlds]
        elif what == "contacts":
            return self._worlds[asked["world"]].contacts()
        return [world.read() for world in self._worlds]


def main() -> None:
    """Ask and answer; what Drake prints goes to standard error."""
    answers = os.fdopen(os.dup(1), "w", encoding="utf-8")
    os.dup2(2, 1)
    opened: DrakeWorlds | None = None
    for line in sys.stdin:
        asked = json.loads(line)
        try:
            if asked["ask"] == "open":
                opened = DrakeWorlds(asked)
                answer: dict[str, Any] = {"answer": opened.engine}
            else:
                answer = {"answer": opened.answer(asked) if opened else None}
        # whatever the engine raises is its answer, and the worker's to pass on
        except Exception as error:  # noqa: BLE001
            answer = {"error": " ".join(str(error).split()) or type(error).__name__}
        print(json.dumps(answer), file=answers, flush=True)
    os._exit(0)


if __name__ == "__main__":
    main()
