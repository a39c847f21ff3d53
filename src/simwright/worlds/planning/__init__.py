# SPDX-License-Identifier: Apache-2.0
"""Ways through a world: planners behind one protocol, and what their goals mean.

planner   what a planner is, the table of them, and what all of them do before and after the search
goals     the poses that a goal means, and planning to the nearest that can be reached
path      paths, the answer of a planner, and points drawn in the free space
astar     A* on an occupancy grid
road_map  graphs that are asked again and again: the probabilistic road map and the world graph
reference planners as PyRoboSim has them
rrt       rapidly exploring random trees
"""
