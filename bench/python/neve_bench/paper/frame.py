# SPDX-License-Identifier: BSD-3-Clause
"""A paper's plan and report: what is the same for every paper, around what each has to say."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from ..records import Records
from ..study.page import Page
from . import output
from .command import SCRATCH, Planned, Reported, refuse_other_code
from .item import Finding, Item
from .results import Recorded
from .unit import Unit

Content = dict[str, Any]  # a plan's, as `planned` has it and `command` adds to it
Row = Mapping[str, Any]  # a measured point, a line of the CSV
Tick = Callable[[str], None]


def paths_of(command: Path, records: Records) -> dict[str, str]:
    """Where every unit finds the programs, and a folder for what it writes."""
    return {
        "neve": str(command),
        "neve-bench": str(command.with_name("neve-bench")),
        "scratch": str(records.folder.resolve() / SCRATCH),
    }


def planned(units: list[Unit], code: str, settings: Any, **more: Any) -> Planned:
    """`more` is the paper's own, for its report: JSON."""
    listed = [{"key": u.key, "name": u.name, "request": u.request} for u in units]
    content = {"code": code, "settings": settings.as_json(), **more, "units": listed}
    return Planned(units, content)


def _nothing(*_: Any) -> None:
    """Adds nothing to a page."""


@dataclass(frozen=True)
class Frame:
    """`results`, `head` and the like are given what the paper's own modules make and understand."""

    title: str
    source: str  # authors, title, where it appeared
    items: Sequence[Item]
    words: Sequence[tuple[str, str]]
    columns: Sequence[str]  # of the CSV
    version: Callable[[], str]  # of the code that measures
    results: Callable[[Content, Records, Tick], Recorded]
    needs: Callable[[Item, Any], Iterable[Any]]  # (item, results) -> keys of the records
    head: Callable[[Any], list[str]]  # results -> lines behind the common ones
    rows: Callable[[Any], Iterable[Row]]
    name_of: Callable[[Any], str]  # of a key of the records, for people
    broken: Callable[[Sequence[Row]], Sequence[Row]] = lambda _: ()  # those that broke a promise
    left_aside: Callable[[Content], list[dict[str, Any]]] | None = None  # inputs, if it has any
    before_items: Callable[[Page, Sequence[Row]], None] = _nothing  # page, what is broken
    after_items: Callable[[Page, Any, Content], None] = _nothing
    also_recorded: Callable[[Any], dict[str, Any]] = lambda _: {}  # of the results, in the JSON
    failure_as_json: Callable[[Any], dict[str, Any]] | None = None  # without: {"what": its name}

    def report(
        self, content: Content, records: Records, with_pictures: bool, tick: Tick
    ) -> Reported:
        refuse_other_code(content, self.version(), records.folder)
        results = self.results(content, records, tick)
        tick("what was measured is read")
        findings = self.findings(results, tick)
        output.settle_pictures(findings.values(), with_pictures, tick)
        tick("the page")
        rows = list(self.rows(results))
        broken = self.broken(rows)
        aside = [] if self.left_aside is None else self.left_aside(content)
        return Reported(
            self._page(results, findings, content, broken),
            self.columns,
            rows,
            self._recorded(results, findings, content, rows),
            len(results.failures()),
            len(broken),
            sum(one["is_named"] for one in aside),
        )

    def findings(self, results: Recorded, tick: Tick) -> dict[Item, Finding]:
        """Of the items asked for; what failed of what an item needs is told by it."""
        failed: dict[Any, str] = {}
        for key, error in results.failures():
            failed.setdefault(key, error)
        findings = {}
        for item in self.items:
            if item.name in results.settings.items:
                tick(item.number)
                finding = item.find(results)
                needs = list(dict.fromkeys(self.needs(item, results)))
                errors = [failed[key] for key in needs if key in failed]
                finding.add_failures(errors, len(needs), f"see {output.FAILED_HEADING}")
                findings[item] = finding
        return findings

    def _recorded(
        self,
        results: Recorded,
        findings: dict[Item, Finding],
        content: Content,
        rows: list[Row],
    ) -> dict[str, Any]:
        aside = {} if self.left_aside is None else {"left_aside": self.left_aside(content)}
        as_json = self.failure_as_json or (lambda key: {"what": self.name_of(key)})
        return {
            "paper": self.source,
            "command": content["command"],
            "date": content["date"],
            "version": content["version"],
            "machines": results.machines,
            "settings": results.settings.as_json(),
            **aside,
            "items": output.as_json(findings),
            "points": rows,
            **self.also_recorded(results),
            "failures": [{**as_json(key), "error": error} for key, error in results.failures()],
        }

    def _page(
        self,
        results: Recorded,
        findings: dict[Item, Finding],
        content: Content,
        broken: Sequence[Row],
    ) -> Page:
        failures = results.failures()
        head = output.head(content, results.machines, len(results.records), len(failures))
        page = Page(self.title)
        page.text(f"{self.source}. Words are explained at the end.")
        page.code(content["command"])
        page.points([*head, *self.head(results)])
        self.before_items(page, broken)
        output.add_items(page, findings)
        self.after_items(page, results, content)
        output.add_failures(page, [(self.name_of(key), error) for key, error in failures])
        output.add_words(page, self.words)
        return page
