"""Elements that are written into a builder's lists are those that its own methods put there, bit for bit."""

from __future__ import annotations

import random
import warnings
from typing import Any

import numpy as np
import pytest

from simwright.engines.newton.direct import DirectAdder, choose_adder

pytestmark = pytest.mark.judge("newton")


def _describe(builder: Any) -> dict[str, Any]:
    """All that a builder holds, values of Warp by their type and memory."""
    return {name: _make_plain(value) for name, value in vars(builder).items() if name != "custom_attributes"}


def _make_plain(value: Any) -> Any:
    if isinstance(value, (list, tuple)):
        return [type(value).__name__, *map(_make_plain, value)]
    if isinstance(value, dict):
        return [(key, _make_plain(entry)) for key, entry in value.items()]
    if type(value).__module__.startswith("warp"):
        return type(value).__name__, bytes(value)
    if isinstance(value, float):
        return type(value).__name__, float(value).hex()
    return (type(value).__name__, value) if isinstance(value, (int, str)) else type(value).__name__


def _compare(newton: Any, fill: Any) -> None:
    """Fill one builder directly, one by its own methods, and compare them."""
    ours, theirs = newton.ModelBuilder(), newton.ModelBuilder()
    adder = choose_adder(ours)
    assert isinstance(adder, DirectAdder)
    fill(adder, ours)
    fill(theirs, theirs)
    for name, value in _describe(theirs).items():
        assert _describe(ours)[name] == value, name


def _frame(chance: random.Random) -> tuple[float, ...]:
    return tuple(chance.uniform(-3.0, 3.0) for _ in range(7))


def _add_link(to: Any, chance: random.Random, mass: float, inertia: Any) -> int:
    number: int = to.add_link(
        xform=_frame(chance),
        com=_frame(chance)[:3],
        inertia=np.asarray(inertia, dtype=np.float64),
        mass=mass,
        label=f"link{chance.random()}",
        lock_inertia=True,
        is_kinematic=chance.random() < 0.2,
    )
    return number


@pytest.mark.parametrize(
    "inertia",
    [
        np.zeros((3, 3)),
        np.eye(3),
        np.diag((1e-30, 1e-20, 1.0)),
        np.diag((1e300, 1.0, 1.0)),
        np.array(((2.0, 0.1, 0.3), (0.1, 3.0, -0.2), (0.3, -0.2, 4.0))),
    ],
)
def test_links(newton: Any, inertia: Any) -> None:
    def fill(to: Any, _: Any) -> None:
        chance = random.Random(1)
        for mass in (0.0, 1.0, 1e-12):
            _add_link(to, chance, mass, inertia)

    _compare(newton, fill)


def _make_axis(newton: Any, chance: random.Random) -> Any:
    limits = chance.choice([(-1.0, 2.0), (-np.inf, np.inf), (-0.5, np.inf)])
    modes = [None, *newton.JointTargetMode]
    return newton.ModelBuilder.JointDofConfig(
        axis=(chance.random(), chance.random(), 1.0),
        limit_lower=limits[0],
        limit_upper=limits[1],
        target_pos=chance.random(),
        target_ke=chance.choice([0.0, 10.0]),
        target_kd=chance.choice([0.0, 1.0]),
        actuator_mode=chance.choice(modes),
    )


@pytest.mark.parametrize("seed", range(4))
def test_joints(newton: Any, seed: int) -> None:
    kinds = newton.JointType

    def fill(to: Any, _: Any) -> None:
        chance = random.Random(seed)
        axes = {kinds.FIXED: (0, 0), kinds.REVOLUTE: (0, 1), kinds.PRISMATIC: (1, 0), kinds.BALL: (0, 3)}
        for number in range(24):
            child = _add_link(to, chance, 1.0, np.eye(3))
            kind = chance.choice([*axes, kinds.D6])
            linear, angular = axes.get(kind, (chance.randint(0, 3), chance.randint(0, 3)))
            to.add_joint(
                kind,
                chance.randint(-1, number - 1),
                child,
                linear_axes=[_make_axis(newton, chance) for _ in range(linear)],
                angular_axes=[_make_axis(newton, chance) for _ in range(angular)],
                label=f"joint{number}",
                parent_xform=_frame(chance),
                child_xform=_frame(chance),
                collision_filter_parent=chance.choice([None, True, False]),
                enabled=chance.random() < 0.8,
            )

    _compare(newton, fill)


def test_joint_beside_another(newton: Any) -> None:
    """Newton warns of two joints between two bodies, and filters shapes that are there already."""

    def fill(to: Any, builder: Any) -> None:
        chance = random.Random(0)
        first, second = (_add_link(to, chance, 1.0, np.eye(3)) for _ in range(2))
        for body in (first, second):
            builder.add_shape_box(body, hx=1.0, hy=1.0, hz=1.0)
        for _ in range(2):
            to.add_joint(
                newton.JointType.FIXED, first, second, parent_xform=_frame(chance), child_xform=_frame(chance)
            )

    with pytest.warns(UserWarning, match="Parallel joints"):
        _compare(newton, fill)


def test_joint_of_unknown_body(newton: Any) -> None:
    builder = newton.ModelBuilder()
    frame = (0.0, 0.0, 0.0, 0.0, 0.0, 0.0, 1.0)
    with pytest.raises(ValueError, match="out of range"):
        choose_adder(builder).add_joint(newton.JointType.FIXED, -1, 3, parent_xform=frame, child_xform=frame)


