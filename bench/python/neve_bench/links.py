# SPDX-License-Identifier: BSD-3-Clause
"""`neve bench links`: gathers and writes of frames through imitated links, beside a model of many
nodes and the CEAZ paper's figure 17; and what `neve mpi run` costs where there is nothing to gain.
"""

from __future__ import annotations

import argparse
import os
import statistics
from pathlib import Path
from typing import Any

from neve._command import command_path
from neve._errors import FAILURE, Error

from . import arguments, figures, links_picture, report, timing
from .programs import json_of, mpirun

BOUND = "rel=1e-3"
SLOWNESS = (24, 12, 4, 2, 1)
RANKS = 2
OWN_KIBIBYTES = (64, 256, 1024, 4096)
OPERATIONS = {"gather": "MPI_Gather", "write": "MPI_File_write_at_all, sync"}
# What is asked of a link that is so many times slower than the ranks encode.
WANTED = {12: 8.0, 2: 1.5}
WANTED_COST = 1.05


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Gathers and writes of frames against those of values, through links that are imitated: "
        "so many times slower than the ranks encode each field in that very run (--imitate of "
        "neve bench mpi). Every value is compared. Then MPI_Gather of a program under "
        "neve mpi run, where there is nothing to gain."
    )
    parser.epilog = "example: neve bench links -o links.md --plot ."
    parser.add_argument(
        "--field",
        action="append",
        metavar="FILE.npy",
        help="a field; repeatable (all of arrays/ in the data folder)",
    )
    parser.add_argument(
        "--imitate",
        nargs="+",
        type=float,
        default=list(SLOWNESS),
        metavar="N",
        help=f"how many times slower than encoding ({' '.join(map(str, SLOWNESS))})",
    )
    parser.add_argument(
        "--megabytes",
        type=float,
        default=128,
        metavar="MIB",
        help="values of a rank, at most (128)",
    )
    parser.add_argument("--ranks", type=int, default=RANKS, metavar="N", help=f"ranks ({RANKS})")
    parser.add_argument(
        "--calls", type=int, default=2000, metavar="N", help="calls that show the cost (2000)"
    )
    arguments.add_measurement(parser, 3, time_limit=1800, scratch=True)
    arguments.add_report(parser, pictures=True)


def _fields(options: argparse.Namespace) -> list[Path]:
    if options.field:
        return [Path(name) for name in options.field]
    found = sorted((Path(options.data) / "arrays").glob("*.npy"))
    if not found:
        raise Error(f"arrays/*.npy: not in the data folder {options.data} (--data)", FAILURE)
    return found


def _measure_field(path: Path, options: argparse.Namespace) -> dict[str, Any]:
    words = [*mpirun(options.ranks), command_path(), "bench", "mpi", "--input", str(path)]
    words += ["--bound", BOUND, "--megabytes", f"{options.megabytes:g}", "--json"]
    words += ["--imitate", ",".join(f"{one:g}" for one in options.imitate)]
    words += ["--repeats", str(options.repeats), "--cores", "1,16,128"]
    if options.scratch:
        words += ["--folder", options.scratch]
    return json_of(words, options.time_limit)


def _own_gathers(options: argparse.Namespace, shim: bool) -> list[dict[str, Any]]:
    words = [*mpirun(options.ranks), command_path(), "bench", "mpi", "--json"]
    words += ["--own", ",".join(map(str, OWN_KIBIBYTES)), "--calls", str(options.calls)]
    before = [command_path(), "mpi", "run", "--bound", BOUND, "--"] if shim else []
    return json_of([*before, *words], options.time_limit)["own_gathers"]


def _measure_cost(options: argparse.Namespace) -> list[dict[str, Any]]:
    runs = timing.in_turns((False, True), options.repeats, lambda shim: _own_gathers(options, shim))
    rows = []
    for number, first in enumerate(runs[False][0]):
        alone, under = (
            statistics.median(run[number]["median_seconds"] for run in runs[shim])
            for shim in (False, True)
        )
        rows.append(
            {
                "rank_bytes": first["rank_bytes"],
                "mpi_seconds": alone,
                "shim_seconds": under,
                "cost": under / alone,
            }
        )
    return rows


def _link_rows(recorded: dict[str, Any], operation: str) -> list[list[str]]:
    rows = []
    for field in recorded["fields"]:
        live = field["live"][operation]
        points = [point[operation] for point in field["links"]]
        rows.append(
            [
                field["field"],
                report.number(field["one_core"]["ratio"]),
                report.number(statistics.median(point["encode_GBps"] for point in points)),
                *(report.number(point["factor"]) for point in points),
                report.number(live["plain_seconds"] / live["seconds"]),
            ]
        )
    return rows


