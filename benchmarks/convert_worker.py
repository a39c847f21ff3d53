# SPDX-License-Identifier: Apache-2.0
"""One conversion in a process of its own, ours or a peer's: CPU seconds and peak memory as JSON.

Runs in the peer's environment as well, so it imports nothing of Simwright unless it is asked to.  Before the
measurement a tiny robot with a mesh of each kind is converted: imports and plugins are not what is compared.
"""

from __future__ import annotations

import contextlib
import gc
import json
import logging
import os
import re
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
STL = "solid s\n" + "".join(
    "facet normal 0 0 1\nouter loop\n" + "".join(f"vertex {p}\n" for p in corners) + "endloop\nendfacet\n"
    for corners in (
        ("0 0 0", "0 1 0", "1 0 0"), ("0 0 0", "1 0 0", "0 0 1"),
        ("1 0 0", "0 1 0", "0 0 1"), ("0 0 0", "0 0 1", "0 1 0"),
    )
) + "endsolid s\n"  # fmt: skip
DAE = """<?xml version="1.0"?>
<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset>
<created>2000-01-01T00:00:00</created><modified>2000-01-01T00:00:00</modified></asset>
<library_geometries><geometry id="g"><mesh><source id="p">
<float_array id="a" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>
<accessor source="#a" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 1 3 1 2 3 0 3 2</p></triangles>
</mesh></geometry></library_geometries><library_visual_scenes><visual_scene id="s"><node id="n">
<instance_geometry url="#g"/></node></visual_scene></library_visual_scenes>
<scene><instance_visual_scene url="#s"/></scene>
</COLLADA>
"""
_URDF = (
    '<robot name="tiny"><link name="l"><inertial><mass value="1"/>'
    '<inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>{}</link></robot>'
)
_MJCF = (
    '<mujoco model="tiny"><asset>{}</asset><worldbody><body><freejoint/>'
    '<inertial mass="1" pos="0 0 0" diaginertia="1 1 1"/>{}</body></worldbody></mujoco>'
)
Convert = Callable[[str, str], object]


def main(side: str, kind: str, source: str, package: str) -> None:
    """Warm up, convert once, tell."""
    logging.disable(logging.CRITICAL)
    convert = {"ours": _find_ours, "mjcf": _find_mjcf, "urdf": _find_urdf}[side](package)
    with tempfile.TemporaryDirectory() as folder, _quiet():
        convert(_write_tiny(Path(folder), kind), f"{folder}/warm")
        gc.collect()
        started = time.process_time()
        convert(source, f"{folder}/result")
        seconds = time.process_time() - started
    print(json.dumps({"seconds": seconds, "peak": _find_peak()}))


def _find_ours(package: str) -> Convert:
    from simwright.app.api import convert

    packages = {Path(package).name: package} if package else {}
    return lambda source, target: convert(source, target, packages=packages)


def _find_mjcf(_package: str) -> Convert:
    from mujoco_usd_converter import Converter

    return lambda source, target: Converter().convert(source, target)


def _find_urdf(package: str) -> Convert:
    from urdf_usd_converter import Converter

    packages = [{"name": Path(package).name, "path": package}] if package else []
    return lambda source, target: Converter(ros_packages=packages).convert(source, target)


def _write_tiny(folder: Path, kind: str) -> str:
    for name, text in (("a.obj", OBJ), ("b.stl", STL), ("c.dae", DAE)):
        (folder / name).write_text(text)
    if kind == "mjcf":
        names = ("a.obj",)  # the peer reads binary STL only, which needs no other module
        assets = "".join(f'<mesh name="{name[0]}" file="{name}"/>' for name in names)
        file, text = folder / "tiny.xml", _MJCF.format(assets, '<geom type="mesh" mesh="a"/>')
    else:
        shapes = (
            f'<visual><geometry><mesh filename="{name}"/></geometry></visual>'
            for name in ("a.obj", "b.stl", "c.dae")
        )
        file, text = folder / "tiny.urdf", _URDF.format("".join(shapes))
    file.write_text(text)
    return str(file)


@contextlib.contextmanager
def _quiet():
    """Peers print; the figures must be alone on standard output."""
    sys.stdout.flush()
    saved, nowhere = os.dup(1), os.open(os.devnull, os.O_WRONLY)
    os.dup2(nowhere, 1)
    try:
        yield
    finally:
        sys.stdout.flush()
        os.dup2(saved, 1)


def _find_peak() -> float:
    """Peak resident memory of this process [MiB]."""
    return int(re.search(r"VmHWM:\s+(\d+)", Path("/proc/self/status").read_text()).group(1)) / 1024


if __name__ == "__main__":
    main(*sys.argv[1:])
