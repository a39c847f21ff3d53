"""Mesh analysis: closed, open, crowded, flipped, convex, self-intersecting."""

from __future__ import annotations

import numpy as np
import pytest

from simwright.checker.facts import mesh_memory
from simwright.checker.facts.meshes import MeshCache, MeshFacts, make_facts
from simwright.checker.facts.topology import EdgeTable, count_edges, weld_near, weld_points
from simwright.checker.rules.s3_4 import geo_coll_no_selfint
from simwright.checker.rules.s3_4.geo_coll_no_selfint import find_self_intersections

CORNERS = np.array([(i, j, k) for i in (0, 1) for j in (0, 1) for k in (0, 1)], np.float32)
QUADS = np.array(
    [(0, 1, 3, 2), (4, 6, 7, 5), (0, 4, 5, 1), (2, 3, 7, 6), (0, 2, 6, 4), (1, 5, 7, 3)], np.int32
)
TRIANGLES = np.concatenate((QUADS[:, [0, 1, 2]], QUADS[:, [0, 2, 3]]))


def cube(triangles=TRIANGLES, points=CORNERS):
    return make_facts(points, np.full(len(triangles), triangles.shape[1]), triangles.reshape(-1))


def split(triangles, points):
    """Every face with corners of its own, as exporters write hard edges."""
    return np.arange(triangles.size, dtype=np.int32).reshape(triangles.shape), points[triangles.reshape(-1)]


def test_cube_is_closed_convex_and_wound_outwards():
    facts = cube()
    assert facts.topology.is_closed
    assert facts.topology.edges == 18
    assert facts.volume == pytest.approx(1.0)
    assert facts.is_convex
    assert facts.is_triangulated
    assert find_self_intersections(facts) == []


def test_quads_are_closed_but_not_triangles():
    facts = cube(QUADS)
    assert facts.topology.is_closed
    assert not facts.is_triangulated
    assert len(facts.faces.triangles) == facts.triangle_count == 12


def test_split_corners_are_welded_by_position():
    triangles, points = split(TRIANGLES, CORNERS)
    assert cube(triangles, points).topology.is_closed


def test_corners_split_with_rounding_are_welded_within_a_millionth():
    triangles, points = split(TRIANGLES, CORNERS)
    noise = np.random.default_rng(1).uniform(-2e-7, 2e-7, points.shape).astype(np.float32)
    assert cube(triangles, points + noise).topology.is_closed
    assert not cube(triangles, points + 1000 * noise).topology.is_closed


def test_near_points_are_one_and_others_are_not():
    points = np.array([(0, 0, 0), (1, 0, 0), (5e-7, 0, 0), (0, 1e-3, 0)], np.float32)
    assert weld_near(points).tolist() == [0, 1, 0, 3]


def mesh(points, counts, indices):
    return {"points": points, "faceVertexCounts": counts, "faceVertexIndices": indices}.get


def test_equal_meshes_share_their_facts():
    book = MeshCache()
    counts, indices = np.full(12, 3), TRIANGLES.reshape(-1)
    first, second = (book.facts(mesh(CORNERS.copy(), counts, indices.copy())) for _ in range(2))
    assert first is second
    moved = book.facts(mesh(CORNERS + np.float32(1), counts, indices))
    assert moved is not first
    assert moved.form is first.form


def refuse(*_):
    raise AssertionError("was found out before")


def test_what_is_known_of_a_content_is_not_found_out_again(monkeypatch):
    """By another snapshot: of a variant, of an asset that shares the mesh, or of the same asset later."""
    mesh_memory.forget()
    triangles, points = split(TRIANGLES, CORNERS)
    first = cube(triangles, points)
    known = (first.topology, first.is_convex, first.is_flat, first.volume)
    for name in ("_find_surface", "_find_convex", "_find_flat", "_find_volume"):
        monkeypatch.setattr(MeshFacts, name, refuse)
    again = cube(triangles.copy(), points.copy())
    assert again is not first
    assert (again.topology, again.is_convex, again.is_flat, again.volume) == known
    moved = points.copy()
    moved[0] += 1
    with pytest.raises(AssertionError, match="before"):
        cube(triangles, moved).is_flat  # noqa: B018 - asks


def test_numbers_of_another_type_are_another_content():
    whole = np.zeros(4, np.int32)
    assert mesh_memory.key_array(whole) != mesh_memory.key_array(whole.astype(np.float32))
    assert mesh_memory.key_array(whole) == mesh_memory.key_array(whole.copy())


