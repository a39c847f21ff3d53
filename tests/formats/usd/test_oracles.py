"""Everything Newton 1.7.0 computes for eleven stages in four resolver orders, against what we read.

A value agrees to 1e-5 of its size (frames: 1e-5 m, 1e-3 rad of Newton's float32 quaternions), or the difference
is a row of :data:`KNOWN`, which ``docs/newton-differences.md`` explains.  Where nobody says anything our model is
silent; Newton's importer defaults stand in for that silence here.
"""

from __future__ import annotations

import json
import math
from collections.abc import Iterator
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.core.math3d import Pose
from simwright.formats.format import ReadOptions
from simwright.formats.usd.read import read
from simwright.model.asset import Asset, Shape, Site
from simwright.model.filtering import find_filtered_pairs, list_articulated
from simwright.model.geometry import Box, Capsule, Cone, Cylinder, Ellipsoid, Mesh, Plane, Sphere
from simwright.model.joint import WORLD, Dof, Joint, JointKind
from simwright.model.kinematics import build_tree
from simwright.resolve.collect import schema_attrs
from simwright.resolve.resolve import Order
from simwright.resolve.resolver import make_resolvers
from simwright.resolve.table import PrimType

pytestmark = pytest.mark.realworld

NAMES = (
    "ant", "ant_mixed", "boxes_fourbar", "cartpole", "cartpole_mjc", "cube_cylinder",
    "four_link_chain_articulation", "humanoid", "pendulum_revolute_vs_d6", "revolute_articulation",
    "simple_articulation_with_mesh",
)  # fmt: skip
ORDERS = {
    "n": ("newton",),
    "npm": ("newton", "physx", "mjc"),
    "pnm": ("physx", "newton", "mjc"),
    "mnp": ("mjc", "newton", "physx"),
}
DOCUMENT = Path(__file__).resolve().parents[3] / "docs" / "newton-differences.md"
UNLIMITED = 1e10
CONVEX = ("convexHull", "convexDecomposition")


@dataclass(frozen=True)
class Difference:
    """One value that is not the same."""

    element: str
    field: str
    ours: Any
    theirs: Any


@dataclass(frozen=True)
class Known:
    """Differences that are meant: patterns of file, order, element and field, and the page's heading."""

    file: str
    order: str
    element: str
    field: str
    heading: str

    def covers(self, name: str, order: str, difference: Difference) -> bool:
        pairs = (
            (self.file, name),
            (self.order, order),
            (self.element, difference.element),
            (self.field, difference.field),
        )
        return all(fnmatchcase(text, pattern) for pattern, text in pairs)


KNOWN = (
    Known("boxes_fourbar", "*", "*/body_1", "body.floats", "Mechanisms without an articulation root float"),
    Known("pendulum_*", "*", "/Robot/D6", "joint.freedoms", "An axis of a D6 joint without a limit is free"),
    Known("four_link_*", "*", "/Articulation/Body0", "shape", "A body that is geometry itself is seen"),
    Known("revolute_*", "*", "/Articulation/CenterPivot", "shape", "A body that is geometry itself is seen"),
    Known(
        "cartpole_mjc",
        "*m*",
        "*/Physics/slide.mjc:*",
        "attribute.mjc",
        "Solver attributes are kept everywhere",
    ),
    Known("*", "mnp", "*", "shape.gap", "Schema defaults are not written into the model"),
    Known("*", "[pm]*", "*", "scene.iterations", "Schema defaults are not written into the model"),
)


def load(assets: Path, name: str, order: str) -> tuple[Asset, dict[str, Any]]:
    options = ReadOptions(resolvers=ORDERS[order])
    asset = read(assets / "usd" / f"{name}.usda", options, Reporter())
    oracle = assets.parent / "oracles" / "newton" / f"{name}.{order}.json"
    return asset, json.loads(oracle.read_text())


