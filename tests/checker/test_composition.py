"""Rules ask the composed stage: what overrides, edits, blocks, variants, relocates, offsets and clips make of it."""

from __future__ import annotations

import pytest
from pxr import Sdf, UsdUtils

from simwright.checker.asset import check_file

HEAD = '#usda 1.0\n(\n    defaultPrim = "arm"\n    metersPerUnit = 1\n    upAxis = "Z"\n{more})\n'
ROBOT = (
    HEAD.format(more="")
    + """def Xform "arm"
{
    def Xform "base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        float physics:mass = 2
    }
    def Xform "link" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        float physics:mass = 1
        double3 xformOp:translate = (0, 0, 1)
        quatf xformOp:orient = (1, 0, 0, 0)
        uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient"]
    }
    def PhysicsPrismaticJoint "slide"
    {
        rel physics:body0 = </arm/base>
        rel physics:body1 = </arm/link>
        float physics:lowerLimit = 0
        float physics:upperLimit = 1
    }
}
"""
)


def over(body: str, more: str = "", meta: str = "") -> str:
    """An asset that refers to the robot and says more about it."""
    prim = f'def Xform "arm" (\n    prepend references = @./robot.usda@{meta}\n)\n{{\n{body}\n}}\n'
    return HEAD.format(more=more) + prim


def check(folder, entry: str, **files: str) -> dict[str, list[str]]:
    """Prims by rule."""
    (folder / "robot.usda").write_text(ROBOT)
    for name, text in files.items():
        (folder / f"{name}.usda").write_text(text)
    path = folder / "arm.usda"
    path.write_text(entry)
    return list_found(path)


def list_found(path) -> dict[str, list[str]]:
    result = check_file(path)
    assert not result.failed
    found: dict[str, list[str]] = {}
    for finding in result.findings:
        found.setdefault(finding.kind, []).append(finding.where.prim)
    return found


def test_the_robot_itself_is_sound(tmp_path):
    found = check(tmp_path, over(""))
    assert not {"joint-limits", "mass-no-zero-static", "xform-no-matrix", "isol-physics-spec"} & set(found)


@pytest.mark.parametrize(
    ("body", "rule", "prim"),
    [
        # an override over a reference is what counts
        ('over "slide"\n{\nfloat physics:lowerLimit = 3\n}', "joint-limits", "/arm/slide"),
        ('over "link"\n{\nfloat physics:mass = -1\n}', "mass-no-zero-static", "/arm/link"),
        # a blocked value is not a value
        ('over "slide"\n{\nfloat physics:upperLimit = None\n}', "joint-limits", "/arm/slide"),
        # a list edit takes an API away, or an op into the order
        (
            'over "link" (\ndelete apiSchemas = ["PhysicsRigidBodyAPI"]\n)\n{\n}',
            "mass-guidelines",
            "/arm/link",
        ),
        (
            (
                'over "link"\n{\nmatrix4d xformOp:transform = ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,2,1))\n'
                'uniform token[] xformOpOrder = ["xformOp:transform"]\n}'
            ),
            "xform-no-matrix",
            "/arm/link",
        ),
        # a prim that is switched off is gone for the joint that names it
        ('over "link" (\nactive = false\n)\n{\n}', "isol-physics-spec", "/arm/slide"),
    ],
    ids=["override", "mass", "block", "list edit", "ops", "inactive"],
)
def test_opinions_over_a_reference_count(tmp_path, body, rule, prim):
    found = check(tmp_path, over(body))
    assert prim in found.get(rule, []), found


def test_an_op_that_is_not_in_the_order_does_not_count(tmp_path):
    body = 'over "link"\n{\nmatrix4d xformOp:transform = ((1,0,0,0),(0,1,0,0),(0,0,1,0),(0,0,2,1))\n}'
    assert "/arm/link" not in check(tmp_path, over(body)).get("xform-minimal-stack", [])


