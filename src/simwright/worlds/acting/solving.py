# SPDX-License-Identifier: Apache-2.0
"""Tasks as PDDL: a world as domain and problem, and the plan of a solver as actions that run.

Goals are those of :mod:`simwright.worlds.acting.task_plan` and ``"all apples on the desk"``: every object of a category
that the robot knows of.  Several goals hold together, in whatever order the solver brings them about.

A robot is at a *spot*: before a surface, at a door, or where it starts.  A *zone* is the rooms between which doors are
open (lifts and stairs that the robot may use too): in a zone it moves from any spot to any other.  Doors that are
closed, or that a goal is about, are between two zones.  Only what goals are about is in a problem: the objects that are
to be moved, the surfaces they are on or go to, and these doors.  What the plane knows beyond that, such as how much a
surface holds, shows when the plan runs.

Solving needs the extra ``planning``: unified-planning, and a solver that it finds.
"""

from __future__ import annotations

import dataclasses
import itertools
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from typing import Any

from simwright.core.errors import MissingExtraError, UsageError
from simwright.worlds.acting.action import Action, Result
from simwright.worlds.acting.manipulation import find_object
from simwright.worlds.entities import Hallway, Location, Place, Room, Spawn, WorldObject, WorldRobot
from simwright.worlds.planning.goals import list_places
from simwright.worlds.world import World

_HINT = "say 'all CATEGORY at PLACE', 'OBJECT at PLACE', 'at PLACE', 'PLACE open' or 'PLACE closed'"
_AT = ("at", "on", "in", "to")
DOMAIN = """(define (domain world)
  (:requirements :strips :typing :negative-preconditions :disjunctive-preconditions)
  (:types robot zone spot door furniture item - object)
  (:predicates
    (at ?r - robot ?s - spot)
    (in ?s - spot ?z - zone)
    (at-door ?d - door ?s - spot)
    (joins ?d - door ?z - zone)
    (open ?d - door)
    (unlocked ?d - door)
    (before ?s - spot ?f - furniture)
    (accessible ?f - furniture)
    (movable ?f - furniture)
    (on ?o - item ?s - spot)
    (holding ?r - robot ?o - item)
    (empty ?r - robot))
  (:action move
    :parameters (?r - robot ?a - spot ?b - spot ?z - zone)
    :precondition (and (at ?r ?a) (in ?a ?z) (in ?b ?z))
    :effect (and (not (at ?r ?a)) (at ?r ?b)))
  (:action pass
    :parameters (?r - robot ?a - spot ?b - spot ?d - door ?y - zone ?z - zone)
    :precondition (and (at ?r ?a) (in ?a ?y) (in ?b ?z) (joins ?d ?y) (joins ?d ?z) (open ?d))
    :effect (and (not (at ?r ?a)) (at ?r ?b)))
  (:action open-door
    :parameters (?r - robot ?s - spot ?d - door)
    :precondition (and (at ?r ?s) (at-door ?d ?s) (not (open ?d)) (unlocked ?d) (empty ?r))
    :effect (open ?d))
  (:action close-door
    :parameters (?r - robot ?s - spot ?d - door)
    :precondition (and (at ?r ?s) (at-door ?d ?s) (open ?d) (unlocked ?d) (empty ?r))
    :effect (not (open ?d)))
  (:action open-furniture
    :parameters (?r - robot ?s - spot ?f - furniture)
    :precondition (and (at ?r ?s) (before ?s ?f) (not (accessible ?f)) (movable ?f) (empty ?r))
    :effect (accessible ?f))
  (:action close-furniture
    :parameters (?r - robot ?s - spot ?f - furniture)
    :precondition (and (at ?r ?s) (before ?s ?f) (accessible ?f) (movable ?f) (empty ?r))
    :effect (not (accessible ?f)))
  (:action pick
    :parameters (?r - robot ?o - item ?s - spot ?f - furniture)
    :precondition (and (at ?r ?s) (on ?o ?s) (before ?s ?f) (accessible ?f) (empty ?r))
    :effect (and (not (on ?o ?s)) (not (empty ?r)) (holding ?r ?o)))
  (:action place
    :parameters (?r - robot ?o - item ?s - spot ?f - furniture)
    :precondition (and (at ?r ?s) (holding ?r ?o) (before ?s ?f) (accessible ?f))
    :effect (and (not (holding ?r ?o)) (empty ?r) (on ?o ?s))))
"""


