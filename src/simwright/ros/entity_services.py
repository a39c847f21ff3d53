# SPDX-License-Identifier: Apache-2.0
"""Services of ``simulation_interfaces`` about entities: which there are, where they are, what they are called."""

from __future__ import annotations

from collections.abc import Callable, Mapping

from simwright.core.errors import NotFoundError, UsageError
from simwright.core.math3d import IDENTITY, Pose
from simwright.ros.entities import (
    BOX,
    Entity,
    EntityFilter,
    UnsupportedError,
    measure_bounds,
    move_entity,
    set_twist,
)
from simwright.ros.messages import (
    are_finite,
    make_header,
    make_pose,
    make_twist,
    make_vector,
    read_pose,
    read_vector,
)
from simwright.ros.parts import SharedSimulation
from simwright.ros.simulator_answers import FAILED, AnsweredError
from simwright.ros.transports.transport import Message

_FARTHEST = 1e6
"""Poses beyond are taken for mistakes [m]."""


class EntityServices:
    """Answers about entities of a simulation.

    ``list_all`` gives all entities by name, ``time`` that of the simulation [ns]; ``tell_moved`` is called for one that
    was moved and that nothing could move by itself.
    """

    def __init__(
        self,
        shared: SharedSimulation,
        list_all: Callable[[], dict[str, Entity]],
        time: Callable[[], int],
        tell_moved: Callable[[Entity], None],
    ) -> None:
        self._shared, self._list, self._time, self._tell_moved = shared, list_all, time, tell_moved

    @property
    def answers(self) -> Mapping[str, Callable[[Message], Message]]:
        """Titles of services with what answers them."""
        return {
            "GetEntities": self._get_entities,
            "GetEntitiesStates": self._get_entities_states,
            "GetEntityState": lambda request: {"state": self._tell_state(self.find(request["entity"]))},
            "SetEntityState": self._set_entity_state,
            "GetEntityInfo": self._get_entity_info,
            "SetEntityInfo": self._set_entity_info,
            "GetEntityBounds": self._get_entity_bounds,
        }

    def find(self, name: str) -> Entity:
        """The entity of a name."""
        found = self._list().get(name)
        if found is None:
            raise NotFoundError(f"there is no entity {name[:200]!r}")
        return found

    def _select(self, request: Message) -> list[Entity]:
        chosen = EntityFilter(request["filters"])
        return [entity for entity in self._list().values() if chosen.accepts(entity)]

    def _get_entities(self, request: Message) -> Message:
        return {"entities": [entity.name for entity in self._select(request)]}

    def _get_entities_states(self, request: Message) -> Message:
        chosen = self._select(request)
        return {"entities": [e.name for e in chosen], "states": [self._tell_state(e) for e in chosen]}

    def _tell_state(self, entity: Entity) -> Message:
        linear, angular = entity.find_twist()
        return {
            "header": make_header(self._time(), "world"),
            "pose": make_pose(entity.find_pose()),
            "twist": make_twist(linear, angular),
        }

    def _set_entity_state(self, request: Message) -> Message:
        entity, state = self.find(request["entity"]), request["state"]
        frame = str(state["header"]["frame_id"])
        if request["set_pose"]:
            pose = self.read_pose(state["pose"], frame, code=101)
            if move_entity(entity, pose, self._shared):
                self._tell_moved(entity)
        if request["set_twist"]:
            linear, angular = (read_vector(state["twist"][key]) for key in ("linear", "angular"))
            if not are_finite((*linear, *angular)):
                raise UsageError("the twist has values that are no numbers")
            turn = self._find_frame(frame)
            set_twist(entity, turn.rotation @ linear, turn.rotation @ angular)
        if request["set_acceleration"]:
            raise UnsupportedError("accelerations follow from forces, and cannot be set")
        return {}

    def _find_frame(self, name: str) -> Pose:
        """The pose of a frame that poses of requests may be in: the world, or an entity."""
        if name in ("", "world"):
            return IDENTITY
        found = self._list().get(name)
        if found is None:
            raise AnsweredError(FAILED, f"frame {name[:200]!r} is neither the world nor an entity")
        return found.find_pose()

    def read_pose(self, pose: Message, frame: str, code: int = 109) -> Pose:
        """A pose of a request in the world; ``code`` is the result of one that is none."""
        place, turn = pose["position"], pose["orientation"]
        numbers = [*read_vector(place), *(float(turn[key]) for key in ("w", "x", "y", "z"))]
        length = sum(value * value for value in numbers[3:])
        if not are_finite(numbers) or max(map(abs, numbers[:3])) > _FARTHEST:
            raise AnsweredError(code, "the position has no place in the world")
        # all zero is what messages have that nobody filled in
        if length and abs(length - 1.0) > 1e-3:
            raise AnsweredError(
                code, f"the orientation is no unit quaternion: its length is {length**0.5:.4g}"
            )
        return self._find_frame(frame) @ read_pose(pose)

    def _get_entity_info(self, request: Message) -> Message:
        entity = self.find(request["entity"])
        info = {"category": {"category": entity.category}, "description": entity.description}
        return {"info": {**info, "tags": list(entity.tags)}}

    def _set_entity_info(self, request: Message) -> Message:
        entity, info = self.find(request["entity"]), request["info"]
        entity.category = int(info["category"]["category"])
        entity.description, entity.tags = str(info["description"]), [str(tag) for tag in info["tags"]]
        return {}

    def _get_entity_bounds(self, request: Message) -> Message:
        entity = self.find(request["entity"])
        found = measure_bounds(entity, entity.find_pose())
        if found is None:
            return {"bounds": {"type": 0, "points": []}}
        lower, upper = found
        return {"bounds": {"type": BOX, "points": [make_vector(upper), make_vector(lower)]}}