def agree(ours: Any, theirs: Any, scale: float = 0.0) -> bool:
    """Equal to 1e-5 of their size (or of ``scale``, the size of what they are part of)."""
    if isinstance(theirs, str) and theirs in ("inf", "-inf", "nan"):
        theirs = float(theirs)
    if isinstance(ours, bool) or isinstance(theirs, bool | str) or theirs is None or ours is None:
        return bool(ours == theirs)
    ours, theirs = np.asarray(ours, dtype=float), np.asarray(theirs, dtype=float)
    if ours.shape != theirs.shape:
        return False
    size = np.maximum(np.abs(theirs), scale)
    with np.errstate(invalid="ignore"):
        return bool(np.all((ours == theirs) | (np.abs(ours - theirs) <= 1e-5 * size + 1e-9)))


def agree_pose(ours: Pose, theirs: list[float]) -> bool:
    expected = Pose.of(theirs[:3], (theirs[6], *theirs[3:6]))
    return bool(np.all(np.abs(ours.p - expected.p) <= 1e-5)) and expected.is_close(ours, 1e-3)


def compare(asset: Asset, oracle: dict[str, Any], order: str) -> Iterator[Difference]:
    yield from compare_bodies(asset, oracle)
    yield from compare_joints(asset, oracle)
    yield from compare_shapes(asset, oracle)
    yield from compare_articulations(asset, oracle)
    yield from compare_filters(asset, oracle)
    yield from compare_scene(asset, oracle)
    yield from compare_attributes(asset, oracle, order)
    yield from compare_custom(asset, oracle)
    yield from compare_resolved(asset, oracle, order)


def match(ours: dict[str, Any], rows: list[dict[str, Any]], what: str) -> Iterator[Difference]:
    theirs = {path for row in rows for path in row["paths"]}
    for path in sorted(set(ours) - theirs):
        yield Difference(path, what, "there", None)
    for path in sorted(theirs - set(ours)):
        yield Difference(path, what, None, "there")


def compare_bodies(asset: Asset, oracle: dict[str, Any]) -> Iterator[Difference]:
    bodies = {body.path: body for body in asset.bodies}
    yield from match(bodies, oracle["bodies"], "body")
    for row in oracle["bodies"]:
        body = bodies[row["path"]]
        inertial = body.inertial
        if not agree_pose(body.pose, row["q"]):
            yield Difference(body.path, "body.pose", body.pose, row["q"])
        mass = inertial.mass if inertial else 0.0
        com = inertial.com if inertial else np.zeros(3)
        inertia = inertial.inertia if inertial else np.zeros((3, 3))
        rates = [
            rate if rate is not None else np.zeros(3)
            for rate in (body.linear_velocity, body.angular_velocity)
        ]
        for field, value, theirs, scale in (
            ("body.mass", mass, row["mass"], 0.0),
            ("body.com", com, row["com"], 1.0),
            ("body.inertia", inertia, row["inertia"], float(np.abs(row["inertia"]).max())),
            ("body.velocity", np.concatenate(rates), row["qd"], 0.0),
            ("body.kinematic", 2 if body.kinematic else 1, row["flags"], 0.0),
        ):
            if not agree(value, theirs, scale):
                yield Difference(body.path, field, value, theirs)


JOINT_TYPES = {kind: kind.name for kind in JointKind}


