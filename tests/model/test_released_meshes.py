# SPDX-License-Identifier: Apache-2.0
"""Meshes that let their arrays go, and closed meshes told by one sum: each against the plain way."""

from __future__ import annotations

import gc
import random
import weakref
from collections import Counter

import numpy as np
import pytest

import simwright
from simwright.formats.mesh import dae as dae_module
from simwright.formats.mesh import load as loading
from simwright.formats.mesh.dae import read_dae
from simwright.formats.usd.writer.solids import is_closed
from simwright.model.geometry import Mesh, MeshData
from simwright.model.moments import has_reverses, weld

TETRAHEDRON = [(0, 2, 1), (0, 1, 3), (1, 2, 3), (0, 3, 2)]
OBJ = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 3 2\nf 1 2 4\nf 2 3 4\nf 1 4 3\n"
LINK = (
    '<link name="{0}"><inertial><mass value="1"/><inertia ixx="1" iyy="1" izz="1" ixy="0" ixz="0" iyz="0"/></inertial>'
    '<visual><geometry><mesh filename="a.obj"/></geometry></visual>'
    '<collision><geometry><mesh filename="a.obj"/></geometry></collision></link>'
)
DAE = """<COLLADA xmlns="http://www.collada.org/2005/11/COLLADASchema" version="1.4.1"><asset/>
<library_geometries><geometry id="g"><mesh><source id="p">
<float_array id="a" count="12">0 0 0 1 0 0 0 1 0 0 0 1</float_array><technique_common>
<accessor source="#a" count="4" stride="3"><param name="X" type="float"/><param name="Y" type="float"/>
<param name="Z" type="float"/></accessor></technique_common></source>
<vertices id="v"><input semantic="POSITION" source="#p"/></vertices>
<triangles count="4"><input semantic="VERTEX" source="#v" offset="0"/>
<p>0 2 1 0 1 3 1 2 3 0 3 2</p></triangles></mesh></geometry></library_geometries></COLLADA>"""


def _count_directed(triangles):
    return Counter(
        (int(a), int(b)) for t in triangles for a, b in zip(t, np.roll(t, -1), strict=True) if a != b
    )


def _make_triangles(rng: random.Random) -> np.ndarray:
    """Tetrahedra, some without a face, with one turned round, twice there, or with a corner that is another one."""
    kinds = rng.choices(("whole", "open", "turned", "twice", "flat"), k=rng.randint(1, 4))
    faces: list[tuple[int, ...]] = []
    for number, kind in enumerate(kinds):
        own = [tuple(corner + 4 * number for corner in face) for face in TETRAHEDRON]
        if kind == "open":
            own.pop(rng.randrange(4))
        elif kind == "turned":
            own[0] = own[0][::-1]
        elif kind == "twice":
            own *= 2
        elif kind == "flat":
            own.append((own[0][0], own[0][1], own[0][0]))
        faces += own
    return np.array(faces, dtype=np.int32)


def test_edges_and_their_reverses_are_counted_as_one_by_one():
    rng = random.Random(5)
    seen = Counter()
    for _ in range(300):
        triangles = _make_triangles(rng)
        size = int(triangles.max()) + 1
        edges = _count_directed(triangles)
        paired = edges == Counter({(b, a): count for (a, b), count in edges.items()})
        assert has_reverses(triangles, size) is paired
        # far apart, so that nothing is welded
        points = np.random.default_rng(1).permutation(np.arange(3.0 * size)).reshape(-1, 3)
        closed = paired and set(edges.values()) <= {1}
        assert is_closed(MeshData(points, triangles.reshape(-1))) is closed
        seen[paired, closed] += 1
    assert set(seen) == {(True, True), (True, False), (False, False)}


@pytest.mark.parametrize("seed", range(20))
def test_welded_points_are_in_one_group_along_every_axis(seed):
    rng = np.random.default_rng(seed)
    points = rng.integers(0, 4, (60, 3)) + rng.uniform(-1e-8, 1e-8, (60, 3))
    number = weld(points)
    same = np.all(np.round(points)[:, None] == np.round(points)[None], axis=2)
    assert np.array_equal(number[:, None] == number[None], same)
    assert number.max() < len(points)


def test_points_that_are_many_are_welded_the_same(monkeypatch):
    points = np.random.default_rng(3).integers(0, 5, (200, 3)).astype(float)
    few = weld(points)
    monkeypatch.setattr("simwright.model.moments._COUNTED", 1)
    many = weld(points)
    assert np.array_equal(few[:, None] == few[None], many[:, None] == many[None])


def test_a_mesh_that_reloads_gives_its_arrays_again():
    loads = []

    def load() -> MeshData:
        loads.append(1)
        return MeshData(np.eye(3), np.arange(3, dtype=np.int32))

    again, once = Mesh(load=load, reloads=True), Mesh(load=load)
    for mesh in (again, once):
        assert mesh.data.face_count == 1
        mesh.release()
    assert not again.is_loaded
    assert once.is_loaded
    assert again.data.face_count == 1
    assert len(loads) == 3


@pytest.fixture
def robot(tmp_path):
    (tmp_path / "a.obj").write_text(OBJ)
    joint = '<joint name="j" type="fixed"><parent link="a"/><child link="b"/></joint>'
    file = tmp_path / "robot.urdf"
    file.write_text(f'<robot name="r">{LINK.format("a")}{LINK.format("b")}{joint}</robot>')
    return file


def test_a_file_is_converted_with_each_mesh_read_once_and_let_go(robot, tmp_path, monkeypatch):
    released: list[Mesh] = []
    plain = Mesh.release
    monkeypatch.setattr(Mesh, "release", lambda self: (released.append(self), plain(self))[1])
    reads: list[object] = []
    guarded = loading._guarded
    monkeypatch.setattr(loading, "_guarded", lambda *a: (reads.append(a[1]), guarded(*a))[1])
    simwright.convert(robot, tmp_path / "usd")
    assert len(released) == 1
    assert not released[0].is_loaded
    assert len(reads) == 1


def test_an_asset_of_the_caller_keeps_its_arrays(robot, tmp_path):
    asset = simwright.load(robot)
    simwright.convert(asset, tmp_path / "usd")
    assert all(shape.geometry.is_loaded for shape in asset.shapes)


def test_what_collada_was_read_from_is_free_at_once(tmp_path, monkeypatch):
    documents = []
    load = dae_module._load
    monkeypatch.setattr(
        dae_module, "_load", lambda root: (documents.append(weakref.ref(found := load(root))), found)[1]
    )
    gc.collect()
    gc.disable()
    try:
        data = read_dae(DAE.encode(), tmp_path / "a.dae")
        assert data.face_count == 4
        assert [document() for document in documents] == [None]
    finally:
        gc.enable()
