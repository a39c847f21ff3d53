# SPDX-License-Identifier: Apache-2.0
"""Floor plans of other programs: one reader for each, and the world files that come of what they give.

storey   what every reader gives, the rooms that are found in it, and the world files of them
rmf      Open-RMF's building.yaml
rmf_writing  a world as building.yaml and navigation graph of Open-RMF
raster   occupancy maps of Nav2
drawing  SVG and DXF drawings
"""
