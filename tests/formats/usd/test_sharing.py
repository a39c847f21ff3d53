"""What is read once for many prims: opinions, meshes, moments.  Nothing may leak from one prim to another."""

from __future__ import annotations

import resource
from pathlib import Path

import numpy as np
import pytest
from pxr import Sdf, Usd

from simwright.core.collector import pause_collector
from simwright.core.diag import Reporter
from simwright.formats.format import ReadOptions
from simwright.formats.usd import meshes
from simwright.formats.usd.read import read_stage

HEAD = '#usda 1.0\n(\n    defaultPrim = "R"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
TETRAHEDRON = """
    point3f[] points = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1)]
    int[] faceVertexCounts = [3, 3, 3, 3]
    int[] faceVertexIndices = [0, 2, 1, 0, 1, 3, 0, 3, 2, 1, 2, 3]
    uniform token subdivisionScheme = "none"
"""
PENDULUM = f"""
def Xform "R"
{{
    def Xform "base" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])
    {{
        float physics:mass = 2
        vector3f physics:velocity = (1, 0, 0)
        def Cube "box" (prepend apiSchemas = ["PhysicsCollisionAPI"])
        {{
            double size = 0.5
        }}
    }}
    def Xform "bob" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])
    {{
        custom float newton:extra = 4
        def Mesh "hull" (prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])
        {{
            {TETRAHEDRON}
        }}
    }}
    def PhysicsRevoluteJoint "hinge"
    {{
        rel physics:body0 = </R/base>
        rel physics:body1 = </R/bob>
        float physics:upperLimit = 90
        float newton:armature = 0.5
    }}
}}
"""


def read_file(path: Path, time: float | None = None):
    reporter = Reporter()
    return read_stage(Usd.Stage.Open(str(path)), ReadOptions(time=time), reporter), reporter


@pytest.fixture
def three(tmp_path):
    """Three pendulums by reference; the last one is heavier, has another limit and an asleep bob."""
    (tmp_path / "pendulum.usda").write_text(HEAD + PENDULUM)
    copies = "".join(
        f'def Xform "p{i}" (references = @pendulum.usda@)\n{{\n'
        f"    double3 xformOp:translate = ({i}, 0, 0)\n"
        '    uniform token[] xformOpOrder = ["xformOp:translate"]\n'
        + (
            'over "base"\n{\n    float physics:mass = 7\n    vector3f physics:velocity = None\n}\n'
            'over "hinge"\n{\n    float physics:upperLimit = 45\n    float newton:armature = None\n}\n'
            if i == 2
            else ""
        )
        + "}\n"
        for i in range(3)
    )
    path = tmp_path / "three.usda"
    path.write_text(f'{HEAD}def Xform "R"\n{{\n{copies}}}\n')
    return path


def test_copies_share_opinions_but_not_places_targets_or_overrides(three):
    asset, _ = read_file(three)
    assert [body.pose.p[0] for body in asset.bodies] == [0, 0, 1, 1, 2, 2]
    assert [body.inertial.mass for body in asset.bodies[::2]] == [2, 2, 7]
    assert [body.linear_velocity is None for body in asset.bodies[::2]] == [False, False, True]
    assert [(j.parent, j.child) for j in asset.joints] == [(f"p{i}_base", f"p{i}_bob") for i in range(3)]
    limits = [joint.dofs[0].upper for joint in asset.joints]
    np.testing.assert_allclose(limits, np.radians([90, 90, 45]))
    assert [joint.dofs[0].armature for joint in asset.joints] == [0.5, 0.5, None]
    for i in range(3):
        extra = asset.extras.table["newton"][f"/R/p{i}/bob"]["newton:extra"]
        assert (extra.value, extra.source.prim) == (4, f"/R/p{i}/bob")
    assert asset.shapes[0].geometry is asset.shapes[2].geometry


def test_meshes_of_copies_are_one_and_measured_without_being_loaded(three, monkeypatch):
    loaded = []
    load = meshes._load_topology
    monkeypatch.setattr(meshes, "_load_topology", lambda *a: loaded.append(a) or load(*a))
    asset, _ = read_file(three)
    hulls = [shape.geometry for shape in asset.shapes if shape.geometry.kind == "mesh"]
    assert len(hulls) == 3
    assert len({id(mesh) for mesh in hulls}) == 1
    assert len(loaded) == 1
    assert not hulls[0].is_loaded
    for body in asset.bodies[1::2]:
        assert body.inertial.mass == pytest.approx(1000 / 6)
    assert hulls[0].data.face_count == 4


def test_a_mesh_with_an_override_is_its_own(three):
    stage = Usd.Stage.Open(str(three))
    points = [(0, 0, 0), (2, 0, 0), (0, 1, 0), (0, 0, 1)]
    stage.GetPrimAtPath("/R/p1/bob/hull").GetAttribute("points").Set(points)
    asset = read_stage(stage, ReadOptions(), Reporter())
    masses = [body.inertial.mass for body in asset.bodies[1::2]]
    assert masses == pytest.approx([1000 / 6, 2000 / 6, 1000 / 6])


def test_equal_meshes_of_different_prims_are_measured_once(read, monkeypatch):
    counts = []
    from simwright.formats.usd import mass

    measure = mass.meshes_moments
    monkeypatch.setattr(mass, "meshes_moments", lambda m: counts.append(len(m)) or measure(m))
    mesh = 'def Mesh "{name}" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {{' + TETRAHEDRON + "}}"
    parts = "".join(mesh.format(name=name) for name in ("a", "b", "c"))
    reading = read(f'def Xform "R" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) {{ {parts} }}')
    assert counts == [1]
    assert reading.asset.bodies[0].inertial.mass == pytest.approx(500)


