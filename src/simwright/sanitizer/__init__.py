# SPDX-License-Identifier: Apache-2.0
"""The sanitizer: repairs what the checker finds, and proves that nothing else changed.

sanitize        one asset from end to end: copy, fix, prove, write, tell
rounds          check and fix until nothing is left to fix
fixer           what a fix is: the ``fix`` decorator and the table of all fixes, the values that a user can give
workspace       the private copy that fixes work on
proof           before and after compared as stage and as machine
stage_changes   what edits changed on a stage, as OpenUSD tells; where every prim stands
result          what came of a run, and the findings of the sanitizer itself

Shared by fixes:

choices         variant sets made of what a prim says
faces           other faces for a mesh, and triangles
mending         surfaces closed without changing their solid
moments         impossible moments of inertia: the nearest are written, what was said is noted
preview         a UsdPreviewSurface that comes close to a renderer's shader
welding         welded bodies become a part of their link
conversion/     units, axes, times, and transforms pushed to what is below
layering/       opinions moved to the layers they belong in
fixes/          the fixes themselves
"""
