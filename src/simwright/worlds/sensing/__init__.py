# SPDX-License-Identifier: Apache-2.0
"""What robots measure: distances, what is in view, and the state of doors.

sensor  what a sensor is and the table of them; rays against polygons; the lidar; the field of view
"""
