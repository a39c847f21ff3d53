"""Pictures by their pixels: what is shown fills the picture, leaves its border free, and is neither burnt nor black."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path

import numpy as np
import pytest
from PIL import Image
from tests.conftest import SAMPLES
from tests.selection import SHARED_ASSETS

import simwright
from simwright.app.rendering import find_positions, read_camera
from simwright.app.run_sources import find_source
from simwright.core.diag import Reporter
from simwright.core.errors import UnknownNameError, UsageError
from simwright.core.math3d import Pose
from simwright.engines.mujoco.framing import CameraWish
from simwright.engines.mujoco.painter import WorldPainter
from simwright.engines.protocol import Settings
from simwright.model.asset import Asset, Body, Camera, Keyframe, Shape
from simwright.model.geometry import Box, Plane, Sphere
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Joint, JointKind, Motion
from simwright.model.material import RenderMaterial

SIZE = (160, 100)
ROBOTS = (
    "arm/urdf/arm.urdf", "quadruped/quadruped.xml", "rover/model.sdf", "fourbar/fourbar.usda", "box/box.usda",
    "rack/rack.usda", "warehouse/warehouse.usda", "lab/lab.yaml", "playground/playground.yaml",
)  # fmt: skip
SHARED = (
    "mjcf/unitree_h1/h1.xml", "mjcf/shadow_hand/right_hand.xml", "mjcf/skydio_x2/x2.xml",
    "mjcf/robotiq_2f85/2f85.xml", "mjcf/agility_cassie/cassie.xml", "usd/ant.usda", "usd/humanoid.usda",
    "usd/cartpole.usda", "sdf/double_pendulum.sdf",
)  # fmt: skip


def look_at(
    asset: Asset, states: Sequence[np.ndarray] = (), rate: float = 30.0
) -> tuple[list[np.ndarray], np.ndarray]:
    """Silhouettes of an asset at states (the start if none are given), as films are taken, and the first picture."""
    painter = WorldPainter(asset)
    states = states or [find_positions(asset, painter.layout)]
    plan = painter.plan_film(
        lambda number: painter.place(states[number][None]), len(states), CameraWish(), SIZE[0] / SIZE[1], rate
    )
    painter.open(plan, SIZE)
    found, pictures = [], []
    try:
        for state, camera in zip(states, plan.cameras, strict=True):
            painter.place(state[None])
            found.append(painter.find_drawn(camera))
            pictures.append(painter.draw(camera) if not pictures else pictures[0])
    finally:
        painter.close()
    return found, pictures[0]


def expect_framed(drawn: np.ndarray, least: float = 0.02) -> None:
    edge = np.concatenate((drawn[0], drawn[-1], drawn[:, 0], drawn[:, -1]))
    assert not edge.any(), "nothing is cut off"
    assert least < drawn.mean() < 0.75, f"{drawn.mean():.1%} of the picture is covered"
    rows, columns = np.flatnonzero(drawn.any(axis=1)), np.flatnonzero(drawn.any(axis=0))
    assert max(np.ptp(rows) / SIZE[1], np.ptp(columns) / SIZE[0]) > 0.6, "it fills one side of the picture"


def expect_exposed(picture: np.ndarray) -> None:
    assert (picture.min(axis=-1) >= 254).mean() < 0.02, "burnt out"
    assert (picture.max(axis=-1) <= 3).mean() < 0.02, "black"
    assert picture.reshape(-1, picture.shape[-1]).std(axis=0).max() > 8.0, "something can be told apart"


@pytest.mark.parametrize("name", ROBOTS)
def test_samples_are_framed_and_exposed(name):
    asset = simwright.load(SAMPLES / name)
    (drawn,), picture = look_at(asset)
    expect_framed(drawn)
    expect_exposed(picture)


@pytest.mark.realworld
@pytest.mark.parametrize("name", SHARED)
def test_shared_robots_are_framed_and_exposed(name):
    asset = simwright.load(SHARED_ASSETS / name)
    (drawn,), picture = look_at(asset)
    expect_framed(drawn, 0.01)
    expect_exposed(picture)


def take_states(path: Path, frames: int, **options: bool) -> tuple[Asset, list[np.ndarray]]:
    """States of a run as a film of it would have them."""
    source = find_source(path, reporter=Reporter(), **options)
    states = []
    with source.open("mujoco", Settings(), Reporter()) as simulation:
        every = max(1, frames // 12)
        simulation.advance(frames, watch=lambda _: states.append(simulation.positions[0].copy()), every=every)
    assert source.asset is not None
    return source.asset, states


@pytest.mark.parametrize(
    ("name", "options"),
    [
        ("arm/urdf/arm.urdf", {"floating": False}),
        ("quadruped/quadruped.xml", {"ground": True}),
        ("rover/model.sdf", {}),
    ],
)
def test_nothing_leaves_the_frame_of_a_film(name, options):
    """An arm that swings down, a quadruped that sinks to the ground, a rover that falls for lack of one."""
    asset, states = take_states(SAMPLES / name, 900, **options)
    for drawn in look_at(asset, states, 7.0)[0]:
        edge = np.concatenate((drawn[0], drawn[-1], drawn[:, 0], drawn[:, -1]))
        assert not edge.any()
        assert drawn.mean() > 0.01


@pytest.mark.realworld
@pytest.mark.parametrize("name", ["unitree_h1/h1.xml", "skydio_x2/x2.xml"])
def test_nothing_of_a_shared_robot_leaves_the_frame_of_a_film(name):
    asset, states = take_states(SHARED_ASSETS / "mjcf" / name, 600, ground=True)
    for drawn in look_at(asset, states, 7.0)[0]:
        edge = np.concatenate((drawn[0], drawn[-1], drawn[:, 0], drawn[:, -1]))
        assert not edge.any()
        assert drawn.mean() > 0.01


def make_swing(**more: object) -> Asset:
    """A box on a hinge about Y, one metre away from it along X."""
    box = Shape(
        "box", Box.of(0.2, 0.2, 0.2), "arm", simwright.Pose.of((1.0, 0.0, 0.0)), color=(0.9, 0.1, 0.1, 1.0)
    )
    hub = Shape("hub", Sphere(0.1), "base", color=(0.1, 0.1, 0.9, 1.0))
    hinge = Joint(
        "hinge",
        JointKind.REVOLUTE,
        "base",
        "arm",
        dofs=[Dof(Motion.HINGE, axis=np.array((0.0, 1.0, 0.0)), name="hinge")],
    )
    held = Joint("held", JointKind.FIXED, "", "base")
    bodies = [Body(name, inertial=Inertial(1.0, inertia=np.eye(3))) for name in ("base", "arm")]
    return Asset("swing", bodies=bodies, joints=[held, hinge], shapes=[hub, box], **more)


def find_red(picture: np.ndarray) -> np.ndarray:
    """The middle of what is red (column, row)."""
    red = (picture[..., 0] > 1.8 * picture[..., 1]) & (picture[..., 0] > 60)
    assert red.any()
    return np.argwhere(red).mean(axis=0)[::-1]


def test_a_joint_is_where_it_is_asked_to_be():
    """Looking along +Y, +X is to the right and a positive turn about +Y brings the box below the hub."""
    start = find_red(simwright.render(make_swing(), size=SIZE, camera="90,0,6"))
    picture = simwright.render(make_swing(), size=SIZE, camera="90,0,6", q={"hinge": np.pi / 2})
    blue = np.argwhere(picture[..., 2] > 1.8 * picture[..., 0]).mean(axis=0)[::-1]
    moved = find_red(picture)
    assert moved[1] - blue[1] > 20
    assert abs(moved[0] - blue[0]) < 3
    assert start[0] > SIZE[0] / 2
    with pytest.raises(UnknownNameError, match="hinje"):
        simwright.render(make_swing(), q={"hinje": 1.0})


def test_a_transparent_picture_has_the_robot_and_nothing_else():
    picture = simwright.render(make_swing(), size=SIZE, transparent=True)
    assert picture.shape == (SIZE[1], SIZE[0], 4)
    alpha = picture[..., 3]
    assert (alpha == 0).mean() > 0.5
    assert (alpha == 255).mean() > 0.02
    assert ((alpha > 0) & (alpha < 255)).any(), "edges are smooth"
    edges = picture[(alpha > 30) & (alpha < 225)]
    assert (np.ptp(edges[:, :3].astype(int), axis=1) > 20).mean() > 0.8, "no grey of a background is mixed in"


def test_colliders_are_shown_instead_of_looks():
    asset = make_swing()
    asset.shapes.append(Shape("touch", Sphere(0.3), "arm", visual=False, collision=True))
    looks = simwright.render(asset, size=SIZE, transparent=True)
    touched = simwright.render(asset, size=SIZE, transparent=True, show="collision")
    find_red(looks)
    shown = touched[touched[..., 3] == 255]
    assert (shown[:, 2] > shown[:, 0]).mean() > 0.95


def test_what_no_engine_takes_is_drawn_all_the_same():
    """A body that moves and weighs nothing: MuJoCo refuses to compile it."""
    asset = make_swing()
    asset.body("arm").inertial = Inertial(0.0)
    find_red(simwright.render(asset, size=SIZE))


def test_without_a_floor_there_is_none():
    bare = simwright.render(make_swing(), size=SIZE, floor=False)
    laid = simwright.render(make_swing(), size=SIZE)
    assert np.abs(bare.astype(int) - laid.astype(int)).max() > 30


def test_a_film_turns_once_around(tmp_path):
    made = simwright.render(make_swing(), tmp_path / "turn.gif", size=SIZE, seconds=0.5, fps=10)
    with Image.open(made) as film:
        assert film.n_frames == 5 == made.frames
        assert film.size == SIZE
        frames = []
        for number in range(5):
            film.seek(number)
            frames.append(np.asarray(film.convert("RGB")).astype(int))
    places = [find_red(frame)[0] for frame in frames]
    assert np.ptp(places) > 40, "the box goes from one side to the other"


def test_a_picture_of_a_scene_file_camera(tmp_path):
    made = simwright.render(
        SAMPLES / "quadruped" / "quadruped.xml", tmp_path / "a.png", size=SIZE, camera="30,-10,2.5"
    )
    told = made.describe()
    assert (told["width"], told["height"], told["frames"]) == (*SIZE, 1)
    assert told["camera"]["azimuth"] == 30.0
    assert told["camera"]["distance"] == 2.5
    with Image.open(made) as image:
        assert image.size == SIZE


def test_a_camera_of_the_file_is_used_by_its_name():
    """It looks along its own -Z from three metres above: the box is to the right of the hub."""
    asset = make_swing(cameras=[Camera("above", pose=simwright.Pose.of((0.0, 0.0, 3.0)))])
    picture = simwright.render(asset, size=SIZE, camera="above")
    blue = np.argwhere(picture[..., 2] > 1.8 * picture[..., 0]).mean(axis=0)[::-1]
    assert blue == pytest.approx(np.array(SIZE) / 2, abs=3)
    assert find_red(picture)[0] > blue[0] + 10
    with pytest.raises(UnknownNameError, match="above"):
        simwright.render(asset, size=SIZE, camera="abov")


def test_a_task_is_drawn_as_its_episode_begins():
    picture = simwright.render("reach", robot=str(SAMPLES / "arm" / "urdf" / "arm.urdf"), size=SIZE)
    expect_exposed(picture)


@pytest.mark.parametrize("text", ["1", "1,2,3,4", "10,95", "10,-20,0", "10,nan", "10,-20,inf"])
def test_what_is_no_camera_is_told(text):
    with pytest.raises(UsageError, match="not a camera"):
        read_camera(text)


def test_drawing_changes_no_bit_of_a_run(tmp_path):
    path = SAMPLES / "quadruped" / "scene.xml"
    plain = simwright.run(path, frames=120)
    filmed = simwright.run(path, frames=120, record=tmp_path / "a.gif", fps=10, size=SIZE)
    assert plain.positions.tobytes() == filmed.positions.tobytes()
    assert plain.velocities.tobytes() == filmed.velocities.tobytes()


def test_other_worlds_stand_beside_the_first_on_one_ground() -> None:
    asset = Asset("ball", bodies=[Body("ball")])
    asset.shapes = [Shape("floor", Box.of(9.0, 9.0, 0.1), visual=True), Shape("ball", Sphere(0.1), "ball")]
    painter = WorldPainter(asset, np.array(((0.0, 0.0, 0.0), (2.0, 1.0, 0.0))), shared=("floor",))
    start = find_positions(asset, painter.layout)
    painter.place(np.stack((start, start)))
    model, names = painter._compiled.model, painter._compiled.names.geoms
    first, second = painter._data
    for name, offset in (("floor", (0.0, 0.0, 0.0)), ("ball", (2.0, 1.0, 0.0))):
        geom = model.geom(names[name][0]).id
        assert second.geom_xpos[geom] - first.geom_xpos[geom] == pytest.approx(offset)


def test_a_keyframe_places_the_base_and_the_joints() -> None:
    asset = Asset("arm", bodies=[Body("base", inertial=Inertial(1.0)), Body("arm", inertial=Inertial(1.0))])
    elbow = Dof(Motion.HINGE, np.array((0.0, 0.0, 1.0)), "elbow")
    asset.joints = [Joint("elbow", JointKind.REVOLUTE, "base", "arm", dofs=[elbow])]
    layout = WorldPainter(asset).layout
    (base,) = (freedom for freedom in layout.freedoms if freedom.joint is None)
    (hinge,) = (freedom for freedom in layout.freedoms if freedom.joint is not None)
    place = (1.0, 2.0, 3.0, 0.0, 1.0, 0.0, 0.0)
    asset.keyframes = [Keyframe("home", {base.name: place, "elbow": 0.7}), Keyframe("bent", {"elbow": -0.2})]
    home, bent = (find_positions(asset, layout, keyframe=name) for name in ("home", "bent"))
    assert home[base.positions].tolist() == list(place)
    assert home[hinge.positions].tolist() == [0.7]
    assert bent[base.positions].tolist() == [0.0, 0.0, 0.0, 1.0, 0.0, 0.0, 0.0]
    assert bent[hinge.positions].tolist() == [-0.2]


def test_the_floor_lies_a_little_below_a_plane_with_an_end() -> None:
    asset = Asset("table", bodies=[Body("ball", pose=Pose.of((0.0, 0.0, 30.0)), inertial=Inertial(1.0))])
    asset.materials = [RenderMaterial("oak", (0.6, 0.4, 0.2))]
    asset.shapes = [
        # a plane with a look of its own is drawn; one without is where the floor is laid
        Shape("top", Plane(np.array((30.0, 30.0))), visual=True, material="oak"),
        Shape("ball", Sphere(20.0), "ball", visual=True),
    ]
    painter = WorldPainter(asset)
    painter.place(find_positions(asset, painter.layout)[None])
    plan = painter.plan(CameraWish(), SIZE[0] / SIZE[1])
    floor = painter._choose_floor(plan)
    assert floor is not None
    assert plan.radius > 5.0
    # below the plane, so that the two never flicker, but by no more than the eye takes for one
    assert -0.005 * plan.radius < floor < -0.001 * plan.radius