_RESERVED = frozenset(re.findall(r"[a-z][a-z-]*", DOMAIN))


@dataclass(slots=True)
class PlanningProblem:
    """A problem for the domain, and what its symbols stand for in the world."""

    text: str
    goals: list[str]
    symbols: dict[str, Any] = field(default_factory=dict)


def describe_problem(world: World, robot: WorldRobot, goals: Sequence[str]) -> PlanningProblem:
    """The PDDL problem of goals for one robot; :class:`UsageError` where a goal cannot be understood."""
    return _ProblemWriter(world, robot).write(goals)


class _ProblemWriter:
    def __init__(self, world: World, robot: WorldRobot) -> None:
        self._world, self._robot = world, robot
        self._symbols: dict[str, Any] = {}
        self._names: dict[tuple[int, str], str] = {}
        self._types: dict[str, list[str]] = {}
        self._facts: list[str] = []
        self._zones: dict[str, Room] = {}
        self._rides: list[Sequence[Room]] = []
        self._start: list[Room] = []
        self._needed: list[tuple[str, list[Room]]] = []
        """What the robot has to get to, and the rooms of it, one of which is enough."""

    def write(self, goals: Sequence[str]) -> PlanningProblem:
        who = self._name("robot", self._robot, self._robot.name)
        self._add_building(goals)
        wanted = [self._read_goal(goal, who) for goal in goals]
        self._add_robot(who)
        self._check_reach()
        lines = [f"(define (problem {_spell(self._world.name)})", "  (:domain world)", "  (:objects"]
        lines += [f"    {' '.join(names)} - {kind}" for kind, names in self._types.items()]
        lines += ["  )", "  (:init", *(f"    {fact}" for fact in dict.fromkeys(self._facts)), "  )"]
        lines += ["  (:goal (and", *(f"    {goal}" for goal in wanted), "  )))"]
        return PlanningProblem("\n".join(lines) + "\n", list(goals), self._symbols)

    def _name(self, kind: str, thing: Any, word: str, part: str = "") -> str:
        """The symbol of something, made when it is first needed."""
        key = (id(thing), part)
        if key not in self._names:
            symbol, number = _spell(word), 1
            # words of the domain are taken
            while symbol in self._symbols or symbol in _RESERVED:
                number += 1
                symbol = f"{_spell(word)}-{number}"
            self._names[key] = symbol
            self._symbols[symbol] = thing
            self._types.setdefault(kind, []).append(symbol)
        return self._names[key]

    # -- the world -------------------------------------------------------------------------------------------------

    def _add_building(self, goals: Sequence[str]) -> None:
        """Zones, and the doors between them."""
        world, robot = self._world, self._robot
        named = {word for goal in goals for word in (goal, *goal.split())}
        # a door that a goal names may have to be closed: it is between two zones although it is open
        apart = [
            hallway for hallway in world.hallways
            if robot.knows_closed(hallway) or any(hallway.name in text or hallway.alias in text for text in named)
        ]  # fmt: skip
        pairs = [hallway.rooms for hallway in world.hallways if hallway not in apart]
        self._rides = _list_rides(world, robot)
        self._zones = _join_rooms(world.rooms, [*pairs, *self._rides])
        for hallway in apart:
            self._add_door(hallway)

    def _add_door(self, hallway: Hallway) -> None:
        door = self._name("door", hallway, hallway.name)
        for room in hallway.rooms:
            spot = self._name("spot", hallway, f"{hallway.name}-{room.name}", room.name)
            zone = self._find_zone(room)
            self._facts += [f"(at-door {door} {spot})", f"(joins {door} {zone})", f"(in {spot} {zone})"]
        if not self._robot.knows_closed(hallway):
            self._facts.append(f"(open {door})")
        if not hallway.is_locked:
            self._facts.append(f"(unlocked {door})")

    def _check_reach(self) -> None:
        """Refuse what is behind locked doors at once: solvers may look for a way for ever."""
        world, robot = self._world, self._robot
        pairs: list[Sequence[Room]] = [
            hallway.rooms
            for hallway in world.hallways
            if not (robot.knows_closed(hallway) and hallway.is_locked)
        ]
        zones = _join_rooms(world.rooms, [*pairs, *self._rides])
        here = {zones[room.name] for room in self._start}
        for thing, rooms in self._needed:
            if here and not any(zones[room.name] in here for room in rooms):
                raise UsageError(
                    f"{robot.name!r} does not get to {thing}: a locked door or no way at all is between"
                )

    def _find_zone(self, room: Room) -> str:
        first = self._zones[room.name]
        return self._name("zone", first, f"zone-{first.name}")

    def _add_surface(self, spawn: Spawn) -> str:
        spot = self._name("spot", spawn, spawn.name)
        piece = self._name("furniture", spawn.location, f"{spawn.location.name}-furniture")
        location = spawn.location
        self._facts += [
            f"(in {spot} {self._find_zone(location.room)})", f"(before {spot} {piece})",
            *([f"(accessible {piece})"] if location.is_open else []),
            *([f"(movable {piece})"] if not location.is_locked else []),
        ]  # fmt: skip
        return spot

    def _add_item(self, item: WorldObject) -> str:
        symbol = self._name("item", item, item.name)
        if item.spawn is not None:
            self._needed.append((repr(item.name), [item.spawn.room]))
            self._facts.append(f"(on {symbol} {self._add_surface(item.spawn)})")
        return symbol

    def _add_robot(self, who: str) -> None:
        robot, world = self._robot, self._world
        place = robot.location if robot.location is not None else world.locate(robot.pose)
        if isinstance(place, Spawn):
            here = self._add_surface(place)
            self._start = [place.room]
        else:
            here = self._name("spot", robot, f"{robot.name}-start", "start")
            rooms = (
                [place]
                if isinstance(place, Room)
                else list(place.rooms)
                if isinstance(place, Hallway)
                else []
            )
            self._start = rooms
            # in a doorway it can go to either side
            self._facts += [f"(in {here} {self._find_zone(room)})" for room in rooms]
        self._facts.append(f"(at {who} {here})")
        if robot.held is None:
            self._facts.append(f"(empty {who})")
        else:
            self._facts.append(f"(holding {who} {self._add_item(robot.held)})")

    # -- goals -----------------------------------------------------------------------------------------------------

    def _read_goal(self, text: str, who: str) -> str:
        # the last word tells goals of doors, the first of at, on, in and to all others
        words = [word for word in text.split() if word != "the"]
        if len(words) >= 2 and words[-1] in {"open", "closed"}:
            return self._read_state(" ".join(words[:-1]), words[-1] == "open")
        cut = next((number for number, word in enumerate(words) if word in _AT), None)
        if cut is None or cut + 1 == len(words):
            raise UsageError(f"the goal {text!r} is not understood", hint=_HINT)
        spots = self._find_spots(" ".join(words[cut + 1 :]), bool(words[:cut]))
        if not words[:cut]:
            return _join("or", [f"(at {who} {spot})" for spot in spots])
        items = [self._add_item(item) for item in self._find_items(words[:cut])]
        return _join("and", [_join("or", [f"(on {item} {spot})" for spot in spots]) for item in items])

    def _read_state(self, name: str, state: bool) -> str:
        entity = self._world.find(name)
        if isinstance(entity, Hallway):
            fact = f"(open {self._name('door', entity, entity.name)})"
        elif isinstance(entity, Location) and entity.spawns:
            self._add_surface(entity.spawns[0])
            fact = f"(accessible {self._name('furniture', entity, entity.name)})"
        else:
            raise UsageError(f"{name!r} can be neither opened nor closed")
        return fact if state else f"(not {fact})"

    def _find_items(self, words: list[str]) -> list[WorldObject]:
        world, robot = self._world, self._robot
        if words[0] in {"all", "every"}:
            kind = _find_category(world, " ".join(words[1:]))
            found = [item for item in robot.list_known_objects(world.objects) if item.category.name == kind]
            if not found:
                raise UsageError(f"{robot.name!r} knows of no {kind}")
            return found
        item = find_object(world, robot, " ".join(words))
        if isinstance(item, Result):
            raise UsageError(item.message)
        return [item]

    def _find_spots(self, query: str, for_items: bool) -> list[str]:
        """The spots that a place means: its surfaces, or for a robot the sides of a door, or any spot of a room."""
        places, reason = list_places(self._world, self._robot, query)
        if not places:
            raise UsageError(f"{query!r} is no place: {reason}")
        spots: list[str] = []
        rooms = [room for place in places for room in _list_rooms(place)]
        self._needed.append((repr(query), rooms))
        for place in places:
            if for_items or isinstance(place, (Spawn, Location)):
                spots += [self._add_surface(spawn) for spawn in _list_surfaces(place)]
            else:
                spots += self._list_stands(place)
        if not spots:
            raise UsageError(f"nothing can be placed at {query!r}")
        return list(dict.fromkeys(spots))

    def _list_stands(self, place: Room | Hallway) -> list[str]:
        if isinstance(place, Hallway):
            spots = [
                self._name("spot", place, f"{place.name}-{room.name}", room.name) for room in place.rooms
            ]
            self._facts += [
                f"(in {spot} {self._find_zone(room)})" for spot, room in zip(spots, place.rooms, strict=True)
            ]
            return spots
        spot = self._name("spot", place, f"{place.name}-floor", "floor")
        self._facts.append(f"(in {spot} {self._find_zone(place)})")
        return [spot]


