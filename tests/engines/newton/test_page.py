# SPDX-License-Identifier: Apache-2.0
"""Newton's page about USD import: its blocks of code and its tables, taken from the text and run as they stand there.

The page's stages are fragments: joints without bodies, of a type that no schema has, ``RevoluteJoint``.  Each is put
into a file unchanged; a stronger layer above it says what is missing.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import textwrap
from pathlib import Path

import numpy as np
import pytest

import simwright
from simwright.engines.newton import add_usd, install, uninstall

pytestmark = [pytest.mark.judge("newton"), pytest.mark.realworld]

HEAD = '#usda 1.0\n( metersPerUnit = 1\n upAxis = "Z"\n subLayers = [@block.usda@] )\n'
BODY = 'prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]'
WEIGHT = "float physics:mass = 1\nfloat3 physics:diagonalInertia = (1, 1, 1)"
ELBOW = (
    HEAD
    + f"""
def Xform "robot" ( prepend apiSchemas = ["PhysicsArticulationRootAPI"] ) {{
    def Xform "upper" ( {BODY} ) {{ {WEIGHT} }}
    def Xform "lower" ( {BODY} ) {{ {WEIGHT} }}
}}
def PhysicsRevoluteJoint "NAME" {{
    rel physics:body0 = </robot/upper>
    rel physics:body1 = </robot/lower>
}}
"""
)
TETRAHEDRON = """
    uniform token subdivisionScheme = "none"
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    int[] faceVertexCounts = [3, 3, 3, 3]
    int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
"""


@pytest.fixture(scope="module")
def page(request) -> str:
    """The text of the page."""
    folder = Path(request.config.rootpath).parent / "shared" / "seeds"
    found = [
        path for path in sorted(folder.glob("*.txt")) if "Schema Resolver System#" in path.read_text()[:80]
    ]
    assert found, "the page lies beside the shared assets"
    return found[0].read_text(encoding="utf-8")


@pytest.fixture
def cut(page):
    """The part of the page between two texts, without either."""

    def between(after, before):
        _, found, rest = page.partition(after)
        assert found, after
        part, found, _ = rest.partition(before)
        assert found, before
        return part.strip("\n") + "\n"

    return between


@pytest.fixture
def table(cut):
    """The rows of a table of the page: its cells stand below each other."""

    def rows(title, before, columns):
        cells = [line.strip() for line in cut(f"\n{title}\n", before).splitlines() if line.strip()]
        assert len(cells) % columns == 0, cells
        return [tuple(cells[n : n + columns]) for n in range(columns, len(cells), columns)]

    return rows


@pytest.fixture
def folder(tmp_path, monkeypatch):
    """The current folder of the page's programs."""
    monkeypatch.chdir(tmp_path)
    return tmp_path


@pytest.fixture
def run(newton):
    """A program of the page, with our importer in Newton; gives its variables."""

    def execute(code):
        install()
        try:
            found = {}
            exec(compile(code, "page", "exec"), found)
            return found
        finally:
            uninstall()

    return execute


def write(path, text):
    """A stage, with the line breaks between braces that the format asks for."""
    path.write_text(text.replace("{", "{\n").replace("}", "\n}\n"))


def first_armature(builder):
    return builder.joint_armature[builder.joint_qd_start[-1]]


def test_the_stage_with_physx_attributes(newton, cut, folder):
    (folder / "block.usda").write_text(
        cut("applies the transformations shown in the table above during import:", "Priority-Based")
    )
    text = ELBOW.replace("NAME", "elbow_joint") + f'over "collision_shape" {{ {TETRAHEDRON} }}\n'
    write(folder / "stage.usda", text)
    builder = newton.ModelBuilder()
    result = add_usd(builder, "stage.usda", schema_resolvers=["physx", "newton"])
    assert result["max_solver_iterations"] == 16
    joint = result["path_joint_map"]["/elbow_joint"]
    dof = builder.joint_qd_start[joint]
    assert builder.joint_armature[dof] == pytest.approx(0.1)
    # authored per degree; the builder has radians
    assert np.deg2rad(builder.joint_limit_ke[dof]) == pytest.approx(1000.0)
    assert np.deg2rad(builder.joint_limit_kd[dof]) == pytest.approx(10.0)
    # the page's comment is of an older version: the state is in degrees
    assert builder.joint_q[builder.joint_q_start[joint]] == pytest.approx(np.deg2rad(1.57))
    shape = result["path_shape_map"]["/collision_shape"]
    assert builder.shape_gap[shape] == pytest.approx(0.04)


