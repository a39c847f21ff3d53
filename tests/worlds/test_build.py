# SPDX-License-Identifier: Apache-2.0
"""Worlds as real scenes: what every writer makes of one, and that space and plane agree."""

from __future__ import annotations

import itertools
import json
import math
from pathlib import Path

import numpy as np
import pytest
import shapely
import yaml
from pxr import Usd, UsdGeom

from simwright.app.api import check, load
from simwright.app.world_build import Built, build_world, choose_formats
from simwright.app.worlds import load_world
from simwright.core.diag import Level, Reporter
from simwright.core.errors import OutputError, UnknownNameError
from simwright.core.math3d import Pose
from simwright.worlds.grid import Grid, encode_waypoints, list_waypoints, make_grid
from simwright.worlds.poses import WorldPose
from simwright.worlds.space.machines import find_lidar_height
from simwright.worlds.space.scene import make_camera
from simwright.worlds.world import World

from ..conftest import SAMPLES
from .space_model import STILL, SpaceModel, list_cells
from .text import HALL, ROOMS, TABLE
from .text import load as load_text

LAB = SAMPLES / "lab" / "lab.yaml"


@pytest.fixture(scope="module")
def lab() -> World:
    return load_world(LAB)


@pytest.fixture(scope="module")
def built(lab: World, tmp_path_factory: pytest.TempPathFactory) -> Built:
    return build_world(lab, tmp_path_factory.mktemp("lab") / "out")


@pytest.fixture(scope="module")
def space(lab: World, tmp_path_factory: pytest.TempPathFactory) -> SpaceModel:
    return SpaceModel(lab, tmp_path_factory.mktemp("space"))


# -- every format --------------------------------------------------------------------------------------------------


def decode_map(text: str, image: bytes) -> Grid:
    """A grid from the two files, as Nav2's map server reads them; what is unknown counts as occupied."""
    facts = yaml.safe_load(text)
    parts = image.split(maxsplit=4)
    assert (parts[0], parts[3]) == (b"P5", b"255")
    width, height = int(parts[1]), int(parts[2])
    # from the end: the first pixel may be a byte that splitting takes for white space
    pixels = np.frombuffer(image[-width * height :], dtype=np.uint8).reshape(height, width)
    share = pixels / 255.0 if facts["negate"] else (255.0 - pixels) / 255.0
    free = share < facts["free_thresh"]
    x, y = facts["origin"][:2]
    return Grid(~free[::-1].T, float(facts["resolution"]), (float(x), float(y)))


def test_the_assembly_follows_every_rule(built: Built) -> None:
    report = check(built.entries["usd"])
    assert [(found.kind, found.message) for _, found in report if found.level is not Level.INFO] == []


def test_every_component_follows_every_rule(built: Built) -> None:
    folder = built.entries["usd"].parent
    entries = [file for file in folder.glob("*/*/*.usda") if file.stem == file.parent.name]
    assert {file.parent.parent.name for file in entries} == {
        "components", "doors", "furniture", "objects", "robots",
    }  # fmt: skip
    for entry in entries:
        assert [found.message for _, found in check(entry) if found.level is not Level.INFO] == []


def test_the_assembly_is_made_of_references(built: Built) -> None:
    stage = Usd.Stage.Open(str(built.entries["usd"]))
    root = stage.GetDefaultPrim()
    assert Usd.ModelAPI(root).GetKind() == "assembly"
    for name in ("desk0", "desk1"):
        desk = stage.GetPrimAtPath(f"/lab/furniture/{name}")
        assert Usd.ModelAPI(desk).GetKind() == "component"
        assert desk.IsInstance()
    mug = stage.GetPrimAtPath("/lab/objects/blue_mug")
    assert UsdGeom.Xformable(mug).GetLocalTransformation().ExtractTranslation()[2] == pytest.approx(0.74)
    dock = stage.GetPrimAtPath("/lab/furniture/dock")
    assert dock.GetCustomDataByKey("simwright_world")["is_charger"] is True
    tender = stage.GetPrimAtPath("/lab/robots/tender")
    assert "RosContextAPI" in tender.GetAppliedSchemas()
    assert tender.GetAttribute("ros:context:namespace").Get() == "tender"
    scans = [
        prim
        for prim in stage.Traverse()
        if prim.GetAttribute("ros:topic:type").IsValid()
        and prim.GetAttribute("ros:topic:type").Get() == "sensor_msgs/msg/LaserScan"
    ]
    assert len(scans) == 1
    assert scans[0].GetAttribute("ros:topic:publish_rate").Get() == pytest.approx(10.0)


