# SPDX-License-Identifier: Apache-2.0
"""Findings as text for people and machines: one renderer per file.

report   what is rendered: the findings of one or more assets
table    the list of renderers; entry points add others
wording  words and places that all renderers share
source   the source line under a finding, cut to fit
text     for people at a terminal
md       Markdown, for pull requests and wikis
html     one page that stands alone
json     for programs
sarif    for code-scanning services
junit    for build servers
github   for GitHub Actions
"""
