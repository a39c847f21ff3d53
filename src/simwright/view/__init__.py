# SPDX-License-Identifier: Apache-2.0
"""Assets to look at: a page in the browser.

- ``configuration``: joint coordinates that a person changes; mimics follow, loops close
- ``drawing``: what is drawn of each body: looks, colliders, masses, axes, frames
- ``page``: the page (viser), served on this machine only, for those who have its address
"""
