# SPDX-License-Identifier: BSD-3-Clause
"""The paper's figures, tables and claims in its order, each in a module, and what goes
past them.
"""

from __future__ import annotations

from ...paper.item import Item
from . import (
    amplification,
    box_limit,
    burst_buffers,
    conclusions,
    diagrams,
    figure_5,
    figure_12,
    figure_13,
    independent_aggregation,
    load_balance,
    past_the_paper,
    plan_and_trace,
    read_back,
    scaling,
    scaling_here,
    stated_ranges,
    striping,
    table_1,
    tables_of_sizes,
    write_sizes,
)

ITEMS: tuple[Item, ...] = (
    stated_ranges.ITEM,
    *diagrams.ITEMS,
    load_balance.ITEM,
    figure_5.ITEM,
    scaling.figure_6,
    scaling.figure_7,
    scaling_here.ITEM,
    striping.figure_8,
    striping.figure_9,
    table_1.ITEM,
    write_sizes.figure_10,
    write_sizes.figure_11,
    figure_12.ITEM,
    figure_13.ITEM,
    tables_of_sizes.table_2,
    tables_of_sizes.table_3,
    conclusions.ITEM,
    box_limit.ITEM,
    independent_aggregation.ITEM,
    burst_buffers.ITEM,
    read_back.ITEM,
    amplification.ITEM,
    plan_and_trace.ITEM,
    past_the_paper.ITEM,
)
