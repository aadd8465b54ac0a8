# SPDX-License-Identifier: BSD-3-Clause
"""What was measured, as the items ask for it."""

from __future__ import annotations

import statistics
from collections.abc import Callable, Iterable, Mapping, Sequence

from .. import report
from ..machines import Machine
from ..paper.numbers import number, span
from ..paper.output import FAILED_HEADING
from ..paper.results import Record, Recorded
from ..paper.unit import brief
from ..rd.curves import ratio_at_equal_psnr
from .files import File, Settings, runs_of
from .requests import Panels, Plane, Point, Request, Writes

MOST_NAMED = 3  # of the files on which a claim does not hold
Curve = list[tuple[float, float]]  # (PSNR, ratio), PSNR rising


class Results(Recorded):
    def __init__(
        self,
        settings: Settings,
        files: Sequence[File],
        records: Mapping[tuple[File, Request], Record],
        machines: Sequence[Machine | None] = (),  # that the records are of
    ):
        super().__init__(settings, records, machines)
        self.files = list(files)
        # By file, field and way, of the cells that were asked for: the points of curves.
        self._rows: dict[tuple[File, str, str], list[Record]] = {}
        for file, request in records:
            if isinstance(request, Point) and request.cells == settings.cells:
                row = self.result(file, request)
                if row is not None:
                    self._rows.setdefault((file, request.field, request.way), []).append(row)

    @property
    def runs(self) -> dict[str, list[File]]:
        return runs_of(self.files)

    def result(self, file: File, request: Request) -> Record | None:
        """None where it failed, was not possible, or was not measured."""
        record = self.records.get((file, request))
        result = record["result"] if record is not None else None
        return None if result is None or "not_possible" in result else result

    def said(self, file: File, request: Request) -> str:
        """Why there is no result, on the page."""
        record = self.records.get((file, request))
        if record is not None and record["error"] is not None:
            return f"failed: {brief(record['error'])}; see {FAILED_HEADING}"
        return self.reason(file, request) or ""

    def reason(self, file: File, request: Request) -> str | None:
        """Why there is no result."""
        record = self.records.get((file, request))
        if record is None:
            is_picture = isinstance(request, Panels | Plane)
            return (is_picture and file.why_not_cut(self.settings)) or "not measured"
        return record["error"] or (record["result"] or {}).get("not_possible")

    def row(
        self, file: File, field: str, way: str, rel: float, cells: str | None = None
    ) -> Record | None:
        return self.result(file, Point(field, way, rel, cells or self.settings.cells))

    def curve(self, file: File, field: str, way: str, level: int | None = None) -> Curve:
        """Over all bounds measured; of one level, or of all together."""
        points = set()
        for row in self._rows.get((file, field, way), ()):
            part = row if level is None else row["levels"][level]
            if part["psnr_db"] is not None and part.get("ratio") is not None:
                points.add((part["psnr_db"], part["ratio"]))
        return sorted(points)

    def gain(
        self, file: File, field: str, mine: str, other: str, level: int | None = None
    ) -> float | None:
        """Ratio of `mine` over that of `other` at equal PSNR."""
        return ratio_at_equal_psnr(
            self.curve(file, field, mine, level), self.curve(file, field, other, level)
        )

    def mean(
        self,
        files: Iterable[File],
        way: str,
        rel: float,
        of: str,
        cells: str | None = None,
    ) -> float | None:
        """The mean of a row's number over the fields and steps, as the paper's tables."""
        values = [
            row[of]
            for file in files
            for field in file.fields(self.settings)
            if (row := self.row(file, field, way, rel, cells)) is not None and row[of] is not None
        ]
        return statistics.fmean(values) if values else None

    def writes(self, file: File) -> list[tuple[int, Record]]:
        """(ranks, what neve-bench layouts says) of a file."""
        found = [
            (request.ranks, result)
            for (of, request), _ in self.records.items()
            if of == file
            and isinstance(request, Writes)
            and (result := self.result(file, request)) is not None
        ]
        return sorted(found, key=lambda pair: pair[0])

    def failures(self) -> list[tuple[tuple[File, Request], str]]:
        """Also those of single ways of a write."""
        found = []
        for pair, record in self.records.items():
            if record["error"] is not None:
                found.append((pair, record["error"]))
            elif isinstance(pair[1], Writes):
                found += [
                    (pair, f"{row['way']}: {row['error']}")
                    for row in record["result"]["rows"]
                    if row.get("error")
                ]
        return found


def geomean(values: Iterable[float | None]) -> float | None:
    there = [value for value in values if value is not None]
    return report.geomean(there) if there else None


def times(value: float | None) -> str:
    """A factor, with three digits behind the point, where 1 divides ahead from behind."""
    return "-" if value is None else f"{value:.3f}"


def span_and_mean(values: Iterable[float], unit: str = "", digits: int = 3) -> str:
    """The same, and the mean where there is a range."""
    there = list(values)
    said = span(there, unit, digits)
    if " to " not in said:
        return said
    return f"{said}, mean {number(statistics.fmean(there), digits)}{unit}"


def worst(names: Sequence[str]) -> str:
    """The first few, worst first, and how many more there are."""
    more = [f"and {len(names) - MOST_NAMED} more"] if len(names) > MOST_NAMED else []
    return ", ".join([*names[:MOST_NAMED], *more])


def listed(values: Iterable[float | None], say: Callable[[float | None], str] = number) -> str:
    return ", ".join(map(say, values))