def test_a_type_that_is_none_is_said_with_the_one_that_is_meant(newton, cut, folder):
    block = cut("authored for different solvers:", "By changing the order")
    (folder / "block.usda").write_text("#usda 1.0\n" + block)
    builder = newton.ModelBuilder()
    result = add_usd(builder, "block.usda")
    assert builder.joint_count == 0
    (said,) = [found for found in result["findings"] if found.kind == "usd-type-misnamed"]
    assert said.data["type"] == "RevoluteJoint"
    assert "PhysicsRevoluteJoint" in str(said)


def test_three_orders_of_resolvers(cut, folder, run):
    (folder / "block.usda").write_text(
        "#usda 1.0\n" + cut("authored for different solvers:", "By changing the order")
    )
    write(folder / "conflicting_asset.usda", ELBOW.replace("NAME", "shoulder_joint"))
    code = cut("different results based on resolver priority:", "Solver-Specific Attribute Collection#")
    found = run(code)
    names = re.findall(r"# Result: Uses (\w+):armature = ([\d.]+)", code)
    values = [first_armature(found[name]) for name in ("builder", "builder2", "builder3")]
    assert values == [pytest.approx(float(value)) for _, value in names]
    assert len(values) == 3
    for name in ("result_newton", "result_physx", "result_mjc"):
        assert "/shoulder_joint" in found[name]["path_joint_map"]


def test_collected_attributes_are_found_as_the_page_finds_them(cut, folder, run, capsys):
    (folder / "block.usda").write_text(
        cut("applies the transformations shown in the table above during import:", "Priority-Based")
    )
    write(folder / "physx_humanoid.usda", ELBOW.replace("NAME", "elbow_joint"))
    run(cut("can be accessed by solver namespace:", "Custom Attributes from USD#"))
    assert capsys.readouterr().out.startswith("PhysX joint /elbow_joint has armature: 0.1")


def test_the_tables_of_remapped_attributes(newton, table, folder):
    physx = table("PhysX Attribute Remapping#", "Newton articulation remapping:", 3)
    own = table("Newton Articulation Remapping#", "The parser resolves", 3)
    mujoco = table("MuJoCo Attribute Remapping#", "Example USD with remapped", 3)
    assert [row[0] for row in (*physx, *own, *mujoco)] == [
        "physxJoint:armature", "physxArticulation:enabledSelfCollisions", "newton:selfCollisionEnabled",
        "mjc:armature", "mjc:margin, mjc:gap",
    ]  # fmt: skip
    joint, articulation = "float {} = 0.25", "bool {} = false"
    for name, solver in (("physxJoint:armature", "physx"), ("mjc:armature", "mjc")):
        builder = import_text(newton, folder, joint.format(name), "", solver)[0]
        assert first_armature(builder) == pytest.approx(0.25)
    for name, solver in (
        ("physxArticulation:enabledSelfCollisions", "physx"),
        ("newton:selfCollisionEnabled", "newton"),
    ):
        assert (
            len(
                import_text(newton, folder, "", articulation.format(name), solver)[
                    0
                ].shape_collision_filter_pairs
            )
            == 1
        )
        # a solver that is not in the list decides nothing; the caller's word counts where nobody authors one
        other = "newton" if solver == "physx" else "physx"
        both = import_text(newton, folder, "", articulation.format(name), other)[
            0
        ].shape_collision_filter_pairs
        asked = import_text(newton, folder, "", "", solver, enable_self_collisions=False)[
            0
        ].shape_collision_filter_pairs
        assert (len(both), len(asked)) == (0, 1)
    shape = "float mjc:margin = 0.3\nfloat mjc:gap = 0.1"
    builder, result = import_text(newton, folder, "", "", "mjc", shape=shape, legacy_margin_gap=True)
    box = result["path_shape_map"]["/robot/upper/box"]
    # the row is of MuJoCo before 3.9, which the word asks for; since then the margin is the margin
    assert builder.shape_margin[box] == pytest.approx(0.2)
    builder, result = import_text(newton, folder, "", "", "mjc", shape=shape)
    assert builder.shape_margin[result["path_shape_map"]["/robot/upper/box"]] == pytest.approx(0.3)


