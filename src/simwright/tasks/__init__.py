# SPDX-License-Identifier: Apache-2.0
"""Robots in tasks: any robot file in any scene, compiled by MuJoCo, run step by step, as environment or in batches.

catalog            which robots there are, by id
addresses          where a robot's file is: paths, packages, MuJoCo Menagerie
manifest           what a ``robot.yaml`` may say, and its JSON Schema
specs              a robot file of any format as MuJoCo's editable specification
inference          what a compiled robot tells by itself: kind, tool, reach
grippers           its gripper: fingers, which way is open, where a thing goes between them
amending           what a manifest changes of a robot: base, limits, servos, cameras, tool
robot              a robot that is ready for a task; its manifest held against its file
team               several robots in one task, as one
home               where a robot starts
scene              what a task is: what it adds, where things are, when it is done
parts              tables, boxes, marks, cameras and lamps for scenes
scenes             the tasks, one file each, and their table
compose            a robot and a scene in one model
control            what an action means: positions, velocities, torques or motions of the tool
inverse            moving the tool: inverse kinematics, and operational space control
reading            poses and joints of a scene's things out of the state
chains             tools and bases of many worlds at once, from coordinates
rollout            a task with a robot in it, step by step
batch              many worlds of a rollout at once
randomize          what varies from episode to episode
observing          which parts of an observation are wanted, and pictures
fitting            what a robot reaches, and scenes drawn to it
preflight          can this robot do this task? A report before anything runs
findings           that report, and what it may say
runner             running episodes and summing them up
teleoperation      driving by hand, and keeping what was done
recording          films, arrays and a window that look on while episodes run
recording_dataset  runs as a data set in the layout of LeRobot
environments       rollouts and environments by name, and environment files
rewards            what a step is rewarded with: a weighted sum of small terms
terms              what may be observed and be a condition of success, as small terms
stable_env         many worlds as Stable-Baselines3 takes them; imported only when asked
gymnasium_env      tasks as Gymnasium environments; imported only when asked
export             a task with a robot in it as a file; a first manifest for a robot that has none
baselines          policies by script
"""
