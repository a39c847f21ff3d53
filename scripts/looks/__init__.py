# SPDX-License-Identifier: Apache-2.0
"""Do the colours of a robot arrive?  MuJoCo's picture of the source beside another renderer's of what we write.

comparing  draws both, and how far they are apart
blender    draws glTF files, inside of Blender's own environment
"""
