#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Run Newton's own tests of its USD importer with Simwright's ``add_usd`` in the place of theirs.

    python scripts/run_newton_tests.py [--tests FOLDER] [--only TEXT ...] [--theirs] [--write FILE]

The tests are those of the package that the judge environment ``newton`` has (``newton/tests``), or of a checkout that
``--tests`` or ``SIMWRIGHT_NEWTON_TESTS`` names.  Prints each test that fails, with its reason, and the sum; exit code
1 if a test fails that ``docs/newton-differences.md`` does not list, or one passes that it does.  ``--theirs``
runs them on Newton's importer, unchanged.
"""

from __future__ import annotations

import argparse
import json
import os
import re
import subprocess
import sys
import unittest
from pathlib import Path

REPO = Path(__file__).resolve().parents[1]
PAGE = REPO / "docs" / "newton-differences.md"
FILES = (
    "test_import_usd.py",
    "test_import_usd_articulation.py",
    "test_import_usd_collision_groups.py",
    "test_import_usd_joints.py",
    "test_import_usd_multi_dof.py",
    "test_import_usd_tendon.py",
)
DEFORMABLE = (
    "test_import_usd_deformable_attachments.py",
    "test_import_usd_deformable_cable.py",
    "test_import_usd_deformable_cloth.py",
    "test_import_usd_deformable_filtered_pairs.py",
    "test_import_usd_deformable_groups.py",
    "test_import_usd_deformable_mixed.py",
    "test_import_usd_deformable_volume.py",
    "test_import_usd_mpm.py",
)
OTHERS = ("test_sites_usd_import.py", "test_sdf_usd.py", "test_schema_resolver.py")
_ROW = re.compile(r"^\| `(test_\w+\.\w+\.test_\w+)` \|")


def main(arguments: list[str]) -> int:
    """Run the tests, in the environment of Newton if this interpreter has none."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("--tests", default=os.environ.get("SIMWRIGHT_NEWTON_TESTS", ""), help="newton/tests")
    parser.add_argument("--only", nargs="*", default=[], help="parts of test names")
    parser.add_argument(
        "--files", nargs="*", default=list(FILES), help="files of tests; 'all' for all of them"
    )
    parser.add_argument("--theirs", action="store_true", help="on Newton's own importer")
    parser.add_argument("--write", type=Path, help="a JSON file for the results")
    asked = parser.parse_args(arguments)
    try:
        import newton
    except ImportError:
        return _start_in_environment(arguments)
    folder = Path(asked.tests or Path(newton.__file__).parent / "tests").resolve()
    files = [*FILES, *DEFORMABLE, *OTHERS] if asked.files == ["all"] else asked.files
    results = run_tests(folder, files, asked.only, theirs=asked.theirs)
    if asked.write:
        asked.write.write_text(json.dumps(results, indent=1))
    return report(results, check=not (asked.theirs or asked.only))


def _start_in_environment(arguments: list[str]) -> int:
    sys.path.insert(0, str(REPO / "scripts" / "judge"))
    from environments import hold_all, list_judges

    judge = list_judges()["newton"]
    with hold_all(judge, lambda text: print(text, file=sys.stderr)) as interpreters:
        variables = os.environ | judge.make_variables() | {"PYTHONPATH": str(REPO / "src")}
        command = [str(interpreters[0]), str(Path(__file__).resolve()), *arguments]
        return subprocess.run(command, env=variables, check=False).returncode


def run_tests(
    folder: Path, files: list[str], only: list[str], *, theirs: bool = False
) -> dict[str, tuple[str, str]]:
    """How each test ended (passed, failed, skipped), with the reason, by file, class and name."""
    if not theirs:
        from simwright.engines.newton import install

        install()
    # as a package: tests import their helpers by its name
    top = folder.parent.parent
    if str(top) not in sys.path:
        sys.path.insert(0, str(top))
    results: dict[str, tuple[str, str]] = {}

    loader = unittest.TestLoader()
    for file in files:
        suite = loader.loadTestsFromName(f"newton.tests.{Path(file).stem}")
        for test in _flatten(suite):
            if not only or any(word in _name(test) for word in only):
                unittest.TestSuite([test]).run(Collected(results))
    return results


class Collected(unittest.TestResult):
    """Keeps how each test ended in ``results``."""

    def __init__(self, results: dict[str, tuple[str, str]]) -> None:
        super().__init__()
        self.results = results

    def addSuccess(self, test: unittest.TestCase) -> None:  # noqa: D102, N802 - unittest's
        self.results.setdefault(_name(test), ("passed", ""))

    def addFailure(self, test: unittest.TestCase, err: object) -> None:  # noqa: D102, N802 - unittest's
        self.results[_name(test)] = ("failed", self._tell(err))

    addError = addFailure  # noqa: N815

    def addSubTest(self, test: unittest.TestCase, _part: object, err: object) -> None:  # noqa: D102, N802 - unittest's
        if err is not None:
            self.results[_name(test)] = ("failed", self._tell(err))

    def addSkip(self, test: unittest.TestCase, reason: str) -> None:  # noqa: D102, N802 - unittest's
        self.results[_name(test)] = ("skipped", reason)

    def _tell(self, err: object) -> str:
        kind, error, trace = err  # type: ignore[misc]
        lines = []
        while trace is not None:
            lines.append(f"{Path(trace.tb_frame.f_code.co_filename).name}:{trace.tb_lineno}")
            trace = trace.tb_next
        ours = [line for line in lines if not line.startswith(("case.py", "run_newton_tests"))]
        return f"{kind.__name__}: {error} [{' '.join(ours[-4:])}]"


def _flatten(suite: object) -> list[object]:
    if hasattr(suite, "__iter__"):
        return [test for part in suite for test in _flatten(part)]
    return [suite]


def _name(test: object) -> str:
    return ".".join(test.id().split(".")[-3:])  # type: ignore[attr-defined]


def report(results: dict[str, tuple[str, str]], *, check: bool) -> int:
    """Print what failed and the sums; with ``check``, 1 if that is not what the page of differences lists."""
    failed = {name: why for name, (how, why) in results.items() if how == "failed"}
    listed = {row[1] for line in PAGE.read_text().splitlines() if (row := _ROW.match(line))}
    for name, why in sorted(failed.items()):
        print(f"{'listed' if name in listed else 'FAILED'} {name}\n    {why[:600]}")
    skipped = sum(how == "skipped" for how, _ in results.values())
    print(
        f"{len(results) - len(failed) - skipped} of {len(results) - skipped} passed, {skipped} skipped by Newton"
    )
    stale = [name for name in sorted(listed) if results.get(name, ("failed",))[0] == "passed"]
    for name in stale if check else ():
        print(f"passes, though {PAGE.name} lists it: {name}")
    unlisted = failed.keys() - listed
    return int(check and bool(unlisted or stale))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
