"""A file through the neutral model into MuJoCo's memory: the same machine as MuJoCo makes of the file, bit for bit."""

from __future__ import annotations

import importlib.util
import subprocess
import sys
import warnings
from pathlib import Path

import mujoco
import numpy as np
import pytest

import simwright
from simwright.core.diag import Level, Reporter
from simwright.core.errors import OutputError
from simwright.core.math3d import Pose
from simwright.formats.format import WriteOptions
from simwright.formats.mjcf.memory import build_spec, compile_asset
from simwright.formats.mjcf.quiet import quiet_mujoco
from simwright.formats.mjcf.writer.entry import write
from simwright.model.asset import Asset, Body, Shape, Site
from simwright.model.geometry import Box, Mesh, Recipe
from simwright.model.inertia import Inertial
from simwright.model.joint import Dof, Drive, Joint, JointKind, Motion

from .machines import FILES, MACHINES

SCRIPT = Path(__file__).resolve().parents[3] / "scripts" / "compare_runs.py"
STEPS = 200
FOLDER = Path(__file__).resolve().parents[4] / "shared" / "assets" / "mjcf"
MODELS = sorted(str(p.relative_to(FOLDER)) for p in FOLDER.rglob("*.xml")) if FOLDER.is_dir() else ["none"]
FRAGMENTS = {"shadow_hand/keyframes.xml"}


def load_script():
    spec = importlib.util.spec_from_file_location("compare_runs", SCRIPT)
    module = importlib.util.module_from_spec(spec)
    sys.modules["compare_runs"] = module
    spec.loader.exec_module(module)
    return module


runs = load_script()


def put(folder: Path, text: str, name: str = "model.xml") -> Path:
    for other, content in FILES.items():
        (folder / other).write_text(content)
    path = folder / name
    path.write_text(text)
    return path


def compile_both(path: Path):
    with runs.quiet_mujoco():
        plain = mujoco.MjModel.from_xml_path(str(path))
    reporter = Reporter()
    return plain, compile_asset(simwright.load(path, reporter=reporter), reporter)


def check_same(plain, ours):
    assert runs.list_differences(plain, ours) == []
    controls = runs.make_controls(plain, STEPS).values
    expected, found = (step(model, controls) for model in (plain, ours))
    assert np.array_equal(expected, found)


def step(model, controls):
    """Coordinates after every step."""
    data = mujoco.MjData(model)
    with runs.quiet_mujoco():
        states = []
        for row in controls:
            data.ctrl[:] = row
            mujoco.mj_step(model, data)
            states.append(data.qpos.copy())
    return np.array(states)


@pytest.mark.parametrize("name", MACHINES)
def test_same_machine(name, tmp_path):
    plain, compiled = compile_both(put(tmp_path, MACHINES[name]))
    check_same(plain, compiled.model)


@pytest.mark.parametrize("name", MACHINES)
def test_same_machine_on_disk(name, tmp_path):
    """Defaults are factored out on disk; no bit changes."""
    path = put(tmp_path, MACHINES[name])
    with runs.quiet_mujoco():
        plain = mujoco.MjModel.from_xml_path(str(path))
    written = write(simwright.load(path), tmp_path / "out" / "robot.xml", WriteOptions(), Reporter())
    for file in (path, *(tmp_path / other for other in FILES)):
        file.unlink()
    check_same(plain, mujoco.MjModel.from_xml_path(str(written)))


@pytest.mark.realworld
@pytest.mark.parametrize("name", [n for n in MODELS if n not in FRAGMENTS])
def test_robots(name, shared_assets):
    plain, compiled = compile_both(shared_assets / "mjcf" / name)
    check_same(plain, compiled.model)


def test_differences_are_seen(tmp_path):
    """The comparison itself: another last bit of an anchor is found."""
    text = MACHINES["joints"]
    plain = mujoco.MjModel.from_xml_path(str(put(tmp_path, text)))
    other = mujoco.MjModel.from_xml_path(str(put(tmp_path, text.replace(".013", ".01300000000000000001e0"))))
    moved = mujoco.MjModel.from_xml_path(str(put(tmp_path, text.replace(".013", ".013000000000000003"))))
    assert runs.list_differences(plain, other) == []
    assert any(text.startswith("jnt_pos") for text in runs.list_differences(plain, moved))


def test_equalities_of_several_files_keep_their_order(tmp_path):
    """Solvers take constraints in order; lines of different files do not tell it."""
    before, section, after = MACHINES["equalities"].partition("<equality>")
    rows, _, rest = after.partition("</equality>")
    (tmp_path / "more.xml").write_text(f"<mujoco>{section}{rows}</equality></mujoco>")
    first = '<equality><joint name="first" joint1="r" polycoef="0.01"/></equality>'
    text = f'{before}{first}<include file="more.xml"/>{rest}'
    plain, compiled = compile_both(put(tmp_path, text))
    check_same(plain, compiled.model)
    names = [compiled.model.eq(i).name for i in range(compiled.model.neq)]
    assert names == [plain.eq(i).name for i in range(plain.neq)]


