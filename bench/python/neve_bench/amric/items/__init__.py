# SPDX-License-Identifier: BSD-3-Clause
"""The paper's tables, figures and conclusions in its order, each in a module, and what goes past
them.
"""

from __future__ import annotations

from ...paper.item import Item
from . import (
    conclusions,
    diagrams,
    equation_1,
    figure_1,
    figure_5,
    figure_6,
    figure_7,
    figure_9,
    figure_10,
    figure_15,
    figure_16,
    past_the_paper,
    pictures,
    section_3_3,
    table_1,
    table_2,
    table_3,
    write_times,
)

ITEMS: tuple[Item, ...] = (
    figure_1.ITEM,
    *diagrams.before_equation_1,
    figure_5.ITEM,
    figure_6.ITEM,
    figure_7.ITEM,
    diagrams.figure_8,
    equation_1.ITEM,
    figure_9.ITEM,
    figure_10.ITEM,
    *diagrams.of_section_3_3,
    section_3_3.ITEM,
    table_1.ITEM,
    pictures.figure_13,
    pictures.figure_14,
    table_2.ITEM,
    table_3.ITEM,
    figure_15.ITEM,
    figure_16.ITEM,
    write_times.figure_17,
    write_times.figure_18,
    conclusions.ITEM,
    past_the_paper.ITEM,
)
