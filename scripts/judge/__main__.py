# SPDX-License-Identifier: Apache-2.0
"""Let others judge us: run the tests marked ``judge("<environment>")``, each environment in turn.

    python scripts/judge [NAME ...] [-- PYTEST OPTION ...]

Nothing is skipped for a missing environment: one that cannot be made is a failure.
"""

from __future__ import annotations

import os
import subprocess
import sys
import time
from collections.abc import Callable

from environments import REPO, Judge, NoEnvironmentError, hold_all, list_judges


def main(arguments: list[str]) -> int:
    """Judge by the named environments, or by all; 0 if every test passes, 1 if not, 2 for an unknown name."""
    split = arguments.index("--") if "--" in arguments else len(arguments)
    names, options = arguments[:split], arguments[split + 1 :]
    known = {name: row for name, row in list_judges().items() if row.tests}
    unknown = [name for name in names if name not in known]
    if unknown:
        print(f"judge: no environment {unknown[0]!r}; there are: {', '.join(known)}", file=sys.stderr)
        return 2
    failed = [name for name in names or known if not judge(known[name], options)]
    if failed:
        print(f"judge: failed in: {', '.join(failed)}", file=sys.stderr, flush=True)
    return 1 if failed else 0


def judge(row: Judge, options: list[str]) -> bool:
    """Whether all tests of a judge pass."""
    started = time.monotonic()
    say = make_say(row.name)
    try:
        with hold_all(row, say) as interpreters:
            say(f"ready after {time.monotonic() - started:.0f} s, running {' '.join(row.tests)}")
            return run_tests(row, str(interpreters[0]), options)
    except NoEnvironmentError as error:
        say(str(error))
        return False


def run_tests(row: Judge, python: str, options: list[str]) -> bool:
    """Whether pytest passes; Simwright is this checkout's in either interpreter."""
    command = [python if row.inside else sys.executable, "-m", "pytest", "--judge", row.name]
    command += ["-n", "2", "--dist", "worksteal", "-q", *row.tests, *options]
    paths = [str(REPO / "src"), os.environ.get("PYTHONPATH", "")]
    variables = row.make_variables() | {"PYTHONPATH": os.pathsep.join(path for path in paths if path)}
    return subprocess.run(command, cwd=REPO, env=os.environ | variables, check=False).returncode == 0


def make_say(name: str) -> Callable[[str], None]:
    """A function that prints progress of an environment at once."""
    return lambda text: print(f"judge: {name}: {text}", flush=True)


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