def test_a_nested_variant_counts_where_it_is_selected(tmp_path):
    inner = (
        'variantSet "outer" = {{\n"a" (\nvariants = {{\nstring inner = "{choice}"\n}}\n'
        'prepend variantSets = "inner"\n) {{\nvariantSet "inner" = {{\n"bad" {{\nover "slide"\n{{\n'
        'float physics:lowerLimit = 3\n}}\n}}\n"good" {{\n}}\n}}\n}}\n}}\n'
    )
    head = HEAD.format(more="")
    text = head + (
        'def Xform "arm" (\n    prepend references = @./robot.usda@\n    variants = {{\nstring outer = "a"\n}}\n'
        '    prepend variantSets = "outer"\n)\n{{\n' + inner + "}}\n"
    )
    bad = check(tmp_path, text.format(choice="bad"))
    assert bad.get("joint-limits") == ["/arm/slide"]
    assert "joint-limits" not in check(tmp_path, text.format(choice="good"))


def test_a_relocated_joint_is_found_at_its_new_place(tmp_path):
    more = "    relocates = {\n        </arm/slide>: </arm/Joints/rail>\n    }\n"
    body = 'def Scope "Joints"\n{\nover "rail"\n{\nfloat physics:upperLimit = None\n}\n}'
    assert check(tmp_path, over(body, more)).get("joint-limits") == ["/arm/Joints/rail"]


def test_samples_behind_a_layer_offset_are_samples(tmp_path):
    moving = HEAD.format(more="    timeCodesPerSecond = 1\n") + (
        'over "arm"\n{\nover "link"\n{\nfloat3 xformOp:scale.timeSamples = {\n0: (1, 1, 1),\n1: (2, 1, 1)\n}\n'
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient", "xformOp:scale"]\n}\n}\n'
    )
    entry = over("", "    subLayers = [\n@./moving.usda@ (offset = 10; scale = 2)\n]\n")
    assert "/arm/link" in check(tmp_path, entry, moving=moving).get("scale-kinematic-identity", [])


def test_values_of_clips_are_looked_at(tmp_path):
    clip = (
        '#usda 1.0\nover "arm"\n{\nover "link"\n{\n'
        "float3 xformOp:scale.timeSamples = {\n0: (1, 1, 1),\n1: (2, 1, 1)\n}\n}\n}\n"
    )
    body = (
        'over "link"\n{\nfloat3 xformOp:scale\n'
        'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:orient", "xformOp:scale"]\n}'
    )
    clips = (
        "\n    clips = {\ndictionary default = {\nasset[] assetPaths = [@./clip.usda@]\n"
        'string primPath = "/arm"\ndouble2[] active = [(0, 0)]\ndouble2[] times = [(0, 0), (1, 1)]\n}\n}'
    )
    found = check(tmp_path, over(body, meta=clips), clip=clip)
    assert "/arm/link" in found.get("scale-kinematic-identity", [])


def test_prims_inside_an_instance_are_looked_at_once(tmp_path):
    shape = HEAD.format(more="") + (
        'def Xform "arm"\n{\ndef Mesh "m" (\nprepend apiSchemas = ["PhysicsCollisionAPI"]\n)\n{\n'
        "int[] faceVertexCounts = [4]\nint[] faceVertexIndices = [0, 1, 2, 3]\n"
        "point3f[] points = [(0, 0, 0), (1, 0, 0), (1, 1, 0), (0, 1, 0)]\n}\n}\n"
    )
    body = "\n".join(
        f'def "copy{i}" (\ninstanceable = true\nprepend references = @./shape.usda@\n)\n{{\n}}'
        for i in range(3)
    )
    found = check(tmp_path, over(body), shape=shape)
    assert found.get("contact-material-bound") == ["/arm/copy0/m"]


@pytest.mark.parametrize("name", ["arm.usd", "arm.usdc", "arm.usdz"])
def test_the_same_asset_in_other_files(tmp_path, name):
    """A crate called .usd, a crate, a package: the same prims are found."""
    body = 'over "slide"\n{\nfloat physics:upperLimit = None\n}'
    expected = check(tmp_path, over(body))
    path = tmp_path / "other" / name
    path.parent.mkdir()
    if name.endswith("usdz"):
        assert UsdUtils.CreateNewUsdzPackage(Sdf.AssetPath(str(tmp_path / "arm.usda")), str(path))
    else:
        (path.parent / "robot.usda").write_text(ROBOT)
        layer = Sdf.Layer.FindOrOpen(str(tmp_path / "arm.usda"))
        assert layer.Export(str(path), args={"format": "usdc"})
    found = list_found(path)
    assert found["joint-limits"] == expected["joint-limits"] == ["/arm/slide"]
