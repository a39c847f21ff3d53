#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Move stages side by side in Newton, imported by Newton and by Simwright, and print how far apart they end.

    python scripts/compare_newton.py STAGE ... [--steps 200] [--orders n,npm]

Runs in the judge environment ``newton``.  Each stage is imported twice, without visuals, and stepped with SolverMuJoCo
with and without contacts; a row has the largest difference of joint coordinates and the CPU time of both imports.  Exit
code 1 if a difference is above 1e-5.
"""

from __future__ import annotations

import argparse
import os
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

REPO = Path(__file__).resolve().parents[1]
LETTERS = {"n": "newton", "p": "physx", "m": "mjc"}
MOST = 1e-5


def main(arguments: list[str]) -> int:
    """Compare all stages, in the environment of Newton if this interpreter has none."""
    parser = argparse.ArgumentParser(description=(__doc__ or "").partition("\n")[0])
    parser.add_argument("stages", nargs="+", type=Path)
    parser.add_argument("--steps", type=int, default=200)
    parser.add_argument(
        "--orders", default="n", help="orders of resolvers by first letters, such as n,npm,pnm,mnp"
    )
    asked = parser.parse_args(arguments)
    try:
        import newton  # noqa: F401 - asked for
    except ImportError:
        return _start_in_environment(arguments)
    apart = 0.0
    for stage in asked.stages:
        for order in asked.orders.split(","):
            apart = max(apart, compare(stage, order, asked.steps))
    return int(apart > MOST)


def _start_in_environment(arguments: list[str]) -> int:
    sys.path.insert(0, str(REPO / "scripts" / "judge"))
    from environments import hold_all, list_judges

    judge = list_judges()["newton"]
    with hold_all(judge, lambda text: print(text, file=sys.stderr)) as interpreters:
        variables = os.environ | judge.make_variables() | {"PYTHONPATH": str(REPO / "src")}
        command = [str(interpreters[0]), str(Path(__file__).resolve()), *arguments]
        return subprocess.run(command, env=variables, check=False).returncode


def compare(stage: Path, order: str, steps: int) -> float:
    """The largest difference of the two motions; prints the row of a stage."""
    try:
        theirs, their_time = fill(stage, order, ours=False)
    except Exception as error:  # noqa: BLE001 - Newton's importer may fail in any way
        print(f"{stage.stem:32} {order:4} Newton refuses it: {type(error).__name__}: {error}"[:160])
        return 0.0
    ours, our_time = fill(stage, order, ours=True)
    cells, apart = [], 0.0
    for contacts in (True, False):
        try:
            ends = [move(builder, steps, contacts=contacts) for builder in (theirs, ours)]
        except Exception as error:  # noqa: BLE001 - a solver may refuse a model in any way
            cells.append(f"{type(error).__name__}: {error}"[:60])
            continue
        if ends[0].shape != ends[1].shape:
            cells.append(f"{len(ends[0])} and {len(ends[1])} coordinates")
            apart = float("inf")
            continue
        difference = float(abs(ends[0] - ends[1]).max(initial=0.0))
        cells.append(f"{difference:.1e}")
        apart = max(apart, difference)
    print(
        f"{stage.stem:32} {order:4} contacts {cells[0]:>10}  without {cells[1]:>10}  import {our_time:.3f} s "
        f"of {their_time:.3f} s ({our_time / their_time:.2f})",
        flush=True,
    )
    return apart


def fill(stage: Path, order: str, *, ours: bool) -> tuple[Any, float]:
    """A builder with the stage in it, and the CPU time of the import."""
    import newton

    from simwright.engines.newton import add_usd

    kinds = newton.usd.SchemaResolverNewton, newton.usd.SchemaResolverPhysx, newton.usd.SchemaResolverMjc
    made = dict(zip("npm", kinds, strict=True))
    best, builder = float("inf"), None
    for _ in range(2):  # the first run of either loads modules
        builder = newton.ModelBuilder()
        newton.solvers.SolverMuJoCo.register_custom_attributes(builder)
        add = add_usd if ours else newton.ModelBuilder.add_usd
        resolvers = [made[letter]() for letter in order]
        started = time.process_time()
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            add(builder, str(stage), schema_resolvers=resolvers, load_visual_shapes=False)
        best = min(best, time.process_time() - started)
    return builder, best


def move(builder: Any, steps: int, *, contacts: bool) -> Any:
    """Joint coordinates after some steps."""
    import newton

    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        model = builder.finalize(device="cpu", skip_validation_joints=True)
        solver = newton.solvers.SolverMuJoCo(model, use_mujoco_cpu=True, disable_contacts=not contacts)
        now, after, control = model.state(), model.state(), model.control()
        newton.eval_fk(model, model.joint_q, model.joint_qd, now)
        for _ in range(steps):
            now.clear_forces()
            solver.step(now, after, control, None, 0.002)
            now, after = after, now
    return now.joint_q.numpy()


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
