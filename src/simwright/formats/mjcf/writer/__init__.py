# SPDX-License-Identifier: Apache-2.0
"""The MJCF writer: a model becomes a folder that MuJoCo compiles.

The text is built element by element with every number in full: MuJoCo's own XML export rounds to six digits, which
would change mass matrices in the seventh.

entry        the table of contents; factors out defaults and reports what MJCF has no place for
document     MjcfDocument: the document being written, names, files; MjcfBody and MjcfJoint, the planned tree
kept         attributes of MuJoCo that the readers kept, and which of them were written again
options      <compiler>, <option>, <size>, <visual>, <statistic>, <custom>, and ros.yaml beside the file
bodies       <body>, <inertial> and <joint>: the tree is planned, then written
geoms        <geom> and <site>
meshes       <mesh> and <hfield>, and their files
visuals      <material>, <texture>, <camera> and <light>
contacts     <contact>: bits of geoms, excluded bodies and pairs
constraints  <tendon> and <equality>
devices      <actuator>, <keyframe> and <sensor>
messages     what the writer may have to say
"""
