"""Layer splitting: opinions move, files change, and what is composed stays the same to the last word."""

from __future__ import annotations

from pathlib import Path

import pytest
from composed import describe_file
from pxr import Sdf, Usd

import simwright
from simwright.checker.settings import CheckSettings
from simwright.sanitizer.result import FixResult

SPLIT = ["layer-functional", "entry-interface"]
ROBOT = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    timeCodesPerSecond = 1
    upAxis = "Z"
)

def PhysicsScene "scene"
{
}

def Xform "robot" (
    prepend apiSchemas = ["PhysicsArticulationRootAPI", "GeomModelAPI", "RosContextAPI"]
    assetInfo = {
        string identifier = "acme/robot"
    }
    customData = {
        string note = "kept"
    }
    kind = "component"
    variants = {
        string tool = "none"
    }
    prepend variantSets = "tool"
)
{
    string ros:context:namespace = "robot"
    double3 xformOp:translate = (0, 0, 1)
    uniform token[] xformOpOrder = ["xformOp:translate"]

    def Scope "looks"
    {
        def Material "red"
        {
            token outputs:surface.connect = </robot/looks/red/shader.outputs:surface>

            def Shader "shader"
            {
                uniform token info:id = "UsdPreviewSurface"
                asset inputs:file = @./textures/red.png@
                token outputs:surface
            }
        }

        def Material "rubber" (
            prepend apiSchemas = ["PhysicsMaterialAPI", "NewtonMaterialAPI"]
        )
        {
            float newton:gap = 1
            float physics:staticFriction = 1
        }
    }

    def PhysicsRevoluteJoint "first" (
        prepend apiSchemas = ["PhysicsDriveAPI:angular", "MjcJointAPI"]
    )
    {
        float drive:angular:physics:damping = 3
        double mjc:armature = 0.1
        rel physics:body1 = </robot/link>
        custom double acme_gain = 2
    }

    def Xform "link" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysxRigidBodyAPI"]
        hide_in_stage_window = false
    )
    {
        bool physxRigidBody:disableGravity = 1
        double3 xformOp:translate.timeSamples = {
            0: (0, 0, 0),
            1: (0, 0, 1),
        }
        uniform token[] xformOpOrder = ["xformOp:translate"]

        def Mesh "shape" (
            prepend apiSchemas = ["PhysicsCollisionAPI", "MaterialBindingAPI", "ExtendedPhysicsContactAPI"]
        )
        {
            float ext_physics:contact:margin = 0.1
            float3[] extent = [(0, 0, 0), (1, 1, 1)]
            int[] faceVertexCounts = [3]
            int[] faceVertexIndices = [0, 1, 2]
            rel material:binding = </robot/looks/red>
            rel material:binding:physics = </robot/looks/rubber>
            point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 1)]
            texCoord2f[] primvars:st = [(0, 0), (1, 0), (0, 1)] (
                interpolation = "vertex"
            )

            def GeomSubset "part"
            {
                uniform token elementType = "face"
                int[] indices = [0]
            }
        }

        def Xform "camera_link" (
            prepend apiSchemas = ["RosFrameAPI"]
        )
        {
        }
    }

    def OmniGraph "graph"
    {
        def OmniGraphNode "tick"
        {
            token node:type = "omni.graph.tick"
        }
    }

    variantSet "tool" = {
        "gripper" {
            float mjc:reach = 1

            over "link" (
                prepend apiSchemas = ["NewtonBodyAPI"]
                delete apiSchemas = ["PhysxRigidBodyAPI"]
            )
            {
                float physics:mass = 3
            }

            def Xform "finger" (
                prepend apiSchemas = ["PhysicsRigidBodyAPI"]
            )
            {
                float mjc:gravcomp = 1

                def Mesh "pad"
                {
                    int[] faceVertexCounts = [3]
                    int[] faceVertexIndices = [0, 1, 2]
                    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 1)]
                }
            }
        }
        "none" {
        }
    }
}
"""


def write(folder: Path, **texts: str) -> Path:
    """Layers of a folder; gives the first."""
    folder.mkdir(parents=True, exist_ok=True)
    for name, text in texts.items():
        (folder / f"{name}.usda").write_text(text)
    return folder / f"{next(iter(texts))}.usda"


def fix(source: Path, target: Path, *codes: str) -> FixResult:
    return simwright.fix(source, target, select=codes, unsafe=True)


def list_reasons(result: FixResult) -> list[str]:
    return [note.message for note in result.notes if note.kind == "fix-refused"]


@pytest.fixture
def robot(tmp_path: Path) -> Path:
    source = write(tmp_path / "source", robot=ROBOT)
    (source.parent / "textures").mkdir()
    (source.parent / "textures" / "red.png").write_bytes(b"not looked at")
    return source


def test_one_file_becomes_functional_layers(robot: Path, tmp_path: Path) -> None:
    result = fix(robot, tmp_path / "out", *SPLIT)

    assert result.proven
    assert not [note for note in result.notes if note.kind != "fix-newly-found"]
    assert result.files == [
        "base.usda", "custom.usda", "extended_physics.usda", "geometries.usdc", "instances.usda", "isaac.usda",
        "materials.usda", "mujoco.usda", "newton.usda", "physics.usda", "physx.usda", "robot.usda", "ros.usda",
        "textures/red.png",
    ]  # fmt: skip
    entry = Sdf.Layer.FindOrOpen(result.entry)
    assert list(entry.subLayerPaths) == [
        "./isaac.usda", "./mujoco.usda", "./newton.usda", "./physx.usda", "./custom.usda", "./ros.usda",
        "./extended_physics.usda", "./physics.usda", "./materials.usda", "./instances.usda", "./base.usda",
    ]  # fmt: skip
    assert entry.GetPrimAtPath("/robot").kind == "component"
    assert not entry.GetPrimAtPath("/robot").properties


@pytest.mark.parametrize("tool", ["none", "gripper"])
def test_every_variant_is_composed_as_it_was(robot: Path, tmp_path: Path, tool: str) -> None:
    result = fix(robot, tmp_path / "out", *SPLIT)

    assert describe_file(result.entry, tool=tool) == describe_file(robot, tool=tool)


def test_a_split_asset_is_silent_about_layers(robot: Path, tmp_path: Path) -> None:
    codes = {
        *SPLIT, "layer-separation", "layer-base-kinematic", "layer-base-decomposed", "layer-features-isolated",
        "layer-materials", "layer-physics-file", "layer-ros-file", "layer-geometries-pure", "layer-enc-ascii",
        "proprietary-confined", "isol-decoupled", "isol-physics-no-vendor", "isol-physics-core-only",
        "isol-vendor-layer", "ros-runtime-artifacts", "payload-no-kinematics", "payload-topology-loaded",
    }  # fmt: skip
    result = fix(robot, tmp_path / "out", *codes)

    assert not [finding.message for finding in result.after if finding.kind in codes]
    assert describe_file(result.entry) == describe_file(robot)


def test_links_and_joints_are_there_without_payloads(robot: Path, tmp_path: Path) -> None:
    result = fix(robot, tmp_path / "out", *SPLIT)

    stage = Usd.Stage.Open(result.entry, Usd.Stage.LoadNone)
    assert stage.GetPrimAtPath("/robot/link").HasAPI("PhysicsRigidBodyAPI")
    assert stage.GetPrimAtPath("/robot/first").GetTypeName() == "PhysicsRevoluteJoint"
    assert stage.GetPrimAtPath("/robot/link/shape").GetTypeName() == "Mesh"
    assert stage.GetPrimAtPath("/robot/link/shape").GetAttribute("points").Get() is None


def test_equal_meshes_are_stored_once(tmp_path: Path) -> None:
    mesh = 'def Mesh "{}"\n{{\n    point3f[] points = [(0, 0, {})]\n}}\n'
    shapes = "".join(mesh.format(*pair) for pair in (("a", 0), ("b", 0), ("c", 1)))
    source = write(tmp_path / "in", root=f'#usda 1.0\n{shapes}def PhysicsFixedJoint "joint"\n{{\n}}\n')
    result = fix(source, tmp_path / "out", *SPLIT)

    library = Sdf.Layer.FindOrOpen(str(tmp_path / "out" / "geometries.usdc"))
    assert [prim.name for prim in library.GetPrimAtPath("/geometries").nameChildren] == ["a", "c"]
    assert describe_file(result.entry) == describe_file(source)


def test_a_property_of_two_layers_is_put_together(tmp_path: Path) -> None:
    entry = '#usda 1.0\n(\n    subLayers = [@./strong.usda@, @./weak.usda@]\n)\ndef Xform "a"\n{\n}\n'
    weak = 'over "a"\n{\n    float mjc:gap = 1 (\n        doc = "weak"\n    )\n    float mjc:margin = 2\n}\n'
    strong = 'over "a" (\n    prepend apiSchemas = ["PhysicsMassAPI"]\n)\n{\n    float mjc:gap = 5\n}\n'
    source = write(tmp_path / "in", root=entry, strong=f"#usda 1.0\n{strong}", weak=f"#usda 1.0\n{weak}")
    result = fix(source, tmp_path / "out", "isol-vendor-layer", "proprietary-confined")

    vendor = Sdf.Layer.FindOrOpen(str(tmp_path / "out" / "mujoco.usda"))
    if "mujoco.usda" in result.files:
        assert vendor.GetAttributeAtPath("/a.mjc:gap").default == 5
        assert vendor.GetAttributeAtPath("/a.mjc:gap").documentation == "weak"
    assert describe_file(result.entry) == describe_file(source)


def test_a_name_that_is_taken_is_left_alone(tmp_path: Path) -> None:
    source = write(
        tmp_path / "in",
        robot='#usda 1.0\ndef Xform "robot"\n{\n    def PhysicsFixedJoint "a"\n    {\n    }\n}\n',
    )
    (source.parent / "PHYSICS.usda").write_text("#usda 1.0\n")
    result = simwright.fix(source, select=SPLIT, unsafe=True, in_place=True)

    assert (source.parent / "PHYSICS.usda").read_text() == "#usda 1.0\n"
    assert (source.parent / "robot_physics.usda").exists()
    old = Path(result.backup).rename(source.with_name("old.usda"))
    assert describe_file(source) == describe_file(old)


def test_addresses_outside_the_asset_follow(tmp_path: Path) -> None:
    text = ROBOT.replace("./textures/red.png", "../shared/red.png")
    source = write(tmp_path / "in", robot=text)
    (tmp_path / "shared").mkdir()
    (tmp_path / "shared" / "red.png").write_bytes(b"not looked at")
    fix(source, tmp_path / "deep" / "out", *SPLIT)

    materials = Sdf.Layer.FindOrOpen(str(tmp_path / "deep" / "out" / "materials.usda"))
    named = materials.GetAttributeAtPath("/robot/looks/red/shader.inputs:file").default
    assert named.path == "../../shared/red.png"


def test_a_list_that_replaces_others_is_refused(tmp_path: Path) -> None:
    head = "#usda 1.0\n(\n    subLayers = [@./weak.usda@]\n)\n"
    entry = f'{head}def Cube "a" (\n    apiSchemas = ["MjcJointAPI"]\n)\n{{\n}}\n'
    weak = '#usda 1.0\nover "a" (\n    prepend apiSchemas = ["PhysicsRigidBodyAPI"]\n)\n{\n}\n'
    source = write(tmp_path / "in", root=entry, weak=weak)
    result = fix(source, tmp_path / "out", "proprietary-confined")

    assert any("write prepend" in reason for reason in list_reasons(result))
    assert describe_file(result.entry) == describe_file(source)


def test_a_layer_of_two_stacks_is_refused(tmp_path: Path) -> None:
    head = "#usda 1.0\n(\n    subLayers = [@./part.usda@]\n)\n"
    entry = f'{head}def Xform "b" (\n    references = @./part.usda@</a>\n)\n{{\n}}\n'
    part = '#usda 1.0\ndef Cube "a"\n{\n    float mjc:gap = 1\n}\n'
    source = write(tmp_path / "in", root=entry, part=part)
    result = fix(source, tmp_path / "out", "proprietary-confined")

    assert any("two layer stacks" in reason for reason in list_reasons(result))
    assert describe_file(result.entry) == describe_file(source)


def test_arrays_that_are_said_twice_are_refused(tmp_path: Path) -> None:
    part = '#usda 1.0\ndef Mesh "a"\n{\n    point3f[] points = [(1, 0, 0)]\n}\n'
    entry = (
        '#usda 1.0\ndef PhysicsFixedJoint "j"\n{\n}\ndef Mesh "m" (\n    references = @./part.usda@</a>\n)\n'
        "{\n    point3f[] points = [(2, 0, 0)]\n}\n"
    )
    source = write(tmp_path / "in", root=entry, part=part)
    result = simwright.fix(
        source, tmp_path / "out", select=["entry-interface"], unsafe=True,
        settings=CheckSettings(heavy_elements=0),
    )  # fmt: skip

    assert any("points of /m is said in 2 places" in reason for reason in list_reasons(result))


def test_a_payload_beside_a_reference_keeps_its_rank(tmp_path: Path) -> None:
    entry = '#usda 1.0\ndef Xform "a" (\n    references = @./one.usda@</a>\n    payload = @./two.usda@</a>\n)\n{\n}\n'
    part = '#usda 1.0\ndef Xform "a" (\n    prepend apiSchemas = ["{}"]\n)\n{{\n    float physics:mass = {}\n}}\n'
    one, two = part.format("PhysicsMassAPI", 1), part.format("PhysicsRigidBodyAPI", 2)
    source = write(tmp_path / "in", root=entry, one=one, two=two)
    result = fix(source, tmp_path / "out", "payload-topology-loaded")

    entry_layer = Sdf.Layer.FindOrOpen(result.entry)
    references = entry_layer.GetPrimAtPath("/a").referenceList.explicitItems
    assert [arc.assetPath for arc in references] == ["./one.usda", "./two.usda"]
    assert describe_file(result.entry) == describe_file(source)


@pytest.mark.realworld
def test_real_assets_are_composed_as_they_were(shared_assets: Path, tmp_path: Path) -> None:
    for source in sorted((shared_assets / "usd").glob("*.usda")):
        result = fix(source, tmp_path / source.stem, *SPLIT, "isol-vendor-layer", "layer-separation")
        assert result.proven, source.name
        assert describe_file(result.entry) == describe_file(source), source.name


def test_addresses_follow_to_another_folder(tmp_path: Path) -> None:
    entry = "#usda 1.0\n(\n    subLayers = [@./parts/all.usda@]\n)\n"
    part = (
        '#usda 1.0\ndef Cube "shape"\n{\n}\ndef Material "red"\n{\n    def Shader "image"\n'
        "    {\n        asset inputs:file = @./red.png@\n    }\n}\n"
    )
    source = write(tmp_path / "in", root=entry)
    (source.parent / "parts").mkdir()
    (source.parent / "parts" / "all.usda").write_text(part)
    (source.parent / "parts" / "red.png").write_bytes(b"not looked at")
    fix(source, tmp_path / "out", "layer-materials")

    materials = Sdf.Layer.FindOrOpen(str(tmp_path / "out" / "materials.usda"))
    assert materials.GetAttributeAtPath("/red/image.inputs:file").default.path == "./parts/red.png"


def test_only_mesh_data_becomes_a_payload(tmp_path: Path) -> None:
    mesh = '#usda 1.0\ndef Mesh "m"\n{\n    point3f[] points = [(0, 0, 0), (1, 0, 0)]\n}\n'
    tree = '#usda 1.0\ndef Xform "m" (\n    prepend apiSchemas = ["PhysicsRigidBodyAPI"]\n)\n{\n}\n'
    arcs = '#usda 1.0\ndef Xform "a" (\n    references = [{}]\n)\n{{\n}}\n'
    names = ("@./tree.usda@</m>", "@./mesh.usda@</m>")
    settings = CheckSettings(heavy_elements=1)
    for number, order in enumerate((names, names[::-1])):
        folder = tmp_path / str(number)
        source = write(folder / "in", root=arcs.format(", ".join(order)), mesh=mesh, tree=tree)
        result = simwright.fix(
            source, folder / "out", select=["payload-heavy"], unsafe=True, settings=settings
        )
        layer = Sdf.Layer.FindOrOpen(result.entry)
        payloads = [arc.assetPath for arc in layer.GetPrimAtPath("/a").payloadList.explicitItems]
        assert payloads == ([] if number else ["./mesh.usda"])
        assert bool(list_reasons(result)) == bool(number)


def test_a_link_tree_with_words_of_a_vendor_is_no_vendor_layer(tmp_path: Path) -> None:
    arc = '#usda 1.0\ndef Xform "a" (\n    references = @./base.usda@</a>\n)\n{\n}\n'
    base = (
        '#usda 1.0\ndef Xform "a"\n{\n    float mjc:gap = 1\n    vector3f physics:velocity = (0, 0, 1)\n'
        '    double3 xformOp:translate = (0, 0, 1)\n    uniform token[] xformOpOrder = ["xformOp:translate"]\n}\n'
    )
    source = write(tmp_path / "in", root=arc, base=base)
    result = fix(source, tmp_path / "out", "layer-base-kinematic")

    assert result.files == ["base.usda", "mujoco.usda", "physics.usda", "root.usda"]
    assert not [finding for finding in result.after if finding.kind == "layer-base-kinematic"]
    assert describe_file(result.entry) == describe_file(source)


LIBRARY = """#usda 1.0
(
    defaultPrim = "arm"
)
def Xform "arm"
{
    def Xform "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {
        float physics:mass = 2
        def PhysicsRevoluteJoint "elbow"
        {
            rel physics:body0 = </arm/base>
            rel physics:body1 = </arm/base/hand>
            float physics:lowerLimit = -90
            float physics:upperLimit = 90
        }
        def Xform "hand" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
        {
            float physics:mass = 1
            def Sphere "shape"
            {
                color3f[] primvars:displayColor = [(1, 0, 0)]
            }
        }
    }
}
"""
OVERRIDES = """#usda 1.0
(
    defaultPrim = "arm"
)
def Xform "arm" (
    prepend references = @./library.usda@
)
{
    over "base"
    {
        over "elbow"
        {
            float physics:upperLimit = 45
        }
        over "hand"%s
        {
            over "shape"
            {
                color3f[] primvars:displayColor = [(0, 1, 0)]
            }
        }
    }
}
"""


def fix_overrides(tmp_path: Path, fields: str = "") -> tuple[FixResult, Usd.Stage]:
    (tmp_path / "library.usda").write_text(LIBRARY)
    (tmp_path / "arm.usda").write_text(OVERRIDES % fields)
    result = simwright.fix(tmp_path / "arm.usda", tmp_path / "out", unsafe=True)
    return result, Usd.Stage.Open(result.entry)


def test_overrides_over_a_reference_survive(tmp_path: Path) -> None:
    """An ``over`` that has properties only is no definition: it was left out when layers were divided."""
    result, stage = fix_overrides(tmp_path)
    assert not [note for note in result.notes if note.kind == "fix-undone"]
    assert stage.GetAttributeAtPath("/arm/base/elbow.physics:upperLimit").Get() == 45
    assert stage.GetAttributeAtPath("/arm/base/hand/shape.primvars:displayColor").Get()[0] == (0, 1, 0)


def test_a_schema_that_a_stronger_layer_deletes_is_applied(tmp_path: Path) -> None:
    result, stage = fix_overrides(tmp_path, '(delete apiSchemas = ["PhysicsMassAPI"])')
    assert not [note for note in result.notes if note.kind == "fix-unstable"]
    assert "PhysicsMassAPI" in stage.GetPrimAtPath("/arm/base/hand").GetAppliedSchemas()
    assert stage.GetAttributeAtPath("/arm/base/hand.physics:mass").Get() == 1


def test_a_layer_that_an_expression_names_is_divided(tmp_path: Path) -> None:
    (tmp_path / "library.usda").write_text(LIBRARY)
    variables = 'expressionVariables = {\n        string LIB = "library"\n    }'
    text = (OVERRIDES % "").replace('defaultPrim = "arm"', f'defaultPrim = "arm"\n    {variables}')
    (tmp_path / "arm.usda").write_text(text.replace("@./library.usda@", '@`"./${LIB}.usda"`@'))
    result = simwright.fix(tmp_path / "arm.usda", tmp_path / "out", unsafe=True)
    assert not [finding for finding in result.after if finding.kind == "layer-features-isolated"]
    stage = Usd.Stage.Open(result.entry)
    assert stage.GetAttributeAtPath("/arm/base/elbow.physics:upperLimit").Get() == 45
