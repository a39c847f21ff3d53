"""The one problem type: made from declared kinds, collected, ordered, printable."""

from __future__ import annotations

import pytest

from simwright.core.diag import (
    CATALOGUE,
    Diagnostic,
    Fix,
    Fixable,
    Kind,
    Level,
    Reporter,
    Where,
    declare,
    diagnostic_from_error,
    sort_diagnostics,
)
from simwright.core.errors import (
    EXIT_BAD_INPUT,
    EXIT_FINDINGS,
    MissingExtraError,
    ParseError,
    SimwrightError,
    UnknownNameError,
)

TOO_LONG = Kind(
    "x-too-long", Level.WARNING, "{name!r} has {length} letters", hint="at most {most}", section="1.1"
)


@pytest.mark.parametrize(
    ("where", "text"),
    [
        (Where("a.urdf"), "a.urdf"),
        (Where("a.urdf", 3), "a.urdf:3"),
        (Where("a.urdf", 3, 7), "a.urdf:3:7"),
        (Where(prim="/robot/base"), "</robot/base>"),
        (Where("l.usda", 9, prim="/r", prop="physics:mass"), "l.usda:9 </r.physics:mass>"),
    ],
)
def test_places_read_like_compiler_output(where, text):
    assert str(where) == text
    assert where


def test_nowhere_is_false():
    assert not Where()


def test_report_fills_the_templates_and_keeps_the_values(reporter):
    found = reporter.report(TOO_LONG, Where("f", 1), name="abc", length=3, most=2)
    assert found.message == "'abc' has 3 letters"
    assert found.hint == "at most 2"
    assert found.section == "1.1"
    assert found.data == {"name": "abc", "length": 3, "most": 2}
    assert str(found) == "f:1: warning[x-too-long] 'abc' has 3 letters (at most 2)"


def test_values_may_be_called_where_or_kind(reporter):
    kind = Kind("x", Level.INFO, "{where} {kind}")
    assert reporter.report(kind, Where("f"), where="here", kind="that").message == "here that"


def test_reporter_counts_and_listens():
    heard = []
    reporter = Reporter(heard.append)
    reporter.report(TOO_LONG, name="", length=0, most=0)
    reporter.extend([Diagnostic("k", Level.ERROR, "m")])
    assert reporter.counts() == {"error": 1, "warning": 1, "info": 0}
    assert heard == reporter.found
    assert len(reporter) == 2


def test_has_is_at_least_as_bad(reporter):
    reporter.report(TOO_LONG, name="", length=0, most=0)
    assert reporter.has(Level.WARNING)
    assert reporter.has(Level.INFO)
    assert not reporter.has(Level.ERROR)


def test_declaring_a_code_twice_is_our_bug():
    first = declare("test-declared-once", Level.INFO, "a")
    try:
        assert declare("test-declared-once", Level.INFO, "a") == first
        with pytest.raises(AssertionError, match="declared twice"):
            declare("test-declared-once", Level.INFO, "b")
    finally:
        del CATALOGUE["test-declared-once"]


def test_order_is_file_line_then_worst_first():
    a = Diagnostic("k", Level.INFO, "m", where=Where("a", 2))
    b = Diagnostic("k", Level.ERROR, "m", where=Where("a", 2))
    c = Diagnostic("k", Level.INFO, "m", where=Where("a"))
    assert sort_diagnostics([a, b, c]) == [c, b, a]


def test_fix_grade():
    plain = Diagnostic("k", Level.INFO, "m")
    fixed = Diagnostic("k", Level.INFO, "m", fix=Fix("do it", Fixable.UNSAFE))
    assert (plain.fixable, fixed.fixable) == (Fixable.NO, Fixable.UNSAFE)


def test_template_fields():
    assert TOO_LONG.fields() == {"name", "length", "most"}


def test_error_as_data():
    error = ParseError("broken", hint="mend it", where=Where("f", 4))
    found = diagnostic_from_error(error)
    assert (found.kind, found.level, found.where.line) == ("parse-error", Level.ERROR, 4)
    assert str(error) == "f:4: broken (mend it)"


def test_unknown_name_suggests_then_lists():
    assert "did you mean 'revolute'?" in str(UnknownNameError("joint type", "revolut", ["revolute", "fixed"]))
    assert "known: fixed, revolute" in str(UnknownNameError("joint type", "zzz", ["revolute", "fixed"]))


def test_missing_extra_says_the_install_line():
    assert "pip install 'simwright[newton]'" in str(
        MissingExtraError("newton", "newton", "the Newton engine")
    )


def test_every_error_means_bad_input():
    def tree(cls):
        return [cls, *(t for sub in cls.__subclasses__() for t in tree(sub))]

    classes = tree(SimwrightError)
    assert len(classes) >= 10
    own = [cls for cls in classes if cls.__module__ == SimwrightError.__module__]
    assert {cls.exit_code for cls in own} == {EXIT_BAD_INPUT}
    assert {cls.exit_code for cls in classes} <= {EXIT_BAD_INPUT, EXIT_FINDINGS}, "a run may end in a finding"
    assert len({cls.code for cls in classes}) == len(classes)


def test_findings_keep_the_text_of_an_exception_only():
    kind = Kind("kind", Level.ERROR, "{why}")
    finding = Reporter().report(kind, why=ValueError("broken"))
    assert finding.message == "broken"
    assert finding.data == {"why": "broken"}