def compare_joints(asset: Asset, oracle: dict[str, Any]) -> Iterator[Difference]:
    joints = {joint.path: joint for joint in asset.joints if joint.enabled}
    paths = {body.name: body.path for body in asset.bodies} | {WORLD: None}
    authored = [row for row in oracle["joints"] if row["paths"]]
    yield from match(joints, authored, "joint")
    for row in authored:
        joint = joints[row["path"]]
        for field, value, theirs in (
            ("joint.type", JOINT_TYPES[joint.kind], row["type"]),
            ("joint.parent", paths[joint.parent], row["parent"]),
            ("joint.child", paths[joint.child], row["child"]),
            ("joint.filter", joint.parent != WORLD and not joint.collide, row["filter_parent"]),
            ("joint.freedoms", joint.velocities, len(row["dofs"])),
        ):
            if value != theirs:
                yield Difference(joint.path, field, value, theirs)
        for field, pose, theirs in (
            ("joint.parent_frame", joint.parent_frame, row["X_p"]),
            ("joint.child_frame", joint.child_frame, row["X_c"]),
        ):
            if not agree_pose(pose, theirs):
                yield Difference(joint.path, field, pose, theirs)
        if joint.velocities == len(row["dofs"]):
            yield from compare_dofs(joint, row)
    floating = {row["child"] for row in oracle["joints"] if not row["paths"]}
    roots = {paths[root] for root in build_tree(asset).roots}
    for path in floating ^ roots:
        yield Difference(path, "body.floats", path in roots, path in floating)


def compare_dofs(joint: Joint, row: dict[str, Any]) -> Iterator[Difference]:
    if any(dof.velocities != 1 for dof in joint.dofs):
        return
    for number, (dof, theirs) in enumerate(zip(joint.dofs, row["dofs"], strict=True)):
        values = describe_dof(dof) | {
            "axis": dof.axis,
            "q": 0.0 if dof.position is None else dof.position,
            "target_q": clamp_target(dof),
        }
        expected = theirs | {"q": row["q"][number], "target_q": row["target_q"][number]}
        for field, value in values.items():
            if not agree(value, expected[field], 1.0 if field == "axis" else 0.0):
                yield Difference(joint.path, f"dof.{field}", value, expected[field])


def describe_dof(dof: Dof) -> dict[str, Any]:
    """A freedom with Newton's importer defaults where the model is silent."""

    def say(value: float | None, default: float) -> float:
        return default if value is None else value

    drive = dof.drive
    described = {
        "lower": max(dof.lower - dof.ref, -UNLIMITED),
        "upper": min(dof.upper - dof.ref, UNLIMITED),
        "limit_ke": say(dof.limit_stiffness, 1e4),
        "limit_kd": say(dof.limit_damping, 10.0),
        "armature": say(dof.armature, 0.0),
        "friction": say(dof.friction, 0.0),
        "damping": say(dof.damping, 0.0),
        "velocity_limit": say(dof.velocity_limit, 1e6),
        "effort_limit": say(dof.effort_limit, 1e6),
        "qd": say(dof.velocity, 0.0),
        "ke": 0.0,
        "kd": 0.0,
        "target_qd": 0.0,
        "mode": "NONE",
    }
    if drive is not None:
        gained = "POSITION" if drive.stiffness else "VELOCITY" if drive.damping else "EFFORT"
        described |= {
            "ke": drive.stiffness,
            "kd": drive.damping,
            "target_qd": drive.target_velocity,
            "effort_limit": min(drive.max_force, say(dof.effort_limit, math.inf)),
            "mode": gained,
        }
    return described


def clamp_target(dof: Dof) -> float:
    """Newton moves a target outside the limits to their middle."""
    target = dof.drive.target_position - dof.ref if dof.drive else 0.0
    lower, upper = dof.lower - dof.ref, dof.upper - dof.ref
    return target if lower <= target <= upper else (lower + upper) / 2


