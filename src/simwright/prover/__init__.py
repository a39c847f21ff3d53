# SPDX-License-Identifier: Apache-2.0
"""Is an asset the same machine in every engine?  Answered by the engines themselves.

table         the engines (``engines.toml``): format and dialect each is given, versions, licence
environments  an interpreter with packages of its own for each of them, below the user's cache
workers       what runs in those interpreters, one file for each engine
asking        MuJoCo in this process, a worker of any other engine from this side: started, asked, timed out
comparing     what differs between two answers, aspect by aspect, with tolerances and reasons
motion        how it moves: scenarios, what each engine did, how far that is from the reference
causes        why it differs, where that can be known, and the place in the asset
proving       one asset in all engines
caching       answers of earlier runs that are still right
"""
