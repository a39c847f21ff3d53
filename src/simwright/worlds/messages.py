# SPDX-License-Identifier: Apache-2.0
"""What there may be to say about a world file.

Errors are what PyRoboSim gives the whole file up for; the entity is left out and the rest is read.  Warnings are what
it leaves out with a line in a log, or takes without a word although nobody can want it.
"""

from __future__ import annotations

from simwright.core.diag import Level, declare

# -- the file ----------------------------------------------------------------------------------------------------

UNKNOWN_KEY = declare(
    "world-unknown-key",
    Level.ERROR,
    "{place} has no key {key!r}",
    hint="{meant}",
    doc="A key that the schema does not have.  PyRoboSim refuses the whole file; here only the key is ignored.",
)
IGNORED_KEY = declare(
    "world-ignored-key",
    Level.WARNING,
    "{place} has a key {key!r} that nothing reads",
    hint="{meant}",
    doc="A key where PyRoboSim reads some keys and passes over all others, so that a spelling mistake goes unseen.",
)
KEY_MISSING = declare(
    "world-key-missing",
    Level.ERROR,
    "{place} needs {key!r}",
    doc="A required key is absent.",
)
WRONG_SORT = declare(
    "world-wrong-value",
    Level.ERROR,
    "{place} has to be {wanted}, not {found}",
    doc="A value of the wrong type.",
)
SECTION_NULL = declare(
    "world-section-empty",
    Level.INFO,
    "the section {key!r} is empty",
    hint="remove the key, or write [] behind it: PyRoboSim cannot load a section without content",
    doc="A section without content is read as an empty one.",
)
METADATA_MISSING = declare(
    "world-metadata-missing",
    Level.ERROR,
    "the metadata file {file!r} cannot be read: {reason}",
    hint="{meant}",
    doc="A metadata file named by the world cannot be read; its categories are unknown.",
)
METADATA_CONFLICT = declare(
    "world-metadata-conflict",
    Level.ERROR,
    "the category {category!r} is defined differently in {first}",
    hint="give one of them another name",
    doc="Two metadata files define the same category with different values; the first one counts.",
)

# -- values ------------------------------------------------------------------------------------------------------

BAD_POSE = declare(
    "world-bad-pose",
    Level.ERROR,
    "{place} is not a pose: {reason}",
    hint="write [x, y], [x, y, z], [x, y, z, yaw] or a mapping with position, rotation_eul or rotation_quat",
    doc="A pose that cannot be read.",
)
BAD_UNITS = declare(
    "world-bad-angle-units",
    Level.ERROR,
    "angle_units {found!r} is neither 'radians' nor 'degrees'",
    doc="Angles are in radians or degrees.",
)
BAD_COLOR = declare(
    "world-bad-color",
    Level.ERROR,
    "{found} is not a colour",
    hint="use a name, '#rrggbb' or [red, green, blue] from 0 to 1",
    doc="A colour that cannot be read.",
)
COLOR_RANGE = declare(
    "world-color-range",
    Level.WARNING,
    "the colour {found} is outside of 0 to 1",
    hint="divide by 255",
    doc="Colour channels go from 0 to 1; they are cut off there.",
)
BAD_FOOTPRINT = declare(
    "world-bad-footprint",
    Level.ERROR,
    "{place} cannot be used: {reason}",
    doc="A footprint that is empty, crosses itself, or lacks what its type needs.",
)
BAD_REFERENCE = declare(
    "world-bad-reference",
    Level.ERROR,
    "relative_to names {name!r}, {reason}",
    hint="{meant}",
    doc="A pose is relative to something that is not there, was left out, or comes later in the order of loading.",
)
MISSING_PART = declare(
    "world-unknown-entity",
    Level.ERROR,
    "{place} names the {what} {name!r}, which is not there",
    hint="{meant}",
    doc="An entity names a room, planner, sensor or other thing that does not exist.",
)
MESH_HEIGHT = declare(
    "world-mesh-height",
    Level.INFO,
    "{name} is {height:.3f} m high by its mesh; PyRoboSim takes its highest point, {top:.3f} m",
    doc="The height of a mesh footprint is its extent along z, not the largest z.",
)
MODEL_UNREAD = declare(
    "world-model-unread",
    Level.WARNING,
    "the {file} of {place} cannot be read ({reason}); the mesh is taken as it is",
    hint="simwright inspect tells more about the file",
    doc="A model.sdf beside the mesh of a footprint says where the mesh is and what it weighs.",
)
MODEL_MASS = declare(
    "world-model-mass",
    Level.WARNING,
    "the {file} of {place} has a mass or an inertia that no body can have; the mass follows from the size",
    hint="correct the inertial element, or say the mass in the simwright block",
    doc="A model.sdf beside the mesh of a footprint has mass properties that are not physical.",
)

