# SPDX-License-Identifier: Apache-2.0
"""What writers put beside a description, and what several of them share.

coordinates  texture coordinates that are made from the geometry, as MuJoCo makes them
images   images that materials name, copied into the folder once each
looks    the materials that mesh files bring, taken into the asset
meshes   mesh files of the folder: copied, or written in a format of choice
solids   meshes of geometries that a format does not have
numbers  numbers as text that means exactly the same number
words    text that XML can hold; what an element is called in a finding
"""
