# SPDX-License-Identifier: BSD-3-Clause
"""Paragraph 7: zfp's throughputs are faster than the file system's bandwidth. Measured here
against the disk, and by arithmetic for the paper's cores and 200 GB/s.
"""

from __future__ import annotations

from collections.abc import Iterator
from functools import partial

from ...paper import output
from ...paper.item import FAILS, MEASURED, MODELLED, UNTOLD, Finding, Item
from ...paper.numbers import number
from .. import drawing, measured, model, outputs, told
from ..model import Way
from ..requests import Counted, Disk, Stored, Timed
from ..results import BALANCED, Place, Results, stored_by
from ..settings import Settings
from . import tile_sizes, zfp_9x

PAPERS, OURS = "zfp, compressed and balanced", "Neve within the same bound, balanced"
PLAIN, PLAIN_BALANCED = "uncompressed, unbalanced", "uncompressed, balanced"
HEADER = ("way", "GB/s at 512 cores", "GB/s at 21912 cores", "above 200 GB/s from, cores")


def needs(settings: Settings) -> Iterator[Timed | Disk | Counted | Stored]:
    yield from measured.every_timed(settings)
    yield from measured.every_disk(settings)
    yield measured.tiles(settings)
    yield zfp_9x.deck(settings)


def ways(results: Results) -> dict[str, Way]:
    """For the paper's machine; empty where something of them was not measured."""
    most = results.settings.most_tiles
    count = measured.tile_counts(results).get((BALANCED, most))
    rows = stored_by(results.result(zfp_9x.deck(results.settings)), BALANCED)
    if count is None or not rows:
        return {}
    raw = tile_sizes.raw_spread(results, BALANCED).get(most, 1.0)
    found = {PLAIN: Way(), PLAIN_BALANCED: Way(busiest_raw=raw, busiest_stored=raw)}
    for name, key in ((outputs.ZFP, PAPERS), (outputs.HDF5_NEVE, OURS)):
        speed, spread = measured.compressing(results, name), measured.spread(count, name)
        if speed is None or spread is None or name not in rows:
            return {}
        found[key] = Way(rows[name]["ratio"], speed, raw, spread)
    return found


def past_the_disk(results: Results) -> list[told.Comparison]:
    """zfp's and Neve's raw throughput over what the disk takes, by repeat, on judged ranks."""
    disk = {
        (request.ranks, request.repeat): result["write_MBps"]
        for request in measured.every_disk(results.settings)
        if (result := results.result(request)) is not None
    }
    found = []
    for place, row in measured.rows(results).items():
        if place.output not in (outputs.ZFP, outputs.ADIOS_ZFP, outputs.HDF5_NEVE, outputs.NEVE):
            continue
        if place.ranks not in (1, *results.settings.judged_ranks):
            continue
        raw = row[0]["raw_bytes"] / measured.MEGABYTE
        seconds = measured.seconds(results)[place]
        theirs = {r: raw / disk[place.ranks, r] for r in seconds if (place.ranks, r) in disk}
        what = f"{place.output}, {place.layout}, {place.ranks} rank{'s' * (place.ranks > 1)}"
        found.append(told.compare(what, theirs, seconds))
    return [one for one in found if one is not None]


def find(results: Results) -> Finding:
    paper = "zfp is so scalable that throughputs pass the file system's about 200 GB/s"
    found, here = ways(results), past_the_disk(results)
    papers = [one for one in here if outputs.is_papers(one.what)]
    ours = [one for one in here if not outputs.is_papers(one.what)]
    if not found:
        return Finding(MEASURED, paper, told.decided(papers), told.decided(ours), "not measured")
    from_cores = {
        name: model.cores_to_pass(way, model.FILE_SYSTEM_GBPS) for name, way in found.items()
    }
    at_most = found[PAPERS].gbps(model.CORES[1])
    speed = found[PAPERS].core_mbps
    return Finding(
        MODELLED if at_most > model.FILE_SYSTEM_GBPS else FAILS if speed else UNTOLD,
        paper,
        f"by the model {number(found[PAPERS].gbps(model.CORES[0]))} GB/s at {model.CORES[0]} "
        f"cores, {number(at_most)} at {model.CORES[1]}; measured against the disk here: "
        + told.decided(papers),
        f"by the model {number(found[OURS].gbps(model.CORES[1]))} GB/s at {model.CORES[1]}; "
        f"measured: {told.decided(ours)}",
        told.joined(
            "The model: a core compresses at the speed measured on one rank here (zfp "
            f"{number(speed)} MB/s), at the ratio of zfp-9x, and its share of 200 GB/s is one "
            f"over the cores; tiles are as uneven as {results.settings.most_tiles} balanced ones "
            "here",
            "Trust factors",
            measured.unjudged(results),
        ),
        _blocks(found, from_cores, here),
        {
            "from_cores": from_cores,
            "GBps": {
                name: {str(cores): way.gbps(cores) for cores in model.CORES}
                for name, way in found.items()
            },
            "here": told.as_json(here),
        },
    )


def _blocks(ways: dict[str, Way], from_cores: dict[str, float | None], here) -> list:
    curves = {
        name: {cores: way.gbps(cores) for cores in model.range_of_cores()}
        for name, way in ways.items()
    }
    draw = partial(
        drawing.curves,
        "The paper's machine, by arithmetic",
        "cores",
        "raw GB/s",
        curves,
        (model.FILE_SYSTEM_GBPS, drawing.FILE_SYSTEM),
    )
    rows = [
        (
            name,
            *(number(way.gbps(cores)) for cores in model.CORES),
            "never" if from_cores[name] is None else f"{from_cores[name]:,.0f}",
        )
        for name, way in ways.items()
    ]
    blocks = [output.picture("pictures/file-system", draw), output.table(HEADER, rows)]
    return [*blocks, told.table(here)] if here else blocks


def speeds(results: Results) -> dict[str, float | None]:
    """Raw MB/s of compression on one rank."""
    return {
        name: measured.compressing(results, name)
        for name in results.settings.built(*outputs.PLAIN_OF)
        if Place(1, measured.EQUAL, name) in measured.rows(results)
    }


ITEM = Item("file-system", "Paragraph 7, bandwidth", "Faster than the file system", needs, find)
