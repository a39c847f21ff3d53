# SPDX-License-Identifier: Apache-2.0
"""Python expressions of xacro (``${...}`` and ``$(eval ...)``), evaluated so that they stay arithmetic.

xacro hands expressions to ``eval`` with few names and looks for double underscores in the outermost code;
nested code (``[x.__class__ for x in [1]]``), ``python.vars`` and generator frames lead out of that.  Here an
expression is parsed, only plain expression syntax is let through, and every attribute access, call and
operation is replaced by a guarded one:

* names with two leading underscores and attributes with one are refused;
* attributes are looked up in namespaces and YAML dictionaries, or are one of a few harmless methods;
* numbers, texts and lists cannot grow without bound, and one file has a budget of steps and seconds.
"""

from __future__ import annotations

import ast
import operator
import re
import time
from collections.abc import Callable, Iterator
from types import CodeType
from typing import Any

from simwright.core.errors import LimitError, ParseError

MAX_STEPS = 2_000_000
MAX_SECONDS = 60.0
_MAX_TEXT = 20_000
_MAX_ITEMS = 100_000
_MAX_BITS = 100_000

# no assignment, await, yield, f-string or named expression: what is not here is refused
_NODES = (
    ast.Expression, ast.BoolOp, ast.BinOp, ast.UnaryOp, ast.IfExp, ast.Dict, ast.Set, ast.List, ast.Tuple,
    ast.ListComp, ast.SetComp, ast.DictComp, ast.GeneratorExp, ast.comprehension, ast.Compare, ast.Call,
    ast.keyword, ast.Constant, ast.Attribute, ast.Subscript, ast.Slice, ast.Starred, ast.Name, ast.Lambda,
    ast.arguments, ast.arg, ast.boolop, ast.operator, ast.unaryop, ast.cmpop, ast.expr_context,
)  # fmt: skip
_OPERATORS: dict[str, Callable[[Any, Any], Any]] = {
    "Add": operator.add, "Sub": operator.sub, "Mult": operator.mul, "Div": operator.truediv,
    "FloorDiv": operator.floordiv, "Mod": operator.mod, "Pow": operator.pow, "LShift": operator.lshift,
    "RShift": operator.rshift, "BitOr": operator.or_, "BitXor": operator.xor, "BitAnd": operator.and_,
    "MatMult": operator.matmul,
}  # fmt: skip
_TEXT_METHODS = (
    "capitalize count endswith find index isalnum isalpha isdigit islower isspace isupper join lower lstrip "
    "partition removeprefix removesuffix replace rfind rindex rpartition rsplit rstrip split splitlines "
    "startswith strip swapcase title upper"
)
# no format and no format_map: their fields reach attributes
_METHODS: dict[type, frozenset[str]] = {
    str: frozenset(_TEXT_METHODS.split()),
    list: frozenset(("append", "copy", "count", "extend", "index", "insert", "pop", "remove", "reverse")),
    tuple: frozenset(("count", "index")),
    dict: frozenset(("copy", "get", "items", "keys", "pop", "setdefault", "update", "values")),
    set: frozenset(("add", "copy", "difference", "discard", "intersection", "union")),
    float: frozenset(("is_integer", "real", "imag")),
    int: frozenset(("real", "imag", "bit_length")),
}


