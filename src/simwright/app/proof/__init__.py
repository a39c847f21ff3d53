# SPDX-License-Identifier: Apache-2.0
"""A proof told to people and programs: what ``simwright prove`` prints and writes.

words     what stands in a cell, what differs, what came out: the words that all formats share
formats   JSON, Markdown and JUnit
page      one HTML page that stands alone; page.css is how it looks
figures   lines over time as SVG, and the robot as MuJoCo draws it
"""
