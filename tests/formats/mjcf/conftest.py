"""Reading MJCF text, and MuJoCo's own answer to compare with."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import mujoco
import numpy as np
import pytest

from simwright.core.diag import Reporter
from simwright.core.math3d import quat_angle
from simwright.formats.format import ReadOptions
from simwright.formats.mjcf.read import read
from simwright.model.asset import Asset
from simwright.model.kinematics import build_tree, forward_kinematics


@pytest.fixture
def read_text(tmp_path: Path, reporter: Reporter) -> Callable[..., Asset]:
    """Write a main file (and others beside it) and read it."""

    def make(text: str, **others: str | bytes) -> Asset:
        for name, content in others.items():
            data = content.encode() if isinstance(content, str) else content
            (tmp_path / name.replace("__", ".")).write_bytes(data)
        path = tmp_path / "model.xml"
        path.write_text(text)
        return read(path, ReadOptions(), reporter)

    return make


@pytest.fixture(autouse=True)
def no_log_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Iterator[None]:
    """MuJoCo must leave no log file in the current folder, whatever is read."""
    folder = tmp_path / "current"
    folder.mkdir()
    monkeypatch.chdir(folder)
    yield
    assert not list(folder.iterdir())


def sample_configuration(model: Any, rng: np.random.Generator) -> np.ndarray[Any, Any]:
    """Random coordinates with unit quaternions."""
    q = model.qpos0 + rng.normal(size=model.nq)
    for joint in range(model.njnt):
        offset = {0: 3, 1: 0}.get(int(model.jnt_type[joint]))
        if offset is not None:
            start = model.jnt_qposadr[joint] + offset
            q[start : start + 4] /= np.linalg.norm(q[start : start + 4])
    return q


def worst_difference(asset: Asset, model: Any, samples: int = 20) -> float:
    """Largest distance [m] or angle [rad] between our forward kinematics and MuJoCo's."""
    rng = np.random.default_rng(7)
    data, tree, worst = mujoco.MjData(model), build_tree(asset), 0.0
    for _ in range(samples):
        data.qpos[:] = sample_configuration(model, rng)
        mujoco.mj_kinematics(model, data)
        q, start = {}, 0
        for joint in asset.joints:
            q[joint.name] = data.qpos[start : start + joint.positions].copy()
            start += joint.positions
        assert start == model.nq
        poses = forward_kinematics(asset, q, tree)
        for index, body in enumerate(asset.bodies, start=1):
            pose = poses[body.name]
            worst = max(worst, float(np.abs(pose.p - data.xpos[index]).max()))
            worst = max(worst, quat_angle(pose.q, data.xquat[index]))
    return worst


@pytest.fixture
def compare(tmp_path: Path) -> Callable[..., None]:
    """Check bodies, rest poses, masses and kinematics against MuJoCo."""

    def check(asset: Asset, path: Path | None = None, samples: int = 20) -> None:
        model = mujoco.MjModel.from_xml_path(str(path or tmp_path / "model.xml"))
        assert len(asset.bodies) == model.nbody - 1
        assert worst_difference(asset, model, samples) < 1e-9
        data = mujoco.MjData(model)
        mujoco.mj_kinematics(model, data)
        for index, body in enumerate(asset.bodies, start=1):
            assert np.allclose(body.pose.p, data.xpos[index], atol=1e-9)
            assert quat_angle(body.pose.q, data.xquat[index]) < 1e-9
        total = sum(body.inertial.mass for body in asset.bodies if body.inertial)
        assert total == pytest.approx(float(model.body_mass.sum()), abs=1e-9)

    return check
