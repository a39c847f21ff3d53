# SPDX-License-Identifier: Apache-2.0
"""Import of USD physics against Newton's ``ModelBuilder.add_usd``, in one run.

Five robots and others picked by the seed of the run, converted here from their MuJoCo models (``MENAGERIE_ROOT`` names
a checkout to draw them from, else they are those of the shared assets), a stage of 2,000 bodies and crowds of 16 to 128
humanoids.  Then, without a limit, a hand of many small parts and stages of a few bodies, where OpenUSD alone
takes about a tenth of Newton's time.  Ours is the neutral model with masses and all three solvers resolved.

Further rows fill a builder through the adapter: without visual shapes against all that Newton does by default (with a
limit) and against Newton without visual shapes; the same again in a process that has the hulls of the robot from an
earlier import; and with visual shapes, whose time is mostly Newton's own functions for visual meshes.  The floor is
what OpenUSD alone takes: open, one walk, and its C++ physics parser.  All are warm and in one process; ours and the
floor take turns.  Beside the limit of the adapter stands its own floor: that of OpenUSD, and the calls of the builder
that fill it and of Qhull that make its hulls, replayed without anything between them.  Where this is more than the
limit of add_usd's time, no importer that opens a stage with OpenUSD and fills a builder of Newton meets the limit; the
note says how many times this floor the adapter takes.  Rows called ``first`` are cold: the first import of a process in
which both packages are loaded.
"""

from __future__ import annotations

import importlib.util
import math
import os
import random
import shutil
import subprocess
import tempfile
import warnings
from collections.abc import Callable, Iterator
from dataclasses import replace
from pathlib import Path
from typing import Any

from benchmarks.measure import PYTHON, Result, cpu_time, cpu_times
from benchmarks.peers import run_in_environment

ADD_USD = "newton add_usd"
BARE = "newton add_usd without visuals"
PICKED = 4
COLD = ("panda", "barkour")
"""Robots that are also imported first in a process of their own."""
FLOOR = "open, walk, C++ parse"
LIMIT = 0.15
FLOOR_LIMIT = 3.0
ROBOTS = {
    "panda": "franka_emika_panda/panda.xml",
    "h1": "unitree_h1/h1.xml",
    "cassie": "agility_cassie/cassie.xml",
    "iiwa": "kuka_iiwa_14/iiwa14.xml",
    "barkour": "google_barkour_vb/barkour_vb.xml",
}
HAND = "shadow_hand/right_hand.xml"
CROWDS = (16, 32, 64, 128)
BODIES = 2_000
ASSETS = Path(__file__).resolve().parents[1].parent / "shared" / "assets"


def run() -> Iterator[Result | str]:
    if importlib.util.find_spec("newton") is None:
        yield from run_in_environment("newton", "import")
        return
    with tempfile.TemporaryDirectory() as folder:
        yield from _run_all(Path(folder))


def _run_all(folder: Path) -> Iterator[Result]:
    for name, path in _make_robots(folder):
        yield from compare(name, path)
        if name in COLD:
            yield compare_first(name, path)
    boxes = folder / "boxes.usda"
    write_boxes(boxes, BODIES)
    yield from compare(f"{BODIES:,} boxes", boxes, is_large=True)
    # of the rows with the limit: the reader, and the adapter
    times: dict[str, list[float]] = {}
    for count in CROWDS:
        crowd = folder / f"crowd{count}.usda"
        write_crowd(crowd, _find_humanoid(folder), count)
        for result in compare(f"{count} humanoids", crowd, is_large=True):
            if result.limit != LIMIT:
                yield result
                continue
            grown = times.setdefault(result.name.partition(",")[0], [])
            grown.append(result.seconds)
            yield replace(result, note=_growth(grown)) if count == CROWDS[-1] else result
    for name, path in _list_others(folder):
        for result in compare(name, path):
            yield replace(result, limit=None)


