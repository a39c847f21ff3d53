"""Commands that are killed at random moments, and what is there afterwards.

A process imports everything and forks for every run, so that a run costs what the command costs.  Half of the kills
come after a random time, half at a random one of the command's own calls that change files: those are the moments that
matter, and most of the time goes elsewhere.  After a kill the result is the old one or the new one, byte by byte; the
next run gives the new one and leaves no file of the killed one anywhere.
"""

from __future__ import annotations

import os
import random
import shutil
import signal
import sys
import tempfile
import time
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

REPO = Path(__file__).resolve().parents[2]
SAMPLES = REPO / "samples" / "simwright_samples"
TINY = REPO / "tests" / "fuzz" / "files" / "tiny"
PLANE = REPO / "tests" / "fuzz" / "files" / "plane"
State = dict[str, bytes]

_CHANGES = frozenset(
    {
        "os.mkdir",
        "os.remove",
        "os.rmdir",
        "os.rename",
        "os.link",
        "os.symlink",
        "os.chmod",
        "os.truncate",
        "shutil.rmtree",
    }
)
_WRITING = os.O_WRONLY | os.O_RDWR | os.O_CREAT


@dataclass(frozen=True)
class Scenario:
    """A command, what is there before it, and which files are its result.

    ``prepare`` fills a folder; ``arguments`` are those of the command in it; ``entry`` is the file that others open,
    ``results`` the place below which its files are.
    """

    name: str
    prepare: Callable[[Path], None]
    arguments: tuple[str, ...]
    results: str
    entry: str
    reader: tuple[str, ...] = ()


@dataclass
class Tally:
    """How many runs were killed, how many ended before, and what was found wrong."""

    killed: int = 0
    ended: int = 0
    states: Counter[str] = field(default_factory=Counter)
    problems: list[str] = field(default_factory=list)


def _write_robot(folder: Path, name: str, mass: float) -> None:
    (folder / name).write_text(
        "<robot name='r'>"
        + "".join(
            f"<link name='l{n}'><inertial><mass value='{mass}'/>"
            "<inertia ixx='1' ixy='0' ixz='0' iyy='1' iyz='0' izz='1'/></inertial>"
            f"<visual><geometry><box size='{mass} 1 1'/></geometry></visual></link>"
            for n in range(4)
        )
        + "".join(
            f"<joint name='j{n}' type='continuous'><parent link='l{n}'/><child link='l{n + 1}'/></joint>"
            for n in range(3)
        )
        + "</robot>"
    )


def _run(folder: Path, *arguments: str) -> None:
    code = _fork(folder, arguments)
    assert code in (0, 1), f"{arguments} ended with {code}"


def _prepare_convert(folder: Path) -> None:
    _write_robot(folder, "new.urdf", 1.0)


def _prepare_overwrite(folder: Path) -> None:
    _write_robot(folder, "new.urdf", 1.0)
    _write_robot(folder, "old.urdf", 2.0)
    _run(folder, "convert", "old.urdf", "out")
    (folder / "out" / "notes.txt").write_text("of the user")


def _prepare_file(folder: Path) -> None:
    _write_robot(folder, "new.urdf", 1.0)
    (folder / "out").mkdir()
    (folder / "out" / "r.usdz").write_bytes(b"old")


def _prepare_fix(folder: Path) -> None:
    shutil.copytree(TINY, folder / "out")
    (folder / "out" / "skin.png").write_bytes((SAMPLES / "floor" / "geometries.usdc").read_bytes()[:100])
    (folder / "out" / ".git").mkdir()
    (folder / "out" / ".git" / "HEAD").write_text("of the user")


def _prepare_check(folder: Path) -> None:
    shutil.copytree(TINY, folder / "out")


def _prepare_world(folder: Path) -> None:
    shutil.copytree(PLANE, folder / "in")
    _run(folder, "world", "build", "in/main.yaml", "-o", "out", "--format", "sdf")


def _prepare_record(folder: Path) -> None:
    _write_robot(folder, "new.urdf", 1.0)
    (folder / "out").mkdir()
    (folder / "out" / "run.npz").write_bytes(b"old")


SCENARIOS = (
    Scenario("convert to a new folder", _prepare_convert, ("convert", "new.urdf", "out"), "out", "r.usda"),
    Scenario(
        "convert over an old result", _prepare_overwrite, ("convert", "new.urdf", "out/r.usda", "--overwrite"), "out",
        "r.usda", ("inspect", "out/r.usda"),
    ),
    Scenario("convert over a file", _prepare_file, ("convert", "new.urdf", "out/r.usdz"), "out", "r.usdz"),
    Scenario(
        "fix in place", _prepare_fix, ("fix", "out/main.usda", "--in-place", "--unsafe"), "out", "main.usda",
        ("inspect", "out/main.usda"),
    ),
    Scenario("check with a cache", _prepare_check, ("check", "out/main.usda"), "out", "main.usda"),
    Scenario(
        "world build", _prepare_world, ("world", "build", "in/main.yaml", "-o", "out"), "out", "",
    ),
    Scenario(
        "record", _prepare_record, ("run", "new.urdf", "--frames", "20", "--record", "out/run.npz"), "out", "run.npz"
    ),
)  # fmt: skip


