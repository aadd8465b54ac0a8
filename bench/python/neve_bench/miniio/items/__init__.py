# SPDX-License-Identifier: BSD-3-Clause
"""The paper's figure and claims in its order, and what goes past them. It has no numbered sections:
paragraphs are counted.
"""

from __future__ import annotations

from ...paper.item import Item
from . import (
    described,
    figure_1,
    file_system,
    filling,
    imbalance,
    layouts,
    layouts_modelled,
    mini_apps,
    past_the_paper,
    storing,
    tile_sizes,
    time_variant,
    weak,
    zfp_9x,
)

ITEMS: tuple[Item, ...] = (
    mini_apps.ITEM,
    time_variant.ITEM,
    imbalance.load,
    imbalance.io,
    tile_sizes.ITEM,
    filling.fields,
    filling.land,
    storing.filters,
    storing.adios,
    described.machines,
    storing.valid,
    zfp_9x.ITEM,
    figure_1.ITEM,
    figure_1.speed_up,
    file_system.ITEM,
    described.knl,
    weak.ITEM,
    layouts.unbalanced,
    layouts.mending,
    layouts.mending_bytes,
    layouts.compressed,
    layouts_modelled.ITEM,
    described.future,
    past_the_paper.ITEM,
)
