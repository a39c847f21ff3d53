# SPDX-License-Identifier: Apache-2.0
"""Scripted policies that solve tasks with any arm: they look at poses and move the tool.

policy    what a policy is and the table of them; holding still, random actions, and going straight to a goal
arm       an arm as scripts drive it: its tool is told where to go
grasp     where a thing has to be between the fingers, and how far they have to be open
scripted  policies that play a script: pick and place, stack, insert a peg, pull a drawer
push      pushing a cube onto a mark
"""