def _list_rides(world: World, robot: WorldRobot) -> list[Sequence[Room]]:
    """Rooms between which lifts and stairs take a robot."""
    found: list[Sequence[Room]] = []
    for link in world.floor_table.links.values():
        if link.admits(robot):
            rooms = [room for name in link.stops.values() if isinstance(room := world.names[name], Room)]
            found += itertools.pairwise(rooms)
    return found


def _list_rooms(place: Place) -> Sequence[Room]:
    if isinstance(place, Hallway):
        return place.rooms
    return [place if isinstance(place, Room) else place.room]


def _list_surfaces(place: Place) -> list[Spawn]:
    """The surfaces of a place; a hallway has none."""
    if isinstance(place, Spawn):
        return [place]
    pieces = [place] if isinstance(place, Location) else place.locations if isinstance(place, Room) else []
    return [spawn for piece in pieces for spawn in piece.spawns]


def _join_rooms(rooms: Iterable[Room], pairs: Iterable[Sequence[Room]]) -> dict[str, Room]:
    """For every room the first one of its zone."""
    first = {room.name: room for room in rooms}

    def find(room: Room) -> Room:
        while first[room.name] is not room:
            room = first[room.name]
        return room

    for one, other in pairs:
        first[find(other).name] = find(one)
    return {room.name: find(room) for room in rooms}


