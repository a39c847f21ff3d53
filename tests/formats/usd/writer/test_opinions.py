"""USD to USD: what solvers say about colliders and the scene arrives, in the units of the layers, or is said lost."""

from __future__ import annotations

import pytest
from usd_trips import convert

import simwright
from simwright.compare.run import compare_assets
from simwright.core.diag import Reporter
from simwright.formats.format import WriteOptions
from simwright.formats.usd.writer.entry import write
from simwright.model.asset import Asset, Body, Shape
from simwright.model.geometry import Sphere
from simwright.model.inertia import Inertial

HEADER = '#usda 1.0\n( defaultPrim = "R"\n metersPerUnit = UNIT\n upAxis = "Z" )\n'
STAGE = """
def PhysicsScene "scene" { SCENE }
def Xform "R" {
    def Xform "a" ( prepend apiSchemas = ["PhysicsRigidBodyAPI"] ) {
        def Sphere "c" ( prepend apiSchemas = ["PhysicsCollisionAPI"APIS] ) {
            double radius = 10
            SHAPE
        }
    }
    def Xform "b" ( prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"] ) { float physics:mass = 1 }
    def PhysicsRevoluteJoint "j" {
        rel physics:body0 = </R/a>
        rel physics:body1 = </R/b>
        JOINT
    }
}
"""


@pytest.fixture
def trip(tmp_path):
    def run(*, scene="", shape="", joint="", apis="", unit="1"):
        text = STAGE.replace("SCENE", scene).replace("SHAPE", shape).replace("JOINT", joint)
        text = text.replace("APIS", "".join(f', "{api}"' for api in apis.split())).replace("}", "\n}\n")
        file = tmp_path / "r.usda"
        file.write_text(HEADER.replace("UNIT", unit) + text)
        return convert(file, tmp_path / "out")

    return run


def assert_same_settings(new, old):
    words = {key: value for key, value in old.items() if isinstance(value, str)}
    assert {key: new.get(key) for key in words} == words
    numbers = {key: value for key, value in old.items() if key not in words}
    assert {key: value for key, value in new.items() if key not in words} == pytest.approx(numbers, rel=1e-12)


SETTINGS = {
    "a field that is only asked for": ("NewtonSDFCollisionAPI", ""),
    "a field": (
        "NewtonSDFCollisionAPI",
        """int newton:sdfMaxResolution = 128
        float newton:sdfNarrowBandInner = -0.25
        float newton:sdfPadding = 0.5
        token newton:sdfTextureFormat = "uint8\"""",
    ),
    "hydroelastic": (
        "",
        "bool newton:hydroelasticEnabled = 1\nfloat newton:hydroelasticStiffness = 1e5",
    ),
    "a shell": ("NewtonMassAPI", 'token newton:massModel = "shell"\nfloat newton:shellThickness = 0.125'),
    "a surface": ("MjcCollisionAPI", "bool mjc:shellinertia = 1"),
    "soft": (
        "MjcCollisionAPI",
        "double[] mjc:solref = [0.1, 1]\nint mjc:priority = 3\nint mjc:maxhullvert = 17",
    ),
    "gains": ("", "float newton:contact_ke = 123\nfloat newton:contact_ka = 3"),
    "distances": (
        "PhysxCollisionAPI",
        "float physxCollision:contactOffset = 5\nfloat physxCollision:restOffset = 1",
    ),
}


@pytest.mark.parametrize("unit", ["1", "0.01"])
@pytest.mark.parametrize("what", SETTINGS)
def test_settings_of_colliders(trip, what, unit):
    apis, shape = SETTINGS[what]
    found = trip(shape=shape, apis=apis, unit=unit)
    old, new = (next(s for s in asset.shapes if s.collision) for asset in (found.source, found.back))
    assert old.settings or old.gap
    assert_same_settings(new.settings, old.settings)
    assert (new.margin, new.gap) == (old.margin, old.gap)
    assert not found.kinds & {"usd-write-setting-lost", "usd-write-extras"}


