# SPDX-License-Identifier: BSD-3-Clause
"""What was measured, as the items ask for it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from ..machines import Machine
from ..paper import load
from ..paper.results import Measured, Record
from .inputs import Inputs, Series, Variable
from .methods import TYPICAL
from .requests import Chunks, Followed, Request, Speeds, StepTables, Table, Threads, Weighed
from .settings import Settings


@dataclass(frozen=True)
class Subject:
    """What a study is of."""

    settings: Settings
    inputs: Inputs

    def table_of(self, one: Variable) -> Table:
        settings = self.settings
        return Table(one.identity, one.label, settings.most_bytes, settings.repeats)

    def weighed_of(self, one: Variable, candidates: str) -> Weighed:
        return Weighed(one.identity, one.label, self.settings.most_bytes, candidates)

    def steps_of(self, one: Series) -> StepTables:
        settings = self.settings
        return StepTables(one.identity, one.name, one.steps, settings.most_bytes, settings.repeats)

    def followed_of(self, one: Series, candidates: str, speeds: str = TYPICAL) -> Followed:
        most_bytes = self.settings.most_bytes
        return Followed(one.identity, one.name, one.steps, most_bytes, candidates, speeds)

    @property
    def largest(self) -> Variable:
        """For what is measured on one variable alone."""
        return max(self.inputs.variables, key=_bytes)

    def chunks(self) -> Chunks:
        one, settings = self.largest, self.settings
        return Chunks(one.identity, one.label, settings.most_bytes, settings.repeats)

    def threads(self) -> Threads:
        one, settings = self.largest, self.settings
        return Threads(
            one.identity, one.label, settings.most_bytes, settings.repeats, settings.ranks
        )


def _bytes(one: Variable) -> int:
    size = int(one.dtype.removeprefix("float")) // 8
    for extent in one.shape:
        size *= extent
    return size


class Results(Measured):
    def __init__(
        self,
        subject: Subject,
        records: Mapping[Request, Record],
        machines: Sequence[Machine | None] = (),
    ):
        super().__init__(subject.settings, records, machines)
        self.subject = subject
        self.inputs = subject.inputs

    def busy(self, requests: Iterable[Request]) -> str:
        """Why the times of these are not judged; "" where they are."""
        there = [self.records[one] for one in requests if self.result(one) is not None]
        cores = min((record["machine"]["cores"] for record in there), default=1)
        return load.busy([record["load"] for record in there], cores)

    @property
    def variables(self) -> str:
        """What those of the inputs are called: a step in a file of its own is one of them."""
        inputs = self.inputs
        return "variables" if inputs.names == len(inputs.variables) else "variables and steps"

    def tables(self) -> dict[Variable, Record]:
        """Of the variables that are measured, without those of one value alone, of which there is
        nothing to choose.
        """
        found = {}
        for one in self.inputs.variables:
            table = self.result(self.subject.table_of(one))
            if table is not None and not table["is_constant"]:
                found[one] = table
        return found

    def constants(self) -> list[Variable]:
        tables = ((v, self.result(self.subject.table_of(v))) for v in self.inputs.variables)
        return [one for one, table in tables if table is not None and table["is_constant"]]

    def weighed(self, candidates: str) -> dict[Variable, list[Record]]:
        """What Neve chose, at each of WEIGHTS."""
        found = {}
        for one in self.tables():
            result = self.result(self.subject.weighed_of(one, candidates))
            if result is not None:
                found[one] = result["choices"]
        return found

    def step_tables(self, series: Series) -> list[Record] | None:
        """Without a series in which some step has one value alone."""
        result = self.result(self.subject.steps_of(series))
        if result is None or any(step["is_constant"] for step in result["steps"]):
            return None
        return result["steps"]

    def logs(self, series: Series, candidates: str, speeds: str) -> Record | None:
        return self.result(self.subject.followed_of(series, candidates, speeds))

    def typical(self) -> Record | None:
        """Typical speeds of the methods, in 100 MB/s."""
        return self.result(Speeds())