def compare_shapes(asset: Asset, oracle: dict[str, Any]) -> Iterator[Difference]:
    """Newton splits a mesh collider that is seen and approximated: the copy has no path of its own."""
    shapes: dict[str, Shape | Site] = {shape.path: shape for shape in asset.shapes}
    shapes |= {site.path: site for site in asset.sites if site.geometry is not None}
    rows = [row for row in oracle["shapes"] if row["paths"]]
    yield from match(shapes, rows, "shape")
    bodies = {body.name: body.path for body in asset.bodies} | {WORLD: None}
    split = {row["path"].removesuffix("_visual") for row in oracle["shapes"] if not row["paths"]}
    for row in rows:
        if row["path"] not in shapes:
            continue
        shape = shapes[row["path"]]
        if not agree_pose(shape.pose, row["transform"]):
            yield Difference(row["path"], "shape.pose", shape.pose, row["transform"])
        visible = isinstance(shape, Site) or (shape.visual and row["path"] not in split)
        for field, value, theirs in (
            ("shape.body", bodies[shape.body], row["body"]),
            ("shape.visible", visible, "VISIBLE" in row["flag_names"]),
            ("shape.site", isinstance(shape, Site), "SITE" in row["flag_names"]),
            *describe_geometry(shape, row, oracle["kw"].get("skip_mesh_approximation", False)),
            *(describe_contact(asset, shape, row) if isinstance(shape, Shape) else ()),
        ):
            if not agree(value, theirs):
                yield Difference(row["path"], field, value, theirs)


def describe_geometry(
    shape: Shape | Site, row: dict[str, Any], skipped: bool
) -> Iterator[tuple[str, Any, Any]]:
    geometry = shape.geometry
    scale = getattr(shape, "scale", None)
    match geometry:
        case Box():
            kind, size = "BOX", geometry.size / 2
        case Sphere():
            kind, size = "SPHERE", (geometry.radius, 0.0, 0.0)
        case Ellipsoid():
            kind, size = "ELLIPSOID", geometry.radii
        case Capsule():
            kind, size = "CAPSULE", (geometry.radius, geometry.length / 2, 0.0)
        case Cylinder():
            kind, size = "CYLINDER", (geometry.radius, geometry.length / 2, 0.0)
        case Cone():
            kind, size = "CONE", (geometry.radius, geometry.length / 2, 0.0)
        case Plane():
            kind, size = "PLANE", (0.0, 0.0, 0.0)
        case _:
            assert isinstance(geometry, Mesh)
            hull = getattr(shape, "approximation", None)
            convex = hull is not None and hull.token in CONVEX and not skipped
            kind, size = "CONVEX_MESH" if convex else "MESH", np.ones(3) if scale is None else scale
            yield "shape.mesh", geometry.data.face_count > 0, True
    yield "shape.type", kind, row["type"]
    yield "shape.scale", size, row["scale"]


def describe_contact(asset: Asset, shape: Shape, row: dict[str, Any]) -> Iterator[tuple[str, Any, Any]]:
    def say(value: float | None, default: float) -> float:
        return default if value is None else value

    yield "shape.collides", shape.collision and shape.enabled, "COLLIDE_SHAPES" in row["flag_names"]
    if not shape.collision:
        return
    found = [m for m in asset.physics_materials if m.name == shape.physics_material]
    material = found[0] if found else None
    own = shape.settings
    surface = material.settings if material else {}
    yield "shape.mu", say(material.dynamic_friction if material else None, 1.0), row["mu"]
    yield (
        "shape.mu_torsional",
        say(material.torsional_friction if material else None, 0.005),
        row["mu_torsional"],
    )
    yield "shape.mu_rolling", say(material.rolling_friction if material else None, 1e-4), row["mu_rolling"]
    yield "shape.restitution", say(material.restitution if material else None, 0.0), row["restitution"]
    yield "shape.ke", say(material.stiffness if material else None, own.get("ke", 2500.0)), row["ke"]
    yield "shape.kd", say(material.damping if material else None, own.get("kd", 100.0)), row["kd"]
    yield "shape.kf", surface.get("kf", own.get("kf", 1000.0)), row["kf"]
    yield "shape.ka", surface.get("ka", own.get("ka", 0.0)), row["ka"]
    yield "shape.margin", say(shape.margin, 0.0), row["margin"]
    yield "shape.gap", say(shape.gap, 0.1), row["gap"]


