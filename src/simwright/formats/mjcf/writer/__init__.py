# SPDX-License-Identifier: Apache-2.0
"""The MJCF writer: a model becomes a folder that MuJoCo compiles, one file per family of elements.

The text is built element by element with every number in full: MuJoCo's own XML export rounds to six digits, which
would change mass matrices in the seventh.
"""
