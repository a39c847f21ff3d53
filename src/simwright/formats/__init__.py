# SPDX-License-Identifier: Apache-2.0
"""File formats: each folder turns files into the neutral model, or the model into files, and knows no other format.

format      what a format is: its name, the files it claims, its reader and writer, where a result goes
dialects    which formats each engine reads, and how they have to be written for it
table       the list of formats; which one a file is in; reading and writing any of them; broken meshes
aspects     one thing that an asset can say, and how a use of it is found in an asset
vocabulary  everything an asset can say, by key
holds       what a format can hold of it, and the losses that follow
resources   what an address in a file means: package://, model://, file://, paths
xml         XML without entities and network, repaired where Gazebo reads it, typed values, a line number for all
images      images checked, and read as numbers
urdf, sdf, mjcf, usd, gltf  one format each
mesh        mesh files, read and written
gazebo      what Gazebo's words mean, for SDFormat and for URDF
parts       what writers put beside a description: mesh files, images, exact numbers
"""