def test_what_is_known_of_meshes_is_bounded(monkeypatch):
    mesh_memory.forget()
    monkeypatch.setattr(mesh_memory, "MOST_MESHES", 3)
    key = (("i", 0, 0), ("i", 0, 0))
    kept = [mesh_memory.recall_answers(key, ("f", number, number)) for number in range(4)]
    assert mesh_memory.recall_answers(key, ("f", 3, 3)) is kept[3]
    assert mesh_memory.recall_answers(key, ("f", 0, 0)) is not kept[0]


def test_flat():
    assert cube(np.array([(0, 1, 3)])).is_flat
    assert not cube().is_flat


def test_negative_zero_is_zero():
    assert weld_points(np.array([(0.0, 0, 0), (-0.0, 0, 0)])).tolist() == [0, 0]


def test_a_hole_has_boundary_edges():
    topology = cube(TRIANGLES[1:]).topology
    assert (topology.boundary, topology.crowded, topology.flipped) == (3, 0, 0)
    assert topology.crowded == 0


def test_one_flipped_face():
    triangles = TRIANGLES.copy()
    triangles[0] = triangles[0][::-1]
    assert cube(triangles).topology.flipped == 3


def test_a_fin_makes_a_crowded_edge():
    points = np.concatenate((CORNERS, [(0.5, 0.5, 3.0)])).astype(np.float32)
    triangles = np.concatenate((TRIANGLES, [(0, 1, 8)]))
    assert cube(triangles, points).topology.crowded == 1


def test_inside_out_has_negative_volume_but_is_closed():
    facts = cube(TRIANGLES[:, ::-1])
    assert facts.volume == pytest.approx(-1.0)
    assert facts.topology.is_closed
    assert facts.is_convex


def test_degenerate_triangles_do_not_open_the_surface():
    triangles = np.concatenate((TRIANGLES, [(0, 0, 1), (2, 2, 2)])).astype(np.int32)
    counted = count_edges(np.full(len(triangles), 3), triangles.reshape(-1))
    assert counted.boundary == 0


def test_a_dented_cube_is_not_convex():
    points = CORNERS.copy()
    points[7] = (0.2, 0.2, 0.2)
    assert not cube(points=points).is_convex


def test_two_separate_cubes_are_not_convex():
    both = np.concatenate((TRIANGLES, TRIANGLES + 8))
    facts = cube(both, np.concatenate((CORNERS, CORNERS + 5)))
    assert facts.topology.is_closed
    assert not facts.is_convex


def test_overlapping_cubes_intersect_themselves():
    both = np.concatenate((TRIANGLES, TRIANGLES + 8))
    shifted = CORNERS + np.array((0.3, 0.4, 0.5), np.float32)
    facts = cube(both, np.concatenate((CORNERS, shifted)))
    pairs = find_self_intersections(facts, most=100)
    assert pairs
    assert all((a < 12) != (b < 12) for a, b in pairs)


def test_touching_cubes_do_not_intersect():
    both = np.concatenate((TRIANGLES, TRIANGLES + 8))
    shifted = CORNERS + np.array((1, 0, 0), np.float32)
    facts = cube(both, np.concatenate((CORNERS, shifted)))
    assert find_self_intersections(facts) == []


@pytest.mark.parametrize(
    ("points", "counts", "indices", "words"),
    [
        (None, None, None, "no points"),
        (CORNERS, [3], [0, 1], "add up to 3"),
        (CORNERS, [3], [0, 1, 8], "reach 8"),
        (CORNERS, [3], [0, -1, 2], "reach -1"),
        (np.full((3, 3), np.nan), [3], [0, 1, 2], "not finite"),
    ],
)
def test_nonsense_is_named(points, counts, indices, words):
    assert words in make_facts(points, counts, indices).problem


def test_large_indices_do_not_overflow():
    points = np.zeros((50_000, 3), np.float32)
    triangles = np.array([(49_997, 49_998, 49_999), (49_999, 49_998, 49_997)], np.int32)
    assert count_edges(np.array([3, 3]), triangles.reshape(-1)).is_closed
    assert len(points) > triangles.max()