def run_kills(
    count: int,
    seed: int = 0,
    scenarios: tuple[Scenario, ...] = SCENARIOS,
    say: Callable[[str], None] = lambda text: None,
) -> dict[str, Tally]:
    """Kill as many runs, the scenarios in turn; ``say`` is given the figures so far, now and then."""
    _import_everything()
    rng = random.Random(seed)
    tallies = {scenario.name: Tally() for scenario in scenarios}
    with tempfile.TemporaryDirectory(prefix="kills", dir=_find_memory()) as place:
        known = {scenario.name: _learn(scenario, Path(place)) for scenario in scenarios}
        number = 0
        while (done := sum(tally.killed for tally in tallies.values())) < count and number < 3 * count + 30:
            if number % 20 == 0:
                problems = sum(len(tally.problems) for tally in tallies.values())
                say(f"{done} of {count} killed, {problems} problems")
            scenario = scenarios[number % len(scenarios)]
            number += 1
            _kill_once(
                scenario, known[scenario.name], rng, tallies[scenario.name], Path(place) / f"run{number}"
            )
    return tallies


@dataclass(frozen=True)
class _Known:
    old: State
    new: State
    seconds: float
    changes: int


def _learn(scenario: Scenario, place: Path) -> _Known:
    """The old and the new state, how long the command takes and how often it changes files."""
    folder = _make(scenario, place / "learn")
    old = _read(folder / scenario.results)
    counter = folder / "count"
    begun = time.monotonic()
    code = _fork(folder, scenario.arguments, count_into=counter)
    seconds = time.monotonic() - begun
    assert code in (0, 1), f"{scenario.name} ended with {code}: {_hear(folder)}"
    changes = int(counter.read_text())
    counter.unlink()
    new = _read(folder / scenario.results)
    assert not _list_litter(folder), f"{scenario.name} leaves {_list_litter(folder)}"
    if scenario.name != "check with a cache":
        assert new != old, f"{scenario.name} changes nothing"
    shutil.rmtree(place / "learn")
    return _Known(old, new, seconds, changes)


def _kill_once(scenario: Scenario, known: _Known, rng: random.Random, tally: Tally, place: Path) -> None:
    folder = _make(scenario, place)
    by_time = rng.random() < 0.5
    after = rng.uniform(0.0, known.seconds) if by_time else None
    at = None if by_time else rng.randint(1, known.changes)
    code = _fork(folder, scenario.arguments, after=after, at=at)
    if code != -signal.SIGKILL:
        tally.ended += 1
        shutil.rmtree(place)
        return
    tally.killed += 1
    story = f"{scenario.name}, killed " + (f"after {after:.3f} s" if by_time else f"at change {at}")
    tally.states[_judge_raw(scenario, known, folder, story, tally)] += 1
    if scenario.reader:
        _fork(folder, scenario.reader)
        state = _read(folder / scenario.results)
        if state not in (known.old, known.new):
            tally.problems.append(f"{story}: a reader finds {_compare(state, known)}")
    code = _fork(folder, scenario.arguments)
    if code not in (0, 1):
        tally.problems.append(f"{story}: the next run ends with {code}: {_hear(folder)}")
    state = _read(folder / scenario.results)
    if state != known.new and not _is_fixed_already(scenario, state, known):
        tally.problems.append(f"{story}: the next run gives {_compare(state, known)}")
    litter = _list_litter(folder)
    if litter:
        tally.problems.append(f"{story}: the next run leaves {litter}")
    shutil.rmtree(place)


def _judge_raw(scenario: Scenario, known: _Known, folder: Path, story: str, tally: Tally) -> str:
    """What is there right after the kill, before anybody looks: old, new, or without the file that others open."""
    state = _read(folder / scenario.results)
    if state == known.old:
        return "old"
    if state == known.new:
        return "new"
    if scenario.entry and scenario.entry not in state:
        return "without its entry"
    if set(state) >= set(known.old) and all(state[name] == data for name, data in known.old.items()):
        return "old and more"  # new files that the old entry does not name
    if scenario.name == "world build" and all(
        _is_whole(folder, state, known) for folder in _list_folders(known)
    ):
        return "between"  # every format by itself is old, new, or without its entry
    tally.problems.append(f"{story}: a mixture: {_compare(state, known)}")
    return "mixture"


def _list_folders(known: _Known) -> set[str]:
    return {name.partition("/")[0] for name in known.new if "/" in name}


def _is_whole(folder: str, state: State, known: _Known) -> bool:
    """Is one format of a world old, new, or without the file that others open?"""
    own, old, new = (
        {name: data for name, data in each.items() if name.startswith(f"{folder}/")}
        for each in (state, known.old, known.new)
    )
    has_entry = any(name.startswith(f"{folder}/seed.") and not name.endswith(".pgm") for name in own)
    return not has_entry or own in (old, new)


def _is_fixed_already(scenario: Scenario, state: State, known: _Known) -> bool:
    """Fixing what is fixed changes nothing but may keep no second copy."""
    return scenario.name == "fix in place" and {k: v for k, v in state.items() if ".orig" not in k} == {
        k: v for k, v in known.new.items() if ".orig" not in k
    }


