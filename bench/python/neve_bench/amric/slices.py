# SPDX-License-Identifier: BSD-3-Clause
"""Items that compare the errors of two ways, and Neve's beside them, on slices."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

from ..paper.item import Finding, Item
from ..paper.numbers import counted, number
from . import tell, ways
from .files import File, Settings
from .requests import Panels, Point
from .results import Results, times, worst


@dataclass(frozen=True)
class SliceItem:
    """The first way is said to have smaller errors than the second at the same ratio."""

    name: str
    number: str
    title: str
    ways: tuple[str, str, str]  # the paper's two, and Neve's
    paper: str
    claim: str

    @property
    def item(self) -> Item:
        return Item(self.name, self.number, self.title, self.needs, self.find)

    def needs(self, file: File, settings: Settings) -> Iterator[Panels | Point]:
        yield from tell.curves(file, settings, self.ways)
        if file.is_last and file.dims > 1 and file.holds(ways.unit_of(self.ways[0])):
            for field in file.curve_fields(settings)[:1]:
                yield self.panels(field, settings)

    def panels(self, field: str, settings: Settings) -> Panels:
        return Panels(
            field,
            self.ways,
            settings.middle,
            settings.cells,
            "errors",
            True,
            settings.axis,
            settings.at,
        )

    def find(self, results: Results) -> Finding:
        asked = [
            (file, one)
            for file in results.files
            for one in self.needs(file, results.settings)
            if isinstance(one, Panels)
        ]
        # A slice's ratios are equal within a hundredth, which is a quarter of a dB: curves judge.
        found = tell.gains(results, self.ways[0], self.ways[1], tell.each_level)
        not_whole = tell.not_whole(results, self.ways[0], tell.each_level)
        neve = tell.gains(results, self.ways[2], self.ways[0])
        compared, apart = tell.panels_of(results, asked)
        differences = [
            each[0]["psnr_db"] - each[1]["psnr_db"]
            for _, each in compared
            if each[0]["psnr_db"] is not None and each[1]["psnr_db"] is not None
        ]
        return Finding(
            tell.verdict(found),
            self.paper,
            f"{self.claim}: {times(tell.mean_of(found))} times the ratio at equal PSNR; "
            f"{counted(len(differences), 'slice')} at ratios equal within 1 %: "
            f"{number(_mean(differences))} dB between them",
            f"{ways.label(self.ways[2])} / the first: {times(tell.mean_of(neve))}",
            "; ".join(
                filter(None, (tell.where_not(found), worst(not_whole), tell.left_out(apart)))
            ),
            [
                *tell.panels_blocks(results, self.name, asked),
                tell.gains_table(f"{ways.label(self.ways[0])} / {ways.label(self.ways[1])}", found),
            ],
            {"ratio_at_equal_psnr": tell.mean_of(found), "psnr_of_slices_db": differences},
        )


def _mean(values: list[float]) -> float | None:
    return sum(values) / len(values) if values else None
