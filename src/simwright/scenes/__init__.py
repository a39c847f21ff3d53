# SPDX-License-Identifier: Apache-2.0
"""Scene files (YAML, JSON): validated documents, a builder filled in a fixed order, edits, replication."""