def test_mesh_beside_an_included_file(tmp_path):
    """MuJoCo looks beside the main file first, then beside the included one."""
    (tmp_path / "parts").mkdir()
    (tmp_path / "parts" / "w.obj").write_text(FILES["wedge.obj"])
    (tmp_path / "parts" / "part.xml").write_text(
        '<mujoco><asset><mesh name="w" file="w.obj"/></asset></mujoco>'
    )
    body = '<body><freejoint/><geom type="mesh" mesh="w" pos=".1 .2 .3" quat=".9 .1 .2 .3"/></body>'
    text = f'<mujoco><include file="parts/part.xml"/><worldbody>{body}</worldbody></mujoco>'
    plain, compiled = compile_both(put(tmp_path, text))
    check_same(plain, compiled.model)


def test_actuator_plugin(tmp_path):
    text = """<mujoco><extension><plugin plugin="mujoco.pid"><instance name="gains"><config key="kp" value="3.3"/>
     <config key="ki" value=".7"/></instance></plugin></extension><worldbody><body><joint name="j" axis="0 1 0"/>
     <geom size=".1" pos=".1 0 0"/></body></worldbody><actuator><plugin name="a" joint="j" plugin="mujoco.pid"
  instance="gains"
     actdim="1" ctrlrange="-1 1"/></actuator></mujoco>"""
    plain, compiled = compile_both(put(tmp_path, text))
    check_same(plain, compiled.model)


def test_what_is_lost_is_said(tmp_path):
    """Soft bodies have no neutral form: a warning, never silence."""
    text = """<mujoco><worldbody><flexcomp name="soft" type="grid" count="3 3 1" spacing=".1 .1 .1" dim="2" mass="1">
     <edge equality="true"/></flexcomp></worldbody></mujoco>"""
    path = put(tmp_path, text)
    reporter = Reporter()
    simwright.load(path, reporter=reporter)
    assert any(d.kind == "mjcf-not-carried" and d.level is Level.WARNING for d in reporter)
    row = runs.compare_file(path, 10)
    assert row.named
    assert not row.fails


def test_cube_textures(tmp_path):
    """An image cut into the sides of a cube, and one image for each side."""
    from PIL import Image

    Image.new("RGB", (24, 32)).save(tmp_path / "grid.png")
    Image.new("RGB", (8, 8)).save(tmp_path / "side.png")
    sides = " ".join(f'file{side}="side.png"' for side in ("right", "left", "up", "down", "front", "back"))
    text = f"""<mujoco><asset><texture name="g" type="cube" file="grid.png" gridsize="4 3" gridlayout=".U..LFRB.D.."/>
     <texture name="s" type="skybox" {sides}/><material name="m" texture="g"/></asset>
     <worldbody><geom size=".1" material="m"/></worldbody></mujoco>"""
    plain, compiled = compile_both(put(tmp_path, text))
    assert plain.ntex == compiled.model.ntex == 2
    assert sorted(plain.tex_height) == sorted(compiled.model.tex_height)


def test_broken_cube_texture(tmp_path):
    """An image that is gone after reading is reported, and its texture left out, as a flat one is."""
    from PIL import Image

    Image.new("RGB", (8, 8)).save(tmp_path / "cube.png")
    text = """<mujoco><asset><texture name="c" type="cube" file="cube.png"/><material name="m" texture="c"/></asset>
     <worldbody><geom size=".1" material="m"/></worldbody></mujoco>"""
    asset = simwright.load(put(tmp_path, text))
    (tmp_path / "cube.png").unlink()
    reporter = Reporter()
    assert compile_asset(asset, reporter).model.ntex == 0
    assert "mjcf-write-texture" in [d.kind for d in reporter if d.level is Level.WARNING]


def test_names(tmp_path):
    asset = simwright.load(put(tmp_path, MACHINES["sensors"]))
    names = compile_asset(asset, Reporter()).names
    assert names.bodies == {"a": "a", "b": "b"}
    assert names.joints == {"p": ("p",), "w": ("w",)}
    assert names.actuators == {"m": "m"}
    assert names.geoms["g"] == ("g",)
    assert names.sensors["acc"] == ("acc",)
    assert names.keyframes["home"] == "home"
    assert names.tendons == {"t": "t"}
    assert names.initial is None


