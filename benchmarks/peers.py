# SPDX-License-Identifier: Apache-2.0
"""Interpreters of peers that must not share ours: those of ``scripts/judge``, made when first needed.

``SIMWRIGHT_PEER_<NAME>`` names the interpreter of an environment that is there already.
"""

from __future__ import annotations

import os
import subprocess

from scripts.judge.environments import NoEnvironmentError, find_environment, hold


def find_peer(name: str) -> str:
    """The interpreter that can import a peer; empty where it cannot be installed."""
    given = os.environ.get(f"SIMWRIGHT_PEER_{name.upper()}", "")
    if given:
        done = subprocess.run([given, "-c", f"import {name}"], check=False, capture_output=True)
        return "" if done.returncode else given
    try:
        with hold(find_environment(name), lambda _: None) as python:
            return str(python)
    except NoEnvironmentError:
        return ""


def explain_absence(name: str) -> str:
    """What to do about a peer that is not there."""
    variable = f"SIMWRIGHT_PEER_{name.upper()}"
    listed = f"scripts/judge/{find_environment(name).name}.txt"
    return f"left out, {listed} cannot be installed; {variable} may name an interpreter that has {name}"