class Evaluator:
    """Evaluates the expressions of one file against a common budget.

    The items of ``namespaces`` and ``records`` (dictionary classes) are reached by a dot; records have the
    methods of dictionaries too, namespaces have not.
    """

    def __init__(self, namespaces: tuple[type, ...] = (), records: tuple[type, ...] = ()) -> None:
        self._namespaces = namespaces
        self._records = records
        self._steps = 0
        self._start = time.monotonic()
        self._codes: dict[str, CodeType] = {}
        self._guards: dict[str, Any] = {
            "__attribute__": self._attribute,
            "__call__": self._call,
            "__binary__": self._binary,
            "__iterate__": self._iterate,
            "__builtins__": {},
        }

    def spend(self) -> None:
        """Use up a step of the budget; LimitError when there is none left."""
        self._steps += 1
        if self._steps > MAX_STEPS or time.monotonic() - self._start > MAX_SECONDS:
            raise LimitError(
                f"the expansion takes more than {MAX_STEPS} steps or {MAX_SECONDS:g} s",
                hint="look for macros or expressions that multiply each other",
            )

    def evaluate(self, text: str, symbols: dict[str, Any]) -> Any:
        """The value of an expression over ``symbols``, a dictionary that may resolve names lazily."""
        self.spend()
        # macros evaluate the same few texts again and again
        code = self._codes.get(text)
        if code is None:
            code = self._codes[text] = compile_expression(text)
        # past the overrides of xacro's own dictionary class, which resolves names lazily
        dict.update(symbols, self._guards)
        return eval(code, symbols)  # noqa: S307 - only guarded operations are left in it

    def _attribute(self, value: Any, name: str) -> Any:
        self.spend()
        table: Any = value
        # before methods: a property may be called like a method
        if isinstance(value, self._namespaces):
            try:
                return table[name]
            except KeyError:
                raise NameError(f"name {name!r} is not defined") from None
        for kind, methods in _METHODS.items():
            if isinstance(value, kind) and name in methods:
                return getattr(value, name)
        if isinstance(value, self._records):
            return table[name]
        raise ParseError(
            f"refused: {name!r} of a value of type {type(value).__name__} is not available in expressions",
            hint="use arithmetic and the methods of texts, lists and dictionaries",
        )

    def _call(self, function: Any, /, *args: Any, **kwargs: Any) -> Any:
        self.spend()
        _check_call(function, args)
        if function is not isinstance:  # whatever calls back must be guarded as well
            args = tuple(self._guard_callback(value) for value in args)
            kwargs = {key: self._guard_callback(value) for key, value in kwargs.items()}
        return check_size(function(*args, **kwargs))

    def _guard_callback(self, value: Any) -> Any:
        if not callable(value):
            return value
        return lambda *args, **kwargs: self._call(value, *args, **kwargs)

    def _binary(self, name: str, left: Any, right: Any) -> Any:
        self.spend()
        _check_growth(name, left, right)
        return check_size(_OPERATORS[name](left, right))

    def _iterate(self, values: Any) -> Iterator[Any]:
        for value in values:
            self.spend()
            yield value


def compile_expression(text: str) -> CodeType:
    """Code of a checked and guarded expression; ParseError for what is no plain expression."""
    source = text.strip()
    if len(source) > _MAX_TEXT:
        raise LimitError(f"an expression has {len(source)} characters; the limit is {_MAX_TEXT}")
    try:
        # parsed and checked before anything is compiled
        tree = ast.parse(source, "<expression>", "eval")
        _check_tree(tree, source)
        return compile(ast.fix_missing_locations(_Guard().visit(tree)), "<expression>", "eval")
    except SyntaxError as error:
        raise ParseError(f"bad expression {_short(source)}: {error.msg}") from None
    # Python's parser raises these for thousands of brackets
    except (RecursionError, MemoryError):
        raise LimitError(f"expression {_short(source)} is nested too deeply") from None
    except ValueError as error:
        raise ParseError(f"bad expression {_short(source)}: {error}") from None


def _check_tree(tree: ast.AST, source: str) -> None:
    for node in ast.walk(tree):
        refused = ""
        if not isinstance(node, _NODES):
            refused = type(node).__name__
        elif isinstance(node, ast.Attribute) and node.attr.startswith("_"):
            refused = node.attr
        else:
            # names of variables and of lambda arguments
            name = getattr(node, "id", None) or getattr(node, "arg", None)
            if isinstance(name, str) and name.startswith("__"):
                refused = name
        if refused:
            raise ParseError(
                f"refused: expression {_short(source)} uses {refused}",
                hint="expressions are arithmetic over properties and arguments",
            )


