"""The schemas that reports are held to."""

from __future__ import annotations

import contextlib
import importlib.metadata
import json
import sqlite3
from pathlib import Path
from typing import Any

import jsonschema
import pytest
from lxml import etree

HERE = Path(__file__).resolve().parent
SARIF_TITLE = "Static Analysis Results Format (SARIF) Version 2.1.0 JSON Schema"


@pytest.fixture(scope="session")
def sarif_validator() -> jsonschema.Draft7Validator:
    """The official SARIF 2.1.0 schema, which the schemastore package carries in a web cache."""
    cache = importlib.metadata.distribution("schemastore").locate_file("schemastore/cache.sqlite")
    with contextlib.closing(sqlite3.connect(f"file:{cache}?mode=ro&immutable=1", uri=True)) as database:
        for (value,) in database.execute("SELECT value FROM responses"):
            if SARIF_TITLE.encode() in value[:600]:
                text = value[value.index(b"{\r\n") :].decode("utf-8", "replace")
                schema: Any = json.JSONDecoder().raw_decode(text)[0]
                assert schema["title"] == SARIF_TITLE
                return jsonschema.Draft7Validator(schema)
    raise LookupError("the schemastore package has no SARIF 2.1.0 schema")


@pytest.fixture(scope="session")
def junit_schema() -> etree.XMLSchema:
    return etree.XMLSchema(etree.parse(HERE / "report" / "junit.xsd"))
