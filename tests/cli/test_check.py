"""``simwright check``, ``rules`` and ``explain``."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from importlib import resources
from pathlib import Path

import jsonschema
import pytest

from simwright.app.cli.main import run

GOOD = '#usda 1.0\n(\n    defaultPrim = "A"\n    metersPerUnit = 1\n)\ndef Xform "A" {}\n'
BAD = '#usda 1.0\n(\n    defaultPrim = "A"\n    metersPerUnit = 0.01\n)\ndef Xform "A" {}\n'
ONE_RULE = ["--select", "units-meters"]


@pytest.fixture(autouse=True)
def own_cache(tmp_path_factory, monkeypatch):
    monkeypatch.setenv("XDG_CACHE_HOME", str(tmp_path_factory.mktemp("cache")))


@pytest.fixture
def folder(tmp_path, monkeypatch) -> Path:
    """The working folder, with a good and a bad asset; settled, so that the cache trusts their times."""
    monkeypatch.chdir(tmp_path)
    for name, text in (("good.usda", GOOD), ("bad.usda", BAD)):
        (tmp_path / name).write_text(text)
        os.utime(tmp_path / name, (time.time() - 10,) * 2)
    return tmp_path


def check(*arguments: str) -> int:
    return run(["check", *arguments])


def check_json(capsys, *arguments: str) -> dict:
    check(*arguments, "--format", "json")
    return json.loads(capsys.readouterr().out)


def rules_found(document: dict) -> list[str]:
    return [finding["rule"] for asset in document["assets"] for finding in asset["findings"]]


def test_exit_codes(folder, capsys):
    assert check("good.usda", *ONE_RULE) == 0
    assert "no findings in 1 asset" in capsys.readouterr().out
    assert check("bad.usda", *ONE_RULE) == 1
    text = capsys.readouterr().out
    assert "error[units-meters]: metersPerUnit is 0.01" in text
    assert "--> bad.usda:4" in text


@pytest.mark.parametrize(
    ("level", "fail_on", "code"),
    [
        ("error", "error", 1),
        ("warning", "error", 0),
        ("warning", "warning", 1),
        ("info", "info", 1),
        ("info", "warning", 0),
        ("error", "never", 0),
    ],
)
def test_fail_on(folder, level, fail_on, code):
    (folder / "simwright.toml").write_text(f"[check.severity]\nunits-meters = '{level}'\n")
    assert check("bad.usda", *ONE_RULE, "--fail-on", fail_on) == code


def test_a_folder_means_its_assets(folder, capsys):
    (folder / "good.usda").write_text(
        GOOD.replace('def Xform "A" {}', 'def "A" (references = @./part.usda@) {}')
    )
    (folder / "part.usda").write_text('#usda 1.0\n(defaultPrim = "A")\ndef Xform "A" {}\n')
    document = check_json(capsys, ".", *ONE_RULE)
    assert [asset["path"] for asset in document["assets"]] == ["./bad.usda", "./good.usda"]
    assert rules_found(document) == ["units-meters"]


def test_json_follows_its_schema(folder, capsys):
    document = check_json(capsys, "bad.usda", "good.usda", *ONE_RULE)
    schema = resources.files("simwright.app.report") / "schemas" / "diagnostics.v1.schema.json"
    jsonschema.validate(document, json.loads(schema.read_text()))
    (finding,) = document["assets"][0]["findings"]
    assert finding["layer"] == "bad.usda"
    assert (finding["rule"], finding["level"], finding["section"]) == ("units-meters", "error", "1.1")
    assert finding["hint"]
    assert finding["fixable"] == "unsafe"
    assert document["summary"] == {"error": 1, "warning": 0, "info": 0}


@pytest.mark.parametrize("name", ["text", "json", "sarif", "junit", "github", "md", "html"])
def test_every_format_on_standard_output_and_in_a_file(folder, capsys, name):
    assert check("bad.usda", *ONE_RULE, "--format", name) == 1
    shown = capsys.readouterr().out
    assert "units-meters" in shown
    assert check("bad.usda", *ONE_RULE, "--format", name, "--output", "out/report") == 1
    assert capsys.readouterr().out == ""
    assert (folder / "out" / "report").read_text().rstrip("\n") == shown.rstrip("\n")


def test_sarif_describes_the_rule_also_from_the_cache():
    code = (
        "import json, sys, io, contextlib\n"
        "from pathlib import Path\n"
        "from simwright.app.cli.main import run\n"
        "arguments = ['check', 'bad.usda', '--select', 'units-meters', '--format', 'sarif']\n"
        "with contextlib.redirect_stdout(io.StringIO()) as out:\n"
        "    run(arguments)\n"
        "(rule,) = json.loads(out.getvalue())['runs'][0]['tool']['driver']['rules']\n"
        "print(rule['shortDescription']['text'], 'pxr' in sys.modules)\n"
    )
    with_cwd = Path(os.environ["XDG_CACHE_HOME"])
    (with_cwd / "bad.usda").write_text(BAD)
    os.utime(with_cwd / "bad.usda", (time.time() - 10,) * 2)
    texts = [
        subprocess.run(
            [sys.executable, "-c", code], cwd=with_cwd, capture_output=True, text=True, check=True
        ).stdout
        for _ in range(2)
    ]
    assert texts[0] == "The root layer sets metersPerUnit = 1 True\n"
    assert texts[1] == "The root layer sets metersPerUnit = 1 False\n"


def test_a_second_run_imports_neither_openusd_nor_a_rule(folder):
    code = (
        "import sys\n"
        "from simwright.app.cli.main import run\n"
        "code = run(['check', '.', '--select', 'units-meters'])\n"
        "heavy = [n for n in sys.modules if n == 'pxr' or n.startswith(('pxr.', 'simwright.checker.rules', 'numpy'))]\n"
        "print('HEAVY', len(heavy), code)\n"
    )
    outputs = [
        subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout
        for _ in range(2)
    ]
    first, second = (text.rpartition("HEAVY") for text in outputs)
    assert first[0] == second[0]
    assert int(first[2].split()[0]) > 0
    assert second[2].split() == ["0", "1"]


def test_a_package(folder, capsys):
    from pxr import UsdUtils

    assert UsdUtils.CreateNewUsdzPackage("bad.usda", "packed.usdz")
    for _ in range(2):
        document = check_json(capsys, "packed.usdz", *ONE_RULE)
        (finding,) = document["assets"][0]["findings"]
        assert (finding["rule"], finding["layer"]) == ("units-meters", "packed.usdz")


def test_a_typing_error_on_the_command_line_is_not_the_configuration_s(folder, capsys):
    (folder / "simwright.toml").write_text("[check]\n")
    assert check("good.usda", "--select", "unit-meters") == 2
    assert "simwright.toml" not in capsys.readouterr().err
    (folder / "simwright.toml").write_text("[check]\nignore = ['unit-meters']\n")
    assert check("good.usda") == 2
    assert "simwright.toml: unknown rule 'unit-meters'" in capsys.readouterr().err


def test_what_cannot_be_opened(folder, capsys):
    (folder / "broken.usda").write_text("nonsense")
    assert check("broken.usda", *ONE_RULE) == 2
    assert "error[parse-error]" in capsys.readouterr().out
    assert check("god.usda", *ONE_RULE) == 2
    assert "good.usda'?" in capsys.readouterr().out
    assert check("broken.usda", "good.usda", *ONE_RULE) == 1


@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["good.usda", "--select", "unit-meters"], "did you mean 'units-meters'"),
        (["good.usda", "--ignore", "9.9"], "unknown REP section '9.9'"),
        (["good.usda", "--write-baseline"], "add --baseline FILE"),
        (["good.usda", "--baseline", "gone.json"], "there is no such baseline"),
        (["good.usda", "--config", "gone.toml"], "no such file"),
        (["good.usda", "--package", "x"], "--package takes NAME=DIR"),
        (["*.usdz"], "no USD file matches"),
        (["good.usda", "--stamp", "--select", "1.1"], "whole profile"),
        (["empty"], "no USD file in this folder"),
    ],
)
def test_usage_errors(folder, capsys, arguments, words):
    (folder / "empty").mkdir()
    assert check(*arguments) == 2
    assert words in capsys.readouterr().err


def test_configuration_is_found_and_used(folder, capsys):
    (folder / "simwright.toml").write_text(
        '[check]\nselect = ["units-meters"]\n'
        '[[check.per-path]]\npath = "bad.usda"\nignore = ["units"]\nreason = "an old one"\n'
    )
    assert check("bad.usda") == 0
    assert "1 finding suppressed" in capsys.readouterr().err
    assert check("bad.usda", "--show-suppressed") == 0
    assert (
        "info[units-meters]: metersPerUnit is 0.01, it must be 1 (suppressed: an old one)"
        in capsys.readouterr().out
    )


def test_a_bad_configuration_names_its_line(folder, capsys):
    (folder / "simwright.toml").write_text("[check]\nfailon = 'error'\n")
    assert check("good.usda") == 2
    assert "simwright.toml:2: unknown key 'failon' (did you mean 'fail-on'?)" in capsys.readouterr().err


def test_suppressions_in_the_asset(folder, capsys):
    entry = 'customLayerData = { dictionary simwright = { dictionary ignore = { string "units-meters" = "toy" } } }'
    (folder / "bad.usda").write_text(BAD.replace("(\n", f"(\n    {entry}\n", 1))
    assert check("bad.usda", *ONE_RULE) == 0
    assert "1 finding suppressed" in capsys.readouterr().err


def test_baseline(folder, capsys):
    assert check(".", *ONE_RULE, "--baseline", "known.json", "--write-baseline") == 0
    assert "1 finding written to known.json" in capsys.readouterr().err
    (folder / "bad.usda").write_text("#usda 1.0\n\n\n" + BAD.partition("\n")[2].replace("0.01", "0.02"))
    assert check(".", *ONE_RULE, "--baseline", "known.json") == 0
    assert "1 finding known from the baseline" in capsys.readouterr().err
    (folder / "good.usda").write_text(BAD)
    assert check(".", *ONE_RULE, "--baseline", "known.json") == 1
    (folder / "good.usda").write_text(GOOD)
    (folder / "bad.usda").write_text(GOOD)
    assert check(".", *ONE_RULE, "--baseline", "known.json") == 0
    assert "1 entry of the baseline no longer found" in capsys.readouterr().err


def test_variants(folder, capsys):
    (folder / "many.usda").write_text(
        GOOD.replace(
            '"A" {}',
            '"A" (prepend variantSets = "v")\n{\nvariantSet "v" = {\n"x" (references = @./no.usda@) {}\n}\n}',
        )
    )
    assert check("many.usda", *ONE_RULE) == 0
    assert check("many.usda", *ONE_RULE, "--variants") == 1
    assert "(with /A {v=x})" in capsys.readouterr().out


def test_statistics(folder, capsys):
    check(".", *ONE_RULE, "--statistics")
    assert "1  error    units-meters" in capsys.readouterr().out
    check(".", *ONE_RULE, "--statistics", "--format", "json")
    captured = capsys.readouterr()
    json.loads(captured.out)
    assert "1  error    units-meters" in captured.err


def test_jobs(folder, capsys):
    document = check_json(capsys, ".", *ONE_RULE, "--jobs", "2", "--no-cache")
    assert rules_found(document) == ["units-meters"]


def test_stamp(folder, capsys):
    pytest.importorskip("pxr.UsdProfiles")
    check("good.usda", "bad.usda", "--profile", "ros", "--stamp")
    assert "good.usda: stamped" in capsys.readouterr().err
    assert '"rep0158.ros" = []' in (folder / "good.usda").read_text()


def test_help_needs_nothing_heavy():
    code = (
        "import sys\n"
        "from simwright.app.cli.main import run\n"
        "for name in ('check', 'rules', 'explain'):\n"
        "    assert run([name, '--help']) == 0\n"
        "assert not {'pxr', 'rich', 'numpy'} & set(sys.modules)\n"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout.count("Examples:") == 3


def test_rules(capsys):
    assert run(["rules", "--select", "1.1"]) == 0
    text = capsys.readouterr().out
    assert "units-meters" in text
    assert "unsafe" in text
    assert run(["rules", "--profile", "core", "--format", "json"]) == 0
    rows = json.loads(capsys.readouterr().out)["rules"]
    (row,) = [row for row in rows if row["code"] == "units-meters"]
    assert (row["level"], row["section"], row["fixable"]) == ("error", "1.1", "unsafe")
    assert {row["profile"] for row in rows} == {"core"}


def test_explain(capsys):
    assert run(["explain", "UNITS-METERS"]) == 0
    text = capsys.readouterr().out
    for words in (
        "units-meters  error",
        "REP-0158 section 1.1, must",
        "Why\n",
        "Fails\n",
        "Passes\n",
        "Fix\n",
    ):
        assert words in text
    assert run(["explain", "usd-composition-error"]) == 0
    assert "not a rule of the standard" in capsys.readouterr().out
    assert run(["explain", "units-meter"]) == 2
    assert "did you mean 'units-meters'" in capsys.readouterr().err
    assert run(["explain", "units-meters", "--format", "json"]) == 0
    assert json.loads(capsys.readouterr().out)["code"] == "units-meters"


def test_explain_shows_every_part_as_a_section(capsys):
    assert run(["explain", "joint-placement"]) == 0
    blocks = capsys.readouterr().out.rstrip("\n").split("\n\n")
    titles = [block.split("\n")[0] for block in blocks[2:]]
    assert titles == ["Why", "Fails", "Passes", "Fix", "How Simwright reads the REP"]
    assert blocks[1] == "  A joint sits beside its child link, inside its parent link."
    firsts = [block.split("\n")[1] for block in blocks[2:]]
    assert [first.startswith("  ") and not first[2].islower() for first in firsts] == [True] * 5
    assert firsts[4].startswith("  A joint to the world belongs beside")


def test_explain_keeps_the_spelling_of_names(capsys):
    assert run(["explain", "layer-base-kinematic"]) == 0
    assert "\nFails\n  base.usda " in capsys.readouterr().out
