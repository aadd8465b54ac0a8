# SPDX-License-Identifier: BSD-3-Clause
"""The choices of a series as a text table and as a page."""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from html import escape
from typing import Any

from ._choice import REASONS, Choice, ChoiceLog
from ._choice_pictures import picture as draw
from ._choice_runs import by_variable, runs_of
from ._page import Cell, document, picture, shown, table
from ._tables import Table, counted

WHY = {
    "kept": "kept",
    "first": "first choice",
    "drift": "its performance changed",
    "rival": "another is estimated to be better",
    "due": "many steps since the last choice",
}
_NONE = "-"
_MOST_STEPS = 5000  # of the table of all steps


def _number(value: float) -> str:
    return f"{value:.4g}"


def _estimate(value: float) -> str:
    return _number(value) if value else _NONE


def _rival(choice: Choice) -> str:
    return f"{choice.rival} ({_number(choice.rival_estimate)})" if choice.rival else _NONE


def rules_lines(log: ChoiceLog) -> list[str]:
    """Those of the series, then those of variables with settings of their own."""
    own = [f"{name} by its own: {_words(rules)}" for name, rules in log.own_rules.items()]
    return [f"rules: {_words(log.rules)}", *own]


def _words(rules: Mapping[str, Any]) -> str:
    return ", ".join(f"{name.replace('_', ' ')} {value}" for name, value in rules.items())


def _steps(run: Sequence[Choice]) -> str:
    first, last = run[0].step, run[-1].step
    return str(first) if first == last else f"{first}-{last}"


def _performances(run: Sequence[Choice]) -> str:
    first, last = _number(run[0].performance), _number(run[-1].performance)
    return first if len(run) == 1 or first == last else f"{first} to {last}"


def _why(choice: Choice) -> str:
    """A step of one value throughout is coded as that, whatever is kept for the next one."""
    is_nothing_to_choose = choice.reason == "kept" and choice.method == "constant"
    return "one value, or none: nothing to choose" if is_nothing_to_choose else WHY[choice.reason]


HEADS = (
    *("variable", "steps", "method", "performance, first to last"),
    *("estimate", "best of the others", "why"),
)


def _rows(name: str, runs: Iterator[list[Choice]]) -> Iterator[tuple[str, ...]]:
    for run in runs:
        first = run[0]
        yield (
            *(name, _steps(run), first.method, _performances(run)),
            *(_estimate(first.estimate), _rival(first), _why(first)),
        )


def text_table(log: ChoiceLog, every_step: bool = False) -> Table:
    """A row for each choice and the steps that kept it, or for each step."""
    rows: list[tuple[str, ...]] = []
    for name, choices in by_variable(log.choices).items():
        runs = ([choice] for choice in choices) if every_step else runs_of(choices)
        rows += _rows(name, iter(runs))
    return Table(HEADS, rows)


def summary(log: ChoiceLog) -> str:
    """ "30 variables, 12 steps: 40 choices (30 first choice, 10 rival), ..."."""
    new = Counter(choice.reason for choice in log.choices if choice.is_new)
    variables = by_variable(log.choices)
    steps = max((len(choices) for choices in variables.values()), default=0)
    told = ", ".join(f"{new[reason]} {reason}" for reason in REASONS if new[reason])
    return (
        f"{counted(len(variables), 'variable')}, {counted(steps, 'step')}: "
        f"{counted(sum(new.values()), 'choice')}" + (f" ({told})" if told else "")
    )


def _share_of_choosing(choices: Sequence[Choice]) -> Cell:
    choosing = sum(choice.choosing_seconds for choice in choices)
    whole = choosing + sum(choice.coding_seconds for choice in choices)
    if math.isnan(whole) or not whole:
        return Cell(_NONE)
    return Cell(f"{100 * choosing / whole:.2f} %", choosing / whole)


def _variables(log: ChoiceLog) -> str:
    heads = ["variable", "steps", "methods", "ratio", "mean performance"]
    heads += [f"chosen: {reason}" for reason in REASONS[1:]] + ["time of choosing"]
    rows: list[list[Cell | str]] = []
    for name, choices in by_variable(log.choices).items():
        methods = Counter(choice.method for choice in choices).most_common()
        reasons = Counter(choice.reason for choice in choices)
        raw = sum(choice.raw_bytes for choice in choices)
        ratio = raw / max(1, sum(choice.coded_bytes for choice in choices))
        mean = sum(choice.performance for choice in choices) / len(choices)
        rows.append(
            [
                name,
                Cell(str(len(choices)), len(choices)),
                ", ".join(f"{method} {count}x" for method, count in methods),
                Cell(f"{ratio:.2f}", ratio),
                Cell(_number(mean), mean),
                *(Cell(str(reasons[reason]), reasons[reason]) for reason in REASONS[1:]),
                _share_of_choosing(choices),
            ]
        )
    return table(heads, rows, sortable=True)


def _all_steps(log: ChoiceLog) -> str:
    rows = text_table(log, every_step=True).rows
    more = len(rows) - _MOST_STEPS
    told = f"<p>... and {more:,} more: `neve choices --json` has all.</p>" if more > 0 else ""
    return table(list(HEADS), rows[:_MOST_STEPS], sortable=True) + told


def html_of(log: ChoiceLog, name: str) -> str:
    """`log` is not empty; `name`: the file or folder it is of."""
    reasons = {choice.reason for choice in log.choices}
    words = f"methods of {name} by variable and step"
    parts = [
        f"<p>{summary(log)}</p>",
        *(f"<p>{escape(shown(line))}</p>" for line in rules_lines(log)),
        "<p>Performance: speed x speed weight + ratio x ratio weight.</p>",
        picture(draw(log), words),
        "<h2>Variables</h2>",
        _variables(log),
        "<h2>Choices</h2>",
        table(list(HEADS), text_table(log).rows, sortable=True),
    ]
    if "kept" in reasons:
        parts += ["<h2>Every step</h2>", _all_steps(log)]
    return document(f"Choices: {name}", "\n".join(parts))