def _join(word: str, parts: list[str]) -> str:
    return parts[0] if len(parts) == 1 else f"({word} {' '.join(parts)})"


def _spell(name: str) -> str:
    """A name as PDDL allows it."""
    word = re.sub(r"[^a-z0-9_-]+", "-", name.lower()).strip("-")
    return word if word[:1].isalpha() else f"n-{word}"


def _find_category(world: World, word: str) -> str:
    """A category by its name, in the singular or the plural."""
    for known in (
        word,
        word.removesuffix("s"),
        word.removesuffix("es"),
        re.sub("ies$", "y", word),
        re.sub("ves$", "f", word),
    ):
        if known in world.object_categories:
            return known
    names = ", ".join(sorted(world.object_categories)[:12]) or "none"
    raise UsageError(f"there is no category of objects {word!r}", hint=f"there are: {names}")


# -- solving -------------------------------------------------------------------------------------------------------


def solve_goals(
    world: World, robot: WorldRobot, goals: Sequence[str], *, solver: str = "", timeout: float = 60.0
) -> list[Action]:
    """Actions that bring all goals about, by a solver of unified-planning (any that fits, unless named)."""
    problem = describe_problem(world, robot, goals)
    return _translate(problem, _drop_loops(_solve(problem, solver, timeout)))


