# SPDX-License-Identifier: Apache-2.0
"""Pages in the browser: how long it takes until large assets are sent, and what watching a simulation costs.

The first two rows are held against ten seconds, which people wait at most: a warehouse of twenty thousand prims and a
robot of six million triangles, of which a browser holds each mesh once.  The third is a picture of a simulation that a
visitor watches, held against what the simulation itself has of a core from one picture to the next, at thirty a second.
"""

from __future__ import annotations

import struct
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from pathlib import Path

import numpy as np

import simwright
from benchmarks.measure import Result
from simwright.engines.table import load_engine
from simwright.view import open_page
from simwright.view.live import LivePage

PATIENCE = 10.0
"""What people wait for a page at most [s]."""
RACKS = 456
LINKS, FACES = 12, 500_000
CHAIN = 50
PICTURES = 150
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
    with tempfile.TemporaryDirectory() as folder:
        place = Path(folder)
        warehouse, prims = write_warehouse(place / "warehouse.usda", RACKS)
        for name, file in (
            (f"view: a warehouse of {prims:,} prims", warehouse),
            (f"view: a robot of {LINKS * FACES / 1e6:g} M triangles", write_heavy(place)),
        ):
            seconds, sent = measure_page(file)
            yield Result(name, seconds, "10 s", PATIENCE, 0.8, f"{sent / 1e6:.1f} MB of parts")
        yield Result(
            f"view: a picture of {CHAIN} links that all move", measure_picture(write_chain(place / "chain.xml", CHAIN)),
            "1/30 s of simulating", 1.0 / 30.0, 0.1, "sent to a visitor",
        )  # fmt: skip


def measure_page(file: Path) -> tuple[float, int]:
    """CPU seconds from the file to a page on which everything is, and the bytes of its parts."""
    start = time.process_time()
    page = open_page(simwright.load(file))
    seconds = time.process_time() - start
    sent = sum(len(part.content) for part in page.figure.drawing.parts["Visuals"])
    page.close()
    return seconds, sent


def measure_picture(file: Path) -> float:
    """CPU seconds that a picture of a simulation costs, until a visitor has it: of this thread and of the page's."""
    asset = simwright.load(file)
    with load_engine("mujoco").open(asset) as simulation:
        page = LivePage(asset, simulation)
        page.pace.pause(True)  # every picture is due
        visitor = subprocess.Popen(
            [sys.executable, "-c", VISITOR, page.address], stdout=subprocess.PIPE, text=True
        )
        assert visitor.stdout is not None
        assert visitor.stdout.readline().strip() == "there"
        time.sleep(2.0)  # the visitor takes what was there before
        taken = 0.0
        for number in range(PICTURES):
            simulation.step(33)
            start = time.process_time()
            page.show(simulation, number / 30.0)
            time.sleep(1.0 / 30.0)
            taken += time.process_time() - start
        visitor.terminate()
        visitor.wait()
        page.close()
    return taken / PICTURES


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