@pytest.mark.parametrize("spoil", ["nothing", "hole", "flip", "double", "degenerate", "fin"])
def test_the_table_of_edges_says_what_the_sort_says(spoil: str) -> None:
    table = EdgeTable()
    large = np.arange(30, dtype=np.int32).reshape(-1, 3)  # leaves its numbers behind in the table
    table.are_paired(large.reshape(-1), np.roll(large, -1, axis=1).reshape(-1), 30)
    triangles = TRIANGLES.astype(np.int32)
    if spoil == "hole":
        triangles = triangles[1:]
    elif spoil == "flip":
        triangles = np.concatenate((triangles[:1, ::-1], triangles[1:]))
    elif spoil == "double":
        triangles = np.concatenate((triangles, triangles))
    elif spoil == "degenerate":
        triangles = np.concatenate((triangles, [(0, 0, 0)])).astype(np.int32)
    elif spoil == "fin":
        triangles = np.concatenate((triangles, [(0, 1, 8)])).astype(np.int32)
    counts = np.full(len(triangles), 3, np.int32)
    by_table = count_edges(counts, triangles.reshape(-1), table)
    assert by_table == count_edges(counts, triangles.reshape(-1))
    assert by_table.is_closed == (spoil in ("nothing", "degenerate"))


@pytest.mark.parametrize("size", [40, 3_000, 60_000, 100_000])
def test_many_edges_are_counted_one_by_one(size: int) -> None:
    # with more keys than are sorted at once, of 32 bits and of more
    indices = np.random.default_rng(size).integers(0, size, 6_000).astype(np.int32)
    indices[:600] = indices[600:1200]
    uses: dict[tuple[int, int], list[bool]] = {}
    for face in indices.reshape(-1, 3).tolist():
        for start, end in zip(face, face[1:] + face[:1], strict=True):
            if start != end:
                uses.setdefault((min(start, end), max(start, end)), []).append(start > end)
    found = count_edges(np.full(2_000, 3, np.int32), indices)
    assert found.edges == len(uses)
    assert found.boundary == sum(len(use) == 1 for use in uses.values())
    assert found.crowded == sum(len(use) > 2 for use in uses.values())
    assert found.flipped == sum(len(use) == 2 and use[0] == use[1] for use in uses.values()) > 0


@pytest.mark.parametrize("kind", [np.float32, np.float64])
def test_near_points_of_a_large_mesh_are_one(kind: type) -> None:
    cells = np.stack(np.meshgrid(*[np.arange(-8, 9)] * 3), axis=-1).reshape(-1, 3)
    points = np.concatenate([cells, cells + 4e-6, cells + 0.5]).astype(kind)
    points[points == 0] = -0.0
    count = len(cells)
    welded = weld_near(points)
    assert welded[:count].tolist() == welded[count : 2 * count].tolist() == list(range(count))
    assert welded[2 * count :].tolist() == list(range(2 * count, 3 * count))


def test_flat_is_told_by_points_or_by_corners() -> None:
    corners = np.random.default_rng(1).normal(size=(300, 3)).astype(np.float32)
    faces = np.arange(300, dtype=np.int32)
    for height, flat in ((1.0, False), (1e-3, False), (1e-8, True), (0.0, True)):
        for scale, far in ((1.0, 0.0), (1e-4, 0.0), (1.0, 50.0)):
            points = (corners * np.float32([1, 1, height]) * scale + np.float32([far, 0, 0])).astype(
                np.float32
            )
            assert make_facts(points, np.full(100, 3, np.int32), faces).is_flat is flat, (height, scale, far)


def test_the_first_crossing_does_not_depend_on_how_many_pairs_are_looked_at(monkeypatch) -> None:
    points = np.random.default_rng(2).normal(size=(900, 3)).astype(np.float32)
    points[:600] += np.repeat(np.arange(200), 3)[:, None] * 10  # triangles far from each other come first
    facts = make_facts(points, np.full(300, 3, np.int32), np.arange(900, dtype=np.int32))
    found = []
    for first, most in ((1, 4), (1_000, 4_000), (10**9, 10**9)):
        monkeypatch.setattr(geo_coll_no_selfint, "_FIRST_PAIRS", first)
        monkeypatch.setattr(geo_coll_no_selfint, "_PAIRS", most)
        found.append(find_self_intersections(facts))
    assert len(found[0]) == 1
    assert found[0] == found[1] == found[2]


def test_face_arrays_are_not_kept() -> None:
    reads = []
    arrays = mesh(CORNERS, np.full(12, 3, np.int32), TRIANGLES.reshape(-1).astype(np.int32))

    def load(name: str) -> object:
        reads.append(name)
        return arrays(name)

    facts = MeshCache().facts(load)
    assert facts.topology.is_closed
    assert len(reads) == 3
    kept = [*vars(facts).values(), *(getattr(facts.form, name) for name in facts.form.__slots__)]
    assert not any(isinstance(value, np.ndarray) for value in kept)
    assert facts.is_convex
    assert len(reads) == 3  # what was read last is at hand
    facts.book.read(mesh(CORNERS, [], []))
    assert len(facts.faces.triangles) == 12
    assert len(reads) == 6