def compare_articulations(asset: Asset, oracle: dict[str, Any]) -> Iterator[Difference]:
    """Declared ones hold the same joints; the others of Newton are single floating bodies."""
    tree = build_tree(asset)
    loops = {joint.path for joint in tree.loops}
    bodies = {body.path: body.name for body in asset.bodies}
    ours = {}
    for articulation in asset.articulations:
        members = set(list_articulated(asset, articulation, tree))
        ours[articulation.path] = {j.path for j in asset.joints if j.enabled and j.child in members} - loops
    for row in oracle["articulations"]:
        joints = {path for path in row["joints"] if path.startswith("/")}
        if row["path"] in ours:
            found = ours.pop(row["path"])
            if found != joints:
                yield Difference(row["path"], "articulation.joints", sorted(found), sorted(joints))
        elif joints or bodies.get(row["path"]) not in tree.roots:
            yield Difference(row["path"], "articulation", None, row["path"])
    for path in ours:
        yield Difference(path, "articulation", path, None)


def compare_filters(asset: Asset, oracle: dict[str, Any]) -> Iterator[Difference]:
    path = {shape.name: shape.path for shape in asset.shapes}
    ours = {frozenset((path[a], path[b])) for a, b in find_filtered_pairs(asset)}
    theirs = {frozenset(pair) for pair in oracle["filter_pairs"]["pairs"]}
    assert oracle["filter_pairs"]["count"] == len(theirs)
    for pair in ours ^ theirs:
        yield Difference(" ".join(sorted(pair)), "filter", pair in ours, pair in theirs)


def compare_scene(asset: Asset, oracle: dict[str, Any]) -> Iterator[Difference]:
    scene, environment = oracle["scene"], asset.environment
    path = scene["physics_scene_path"] or "/"
    assert scene["linear_unit"] == asset.provenance.info["metersPerUnit"]
    assert scene["mass_unit"] == asset.provenance.info["kilogramsPerUnit"]
    if environment.gravity is None:
        assert scene["physics_scene_path"] is None
        return
    for field, value, theirs in (
        ("scene.gravity", environment.gravity, scene["gravity"]),
        ("scene.timestep", environment.timestep or 1e-3, scene["physics_dt"]),
        (
            "scene.iterations",
            environment.settings.get("max_solver_iterations", -1),
            scene["max_solver_iterations"],
        ),
    ):
        if not agree(value, theirs, 1.0 if field == "scene.gravity" else 0.0):
            yield Difference(path, field, value, theirs)


def compare_attributes(asset: Asset, oracle: dict[str, Any], order: str) -> Iterator[Difference]:
    """Newton writes quaternions x, y, z, w."""
    ours = schema_attrs(asset, ORDERS[order])
    for solver, prims in oracle["schema_attrs"].items():
        mine = ours[solver]
        for prim in sorted(set(mine) | set(prims)):
            left, right = mine.get(prim, {}), prims.get(prim, {})
            for name in sorted(set(left) | set(right)):
                element = f"{prim}.{name}"
                if name not in left or name not in right:
                    yield Difference(element, f"attribute.{solver}", left.get(name), right.get(name))
                elif not agree_value(left[name], right[name]):
                    yield Difference(element, f"attribute.{solver}", left[name], right[name])


def agree_value(ours: Any, theirs: Any) -> bool:
    if isinstance(theirs, list) and len(theirs) == 4 and len(ours) == 4:
        turned = [*ours[1:], ours[0]]
        return agree(turned, theirs, 1.0) or agree(ours, theirs)
    return agree(ours, theirs)


FREQUENCIES = {"BODY": "bodies", "JOINT": "joints", "ARTICULATION": "articulations", "SHAPE": "shapes"}


