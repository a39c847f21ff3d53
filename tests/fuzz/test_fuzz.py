"""Two thousand damaged files and every command: exit code 0, 1 or 2, and nothing where it does not belong.

The campaign runs in worker processes; ``python scripts/fuzz.py --minutes N`` runs more of it, and ``case.py`` says what
is looked at.  A case is made from its number, so a number is all that is needed to see it again.
"""

from __future__ import annotations

import subprocess
from pathlib import Path
from statistics import median

import pytest

from fuzz.campaign import make_command, make_environment, run_campaign
from fuzz.commands import COMMANDS as ROWS
from fuzz.commands import SHARES
from fuzz.seeds import make_seeds

CASES = 2_000
SHARE = 1_000
"""Cases of one test, which one process runs: two tests run side by side, and what a process keeps would add up."""
GROWTH = 40 << 20
"""Most by which what a process keeps may grow from the second to the last fifth of its cases [bytes].

OpenUSD never forgets a name or a path that it has seen, which is about 2 kB for a case; a layer, a stage or a model
that somebody keeps is ten times that at least.
"""


@pytest.fixture(scope="module")
def seeds(tmp_path_factory: pytest.TempPathFactory) -> Path:
    return make_seeds(tmp_path_factory.mktemp("seeds"))


@pytest.mark.parametrize("first", range(0, CASES, SHARE))
def test_damaged_files_are_read_or_refused(first: int, seeds: Path) -> None:
    outcome = run_campaign(list(range(first, first + SHARE)), seeds, jobs=1)
    assert sum(outcome.ends.values()) == SHARE
    assert not outcome.bugs, "\n\n".join(f"case {number}: {bug}" for number, bug in outcome.bugs[:5])
    # damage that is always fatal, or never noticed, would test nothing
    assert {end.split()[1] for end in outcome.ends} == {"0", "1", "2"}
    # by the middle of many looks, so that no single case decides
    fifth = len(outcome.kept) // 5
    before, after = median(outcome.kept[fifth : 2 * fifth]), median(outcome.kept[-fifth:])
    assert after - before < GROWTH, [size >> 20 for size in outcome.kept]


def test_every_command_that_takes_a_file_is_drawn() -> None:
    from simwright.app.cli.main import COMMANDS, cli

    drawn = {" ".join(text.split()[:2]) for rows in ROWS.values() for _, text in rows}
    known = set()
    for name in COMMANDS:
        command = cli.get_command(None, name)  # type: ignore[arg-type]
        inner = getattr(command, "commands", {"": command})
        known |= {
            f"{name} {sub}".strip()
            for sub, each in inner.items()
            if any(parameter.name == "untrusted" for parameter in each.params)
        }
    # adding writes into the user's own folder, exporting a task takes no file, a page stays until it is stopped,
    # driving by hand needs a person (it opens files as "task run" does), and proving needs engines that are not
    # installed here: tests/prover/test_engines.py gives it damaged files, and tests/cli/test_render.py gives some to
    # pictures, which are slow
    missing = {name for name in known if not any(text.startswith(name) for text in drawn)}
    assert missing == {"prove", "render", "robots add", "task export", "task teleop", "view"}
    assert set(SHARES) == set(ROWS)


def test_whole_seeds_pass_every_command(seeds: Path, tmp_path: Path) -> None:
    """A seed that is refused before it is damaged would hide what lies behind the refusal."""
    done = subprocess.run(
        make_command(seeds, tmp_path / "work", "--all"),
        input="", capture_output=True, text=True, check=True, cwd=tmp_path, env=make_environment(),
    )  # fmt: skip
    assert done.stdout == "ready\n"
    refused = [line for line in done.stderr.splitlines() if " ends with " in line]
    # a mesh that MuJoCo refuses, binary files as YAML, and a baseline that only one seed has
    expected = ("mesh_facenormal", "scene check", "known.json")
    assert [line for line in refused if not any(word in line for word in expected)] == []


def test_a_number_is_all_that_is_needed_to_see_a_case_again(seeds: Path, tmp_path: Path) -> None:
    again = make_seeds(tmp_path)
    files = [file.relative_to(seeds) for file in sorted(seeds.rglob("*")) if file.is_file()]
    assert [file for file in files if (seeds / file).read_bytes() != (again / file).read_bytes()] == []
