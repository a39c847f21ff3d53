# SPDX-License-Identifier: Apache-2.0
"""YAML and JSON documents that people write: read safely, every value with its place, checked against a model.

::

    from simwright.core.documents.expressions import Number          # 3, 0.5, "pi * 0.5"
    from simwright.core.documents.read import parse_document, read_document
    from simwright.core.documents.record import Record
    from simwright.core.documents.validate import validate_document

    class Wheel(Record):                       # unknown keys are errors, with "did you mean"
        radius: Number = Field(gt=0, description="radius [m]")

    document = read_document("robot.yaml")     # .json is JSON, anything else YAML; limits are checked first
    robot = validate_document(Robot, document)  # or InvalidDocumentError: every problem with file:line:column
    document.find_where("wheels", 0, "radius")  # the place of a value, for what is found wrong later

Input is untrusted: there are no tags, no objects, no repeated keys, and size, depth and the number of values are
limited, aliases counted as often as they are used.

read         reading YAML and JSON into a tree of values with their places
tree         the tree, and where a value stands in its file
validate     a document held against a model: every problem with its place and what was meant
record       the base of models
expressions  numbers as people write them, such as ``pi * 0.5``
"""
