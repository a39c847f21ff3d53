#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Clone a scripted policy from its recordings with PyTorch, and tell how often the clone succeeds.

::

    pip install 'simwright[learn]'
    simwright task run reach --robot sample_arm --policy reach --control position --episodes 200 --record demos.npz
    python examples/learning/clone.py demos.npz

The clone sees what the recording has of each moment (joints, speeds, tool, goal) and answers with an action: two layers
of 128, fitted to the recorded actions of episodes that succeeded.  New episodes have seeds that were not recorded.
"""

from __future__ import annotations

import argparse
import json
import sys
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import torch

import simwright
from simwright.tasks.runner import find_interval

_SEEN = "observation."


@dataclass
class Clone:
    """What was fitted: a network between scaled observations and scaled actions."""

    keys: list[str]
    network: torch.nn.Module
    scales: tuple[Any, Any, Any, Any]

    def act(self, observation: dict[str, Any]) -> Any:
        """The action for an observation of a rollout."""
        middle, spread, low, high = self.scales
        seen = np.concatenate([np.ravel(observation[key]) for key in self.keys])
        with torch.no_grad():
            share = self.network(torch.as_tensor((seen - middle) / spread, dtype=torch.float32)).numpy()
        return low + 0.5 * (share + 1.0) * (high - low)


def read(file: Path) -> tuple[dict[str, Any], list[str], Any, Any]:
    """What was recorded (task, robot, control ...), names of observations, observations and actions of won episodes."""
    with np.load(file) as data:
        meta = json.loads(str(data["meta"]))
        keys = [name.removeprefix(_SEEN) for name in data.files if name.startswith(_SEEN)]
        won = np.array([episode["success"] for episode in meta["episodes"]])[data["episode"]]
        parts = [np.asarray(data[_SEEN + key]) for key in keys]
        seen = np.concatenate([part.reshape(len(won), -1) for part in parts], axis=1)
        return meta, keys, seen[won], np.asarray(data["action"])[won]


def fit(keys: list[str], seen: Any, done: Any, *, epochs: int, seed: int) -> Clone:
    """Fit a network by least squares."""
    torch.manual_seed(seed)
    torch.set_num_threads(1)
    low, high = done.min(axis=0), done.max(axis=0)
    # an action that never changes has no spread: it is given back as it is
    high = np.where(high > low, high, low + 1e-6)
    middle, spread = seen.mean(axis=0), np.maximum(seen.std(axis=0), 1e-3)
    inputs = torch.as_tensor((seen - middle) / spread, dtype=torch.float32)
    wanted = torch.as_tensor(2.0 * (done - low) / (high - low) - 1.0, dtype=torch.float32)
    network = torch.nn.Sequential(
        torch.nn.Linear(inputs.shape[1], 128),
        torch.nn.Tanh(),
        torch.nn.Linear(128, 128),
        torch.nn.Tanh(),
        torch.nn.Linear(128, wanted.shape[1]),
    )
    optimizer = torch.optim.Adam(network.parameters(), lr=2e-3)
    for _ in range(epochs):
        order = torch.randperm(len(inputs))
        for batch in order.split(256):
            loss = torch.nn.functional.mse_loss(network(inputs[batch]), wanted[batch])
            optimizer.zero_grad()
            loss.backward()
            optimizer.step()
    print(f"{len(inputs)} moments, loss {float(loss.detach()):.2g}", flush=True)
    return Clone(keys, network, (middle, spread, low, high))


def evaluate(meta: dict[str, Any], clone: Clone, robot: str, episodes: int, seed: int) -> int:
    """How many of so many new episodes succeed, in the task as it was recorded."""
    rollout = simwright.make_rollout(meta["task"], robot, options=meta["options"], mode=meta["control"])
    successes = 0
    for episode in range(episodes):
        observation, ended = rollout.reset(seed=seed + episode), False
        while not ended:
            result = rollout.step(clone.act(observation))
            observation, ended = result.observation, result.terminated or result.truncated
        successes += bool(result.info["success"])
    return successes


def main() -> int:
    """Fit and evaluate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("recording", type=Path, help="what simwright task run --record FILE.npz wrote")
    parser.add_argument("--robot", help="the recorded one by default")
    parser.add_argument("--epochs", type=int, default=150)
    parser.add_argument("--episodes", type=int, default=50, help="of the evaluation")
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    meta, keys, seen, done = read(asked.recording)
    clone = fit(keys, seen, done, epochs=asked.epochs, seed=asked.seed)
    robot = asked.robot or meta["robot"]
    successes = evaluate(meta, clone, robot, asked.episodes, 100_000)
    low, high = find_interval(successes, asked.episodes)
    print(f"{successes} of {asked.episodes} new episodes succeed (95 % interval {low:.2f} to {high:.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
