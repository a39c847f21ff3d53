# SPDX-License-Identifier: Apache-2.0
"""What the services of ``simulation_interfaces`` say by numbers: features, states, scopes, codes of results."""

from __future__ import annotations

from collections.abc import Callable

from simwright.core.errors import NotFoundError, SimwrightError
from simwright.ros.entities import UnsupportedError
from simwright.ros.transports.transport import LateAnswer, Message

FEATURES = {
    "SPAWNING": 0, "DELETING": 1, "NAMED_POSES": 2, "ENTITY_TAGS": 4, "ENTITY_BOUNDS": 5, "ENTITY_BOUNDS_BOX": 6,
    "ENTITY_CATEGORIES": 8, "SPAWNING_RESOURCE_STRING": 9, "ENTITY_STATE_GETTING": 10, "ENTITY_STATE_SETTING": 11,
    "ENTITY_INFO_GETTING": 12, "ENTITY_INFO_SETTING": 13, "SPAWNABLES": 14, "SIMULATION_RESET": 20,
    "SIMULATION_RESET_TIME": 21, "SIMULATION_RESET_STATE": 22, "SIMULATION_RESET_SPAWNED": 23,
    "SIMULATION_STATE_GETTING": 24, "SIMULATION_STATE_SETTING": 25, "SIMULATION_STATE_PAUSE": 26,
    "STEP_SIMULATION_SINGLE": 31, "STEP_SIMULATION_MULTIPLE": 32, "STEP_SIMULATION_ACTION": 33,
    "WORLD_LOADING": 40, "WORLD_RESOURCE_STRING": 41, "WORLD_UNLOADING": 43, "WORLD_INFO_GETTING": 44,
    "AVAILABLE_WORLDS": 45, "SPAWNING_ENTITIES": 50,
}  # fmt: skip
"""What is implemented, by the numbers of SimulatorFeatures; bounds of poses, hulls and tags of worlds are not."""
UNSUPPORTED, OK, NOT_FOUND, INCORRECT_STATE, FAILED = range(5)
"""Codes of Result."""
STOPPED, PLAYING, PAUSED, QUITTING, NO_WORLD = range(5)
"""States of SimulationState; a world is loaded while nobody is heard, so that loading is never seen."""
TIME_SCOPE, STATE_SCOPE, SPAWNED_SCOPE, ALL_SCOPES = 1, 2, 4, 255
"""Scopes of ResetSimulation."""
SPAWN_CODES = {
    "NAME_NOT_UNIQUE": 101, "NAME_INVALID": 102, "UNSUPPORTED_FORMAT": 103, "NO_RESOURCE": 104,
    "NAMESPACE_INVALID": 105, "RESOURCE_PARSE_ERROR": 106, "MISSING_ASSETS": 107, "INVALID_POSE": 109,
}  # fmt: skip
LOAD_CODES = {
    "UNSUPPORTED_FORMAT": 101, "NO_RESOURCE": 102, "RESOURCE_PARSE_ERROR": 103, "MISSING_ASSETS": 104,
    "UNSUPPORTED_ELEMENTS": 106,
}  # fmt: skip
STATE_CODES = {"ALREADY_IN_TARGET_STATE": 101, "INCORRECT_TRANSITION": 103}
NO_WORLD_LOADED = 101
SPAWN_FAILED = 150


class AnsweredError(SimwrightError):
    """A request cannot be met; ``number`` is the result code of the standard."""

    code = "ros-request"

    def __init__(self, number: int, message: str) -> None:
        super().__init__(message)
        self.number = number


class StateError(SimwrightError):
    """A request does not fit the state of the simulation."""

    code = "ros-state"


def make_result(number: int, reason: str = "") -> Message:
    """``simulation_interfaces/Result``."""
    return {"result": number, "error_message": reason}


def answer_request(
    handle: Callable[[Message], Message | LateAnswer], request: Message
) -> Message | LateAnswer:
    """What is done with a request; what goes wrong becomes its result."""
    try:
        given = handle(request)
    except AnsweredError as error:
        return {"result": make_result(error.number, error.message)}
    except NotFoundError as error:
        return {"result": make_result(NOT_FOUND, error.message)}
    except UnsupportedError as error:
        return {"result": make_result(UNSUPPORTED, error.message)}
    except StateError as error:
        return {"result": make_result(INCORRECT_STATE, error.message)}
    except SimwrightError as error:
        told = f"{error.message} ({error.hint})" if error.hint else error.message
        return {"result": make_result(FAILED, told)}
    return given if isinstance(given, LateAnswer) else {"result": make_result(OK), **given}
