"""Jobs on a Ray cluster: the same report as on one machine, tokens, shipped assets, agents that are killed."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest
from job_things import RULES, start, write_boxes

from simwright.app.cli.main import run
from simwright.app.jobs.ray import RayExecutor, keep_output
from simwright.core.errors import MissingExtraError, UsageError

ARM = """<robot name="arm"><link name="base"/><link name="tip"><visual><geometry><mesh filename="meshes/box.obj"/>
</geometry></visual></link><joint name="j" type="revolute"><parent link="base"/><child link="tip"/><axis xyz="0 0 1"/>
<limit lower="-1" upper="1" effort="1" velocity="1"/></joint></robot>"""
MESH = "v 0 0 0\nv 1 0 0\nv 0 1 0\nv 0 0 1\nf 1 2 3\nf 1 2 4\nf 1 3 4\nf 2 3 4\n"


def test_without_ray_the_install_line_is_told(monkeypatch):
    monkeypatch.setitem(sys.modules, "ray", None)
    with pytest.raises(MissingExtraError, match=r"simwright\[ray\]"):
        RayExecutor().run(None, [], None, None)  # type: ignore[arg-type]


def test_a_cluster_without_a_token_is_not_asked(monkeypatch, tmp_path):
    for name in ("RAY_AUTH_MODE", "RAY_AUTH_TOKEN", "RAY_AUTH_TOKEN_PATH"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("HOME", str(tmp_path))
    with pytest.raises(UsageError, match="token"):
        RayExecutor(address="127.0.0.1:1").run(None, [], None, None)  # type: ignore[arg-type]
    assert "RAY_AUTH_MODE" not in os.environ


def test_what_ray_prints_does_not_get_into_a_report(capsys):
    with keep_output():
        sys.stdout.write("a line of the report\n")
        thread = threading.Thread(target=print, args=("a node was lost",))
        thread.start()
        thread.join()
    sys.stdout.write("the rest\n")
    said = capsys.readouterr()
    assert said.out == "a line of the report\nthe rest\n"
    assert said.err == "a node was lost\n"


def report(folder: str, capsys) -> str:
    run(["jobs", "report", folder, "--format", "json"])
    return capsys.readouterr().out


@pytest.mark.judge("ray")
def test_the_report_is_that_of_one_machine_also_when_an_agent_is_killed(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    write_boxes(tmp_path / "boxes", 60)
    assert run(["check", "boxes", *RULES, "--job", "local"]) == 1
    driver = start("check", "boxes", *RULES, "--executor", "ray", "--job", "ray", folder=tmp_path)
    killed = False
    while driver.poll() is None:
        # by process id: an agent of this driver, once, while it has work
        for pid in [] if killed else list_agents(driver.pid):
            os.kill(pid, signal.SIGKILL)
            killed = True
            break
        try:
            driver.wait(0.2)
        except subprocess.TimeoutExpired:
            continue
    _, wrong = driver.communicate()
    assert driver.returncode == 1, wrong
    assert killed
    capsys.readouterr()
    assert report("ray", capsys) == report("local", capsys)


def list_agents(driver: int) -> list[int]:
    """Processes below a driver that are agents at work."""
    parents, names = {}, {}
    for place in Path("/proc").glob("[0-9]*"):
        try:
            parents[int(place.name)] = int((place / "stat").read_text().rpartition(")")[2].split()[1])
            names[int(place.name)] = (place / "cmdline").read_text()
        except (OSError, IndexError):
            continue
    found = []
    for pid, name in names.items():
        above = pid
        while above in parents and above != driver:
            above = parents[above]
        if above == driver and name.startswith("ray::ChunkAgent.do"):
            found.append(pid)
    return found


@pytest.mark.judge("ray")
def test_assets_travel_and_results_come_back(tmp_path, monkeypatch, capsys):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "arm" / "meshes").mkdir(parents=True)
    (tmp_path / "arm" / "arm.urdf").write_text(ARM)
    (tmp_path / "arm" / "meshes" / "box.obj").write_text(MESH)
    (tmp_path / "arm" / "broken.urdf").write_text("<robot")
    told = {}
    for name, more in (("here", []), ("there", ["--executor", "ray", "--ship"])):
        asked = [
            "convert",
            "arm/*.urdf",
            name,
            "--to",
            "mjcf",
            "--no-check",
            "--report",
            "json",
            "--jobs",
            "1",
        ]
        driver = start(*asked, "--job", f"job-{name}", *more, folder=tmp_path)
        out, wrong = driver.communicate(timeout=300)
        assert driver.returncode == 1, wrong
        told[name] = out.replace(str(tmp_path / name), "OUT")
    assert json.loads(told["there"]) == json.loads(told["here"])
    files = {
        name: {
            file.relative_to(name): file.read_bytes()
            for file in sorted(Path(name).rglob("*"))
            if file.is_file()
        }
        for name in ("here", "there")
    }
    assert files["here"]
    assert files["there"] == files["here"]


@pytest.mark.judge("ray")
def test_episodes_are_the_same_on_a_cluster(tmp_path):
    asked = ["task", "run", "reach", "--robot", "sample_arm", "--policy", "random", "--max-steps", "5"]
    asked += ["--episodes", "45", "--format", "json", "--jobs", "1"]
    found = []
    for more in ([], ["--executor", "ray"]):
        driver = start(*asked, *more, folder=tmp_path)
        out, wrong = driver.communicate(timeout=300)
        assert driver.returncode == 0, wrong
        found.append(out)
    assert found[0] == found[1]
    assert len(json.loads(found[0])["episodes"]) == 45
