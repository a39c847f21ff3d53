"""simwright.toml and pyproject.toml: what is read, what is refused, and where they are found."""

from __future__ import annotations

from pathlib import Path

import pytest

from simwright.checker.config import REASON_OFF, build_policy, find_config, read_config
from simwright.checker.result import AssetResult
from simwright.checker.select import Selectable
from simwright.core.diag import Diagnostic, Level, Where
from simwright.core.errors import ParseError, SimwrightError, UnknownNameError, UsageError

FULL = """
[check]
select = ["1", "2"]
ignore = ["2.7"]
profile = "ros"
fail-on = "warning"

[check.severity]
"units-*" = "warning"
axis-up-z = "off"

[check.settings]
heavy-elements = 5
vendor-namespaces = ["acme"]
interfaces = ["msgs"]
asset-state = "source"

[[check.per-path]]
path = "legacy/**"
ignore = ["units-meters"]
reason = "replaced in spring"
"""


def write(folder: Path, text: str, name: str = "simwright.toml") -> Path:
    file = folder / name
    file.write_text(text)
    return file


def test_everything_is_read(tmp_path):
    config = read_config(write(tmp_path, FULL))
    assert config.select == ("1", "2")
    assert config.ignore == ("2.7",)
    assert (config.profile, config.fail_on) == ("ros", "warning")
    assert config.severity == {"units-*": "warning", "axis-up-z": "off"}
    assert config.settings.heavy_elements == 5
    assert config.settings.vendor_namespaces == ("acme",)
    assert config.settings.interfaces == (tmp_path / "msgs",)
    assert config.settings.asset_state == "source"
    (entry,) = config.per_path
    assert (entry.path, entry.ignore, entry.reason) == ("legacy/**", ("units-meters",), "replaced in spring")
    assert entry.where.line == 19


def test_pyproject_has_the_same_table(tmp_path):
    text = (
        '[project]\nname = "x"\n'
        '[tool.simwright.check]\nfail-on = "never"\n'
        "[tool.simwright.check.settings]\nrepeat-count = 9\n"
    )
    config = read_config(write(tmp_path, text, "pyproject.toml"))
    assert config.fail_on == "never"
    assert config.settings.repeat_count == 9


def test_values_for_fixes_are_found_beside_the_table_of_check(tmp_path):
    text = "[tool]\nfix = 1\n[tool.simwright]\nfix = 3\n[tool.simwright.check]\n"
    with pytest.raises(UsageError, match="fix must be a table") as caught:
        read_config(write(tmp_path, text, "pyproject.toml"))
    assert caught.value.where.line == 4


@pytest.mark.parametrize(
    ("text", "line", "words"),
    [
        ("[check]\nselct = []\n", 2, "did you mean 'select'"),
        ("[chek]\n", 1, "did you mean 'check'"),
        ("[check]\n\nfail-on = 'errors'\n", 3, "did you mean 'error'"),
        ("[check]\nprofile = 3\n", 2, "'3'"),
        ("[check]\nselect = 'all'\n", 2, "list of strings"),
        ("[check.settings]\nheavy-element = 1\n", 2, "did you mean 'heavy-elements'"),
        ("[check.settings]\nheavy-elements = 'x'\n", 2, "whole number"),
        ("[check.settings]\nheavy-elements = -1\n", 2, "whole number"),
        ("[check.settings]\nheavy-elements = true\n", 2, "whole number"),
        ("[check.settings]\nasset-state = 'finl'\n", 2, "did you mean 'final'"),
        ("[check.severity]\nunits-meters = 'warn'\n", 2, "warning"),
        ("[check]\nseverity = 1\n", 2, "table"),
        ("[check]\nper-path = 1\n", 2, "list of tables"),
        ("[[check.per-path]]\npath = 'a'\nignore = ['b']\n", 2, "no reason"),
        ("[[check.per-path]]\npath = 'a'\nignore = ['b']\nreason = ' '\n", 2, "no reason"),
        ("[[check.per-path]]\npath = 'a'\nreason = 'b'\n", 2, "needs path and ignore"),
        (
            "[[check.per-path]]\npath='a'\nignore=['b']\nreason='c'\n[[check.per-path]]\npath='d'\nignored=['b']\n",
            7,
            "did you mean 'ignore'",
        ),
    ],
)
def test_what_is_not_understood_is_an_error_with_its_line(tmp_path, text, line, words):
    with pytest.raises(UsageError) as caught:
        read_config(write(tmp_path, text))
    assert words in str(caught.value)
    assert caught.value.where
    assert caught.value.where.line == line