def test_doors_are_variants(built: Built, lab: World) -> None:
    stage = Usd.Stage.Open(str(built.entries["usd"]))
    for hallway in lab.hallways:
        door = stage.GetPrimAtPath(f"/lab/doors/door_{hallway.name}")
        choice = door.GetVariantSet("door")
        assert set(choice.GetVariantNames()) == {"open", "closed"}
        assert choice.GetVariantSelection() == ("open" if hallway.is_open else "closed")
        assert bool(door.GetChildren()) is not hallway.is_open
        choice.SetVariantSelection("closed")
        panel = door.GetChildren()[0]
        assert Usd.ModelAPI(panel).GetKind() == "component"
        box = UsdGeom.BBoxCache(Usd.TimeCode.Default(), ["default"]).ComputeWorldBound(panel)
        low, high = box.ComputeAlignedRange().GetMin(), box.ComputeAlignedRange().GetMax()
        assert [*low[:2], *high[:2]] == pytest.approx(hallway.slab.bounds, abs=1e-5)
        assert (low[2], high[2]) == pytest.approx((0.0, lab.wall_height(hallway)), abs=1e-6)


def test_our_reader_finds_the_same_scene_in_the_assembly(built: Built, lab: World) -> None:
    asset = load(built.entries["usd"])
    assert len(asset.bodies) == len(lab.objects) + len(lab.robots)
    masses = sorted(body.inertial.mass for body in asset.bodies if body.inertial is not None)
    for mass in (0.2, 0.2, 0.3, 0.3, 0.35, 0.8, 0.8):
        assert min(abs(mass - found) for found in masses) < 1e-6


@pytest.mark.parser
def test_libsdformat_takes_the_world(built: Built, accept_sdf) -> None:
    said = accept_sdf(built.entries["sdf"])
    assert "Error" not in said
    assert "Warning" not in said
    text = built.entries["sdf"].read_text()
    assert '<model name="bench">' in text
    assert "<samples>121</samples>" in text


@pytest.mark.parser
def test_the_gltf_validator_finds_nothing(built: Built, accept_gltf) -> None:
    issues = json.loads(accept_gltf(built.entries["glb"]))["issues"]
    assert (issues["numErrors"], issues["numWarnings"]) == (0, 0)


def test_the_map_read_back_is_the_grid(built: Built, lab: World) -> None:
    file = built.entries["nav2"]
    facts = yaml.safe_load(file.read_text())
    assert facts["image"] == "lab.pgm"
    grid, found = (
        make_grid(lab, 0.05),
        decode_map(file.read_text(), (file.parent / facts["image"]).read_bytes()),
    )
    np.testing.assert_array_equal(found.occupied, grid.occupied)
    assert (found.resolution, found.origin) == (grid.resolution, grid.origin)
    # the corners of the map are outside of every wall: unknown, not occupied
    pixels = (file.parent / facts["image"]).read_bytes()[-grid.occupied.size :]
    assert set(pixels) == {0, 128, 254}
    assert pixels[0] == pixels[-1] == 128