def import_text(newton, folder, joint, articulation, solver, shape="", **words):
    """A builder with an arm of two boxes that never touch by themselves, and the result."""
    (folder / "block.usda").write_text("#usda 1.0\n")
    box = f'def Cube "box" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {{ {shape} }}'
    text = ELBOW.replace("NAME", "elbow").replace(WEIGHT, f"{WEIGHT}\n{box}")
    text = text.replace(
        "rel physics:body0", f"{joint}\nbool physics:collisionEnabled = true\nrel physics:body0"
    )
    text = text.replace(
        '"PhysicsArticulationRootAPI"] ) {', f'"PhysicsArticulationRootAPI"] ) {{ {articulation}'
    )
    write(folder / "arm.usda", text)
    builder = newton.ModelBuilder()
    return builder, add_usd(builder, "arm.usda", schema_resolvers=[solver], **words)


def test_the_table_of_namespaces(newton, table, folder):
    rows = table("Solver-Specific Namespaces#", "Accessing Collected", 3)
    solvers = {"PhysX": "physx", "MuJoCo": "mjc", "Newton": "newton"}
    assert [row[0] for row in rows] == list(solvers)
    for engine, prefixes, examples in rows:
        names = [name.strip() for name in examples.split(",")]
        names += [f"{prefix.strip()}:ofItsOwn" for prefix in prefixes.split(",")]
        lines = "\n".join(f"custom float {name} = 0.5" for name in names)
        result = import_text(newton, folder, lines, "", solvers[engine])[1]
        assert result["schema_attrs"][solvers[engine]]["/elbow"].keys() >= set(names)


def test_the_stage_with_custom_attributes(cut, folder, run):
    block = cut("assigned with specific values on individual prims:", "Note\n")
    caption, _, stage = block.partition("\n")
    assert caption.strip() == "# robot_with_custom_attrs.usda"  # the name of the file, not a part of it
    (folder / "block.usda").write_text(stage)
    write(
        folder / "robot_with_custom_attrs.usda",
        HEAD
        + f"""
over "robot_body" ( prepend apiSchemas = ["PhysicsMassAPI"] ) {{ {WEIGHT} }}
def PhysicsRevoluteJoint "joint1" {{
    rel physics:body0 = </robot_articulation/base>
    rel physics:body1 = </robot_body>
}}
over "robot_articulation" {{ def Xform "base" ( {BODY} ) {{ {WEIGHT} }} }}
""",
    )
    found = run(cut("how to import and access these attributes:", "Namespace Isolation:"))
    bodies, joints = found["result"]["path_body_map"], found["result"]["path_joint_map"]
    body, joint = bodies["/robot_body"], joints["/joint1"]
    assert found["body_mass_scale"][body] == pytest.approx(1.5)
    assert found["body_mass_scale"][1 - body] == 1.0
    assert found["local_markers"][body].tolist() == pytest.approx([0.1, 0.2, 0.3])
    assert found["sensor_flags"].tolist() == [number == body for number in (0, 1)]
    assert found["target_positions"][body].tolist() == [1.0, 2.0, 3.0]
    assert found["namespaced_mass"][body] == 2.5
    assert found["gear_ratios"][joint] == 2.25
    assert found["pid_gains"][joint].tolist() == [100.0, 10.0]
    assert 150.0 in found["arctic_stiff"].tolist()


VALUES = {
    "float": ("0.5", 0.5),
    "bool": ("true", True),
    "int": ("-7", -7),
    "float2": ("(1, 2)", [1.0, 2.0]),
    "float3": ("(1, 2, 3)", [1.0, 2.0, 3.0]),
    "float4": ("(1, 2, 3, 4)", [1.0, 2.0, 3.0, 4.0]),
    # the real part comes first in USD, last in Warp
    "quatf": ("(0, 1, 0, 0)", [1.0, 0.0, 0.0, 0.0]),
    "quatd": ("(0, 0, 0, 1)", [0.0, 0.0, 1.0, 0.0]),
}
PLACES = {
    "body": "/robot/upper",
    "shape": "/robot/upper/box",
    "joint": "/elbow",
    "joint_dof": "/elbow",
    "joint_coord": "/elbow",
    "articulation": "/robot",
}


