"""Results of runs on one screen."""

from __future__ import annotations

import simwright


def test_a_run_tells_itself_on_one_screen(samples, tmp_path):
    scene = samples / "playground/playground.yaml"
    record = tmp_path / "<run>.npz"
    result = simwright.run(scene, frames=20, num_worlds=2, record=record)
    line = repr(result)
    assert "\n" not in line
    assert len(line) <= 200
    for word in ("mujoco", "2 worlds", "20 of 20 steps of 0.002 s"):
        assert word in line
    text = str(result)
    lines = text.splitlines()
    assert len(lines) <= 24
    assert lines[0] == str(scene)
    assert f"  recorded  {record}" in lines
    assert "  worlds    2" in lines
    assert "findings" in text
    assert result.layout is not None
    freedoms = result.layout.freedoms
    (told,) = [line for line in lines if line.split()[0] == freedoms[1].name]
    assert float(told.split()[1]) == float(f"{result.positions[0, freedoms[1].q]:.4g}")
    assert lines[-1] == f"    ... and {len(freedoms) - 12} more"
    page = result._repr_html_()
    assert "&lt;run&gt;.npz" in page
    assert "<run>" not in page
    assert page.count("<tr>") == len(freedoms) + 1


def test_a_loaded_scene_tells_itself_in_a_line(samples):
    loaded = simwright.load_scene(samples / "playground/playground.yaml", num_worlds=3)
    line = repr(loaded)
    assert line.startswith("<LoadedScene ")
    assert "playground.yaml: 3 worlds of 16 bodies, 16 joints, 31 DOF, 55 shapes>" in line
    assert len(line) <= 200
