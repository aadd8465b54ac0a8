# SPDX-License-Identifier: BSD-3-Clause
"""What the study of MiniIO makes of numbers: pairs, verdicts, spreads, ratios, the model, made by
hand.
"""

import dataclasses
import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench" / "python"))
from neve_bench.miniio import measured, model, outputs, plan, points, requests, told, work
from neve_bench.miniio.items import (
    ITEMS,
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
from neve_bench.miniio.paper import default_ranks
from neve_bench.miniio.requests import Counted, Disk, Stored, Surface, Timed
from neve_bench.miniio.results import BALANCED, EQUAL, Results
from neve_bench.miniio.settings import Settings

BUILT = (
    *outputs.TIMED,
    outputs.RAW,
    outputs.ADIOS_ZFP_C_ORDER,
    *(t for t in outputs.TRANSPORTS if t != outputs.ADIOS),
)
REPEATS = 7
SETTINGS = Settings(
    tuple(item.name for item in ITEMS),
    (48, 40, 8),
    (48, 40, 8),
    (1, 2, 4),
    (2, 16),
    REPEATS,
    1,
    2,
    BUILT,
    (),
)
RAW_BYTES = 1_000_000
RATIOS = {outputs.ZFP: 4.0, outputs.HDF5_NEVE: 10.0, outputs.SHUFFLE: 1.5}


def row(name, seconds=1.0, **more):
    ratio = RATIOS.get(name, 1.0)
    return {
        "output": name,
        "raw_bytes": RAW_BYTES,
        "file_bytes": int(RAW_BYTES / ratio),
        "ratio": ratio,
        "write_seconds": seconds,
        "write_MBps": 1 / seconds,
        "compress_seconds": seconds / 2,
        "verified": {"values": 10, "wrong": 0, "max_abs_error": 0.0},
        "rank_bytes_max_over_mean": 1.0,
        "rank_bytes_by": "tile",
        "tile_bytes_max_over_mean": 1.0,
        **more,
    }


def run(rows_by_layout, **more):
    """What `neve bench struct --json` prints."""
    return {
        "layouts": [
            {"name": name, "max_over_mean": 1.0, "points_max_over_mean": 1.0, "outputs": rows}
            for name, rows in rows_by_layout.items()
        ],
        **more,
    }


def results_of(records, settings=SETTINGS):
    return Results(settings, {k: {"error": None, "result": v} for k, v in records.items()})


def timed(seconds, *more, settings=SETTINGS, load=1.0):
    """All timed runs; seconds(name, layout, ranks, repeat)."""
    return {
        one: run(
            {
                layout: [
                    row(name, seconds(name, layout, one.ranks, one.repeat)) for name in one.outputs
                ]
                for layout in (EQUAL, BALANCED)
            },
            load=load,
        )
        for one in measured.every_timed(settings, *more)
    }


def counted(spread, raw=1.5):
    """Tiles whose busiest has spread(name, tiles) of the mean where they are balanced."""

    def bytes_of(tiles, factor):
        rest = (tiles - factor) / (tiles - 1)
        return [round(10_000 * one) for one in [factor, *[rest] * (tiles - 1)]]

    def count(layout, tiles):
        of_raw = raw if layout == BALANCED else 1.0
        of_points = 1.0 if layout == BALANCED else 1.3
        return {
            "tiles": tiles,
            "name": layout,
            "max_over_mean": of_points,
            "points_max_over_mean": of_raw,
            "valid_points": bytes_of(tiles, of_points),
            "raw_bytes": bytes_of(tiles, of_raw),
            "outputs": [
                {
                    "output": name,
                    "tile_bytes": bytes_of(tiles, spread(name, tiles)),
                    "tile_bytes_max_over_mean": spread(name, tiles),
                }
                for name in SETTINGS.built(*outputs.COUNTED)
            ],
        }

    both = [count(layout, tiles) for tiles in SETTINGS.tiles for layout in (EQUAL, BALANCED)]
    return {measured.tiles(SETTINGS): {"tile_counts": both}}


# ---- pairs and verdicts ------------------------------------------------------------------------


def comparison(*factors):
    return told.Comparison("x", factors)


@pytest.mark.parametrize(
    "factors, is_so",
    [
        ((1.1,) * 7, True),
        ((0.9,) * 7, False),
        ((1.1,) * 6 + (0.9,), None),  # p = 0.125
        ((1.1,) * 6, True),  # p = 0.031
        ((1.1,) * 5, None),  # too few
        ((1.0,) * 7, None),  # alike
    ],
)
def test_a_sign_test_tells(factors, is_so):
    assert comparison(*factors).is_so is is_so


def test_pairs_are_of_one_repeat():
    made = told.compare("x", {0: 2.0, 1: 6.0, 3: 1.0}, {0: 1.0, 1: 2.0, 2: 9.0})
    assert made.factors == (2.0, 3.0) and made.wins == 2
    assert told.compare("x", {0: 1.0}, {1: 1.0}) is None


YES, NO, OPEN = (1.1,) * 7, (0.9,) * 7, (1.1, 0.9) * 4


@pytest.mark.parametrize(
    "of, share, verdict",
    [
        ((YES, YES, NO), told.MOST, "holds"),
        ((YES, NO, NO), told.MOST, "holds in part"),
        ((NO, NO, NO), told.MOST, "does not hold here"),
        ((YES, OPEN, NO), told.MOST, "cannot be told"),
        ((OPEN, OPEN), told.MOST, "cannot be told"),
        ((YES, YES, NO), told.NEARLY_EVERY, "holds in part"),
        ((YES,) * 9 + (NO,), told.NEARLY_EVERY, "holds"),
        ((YES,) * 4 + (OPEN,), told.NEARLY_EVERY, "cannot be told"),
        ((), told.MOST, "measured"),
    ],
)
def test_a_share_of_comparisons_decides(of, share, verdict):
    assert told.verdict([comparison(*one) for one in of], share) == verdict


def test_what_is_undecided_is_named():
    said = told.decided([comparison(*YES), told.Comparison("slow", NO), comparison(*OPEN)])
    assert said == "1 of 3 held, 1 not held (slow), 1 cannot be told (x)"


def test_too_few_pairs_are_the_reason():
    short = comparison(*(1.1,) * 5)
    assert short.said == "cannot be told: too few pairs"
    assert comparison(*(1.1,) * 6).said == "held"
    assert told.decided([short, comparison(*OPEN)]) == (
        "0 of 2 held, 1 cannot be told (x), 1 cannot be told: too few pairs (x)"
    )
    assert told.too_few(6) == "" and told.too_few(5).startswith("too few pairs: --repeats 5 ")
    settings = dataclasses.replace(SETTINGS, repeats=5)
    results = results_of(timed(lambda *_: 1.0, settings=settings), settings)
    for item in (figure_1.speed_up, layouts.unbalanced, layouts.mending, layouts.compressed):
        finding = item.find(results)
        assert finding.verdict == "cannot be told", item.name
        assert finding.why.startswith("too few pairs: --repeats 5 "), item.name


# ---- bytes -------------------------------------------------------------------------------------


def spread_of_all(value):
    return lambda name, tiles: value


def test_tiles_that_are_alike():
    finding = tile_sizes.ITEM.find(results_of(counted(spread_of_all(1.05))))
    assert finding.verdict == "holds" and "farther" not in finding.why
    assert finding.numbers["raw"][BALANCED] == {2: 1.5, 16: 1.5}


@pytest.mark.parametrize(
    "name, value, is_alike",
    [
        (outputs.SHUFFLE, 1.06, True),
        (outputs.SHUFFLE, 1.061, False),
        (outputs.ZFP, 1.10, True),
        (outputs.ZFP, 1.101, False),
    ],
)
def test_the_tile_that_is_not_alike_is_named(name, value, is_alike):
    spread = lambda one, tiles: value if (one, tiles) == (name, 16) else 1.0  # noqa: E731
    finding = tile_sizes.ITEM.find(results_of(counted(spread)))
    assert finding.verdict == ("holds" if is_alike else "holds in part")
    assert (f"{name} on 16 tiles {value:.3f}" in finding.why) is not is_alike


def test_imbalance_is_of_points_and_of_bytes():
    results = results_of(counted(spread_of_all(1.0)))
    load, io = imbalance.load.find(results), imbalance.io.find(results)
    assert load.verdict == io.verdict == "holds"
    assert load.numbers == {"equal": {2: 1.3, 16: 1.3}, "balanced": {2: 1.0, 16: 1.0}}
    assert io.numbers == {"equal": {2: 1.0, 16: 1.0}, "balanced": {2: 1.5, 16: 1.5}}
    alike = results_of(counted(spread_of_all(1.0), raw=1.0))
    assert imbalance.io.find(alike).verdict == "does not hold here"


def test_shores_are_pairs_of_neighbours():
    land = filling.FILL
    assert filling.shore([[land, 0.0], [land, 0.0]]) == 2
    assert filling.shore([[land, 0.0], [0.0, land]]) == 4
    assert filling.shore([[0.0, 0.0], [0.0, 0.0]]) == 0


def test_more_land_cells_have_longer_shores():
    land = filling.FILL
    surfaces = {"2": [[land, 0, 0]], "4": [[land, 0, land]], "8": [[0, land, 0, land, 0]]}
    records = {
        filling._land(SETTINGS, f): {"values": surfaces[f]} for f in filling.CONTINENTS.values()
    }
    finding = filling.land.find(results_of(records))
    assert finding.verdict == "holds" and finding.numbers["shores"] == {"2": 1, "4": 2, "8": 4}
    records[filling._land(SETTINGS, "8")] = {"values": surfaces["2"]}
    assert filling.land.find(results_of(records)).verdict == "does not hold here"


@pytest.mark.parametrize(
    "noise, missed, verdict",
    [
        (5.0, (), "holds"),
        (0.9, (outputs.ZLIB,), "holds in part"),
        (500.0, filling.SHOWN, "does not hold here"),
    ],
)
def test_values_decide_ratios(noise, missed, verdict):
    ratio = {filling.CONSTANT: 100.0, filling.NOISE: noise, filling.RANDOM: 1.0}
    good = {**ratio, filling.NOISE: 5.0}
    records = {
        filling._stored(SETTINGS, f): run(
            {
                EQUAL: [
                    row(name, ratio=(ratio if name in missed else good)[what])
                    for name in filling.SHOWN
                ]
            }
        )
        for what, f in filling.FREQUENCIES.items()
    }
    finding = filling.fields.find(results_of(records))
    assert finding.verdict == verdict
    if missed:
        assert f"{4 - len(missed)} of 4 are held: {missed[0]} has" in finding.why
        assert "On 48 points 10 noise cells are 0.21 a point" in finding.why


@pytest.mark.parametrize(
    "weak_ratios, verdict",
    [((4.0, 4.1, 4.15), "holds"), ((4.0, 5.0, 6.0), "does not hold here")],
)
def test_weak_scaling_is_flat_or_not(weak_ratios, verdict):
    records = {}
    for ranks, ratio in zip(weak.RANKS, weak_ratios, strict=True):
        rows = {BALANCED: [row(name, ratio=ratio) for name in weak.SHOWN]}
        records[weak._weak(SETTINGS, ranks)] = run(rows)
    assert weak.ITEM.find(results_of(records)).verdict == verdict


@pytest.mark.parametrize(
    "zfp, adios, verdict",
    [(9.2, 8.7, "holds"), (9.2, 1.12, "holds in part"), (6.0, 1.1, "does not hold here")],
)
def test_nine_times(zfp, adios, verdict):
    of = {outputs.ZFP: zfp, outputs.ADIOS_ZFP: adios, outputs.HDF5_NEVE: 30.0}
    rows = [row(name, ratio=ratio) for name, ratio in of.items()]
    finding = zfp_9x.ITEM.find(results_of({zfp_9x.deck(SETTINGS): run({BALANCED: rows})}))
    assert finding.verdict == verdict and "hdf5-neve 30.0" in finding.neve


def test_the_table_of_nine_times_has_both_grids():
    deck = [row(outputs.ZFP, ratio=9.0), row(outputs.NEVE, ratio=90.0)]
    tried = run({BALANCED: [row(outputs.ZFP, ratio=5.0), row(outputs.HDF5_NEVE, ratio=12.0)]})
    records = {zfp_9x.deck(SETTINGS): run({BALANCED: deck})}
    records |= {zfp_9x._tried(SETTINGS, f): tried for f in zfp_9x.TRIED}
    finding = zfp_9x.ITEM.find(results_of(records))
    (table,) = [block for block in finding.blocks if block.kind == "table"]
    rows = [tuple(line[:6]) for line in table.content]
    assert rows[0] == ("0.0046", "256 x 256 x 64", "0.004", "1.02", "2", outputs.ZFP)
    assert rows[2] == ("0.001", "48 x 40 x 8", "0.004", "0.192", "1", outputs.ZFP)
    (picture,) = [block for block in finding.blocks if block.kind == "picture"]
    assert picture.content.keywords["apart"] == {
        "hdf5-zfp, 256 x 256 x 64": (outputs.ZFP, {0.0046: 9.0}),
        "neve, 256 x 256 x 64": (outputs.NEVE, {0.0046: 90.0}),
    }
    assert picture.content().startswith(b"\x89PNG")


LAND = filling.FILL


@pytest.mark.parametrize(
    "later, verdict, said",
    [
        ([[LAND, 1.5, 2.5, 2.0]], "holds", "100% have another value"),
        ([[LAND, 1.0, 2.0, 3.0]], "does not hold here", "0% have another value"),
        ([[1.0, LAND, 2.5, 2.0]], "does not hold here", "100% have another value"),
    ],
)
def test_values_change_and_land_does_not(later, verdict, said):
    records = {}
    for step in time_variant.STEPS:
        values = [[LAND, 1.0, 2.0, 3.0]] if step == 0 else later
        records[time_variant._surface(SETTINGS, step)] = {"values": values}
        rows = [row(name, file_bytes=100 + step) for name in time_variant.SHOWN]
        records[time_variant._stored(SETTINGS, step)] = run({EQUAL: rows})
    finding = time_variant.ITEM.find(results_of(records))
    assert finding.verdict == verdict and said in finding.ours
    assert finding.numbers["bytes"][outputs.ZFP] == [100, 101, 102]
    assert ("land is elsewhere" in finding.why) is (later[0][0] != LAND)


def test_the_deck_is_the_items_field():
    import tomllib

    path = Path(__file__).resolve().parents[2] / "bench/apps/struct/decks/zfp-9x.toml"
    deck = tomllib.loads(path.read_text())
    assert tuple(deck["grid"]) == zfp_9x.GRID and deck["steps"] == zfp_9x.STEPS
    assert deck["space-frequency-per-point"] == zfp_9x.SPACE_PER_POINT
    assert deck["mask-frequency-per-point"] == zfp_9x.MASK_PER_POINT
    assert ("--bound", deck["bound"]) == measured.BOUND


# ---- times -------------------------------------------------------------------------------------


def test_speed_up_is_of_raw_bytes_a_second():
    strong = timed(lambda name, layout, ranks, repeat: 8.0 / ranks)
    # Weak scaling: the same seconds on more ranks are as many times more bytes.
    grown = timed(lambda name, layout, ranks, repeat: 8.0, measured.WEAK)
    results = results_of({**strong, **grown})
    finding = figure_1.speed_up.find(results)
    assert finding.verdict == "holds"
    every = [*figure_1.comparisons(results), *figure_1.comparisons(results, measured.WEAK)]
    assert {one.median for one in every} == {2.0}
    assert not any("4 ranks" in one.what for one in every), "more ranks than cores are not judged"
    slower = timed(lambda name, layout, ranks, repeat: 8.0 * ranks)
    assert figure_1.speed_up.find(results_of(slower)).verdict == "does not hold here"


def test_times_of_a_busy_machine_are_not_judged():
    def seconds(name, layout, ranks, repeat):
        return 8.0 * ranks

    quiet, busy = (results_of(timed(seconds, load=load)) for load in (2.9, 3.1))
    assert measured.busy(quiet) == ""
    assert measured.busy(busy) == (
        "the machine was busy (load 3.1 in the median on 2 cores): times are shown, and not judged"
    )
    assert figure_1.speed_up.find(quiet).verdict == "does not hold here"
    for item in (figure_1.speed_up, layouts.unbalanced, layouts.mending, layouts.compressed):
        finding = item.find(busy)
        assert finding.verdict == "cannot be told" and "was busy" in finding.why


def test_default_ranks_are_powers_of_2_up_to_the_cores():
    assert default_ranks(1) == [1] and default_ranks(2) == [1, 2] and default_ranks(7) == [1, 2, 4]
    assert default_ranks(64) == [1, 2, 4, 8, 16]


def test_one_core_cannot_show_a_speed_up():
    settings = dataclasses.replace(SETTINGS, cores=1)
    finding = figure_1.speed_up.find(results_of({}, settings))
    assert finding.verdict == "measured" and "1 cores" in finding.why


def chance(repeat):
    return 1.2 if repeat % 2 else 0.8


def test_layouts_are_compared_in_pairs():
    def seconds(name, layout, ranks, repeat):
        is_plain = name not in outputs.PLAIN_OF
        if layout == BALANCED and is_plain:
            return 3.0
        return 2.0 if is_plain else 1.0

    results = results_of({**timed(seconds), **counted(spread_of_all(1.05))})
    assert {one.median for one in layouts.compressed_faster(results)} == {2.0}
    assert {one.median for one in layouts.mended(results)} == {1.5}
    assert layouts.compressed.find(results).verdict == "holds"
    mended = layouts.mending.find(results)
    assert mended.verdict == "holds"
    # Of 0.5 above the mean 0.05 are left.
    shares = mended.numbers["share_of_imbalance_in_bytes"]
    assert all(share == pytest.approx(0.9) for share in shares.values())
    by_bytes = layouts.mending_bytes.find(results)
    assert by_bytes.verdict == "holds" and by_bytes.numbers == {
        "share_of_imbalance_in_bytes": shares
    }
    # Only what is not compressed is slower where it is balanced.
    assert layouts.unbalanced.find(results).verdict == "cannot be told"
    by_chance = timed(lambda name, layout, ranks, r: chance(r) if layout == EQUAL else 1.0)
    for item in (layouts.unbalanced, layouts.mending, layouts.compressed):
        found = item.find(results_of(by_chance))
        assert found.verdict in ("cannot be told", "does not hold here"), item.name


def test_the_table_of_speed_up_is_against_one_rank_and_against_neither():
    def seconds(name, layout, ranks, repeat):
        return (4.0 if name == outputs.HDF5 else 1.0) / ranks

    finding = figure_1.ITEM.find(results_of(timed(seconds)))
    (table,) = [block for block in finding.blocks if block.kind == "table"]
    at = {name: table.header.index(name) for name in ("x 1 rank", "x hdf5, unbalanced")}
    rows = {tuple(line[:3]): line for line in table.content}
    line = rows[outputs.ZFP, BALANCED, "2"]
    assert line[at["x 1 rank"]] == "2.00" and line[at["x hdf5, unbalanced"]] == "4.00"


# ---- the model ---------------------------------------------------------------------------------


def test_the_model_is_arithmetic():
    plain, uneven = model.Way(), model.Way(busiest_stored=2.0)
    assert plain.gbps(512) == plain.gbps(21912) == 200 and uneven.gbps(512) == 100
    packed = model.Way(ratio=9.0, core_mbps=100.0)
    # 1000 cores make 100 GB/s; what they make goes out at 1800.
    assert packed.gbps(1000) == pytest.approx(1 / (1 / 100 + 1 / 1800))
    cores = model.cores_to_pass(packed, 200)
    assert packed.gbps(cores) == pytest.approx(200) and 2000 < cores < 2300
    assert model.cores_to_pass(uneven, 200) is None
    ends = model.range_of_cores()
    assert ends[-1] == pytest.approx(21912) and ends[0] == 64


def test_zfp_passes_the_file_system_by_the_model():
    rows = [row(outputs.ZFP, ratio=9.0), row(outputs.HDF5_NEVE, ratio=40.0)]
    records = {
        **timed(lambda name, layout, ranks, repeat: 0.02),  # half of it compression: 100 MB/s
        **counted(spread_of_all(1.0), raw=1.0),
        zfp_9x.deck(SETTINGS): run({BALANCED: rows}),
        **{one: {"write_MBps": 10.0} for one in measured.every_disk(SETTINGS)},
    }
    finding = file_system.ITEM.find(results_of(records))
    assert finding.verdict == "holds by the model"
    assert finding.numbers["GBps"][file_system.PAPERS]["21912"] == pytest.approx(
        1 / (1 / 2191.2 + 1 / 1800)
    )
    assert all(one.is_so for one in file_system.past_the_disk(results_of(records)))
    modelled = layouts_modelled.ITEM.find(results_of(records))
    assert modelled.verdict == "holds in part", "tiles that are alike cost nothing"
    assert modelled.why.startswith(
        "by the model 1 of 3 are held. not held: unbalanced loads are written faster (without "
        "compression 1.00 times as fast, with zfp 1.00); not held: compression partially fixes"
    )
    busy = {**records, **timed(lambda name, layout, ranks, repeat: 0.02, load=9.0)}
    untold = layouts_modelled.ITEM.find(results_of(busy))
    assert "1 of 3 are held. cannot be told: unbalanced loads" in untold.why
    slow = {**busy, **timed(lambda name, layout, ranks, repeat: 9.0, load=9.0)}
    assert layouts_modelled.ITEM.find(results_of(slow)).verdict == "cannot be told"
    uneven = results_of({**records, **counted(spread_of_all(1.1), raw=1.2)})
    assert layouts_modelled.ITEM.find(uneven).verdict == "holds by the model"
    worse = results_of({**records, **counted(spread_of_all(9.0), raw=1.2)})
    claims = layouts_modelled.claims(file_system.ways(worse))
    assert [is_so for _, _, is_so in claims][:2] == [True, False], "compression costs more here"
    slow = {**records, **timed(lambda name, layout, ranks, repeat: 1.0)}
    assert file_system.ITEM.find(results_of(slow)).verdict == "does not hold here"


# ---- plan, records, what is missing ------------------------------------------------------------


def test_every_item_without_numbers_says_so():
    results = results_of({})
    for item in ITEMS:
        finding = item.find(results)
        assert finding.verdict in ("measured", "cannot be had here"), item.name
        assert finding.paper


def test_names_are_one_each_and_every_request_is_asked_once():
    assert len({item.name for item in ITEMS}) == len({item.number for item in ITEMS}) == len(ITEMS)
    wanted = plan.wanted(SETTINGS)
    assert len(wanted) == len(set(wanted))
    order = [type(one) for one in wanted]
    assert order.index(Timed) > max(i for i, kind in enumerate(order) if kind is not Timed)
    repeats = [one.repeat for one in wanted if isinstance(one, Timed)]
    assert repeats == sorted(repeats), "a repeat of all before the next one"


@pytest.mark.parametrize(
    "request_",
    [
        Stored("struct", ("--grid", "8,8,8"), ("raw",), 2),
        Counted(("--seed", "1"), ("neve",), (2, 4)),
        Timed(("--weak",), ("hdf5",), 2, 3),
        Disk(2, 0),
        Surface(("--valid", "1")),
    ],
)
def test_requests_come_back_from_json(request_):
    again = requests.from_json(requests.as_json(request_))
    assert again == request_ and hash(again) == hash(request_)
    assert requests.name_of(request_)


def test_settings_come_back_from_json():
    import json

    assert Settings.from_json(json.loads(json.dumps(SETTINGS.as_json()))) == SETTINGS


def test_what_cannot_store_the_grid_is_not_timed():
    left_out = dataclasses.replace(SETTINGS, left_out=(outputs.SZIP,))
    assert outputs.SZIP in measured.stores(SETTINGS)
    assert outputs.SZIP not in measured.stores(left_out)
    assert outputs.SZIP not in measured.stores(SETTINGS, measured.WEAK)


def test_a_build_without_adios():
    settings = dataclasses.replace(
        SETTINGS, outputs=tuple(name for name in BUILT if "adios" not in name)
    )
    assert not any("adios" in name for one in plan.wanted(settings) for name in _names(one))
    finding = storing.adios.find(results_of({}, settings))
    assert finding.verdict == "cannot be had here" and "no ADIOS" in finding.why


def _names(request):
    return getattr(request, "outputs", ())


def test_an_output_that_refuses_is_named():
    names = storing._hdf5(SETTINGS)
    records = {
        storing._run(SETTINGS, name): {"error": None, "result": run({BALANCED: [row(name)]})}
        for name in names
    }
    records[storing._run(SETTINGS, outputs.SZIP)] = {"error": "it does not shrink", "result": None}
    finding = storing.filters.find(Results(SETTINGS, records))
    assert finding.verdict == "holds in part" and "hdf5-szip: it does not shrink" in finding.why


@pytest.mark.parametrize("wrong, bytes_after, verdict", [(0, 7, "holds"), (3, 7, "holds in part")])
def test_mini_apps_are_read_back_and_changed(wrong, bytes_after, verdict):
    def result(app, names, wrong_values, file_bytes):
        rows = [row(name, file_bytes=file_bytes) for name in names]
        for one in rows:
            one["verified"] = {"values": 9, "wrong": wrong_values, "max_abs_error": 0.0}
        key = {"amr": "methods", "cartiso": "grid_outputs", "unstruct": "value_outputs"}.get(app)
        return {key: rows} if key else run({BALANCED: rows})

    records = {one: result(one.app, one.outputs, wrong, 5) for one in mini_apps.RUNS}
    records |= {one: result(one.app, one.outputs, 0, bytes_after) for one in mini_apps.CHANGED}
    assert mini_apps.ITEM.find(results_of(records)).verdict == verdict


def test_parts_that_share_an_output_are_compared_each_with_itself():
    """Values and connectivity are both stored by hdf5-neve: bytes of one are not the other's."""

    def result(app, names, of_values):
        first, second = (
            ("grid_outputs", "surface_outputs")
            if app == "cartiso"
            else (
                "value_outputs",
                "connectivity_outputs",
            )
        )
        if app in ("struct", "amr"):
            return {"methods": [row(name, file_bytes=of_values) for name in names]}
        return {
            first: [row(name, file_bytes=of_values) for name in names],
            second: [row(name, file_bytes=9) for name in names],
        }

    for then, changed in ((5, False), (6, True)):
        records = {one: result(one.app, one.outputs, 5) for one in mini_apps.RUNS}
        records |= {one: result(one.app, one.outputs, then) for one in mini_apps.CHANGED}
        found = mini_apps.ITEM.find(results_of(records))
        assert set(found.numbers["changed"].values()) == {changed}
        assert ("not in struct, cartiso, amr, unstruct" in found.why) is not changed
    told = str(found.blocks)
    assert "--roundness 0.3,0.3" in told and "connectivity" in told and "surface" in told


def test_past_the_paper_counts_bytes_and_pairs():
    rows = [row(name) for name in measured.files(SETTINGS).outputs]
    records = {
        measured.files(SETTINGS): run({BALANCED: rows}),
        **timed(lambda name, layout, ranks, repeat: 0.5 if "neve" in name else 1.0),
    }
    results = results_of(records)
    assert past_the_paper.smaller(results)[outputs.HDF5_NEVE, outputs.ZFP] == 2.5
    assert all(one.is_so for one in past_the_paper.faster(results))
    assert past_the_paper.ITEM.find(results).verdict == "holds in part", "neve is not smaller here"


def test_lines_of_the_csv_are_of_its_columns():
    records = {
        **counted(spread_of_all(1.0)),
        **timed(lambda name, layout, ranks, repeat: 1.0),
        Disk(1, 0): {"write_MBps": 5.0},
        measured.files(SETTINGS): run({BALANCED: [row(outputs.HDF5)]}),
    }
    rows = list(points.rows(results_of(records)))
    assert {one["how"] for one in rows} == {"stored", "timed", "counted", "disk"}
    assert all(one.keys() <= set(points.COLUMNS) for one in rows)


def test_other_programs_give_another_version(tmp_path):
    versions = []
    for content in ("a", "b"):
        folder = tmp_path / content
        folder.mkdir()
        for name in ("neve", "neve-bench"):
            (folder / name).write_text(content)
        versions.append(work.version(folder / "neve"))
    assert versions[0] != versions[1]