def test_settings_of_other_formats_are_written_by_whoever_has_a_word(tmp_path):
    settings = {"ke": 2000.0, "max_hull_vertices": 12, "wobble": 3.0}
    shape = Shape("c", Sphere(0.5), "a", collision=True, settings=settings)
    said = Reporter()
    asset = Asset("r", bodies=[Body("a", inertial=Inertial(1.0))], shapes=[shape])
    entry = write(asset, tmp_path / "out", WriteOptions(), said)
    text = (entry.parent / "newton.usda").read_text()
    assert "newton:contact_ke = 2000" in text
    assert "newton:maxHullVertices = 12" in text
    (lost,) = [d for d in said if d.kind == "usd-write-setting-lost"]
    assert lost.data["first"] == "c"


def test_the_scene_goes_to_the_root(trip):
    found = trip(
        scene="int newton:maxSolverIterations = 9\nint newton:timeStepsPerSecond = 200\n"
        'uint physxScene:timeStepsPerSecond = 60\ntoken mjc:option:cone = "elliptic"'
    )
    old, new = found.source.environment, found.back.environment
    assert (new.timestep, new.settings["max_solver_iterations"]) == (old.timestep, 9) == (0.005, 9)
    assert new.settings["cone"] == "elliptic"
    assert found.back.extras.get("physx", "/R", "physxScene:timeStepsPerSecond") == 60
    assert "usd-write-extras" not in found.kinds


def test_an_option_that_lost_is_said_lost_and_does_not_win(trip):
    found = trip(scene="int newton:timeStepsPerSecond = 500\ndouble mjc:option:timestep = 0.25")
    assert found.source.environment.timestep == 0.002
    assert found.back.environment.timestep in (None, 0.002)
    (lost,) = [d for d in found.said if d.kind == "usd-write-extras"]
    assert lost.data["first"] == "/scene mjc:option:timestep"


def test_coordinates_in_the_angle_unit_of_mujocos_compiler(trip):
    found = trip(
        scene='token mjc:compiler:angle = "radian"',
        joint="double mjc:springref = 0.5\ndouble mjc:stiffness = 2",
    )
    old, new = (asset.joint("j").dofs[0] for asset in (found.source, found.back))
    assert (old.spring_ref, old.stiffness) == (0.5, 2.0)
    assert (new.spring_ref, new.stiffness) == pytest.approx((0.5, 2.0), rel=1e-7)
    # what is written is in degrees, as the schemas say: the word would turn it into something else
    assert found.back.extras.get("mjc", "/R", "mjc:compiler:angle") is None


def test_fallbacks_of_schemas_are_not_written_as_if_the_asset_had_said_them(tmp_path):
    file = tmp_path / "r.usda"
    file.write_text(HEADER.replace("UNIT", "1") + STAGE.replace("APIS", "").replace("}", "\n}\n").replace("SCENE", "")
                    .replace("SHAPE", "").replace("JOINT", ""))  # fmt: skip
    source = simwright.load(file, schema_resolvers=("mjc",))
    (shape,) = source.shapes
    assert (shape.gap, source.environment.settings["max_solver_iterations"]) == (0.0, 100)
    entry = write(source, tmp_path / "out", WriteOptions(), Reporter())
    back = simwright.load(entry)
    assert next(s for s in back.shapes if s.collision).gap is None
    assert back.environment.settings == {}
    assert shape.gap == 0.0, "the asset itself stays as it was"


STAGES = (
    "ant", "ant_mixed", "boxes_fourbar", "cartpole", "cartpole_mjc", "cube_cylinder",
    "four_link_chain_articulation", "humanoid", "pendulum_revolute_vs_d6", "revolute_articulation",
    "simple_articulation_with_mesh",
)  # fmt: skip


@pytest.mark.realworld
@pytest.mark.parametrize("name", STAGES)
def test_stages_of_others_read_back_the_same(shared_assets, tmp_path, name):
    """Every section of ``simwright diff`` is equal, and every solver attribute arrives or is said lost."""
    found = convert(shared_assets / "usd" / f"{name}.usda", tmp_path / "out")
    result = compare_assets(found.source, found.back)
    assert [section.name for section in result.sections if not section.equal] == []
    assert "usd-write-setting-lost" not in found.kinds
    for old in found.source.shapes:
        new = next(s for s in found.back.shapes if s.name == old.name)
        if old.collision:
            assert_same_settings(new.settings, old.settings)
