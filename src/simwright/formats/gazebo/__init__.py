# SPDX-License-Identifier: Apache-2.0
"""What Gazebo's words mean, for every format that uses them (SDFormat, and ``<gazebo>`` blocks in URDF).

materials     material scripts of OGRE, and the plain colours that Gazebo ships
sensors       types of sensors, where cameras look, the ROS topics that follow from one topic
ros2_control  controller parameters of ros2_control as controllers
"""
