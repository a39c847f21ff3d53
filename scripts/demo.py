# SPDX-License-Identifier: Apache-2.0
"""``make demo``: the whole product, on the sample assets, through the command line only.

Every step shows the command that a user would type. Results go to out/demo, with a page to open at the end. It needs
Simwright and nothing of this checkout, so it runs where only a package is installed:

    python demo.py --folder /tmp/demo
"""

from __future__ import annotations

import argparse
import html
import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

from rich.console import Console
from rich.rule import Rule

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = Path("samples")
SIMWRIGHT = (sys.executable, "-m", "simwright")

BENT = ("--q", "joint_2=0.7", "--q", "joint_3=-1.5", "--q", "joint_5=-0.9")
PICTURES = {
    "arm.png": (f"{SAMPLES}/arm/urdf/arm.urdf.xacro", *BENT),
    "quadruped.png": (f"{SAMPLES}/quadruped/quadruped.xml",),
    "colliders.png": (f"{SAMPLES}/quadruped/quadruped.xml", "--show", "collision"),
    "lab-3d.png": (f"{SAMPLES}/lab/lab.yaml",),
}
"""Pictures by name, and what ``simwright render`` is told."""
LAB = f"{SAMPLES}/lab/lab.yaml"
WORLDS = (
    ("world", "check", LAB),
    ("world", "render", LAB, "-o", "lab.png"),
    ("world", "plan", LAB, "--robot", "tender", "--to", "office"),
    ("world", "build", LAB, "-o", "lab", "--format", "sdf", "--format", "nav2", "--format", "glb"),
)
DRAWN = tuple(("render", *told, "-o", name, "--size", "640x480") for name, told in PICTURES.items())

BAD_ROBOT = """#usda 1.0
(
    defaultPrim = "cart"
    metersPerUnit = 1
    upAxis = "Y"
)

def Xform "cart"
{
    def Xform "base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"]
    )
    {
        float physics:mass = 0
        matrix4d xformOp:transform = ( (1, 0, 0, 0), (0, 1, 0, 0), (0, 0, 1, 0), (0, 0, 2, 1) )
        uniform token[] xformOpOrder = ["xformOp:transform"]
    }

    def PhysicsPrismaticJoint "rail"
    {
        rel physics:body1 = </cart/base>
        float physics:lowerLimit = 1
    }
}
"""

MIXED_JOINT = """#usda 1.0
(
    defaultPrim = "robot"
    metersPerUnit = 1
    upAxis = "Z"
)

def Xform "robot"
{
    def Xform "base" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI"]
    )
    {
    }

    def PhysicsRevoluteJoint "hinge"
    {
        rel physics:body1 = </robot/base>
        float newton:armature = 0.02
        float physxJoint:armature = 0.01
        double mjc:damping = 0.5
    }
}
"""

PAGE = """<!doctype html>
<html lang="en"><head><meta charset="utf-8"><meta name="viewport" content="width=device-width, initial-scale=1">
<title>Simwright: what the tour made</title>
<style>
:root {{ color-scheme: light dark; }}
body {{ font: 16px/1.5 system-ui, sans-serif; max-width: 66rem; margin: auto; padding: 1rem; }}
.shots {{ display: grid; grid-template-columns: repeat(auto-fill, minmax(17rem, 1fr)); gap: 1rem; }}
figure {{ margin: 0; }} img {{ width: 100%; border-radius: 4px; }} figcaption {{ font-size: .85rem; }}
pre {{ background: color-mix(in srgb, currentColor 8%, transparent); padding: .6rem; overflow-x: auto; }}
h3 {{ font-size: 1rem; margin-bottom: .2rem; }}
</style></head><body>
<h1>What the tour made</h1>
<div class="shots">{pictures}</div>
<h2>Files to open</h2>
<ul>{rows}</ul>
<h2>The commands</h2>
{told}
</body></html>
"""

console = Console(highlight=False)
steps: list[tuple[str, list[str]]] = []
"""Titles and commands, for the page."""
begun: dict[tuple[str, ...], Future[subprocess.CompletedProcess[str]]] = {}
"""Commands that run beside the others, by their arguments."""