def test_routes_and_way_points_are_free_poses(built: Built, lab: World) -> None:
    folder = built.entries["nav2"].parent
    points = yaml.safe_load((folder / "waypoints.yaml").read_text())["waypoints"]
    assert {point["place"] for point in points} >= {"workshop", "desk0_top", "dock_plate"}
    assert [point["place"] for point in points if point.get("is_charger")] == ["dock_plate"]
    features = json.loads((folder / "route_graph.geojson").read_text())["features"]
    nodes = {f["properties"]["id"]: f for f in features if f["geometry"]["type"] == "Point"}
    ways = [f for f in features if f["geometry"]["type"] == "MultiLineString"]
    assert ways
    assert len({f["properties"]["id"] for f in features}) == len(features)
    for way in ways:
        line = way["geometry"]["coordinates"][0]
        facts = way["properties"]
        assert line[0] == nodes[facts["startid"]]["geometry"]["coordinates"]
        assert line[1] == nodes[facts["endid"]]["geometry"]["coordinates"]
        assert lab.free_space.buffer(1e-9).covers(shapely.LineString(line))
        doors = {
            hallway.name for hallway in lab.hallways if hallway.slab.intersects(shapely.LineString(line))
        }
        assert {facts["metadata"]["door"]} == doors if doors else "metadata" not in facts
    assert any("metadata" in way["properties"] for way in ways)


def test_way_points_are_written_as_the_dumper_writes_them() -> None:
    world = load_world(LAB)
    dumper = getattr(yaml, "CSafeDumper", yaml.SafeDumper)
    names = [
        "room",
        "yes",
        "off",
        "Null",
        "on",
        "_a",
        "7up",
        "1e5",
        "a b",
        "a: b",
        "#x",
        "büro",
        "x" * 90,
        "a " * 90,
    ]
    for name, value in itertools.product(names, (1.0, -0.0, 1e-9, 1e22, 12345678901234567890.0)):
        world.rooms[0].name = name
        world.rooms[0].nav_poses[:] = [WorldPose(value, 2.5), WorldPose(0.1, value)]
        rows = {"waypoints": list_waypoints(world)}
        expected = yaml.dump(rows, Dumper=dumper, sort_keys=False, allow_unicode=True)
        assert encode_waypoints(world).partition("\n")[2] == expected
    for places in (world.rooms, world.hallways, world.locations):
        places.clear()
    assert encode_waypoints(world).endswith("\nwaypoints: []\n")


def test_the_same_file_and_seed_give_the_same_bytes(built: Built, tmp_path: Path) -> None:
    build_world(load_world(LAB), tmp_path / "again")
    first, second = built.entries["usd"].parent.parent, tmp_path / "again"
    names = sorted(file.relative_to(first) for file in first.rglob("*") if file.is_file())
    assert names == sorted(file.relative_to(second) for file in second.rglob("*") if file.is_file())
    for name in names:
        assert (first / name).read_bytes() == (second / name).read_bytes(), name


# -- plane and space -----------------------------------------------------------------------------------------------


def test_space_is_solid_where_the_grid_is_occupied(space: SpaceModel) -> None:
    points, occupied = list_cells(space.world, 0.05)
    assert len(points) > 15000
    np.testing.assert_array_equal(space.find_occupied(points), occupied)


def test_beams_go_as_far_in_space_as_in_the_plane(space: SpaceModel) -> None:
    outline = space.world.open_space.boundary
    shapely.prepare(outline)
    rng = np.random.default_rng(1)
    free = shapely.intersection(space.world.free_space, space.world.rooms[0].polygon)
    for _ in range(150):
        x, y = free.representative_point().coords[0] + rng.uniform(-0.8, 0.8, 2)
        if not free.contains(shapely.Point(x, y)):
            continue
        angle = rng.uniform(-np.pi, np.pi)
        way = np.array((np.cos(angle), np.sin(angle), 0.0))
        beam = shapely.LineString([(x, y), (x + 30 * way[0], y + 30 * way[1])])
        hit = shapely.distance(shapely.Point(x, y), shapely.intersection(beam, outline))
        assert space.cast((x, y, space.height), way, STILL) == pytest.approx(hit, abs=1e-3)