def test_a_broken_mesh_is_reported_once(read):
    mesh = TETRAHEDRON.replace("1, 2, 3]", "1, 2, 9]")
    reading = read(
        'def Xform "R" (prepend apiSchemas = ["PhysicsRigidBodyAPI"]) { def Mesh "m" '
        f'(prepend apiSchemas = ["PhysicsCollisionAPI"]) {{ {mesh} }} }}'
    )
    assert reading.asset.shapes[0].geometry.data.face_count == 0
    assert [d.kind for d in reading.reporter].count("usd-mesh-topology") == 1


@pytest.mark.parametrize("counts", ["[-1, 7]", "[4, 2]"])
def test_counts_that_add_up_to_triangles_are_looked_at(read, counts):
    reading = read(
        f'def Mesh "R" {{ point3f[] points = [(0,0,0), (1,0,0), (0,1,0), (1,1,0)]\n'
        f"int[] faceVertexCounts = {counts}\n int[] faceVertexIndices = [0, 1, 3, 2, 0, 1] }}"
    )
    data = reading.asset.shapes[0].geometry.data
    assert data.face_count == (0 if "-1" in counts else 2)


def test_values_of_clips_count_though_no_layer_of_the_prim_has_them(tmp_path):
    clip = '#usda 1.0\ndef Xform "R"\n{\n    vector3f physics:velocity.timeSamples = { 0: (0, 3, 0) }\n}\n'
    manifest = '#usda 1.0\nover "R"\n{\n    vector3f physics:velocity\n}\n'
    (tmp_path / "clip.usda").write_text(clip)
    (tmp_path / "manifest.usda").write_text(manifest)
    clips = """clips = { dictionary default = {
        double2[] active = [(0, 0)]
        double2[] times = [(0, 0), (10, 10)]
        asset[] assetPaths = [@./clip.usda@]
        asset manifestAssetPath = @./manifest.usda@
        string primPath = "/R"
    } }"""
    path = tmp_path / "stage.usda"
    apis = 'prepend apiSchemas = ["PhysicsRigidBodyAPI"]'
    path.write_text(f'{HEAD}def Xform "R" (\n{apis}\n{clips}\n)\n{{\n}}\n')
    asset, _ = read_file(path, time=0.0)
    np.testing.assert_allclose(asset.bodies[0].linear_velocity, (0, 3, 0))


def test_materials_of_instances_are_named_by_the_stage_not_by_prototypes(tmp_path):
    look = """
def Xform "part"
{
    def Material "paint"
    {
        token outputs:surface.connect = </part/paint/s.outputs:surface>
        def Shader "s"
        {
            uniform token info:id = "UsdPreviewSurface"
            token outputs:surface
        }
    }
    def Cube "box" (prepend apiSchemas = ["MaterialBindingAPI"])
    {
        rel material:binding = </part/paint>
    }
}
"""
    (tmp_path / "part.usda").write_text('#usda 1.0\n(\n    defaultPrim = "part"\n)\n' + look)
    copy = 'def "c{i}" (\n    instanceable = true\n    references = @part.usda@\n)\n{{\n}}\n'
    path = tmp_path / "stage.usda"
    path.write_text(f'{HEAD}def Xform "R"\n{{\n{"".join(copy.format(i=i) for i in range(3))}}}\n')
    asset, _ = read_file(path)
    assert [material.name for material in asset.materials] == ["paint"]
    assert [shape.material for shape in asset.shapes] == ["paint"] * 3


def make_colliders(path: Path, count: int) -> None:
    layer = Sdf.Layer.CreateAnonymous(".usda")
    layer.ImportFromString(f'{HEAD}def Xform "R" (prepend apiSchemas = ["PhysicsRigidBodyAPI"])\n{{\n}}\n')
    model = Sdf.Layer.CreateAnonymous(".usda")
    apis = '(prepend apiSchemas = ["PhysicsCollisionAPI", "PhysicsMeshCollisionAPI"])'
    model.ImportFromString(f'#usda 1.0\ndef Mesh "m" {apis}\n{{\n{TETRAHEDRON}\n}}\n')
    with Sdf.ChangeBlock():
        for i in range(count):
            Sdf.CopySpec(model, "/m", layer, f"/R/m{i}")
            points = layer.GetAttributeAtPath(f"/R/m{i}.points")
            points.default = [(0, 0, 0), (1, 0, 0), (0, 1, 0), (0, 0, 1 + i * 1e-3)]
    layer.Export(str(path))


def test_a_stage_closes_with_its_asset(tmp_path):
    """At once, without the collector; but not while a mesh may still have to be read from it."""
    path = tmp_path / "few.usda"
    make_colliders(path, 3)
    with pause_collector():
        asset, _ = read_file(path)
        mesh = asset.shapes[0].geometry
        del asset
        assert len(mesh.data.vertices) == 4
        del mesh
        assert Sdf.Layer.Find(str(path)) is None


def measure_memory() -> float:
    """Memory that the process has now [MiB]; its largest would hide what grows behind an earlier test."""
    return int(Path("/proc/self/statm").read_text().split()[1]) * resource.getpagesize() / 2**20


def test_twenty_imports_of_a_thousand_mesh_colliders(tmp_path):
    path = tmp_path / "many.usdc"
    make_colliders(path, 1000)
    for run in range(20):
        asset, _ = read_file(path)
        if run == 7:
            early = measure_memory()
    late = measure_memory()
    assert len(asset.shapes) == 1000
    assert asset.bodies[0].inertial.mass == pytest.approx(1000 / 6 * (1000 + 1e-3 * 999 * 500))
    assert late - early < 6, "memory [MiB] grows with every import"