# -- names -------------------------------------------------------------------------------------------------------

NAME_TAKEN = declare(
    "world-name-taken",
    Level.WARNING,
    "there is a {what} {name!r} already; this one is left out",
    hint="give it another name",
    doc="Two entities of the same type have the same name; the second one is left out.",
    loss=True,
)
NAME_SHARED = declare(
    "world-name-shared",
    Level.ERROR,
    "the name {name!r} already belongs to a {what}; this one is left out",
    hint="give it another name: references could not tell the two apart",
    doc="Entities of different types have the same name; the second one is left out.",
    loss=True,
)
NAME_RENUMBERED = declare(
    "world-name-renumbered",
    Level.INFO,
    "the automatic name {name!r} is taken; it is called {new!r}",
    hint="PyRoboSim leaves it out: give it a name",
    doc="An automatic name equals a given one, so the next free number was taken.",
)

# -- what does not fit -------------------------------------------------------------------------------------------

ROOM_OVERLAPS = declare(
    "world-room-overlaps",
    Level.WARNING,
    "the room {name!r} meets {other!r} or its walls; it is left out",
    hint="keep rooms at least a wall's width apart",
    doc="A room lies in another room or in its walls.",
    loss=True,
)
WALLS_OVERLAP = declare(
    "world-walls-overlap",
    Level.WARNING,
    "the walls of the room {name!r} reach into the room {other!r}",
    hint="move it, or make its walls thinner",
    doc="The walls of a later room stand in an earlier one; PyRoboSim does not look at the later room's walls.",
)
HALLWAY_OVERLAPS = declare(
    "world-hallway-overlaps",
    Level.WARNING,
    "the hallway {name!r} meets {other!r}; it is left out",
    hint="change its connection, or take conn_method: points",
    doc="A hallway crosses another room or hallway.",
    loss=True,
)
HALLWAY_USELESS = declare(
    "world-hallway-unusable",
    Level.ERROR,
    "the hallway {name!r} cannot be made: {reason}",
    doc="A hallway that starts and ends in the same room, or has no way between its rooms.",
)
LOCATION_MISFIT = declare(
    "world-location-misfit",
    Level.WARNING,
    "the location {name!r} {reason}; it is left out",
    hint="move it",
    doc="A location is not inside its room, or touches another location.",
    loss=True,
)
OBJECT_MISFIT = declare(
    "world-object-misfit",
    Level.WARNING,
    "the object {name!r} {reason} {spawn!r}; it is left out",
    hint="objects keep object_radius ({radius} m) to the edge, and twice that to each other",
    doc="An object with a given pose is not on its surface, or too close to its edge or to another object.",
    loss=True,
)
NO_ROOM_LEFT = declare(
    "world-no-room-left",
    Level.WARNING,
    "no place was found for {name!r} {place}; it is left out",
    hint="use fewer or smaller objects, or a larger surface",
    doc="Sampling found no place.",
    loss=True,
)
UNKNOWN_CATEGORY = declare(
    "world-unknown-category",
    Level.WARNING,
    "there is no {what} category {name!r}; this one is left out",
    hint="{meant}",
    doc="A category that no metadata file defines.",
    loss=True,
)
NO_PARENT = declare(
    "world-no-parent",
    Level.WARNING,
    "{name!r} has no parent; it is left out",
    hint="name the room it stands in",
    doc="A location without a room.",
    loss=True,
)
UNRESOLVED = declare(
    "world-unresolved-place",
    Level.WARNING,
    "{query!r} is not a place for {name!r}: {reason}; it is left out",
    hint="{meant}",
    doc="The place named for an object or a robot does not lead to a surface, a room or a hallway.",
    loss=True,
)
BAD_CHOICE = declare(
    "world-bad-choices",
    Level.ERROR,
    "{place}: {reason}",
    hint="write choices: [a, b] and probabilities: [0.3, 0.7], as many as choices, with the sum 1",
    doc="A choice among places that cannot be made.",
)
NO_SURFACE = declare(
    "world-no-surface",
    Level.ERROR,
    "the location {location!r} of category {category!r} has no surfaces to put {name!r} on",
    hint="give the category a list of 'locations'",
    doc="A category without 'locations' cannot hold objects and is not a goal for robots.",
)

