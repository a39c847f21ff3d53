# SPDX-License-Identifier: Apache-2.0
"""Thin OpenUSD helpers that know no neutral model: opening, locating, editing, collecting, and the codeless schemas.

Importing this package does not import ``pxr``; each module does so where it needs it.

Opening a file:

guard               what is checked of one file before OpenUSD sees it: size, kind, nesting
crate               crate (.usdc) files checked before OpenUSD maps them: sections, paths, specs
crate_values        what is compressed in them, and their values: lengths, tables, samples, values inside values
text                brackets, literals and line ends of .usda text; lines of declarations
arcs                every layer that a stage will compose, opened, checked and counted before it is made
settled             what was found out about a file holds while the file stays as it is
open                ``open_stage``: guarded, quiet, with packages and variants
complaints          OpenUSD's complaints as diagnostics with file, line and prim
silence             what OpenUSD would print to stderr, caught as data
packages            ``package://`` addresses for the stock resolver
claims              units and up axis that the user says for a stage that says nothing

Looking and changing:

remarks             comments of a text layer that is written again
locate              from a prim or property to the file and line that says it
questions           OpenUSD's questions as plain functions, for inner loops
xform               transforms of prims as poses and scales
notes               notes beside the schemas' own values (ADR 5)
edit                ``Editor``: edits where the opinions are, collected first and made in one step
relocation          moving, making, placing and removing prims by an editor
overrides           opinions about one prim alone, and the ROS context above it
expected_changes    what a fix says it changes, for the proof

Writing:

layers              layers written whole
collect             every file of an asset and its place in a copy
archive             .usdz packages

Schemas (one folder each in ``schemas/``):

plugins             where the schema plugins are, and their registration
registry            extensions, classes and properties as data
submission          a schema submission against the rules of the registry
submission_names    class prefixes and property namespaces of a submission
submission_plugin   the generated files of a submission
submission_example  the example asset of a submission
submission_rules    the checks and conversions that an extension brings, and how they are run
submission_words    the word lists that the rules judge by
"""
