# SPDX-License-Identifier: Apache-2.0
"""The top tier: the public API, the command line and reports.  It puts the other packages together.

api                the functions of ``simwright``: load, convert, save, check, fix, diff
checking           one run of the checker over many inputs: configuration, rules, cache, baseline
fixing             fixing one asset or many; the result as JSON and in a few lines
converting         converting one file or many: which files, where each result goes, checking the results
running            ``simwright.run``: a scene or an asset, moved by an engine, with its result on one screen
bridging           ROS beside a run: the asset with drives for its controllers, a bridge and its transports
run_sources        what can be run: an asset in one or several worlds, or a loaded scene
proving            ``simwright.prove``: an asset in several engines, and its stamp
proof              a proof as text, JSON, Markdown, JUnit and a page
recording          what a run keeps, as arrays (.npz) or as a film (.mp4)
describe           an asset as plain data, for ``inspect --format json``
serving            the service: commands over HTTP, for uploads
scenes             which files are scenes, and what is wrong with one
watching           runs that somebody watches in a browser, or drives by hand
tasking            runs of tasks, put together from options and environment files
worlds             loading, checking, drawing and describing 2D worlds; paths and plans in them
jobs               one command over many assets
notebook           assets in notebooks: a picture above their tables, their page in a frame
rendering          pictures and turning films of everything that is read
world_build        a world written as OpenUSD, MJCF, SDFormat, glTF and a Nav2 map
world_format       the row of world files in the table of formats
cli                the ``simwright`` command
report             findings as text for people and machines
"""