# -- robots ------------------------------------------------------------------------------------------------------

ROBOT_NAME = declare(
    "world-robot-name",
    Level.ERROR,
    "a robot cannot be called 'world'",
    doc="The name is taken by the world itself.",
)
ROBOT_OCCUPIED = declare(
    "world-robot-occupied",
    Level.WARNING,
    "the robot {name!r} starts where it does not fit, at ({x:.3f}, {y:.3f})",
    hint="move it, or make it smaller",
    doc="The given pose of a robot is in a wall, a closed door or furniture, or outside of the building.",
)
ROBOT_ELSEWHERE = declare(
    "world-robot-elsewhere",
    Level.WARNING,
    "the robot {name!r} is not in {place!r}, which its location says, but at ({x:.3f}, {y:.3f})",
    doc="Location and pose of a robot contradict each other; the pose counts.",
)
ROBOT_POSE_IGNORED = declare(
    "world-robot-pose-ignored",
    Level.WARNING,
    "the pose of the robot {name!r} does not count: its location {place!r} has poses of its own",
    hint="leave out the pose, or name the room as location",
    doc="A robot that starts at a location starts at one of its navigation poses.",
)
ROBOT_OVERLAP = declare(
    "world-robot-overlap",
    Level.WARNING,
    "the robots {name!r} and {other!r} overlap at the start",
    hint="move one of them",
    doc="Two robots start in the same place.",
)
NO_NAV_POSE = declare(
    "world-no-nav-pose",
    Level.ERROR,
    "{place!r} has no free navigation pose for the robot {name!r} to start at",
    hint="clear the space in front of it, or give it nav_poses",
    doc="A robot starts at a location that has no navigation pose left.",
)
BATTERY_RANGE = declare(
    "world-battery-range",
    Level.WARNING,
    "the battery of {name!r} starts at {level}, outside of 0 to 100; it is set to {new}",
    doc="Battery levels are percent.",
)
UNUSED_OPTION = declare(
    "world-unused-option",
    Level.WARNING,
    "{place}: {reason}",
    hint="{meant}",
    doc="An option that has no effect as it is written.",
)
GRASP_KEY = declare(
    "world-grasp-generator-key",
    Level.INFO,
    "'grasp_generator' of {name!r} is read, but PyRoboSim reads only 'grasping' with 'generator'",
    hint="write grasping: {{generator: parallel_grasp, ...}} to have it in both",
    doc="The key that PyRoboSim's manual documents is not the one that it reads.",
)

# -- the finished world ------------------------------------------------------------------------------------------

STALE_NAV_POSE = declare(
    "world-stale-nav-pose",
    Level.WARNING,
    "{count} of {total} navigation poses of {name!r} are occupied for a robot of {radius} m and left out",
    hint="move furniture, or give other nav_poses",
    doc="A navigation pose lies in a wall or in furniture that was placed later.  PyRoboSim keeps it as a goal.",
    loss=True,
)
DOOR_WIDENED = declare(
    "world-door-widened",
    Level.INFO,
    "the door of {name!r} fills the corridor up to the floors: between the outer wall faces it would block nothing",
    hint="PyRoboSim lets robots through this door when it is closed: keep the rooms further apart",
    doc="Where the gap between two rooms is smaller than their walls, PyRoboSim's closed door is empty.",
)
ROOM_UNREACHABLE = declare(
    "world-room-unreachable",
    Level.WARNING,
    "the room {name!r} cannot be reached{why}",
    hint="{meant}",
    doc="No path leads into a room, even when every door that is not locked is opened.",
)
ROOM_BEHIND_DOOR = declare(
    "world-room-behind-door",
    Level.INFO,
    "the room {name!r} is reached only through a door that is closed",
    doc="A room that can be reached after opening a door.",
)
DOORWAY_BLOCKED = declare(
    "world-doorway-blocked",
    Level.WARNING,
    "the hallway {name!r} cannot be passed from {start!r} to {end!r}: {reason}",
    hint="{meant}",
    doc="An open hallway that a robot of the inflation radius cannot pass.",
)
DOOR_USELESS = declare(
    "world-door-useless",
    Level.WARNING,
    "the door of {name!r} does nothing: {reason}",
    doc="Opening or closing the door changes no path.",
)
OBJECT_OUT_OF_REACH = declare(
    "world-object-out-of-reach",
    Level.WARNING,
    "{name!r}{others} on {spawn!r} cannot be reached: {reason}",
    hint="{meant}",
    doc="No robot can get to a navigation pose of the surface that an object is on.",
)
NAV_POSE_OUTSIDE = declare(
    "world-nav-pose-occupied",
    Level.WARNING,
    "{count} of {total} navigation poses of the room {name!r} are occupied or outside of it",
    hint="move them to where a robot of {radius} m fits",
    doc="A navigation pose of a room at which a robot cannot be.",
)

