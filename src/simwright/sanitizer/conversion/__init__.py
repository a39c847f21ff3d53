# SPDX-License-Identifier: Apache-2.0
"""Whole assets in other units, axes and times; and transforms pushed from a prim to what is below it.

dimensions  powers of length and mass of every attribute
index       from specs to the prims they make, and what these are
sites       where a new value of a prim is written
values      values of attributes times a factor or through a matrix
ops         a transform read as matrices, and written as translate, orient and scale
shapes      geometry through a linear map
push        a transform pushed to what is below
rescale     an asset in other units of length and mass
retime      an asset in seconds
upright     an asset turned to stand along Z
"""
