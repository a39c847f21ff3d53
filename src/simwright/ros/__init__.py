# SPDX-License-Identifier: Apache-2.0
"""ROS 2 at run time: the interfaces of an asset as data, and alive beside a running simulation.

graph              robots, endpoints and controllers of an asset with absolute names, policies, types; TF as SVG
frames             the TF tree of each robot
qos                quality of service with nothing left open, and which of them match
checking           what peers would stumble over: clashes, policies that do not match, frames with two parents
serving            endpoints over transports: publishers that send when they are due, and what listens
bridge             the graph bound to a running simulation, over transports
simulator          the services of simulation_interfaces: spawn, delete, step, pause, reset, load worlds
simulator_answers  what those services say by numbers; steps that are asked for
entities           entities of a simulation, and what services answer about them
resources         what peers name: files, texts, variants, names of what they spawn
parts              several assets in one simulation, each with its own view of it
worlds             a world in the plane behind ROS: robots, map, questions
world_goals        what peers tell the robots of a world to do, as PyRoboSim has it
moment             the present of a simulation, read when it is asked for
sources            what publishers send, by type
source_parts       what sources are made from: places, sensors, joints
motion_sources     joint states, odometry, IMU, poses, transforms of TF
messages           times, headers, vectors and poses as parts of messages; robots as URDF texts
control            what every controller is, the table of them, and plain commands for joints
driving            differential drive with odometry, twist of a rigid body
following          joint trajectories and grippers, as actions
servos             drives for commanded joints that have none, and the targets of all
"""