def main() -> int:
    """Run the tour in an empty folder."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--folder", type=Path, default=ROOT / "out" / "demo", help="emptied first")
    folder: Path = parser.parse_args().folder
    if folder.exists() and any(folder.iterdir()) and not (folder / SAMPLES).is_dir():
        sys.exit(f"demo: {folder} is not empty and was not made by this tour; name another folder")
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    os.chdir(folder)
    start = time.perf_counter()
    look()
    convert()
    check()
    simulate()
    build_worlds()
    draw()
    break_it()
    write_page()
    console.print(Rule())
    console.print(f"[green]Done[/] in {time.perf_counter() - start:.1f} s. Results:")
    for path in sorted(Path().iterdir()):
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in files)
        what = "" if path.is_file() else f"{len(files)} files, "
        console.print(f"  {path}  ({what}{size:,} bytes)", markup=False)
    console.print(
        f"Open {Path('index.html').resolve()} in a browser: pictures, a report in 3D, and the commands."
    )
    console.print("Next: `simwright --help`, or `simwright inspect` on a robot of your own.")
    return 0


def look() -> None:
    """Four formats, one view."""
    step("Sample robots, rooms and scenes, as anybody gets them after `pip install`")
    call("samples", "copy", str(SAMPLES))
    begin_ahead()
    step("A robot arm in xacro: what is in it?")
    call("inspect", f"{SAMPLES}/arm/urdf/arm.urdf.xacro")
    step("A rover in SDFormat, a quadruped in MJCF, a closed loop in OpenUSD: the same view of each")
    call("inspect", f"{SAMPLES}/rover/model.sdf", "--depth", "1")
    call("inspect", f"{SAMPLES}/quadruped/quadruped.xml", "--depth", "2")
    call("inspect", f"{SAMPLES}/fourbar/fourbar.usda")
    step("Everything at full precision, for programs")
    save("inspect", f"{SAMPLES}/arm/urdf/arm.urdf", "--format", "json", to="arm.json")
    console.print(f"  {json.loads(Path('arm.json').read_text())['summary']}", markup=False)


def convert() -> None:
    """Into OpenUSD, compared, and out again."""
    step("The arm as a layered OpenUSD asset: converted, and checked")
    call("convert", f"{SAMPLES}/arm/urdf/arm.urdf.xacro", "arm")
    call("check", "arm")
    step("Is it the same robot? Structure, kinematics, dynamics and geometry, compared")
    call("diff", f"{SAMPLES}/arm/urdf/arm.urdf.xacro", "arm/simwright_arm.usda")
    step("Out of OpenUSD again: for MuJoCo, RViz and MoveIt, Gazebo, the web, and as one package")
    for target in ("mujoco/arm.xml", "ros/arm.urdf", "gazebo/arm.sdf", "web/arm.glb", "package/arm.usdz"):
        call("convert", "arm/simwright_arm.usda", target)


def check() -> None:
    """Rules, reports and repairs."""
    step("Is an OpenUSD asset compliant with REP-0158? A good one, a bad one, and why")
    call("check", f"{SAMPLES}/warehouse/warehouse.usda")
    Path("bad_robot.usda").write_text(BAD_ROBOT)
    call("check", "bad_robot.usda", "--profile", "core", "--select", "1.1,1.3", expect=1)
    call("explain", "mass-no-zero-static")
    save("check", "bad_robot.usda", "--format", "html", to="bad_robot.html", expect=1)
    save("check", "bad_robot.usda", "--format", "sarif", to="bad_robot.sarif", expect=1)
    step("Repaired, with a proof that nothing else changed; then turned upright, layered and named")
    call("fix", "bad_robot.usda", "-o", "fixed", expect=1)
    call("fix", "bad_robot.usda", "-o", "upright", "--unsafe", "--set", "version=1.0.0", expect=1)
    step("Whose value counts? Newton, PhysX and MuJoCo attributes on one joint")
    Path("mixed.usda").write_text(MIXED_JOINT)
    call("resolve", "mixed.usda", "--schema-resolvers", "physx,newton,mjc")


def simulate() -> None:
    """Robots, scenes and tasks."""
    step("A robot, run as its file has it, in 16 worlds on all cores; a scene in 64")
    call("run", f"{SAMPLES}/quadruped/scene.xml", "--frames", "500", "--num-worlds", "16")
    scene = f"{SAMPLES}/playground/playground.yaml"
    call("run", scene, "--frames", "500", "--num-worlds", "64", "--record", "playground.npz")
    step("The robot is a flag: a task, and a report where a robot cannot do it")
    call("task", "run", "reach", "--robot", "sample_arm", "--policy", "reach", "--fit", "--episodes", "5")
    call("task", "run", "pick_place", "--robot", "sample_quadruped", expect=2)
    step("What an asset is to ROS 2, without ROS")
    call("ros", "graph", f"{SAMPLES}/fourbar/fourbar.usda")


def build_worlds() -> None:
    """A floor plan, in the plane and in space."""
    step("A world of rooms, doors and robots: checked, drawn, planned in, built for Gazebo and Nav2")
    for command in WORLDS:
        call(*command)


def draw() -> None:
    """Pictures to look at; a machine that cannot draw without a screen has none, and goes on."""
    step("Pictures, without a screen")
    for command in DRAWN:
        call(*command, may_fail=True)


def break_it() -> None:
    """What a mistake in a file looks like."""
    step("A broken file gets a clear answer")
    broken = Path("broken.urdf")
    text = '<robot name="x">\n  <link name="a">\n    <inertial><mass value="-1"/></inertial>\n  </link>\n'
    broken.write_text(text)
    call("inspect", str(broken), expect=2)
    broken.write_text(text + "</robot>\n")
    call("inspect", str(broken), expect=1)
    step("What is installed")
    call("doctor")


def write_page() -> None:
    """index.html: what the tour made, to look at."""
    shown = [name for name in ("lab.png", *PICTURES) if Path(name).is_file()]
    pictures = "".join(
        f'<figure><img src="{name}" alt=""><figcaption>{name}</figcaption></figure>' for name in shown
    )
    links = {
        "bad_robot.html": "the report of a bad asset, with the robot in 3D beside its findings",
        "arm/simwright_arm.usda": "the arm as an OpenUSD asset",
        "lab/glb/lab.glb": "the laboratory as glTF, for any viewer",
        "lab/nav2/lab.yaml": "its map for Nav2",
        "playground.npz": "the states of a scene in 64 worlds",
    }
    rows = "".join(f'<li><a href="{name}">{name}</a>: {what}</li>' for name, what in links.items())
    told = "".join(
        f"<h3>{html.escape(title)}</h3><pre>{html.escape(chr(10).join(commands))}</pre>"
        for title, commands in steps
    )
    Path("index.html").write_text(PAGE.format(pictures=pictures, rows=rows, told=told))


def step(title: str) -> None:
    """Start a section."""
    steps.append((title, []))
    console.print()
    console.print(Rule(f"[bold]{title}[/]", align="left"))


def begin_ahead() -> None:
    """Begin what needs nothing but the samples: it is shown in its turn, and most of it is done by then."""
    pool = ThreadPoolExecutor(max_workers=1)
    for command in (*DRAWN, *WORLDS):
        begun[command] = pool.submit(
            subprocess.run,
            [*SIMWRIGHT, *command],
            check=False,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )
    pool.shutdown(wait=False)


def call(*arguments: str, expect: int = 0, may_fail: bool = False) -> None:
    """Show and run a command; its exit code must be the expected one."""
    _show(shlex.join(arguments))
    ahead = begun.get(arguments)
    if ahead is None:
        code = subprocess.run([*SIMWRIGHT, *arguments], check=False).returncode
    else:
        done = ahead.result()
        code = done.returncode
        print(done.stdout, end="", flush=True)
    if code != expect and not may_fail:
        sys.exit(f"demo failed: exit code {code}, expected {expect}")


def save(*arguments: str, to: str, expect: int = 0) -> None:
    """Show and run a command, keeping its output in a file."""
    _show(f"{shlex.join(arguments)} > {to}")
    result = subprocess.run([*SIMWRIGHT, *arguments], check=False, stdout=subprocess.PIPE, text=True)
    if result.returncode != expect:
        sys.exit(f"demo failed: exit code {result.returncode}, expected {expect}")
    Path(to).write_text(result.stdout)


def _show(command: str) -> None:
    steps[-1][1].append(f"$ simwright {command}")
    console.print(f"[cyan]$ simwright {command}[/]")
    sys.stdout.flush()


if __name__ == "__main__":
    sys.exit(main())
