# SPDX-License-Identifier: Apache-2.0
"""The neutral model to SDFormat: a model or a world, with the meshes and images it names (REP-0158 section 3).

``entry`` is the table of contents; what each part means is said beside it.
"""