@pytest.mark.parametrize("seed", range(4))
def test_shapes(newton: Any, seed: int) -> None:
    geometry = newton.GeoType
    mesh = newton.Mesh(
        np.eye(4, 3), np.array((0, 1, 2, 0, 2, 3)), compute_inertia=False, color=(0.5, 0.1, 0.2)
    )

    def fill(to: Any, builder: Any) -> None:
        chance = random.Random(seed)
        configs = [builder.default_shape_cfg.copy() for _ in range(3)]
        configs[1].gap, configs[1].mu, configs[1].is_visible = 0.25, 0.5, False
        configs[2].has_shape_collision = configs[2].has_particle_collision = False
        frame = _frame(chance)
        bodies = [_add_link(to, chance, 1.0, np.eye(3)) for _ in range(4)]
        for parent, child in ((-1, 0), (0, 1), (0, 2), (2, 3)):
            kind = chance.choice([newton.JointType.FIXED, newton.JointType.REVOLUTE])
            axes = [_make_axis(newton, chance)] if kind == newton.JointType.REVOLUTE else []
            to.add_joint(kind, parent, child, angular_axes=axes, parent_xform=frame, child_xform=frame)
        kinds = [geometry.SPHERE, geometry.BOX, geometry.CAPSULE, geometry.ELLIPSOID, geometry.CYLINDER]
        kinds += [geometry.CONE, geometry.PLANE, geometry.MESH, geometry.CONVEX_MESH]
        for number in range(30):
            kind, body = chance.choice(kinds), chance.choice([-1, *bodies])
            if chance.random() < 0.2:
                sphere = {"type": geometry.SPHERE, "scale": (0.1, 0.1, 0.1)}
                to.add_site(body, xform=_frame(chance), label="site", visible=chance.random() < 0.5, **sphere)
                continue
            to.add_shape(
                body=body,
                type=kind,
                xform=_frame(chance),
                scale=(chance.random(), chance.random() / 10, 0.0 if kind == geometry.CYLINDER else 0.5),
                cfg=chance.choice(configs),
                src=mesh if kind in (geometry.MESH, geometry.CONVEX_MESH) else None,
                is_static=True,
                color=chance.choice([None, (0.1, 0.2, 0.3)]),
                opacity=chance.choice([None, 0.5]),
                label=chance.choice(["", f"shape{number}"]),
            )

    _compare(newton, fill)


def test_shapes_that_newton_refuses(newton: Any) -> None:
    builder = newton.ModelBuilder()
    adder, cfg = choose_adder(builder), builder.default_shape_cfg.copy()
    common = {"body": -1, "type": newton.GeoType.BOX, "xform": (0.0,) * 6 + (1.0,), "scale": (1.0, 1.0, 1.0)}
    with pytest.raises(ValueError, match="opacity"):
        adder.add_shape(cfg=cfg, opacity=2.0, **common)
    cfg.is_site = True
    with pytest.raises(ValueError, match="Site shape"):
        adder.add_shape(cfg=cfg, **common)
    cfg = builder.default_shape_cfg.copy()
    cfg.density = -1.0
    with pytest.raises(ValueError, match="density"):
        adder.add_shape(cfg=cfg, **common)
    assert builder.shape_count == 0


def test_others_are_asked(newton: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    """A class of its own, methods that somebody has exchanged and unknown versions are called for every element."""

    class Own(newton.ModelBuilder):  # type: ignore[misc]  # Newton has no types here
        pass

    own = Own()
    assert choose_adder(own) is own
    plain = newton.ModelBuilder()
    plain.add_link = lambda **_: 0
    assert choose_adder(plain) is plain
    plain = newton.ModelBuilder()
    with monkeypatch.context() as patch:
        patch.setattr(newton.ModelBuilder, "add_joint", lambda *_, **__: 0)
        assert choose_adder(plain) is plain
    with monkeypatch.context() as patch:
        patch.setattr(newton, "__version__", "1.8.0")
        assert choose_adder(plain) is plain
    assert isinstance(choose_adder(plain), DirectAdder)


@pytest.mark.filterwarnings("ignore")
def test_whole_import(newton: Any, stages: Any) -> None:
    """A stage in a builder, and in one of a class of its own."""
    from simwright.engines.newton import add_usd

    class Own(newton.ModelBuilder):  # type: ignore[misc]  # Newton has no types here
        pass

    for stage in stages:
        ours, theirs = newton.ModelBuilder(), Own()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            add_usd(ours, str(stage), load_visual_shapes=False)
            add_usd(theirs, str(stage), load_visual_shapes=False)
        for name, value in _describe(theirs).items():
            if name != "shape_source":
                assert _describe(ours)[name] == value, (stage, name)


@pytest.fixture
def stages() -> Any:
    """The shared stages, where they are."""
    from pathlib import Path

    found = sorted((Path(__file__).resolve().parents[4] / "shared" / "assets" / "usd").glob("*.usda"))
    if not found:
        pytest.skip("no shared stages beside the repository")
    return found


_SCATTER = """#usda 1.0
(
    metersPerUnit = 1
    upAxis = "Z"
)
def PhysicsScene "scene" {}
def PointInstancer "scatter" {
    int[] protoIndices = [0, 0]
    point3f[] positions = [(0, 0, 0), (3, 0, 0)]
    rel prototypes = [</scatter/stone>]
    def Sphere "stone" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {
        double radius = 0.5
    }
}
def Cube "ground" (prepend apiSchemas = ["PhysicsCollisionAPI"]) {
    double size = 2
}
"""


def test_what_an_instancer_scatters_is_not_where_its_prototype_stands(newton: Any, tmp_path: Any) -> None:
    """The walk over all prims that comes before reading goes below instancers, which the reader does not."""
    from simwright.app.api import load
    from simwright.engines.newton import add_usd

    path = tmp_path / "scatter.usda"
    path.write_text(_SCATTER)
    builder = newton.ModelBuilder()
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        add_usd(builder, str(path), load_visual_shapes=False)
    assert builder.shape_count == len(load(path).shapes) == 3
