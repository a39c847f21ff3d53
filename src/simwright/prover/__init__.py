# SPDX-License-Identifier: Apache-2.0
"""Is an asset the same machine in every engine?  Answered by the engines themselves.

table         the engines (``engines.toml``): format and dialect each is given, versions, licence
environments  an interpreter with packages of its own for each of them, below the user's cache
workers       what runs in those interpreters, one file for each engine
processes     workers from this side: started, asked, timed out, kept for the next asset
asking        MuJoCo in this process, motions of other engines, configurations that all are asked about
answers       what engines answered to single questions before, by what they were given
aspects       what is compared, with tolerances and reasons; what comes out
matching      which freedoms of two engines are the same joint
structure     links, joints, drives and limits of two answers
dynamics      poses, mass matrix and bias of two answers
leaving       an asset without what a scenario is not about
solids        what is dropped and what slides: one rigid body above a ground
scenarios     runs of every scenario at two timesteps, in engines and in the reference
motion        how it moves: scenarios, what each engine did, how far that is from the reference
causes        why it differs, where that can be known, and the place in the asset
motion_causes what can be seen of a motion itself
proving       one asset in all engines
caching       columns of earlier proofs that are still right
drake_engine  Drake as an engine that runs scenes and robots, in the process that proofs have for it
"""
