#!/usr/bin/env python3
# SPDX-License-Identifier: Apache-2.0
"""Behaviour cloning: record a scripted policy, fit a small network to what it did, and see how often that succeeds.

::

    pip install 'simwright[learn]'
    python examples/learning/clone.py --demonstrations 60
"""

from __future__ import annotations

import argparse
import itertools
import sys
import tempfile
from pathlib import Path
from typing import Any

import numpy as np
import torch
from train import evaluate

import simwright
from simwright.tasks.baselines.policy import make_policy
from simwright.tasks.gymnasium_env import ActionScaler
from simwright.tasks.recording import open_recorder
from simwright.tasks.runner import SimRunner, find_interval

RECIPE: dict[str, Any] = {"rollout": {"task": "reach", "robot": "sample_arm", "mode": "position"}}


class ClonedPolicy:
    """A network from observations to actions of -1 ... 1."""

    def __init__(self, inputs: np.ndarray[Any, Any], outputs: np.ndarray[Any, Any]) -> None:
        # what hardly changes says nothing: dividing by its spread would only make noise of it
        spread = np.maximum(inputs.std(axis=0), 1e-3)
        self._mean, self._spread = inputs.mean(axis=0), spread
        sizes = [inputs.shape[1], 128, 128, outputs.shape[1]]
        layers: list[torch.nn.Module] = []
        for one, other in itertools.pairwise(sizes):
            layers += [torch.nn.Linear(one, other), torch.nn.Tanh()]
        self.network = torch.nn.Sequential(*layers[:-1])

    def _scale(self, seen: np.ndarray[Any, Any]) -> torch.Tensor:
        return torch.as_tensor((seen - self._mean) / self._spread, dtype=torch.float32)

    def fit(self, inputs: np.ndarray[Any, Any], outputs: np.ndarray[Any, Any], rounds: int) -> float:
        """Least squares over batches; the mean error at the end."""
        x, y = self._scale(inputs), torch.as_tensor(outputs, dtype=torch.float32)
        steps = torch.optim.Adam(self.network.parameters(), lr=1e-3)
        for _ in range(rounds):
            for rows in torch.randperm(len(x)).split(256):
                loss = ((self.network(x[rows]) - y[rows]) ** 2).mean()
                steps.zero_grad()
                loss.backward()
                steps.step()
        with torch.no_grad():
            return float(((self.network(x) - y) ** 2).mean())

    def predict(self, seen: np.ndarray[Any, Any], deterministic: bool = True) -> tuple[Any, None]:
        """As policies of Stable-Baselines3 do it."""
        del deterministic
        with torch.no_grad():
            return self.network(self._scale(seen)).numpy(), None


def record(episodes: int, seed: int) -> tuple[np.ndarray[Any, Any], np.ndarray[Any, Any]]:
    """Observations and actions of the scripted policy, from a recording."""
    rollout = simwright.make_rollout(**RECIPE["rollout"])
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "demonstrations.npz"
        recorder = open_recorder(file)
        SimRunner(rollout, make_policy("reach"), name="reach", listeners=[recorder]).run(episodes, seed)
        data = np.load(file)
        keys = [key for key in data.files if key.startswith("observation.")]
        # the order of a flat observation is that of the names
        seen = np.concatenate([data[key].reshape(len(data["action"]), -1) for key in keys], axis=1)
        actions = ActionScaler(rollout).shrink(data["action"])
    return seen.astype(np.float32), actions


def main() -> int:
    """Record, fit, evaluate."""
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--demonstrations", type=int, default=60)
    parser.add_argument("--rounds", type=int, default=60)
    parser.add_argument("--episodes", type=int, default=50)
    parser.add_argument("--seed", type=int, default=0)
    asked = parser.parse_args()
    torch.manual_seed(asked.seed)
    torch.set_num_threads(1)
    seen, actions = record(asked.demonstrations, asked.seed)
    policy = ClonedPolicy(seen, actions)
    error = policy.fit(seen, actions, asked.rounds)
    print(f"{len(seen)} steps of {asked.demonstrations} demonstrations, mean square error {error:.4f}")
    successes = evaluate(RECIPE, policy, asked.episodes, 100_000)
    low, high = find_interval(successes, asked.episodes)
    print(f"{successes} of {asked.episodes} new episodes succeed (95 % interval {low:.2f} to {high:.2f})")
    return 0


if __name__ == "__main__":
    sys.exit(main())
