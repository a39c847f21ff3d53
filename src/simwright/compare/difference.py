# SPDX-License-Identifier: Apache-2.0
"""The answer of a comparison: sections with what was measured and what differs."""

from __future__ import annotations

from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True, slots=True)
class Item:
    """One thing that differs: a value, or an element that only one side has (the other is None).

    ``error`` is the relative difference of numbers, infinite where values cannot be compared.
    """

    element: str
    what: str
    a: Any
    b: Any
    error: float = field(default=float("inf"), kw_only=True)


@dataclass(frozen=True, slots=True)
class Figure:
    """The largest relative error of a measured quantity, and where it was found."""

    name: str
    error: float
    tolerance: float
    where: str = ""

    @property
    def equal(self) -> bool:
        """Is it within the tolerance?"""
        return self.error <= self.tolerance


@dataclass(slots=True)
class Section:
    """One subject.  ``compared`` counts the elements that were held against each other.

    ``notes`` say what is told in another way on one side but means the same, and what could not be compared.
    """

    name: str
    group: str
    compared: int = 0
    items: list[Item] = field(default_factory=list)
    figures: list[Figure] = field(default_factory=list)
    notes: list[str] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Does nothing differ?"""
        return not self.items and all(figure.equal for figure in self.figures)


@dataclass(slots=True)
class Difference:
    """All sections that were asked for; ``a`` and ``b`` are the names of the two assets."""

    a: str
    b: str
    sections: list[Section] = field(default_factory=list)

    @property
    def equal(self) -> bool:
        """Are the two the same in everything that was compared?"""
        return all(section.equal for section in self.sections)

    def section(self, name: str) -> Section:
        """One section; KeyError if it was not asked for."""
        for section in self.sections:
            if section.name == name:
                return section
        raise KeyError(name)

    def figure(self, name: str) -> Figure:
        """One figure of any section; KeyError if there is none."""
        for section in self.sections:
            for figure in section.figures:
                if figure.name == name:
                    return figure
        raise KeyError(name)