TILT_LEFT = declare(
    "world-build-tilt",
    Level.WARNING,
    "{name!r} is turned about x or y, which a 2D plan cannot express; it stands upright in the scene",
    hint="use yaw only",
    doc="Footprints are turned by the yaw alone. A piece of furniture that leans would not be where the plane has it.",
)
NO_SOLID = declare(
    "world-build-no-solid",
    Level.WARNING,
    "{name!r} has no height or no area and is not in the scene",
    hint="give its footprint a height",
    doc="A thing of no volume can be neither seen nor touched.",
)
THING_TIGHT = declare(
    "world-build-overlap",
    Level.WARNING,
    "{name!r} and {other!r} fill the same space",
    hint="move one of them, or make the compartment higher",
    doc="Surfaces that lie over each other or share their outline are not looked at in the plane; simulators push "
    "apart what overlaps.",
)
FLOATING = declare(
    "world-build-floating",
    Level.INFO,
    "{name!r} starts {height:.3g} m above its surface and will fall",
    hint="leave z out, to let it stand",
    doc="The z of an object is counted from its surface.",
)

HELD_LEFT = declare(
    "world-held-left",
    Level.WARNING,
    "{name!r} holds {item!r}, for which a world file has no place: it is written without a surface",
    hint="place it before saving",
    doc="PyRoboSim's format puts objects on surfaces; one without a surface comes to stand on any.",
    loss=True,
)

# -- floor plans of other programs -------------------------------------------------------------------------------

PLAN_LEFT = declare(
    "world-import-left",
    Level.WARNING,
    "{what} left out: {reason}",
    doc="Something of a floor plan that a world has no place for, or that could not be made out.",
    loss=True,
)
RMF_LEFT = declare(
    "world-rmf-left",
    Level.INFO,
    "the building of RMF is without {what}: {reason}",
    doc="Buildings of Open-RMF have floors, walls, doors, lanes and lifts; everything else has no place there.",
    loss=True,
)
PLAN_DOOR = declare(
    "world-import-door",
    Level.WARNING,
    "the door {name!r} is left out: {reason}",
    hint="a door is a line across an opening between two rooms",
    doc="A door of a floor plan that separates no two rooms.",
    loss=True,
)
PLAN_ASSUMED = declare(
    "world-import-assumed",
    Level.INFO,
    "the plan does not say {what}: {value} is taken",
    hint="{option}",
    doc="A measure that a floor plan of this format does not have.",
)
PLAN_EDGE = declare(
    "world-import-edge",
    Level.INFO,
    "{length:.1f} m of the edge of {name!r} have no wall in the plan and get one: rooms are closed",
    doc="Rooms of a world have walls all around; a floor that ends without a wall does not.",
)

FLOOR_WRONG = declare(
    "world-floors",
    Level.ERROR,
    "{name!r}: {reason}",
    doc="Floors, lifts and stairs of the simwright block that cannot be as they are written.",
)
FLOOR_ROOM = declare(
    "world-room-without-floor",
    Level.WARNING,
    "the room {name!r} is on none of the floors and counts as ground",
    hint="list it in the rooms of a floor",
    doc="In a world with several floors every room is on one of them.",
)