def test_the_table_of_types_the_assignments_and_the_frequencies(newton, cut, table, folder):
    """Every type with every assignment and every frequency of the declaration format, by Newton's own arrays."""
    import warp

    types = table("Custom Attribute Data Types#", "Assignment Types:", 3)
    kinds = {name: getattr(warp, row[1].removeprefix("wp.")) for row in types for name in row[0].split("/")}
    assert kinds.keys() == VALUES.keys()
    form = cut("Declaration Format:", "Where:")
    assignments = re.search(r'assignment = "([^"]*)"', form)[1].split("|")
    frequencies = re.search(r'frequency = "([^"]*)"', form)[1].split("|")
    assert assignments == [row[0] for row in table("Custom Attribute Assignments#", "USD Authoring with", 3)]
    assert frequencies == list(PLACES)
    declared, said = [], {place: [] for place in PLACES.values()}
    for kind, (value, _) in VALUES.items():
        for assignment in assignments:
            for frequency in frequencies:
                name = f"ns:{kind}_{assignment}_{frequency}"
                declared.append(
                    re.sub(r"<type> newton:\S+ = \S+", f"{kind} newton:{name} = {neutral(value)}", form)
                    .replace("|".join(assignments), assignment)
                    .replace("|".join(frequencies), frequency)
                )
                said[PLACES[frequency]].append(f"custom {kind} newton:{name} = {value}")
    scene = f'def PhysicsScene "scene" {{\n{"".join(declared)}\n}}\n'
    lines = {place: "\n".join(texts) for place, texts in said.items()}
    (folder / "block.usda").write_text("#usda 1.0\n" + scene)
    box = f'def Cube "box" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {{ {lines["/robot/upper/box"]} }}'
    text = ELBOW.replace("NAME", "elbow").replace(WEIGHT, f"{WEIGHT}\n{lines['/robot/upper']}\n{box}", 1)
    text = text.replace(
        '"PhysicsArticulationRootAPI"] ) {', f'"PhysicsArticulationRootAPI"] ) {{ {lines["/robot"]}'
    )
    text = text.replace("rel physics:body0", f"{lines['/elbow']}\nrel physics:body0")
    write(folder / "typed.usda", text)
    builder = newton.ModelBuilder()
    add_usd(builder, "typed.usda")
    for kind, (_, expected) in VALUES.items():
        for assignment in assignments:
            for frequency in frequencies:
                attribute = builder.custom_attributes[f"ns:{kind}_{assignment}_{frequency}"]
                assert attribute.dtype is kinds[kind]
                assert attribute.assignment.name.lower() == assignment
                assert attribute.frequency.name.lower() == frequency
                (value,) = attribute.values.values()
                value = list(value) if hasattr(value, "__len__") else value
                assert value == (pytest.approx(expected) if isinstance(expected, list) else expected), kind
    model = builder.finalize(device="cpu")
    assert model.ns.int_model_body.numpy().tolist() == [-7, 0]
    assert model.state().ns.quatf_state_joint.numpy()[-1].tolist() == [1.0, 0.0, 0.0, 0.0]
    assert model.control().ns.float4_control_shape.numpy()[0].tolist() == [1.0, 2.0, 3.0, 4.0]


def neutral(value):
    """A default of the same form that is not the value."""
    if value == "true":
        return "false"
    if value in (VALUES["quatf"][0], VALUES["quatd"][0]):
        return "(1, 0, 0, 0)"
    return re.sub(r"[\d.-]+", "0", value)


@pytest.mark.parametrize("option", ["A", "B"])
def test_the_two_ways_to_keep_openusd_on_one_thread(cut, tmp_path, option):
    """Both have their effect with our importer too, which a body of many meshes does not trouble."""
    code = (
        cut("(before any USD import):", "Option B")
        if option == "A"
        else cut("(only when the env var is not set):", "See also")
    )
    meshes = "\n".join(
        f'def Mesh "m{number}" ( prepend apiSchemas = ["PhysicsCollisionAPI"] ) {{ {TETRAHEDRON} }}'
        for number in range(40)
    )
    text = '#usda 1.0\n( metersPerUnit = 1\n upAxis = "Z" )\n'
    text += f'def Xform "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {{ {meshes} }}\n'
    write(tmp_path / "rigid_body_with_many_mesh_colliders.usda", text)
    # the one line that a program gets: after Newton's import, which loads OpenUSD
    line = "from newton import ModelBuilder\n"
    assert code.count(line) == 1
    code = code.replace(line, line + "import simwright.engines.newton\nsimwright.engines.newton.install()\n")
    last = textwrap.dedent("""
        from pxr import Work
        assert isinstance(result, simwright.engines.newton.UsdImport)
        print(Work.GetConcurrencyLimit(), builder.body_count, builder.shape_count)
    """)
    done = subprocess.run(
        [sys.executable, "-W", "ignore", "-c", code + last],
        cwd=tmp_path,
        env=os.environ | {"PYTHONPATH": str(Path(simwright.__file__).parents[1])},
        capture_output=True,
        text=True,
        check=False,
    )
    assert done.returncode == 0, done.stderr
    assert done.stdout.split()[-3:] == ["1", "1", "40"]