class _Guard(ast.NodeTransformer):
    """Replaces operations by calls of the evaluator's guards."""

    def visit_Attribute(self, node: ast.Attribute) -> ast.AST:
        self.generic_visit(node)
        return _guard_call("__attribute__", [node.value, ast.Constant(node.attr)])

    def visit_Call(self, node: ast.Call) -> ast.AST:
        self.generic_visit(node)
        return _guard_call("__call__", [node.func, *node.args], node.keywords)

    def visit_BinOp(self, node: ast.BinOp) -> ast.AST:
        self.generic_visit(node)
        return _guard_call("__binary__", [ast.Constant(type(node.op).__name__), node.left, node.right])

    def visit_comprehension(self, node: ast.comprehension) -> ast.AST:
        self.generic_visit(node)
        # so that nested comprehensions use up the budget of steps
        node.iter = _guard_call("__iterate__", [node.iter])
        return node


def _guard_call(name: str, args: list[ast.expr], keywords: list[ast.keyword] | None = None) -> ast.Call:
    return ast.Call(ast.Name(name, ast.Load()), args, keywords or [])


# one function of five small tests, one for each way to make a harmless function endless
def _check_call(function: Any, args: tuple[Any, ...]) -> None:
    """Refuse the few harmless functions that some arguments make endless."""
    owner = getattr(function, "__self__", None)
    if function is round and len(args) > 1 and isinstance(args[1], int) and abs(args[1]) > 1000:
        raise LimitError(f"round to {args[1]} digits")
    # sum([[1], [2]], []) copies lists again and again
    if function is sum and len(args) > 1 and not isinstance(args[1], (int, float)):
        raise ParseError("refused: sum() adds numbers only", hint="join lists with +")
    if isinstance(owner, str) and args:
        if function.__name__ == "replace" and len(args) > 1:
            _check_length((len(owner) + 1) * max(len(str(args[1])), 1))
        if function.__name__ == "join" and hasattr(args[0], "__len__"):
            _check_length(sum(len(owner) + len(str(part)) for part in args[0]))


# one function: a test for each operator that can multiply its operands
def _check_growth(name: str, left: Any, right: Any) -> None:
    """Refuse an operation whose result would not fit, before it is computed."""
    whole = isinstance(left, int) and isinstance(right, int)
    if name == "Pow" and whole and abs(left) > 1 and right * left.bit_length() > _MAX_BITS:
        raise LimitError("a power in an expression is too large")
    if name == "LShift" and whole and right > _MAX_BITS:
        raise LimitError("a shift in an expression is too large")
    if name == "Mult":
        _check_repetition(left, right)
        _check_repetition(right, left)
    # "%99999d" and "%*d" make a text as wide as they like
    if name == "Mod" and isinstance(left, str) and re.search(r"\d{5}|\*", left):
        raise LimitError("a text format in an expression is too wide")


def _check_repetition(value: Any, times: Any) -> None:
    if isinstance(value, (str, list, tuple)) and isinstance(times, int):
        _check_length(len(value) * times)


def check_size(value: Any) -> Any:
    """The value itself, if it has not grown beyond measure."""
    if isinstance(value, int):
        if value.bit_length() > _MAX_BITS:
            raise LimitError("a number in an expression is too large")
    elif isinstance(value, (str, list, tuple, dict, set, range)):
        try:
            _check_length(len(value))
        # the length of a range may be larger than an index can be
        except OverflowError:
            _check_length(_MAX_ITEMS + 1)
    return value


def _check_length(length: int) -> None:
    if length > _MAX_ITEMS:
        raise LimitError(f"a text or list in an expression has more than {_MAX_ITEMS} parts")


def _short(text: str) -> str:
    return repr(text if len(text) <= 80 else f"{text[:77]}...")