def test_things_stay_where_they_are_put(lab: World, tmp_path: Path) -> None:
    moved = SpaceModel(lab, tmp_path).settle(2.0)
    assert set(moved) >= {item.name for item in lab.objects}
    assert max(moved.values()) < 1e-3


@pytest.mark.parametrize("gap", [0.25, 0.39, 0.41, 2.0])
def test_a_closed_door_blocks_in_space_and_an_open_one_does_not(tmp_path: Path, gap: float) -> None:
    text = ROOMS.replace("pose: [6, 0]", f"pose: [{4 + gap}, 0]") + HALL.replace("}", ", is_open: false}")
    world = load_text(tmp_path, text)[0]
    door = world.hallways[0].slab
    ends = (door.bounds[0] - 0.5, door.bounds[2] + 0.5)
    for is_open in (False, True):
        if is_open:
            assert world.open("hall_left_right") == ""
        model = SpaceModel(world, tmp_path / f"{is_open}")
        for y in np.linspace(-0.49, 0.49, 21):
            for height in (0.01, 0.2, 1.0, 1.99):
                hit = model.cast((ends[0], y, height), (1.0, 0.0, 0.0), STILL)
                assert (0.0 <= hit <= ends[1] - ends[0]) is not is_open


def test_a_wall_goes_on_above_a_low_corridor(tmp_path: Path) -> None:
    text = ROOMS + HALL + "simwright: {entities: {hall_left_right: {height: 1.5}}}\n"
    model = SpaceModel(load_text(tmp_path, text)[0], tmp_path)
    assert model.cast((0.0, 0.0, 1.7), (1.0, 0.0, 0.0), STILL) == pytest.approx(2.0, abs=1e-6)
    assert model.cast((0.0, 0.0, 1.4), (1.0, 0.0, 0.0), STILL) > 4.0


def test_things_stand_in_a_compartment_and_under_a_board(tmp_path: Path) -> None:
    (tmp_path / "racks.yaml").write_text(
        "rack:\n  footprint: {type: box, dims: [1.0, 0.4], height: 1.6}\n  locations:\n"
        "    - {name: low, footprint: {type: parent, padding: 0.02, height: 0.3}}\n"
        "    - {name: high, footprint: {type: parent, padding: 0.02, height: 0.9}}\n"
        "    - {name: wing, footprint: {type: box, dims: [0.3, 0.3], offset: [0.7, 0.0], height: 0.7}}\n"
    )
    places = ("rack0_low", "rack0_high", "rack0_wing")
    things = "".join(f"  - {{category: can, parent: {place}}}\n" for place in places)
    text = (
        ROOMS.replace("locations.yaml", "[locations.yaml, racks.yaml]")
        + "locations:\n  - {category: rack, parent: left, pose: [0.3, 0.4, 0, 0.6]}\nobjects:\n"
        + things
    )
    world = load_text(tmp_path, text)[0]
    assert sorted(round(item.pose.z, 6) for item in world.objects) == [0.3, 0.7, 0.9]
    model = SpaceModel(world, tmp_path)
    assert max(model.settle(2.0).values()) < 1e-3
    top = model.cast((0.3, 0.4, 3.0), (0.0, 0.0, -1.0), STILL)
    assert top == pytest.approx(3.0 - 1.6, abs=1e-6)


def test_furniture_above_the_floor_is_solid_below(tmp_path: Path) -> None:
    world = load_text(tmp_path, ROOMS + TABLE.replace("[1.0, -1.0]", "[1.0, -1.0, 0.4]"))[0]
    model = SpaceModel(world, tmp_path)
    assert model.find_occupied([(1.0, -1.0)]).all()
    assert model.cast((1.0, -1.0, 2.0), (0.0, 0.0, -1.0), STILL) == pytest.approx(2.0 - 0.9, abs=1e-6)


# -- findings ------------------------------------------------------------------------------------------------------


