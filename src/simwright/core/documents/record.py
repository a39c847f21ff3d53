# SPDX-License-Identifier: Apache-2.0
"""The base of document models."""

from __future__ import annotations

from pydantic import BaseModel, ConfigDict


class Record(BaseModel):
    """A mapping of a document.  Unknown keys are errors; values are not changed afterwards."""

    model_config = ConfigDict(
        extra="forbid", frozen=True, populate_by_name=True, use_attribute_docstrings=False
    )
