# SPDX-License-Identifier: BSD-3-Clause
"""Keywords of public functions: one that a function does not have is refused by name, with the
nearest that it has.
"""

from __future__ import annotations

import difflib
import functools
import inspect
from collections.abc import Callable, Iterable
from typing import Any, ParamSpec, TypeVar

from ._bound import refuse_absent_bound

_P = ParamSpec("_P")
_R = TypeVar("_R")


def checks_keywords(function: Callable[_P, _R]) -> Callable[_P, _R]:
    """`function`, which refuses keywords as this module does. Signature and type stay its own."""
    known = tuple(name for name in inspect.signature(function).parameters if name != "self")
    name = function.__qualname__.removesuffix(".__init__")

    @functools.wraps(function)
    def call(*args: _P.args, **keywords: _P.kwargs) -> _R:
        _check(name, keywords, known)
        return function(*args, **keywords)

    return call


def takes_keywords_of(
    template: Callable[_P, Any],
) -> Callable[[Callable[..., _R]], Callable[_P, _R]]:
    """For a function that passes its keywords on to one that takes what `template` does: it has the
    signature of `template`, for those who read it and for type checkers.
    """
    signature = inspect.signature(template)

    def decorate(function: Callable[..., _R]) -> Callable[_P, _R]:
        @functools.wraps(function)
        def call(*args: _P.args, **keywords: _P.kwargs) -> _R:
            _check(function.__qualname__, keywords, tuple(signature.parameters))
            return function(*args, **keywords)

        returned = inspect.signature(function).return_annotation
        call.__signature__ = signature.replace(return_annotation=returned)  # type: ignore[attr-defined]
        return call

    return decorate


def _check(caller: str, keywords: Iterable[str], known: tuple[str, ...]) -> None:
    for name in keywords:
        if name in known:
            continue
        refuse_absent_bound(caller, name, known)
        like = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {like[0]}=?" if like else f"; it has {', '.join(known)}"
        raise TypeError(f"{caller}() got an unexpected keyword argument {name!r}{hint}")