def _verdicts(recorded: dict[str, Any]) -> str:
    """What is asked, and the least that was measured."""
    lines = []
    for slowness, wanted in WANTED.items():
        least = [
            (
                point[operation]["factor"],
                f"{OPERATIONS[operation].split(',')[0]} of {field['field']}",
            )
            for field in recorded["fields"]
            for point in field["links"]
            if point["encode_over_link"] == slowness
            for operation in OPERATIONS
        ]
        if not least:
            continue
        factor, where = min(least)
        lines.append(
            f"- a link {slowness} times slower than encoding: {report.number(factor)} times as "
            f"fast or more (least: {where}); asked: {wanted:g}"
        )
    cost = max(row["cost"] for row in recorded["cost"])
    lines.append(
        f"- nothing to gain: a gather under `neve mpi run` takes {report.number(cost)} of MPI's "
        f"time at most; asked: {WANTED_COST:g}"
    )
    return "\n".join(lines)


def _model_rows(recorded: dict[str, Any]) -> list[list[str]]:
    rows = []
    for operation in links_picture.MODELLED:
        for nodes in sorted({row["nodes"] for row in recorded["fields"][0]["modelled"]}):
            cells = [operation, str(nodes)]
            for cores in links_picture.CORES:
                factors = links_picture.modelled(recorded, operation, nodes, cores)
                cells.append(f"{report.number(min(factors))} to {report.number(max(factors))}")
            rows.append(cells)
    return rows


def _text(recorded: dict[str, Any]) -> str:
    slowness = [f"1/{point['encode_over_link']:g}" for point in recorded["fields"][0]["links"]]
    columns = ["field", "ratio", "encode GB/s", *slowness, "no link"]
    ranks = recorded["ranks"]
    parts = [
        *report.heading(recorded),
        f"How many times as fast frames were as values, bound {BOUND}, on {ranks} ranks of one "
        "machine. A column is a link (into root of the gather; into the file, shared by all ranks) "
        "of that share of the speed at which the ranks encoded the field just before. Every value "
        f"was compared. Load average at the beginning: {recorded['load_average']:g}.",
        _verdicts(recorded),
    ]
    for operation, name in OPERATIONS.items():
        parts.append(name + "\n\n" + report.table(columns, _link_rows(recorded, operation)))
    cost = [
        [
            str(row["rank_bytes"]),
            report.number(1e6 * row["mpi_seconds"]),
            report.number(1e6 * row["shim_seconds"]),
            report.number(row["cost"]),
        ]
        for row in recorded["cost"]
    ]
    parts.append(
        f"A program's own MPI_Gather on {ranks} ranks in shared memory, alone and under `neve mpi "
        f"run --bound {BOUND}`, which leaves it to MPI; medians of {recorded['calls']} calls\n\n"
        + report.table(["bytes a rank", "MPI us", "under the shim us", "times MPI's"], cost)
    )
    model = recorded["fields"][0]["model"]
    parts.append(
        "Modelled, not measured: times as fast, from the least to the most of the fields; one rank "
        f"with {model['node_GB']:g} GB a node, {model['link_GBps']:g} GB/s in and out of each, a "
        f"file system of {model['storage_GBps']:g} GB/s, cores that encode or decode as fast as "
        "here. CEAZ's figure 17 has 13.4 and 24.8 for gathers and 13.6 and 25.8 for writes on 128 "
        "nodes, by one FPGA a node; 16 cores a node with SZ 10.9 and 11.8\n\n"
        + report.table(
            ["", "nodes", *(f"cores a node: {cores}" for cores in links_picture.CORES)],
            _model_rows(recorded),
        )
    )
    return "\n\n".join(parts)


def run(options: argparse.Namespace) -> int:
    timing.check_repeats(options.repeats)
    timing.check_positive("--ranks", options.ranks - 1)
    timing.check_positive("--calls", options.calls)
    if options.plot:
        figures.check_at_hand()
    paths = _fields(options)
    load = os.getloadavg()[0]
    fields = []
    for number, path in enumerate(paths):
        report.progress(f"{number + 1} of {len(paths)}: {path.name}")
        fields.append(_measure_field(path, options))
    report.progress("the cost where there is nothing to gain")
    cost = _measure_cost(options)
    report.progress("")
    recorded = {
        "command": f"neve bench links --ranks {options.ranks} --megabytes {options.megabytes:g} "
        f"--imitate {' '.join(f'{one:g}' for one in options.imitate)} --repeats {options.repeats}",
        "machine": report.machine(),
        "timing": f"medians of {options.repeats}",
        "load_average": round(load, 1),
        "ranks": options.ranks,
        "calls": options.calls,
        "fields": fields,
        "cost": cost,
    }
    report.deliver(options, recorded, _text(recorded))
    if options.plot:
        links_picture.draw(recorded, Path(options.plot))
    return 0
