# SPDX-License-Identifier: Apache-2.0
"""Pages in the browser: how long it takes until large assets are shown, and what watching a simulation costs.

Ten seconds are the most that people wait: for a warehouse of twenty thousand prims and for a robot of six million
triangles, of which a browser holds each mesh once and draws about a hundred thousand.  Two rows have the CPU time until
everything is sent, two the time by the clock until a real browser has drawn it (Chromium of ``make judge browser``,
where it is there), as people wait by the clock; CPU time of the browser's processes and of ours together, and how busy
the machine was with other work, are told beside it.

The others are a run that a visitor watches, thirty pictures a second, against the same number of steps without: CPU
time of the whole process, all its threads.  In real time the run without has the page too, but nobody looks at it; at
full speed it has none.  The bar of a tenth is held at full speed, where the simulation has a core to itself.  In real
time small machines sleep nearly all the time, and thirty pictures a second, one or two percent of a core, are more than
a tenth of what little is left: those rows are for reading.
"""

from __future__ import annotations

import importlib
import os
import shutil
import statistics
import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from functools import partial
from pathlib import Path

import numpy as np

import simwright
from benchmarks.measure import Result
from benchmarks.peers import find_peer
from simwright.app.running import run as run_source
from simwright.app.watching import LiveOptions
from simwright.view import open_page

PATIENCE = 10.0
"""What people wait for a page at most [s]."""
RACKS = 456
LINKS, FACES = 12, 500_000
CHAIN = 50
SEGMENTS = 10
WALKER_STEPS, CHAIN_STEPS = 2_000, 4_000
DT = {"walker": 0.002, "chain": 0.001}
SHOWN = 3
"""How often each page is opened."""
REPEAT, LEAST = 9, 3
"""How often runs are made, and how many of each side, those of least CPU time, count."""
LONGER = 40
"""Steps at full speed for each in real time: three seconds, in which what a page costs once counts little."""
WATCHING = 1.1
"""Most CPU time of a run that is watched, as a multiple of one that is not."""
VISITOR = """
import sys
from websockets.sync.client import connect

address = sys.argv[1]
with connect(
    address.replace("http", "ws"), subprotocols=["viser-v1.1.1"], max_size=None, origin=address.partition("/?")[0]
) as page:
    print("there", flush=True)
    for _ in page:
        pass
"""


def run() -> Iterator[Result | str]:
    python = find_peer("playwright")
    is_shown = bool(python) and shutil.which("chromium") is not None
    if is_shown:
        least, clock, has_gpu = measure_browser(python, show_box)
        yield f"one box on a page of viser, in a browser: {clock:.1f} s by the clock"
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        warehouse, prims = write_warehouse(place / "warehouse.usda", RACKS)
        for name, file in (
            (f"view: a warehouse of {prims:,} prims", warehouse),
            (f"view: a robot of {LINKS * FACES / 1e6:g} M triangles", write_heavy(place)),
        ):
            seconds, sent = measure_page(file)
            yield Result(name, seconds, "10 s", PATIENCE, 0.8, f"{sent / 1e6:.1f} MB of parts")
            if not is_shown:
                yield f"{name}, in a browser: left out, `python scripts/judge browser` installs Chromium"
                continue
            taken = [measure_browser(python, partial(show_file, file)) for _ in range(SHOWN)]
            cpu, clock = (statistics.median(times) for times in list(zip(*taken, strict=True))[:2])
            how = "with a GPU" if has_gpu else "no GPU"
            note = f"{how}: {cpu:.1f} s of CPU (load {os.getloadavg()[0]:.0f}); one box {least:.1f} s of CPU"
            yield Result(f"{name}, in a browser, by the clock", clock, "10 s", PATIENCE, 1.0, note)
        walker = write_walker(place / "walker.xml", SEGMENTS)
        chain = write_chain(place / "chain.xml", CHAIN)
        for name, file, steps in (
            (f"{CHAIN} links that stand", walker, WALKER_STEPS),
            # no contacts and no actuators: the least there is to simulate
            (f"{CHAIN} links that swing", chain, CHAIN_STEPS),
        ):
            with_visitor, without = measure_watching(file, steps, 1.0)
            note = f"{without / (steps * DT[file.stem]):.1%} of a core"
            yield Result(f"view: {name}, in real time", with_visitor, "nobody looks", without, None, note)
            with_visitor, without = measure_watching(file, LONGER * steps, None)
            yield Result(
                f"view: {name}, at full speed", with_visitor, "run without --view", without, WATCHING
            )


def measure_page(file: Path) -> tuple[float, int]:
    """CPU seconds from the file to a page on which everything is, and the bytes of its parts."""
    start = time.process_time()
    page = open_page(simwright.load(file))
    seconds = time.process_time() - start
    sent = sum(len(part.content) for part in page.figure.drawing.parts["Visuals"])
    page.close()
    return seconds, sent


def show_file(file: Path) -> tuple[str, Callable[[], None]]:
    """The address of a page of a file, and what ends it."""
    page = open_page(simwright.load(file))
    return page.address, page.close