def compare_custom(asset: Asset, oracle: dict[str, Any]) -> Iterator[Difference]:
    """Attributes declared on the stage; those of Newton's MuJoCo solver are not declared there."""
    ours = {f"{a.namespace}:{a.name}" if a.namespace else a.name: a for a in asset.custom_attributes}
    theirs = {k: v for k, v in oracle["custom_attributes"].items() if v["namespace"] != "mujoco"}
    for key in sorted(set(theirs) - set(ours)):
        yield Difference(key, "custom", None, theirs[key])
    for key, row in theirs.items():
        if key not in ours:
            continue
        attribute = ours[key]
        declared = (attribute.frequency.upper(), attribute.assignment.upper())
        if declared != (row["frequency"], row["assignment"]):
            yield Difference(key, "custom.declared", declared, (row["frequency"], row["assignment"]))
        if not agree_value(attribute.default, row["default"]):
            yield Difference(key, "custom.default", attribute.default, row["default"])
        names = {element.name: element.path for element in getattr(asset, FREQUENCIES[row["frequency"]])}
        found = {names.get(name, name): value for name, value in attribute.values.items()}
        listed = oracle[FREQUENCIES[row["frequency"]]]
        expected = {listed[int(index)]["path"]: read_literal(value) for index, value in row["values"].items()}
        if set(found) != set(expected):
            yield Difference(key, "custom.elements", sorted(found), sorted(expected))
        for path in set(found) & set(expected):
            if not agree_value(found[path], expected[path]):
                yield Difference(key, "custom.value", found[path], expected[path])


def compare_resolved(asset: Asset, oracle: dict[str, Any], order: str) -> Iterator[Difference]:
    """The three layers of the resolvers (authored, importer, schema) where Newton asks without a default."""
    chain = Order(make_resolvers(ORDERS[order]))
    authored: dict[str, dict[str, Any]] = {}
    for _, prim, attribute, extra in asset.extras:
        authored.setdefault(prim, {})[attribute] = extra.value

    def ask(path: str, prim: PrimType, key: str, default: Any = None) -> Any:
        return chain.resolve(authored.get(path, {}), prim, key, default=default).value

    scene = oracle["scene"]
    path = scene["physics_scene_path"]
    if path is not None:
        iterations = ask(path, PrimType.SCENE, "max_solver_iterations")
        steps = ask(path, PrimType.SCENE, "time_steps_per_second", 1000)
        for field, value, theirs in (
            ("resolved.iterations", iterations, scene["max_solver_iterations"]),
            ("resolved.timestep", 1.0 / steps, scene["physics_dt"]),
        ):
            if not agree(value, theirs):
                yield Difference(path, field, value, theirs)
    for row in oracle["shapes"]:
        if row["paths"] and "COLLIDE_SHAPES" in row["flag_names"]:
            gap, margin = (ask(row["path"], PrimType.SHAPE, key) for key in ("gap", "margin"))
            if not (agree(0.1 if gap is None else gap, row["gap"]) and agree(margin, row["margin"])):
                yield Difference(row["path"], "resolved.gap", (gap, margin), (row["gap"], row["margin"]))


def read_literal(value: Any) -> Any:
    return json.loads(value.lower()) if isinstance(value, str) else value


@pytest.mark.parametrize("order", ORDERS)
@pytest.mark.parametrize("name", NAMES)
def test_what_newton_computes(shared_assets, name, order):
    asset, oracle = load(shared_assets, name, order)
    differences = list(compare(asset, oracle, order))
    unexplained = [d for d in differences if not any(known.covers(name, order, d) for known in KNOWN)]
    assert unexplained == []


def test_every_known_difference_occurs_and_is_explained(shared_assets):
    text = DOCUMENT.read_text(encoding="utf-8")
    found = [
        (name, order, difference)
        for name in NAMES
        for order in ORDERS
        for difference in compare(*load(shared_assets, name, order), order)
    ]
    for known in KNOWN:
        assert any(known.covers(*row) for row in found), f"{known} does not occur any more"
        assert f"## {known.heading}\n" in text, known.heading
