# SPDX-License-Identifier: Apache-2.0
"""Parsers of other projects, asked about every file of a trip that Simwright wrote."""

from __future__ import annotations

from pathlib import Path

from ..parsers import ask_parser, find_check_urdf, find_sdf_check
from .routes import ROUTES, Trip


def judge(trip: Trip) -> list[str]:
    """What MuJoCo, urdfdom and libsdformat refuse or warn of; a parser that is not installed says nothing."""
    problems: list[str] = []
    for kind, file in zip(ROUTES[trip.route][1:], trip.stops[1:], strict=True):
        if kind == "mjcf":
            problems += [f"MuJoCo: {text}" for text in compile_mjcf(file)]
        elif kind == "urdf":
            problems += _ask(find_check_urdf(), file)
        elif kind == "sdf":
            problems += _ask(find_sdf_check(), file)
    return problems


def compile_mjcf(file: Path) -> list[str]:
    """What MuJoCo says while it compiles a file."""
    import mujoco

    texts: list[str] = []
    before = mujoco.get_mju_user_warning()
    mujoco.set_mju_user_warning(texts.append)
    try:
        mujoco.MjModel.from_xml_path(str(file))
    except ValueError as error:
        texts.append(str(error))
    finally:
        mujoco.set_mju_user_warning(before)
    return texts


def _ask(command: list[str], file: Path) -> list[str]:
    if not command:
        return []
    code, said = ask_parser(command, file)
    return [] if code == 0 else [f"{Path(command[0]).name}: {said}"]
