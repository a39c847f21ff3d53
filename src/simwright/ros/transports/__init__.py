# SPDX-License-Identifier: Apache-2.0
"""Ways to reach ROS, one file each, imported when one is opened.

transport   what every transport does, and what messages are
cdr         messages whose shape stays the same, packed: CDR is laid out once
table       the list of transports, what each needs, and whether it is here
rclpy       ROS 2 itself, where it is sourced or installed
zenoh       nodes with rmw_zenoh, without ROS here
foxglove    viewers that speak the websocket of Foxglove
types       message types without ROS: fields, hashes, CDR
bag         MCAP and sqlite3 bags
"""
