# SPDX-License-Identifier: Apache-2.0
"""Build ROS 2 interface packages from the definitions of ``src/simwright/ros/definitions`` into an environment.

    <environment>/bin/python scripts/judge/interfaces.py PACKAGE ...

The registry has rclpy and the generators, but not these packages.  What is generated is what C and Python need; the
environment's own cmake files name the Python of the machine they were made on, and are set right first.
"""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import tempfile
from pathlib import Path

DEFINITIONS = Path(__file__).resolve().parents[2] / "src" / "simwright" / "ros" / "definitions"
# without the C++ generators, which peers in Python have no use for
GENERATORS = (
    "rosidl_generator_type_description",
    "rosidl_generator_c",
    "rosidl_typesupport_fastrtps_c",
    "rosidl_typesupport_introspection_c",
    "rosidl_typesupport_c",
    "rosidl_generator_py",
)
_FOREIGN = re.compile(r"/opt/python/[^;\" ]*?/(include/python3\.\d+|numpy/_core/include)")
_NAME = re.compile(r"\b([a-z][a-z0-9_]*)/[A-Z]")


def main(packages: list[str]) -> int:
    """Build and install packages, in order."""
    prefix = Path(sys.prefix)
    mend_paths(prefix)
    for package in packages:
        text = (DEFINITIONS / f"{package}.txt").read_text()
        with tempfile.TemporaryDirectory() as folder:
            build(package, text, Path(folder), prefix)
    return 0


def mend_paths(prefix: Path) -> None:
    """Put the include folders of this environment in the place of another machine's."""
    import numpy as np

    own = {"python": sysconfig.get_paths()["include"], "numpy": np.get_include()}
    for file in (prefix / "share").rglob("*.cmake"):
        text = file.read_text()
        mended = _FOREIGN.sub(lambda m: own["numpy" if "numpy" in m[0] else "python"], text)
        if mended != text:
            file.write_text(mended)


def build(package: str, text: str, folder: Path, prefix: Path) -> None:
    """Write a package as rosidl takes it, and build it."""
    files = []
    for name, body in re.findall(r"^=== (\S+)\n(.*?)(?=^===|\Z)", text, re.MULTILINE | re.DOTALL):
        _, kind, title = name.split("/")
        file = folder / kind / f"{title}.{kind}"
        file.parent.mkdir(exist_ok=True)
        file.write_text(body.strip() + "\n" if body.strip() else "")
        files.append(f"{kind}/{title}.{kind}")
    needed = sorted(set(_NAME.findall(re.sub(r"^===.*", "", text, flags=re.MULTILINE))) - {package})
    if any(file.startswith("action/") for file in files):
        needed.append("action_msgs")
    if any(file.startswith("srv/") for file in files):
        needed.append("service_msgs")
    (folder / "package.xml").write_text(_make_manifest(package, needed))
    (folder / "CMakeLists.txt").write_text(_make_rules(package, files, needed))
    environment = os.environ | {
        "AMENT_PREFIX_PATH": str(prefix),
        "CMAKE_PREFIX_PATH": str(prefix),
        "PATH": f"{prefix / 'bin'}{os.pathsep}{os.environ['PATH']}",
    }
    run = ["cmake", "-S", str(folder), "-B", str(folder / "build"), f"-DCMAKE_INSTALL_PREFIX={prefix}"]
    run += [f"-DPython3_EXECUTABLE={sys.executable}", "-DCMAKE_BUILD_TYPE=Debug", "-DBUILD_TESTING=OFF"]
    for command in (run, ["cmake", "--build", str(folder / "build"), "--target", "install"]):
        done = subprocess.run(command, env=environment, capture_output=True, text=True, check=False)
        if done.returncode:
            sys.exit(f"cannot build {package}:\n{(done.stdout + done.stderr)[-4000:]}")


def _make_manifest(package: str, needed: list[str]) -> str:
    depends = "".join(f"  <depend>{name}</depend>\n" for name in needed)
    return (
        f'<?xml version="1.0"?>\n<package format="3">\n  <name>{package}</name>\n  <version>0.0.0</version>\n'
        "  <description>Definitions of Simwright</description>\n"
        '  <maintainer email="developers@simwright.invalid">The Simwright developers</maintainer>\n'
        f"  <license>Apache-2.0</license>\n{depends}"
        "  <member_of_group>rosidl_interface_packages</member_of_group>\n"
        "  <export><build_type>ament_cmake</build_type></export>\n</package>\n"
    )


def _make_rules(package: str, files: list[str], needed: list[str]) -> str:
    lines = [
        "cmake_minimum_required(VERSION 3.20)",
        f"project({package})",
        *(f"find_package({name} REQUIRED)" for name in ("ament_cmake", "rosidl_cmake", *GENERATORS, *needed)),
        f"rosidl_generate_interfaces(${{PROJECT_NAME}} {' '.join(sorted(files))}",
        f"  DEPENDENCIES {' '.join(needed)})" if needed else ")",
        "ament_package()",
    ]
    return "\n".join(lines) + "\n"


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
