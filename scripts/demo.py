# SPDX-License-Identifier: Apache-2.0
"""``make demo``: the whole product so far, on the sample assets, through the command line only.

Every step shows the command a user would type; results that are files go to out/demo.
"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import subprocess
import sys
import time
from pathlib import Path

from rich.console import Console
from rich.rule import Rule

ROOT = Path(__file__).resolve().parent.parent
SAMPLES = Path("samples/simwright_samples")
OUT = Path("out/demo")
SIMWRIGHT = Path(sys.executable).with_name("simwright")

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

console = Console(highlight=False)


def main() -> int:
    """Run the tour."""
    os.chdir(ROOT)
    shutil.rmtree(OUT, ignore_errors=True)
    OUT.mkdir(parents=True)
    start = time.perf_counter()

    step("A robot arm in xacro: what is in it?")
    call("inspect", f"{SAMPLES}/arm/urdf/arm.urdf.xacro")
    step("A rover in SDFormat, a quadruped in MJCF, a closed loop in OpenUSD: the same view of each")
    call("inspect", f"{SAMPLES}/rover/model.sdf", "--depth", "1")
    call("inspect", f"{SAMPLES}/quadruped/quadruped.xml", "--depth", "2")
    call("inspect", f"{SAMPLES}/fourbar/fourbar.usda")
    step("Everything at full precision, for programs")
    save("inspect", f"{SAMPLES}/arm/urdf/arm.urdf", "--format", "json", to="arm.json")
    data = json.loads((OUT / "arm.json").read_text())
    console.print(f"  {data['summary']}", markup=False)
    step("The arm as a layered OpenUSD asset: converted, checked, and read back")
    call("convert", f"{SAMPLES}/arm/urdf/arm.urdf.xacro", str(OUT / "arm"))
    call("check", str(OUT / "arm"))
    call("inspect", str(OUT / "arm" / "simwright_arm.usda"), "--depth", "3")
    step("Is it the same robot? Structure, kinematics, dynamics and geometry, compared")
    call("diff", f"{SAMPLES}/arm/urdf/arm.urdf.xacro", str(OUT / "arm" / "simwright_arm.usda"))
    step("Out of OpenUSD again: for MuJoCo, RViz and MoveIt, Gazebo, the web, and as one package")
    for target in ("mujoco/arm.xml", "ros/arm.urdf", "gazebo/arm.sdf", "web/arm.glb", "package/arm.usdz"):
        call("convert", str(OUT / "arm" / "simwright_arm.usda"), str(OUT / target))
    step("A folder of robots in every format, at once")
    call("convert", str(SAMPLES), str(OUT / "all"), "--jobs", "2")
    step("Whose value counts? Newton, PhysX and MuJoCo attributes on one joint")
    mixed = OUT / "mixed.usda"
    mixed.write_text(MIXED_JOINT)
    call("resolve", str(mixed), "--schema-resolvers", "physx,newton,mjc")
    step("Is an OpenUSD asset compliant with REP-0158? A good one, a bad one, and why")
    call("check", f"{SAMPLES}/warehouse/warehouse.usda")
    bad = OUT / "bad_robot.usda"
    bad.write_text(BAD_ROBOT)
    call("check", str(bad), "--profile", "core", "--select", "1.1,1.3", expect=1)
    call("explain", "mass-no-zero-static")
    save("check", str(bad), "--format", "html", to="bad_robot.html", expect=1)
    save("check", str(bad), "--format", "sarif", to="bad_robot.sarif", expect=1)
    step("Fixed, with a proof that nothing else changed; then turned upright, layered and named")
    call("fix", str(bad), "-o", str(OUT / "fixed"), expect=1)
    call("fix", str(bad), "-o", str(OUT / "upright"), "--unsafe", "--set", "version=1.0.0", expect=1)
    step("A robot, run as its file has it, in 16 worlds on all cores")
    call("run", f"{SAMPLES}/quadruped/scene.xml", "--frames", "500", "--num-worlds", "16")
    step("A scene file: checked, run in 64 worlds, and written for other simulators")
    scene = f"{SAMPLES}/playground/playground.yaml"
    call("scene", "check", scene)
    call("run", scene, "--frames", "500", "--num-worlds", "64", "--record", str(OUT / "playground.npz"))
    call("convert", scene, str(OUT / "playground" / "playground.usda"))
    step("The robot is a flag: a task, and a report where a robot cannot do it")
    call("robots", "list")
    call("robots", "inspect", f"{SAMPLES}/quadruped/quadruped.xml")
    call("task", "run", "reach", "--robot", "sample_arm", "--policy", "reach", "--fit", "--episodes", "5")
    call("task", "run", "pick_place", "--robot", "sample_quadruped", expect=2)
    step("A world of rooms, doors and robots: checked, drawn, planned in, built in 3D")
    world = f"{SAMPLES}/lab/lab.yaml"
    call("world", "check", world)
    call("world", "render", world, "-o", str(OUT / "lab.png"))
    call("world", "plan", world, "--robot", "tender", "--to", "office")
    call("world", "build", world, "-o", str(OUT / "lab"), "--format", "all")
    call("check", str(OUT / "lab" / "usd"))
    step("ROS packages, and package:// for every OpenUSD tool")
    call("packages", "--near", str(SAMPLES))
    step("Schemas for ROS, control and extended physics, known to any OpenUSD tool")
    call("plugin-path")
    call("registry", "show", "RosTopicAPI")
    call("registry", "validate", str(ROOT / "src/simwright/usd/schemas/extended_physics_mimic"))
    step("A broken file gets a clear answer, not a traceback")
    broken = OUT / "broken.urdf"
    broken.write_text(
        '<robot name="x">\n  <link name="a">\n    <inertial><mass value="-1"/></inertial>\n  </link>\n'
    )
    call("inspect", str(broken), expect=2)
    broken.write_text(broken.read_text() + "</robot>\n")
    call("inspect", str(broken), expect=1)
    step("What is installed")
    call("doctor")

    console.print(Rule())
    console.print(f"[green]Done[/] in {time.perf_counter() - start:.1f} s. Results in {OUT}/:")
    for path in sorted(OUT.iterdir()):
        files = [path] if path.is_file() else [file for file in path.rglob("*") if file.is_file()]
        size = sum(file.stat().st_size for file in files)
        what = "" if path.is_file() else f"{len(files)} files, "
        console.print(f"  {path}  ({what}{size:,} bytes)", markup=False)
    console.print("Next: `.venv/bin/simwright --help`, or try `inspect` on a robot of your own.")
    return 0


def step(title: str) -> None:
    """Start a section."""
    console.print()
    console.print(Rule(f"[bold]{title}[/]", align="left"))


def call(*arguments: str, expect: int = 0) -> None:
    """Show and run a command; its exit code must be the expected one."""
    console.print(f"[cyan]$ simwright {shlex.join(arguments)}[/]")
    sys.stdout.flush()
    code = subprocess.run([SIMWRIGHT, *arguments], check=False).returncode
    if code != expect:
        sys.exit(f"demo failed: exit code {code}, expected {expect}")


def save(*arguments: str, to: str, expect: int = 0) -> None:
    """Show and run a command, keeping its output in a file."""
    console.print(f"[cyan]$ simwright {shlex.join(arguments)} > {OUT / to}[/]")
    result = subprocess.run([SIMWRIGHT, *arguments], check=False, stdout=subprocess.PIPE, text=True)
    if result.returncode != expect:
        sys.exit(f"demo failed: exit code {result.returncode}, expected {expect}")
    (OUT / to).write_text(result.stdout)


if __name__ == "__main__":
    sys.exit(main())