def make_arm() -> Asset:
    """A body that nothing holds, a driven hinge on it, and a screw."""
    asset = Asset("arm")
    inertial = Inertial(1.0, inertia=np.eye(3) * 0.01)
    asset.bodies = [Body(name, inertial=inertial) for name in ("base", "link", "nut")]
    drive = Drive(stiffness=3.0, damping=0.1, target_position=0.2)
    asset.joints = [
        Joint("turn", JointKind.REVOLUTE, "base", "link", dofs=[Dof(Motion.HINGE, name="turn", drive=drive)]),
        Joint("screw", JointKind.SCREW, "link", "nut", dofs=[Dof(Motion.HINGE, name="screw", pitch=0.01)]),
    ]
    asset.shapes = [Shape("hull", Box.of(0.1, 0.1, 0.1), "base", collision=True)]
    asset.sites = [Site("tip", "nut")]
    return asset


def test_names_of_made_joints():
    names = compile_asset(make_arm(), Reporter()).names
    assert names.free_joints == {"base": "base_free"}
    assert names.joints == {"turn": ("turn",), "screw": ("screw", "screw_advance")}
    assert names.drives == {"turn": "turn"}
    assert names.initial == "initial"
    assert names.sites == {"tip": "tip"}


def test_spec_can_be_added_to():
    """A ground plane, say, before compiling."""
    written = build_spec(make_arm(), Reporter())
    written.spec.worldbody.add_geom(name="ground", type=mujoco.mjtGeom.mjGEOM_PLANE, size=(1, 1, 0.1))
    compiled = written.compile()
    assert compiled.model.geom("ground").id >= 0
    assert compiled.spec is written.spec
    assert b"<mujoco" in compiled.xml


def test_moved_frames_count(tmp_path):
    """What the source says of a body's place holds only as long as nobody moves it."""
    asset = simwright.load(put(tmp_path, MACHINES["joints"]))
    joint = asset.joint("ball")
    joint.parent_frame = Pose.of((0.0, 0.0, 0.5)) @ joint.parent_frame
    before, after = (
        compile_asset(a, Reporter()).model for a in (simwright.load(tmp_path / "model.xml"), asset)
    )
    assert np.allclose(after.body("b").pos - before.body("b").pos, (0.0, 0.0, 0.5))


def test_mujoco_opens_no_file(tmp_path):
    """Content is handed over: a file that is gone after reading, or was never found by a reader, is not looked for."""
    path = put(tmp_path, MACHINES["meshes"])
    written = build_spec(simwright.load(path), Reporter())
    for file in FILES:
        (tmp_path / file).unlink()
    assert written.compile().model.nmesh > 0
    assert set(written.files) == {"meshes/wedge.obj"}


def test_attributes_of_a_stage_name_no_files(tmp_path):
    """Solver attributes that come with a prim cannot make the writer open an image."""
    from simwright.core.diag import Where

    asset = make_arm()
    secret = tmp_path / "secret.png"
    secret.write_bytes(b"\x89PNG\r\n\x1a\nsecret")
    where = Where("stage.usda", prim="/World/Looks")
    asset.extras.keep("mjc", "texture/sky", "file", str(secret), where)
    assert build_spec(asset, Reporter()).files == {}


def test_same_names_of_different_files(tmp_path):
    """MuJoCo keeps meshes in a cache; content of another model with the same file name is not taken for it."""
    sizes = []
    for size in (1, 2):
        folder = tmp_path / str(size)
        folder.mkdir()
        text = FILES["wedge.obj"].replace(".23", f".{size}3")
        (folder / "m.obj").write_text(text)
        path = folder / "model.xml"
        path.write_text(
            '<mujoco><asset><mesh name="m" file="m.obj"/></asset>'
            '<worldbody><geom type="mesh" mesh="m"/></worldbody></mujoco>'
        )
        sizes.append(compile_asset(simwright.load(path), Reporter()).model.geom_aabb[0].copy())
    assert not np.array_equal(*sizes)


def test_refusals_are_errors():
    asset = make_arm()
    corner = Mesh.of(np.zeros((4, 3)), [[0, 1, 2]])
    corner.recipe = Recipe("", {"vertex": [0.0, 0.0]})
    asset.shapes.append(Shape("broken", corner, "link", visual=True))
    with pytest.raises(OutputError, match="MuJoCo refuses the model"):
        compile_asset(asset, Reporter())


def test_script(tmp_path):
    """Both forms of the table, fragments counted, and its exit code."""
    put(tmp_path, MACHINES["joints"])
    command = [sys.executable, str(SCRIPT), str(tmp_path), "--steps", "20"]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stderr
    assert "bit for bit" in done.stdout
    (tmp_path / "fragment.xml").write_text("<mujocoinclude/>")
    done = subprocess.run([*command, "--format", "json"], capture_output=True, text=True, check=False)
    result = runs.json.loads(done.stdout)
    assert result["skipped"] == 1
    assert result["exact"] == result["files"] == 2


def test_warnings_are_collected_whatever_the_filters_of_the_process_say() -> None:
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        with quiet_mujoco() as texts:
            warnings.warn("odd inertia", UserWarning, stacklevel=1)
    assert texts == ["odd inertia"]
