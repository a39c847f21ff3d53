"""Addresses in description files."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright.core.diag import Where
from simwright.core.errors import NotFoundError, UnsafePathError
from simwright.core.gate import Gate
from simwright.core.packages import Package, PackageMap
from simwright.formats.resources import resolve_resource

HERE = Where("robot.urdf", 3)


@pytest.fixture
def base(tmp_path: Path) -> Path:
    for name in ("ws/bot/urdf", "ws/bot/meshes", "ws/models/can", "pkg/meshes"):
        (tmp_path / name).mkdir(parents=True)
    for name in (
        "ws/bot/meshes/a b.stl",
        "ws/models/can/model.sdf",
        "pkg/meshes/p.stl",
        "ws/bot/urdf/c:d.stl",
    ):
        (tmp_path / name).write_text("x")
    return tmp_path / "ws" / "bot" / "urdf"


@pytest.fixture
def gate(tmp_path: Path, base: Path) -> Gate:
    packages = PackageMap({"pkg": Package("pkg", tmp_path / "pkg", "test")})
    return Gate.around(base / "robot.urdf", packages)


@pytest.mark.parametrize(
    ("uri", "expected"),
    [
        ("../meshes/a b.stl", "ws/bot/meshes/a b.stl"),
        ("file://../meshes/a%20b.stl", "ws/bot/meshes/a b.stl"),
        ("package://pkg/meshes/p.stl", "pkg/meshes/p.stl"),
        ("package://bot/meshes/a b.stl", "ws/bot/meshes/a b.stl"),
        ("model://bot/meshes/a b.stl", "ws/bot/meshes/a b.stl"),
        ("model://pkg/meshes/p.stl", "pkg/meshes/p.stl"),
        ("model://pkg", "pkg"),
        ("c:d.stl", "ws/bot/urdf/c:d.stl"),
    ],
)
def test_what_is_there_is_found(uri: str, expected: str, base: Path, gate: Gate, tmp_path: Path) -> None:
    assert resolve_resource(uri, base, gate, HERE) == tmp_path / expected


def test_absolute_paths(base: Path, gate: Gate) -> None:
    target = base.parent / "meshes" / "a b.stl"
    assert resolve_resource(str(target), base, gate, HERE) == target
    assert resolve_resource(f"file://{target}", base, gate, HERE) == target
    assert resolve_resource(f"file://localhost{target}", base, gate, HERE) == target


@pytest.mark.parametrize("variable", ["GAZEBO_MODEL_PATH", "GZ_SIM_RESOURCE_PATH", "SDF_PATH"])
def test_model_paths_of_the_environment(
    variable: str, base: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = base.parent.parent / "models"
    with pytest.raises(NotFoundError, match="'can'"):
        resolve_resource("model://can/model.sdf", base, gate, HERE)
    monkeypatch.setenv(variable, f"/nowhere:{models}")
    for scheme in ("model", "package"):
        found = resolve_resource(f"{scheme}://can/model.sdf", base, gate, HERE)
        assert found == models / "can" / "model.sdf"


def test_a_file_of_a_resource_folder_needs_no_scheme(
    base: Path, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    models = base.parent.parent / "models"
    (models / "loose.stl").write_bytes(b"solid")
    with pytest.raises(NotFoundError):
        resolve_resource("loose.stl", base, gate, HERE)
    monkeypatch.setenv("GZ_SIM_RESOURCE_PATH", f"/nowhere:{models}")
    assert resolve_resource("loose.stl", base, gate, HERE) == models / "loose.stl"


@pytest.mark.parametrize(
    ("uri", "error"),
    [
        ("", NotFoundError),
        ("gone.stl", NotFoundError),
        ("a\0b", NotFoundError),
        ("x" * 5000, NotFoundError),
        ("package://nobody/a.stl", NotFoundError),
        ("package://pkg/gone.stl", NotFoundError),
        ("model://nobody/a.stl", NotFoundError),
        ("package://pkg/../secret", UnsafePathError),
        ("model://pkg/../secret", UnsafePathError),
        ("model://../secret", UnsafePathError),
        ("http://example.org/a.stl", UnsafePathError),
        ("https://fuel.gazebosim.org/1.0/a", UnsafePathError),
        ("package://etc/passwd", NotFoundError),
    ],
)
def test_what_is_not_there_or_not_allowed(uri: str, error: type[Exception], base: Path, gate: Gate) -> None:
    with pytest.raises(error) as caught:
        resolve_resource(uri, base, gate, HERE)
    assert getattr(caught.value, "where", None) == HERE
