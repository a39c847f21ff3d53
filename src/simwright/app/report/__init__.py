# SPDX-License-Identifier: Apache-2.0
"""Findings as text for people and machines: one renderer per file.

report   what is rendered, the list of renderers, and the words, places and source lines that they share
text     for people at a terminal
md       Markdown, for pull requests and wikis
html     one page that stands alone
view3d   an asset in 3D, or as a picture, inside of a page; view3d.js is the viewer
views    views for the assets of a report
json     for programs
sarif    for code-scanning services
junit    for build servers
github   for GitHub Actions
"""