def test_bad_toml_names_the_line(tmp_path):
    with pytest.raises(ParseError, match="is not valid TOML: Invalid value") as caught:
        read_config(write(tmp_path, "[check]\nselect = [\n= 3"))
    assert caught.value.where
    assert caught.value.where.line == 3


def test_missing_file(tmp_path):
    with pytest.raises(SimwrightError, match="no such file"):
        read_config(tmp_path / "simwright.toml")


def test_nearest_file_above_the_inputs_counts(tmp_path, monkeypatch):
    inner = tmp_path / "a" / "b"
    inner.mkdir(parents=True)
    outside = tmp_path / "outside"
    outside.mkdir()
    monkeypatch.chdir(outside)
    assert find_config([inner / "x.usda"]) is None
    far = write(tmp_path, "[check]\n")
    write(tmp_path / "a", "[project]\nname = 'not ours'\n", "pyproject.toml")
    assert find_config([inner / "x.usda"]) == far
    near = write(tmp_path / "a", "[tool.simwright.check]\n", "pyproject.toml")
    assert find_config([inner / "x.usda"]) == near
    own = write(tmp_path / "a", "[check]\n")
    assert find_config([inner / "x.usda", inner / "y.usda"]) == own


def test_else_the_working_folder_counts(tmp_path, monkeypatch):
    assets, here = tmp_path / "assets", tmp_path / "here"
    assets.mkdir()
    here.mkdir()
    monkeypatch.chdir(here)
    file = write(here, "[check]\n")
    assert find_config([assets / "x.usda"]) == file


class Row:
    def __init__(self, code: str) -> None:
        self.code, self.section, self.profile = code, "1.1", "core"


KNOWN: list[Selectable] = [Row("units-meters"), Row("axis-up-z")]


def make_result(path: Path) -> AssetResult:
    return AssetResult(
        str(path),
        [
            Diagnostic(code, Level.ERROR, code, where=Where(str(path)))
            for code in ("units-meters", "axis-up-z")
        ],
    )


def test_policy_changes_levels_and_switches_off(tmp_path):
    config = read_config(write(tmp_path, "[check.severity]\n'units-*' = 'info'\naxis-up-z = 'off'\n"))
    result = build_policy(config, KNOWN, frozenset()).apply(make_result(tmp_path / "a.usda"))
    assert [(d.kind, d.level) for d in result.findings] == [("units-meters", Level.INFO)]
    assert [(s.finding.kind, s.reason) for s in result.suppressed] == [("axis-up-z", REASON_OFF)]


@pytest.mark.parametrize(
    ("pattern", "file", "silent"),
    [
        ("legacy/**", "legacy/deep/a.usda", True),
        ("legacy/*", "other/a.usda", False),
        ("a.usda", "any/where/a.usda", True),
        ("*.usdc", "a.usda", False),
    ],
)
def test_policy_ignores_by_path_with_the_reason(tmp_path, pattern, file, silent):
    text = f"[[check.per-path]]\npath = '{pattern}'\nignore = ['units-meters']\nreason = 'old'\n"
    policy = build_policy(read_config(write(tmp_path, text)), KNOWN, frozenset())
    result = policy.apply(make_result(tmp_path / file))
    assert [s.reason for s in result.suppressed] == (["old"] if silent else [])
    assert len(result.findings) == (1 if silent else 2)


def test_policy_refuses_unknown_rules(tmp_path):
    text = "\n[[check.per-path]]\npath = 'a'\nignore = ['unit-meters']\nreason = 'old'\n"
    with pytest.raises(UnknownNameError, match="did you mean 'units-meters'") as caught:
        build_policy(read_config(write(tmp_path, text)), KNOWN, frozenset())
    assert caught.value.where
    assert caught.value.where.line == 3