def show_box() -> tuple[str, Callable[[], None]]:
    """The least that viser can show."""
    viser = importlib.import_module("viser")
    server = viser.ViserServer("127.0.0.1", 0, verbose=False)
    server.scene.add_box("/box", dimensions=(1.0, 1.0, 1.0), color=(20, 20, 20))
    return f"http://127.0.0.1:{server.get_port()}/", server.stop


def measure_browser(
    python: str, show: Callable[[], tuple[str, Callable[[], None]]]
) -> tuple[float, float, bool]:
    """CPU and clock seconds from before ``show`` until a browser, which is open already, has drawn the page.

    And whether it does so with a GPU.
    """
    worker = Path(__file__).with_name("view_worker.py")
    with subprocess.Popen(
        [python, str(worker)], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as browser:
        assert browser.stdin is not None
        assert browser.stdout is not None
        has_gpu = browser.stdout.readline().strip() == "gpu"
        start = time.process_time(), time.monotonic()
        address, close = show()
        opened = time.monotonic() - start[1]
        print(address, file=browser.stdin, flush=True)
        drawn = [float(word) for word in browser.stdout.readline().split()]
        ours = time.process_time() - start[0]
        browser.stdin.close()
        close()
    return ours + drawn[0], opened + drawn[1], has_gpu


def measure_watching(file: Path, steps: int, speed: float | None) -> tuple[float, float]:
    """CPU seconds of a run that a visitor watches and of one that nobody does, in turn.

    What else the machine does only adds to CPU time, on a shared core up to half of it and from one second to the next:
    the least of many runs of each side, in turn, are compared, some of them so that no single one decides.
    """
    taken: list[tuple[float, float]] = []
    for _ in range(REPEAT):
        visitors: list[subprocess.Popen[str]] = []
        watched = run_source(file, frames=steps, view=LiveOptions(partial(visit, visitors), speed=speed))
        for visitor in visitors:
            visitor.terminate()
            visitor.wait()
        nobody = None if speed is None else LiveOptions(lambda _: None, speed=speed)
        taken.append((watched.cpu_time, run_source(file, frames=steps, view=nobody).cpu_time))
    one, other = (statistics.mean(sorted(times)[:LEAST]) for times in zip(*taken, strict=True))
    return one, other


def visit(visitors: list[subprocess.Popen[str]], address: str) -> None:
    """Open a page as a browser does, and take whatever comes."""
    visitor = subprocess.Popen([sys.executable, "-c", VISITOR, address], stdout=subprocess.PIPE, text=True)
    visitors.append(visitor)
    assert visitor.stdout is not None
    assert visitor.stdout.readline().strip() == "there"
    time.sleep(1.0)  # it takes what was there before


def write_warehouse(path: Path, racks: int) -> tuple[Path, int]:
    """Racks with boxes on them, boxes as bodies of their own; and how many prims there are."""
    chance = np.random.default_rng(1)
    lines = ['#usda 1.0\n(\n    defaultPrim = "warehouse"\n    metersPerUnit = 1\n    upAxis = "Z"\n)\n']
    lines.append('def Xform "warehouse"\n{\n')
    count = 1
    for rack in range(racks):
        lines.append(f'def Xform "rack_{rack}"\n{{\n{_move((rack % 20) * 3.0, (rack // 20) * 4.0, 0.0)}')
        for post in range(4):
            place = ((post % 2) * 2.4 - 1.2, (post // 2) * 0.9 - 0.45, 1.2)
            lines.append(_write_cube(f"post_{post}", 1.0, (0.2, 0.3, 0.7), place, (0.08, 0.08, 2.4)))
        for shelf in range(3):
            place = (0.0, 0.0, 0.1 + shelf * 0.8)
            lines.append(_write_cube(f"shelf_{shelf}", 1.0, (0.8, 0.5, 0.2), place, (2.5, 1.0, 0.05)))
        for box in range(18):
            side = float(chance.choice((0.25, 0.3, 0.35)))
            lines.append(
                f'def Xform "box_{box}" (prepend apiSchemas = ["PhysicsRigidBodyAPI", "PhysicsMassAPI"])\n{{\n'
                f"float physics:mass = 2\n{_move(-1.0 + (box % 6) * 0.4, 0.0, 0.13 + side / 2 + (box // 6) * 0.8)}"
            )
            lines.append(_write_cube("look", side, (0.7, 0.55, 0.35)))
            lines.append("}\n")
        lines.append("}\n")
        count += 1 + 4 + 3 + 36
    path.write_text("".join([*lines, "}\n"]))
    return path, count


def _move(x: float, y: float, z: float) -> str:
    return (
        f'double3 xformOp:translate = ({x}, {y}, {z})\nuniform token[] xformOpOrder = ["xformOp:translate"]\n'
    )


def _write_cube(
    name: str,
    side: float,
    color: tuple[float, float, float],
    place: tuple[float, float, float] | None = None,
    scale: tuple[float, float, float] | None = None,
) -> str:
    text = f'def Cube "{name}" (prepend apiSchemas = ["PhysicsCollisionAPI"])\n{{\ndouble size = {side}\n'
    text += f"color3f[] primvars:displayColor = [{color}]\n"
    if place is not None:
        text += f"double3 xformOp:translate = {place}\nfloat3 xformOp:scale = {scale}\n"
        text += 'uniform token[] xformOpOrder = ["xformOp:translate", "xformOp:scale"]\n'
    return text + "}\n"


def write_heavy(folder: Path) -> Path:
    """A chain of links that all show one mesh file with many faces."""
    rows, columns = 501, FACES // 1000
    turns, tilts = np.meshgrid(
        np.linspace(0, 2 * np.pi, columns, endpoint=False), np.linspace(0, np.pi, rows)
    )
    radius = 0.06 + 0.004 * np.sin(9 * turns) * np.sin(7 * tilts)
    points = np.stack(
        (
            radius * np.sin(tilts) * np.cos(turns),
            radius * np.sin(tilts) * np.sin(turns),
            1.6 * radius * np.cos(tilts),
        ),
        axis=-1,
    ).reshape(-1, 3)
    one = np.arange((rows - 1) * columns).reshape(rows - 1, columns)
    two = np.roll(one, -1, axis=1)
    faces = np.concatenate(
        [
            np.stack(three, axis=-1).reshape(-1, 3)
            for three in ((one, two, one + columns), (two, two + columns, one + columns))
        ]
    )
    records = np.zeros(len(faces), dtype=[("normal", "<3f4"), ("corners", "<9f4"), ("more", "<u2")])
    records["corners"] = points[faces].reshape(-1, 9)
    (folder / "link.stl").write_bytes(bytes(80) + struct.pack("<I", len(faces)) + records.tobytes())
    link = (
        '<link name="l{0}"><visual><geometry><mesh filename="link.stl"/></geometry></visual><inertial><mass value="1"/>'
        '<inertia ixx=".01" iyy=".01" izz=".01" ixy="0" ixz="0" iyz="0"/></inertial></link>'
    )
    joint = (
        '<joint name="j{0}" type="revolute"><parent link="l{1}"/><child link="l{0}"/><origin xyz="0 0 0.18"/>'
        '<axis xyz="1 0 0"/><limit lower="-1" upper="1" effort="1" velocity="1"/></joint>'
    )
    text = "".join(link.format(number) for number in range(LINKS))
    text += "".join(joint.format(number, number - 1) for number in range(1, LINKS))
    file = folder / "heavy.urdf"
    file.write_text(f'<robot name="heavy">{text}</robot>')
    return file


def write_chain(file: Path, links: int) -> Path:
    """A chain of links, no two alike."""
    text = ""
    for number in range(links):
        place, axis, radius = -0.05 * bool(number), ("1 0 0", "0 1 0")[number % 2], 0.01 + 0.0001 * number
        text += (
            f'<body name="b{number}" pos="0 0 {place}"><joint name="q{number}" axis="{axis}" damping="0.001"/>'
            f'<geom type="capsule" size="{radius}" fromto="0 0 0 0 0 -0.05" contype="0" conaffinity="0"/>'
        )
    # it swings: a chain at rest would cost nothing to show
    option = '<option timestep="0.001" gravity="6 3 -7"/>'
    file.write_text(f"<mujoco>{option}<worldbody>{text}{'</body>' * links}</worldbody></mujoco>")
    return file


def write_walker(file: Path, segments: int) -> Path:
    """A machine that stands on many feet: a row of segments, two legs of two links on each, servos on all joints."""
    legs = "".join(
        f'<body pos="0 {side * 0.1} 0"><joint name="hip{{0}}{name}" axis="1 0 0" range="-1 1"/>'
        f'<geom type="capsule" size="0.02" fromto="0 0 0 0 {side * 0.1} 0"/>'
        f'<body pos="0 {side * 0.1} 0"><joint name="knee{{0}}{name}" axis="1 0 0" range="-1 1"/>'
        '<geom type="capsule" size="0.02" fromto="0 0 0 0 0 -0.18"/></body></body>'
        for side, name in ((1, "l"), (-1, "r"))
    )
    text, joints = "", []
    for number in range(segments):
        place = "0 0 0.2" if number == 0 else "-0.15 0 0"
        turn = (
            "<freejoint/>" if number == 0 else f'<joint name="trunk{number}" axis="0 1 0" range="-0.5 0.5"/>'
        )
        text += f'<body pos="{place}">{turn}<geom type="box" size="0.06 0.08 0.03"/>{legs.format(number)}'
        joints += [f"{part}{number}{side}" for part in ("hip", "knee") for side in "lr"]
        joints += [f"trunk{number}"] if number else []
    servos = "".join(f'<position joint="{name}" kp="60" kv="2"/>' for name in joints)
    floor = '<geom type="plane" size="5 5 0.1"/>'
    file.write_text(
        "<mujoco><default><joint damping='0.1' armature='0.01'/></default>"
        f"<worldbody>{floor}{text}{'</body>' * segments}</worldbody><actuator>{servos}</actuator></mujoco>"
    )
    return file