def _compare(state: State, known: _Known) -> str:
    def name(file: str) -> str:
        data = state.get(file)
        kind = "gone" if data is None else "old" if data == known.old.get(file) else "other"
        return "new" if data is not None and data == known.new.get(file) else kind

    return str({file: name(file) for file in sorted({*state, *known.old, *known.new})})


def _make(scenario: Scenario, place: Path) -> Path:
    """A folder with what the scenario begins with, a cache and a folder for temporary files.

    What it begins with is made once and copied for each run: making it may take as long as the command.
    """
    prepared = place.parent / f"before {scenario.name}"
    if not prepared.exists():
        for name in ("work", "cache", "tmp"):
            (prepared / name).mkdir(parents=True)
        scenario.prepare(prepared / "work")
    shutil.copytree(prepared, place, symlinks=True)
    return place / "work"


def _read(folder: Path) -> State:
    """Every file below a folder but staging folders and part files."""
    return {
        path.relative_to(folder).as_posix(): path.read_bytes()
        for path in sorted(folder.rglob("*"))
        if path.is_file() and not _is_litter(path, folder)
    }


def _is_litter(path: Path, folder: Path) -> bool:
    return any(
        ".simwright" in part or ".part" in part for part in path.relative_to(folder).parts if part[0] == "."
    )


def _list_litter(folder: Path) -> list[str]:
    """What no run may leave: staging folders and part files anywhere, anything in the folder for temporary files."""
    place = folder.parent
    found = [path for path in folder.rglob(".*") if _is_litter(path, folder)]
    found += [
        path
        for path in (place / "cache").rglob(".*")
        if path.name.startswith((".new", ".old")) or ".part" in path.name
    ]
    return sorted(str(path.relative_to(place)) for path in (*found, *(place / "tmp").iterdir()))


def _fork(
    folder: Path,
    arguments: tuple[str, ...],
    *,
    after: float | None = None,
    at: int | None = None,
    count_into: Path | None = None,
) -> int:
    """Run a command in a process of its own; gives its exit code, or minus the signal that ended it."""
    child = os.fork()
    if child == 0:
        code = 99
        try:
            code = _run_in_child(folder, arguments, at, count_into)
        finally:
            os._exit(code)
    if after is not None:
        time.sleep(after)
        os.kill(child, signal.SIGKILL)
    status = os.waitpid(child, 0)[1]
    return -os.WTERMSIG(status) if os.WIFSIGNALED(status) else os.WEXITSTATUS(status)


def _run_in_child(folder: Path, arguments: tuple[str, ...], at: int | None, count_into: Path | None) -> int:
    from simwright.app.cli.main import run

    os.chdir(folder)
    tempfile.tempdir = str(folder.parent / "tmp")
    os.environ["XDG_CACHE_HOME"] = str(folder.parent / "cache")
    null = os.open(os.devnull, os.O_WRONLY)
    said = os.open(folder.parent / "said.txt", os.O_WRONLY | os.O_CREAT | os.O_TRUNC)
    os.dup2(null, 1)
    os.dup2(said, 2)
    sys.stdout, sys.stderr = os.fdopen(1, "w"), os.fdopen(2, "w")
    seen = 0

    def count(event: str, given: tuple[object, ...]) -> None:
        nonlocal seen
        is_writing = event == "open" and isinstance(given[2], int) and bool(given[2] & _WRITING)
        if event in _CHANGES or is_writing:
            seen += 1
            if seen == at:
                os.kill(os.getpid(), signal.SIGKILL)

    sys.addaudithook(count)
    code = run(list(arguments))
    sys.stderr.flush()
    if count_into is not None:
        count_into.write_text(str(seen))
    return code


def _hear(folder: Path) -> str:
    """What the last command said on standard error."""
    return (folder.parent / "said.txt").read_text()


def _import_everything() -> None:
    """So that a fork starts at once.  Nothing is opened: the threads of OpenUSD would not survive a fork."""
    import mujoco  # noqa: F401
    from pxr import Ar, Kind, Sdf, Tf, Usd, UsdGeom, UsdPhysics, UsdShade, UsdUtils  # noqa: F401

    from simwright.app.cli.main import cli

    for name in ("check", "fix", "convert", "run", "world", "inspect"):
        assert cli.get_command(None, name) is not None  # type: ignore[arg-type]
    from simwright.checker.run import all_rules

    assert all_rules()


def _find_memory() -> str | None:
    return "/dev/shm" if Path("/dev/shm").is_dir() else None


def describe(tallies: dict[str, Tally]) -> str:
    """The figures as a table."""
    lines = [
        f"{tally.killed:4d} killed, {tally.ended:3d} ended before  {name}: {dict(tally.states)}"
        for name, tally in tallies.items()
    ]
    problems = [problem for tally in tallies.values() for problem in tally.problems]
    lines += [f"\n{problem}" for problem in problems]
    total = sum(tally.killed for tally in tallies.values())
    return "\n".join([*lines, f"\n{total} kills, {len(problems)} problems\n"])
