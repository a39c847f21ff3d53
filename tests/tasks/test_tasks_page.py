# SPDX-License-Identifier: Apache-2.0
"""The page about tasks is true."""

from __future__ import annotations

import re
from pathlib import Path

from simwright.core.documents.read import parse_document
from simwright.core.documents.validate import validate_document
from simwright.tasks.environments import EnvironmentFile, make_rollout
from simwright.tasks.randomize import Randomize
from simwright.tasks.terms import TERMS, SuccessRule

PAGE = (Path(__file__).parents[2] / "docs" / "tasks.md").read_text()


def find_blocks(language):
    return re.findall(rf"```{language}\n(.*?)```", PAGE, re.DOTALL)


def test_environment_files_of_the_page_are_valid(arm):
    files = [
        validate_document(EnvironmentFile, parse_document(text, name="docs/tasks.md"))
        for text in find_blocks("yaml")
    ]
    said, pair, mobile = files
    assert set(pair.robots) == {"left", "right"}
    assert mobile.robots["arm"].on == "base/deck"
    rollout = make_rollout(
        said.task,
        arm,
        options=said.options,
        base=said.base_pose.as_pose(),
        randomize=said.randomize,
        success=said.success,
    )
    assert rollout.options.cube_mass == 0.1
    rollout.add_terms(said.observe.terms)
    assert "offset_tool_cube" in rollout.reset(seed=0)


def test_every_key_is_named():
    table = PAGE[PAGE.index("## Variation") : PAGE.index("## Environment files")]
    for key in Randomize.model_fields:
        assert f"`{key}`" in table, key
    table = PAGE[PAGE.index("## Terms") : PAGE.index("## Variation")]
    for key in (*TERMS.names(plugins=False), *SuccessRule.model_fields):
        assert f"`{key}" in table, key
    section = PAGE[PAGE.index("## Environment files") : PAGE.index("## Recording")]
    for key in EnvironmentFile.model_fields:
        assert key == "version" or re.search(rf"(^{key}:|`{key}`)", section, re.MULTILINE), key
