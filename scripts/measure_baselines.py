#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""How often scripted policies succeed: ``python scripts/measure_baselines.py [--episodes 100] ROBOT ...``.

Robots are what ``--robot`` takes; without any, the sample arm.  Workspaces are drawn to what a robot reaches.
"""

from __future__ import annotations

import argparse
import statistics
import sys

from simwright.app.tasking import read_sets
from simwright.tasks.baselines.policy import POLICIES, find_mode, make_policy
from simwright.tasks.environments import make_rollout
from simwright.tasks.robot import open_robot
from simwright.tasks.runner import SimRunner
from simwright.tasks.scenes.table import SCENES


def main() -> int:
    """Print one line per task and robot."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("robots", nargs="*", default=["samples/simwright_samples/arm/robot.yaml"])
    parser.add_argument("--episodes", type=int, default=100)
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--policies", default="reach,push", help="separated by commas")
    parser.add_argument("--no-fit", action="store_true", help="leave the workspace as it is")
    parser.add_argument("--set", dest="sets", action="append", default=[], metavar="KEY=VALUE")
    asked = parser.parse_args()
    print("| task | robot | succeeded | mean steps | failed seeds |\n|---|---|---|---|---|")
    for name in asked.policies.split(","):
        task = getattr(POLICIES.get(name), "task", name)
        for address in asked.robots:
            robot = open_robot(address)
            options = read_sets(SCENES.get(task), asked.sets)
            rollout = make_rollout(task, robot, options=options, mode=find_mode(name), fit=not asked.no_fit)
            found = SimRunner(rollout, make_policy(name), name=name).run(asked.episodes, asked.seed)
            steps = statistics.mean(episode.steps for episode in found.episodes)
            lost = [str(episode.seed) for episode in found.episodes if not episode.success]
            print(
                f"| {task} | {robot.id} | {found.successes} of {asked.episodes} | {steps:.0f} | {' '.join(lost)} |",
                flush=True,
            )
    return 0


if __name__ == "__main__":
    sys.exit(main())
