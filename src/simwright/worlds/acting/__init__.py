# SPDX-License-Identifier: Apache-2.0
"""Robots at work: actions in simulated time, plans of several robots, and the log of what happened.

simulation    a world in time: the clock, the event log, and everything that actions ask of it
action        an action, its result, and what all actions have in common: battery, delay, chance of success
table         the table of actions, open to entry points
navigate      going to a place
manipulation  picking, placing, detecting; which object is meant; grasps
doors         opening and closing
moving        moving a robot and what it carries; what blocks it
reference     actions as PyRoboSim carries them out
solving       goals as PDDL, and plans of solvers (unified-planning) as actions
task_plan     plans from files, and plans made from goals
"""
