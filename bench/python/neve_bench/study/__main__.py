# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench study DECK`."""

from __future__ import annotations

import argparse
import importlib.util
import sys
from pathlib import Path
from typing import Any

from neve import _files
from neve._arguments import Parser
from neve._command import command_path
from neve._errors import FAILURE, Error

from .. import report
from ..acb.paper import PAPER as acb
from ..acomps.paper import PAPER as acomps
from ..amric.paper import PAPER as amric
from ..miniio.paper import PAPER as miniio
from ..paper import command as papers
from . import deck as decks
from . import findings, summary
from .runs import Runner, Store, plan, run_all

PAPERS = {paper.name: paper for paper in (acb, acomps, amric, miniio)}
EXAMPLES = """examples:
  neve bench study two-cores                        a deck that comes with Neve, in two minutes
  neve bench study deck.toml --into results         run it, or go on where a killed one was
  neve bench study deck.toml --into results --list  what is done, what failed, what is still to run
  neve bench study deck.toml --into results --report-only
  neve bench study amric                            papers: see `neve study --help`
"""


def _parser() -> argparse.ArgumentParser:
    parser = Parser(
        prog="neve bench study",
        description="Run the mini-apps over outputs, compressions, layouts and numbers of ranks,\n"
        "and write a report. A finished run is not repeated unless its cell of the deck changes.",
        epilog=EXAMPLES,
        formatter_class=argparse.RawDescriptionHelpFormatter,
    )
    known = ", ".join(sorted(path.stem for path in decks.BUNDLED.glob("*.toml")))
    parser.add_argument("deck", help=f"a TOML file, or a deck that comes with Neve: {known}")
    parser.add_argument(
        "--into",
        metavar="DIR",
        help="folder for the runs and the report (neve-study-NAME of the deck)",
    )
    parser.add_argument(
        "--list", action="store_true", help="list finished and failed runs, and run nothing"
    )
    parser.add_argument(
        "--dry-run", action="store_true", help="print the commands, and run nothing"
    )
    parser.add_argument("--retry", action="store_true", help="run failed cells again")
    parser.add_argument(
        "--report-only",
        action="store_true",
        help="make the report of the finished runs, and run nothing",
    )
    parser.add_argument(
        "--no-pictures", action="store_true", help="make the report without pictures"
    )
    return parser


def _refuse_idle(parser: Parser, options: argparse.Namespace) -> None:
    """Options that would do nothing beside the others end with a usage error."""
    only = [name for name in ("list", "dry_run", "report_only") if getattr(options, name)]
    if len(only) > 1:
        names = " and ".join("--" + name.replace("_", "-") for name in only)
        parser.error(f"{names} exclude each other")
    if options.no_pictures and (options.list or options.dry_run):
        parser.error("--no-pictures has no meaning where no report is written")
    if options.retry and (options.list or options.report_only):
        parser.error("--retry has no meaning where nothing is run")


def main(arguments: list[str] | None = None) -> int:
    words = sys.argv[1:] if arguments is None else arguments
    if words and words[0] in PAPERS:
        return papers.main(PAPERS[words[0]], words[1:])
    parser = _parser()
    options = parser.parse_args(words)
    _refuse_idle(parser, options)
    try:
        return _run(options)
    except Error as error:
        print(f"neve bench study: {error}", file=sys.stderr)
        return error.code
    except KeyboardInterrupt:
        print("neve bench study: stopped; the same command goes on where it was", file=sys.stderr)
        return FAILURE


def _run(options: argparse.Namespace) -> int:
    deck = decks.read(options.deck)
    only_looks = options.list or options.report_only or options.dry_run
    then = "it counts as not run" if only_looks else "run again"
    store = Store(Path(options.into or f"neve-study-{deck.path.stem}"), _say, then)
    command = command_path()
    runner = Runner(command, deck, store)
    wanted = plan(deck, store, options.retry)
    if options.list:
        print(_listing(deck, store))
        return 0
    if options.dry_run:
        for cell, _ in wanted:
            print(" ".join(runner.words(cell)))
        return 0
    with store.locked():
        if not options.report_only:
            total = (len(deck.cells) + len(deck.disk)) * deck.repeats
            if len(wanted) < total:
                _say(f"{total - len(wanted)} of {total} runs are done already")
            run_all(runner, store, wanted, _say)
        failed = _report(deck, store, not options.no_pictures)
    return FAILURE if failed else 0


def _say(text: str) -> None:
    print(f"neve bench study: {text}", file=sys.stderr, flush=True)


def _listing(deck: decks.Deck, store: Store) -> str:
    lines = []
    for cell in (*deck.disk, *deck.cells):
        records = [store.get(cell, repeat) for repeat in range(deck.repeats)]
        done = [record for record in records if record is not None]
        failed = sum(record["error"] is not None for record in done)
        text = f"{cell.name}: {len(done)} of {deck.repeats} runs done"
        lines.append(text + (f", {failed} failed" if failed else ""))
    return "\n".join(lines)


def _report(deck: decks.Deck, store: Store, with_pictures: bool) -> int:
    """Writes it; the number of failed runs."""
    if with_pictures and importlib.util.find_spec("matplotlib") is None:
        with_pictures = False
        _say("matplotlib is not installed: the report has no pictures")
    page, table = findings.make(deck, store, with_pictures)
    folder = store.folder
    for name, png in page.pictures().items():
        _files.write_bytes(folder / f"{name}.png", png)
    report.write_text(str(folder / "report.html"), page.html())
    report.write_text(str(folder / "report.md"), page.markdown())
    report.write_text(str(folder / "study.csv"), summary.as_csv(table))
    report.write_json(str(folder / "study.json"), _recorded(deck, store, table))
    failed = sum(
        record["error"] is not None
        for cell in (*deck.disk, *deck.cells)
        for repeat in range(deck.repeats)
        if (record := store.get(cell, repeat)) is not None
    )
    _say(f"{folder / 'report.html'}, report.md, study.csv, study.json are written")
    if failed:
        _say(f"{failed} runs failed; the report says how. --retry runs them again")
    return failed


def _recorded(deck: decks.Deck, store: Store, table: list[dict[str, Any]]) -> dict[str, Any]:
    return {
        "title": deck.title,
        "repeats": deck.repeats,
        "machines": summary.machines(deck, store),
        "disk_MBps": {str(k): v for k, v in summary.disk_bandwidth(deck, store).items()},
        "layouts": summary.layouts_compared(table),
        "rows": table,
    }


if __name__ == "__main__":
    sys.exit(main())