def _solve(problem: PlanningProblem, solver: str, timeout: float) -> list[tuple[str, list[str]]]:
    """Names and arguments of the steps of a plan."""
    try:
        import unified_planning as up
        from unified_planning.engines import PlanGenerationResultStatus as Status
        from unified_planning.io import PDDLReader
    except ImportError:
        raise MissingExtraError("unified-planning", "planning", "solving tasks") from None
    environment = up.environment.Environment()
    # credits of solvers are for their pages, not for every run
    environment.credits_stream = None
    task = PDDLReader(environment).parse_problem_string(DOMAIN, problem.text)
    options: dict[str, Any] = {"name": solver} if solver else {"problem_kind": task.kind}
    try:
        engine = environment.factory.OneshotPlanner(**options)
    except (
        up.exceptions.UPUsageError,
        up.exceptions.UPNoSuitableEngineAvailableException,
        up.exceptions.UPNoRequestedEngineAvailableException,
    ):
        named = f"the solver {solver!r}" if solver else "a solver for this"
        hint = "install one with: pip install 'simwright[planning]'"
        raise UsageError(f"unified-planning does not find {named}", hint=hint) from None
    with engine as planner:
        answer = planner.solve(task, timeout=timeout)
    if answer.plan is None:
        told = {
            Status.UNSOLVABLE_PROVEN: "there is no plan", Status.UNSOLVABLE_INCOMPLETELY: "no plan was found",
            Status.TIMEOUT: f"no plan was found in {timeout:g} s",
        }  # fmt: skip
        reason = told.get(answer.status, f"the solver gave up ({answer.status.name.lower()})")
        raise UsageError(
            f"{reason} for: {'; '.join(problem.goals)}",
            hint="a locked door or a surface that nobody reaches?",
        )
    return [
        (step.action.name, [str(value) for value in step.actual_parameters]) for step in answer.plan.actions
    ]


Step = tuple[str, list[str]]


def _drop_loops(steps: list[Step]) -> list[Step]:
    """A plan without what leads back to where it was: solvers that look for any plan put down and pick up again."""
    states = [_State()]
    for step in steps:
        states.append(states[-1].after(step))
    kept: list[Step] = []
    number = 0
    while number < len(steps):
        # on from the last time that everything is as it is now
        number = max(later for later in range(number, len(states)) if states[later] == states[number])
        if number < len(steps):
            kept.append(steps[number])
            number += 1
    return kept


@dataclass(frozen=True, slots=True)
class _State:
    """What a plan has changed so far."""

    spot: str = ""
    held: str = ""
    items: frozenset[tuple[str, str]] = frozenset()
    """Where things were put last, and which doors and furniture were opened or closed."""

    def after(self, step: Step) -> _State:
        name, values = step
        if name in {"move", "pass"}:
            return dataclasses.replace(self, spot=values[2])
        thing = values[2] if name not in {"pick", "place"} else values[1]
        where = {"pick": "", "place": values[2]}.get(name, name)
        items = frozenset({row for row in self.items if row[0] != thing} | {(thing, where)})
        held = {"pick": thing, "place": ""}.get(name, self.held)
        # where the robot was at first is not known here: it is at the spot of what it does
        spot = values[2] if name in {"pick", "place"} else values[1]
        return _State(spot, held, items)


def _translate(problem: PlanningProblem, steps: list[tuple[str, list[str]]]) -> list[Action]:
    """Steps of the domain as actions; of several moves in a row the last one counts."""
    actions: list[Action] = []
    target: Any = None
    for name, arguments in steps:
        if name in {"move", "pass"}:
            target = problem.symbols[arguments[2]]
            continue
        if target is not None:
            actions.append(_go(target))
            target = None
        thing = problem.symbols[arguments[1]]
        if name == "pick":
            actions.append(Action("pick", object=thing.name))
        elif name == "place":
            actions.append(Action("place", problem.symbols[arguments[2]].name))
        else:
            actions.append(Action(name.partition("-")[0].partition("_")[0]))
    if target is not None:
        actions.append(_go(target))
    return actions


def _go(target: Any) -> Action:
    # stops of lifts are rooms: who ends there goes to the room itself
    return Action("navigate", target.name)
