#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Train a robot in a task with Stable-Baselines3's PPO, and tell how often it succeeds afterwards.

::

    pip install 'simwright[learn]'
    python examples/learning/train.py reach --curve reach.json   # an arm brings its tool to a mark
    python examples/learning/train.py walk --save walk.zip       # a quadruped gets a metre forward

All worlds are one batch in this process: one core is enough.  The curve has a row for every update: actions taken,
seconds of the processor, share of the last hundred episodes that succeeded.
"""

from __future__ import annotations

import argparse
import json
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import torch
from stable_baselines3 import PPO
from stable_baselines3.common.callbacks import BaseCallback

import simwright
from simwright.tasks.runner import find_interval
from simwright.tasks.stable_env import SimVecEnv

RECIPES: dict[str, dict[str, Any]] = {
    "reach": {
        "rollout": {"task": "reach", "robot": "sample_arm", "mode": "velocity"},
        "worlds": 32,
        "actions": 150_000,
        "ppo": {"n_steps": 64, "batch_size": 512, "learning_rate": 1e-3, "gamma": 0.98},
        "spread": -0.7,
    },
    "walk": {
        "rollout": {
            "task": "locomotion_flat",
            "robot": "sample_quadruped",
            "reward": {"progress": 20.0, "success": 10.0, "failure": -5.0, "action_change": -0.02},
        },
        "worlds": 64,
        "actions": 1_000_000,
        "ppo": {"n_steps": 64, "batch_size": 1024, "n_epochs": 5, "learning_rate": 6e-4, "gamma": 0.98},
        "spread": -1.5,
    },
}
"""What is learnt, in how many worlds at once, for how long, and how; ``spread`` is the logarithm of the first noise."""


class Curve(BaseCallback):
    """Notes how it goes, and ends when it goes well enough."""

    def __init__(self, env: SimVecEnv, enough: float) -> None:
        super().__init__()
        self.rows: list[dict[str, float]] = []
        self._worlds, self._enough, self._begun = env, enough, time.process_time()

    def _on_rollout_end(self) -> None:
        rate, seconds = self._worlds.success_rate, time.process_time() - self._begun
        reward = float(np.mean([episode["r"] for episode in self.model.ep_info_buffer or ()] or [0.0]))
        self.rows.append(
            {
                "actions": self.num_timesteps,
                "seconds": round(seconds, 1),
                "success": round(rate, 2),
                "reward": round(reward, 3),
            }
        )
        if len(self.rows) % 10 == 1:
            print(f"{self.num_timesteps:8d} actions {seconds:6.0f} s  success {rate:.2f}", flush=True)

    def _on_step(self) -> bool:
        return not (len(self.rows) > 10 and self._worlds.success_rate >= self._enough)


def train(recipe: dict[str, Any], seed: int, actions: int, enough: float = 0.98) -> tuple[PPO, Curve]:
    """A policy and its curve; it ends early where ``enough`` of the last hundred episodes succeed."""
    torch.set_num_threads(1)
    env = SimVecEnv(simwright.make_rollout(**recipe["rollout"]), recipe["worlds"], threads=1, seed=seed)
    shape = {"net_arch": [64, 64], "log_std_init": recipe["spread"]}
    model = PPO("MlpPolicy", env, seed=seed, device="cpu", policy_kwargs=shape, **recipe["ppo"])
    curve = Curve(env, enough)
    model.learn(actions, callback=curve)
    env.close()
    return model, curve


def evaluate(recipe: dict[str, Any], model: Any, episodes: int, seed: int) -> int:
    """How many of so many new episodes succeed, without noise; ``model`` has ``predict``."""
    env = simwright.make_env(**recipe["rollout"], observe={"flat": True})
    successes = 0
    for episode in range(episodes):
        seen, _ = env.reset(seed=seed + episode)
        ended = cut = False
        while not (ended or cut):
            action, _ = model.predict(seen, deterministic=True)
            seen, _, ended, cut, info = env.step(np.asarray(action))
        successes += bool(info["success"])
    env.close()
    return successes


def render(what: str, seed: int, result: dict[str, Any], rows: list[dict[str, float]]) -> str:
    """A curve as a table of a page, some ten rows of it."""
    step = max(1, len(rows) // 10)
    shown = [*rows[::step], *([rows[-1]] if (len(rows) - 1) % step else [])]
    lines = [
        f"`{what}`, seed {seed}: without noise, {result['successes']} of {result['episodes']} new episodes succeed",
        f"(95 % interval {100 * result['low']:.0f} to {100 * result['high']:.0f} %).",
        "",
        "| actions | seconds of one core | success of the last 100 episodes |",
        "|---|---|---|",
    ]
    lines += [f"| {row['actions']:,} | {row['seconds']:.0f} | {row['success']:.2f} |" for row in shown]
    return "\n".join(lines)


def put_into(page: Path, what: str, table: str) -> None:
    """Replace what stands between the marks of a recipe on a page."""
    first, last = f"<!-- curve of {what} -->", f"<!-- end of {what} -->"
    before, rest = page.read_text(encoding="utf-8").split(first)
    page.write_text(f"{before}{first}\n{table}\n{last}{rest.split(last)[1]}", encoding="utf-8")


def main() -> int:
    """Train, evaluate, and write what was asked for."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("what", choices=sorted(RECIPES))
    parser.add_argument("--seed", type=int, default=0)
    parser.add_argument("--actions", type=int, help="how many at most")
    parser.add_argument("--episodes", type=int, default=50, help="of the evaluation")
    parser.add_argument("--curve", type=Path, help="JSON file for the curve and the result")
    parser.add_argument("--page", type=Path, help="page whose table of this recipe is written anew")
    parser.add_argument("--save", type=Path, help="file for the policy")
    asked = parser.parse_args()
    recipe = RECIPES[asked.what]
    model, curve = train(recipe, asked.seed, asked.actions or recipe["actions"])
    successes = evaluate(recipe, model, asked.episodes, 100_000)
    low, high = find_interval(successes, asked.episodes)
    result = {
        "successes": successes,
        "episodes": asked.episodes,
        "low": round(low, 3),
        "high": round(high, 3),
    }
    print(f"{successes} of {asked.episodes} new episodes succeed (95 % interval {low:.2f} to {high:.2f})")
    if asked.curve:
        text = json.dumps(
            {"what": asked.what, "seed": asked.seed, "result": result, "curve": curve.rows}, indent=1
        )
        asked.curve.write_text(text + "\n", encoding="utf-8")
    if asked.page:
        put_into(asked.page, asked.what, render(asked.what, asked.seed, result, curve.rows))
    if asked.save:
        model.save(asked.save)
    return 0


if __name__ == "__main__":
    sys.exit(main())
