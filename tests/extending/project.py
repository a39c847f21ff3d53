# SPDX-License-Identifier: Apache-2.0
"""A copy of this project to which one of everything is added, as the table in docs/architecture.md says.

``additions/<row>`` holds the files that a row of the table asks to write, where they go below the project.  What has to
be edited beside them is in :data:`ADDITIONS`, and so are the entry points by which another package brings the same: the
files once more, in a package ``plugged`` with an installer's records of it.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import IO

HERE = Path(__file__).parent
REPO = HERE.parent.parent
_PARTS = ("src", "scripts", "docs", "samples", "benchmarks", "tests")
_FIXED = """```

```fixed root.usda
#usda 1.0
(
    defaultPrim = "arm"
)

def Xform "arm" (
    displayName = "arm"
)
{
}"""
_FILES = ("pyproject.toml", "README.md", "Makefile", "CONTRIBUTING.md", "CHANGELOG.md")


@dataclass(frozen=True)
class Addition:
    """A row of the table: ``edits`` are (file, what a line has in it, the line to add after it).

    ``plugins`` are (entry-point group, name, object) of the same for another package.
    """

    row: str
    edits: tuple[tuple[str, str, str], ...] = ()
    plugins: tuple[tuple[str, str, str], ...] = ()

    @property
    def slug(self) -> str:
        return re.sub(r"[^a-z]+", "-", self.row)

    @property
    def files(self) -> dict[str, str]:
        """Text by path in the project."""
        folder = HERE / "additions" / self.slug
        return {
            path.relative_to(folder).as_posix(): path.read_text()
            for path in sorted(folder.rglob("*"))
            if path.is_file() and path.suffix != ".pyc"
        }


ADDITIONS = (
    Addition(
        "rule",
        plugins=(("rules", "sketch-titled", "simwright.checker.rules.s1_2_5.sketch_titled:sketch_titled"),),
    ),
    Addition(
        "fix",
        (
            (
                "checker/rules/s1_2_5/sketch_titled.py",
                'on="stage",',
                '    fix="safe",\n    fix_title="take the name of the prim",',
            ),
            ("tests/checker/cases/sketch-titled.md", 'def Xform "arm" {}', _FIXED),
            ("sanitizer/fixer.py", "VALUES: dict", '    "sketch-title": "what people call the asset",'),
        ),
        (("fixes", "sketch", "simwright.sanitizer.fixes.sketch_titles:title_sketch"),),
    ),
    Addition(
        "solver namespace",
        (("resolve/resolver.py", '"mjc": "simwright', '        "sketch": "simwright.resolve.sketch",'),),
        (("resolvers", "sketch", "simwright.resolve.sketch"),),
    ),
    Addition("diagnostic"),
    Addition(
        "format",
        (("formats/table.py", '"gltf": "simwright', '        "sketch": "simwright.formats.sketch:FORMAT",'),),
        (("formats", "sketch", "simwright.formats.sketch:FORMAT"),),
    ),
    Addition(
        "post-build operation",
        plugins=(("operations", "sketch_gravity", "simwright.scenes.ops.sketch_gravity:sketch_gravity"),),
    ),
    Addition(
        "report format",
        (
            (
                "app/report/report.py",
                '"html": "simwright',
                '        "sketch": "simwright.app.report.sketch:render",',
            ),
        ),
        (("reports", "sketch", "simwright.app.report.sketch:render"),),
    ),
    Addition("schema"),
    Addition(
        "engine",
        (
            (
                "engines/table.py",
                '"mujoco": "simwright',
                '        "sketch": "simwright.engines.sketch.engine:ENGINE",',
            ),
        ),
        (("engines", "sketch", "simwright.engines.sketch.engine:ENGINE"),),
    ),
    Addition(
        "transport",
        (
            (
                "ros/transports/table.py",
                '"zenoh": "simwright',
                '        "sketch": "simwright.ros.transports.sketch:open_sketch",',
            ),
        ),
        (("transports", "sketch", "simwright.ros.transports.sketch:open_sketch"),),
    ),
    Addition(
        "controller",
        (
            (
                "ros/control.py",
                '"rigid_body_twist": "simwright',
                '        "sketch": "simwright.ros.sketch:SketchController",',
            ),
        ),
        (("controllers", "sketch", "simwright.ros.sketch:SketchController"),),
    ),
    Addition(
        "task",
        (
            (
                "tasks/scenes/table.py",
                '"reach": "simwright',
                '        "sketch_wait": "simwright.tasks.scenes.sketch_wait:SCENE",',
            ),
        ),
        (("tasks", "sketch_wait", "simwright.tasks.scenes.sketch_wait:SCENE"),),
    ),
    Addition(
        "reward term",
        (
            (
                "tasks/rewards.py",
                '"speed": f"{_HERE}',
                '        "sketch": "simwright.tasks.sketch_rewards:reward_sketch",',
            ),
        ),
        (("rewards", "sketch", "simwright.tasks.sketch_rewards:reward_sketch"),),
    ),
    Addition(
        "term of observations and success",
        (
            (
                "tasks/terms.py",
                '"time": f"{_HERE}',
                '        "sketch": "simwright.tasks.sketch_terms:RADIUS",',
            ),
        ),
        (("terms", "sketch", "simwright.tasks.sketch_terms:RADIUS"),),
    ),
    Addition(
        "policy",
        (
            (
                "tasks/baselines/policy.py",
                '"pull": "simwright',
                '        "sketch": "simwright.tasks.baselines.sketch:Sketch",',
            ),
        ),
        (("policies", "sketch", "simwright.tasks.baselines.sketch:Sketch"),),
    ),
    Addition("robot", plugins=(("robots", "sketch", "plugged_robots:find_folder"),)),
    Addition(
        "world planner, executor, sensor, action",
        (
            (
                "worlds/planning/planner.py",
                '"prm": "simwright.worlds.planning.road_map',
                '    "sketch": "simwright.worlds.planning.sketch:SketchPlanner",',
            ),
            (
                "worlds/execution/executor.py",
                "ROWS = {",
                'ROWS["sketch"] = "simwright.worlds.execution.sketch:SketchExecutor"',
            ),
            (
                "worlds/sensing/sensor.py",
                '"fov": "simwright',
                '    "sketch": "simwright.worlds.sensing.sketch:SketchCompass",',
            ),
            (
                "worlds/acting/table.py",
                '"open": "simwright.worlds.acting.doors',
                '    "sketch": "simwright.worlds.acting.sketch:sketch_wave",',
            ),
        ),
        (
            ("world_planners", "sketch", "simwright.worlds.planning.sketch:SketchPlanner"),
            ("world_executors", "sketch", "simwright.worlds.execution.sketch:SketchExecutor"),
            ("world_sensors", "sketch", "simwright.worlds.sensing.sketch:SketchCompass"),
            ("world_actions", "sketch", "simwright.worlds.acting.sketch:sketch_wave"),
        ),
    ),
    Addition(
        "command",
        (
            (
                "app/cli/main.py",
                "COMMANDS: dict",
                '    "sketch": ("simwright.app.cli.sketch:sketch", "Say that it is there."),',
            ),
        ),
    ),
    Addition(
        "sample",
        (
            ("scripts/make_samples.py", "    rack,", "    sketch,"),
            ("scripts/make_samples.py", "SAMPLES = (", "SAMPLES += (sketch,)"),
        ),
    ),
    Addition("benchmark"),
)


class Project:
    """The copy, with ``generated`` files made anew by the commands that the table names."""

    def __init__(self, folder: Path) -> None:
        self.root, self.site, self.robots = folder / "project", folder / "site", folder / "robots"
        skipped = shutil.ignore_patterns("extending", "*.pyc.*")  # the latter are being written
        for name in _PARTS:  # with the compiled files: their times are those of the sources
            shutil.copytree(REPO / name, self.root / name, ignore=skipped)
        for name in _FILES:
            shutil.copy2(REPO / name, self.root / name)
        for addition in ADDITIONS:
            for name, text in addition.files.items():
                assert not (self.root / name).exists(), name
                write(self.root / name, text)
            for name, mark, line in addition.edits:
                add_line(self.root / find_path(name), mark, line)
        self._install()
        schema = self.root / "src/simwright/usd/schemas/extended_physics_sketch"
        self.run("scripts/generate_schemas.py", str(schema))
        self.run("scripts/make_samples.py")
        self.run("scripts/generate_docs.py")

    def _install(self) -> None:
        """Files and records as an installer leaves them, for a package that has no other word in this project."""
        names = [name for addition in ADDITIONS for name in addition.files]
        texts = {name: (self.root / name).read_text() for name in names}
        ours = {name: text for name, text in texts.items() if name.startswith("src/simwright/")}
        modules = sorted((name_module(name) for name in ours if name.endswith(".py")), key=len, reverse=True)

        def change(text: str) -> str:
            for module in modules:
                text = text.replace(module, module.replace("simwright.", "plugged.", 1))
            return text.replace("sketch", "plugged").replace("Sketch", "Plugged").replace("SKETCH", "PLUGGED")

        for name, text in ours.items():
            write(self.site / change(name).replace("src/simwright/", "plugged/", 1), change(text))
        for name, text in texts.items():
            if name.startswith("robots/"):
                write(self.site / change(name), change(text))
        place = (
            "from pathlib import Path\n\n\ndef find_folder():\n    return Path(__file__).parent / 'robots'\n"
        )
        write(self.site / "plugged_robots.py", place)
        info = self.site / "plugged-1.0.dist-info"
        write(info / "METADATA", "Metadata-Version: 2.1\nName: plugged\nVersion: 1.0\n")
        points = [point for addition in ADDITIONS for point in addition.plugins]
        groups = {
            f"[simwright.{group}]\n{change(name)} = {change(target)}\n" for group, name, target in points
        }
        write(info / "entry_points.txt", "\n".join(sorted(groups)))

    def run(
        self,
        *arguments: str,
        plugged: bool = False,
        cwd: Path | None = None,
        code: int = 0,
        helpers: str = "",
    ) -> str:
        """What Python prints with the copy's sources, and with the other package installed if wanted.

        ``helpers`` is a folder of the project, such as one of tests, whose modules can be imported too.
        """
        process = self.start(*arguments, plugged=plugged, cwd=cwd, stderr=subprocess.PIPE, helpers=helpers)
        printed, said = process.communicate()
        assert process.returncode == code, printed + said
        return printed

    def start(
        self,
        *arguments: str,
        plugged: bool,
        stderr: IO[str] | int,
        cwd: Path | None = None,
        helpers: str = "",
    ) -> subprocess.Popen[str]:
        """Python with the copy's sources, as a process that is asked through its pipes."""
        paths = [str(self.root / "src"), *([str(self.site)] if plugged else [])]
        paths += [str(self.root / helpers)] if helpers else []
        environment = {
            **os.environ,
            "PYTHONPATH": os.pathsep.join(paths),
            "XDG_CACHE_HOME": str(self.root.parent / "cache"),
            "SIMWRIGHT_ROBOTS": "" if plugged else str(self.root / "robots"),
        }
        return subprocess.Popen(
            [sys.executable, *arguments], stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=stderr, text=True,
            env=environment, cwd=cwd or self.root,
        )  # fmt: skip


def write(path: Path, text: str) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(text)


def add_line(path: Path, mark: str, line: str) -> None:
    """After the only line that has the mark in it."""
    lines = path.read_text().splitlines()
    (place,) = [number for number, text in enumerate(lines) if mark in text]
    lines.insert(place + 1, line)
    path.write_text("\n".join(lines) + "\n")


def find_path(name: str) -> str:
    """A path of the table, which leaves ``src/simwright`` out."""
    return (
        name if name.startswith(("tests/", "scripts/", "benchmarks/", "robots/")) else f"src/simwright/{name}"
    )


def name_module(path: str) -> str:
    return path.removeprefix("src/").removesuffix(".py").removesuffix("/__init__").replace("/", ".")
