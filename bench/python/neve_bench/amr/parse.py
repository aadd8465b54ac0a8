# SPDX-License-Identifier: BSD-3-Clause
"""Ways by their texts: PAPER:METHOD[,SETTING=VALUE]..., "amric:sle,unit=16". What a paper or a
method does not have is refused by name.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from neve._errors import Error

from .way import Way


@dataclass(frozen=True)
class Setting:
    """One that a method takes."""

    default: str
    allowed: str  # for people: "8, 16, 32, 64, auto"
    is_allowed: Callable[[str], bool]


@dataclass(frozen=True)
class Method:
    paper: str
    name: str
    what: str  # a line of help
    settings: Mapping[str, Setting]
    # Settings that differ from their defaults, and all of them: the text and a full table.
    make: Callable[[str, Mapping[str, str]], Way]  # (text, settings), raises Error


def among(default: str, *allowed: str) -> Setting:
    return Setting(default, ", ".join(allowed), lambda value: value in allowed)


def whole_number(default: int, least: int, most: int) -> Setting:
    def is_allowed(value: str) -> bool:
        return value.isascii() and value.isdigit() and least <= int(value) <= most

    return Setting(str(default), f"whole numbers from {least} to {most}", is_allowed)


def parse_way(text: str, methods: Mapping[str, Method]) -> Way:
    """`methods` by "PAPER:METHOD". Errors: usage, with what is known."""
    name, *words = text.split(",")
    method = methods.get(name)
    if method is None:
        raise Error(f"way {text!r}: there is no {name!r}; there are {', '.join(methods)}")
    settings = {key: setting.default for key, setting in method.settings.items()}
    given: set[str] = set()
    for word in words:
        key, equals, value = word.partition("=")
        setting = method.settings.get(key)
        if setting is None or not equals:
            known = ", ".join(f"{k}=" for k in method.settings) or "none"
            raise Error(f"way {text!r}: {name} has no setting {word!r}; it has {known}")
        if key in given:
            raise Error(f"way {text!r}: {key} is set twice")
        if not setting.is_allowed(value):
            raise Error(f"way {text!r}: {key} is {value!r}; allowed are {setting.allowed}")
        given.add(key)
        settings[key] = value
    canonical = ",".join(
        [name, *(f"{k}={v}" for k, v in settings.items() if v != method.settings[k].default)]
    )
    return method.make(canonical, settings)
