# SPDX-License-Identifier: BSD-3-Clause
"""The choices of a series in parts: those of each variable, and stretches of steps."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from ._choice import Choice


def by_variable(choices: Sequence[Choice]) -> dict[str, list[Choice]]:
    """In the order in which variables appear; a mesh's levels are variables of their own."""
    found: dict[str, list[Choice]] = {}
    has_levels = any(choice.level for choice in choices)
    for choice in choices:
        name = f"{choice.variable}, level {choice.level}" if has_levels else choice.variable
        found.setdefault(name, []).append(choice)
    return found


def runs_of(choices: Sequence[Choice], of_methods: bool = False) -> Iterator[list[Choice]]:
    """Of one variable: each choice with the steps that kept it. `of_methods`: as long as the method
    stays, whether chosen again or not. Steps that lack end a run.
    """
    run: list[Choice] = []
    for choice in choices:
        goes_on = (
            bool(run)
            and choice.method == run[-1].method
            and (of_methods or not choice.is_new)
            and choice.step == run[-1].step + 1
        )
        if run and not goes_on:
            yield run
            run = []
        run.append(choice)
    if run:
        yield run
