# SPDX-License-Identifier: Apache-2.0
"""Flat worlds in PyRoboSim's format: rooms, hallways with doors, furniture, objects and robots as polygons.

A world is read into one resolved :class:`~simwright.worlds.world.World`, on which robots plan, act and measure.  Scenes
in three dimensions, maps and pictures are made from it.

read            reading a world file: the order of its sections; rooms and objects out of reach, useless doors
read_state      what is known while a file is read, and what becomes of entities that are refused
read_values     names, colours and poses as world files write them
read_rooms      the sections ``rooms`` and ``hallways``
read_locations  the sections ``locations`` (furniture with its surfaces) and ``objects``
read_robots     the section ``robots``: reading them, then finding each a place
robots_options  planners, executors, grasp generators and sensors that a robot may name, and their properties
document        values of a file with the place they stand at; refusals; the ``simwright`` block
metadata        categories of furniture and objects, and where the files are that a world names
footprints      boxes, circles, polygons and meshes as outlines
query           places by description, such as "kitchen table"
sampling        seeded random choices: our own, and those of PyRoboSim
messages        every diagnostic about worlds
poses           position, rotation and yaw of things in a world
polygons        polygons moved, grown, cut into convex pieces, their edges, and which of many may meet
entities        rooms, hallways, locations, surfaces, objects and robots as data
free_space      where robots can be, where beams go, what is solid
floors          several floors, lifts and stairs between them, named points
world           the resolved world: lookup, derived polygons, doors, snapshots
writing         worlds drawn at random in a style, and any world saved as PyRoboSim's files
grid            occupancy grids; maps, way points and route graphs for Nav2
graph           the world graph: navigation poses and the free straight ways between them
picture         drawings as a list of marks, written as SVG or PNG
picture_world   the top view of a world as a drawing
environments    the fetch task as a Gymnasium environment; imported only when asked
acting          actions in simulated time, plans, and the simulation itself
execution       moving along a path, and under velocity commands
plans           floor plans of other programs: Open-RMF, Nav2 maps, SVG and DXF drawings
planning        path planners and what their goals mean
sensing         lidar and field of view
space           the world as a scene of solids
"""
