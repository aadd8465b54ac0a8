# SPDX-License-Identifier: BSD-3-Clause
"""Every modelled, timed and traced strategy as a line of the CSV file."""

from __future__ import annotations

from collections.abc import Iterator
from typing import Any

from .items.amplification import amplification
from .requests import Modelled, Timed, Traced
from .results import Results

COLUMNS = (
    "how",  # modelled, timed, traced
    "words",  # of the command that made it
    "ranks",
    "mpi_io",
    "strategy",
    "mpi_writes",
    "posix_writes",
    "bytes",
    "posix_bytes",
    "posix_bytes_read",
    "amplification",
    "read_modify_write",
    "peak_buffer_bytes",
    "seconds",
    "least_seconds",
    "write_seconds",
    "sync_seconds",
    "read_seconds",
    "stripe_count",
    "stripe_bytes",
    "max_over_mean_load",
)
Row = dict[str, Any]


def rows(results: Results) -> Iterator[Row]:
    yield from _modelled(results)
    yield from _timed(results)
    yield from _traced(results)


def _modelled(results: Results) -> Iterator[Row]:
    for request, plan in results.of_kind(Modelled):
        for one in plan["strategies"]:
            yield {
                "how": "modelled",
                "words": " ".join(request.words),
                "ranks": plan["ranks"],
                "mpi_io": plan.get("mpi_io", ""),
                "strategy": one["name"],
                "mpi_writes": one["mpi"]["writes"],
                "posix_writes": one["posix"]["writes_with_metadata"],
                "bytes": plan["bytes"],
                "seconds": one["seconds"]["total"],
                "stripe_count": plan["stripe_count"],
                "stripe_bytes": plan["stripe_bytes"],
                "max_over_mean_load": plan["max_over_mean_load"],
            }


def _timed(results: Results) -> Iterator[Row]:
    for request, run in results.of_kind(Timed):
        for one in run["strategies"]:
            yield {
                "how": "timed",
                "words": " ".join(request.words),
                "ranks": request.ranks,
                "mpi_io": request.mpi_io,
                "strategy": one["name"],
                "mpi_writes": one["mpi_writes"],
                "bytes": one["data_bytes"],
                "read_modify_write": one["read_modify_write"],
                "peak_buffer_bytes": one["peak_buffer_bytes"],
                "seconds": one["seconds"]["total"],
                "least_seconds": one["seconds"]["min"],
                "write_seconds": one["seconds"]["write"],
                "sync_seconds": one["seconds"]["sync"],
                "read_seconds": one["read_seconds"],
                "max_over_mean_load": run["max_over_mean"],
            }


def _traced(results: Results) -> Iterator[Row]:
    for request, run in results.of_kind(Traced):
        for name, one in run["strategies"].items():
            yield {
                "how": "traced",
                "words": " ".join(request.words),
                "ranks": request.ranks,
                "mpi_io": request.mpi_io,
                "strategy": name,
                "mpi_writes": one["mpi"]["writes"],
                "posix_writes": one["posix"]["writes"],
                "bytes": one["mpi"]["bytes"],
                "posix_bytes": one["posix"]["bytes"],
                "posix_bytes_read": one["posix"]["bytes_read"],
                "amplification": amplification(one),
            }
