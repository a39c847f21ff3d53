"""Damaged files and every command: see test_fuzz.py."""