def compare(name: str, path: Path, *, is_large: bool = False) -> Iterator[Result]:
    """Reading against Newton and against the floor; reading into a builder, without and with visuals, against Newton.

    Large stages are given to Newton once: by then the others have warmed it up.
    """
    import newton
    import warp

    from simwright.app.api import load
    from simwright.engines.newton import add_usd
    from simwright.engines.newton.hulls import forget_hulls
    from simwright.model.mass import body_inertials

    warp.config.quiet = True
    file = str(path)

    def theirs(**choices: bool) -> None:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            newton.ModelBuilder().add_usd(file, **choices)

    def fill(*, again: bool = False, **choices: bool) -> None:
        if not again:
            forget_hulls()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            add_usd(newton.ModelBuilder(), file, **choices)

    bare = {"load_visual_shapes": False}
    if is_large:
        reference = cpu_time(theirs, 1, warm=False)
        plain = cpu_time(lambda: theirs(**bare), 1, warm=False)
    else:
        reference, plain = cpu_times([theirs, lambda: theirs(**bare)], 5)
    ours, floor = cpu_times(
        [lambda: body_inertials(load(file)), lambda: _run_floor(file)], 5 if is_large else 15
    )
    filling, hulls = (cpu_time(part, 2 if is_large else 5) for part in _record_filling(file))
    share = f"the floor alone is {floor / reference:.3f} of it"
    yield Result(f"import, {name}", ours, ADD_USD, reference, LIMIT, share)
    yield Result(f"import, {name}", ours, FLOOR, floor, FLOOR_LIMIT)
    physics, again, filled = cpu_times(
        [lambda: fill(**bare), lambda: fill(again=True, **bare), fill], 2 if is_large else 5
    )
    parts = (floor, filling, hulls)
    least = (
        "the floor is {:.3f}, filling the builder {:.3f} and Qhull {:.3f} of it: ".format(
            *(part / reference for part in parts)
        )
        + f"ours is {physics / sum(parts):.2f} of the three"
    )
    yield Result(f"import into a builder without visuals, {name}", physics, ADD_USD, reference, LIMIT, least)
    yield Result(f"import into a builder without visuals, {name}", physics, BARE, plain)
    yield Result(f"import again into a builder without visuals, {name}", again, ADD_USD, reference)
    yield Result(f"import into a builder, {name}", filled, ADD_USD, reference)


def _record_filling(file: str) -> tuple[Callable[[], None], Callable[[], None]]:
    """What fills an empty builder by the calls that an import without visuals makes, and what makes its hulls alone."""
    import newton
    import scipy.spatial

    from simwright.engines.newton import add_usd
    from simwright.engines.newton.hulls import forget_hulls

    calls: list[tuple[str, tuple[Any, ...], dict[str, Any]]] = []
    depth = [0]

    def record(name: str) -> Callable[..., Any]:
        def call(self: Any, *args: Any, **words: Any) -> Any:
            # methods of the builder call each other: the outermost call does it all
            if not depth[0]:
                calls.append((name, args, words))
            depth[0] += 1
            try:
                return getattr(newton.ModelBuilder, name)(self, *args, **words)
            finally:
                depth[0] -= 1

        return call

    names = [
        n for n in dir(newton.ModelBuilder) if n.startswith("add_") and n not in ("add_usd", "add_builder")
    ]
    recorder = type("_Recorder", (newton.ModelBuilder,), {name: record(name) for name in names})
    hulls: list[tuple[tuple[Any, ...], dict[str, Any]]] = []
    make_hull = scipy.spatial.ConvexHull

    def record_hull(*args: Any, **words: Any) -> Any:
        hulls.append((args, words))
        return make_hull(*args, **words)

    forget_hulls()
    scipy.spatial.ConvexHull = record_hull
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            add_usd(recorder(), file, load_visual_shapes=False)
    finally:
        scipy.spatial.ConvexHull = make_hull

    def fill() -> None:
        builder = newton.ModelBuilder()
        for name, args, words in calls:
            getattr(builder, name)(*args, **words)

    def make_hulls() -> None:
        for args, words in hulls:
            make_hull(*args, **words)

    return fill, make_hulls


_FIRST = """
import sys, time, warnings
import warp
warp.config.quiet = True
import newton
from simwright.engines.newton import add_usd
warnings.simplefilter("ignore")
builder, file = newton.ModelBuilder(), sys.argv[2]
start = time.process_time()
if sys.argv[1] == "ours":
    add_usd(builder, file, load_visual_shapes=False)
else:
    builder.add_usd(file)
print("took", time.process_time() - start)
"""


def compare_first(name: str, path: Path) -> Result:
    """The first import of a process, ours without visuals and Newton's with its defaults; the least of three each."""
    seconds = {}
    for side in ("ours", "theirs"):
        runs = []
        for _ in range(3):
            done = subprocess.run(
                [PYTHON, "-c", _FIRST, side, str(path)], capture_output=True, text=True, check=True
            )
            runs.append(float(done.stdout.rpartition("took")[2]))
        seconds[side] = min(runs)
    title = f"first import into a builder without visuals, {name}"
    return Result(title, seconds["ours"], ADD_USD, seconds["theirs"])


def _run_floor(file: str) -> None:
    from pxr import Usd, UsdPhysics

    stage = Usd.Stage.Open(file)
    for _ in Usd.PrimRange(stage.GetPseudoRoot(), Usd.TraverseInstanceProxies()):
        pass
    parse = getattr(UsdPhysics, "UsdPhysicsLoadStageFromPrimRange", None)
    (parse or UsdPhysics.LoadUsdPhysicsFromRange)(stage, ["/"])


def _growth(seconds: list[float]) -> str:
    """The exponent of a power law over all crowds: 1 is linear."""
    exponent = math.log(seconds[-1] / seconds[0]) / math.log(CROWDS[-1] / CROWDS[0])
    return f"grows as n^{exponent:.2f} from {CROWDS[0]} to {CROWDS[-1]}"