def test_what_leans_or_floats_or_overlaps_is_said(tmp_path: Path) -> None:
    text = (
        ROOMS
        + "locations:\n  - {category: table, parent: left, "
        + "pose: {position: {x: 1.0, y: -1.0}, rotation_eul: {roll: 0.2}}}\n"
        + "objects:\n  - {category: can, parent: table0, pose: [1.0, -1.0, 0.2]}\n"
    )
    world = load_text(tmp_path, text)[0]
    reporter = Reporter()
    build_world(world, tmp_path / "out", ["nav2"], reporter=reporter)
    assert [found.kind for found in reporter] == ["world-build-tilt", "world-build-floating"]
    assert all(found.where.line for found in reporter)


def test_only_own_folders_are_replaced(tmp_path: Path, lab: World) -> None:
    (tmp_path / "nav2").mkdir()
    (tmp_path / "nav2" / "notes.txt").write_text("mine")
    with pytest.raises(OutputError, match=r"notes\.txt"):
        build_world(lab, tmp_path, ["nav2"])
    (tmp_path / "nav2" / "notes.txt").unlink()
    build_world(lab, tmp_path, ["nav2"])
    build_world(lab, tmp_path, ["nav2"])
    assert (tmp_path / "nav2" / "lab.pgm").is_file()


def test_rooms_of_one_shape_share_their_mesh(tmp_path: Path) -> None:
    corners = "footprint: {type: polygon, coords: [[0, 0], [3, 0], [4, 3], [0, 3]]}"
    rooms = "".join(f"  - {{name: room{i}, {corners}, pose: [{5.37 * i}, {0.1 * i}]}}\n" for i in range(4))
    world = load_text(tmp_path, f"params: {{name: row}}\nrooms:\n{rooms}")[0]
    entry = build_world(world, tmp_path / "out", ["usd"]).entries["usd"]
    assert [found.message for _, found in check(entry) if found.level is not Level.INFO] == []


def test_formats_are_known() -> None:
    assert choose_formats(["all"]) == ["usd", "mjcf", "sdf", "glb", "nav2", "rmf"]
    assert choose_formats(["nav2", "usd"]) == ["usd", "nav2"]
    with pytest.raises(UnknownNameError):
        choose_formats(["obj"])


def test_a_world_without_anything_is_written(tmp_path: Path) -> None:
    world = load_text(tmp_path, "params: {name: nothing}\n")[0]
    built = build_world(world, tmp_path / "out")
    assert all(path.is_file() for path in built.entries.values())


@pytest.mark.parametrize(("height", "expected"), [(2.0, 0.2), (0.5, 0.2), (0.3, 0.15), (0.0, 0.2)])
def test_lidars_are_at_half_the_height_of_the_lowest_furniture(
    height: float, expected: float, tmp_path: Path
) -> None:
    """Or at 0.2 m, if that is less; what lies flat on the floor is seen at no height."""
    world, _ = load_text(tmp_path, ROOMS + TABLE)
    (table,) = world.locations
    table.height = height
    assert find_lidar_height(world) == pytest.approx(expected)


@pytest.mark.parametrize("place", [(0.0, 0.0, 0.0), (40.0, -25.0, 3.0)])
def test_the_camera_has_the_whole_building_in_its_picture(place: tuple[float, float, float]) -> None:
    corners = np.array(list(itertools.product((0.0, 12.0), (0.0, 7.0), (0.0, 2.5)))) + place
    camera = make_camera(corners)
    seen = np.array([(~camera.pose @ Pose.of(corner)).p for corner in corners])
    width, height = camera.resolution
    slope = math.tan(camera.fov_y / 2) * np.array((width / height, 1.0))
    assert (seen[:, 2] < 0.0).all()
    reach = np.abs(seen[:, :2] / -seen[:, 2:]) / slope
    # all of it, and no smaller than it has to be
    assert 0.8 < reach.max() < 1.0
