# SPDX-License-Identifier: BSD-3-Clause
"""What the slides say, in their order, a module each, and what goes past them."""

from __future__ import annotations

from ...paper.item import Item
from . import (
    conclusions,
    described,
    past_the_slides,
    slide_2,
    slide_3,
    slide_4,
    slide_5,
    slide_6,
    slide_7,
    slide_8,
    slide_9,
    slide_11,
    slide_14,
    slide_15,
    slide_16,
)

ITEMS: tuple[Item, ...] = (
    slide_2.ITEM,
    slide_3.ITEM,
    slide_4.ITEM,
    slide_5.ITEM,
    slide_6.ITEM,
    slide_7.ITEM,
    slide_8.ITEM,
    slide_9.ITEM,
    described.workflow,
    slide_11.ITEM,
    described.plugin,
    described.setup,
    slide_14.ITEM,
    slide_15.ITEM,
    slide_16.ITEM,
    conclusions.ITEM,
    past_the_slides.ITEM,
)
