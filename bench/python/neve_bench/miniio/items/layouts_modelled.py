# SPDX-License-Identifier: BSD-3-Clause
"""Paragraph 7's claims of layouts on the paper's cores, by arithmetic: of ratios, tiles and one
core's speed that were measured here.
"""

from __future__ import annotations

from ...paper import output
from ...paper.item import FAILS, HELD, IN_PART, MEASURED, MODELLED, NOT_HELD, UNTOLD, Finding, Item
from ...paper.numbers import number
from .. import measured, model, told
from ..results import Results
from . import file_system

HEADER = ("claim", "numbers", "")


def _share_of_cores(faster: model.Way, slower: model.Way) -> float:
    """Of the paper's range of cores, evenly on a log axis: where the first way is faster."""
    cores = [one for one in model.range_of_cores() if one >= model.CORES[0]]
    return sum(faster.gbps(one) > slower.gbps(one) for one in cores) / len(cores)


def claims(ways: dict[str, model.Way]) -> list[tuple[str, str, bool]]:
    """(claim, numbers, whether it is so)."""
    plain, balanced = ways[file_system.PLAIN], ways[file_system.PLAIN_BALANCED]
    packed = ways[file_system.PAPERS]
    most = model.CORES[1]
    costs = plain.gbps(most) / balanced.gbps(most)
    # The same compression without the imbalance.
    even = model.Way(packed.ratio, packed.core_mbps)
    costs_packed = even.gbps(most) / packed.gbps(most)
    share = _share_of_cores(packed, plain)
    return [
        (
            "unbalanced loads are written faster",
            f"without compression {number(costs)} times as fast, with zfp {number(costs_packed)}",
            costs > 1 and costs_packed > 1,
        ),
        (
            "compression partially fixes what balancing costs",
            f"balancing costs {number(costs)} without, {number(costs_packed)} with zfp, at "
            f"{most} cores",
            costs_packed < costs,
        ),
        (
            "in most cases compressed and balanced outperforms uncompressed and unbalanced",
            f"with zfp on {share:.0%} of the paper's cores, evenly on a log axis",
            share > told.MOST,
        ),
    ]


def find(results: Results) -> Finding:
    paper = "unbalanced is faster; compression partially fixes it, and in most cases outperforms"
    ways = file_system.ways(results)
    if not ways:
        return Finding(MEASURED, paper, "-", "-", "not measured")
    rows = claims(ways)
    so = [is_so for _, _, is_so in rows]
    share = _share_of_cores(ways[file_system.OURS], ways[file_system.PLAIN])
    busy = measured.busy(results)
    missed = UNTOLD if busy else NOT_HELD  # a core of a busy machine is too slow
    some = IN_PART if any(so) else UNTOLD if busy else FAILS
    return Finding(
        MODELLED if all(so) else some,
        paper,
        "; ".join(f"{what}: {numbers}" for what, numbers, _ in rows),
        f"Neve, balanced, outperforms uncompressed and unbalanced on {share:.0%} of the cores",
        told.joined(
            f"by the model {sum(so)} of {len(so)} are {HELD}",
            "; ".join(f"{missed}: {what} ({n})" for what, n, is_so in rows if not is_so),
            "see file-system for the model. A slower core, as on a busy machine, needs more of "
            "them",
            busy,
        ),
        [output.table(HEADER, [(what, n, HELD if is_so else missed) for what, n, is_so in rows])],
        {what: {"numbers": numbers, "is_so": is_so} for what, numbers, is_so in rows},
    )


ITEM = Item(
    "layouts-modelled",
    "Paragraph 7, by the model",
    "Layouts on the paper's cores",
    file_system.needs,
    find,
)