def _make_robots(folder: Path) -> Iterator[tuple[str, Path]]:
    """The shared robots, converted, if they are there; else trees of boxes and joints, generated."""
    from simwright.app.api import convert
    from simwright.core.errors import SimwrightError

    if (ASSETS / "mjcf").is_dir():
        named = {name: ASSETS / "mjcf" / source for name, source in ROBOTS.items()}
        for name, source in (named | _pick_robots()).items():
            try:
                made = convert(source, folder / name.replace(" ", "_").replace("/", "_"))
            except SimwrightError:
                if name in named:
                    raise
                continue  # a drawn file may be a part of another one
            yield name, made
        return
    for bodies in (20, 30, 40, 50, 60):
        path = folder / f"tree{bodies}.usda"
        write_robot(path, bodies)
        yield f"tree of {bodies}", path


def _pick_robots() -> dict[str, Path]:
    """Other robots, the same for one seed: the first model of a folder picked at random."""
    checkout = os.environ.get("MENAGERIE_ROOT")
    root = Path(checkout) if checkout else ASSETS / "mjcf"
    known = {Path(source).parent.name for source in (*ROBOTS.values(), HAND)}
    others = []
    for folder in sorted(p for p in root.iterdir() if p.is_dir() and p.name not in known):
        # a scene is a robot on a floor, keyframes are poses alone
        models = [p for p in folder.glob("*.xml") if not p.stem.startswith(("scene", "keyframes"))]
        others += sorted(models)[:1]
    chosen = random.Random(int(os.environ["BENCH_SEED"])).sample(others, min(PICKED, len(others)))
    return {f"{model.parent.name}/{model.stem}": model for model in sorted(chosen)}


def _list_others(folder: Path) -> Iterator[tuple[str, Path]]:
    """What is measured without a limit, if it is there."""
    from simwright.app.api import convert

    hand = ASSETS / "mjcf" / HAND
    if hand.is_file():
        yield "shadow hand", convert(hand, folder / "hand")
    for path in sorted((ASSETS / "usd").glob("*.usda")):
        yield f"small: {path.stem}", path


def _find_humanoid(folder: Path) -> Path:
    """The shared humanoid if it is there; else a tree of as many bodies."""
    shared, path = ASSETS / "usd" / "humanoid.usda", folder / "humanoid.usda"
    if path.exists():
        return path
    # beside the crowd: a stage may not name files outside of its folder
    if shared.is_file():
        shutil.copyfile(shared, path)
    else:
        write_robot(path, 16)
    return path


_HEAD = '#usda 1.0\n(\n    defaultPrim = "World"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n'
_SCENE = '    def PhysicsScene "scene"\n    {\n    }\n'


def write_boxes(path: Path, count: int) -> None:
    """Free boxes on a grid, each with a collider."""
    parts = [_HEAD, 'def Xform "World"\n{\n', _SCENE]
    parts += [_write_body(f"b{i}", (i % 50) * 2.0, (i // 50) * 2.0) for i in range(count)]
    path.write_text("".join([*parts, "}\n"]))


def write_robot(path: Path, bodies: int) -> None:
    """A binary tree of boxes and driven hinges."""
    root = 'def Xform "World" (\n    prepend apiSchemas = ["PhysicsArticulationRootAPI"]\n)\n{\n'
    parts = [_HEAD, root, _SCENE]
    parts += [_write_body(f"b{i}", float(i), 0.0) for i in range(bodies)]
    parts += [_write_hinge(i, (i - 1) // 2) for i in range(1, bodies)]
    path.write_text("".join([*parts, "}\n"]))


def _write_body(name: str, x: float, y: float) -> str:
    return f"""    def Xform "{name}" (
        prepend apiSchemas = ["PhysicsRigidBodyAPI"]
    )
    {{
        double3 xformOp:translate = ({x}, {y}, 0)
        uniform token[] xformOpOrder = ["xformOp:translate"]
        def Cube "box" (
            prepend apiSchemas = ["PhysicsCollisionAPI"]
        )
        {{
            double size = 0.5
        }}
    }}
"""


def _write_hinge(child: int, parent: int) -> str:
    return f"""    def PhysicsRevoluteJoint "j{child}" (
        prepend apiSchemas = ["PhysicsDriveAPI:angular"]
    )
    {{
        rel physics:body0 = </World/b{parent}>
        rel physics:body1 = </World/b{child}>
        point3f physics:localPos0 = ({child - parent}, 0, 0)
        float physics:lowerLimit = -90
        float physics:upperLimit = 90
        float drive:angular:physics:stiffness = 10
        float drive:angular:physics:damping = 1
    }}
"""


def write_crowd(path: Path, robot: Path, count: int) -> None:
    """One stage that references the same robot many times, standing apart."""
    robots = (
        f'    def "r{i}" (\n        prepend references = @{robot.as_posix()}@\n    )\n    {{\n'
        f"        double3 xformOp:translate = ({i % 16 * 3}, {i // 16 * 3}, 0)\n"
        '        uniform token[] xformOpOrder = ["xformOp:translate"]\n    }\n'
        for i in range(count)
    )
    path.write_text("".join([_HEAD, 'def Xform "World"\n{\n', *robots, "}\n"]))
