# SPDX-License-Identifier: Apache-2.0
"""Is an asset the same machine in every engine?  Answered by the engines themselves.

table         the engines (``engines.toml``): format and dialect each is given, versions, licence
environments  an interpreter with packages of its own for each of them, below the user's cache
workers       what runs in those interpreters, one file for each engine
asking        MuJoCo in this process, a worker of any other engine from this side: started, asked, timed out
aspects       what is compared, with tolerances and reasons; what comes out
matching      which freedoms of two engines are the same joint
structure     links, joints, drives and limits of two answers
dynamics      poses, mass matrix and bias of two answers
scenarios     what engines are given for each scenario of motion, how it starts, and its runs at two timesteps
motion        how it moves: scenarios, what each engine did, how far that is from the reference
causes        why it differs, where that can be known, and the place in the asset
proving       one asset in all engines
caching       answers of earlier runs that are still right
"""