RULES = """
def Xform "said" ( BODY ) {
    float physics:mass = 3
    float3 physics:diagonalInertia = (1, 2, 2.5)
    point3f physics:centerOfMass = (0.1, 0, 0)
    def Cube "box" ( COLLIDER ) { }
}
def Xform "weighed" ( BODY ) {
    float physics:mass = 6
    def Cube "box" ( COLLIDER ) { double size = 1 }
}
def Xform "of_material" ( BODY ) {
    def Cube "box" ( prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI"] ) {
        rel material:binding:physics = </heavy>
        double size = 1
    }
}
def Xform "of_collider" ( BODY ) {
    def Cube "box" ( prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMassAPI"] ) {
        float physics:mass = 5
        float3 physics:diagonalInertia = (1, 1, 1)
        point3f physics:centerOfMass = (0, 0, 0)
        quatf physics:principalAxes = (1, 0, 0, 0)
    }
}
def Xform "empty" ( BODY ) {
    def Cube "flat" ( COLLIDER ) { double size = 0 }
}
def Material "heavy" ( prepend apiSchemas = ["PhysicsMaterialAPI"] ) { float physics:density = 12 }
"""


def test_the_precedence_of_mass_and_inertia(newton, cut, folder, import_theirs):
    """The numbered list of the page, rule by rule."""
    rules = cut("Mass and Inertia Precedence#", "Tip\n")
    assert re.findall(r"^ +(\d)\. ", rules, re.MULTILINE) == ["1", "2", "3", "1", "2"]
    assert "inverse mass is set to 0" in rules
    text = RULES.replace("BODY", BODY).replace("COLLIDER", 'prepend apiSchemas = ["PhysicsCollisionAPI"]')
    write(folder / "rules.usda", HEAD.replace(" subLayers = [@block.usda@]", "") + text)
    builder = newton.ModelBuilder()
    with pytest.warns(UserWarning, match="Skipping collider"):
        bodies = add_usd(builder, "rules.usda")["path_body_map"]
    theirs = import_theirs("rules.usda")
    expected = {
        "said": (3.0, (1.0, 2.0, 2.5)),
        "weighed": (6.0, (1.0, 1.0, 1.0)),
        "of_material": (12.0, (2.0, 2.0, 2.0)),
        "of_collider": (5.0, (1.0, 1.0, 1.0)),
        "empty": (0.0, (0.0, 0.0, 0.0)),
    }
    for name, (mass, moments) in expected.items():
        index = bodies[f"/{name}"]
        other = theirs.body_label.index(f"/{name}")
        assert builder.body_mass[index] == pytest.approx(mass) == pytest.approx(theirs.body_mass[other])
        inertia = np.array(builder.body_inertia[index]).reshape(3, 3)
        np.testing.assert_allclose(inertia, np.diag(moments), atol=1e-5, err_msg=name)
        np.testing.assert_allclose(inertia, np.array(theirs.body_inertia[other]).reshape(3, 3), atol=1e-5)
        assert builder.body_inv_mass[index] == pytest.approx(1.0 / mass if mass else 0.0)
    assert list(builder.body_com[bodies["/said"]]) == pytest.approx([0.1, 0.0, 0.0])


SECTIONS = (
    "USD Parsing and Schema Resolver System", "Understanding USD and UsdPhysics", "Newton's USD Import System",
    "Mass and Inertia Precedence", "Schema Resolvers", "Solver Attribute Remapping", "Priority-Based Resolution",
    "Solver-Specific Attribute Collection", "Custom Attributes from USD", "Limitations",
)  # fmt: skip
TABLES = (
    "PhysX Attribute Remapping", "Newton Articulation Remapping", "MuJoCo Attribute Remapping",
    "Solver-Specific Namespaces", "Custom Attribute Data Types", "Custom Attribute Assignments",
)  # fmt: skip
PARTS = {"builder.add_usd(": 5, "builder2.add_usd(": 1, "builder3.add_usd(": 1, "#usda 1.0": 2}


def test_no_table_and_no_block_of_the_page_is_without_a_test(page):
    """What a later text of the page adds is noticed here; each of these is taken from it by a test of this file."""
    assert set(re.findall(r"^(\S.*)#$", page.replace("\u2019", "'"), re.MULTILINE)) == {*SECTIONS, *TABLES}
    tests = Path(__file__).read_text(encoding="utf-8").partition("SECTIONS = (")[0]
    for title in TABLES:
        assert f'"{title}#"' in tests, title
    for part, count in PARTS.items():
        assert page.count(part) == count, part
