# SPDX-License-Identifier: BSD-3-Clause
"""`neve choices`: which method a series took at each step, and why, as a table, picture or page."""

from __future__ import annotations

import argparse
import json
import math
import sys
from dataclasses import asdict
from pathlib import Path
from typing import Any

from . import _files
from ._arguments import Parser, run_for_a_pipe
from ._choice import ChoiceLog
from ._choice_log import read_choices
from ._errors import FAILURE, Error
from ._page import shown

EXAMPLES = """\
examples:
  neve convert wrfout_*.nc --into small --choices log
  neve choices small                          which method when, and why
  neve choices small -o choices.html          with a picture and every step
  neve choices small -o choices.png
  neve choices small/wrfout_07.nc --json
"""
PAGES = (".html", ".htm")
PICTURES = (".png", ".pdf", ".svg")


def save(log: ChoiceLog, out: str | Path, name: str) -> None:
    """Writes a page (.html) or a picture (.png, .pdf, .svg) of a log that is not empty. `name`:
    what it is the log of, as the page shows it.
    """
    if not log.choices:
        raise Error(f"{name}: its log of choices is empty; there is nothing to draw")
    out = Path(out)
    if out.suffix.lower() not in (*PAGES, *PICTURES):
        allowed = ", ".join((*PAGES, *PICTURES))
        raise Error(f"-o {out}: allowed are names that end in {allowed}")
    if out.suffix.lower() in PAGES:
        from ._choice_page import html_of

        _files.write_bytes(out, html_of(log, name).encode("utf-8", "replace"))
        return
    from ._choice_pictures import picture
    from ._picture import save as save_picture

    save_picture(picture(log), out)


def _plain(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def as_json(log: ChoiceLog) -> dict[str, Any]:
    """`rules`, `own_rules` and `choices`; times that the log does not have are None."""
    choices = [
        {name: _plain(value) for name, value in asdict(choice).items()} for choice in log.choices
    ]
    own = {variable: dict(rules) for variable, rules in log.own_rules.items()}
    return {"rules": dict(log.rules), "own_rules": own, "choices": choices}


def _text(log: ChoiceLog, name: str, every_step: bool) -> str:
    from ._choice_page import rules_lines, summary, text_table
    from ._tables import lines_of

    head = f"{name}: {summary(log)}"
    lines = [head, *rules_lines(log), *lines_of(text_table(log, every_step))]
    return "\n".join(map(shown, lines))


def _parser() -> Parser:
    made = Parser(
        prog="neve choices",
        description="Which method a series took at each step of each variable, and why.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    made.add_argument(
        "path", metavar="FILE|FOLDER", help="file with a log of choices, or a folder of such files"
    )
    made.add_argument(
        "-o", "--output", metavar="OUT", help="page (.html) or picture (.png, .pdf, .svg)"
    )
    made.add_argument("--steps", action="store_true", help="a row for each step, not each choice")
    made.add_argument("--json", action="store_true", help="all steps as JSON on stdout")
    return made


def _show(options: argparse.Namespace) -> None:
    log = read_choices(options.path)
    name = Path(options.path).resolve().name
    if options.output:
        save(log, options.output, name)
    if options.json:
        print(json.dumps(as_json(log), indent=2))
    elif options.output:
        print(f"{options.output}: choices of {name}")
    else:
        print(_text(log, options.path, options.steps))


def main(arguments: list[str] | None = None) -> int:
    options = _parser().parse_args(arguments)
    try:
        _show(options)
    except ImportError as error:
        if error.name != "matplotlib":
            raise
        print("neve choices: -o needs matplotlib: pip install 'neve[plot]'", file=sys.stderr)
        return FAILURE
    except Error as error:
        print(f"neve choices: {shown(str(error))}", file=sys.stderr)
        return error.code
    return 0


if __name__ == "__main__":
    sys.exit(run_for_a_pipe(main))
