# SPDX-License-Identifier: BSD-3-Clause
"""A series' choices and their rules, and what both may be."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from ._errors import Error

REASONS = ("kept", "first", "drift", "rival", "due")
RULES = ("candidates", "delta", "speeds", "speed_weight", "ratio_weight")
SPEEDS = ("typical", "measured")
OWN_RULES = ("candidates", "speed_weight", "ratio_weight")
_RULE_NUMBERS = ("delta", "speed_weight", "ratio_weight")
_MOST = {"level": 2**31 - 1, "step": 2**64 - 1, "raw_bytes": 2**64 - 1, "coded_bytes": 2**64 - 1}
_FINITE = ("performance", "estimate", "rival_estimate")
_TIMES = ("choosing_seconds", "coding_seconds")
_NAMES = ("variable", "method", "rival")
_SHOWN = 60  # characters of a value in a message


@dataclass(frozen=True, slots=True)  # there may be millions
class Choice:
    """One step of one variable."""

    variable: str
    level: int  # of a mesh; 0
    step: int  # of this variable in its series, from 0
    method: str  # of codec lossless; else the codec
    reason: str  # "kept", "first", "drift", "rival" or "due"
    performance: float  # speed x speed_weight + ratio x ratio_weight, as coded
    estimate: float  # of the method when it was compared with others; 0: it was not
    rival: str  # the best of the others by its estimate; "": none
    rival_estimate: float
    raw_bytes: int
    coded_bytes: int
    choosing_seconds: float = math.nan  # CPU time; NaN where the log has no times
    coding_seconds: float = math.nan

    @property
    def is_new(self) -> bool:
        return self.reason != "kept"

    @property
    def ratio(self) -> float:
        return self.raw_bytes / self.coded_bytes if self.coded_bytes else math.nan


@dataclass(frozen=True, repr=False)
class ChoiceLog:
    """What read_choices() gives: the rules, the choices by variable and step, and the rules of
    variables with settings of their own: candidates, speed_weight, ratio_weight by variable.
    """

    rules: Mapping[str, Any]
    choices: tuple[Choice, ...]
    own_rules: Mapping[str, Mapping[str, Any]] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.choices)

    def __repr__(self) -> str:
        return (
            f"<neve.ChoiceLog({rules_text(self.rules)}): {counts_text(*counts_of(self.choices))}>"
        )


def rules_text(rules: Mapping[str, Any]) -> str:
    return ", ".join(f"{name}={value!r}" for name, value in rules.items())


def counts_of(choices: Sequence[Choice]) -> tuple[int, int, int]:
    """Steps, variables and choices made."""
    variables = len({choice.variable for choice in choices})
    return len(choices), variables, sum(choice.is_new for choice in choices)


def counts_text(steps: int, variables: int, made: int) -> str:
    """For people."""
    return f"{steps} steps of {variables} variables, {made} choices"


def short(value: object) -> str:
    """A value of a file or caller in a message: no control characters, and not all of it."""
    text = repr(value)
    return text if len(text) <= _SHOWN else text[:_SHOWN] + "..."


def check_rules(rules: Mapping[str, Any], of_what: str, code: int) -> None:
    """neve.Error of `code` says which rule of `of_what` is not what it can be."""
    if missing := [name for name in RULES if name not in rules]:
        needed = ", ".join(RULES)
        raise Error(
            f"{of_what}: rules of choices lack {', '.join(missing)}; needed: {needed}", code
        )
    wrong = f"{of_what}: rules of choices:"
    for name in _RULE_NUMBERS:
        if not _is_finite(rules[name]):
            found = short(rules[name])
            raise Error(f"{wrong} {name} is {found}; allowed is a finite number, 0 or more", code)
    if not isinstance(rules["candidates"], str) or not rules["candidates"]:
        found = short(rules["candidates"])
        raise Error(f"{wrong} candidates is {found}; allowed is a text with names of methods", code)
    if not isinstance(rules["speeds"], str) or rules["speeds"] not in SPEEDS:
        found = short(rules["speeds"])
        raise Error(f"{wrong} speeds is {found}; allowed are {', '.join(SPEEDS)}", code)


def check_own_rules(own: Any, rules: Mapping[str, Any], of_what: str, code: int) -> None:
    """neve.Error of `code` says which variable's rules are not what they can be."""
    if not isinstance(own, Mapping):
        raise Error(f"{of_what}: own_rules is {short(own)}; allowed are rules by variable", code)
    for variable, of_variable in own.items():
        if not isinstance(of_variable, Mapping) or set(of_variable) != set(OWN_RULES):
            raise Error(
                f"{of_what}: own_rules of {short(variable)} are {short(of_variable)}; "
                f"needed: {', '.join(OWN_RULES)}",
                code,
            )
        check_rules({**rules, **of_variable}, f"{of_what}, {short(variable)}", code)


def check_choices(choices: Sequence[Choice], of_what: str, code: int) -> None:
    """neve.Error of `code` says which row of `of_what` is not what it can be."""
    for row, choice in enumerate(choices):
        if wrong := _wrong_in(choice):
            name, allowed = wrong
            found = short(getattr(choice, name))
            raise Error(f"{of_what}: {name} {found} in row {row}; {allowed}", code)


def check_steps_differ(choices: Sequence[Choice], of_what: str, code: int) -> None:
    """neve.Error of `code` where a variable has a step twice."""
    known = set()
    for row, choice in enumerate(choices):
        key = (choice.variable, choice.level, choice.step)
        if key in known:
            name = short(choice.variable)
            raise Error(f"{of_what}: row {row} has step {choice.step} of {name} again", code)
        known.add(key)


def _wrong_in(choice: Choice) -> tuple[str, str] | None:
    """The first value that cannot be, and what is allowed."""
    if choice.reason not in REASONS:
        return "reason", f"allowed are {', '.join(REASONS)}"
    for name in _NAMES:
        if "\0" in getattr(choice, name):
            return name, "a NUL is not allowed in names"
    for name, most in _MOST.items():
        value = getattr(choice, name)
        if isinstance(value, bool) or not isinstance(value, int) or not 0 <= value <= most:
            return name, f"allowed are whole numbers from 0 to {most}"
    for name in _FINITE:
        if not _is_finite(getattr(choice, name)):
            return name, "allowed is a finite number, 0 or more"
    for name in _TIMES:
        value = getattr(choice, name)
        if not (_is_finite(value) or (isinstance(value, float) and math.isnan(value))):
            return name, "allowed is a finite number, 0 or more, or NaN"
    return None


def _is_finite(value: object) -> bool:
    if isinstance(value, bool) or not isinstance(value, (int, float)):
        return False
    return 0 <= value < math.inf
