# SPDX-License-Identifier: BSD-3-Clause
"""Arguments of the commands that Python carries out: what no option takes is refused by name."""

from __future__ import annotations

import argparse
import difflib
import os
import re
import signal
import sys
from collections.abc import Callable, Iterable, Sequence
from typing import Any

NUMBER = re.compile(r"-\.?\d")


class Parser(argparse.ArgumentParser):
    """An ArgumentParser that names an unknown option first, with the nearest known one. Argparse
    would complain of missing arguments instead, and take an option's beginning for the option.
    """

    def __init__(self, **options: Any) -> None:
        super().__init__(**{"allow_abbrev": False, **options})
        self._negative_number_matcher = NUMBER  # "-1,-2" is a value, too

    def parse_known_args(
        self, args: Iterable[str] | None = None, namespace: Any = None
    ) -> tuple[Any, list[str]]:
        args = sys.argv[1:] if args is None else list(args)
        for word in self._own_words(args):
            if word.startswith("-") and len(word) > 1 and not NUMBER.match(word):
                self._check_option(word.split("=", 1)[0])
        found, rest = super().parse_known_args(args, namespace)
        self._check_values(found)
        return found, rest

    def _check_values(self, found: argparse.Namespace) -> None:
        """No option has a meaning for an empty value, as a shell makes of an unset variable."""
        for action in self._actions:
            value = getattr(found, action.dest, None)
            if action.option_strings and (value == "" or (isinstance(value, list) and "" in value)):
                name = action.option_strings[-1]
                self.error(f"{name} has an empty value; leave it out, or give it one")

    def _own_words(self, args: Sequence[str]) -> Sequence[str]:
        """Those before `--` and before a subcommand, which has options of its own."""
        own = list(args)
        if "--" in own:
            own = own[: own.index("--")]
        if self._subparsers is not None:
            places = [i for i, word in enumerate(own) if not word.startswith("-")]
            own = own[: places[0]] if places else own
        return own

    def _check_option(self, name: str) -> None:
        known = self._option_string_actions
        short = name[:2]  # -oFILE
        if name in known or (not name.startswith("--") and short in known):
            return
        like = difflib.get_close_matches(name, known, 1)
        hint = f"; did you mean {like[0]}?" if like else ""
        self.error(f"unknown option '{name}'{hint} (`{self.prog} --help` lists what is allowed)")


def run_for_a_pipe(main: Callable[[], int]) -> int:
    """The exit code of a command, also where nobody reads its output to the end, as `head` does
    not.
    """
    try:
        code = main()
        sys.stdout.flush()
    except BrokenPipeError:
        # Python would complain again when it closes the stream.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        return 128 + signal.SIGPIPE
    return code
