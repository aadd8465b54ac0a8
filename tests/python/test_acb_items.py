# SPDX-License-Identifier: BSD-3-Clause
"""What the study of ACB makes of numbers: checks, ranges, trends, sizes, traces, made by hand."""

import sys
from pathlib import Path

import pytest

sys.path.append(str(Path(__file__).resolve().parents[2] / "bench" / "python"))
from neve._errors import Error
from neve_bench.acb import cases, measured, plan, requests, stated, tell, work
from neve_bench.acb.items import (
    ITEMS,
    amplification,
    box_limit,
    conclusions,
    figure_12,
    past_the_paper,
    plan_and_trace,
    read_back,
    scaling,
    scaling_here,
    striping,
    table_1,
    tables_of_sizes,
)
from neve_bench.acb.items.scaling_here import faster
from neve_bench.acb.items.write_sizes import binned
from neve_bench.acb.requests import Contents, Grid, Modelled, Staged, Timed, Traced
from neve_bench.acb.results import Results
from neve_bench.acb.results import size as tell_size
from neve_bench.acb.settings import Settings
from neve_bench.acb.strategies import AGGREGATED, COLLECTIVE, INDEPENDENT, SKELETON

EVERY = tuple(item.name for item in ITEMS)
SETTINGS = Settings(EVERY, (1, 1, 1), 4, (1, 2), ("ompio",), 1, "edison")
SECONDS = {INDEPENDENT: 12.0, COLLECTIVE: 4.0, AGGREGATED: 2.0, SKELETON: 1.0}


def planned(seconds=SECONDS, posix=None, **more):
    """What `neve plan --json` prints."""
    names = {**seconds, "hdf5-independent": 12.0, "skeleton, compressed": 0.5}
    return {
        "ranks": 4,
        "boxes": 10,
        "bytes": 1000,
        "stripe_count": 4,
        "stripe_bytes": 65536,
        "metadata_writes": 68,
        "max_over_mean_load": 1.0,
        "strategies": [
            {
                "name": name,
                "mpi": {"writes": 10, "mean_bytes": 100, "bins": {}, "top": []},
                "posix": {
                    "writes": (posix or {}).get(name, 10),
                    "writes_with_metadata": 78,
                    "mean_bytes": 100,
                    "bins": {},
                    "top": [{"bytes": 100, "count": 10}],
                },
                "seconds": {"total": total},
            }
            for name, total in names.items()
        ],
        **more,
    }


def results_of(records, settings=SETTINGS):
    return Results(settings, {k: {"error": None, "result": v} for k, v in records.items()})


# ---- rules -------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    "ours, within, held",
    [
        (100, tell.EXACT, True),
        (101, tell.EXACT, False),
        (125.0, tell.FITTED_WITHIN, True),
        (74.0, tell.FITTED_WITHIN, False),
        (140.0, tell.PREDICTED_WITHIN, True),
        (141.0, tell.PREDICTED_WITHIN, False),
        (60.0, tell.PREDICTED_WITHIN, True),
    ],
)
def test_what_is_within(ours, within, held):
    assert tell.Check("x", 100, ours, within).held is held


def test_misses_are_named_the_farthest_first():
    checks = [tell.Check(f"n{n}", 100, 100 + n) for n in range(7)]
    said = tell.misses(checks)
    assert said.startswith("n6: 106 for 100 (+6 %); n5: 105 for 100") and said.endswith("2 more")
    assert tell.verdict(checks) == "holds in part"
    assert tell.misses(checks[:1]) == "" and tell.verdict(checks[:1]) == "holds"
    assert tell.verdict(checks[1:]) == "does not hold here" and tell.verdict([]) == "measured"


def test_both_ends_of_a_range_are_judged():
    speedup = stated.Speedup("here", "edison", AGGREGATED, INDEPENDENT, 2.0, 4.0)
    least, most = tell.of_range(speedup, [2.1, 3.0, 8.0], tell.FITTED_WITHIN)
    assert least.held and not most.held and most.off == pytest.approx(1.0)


def test_the_paper_is_quoted_by_section():
    said = tell.ranges(stated.of(stated.OF_SCALING, cases.CORI))
    assert said == (
        "section IV-B, scalability, Cori: Coll. I/O over Ind. I/O 2.6 to 5.3, ACB over Ind. I/O "
        "5.7 to 9.6, ACB over Coll. I/O 1.6 to 1.8"
    )


@pytest.mark.parametrize(
    "mine, other, told",
    [((1, 2), (3, 4), True), ((3, 4), (1, 2), False), ((1, 3), (2, 4), None)],
)
def test_seconds_within_the_spread_are_not_told_apart(mine, other, told):
    rows = [{"seconds": {"min": least, "total": median}} for least, median in (mine, other)]
    assert faster(*rows) is told


# ---- items -------------------------------------------------------------------------------------


def test_speedups_of_scaling():
    words = [words for _, words in cases.scaling(cases.CORI)]
    slow = {**SECONDS, INDEPENDENT: 20.0}
    made = [planned(), planned(), planned(slow)]
    results = results_of({Modelled(w): p for w, p in zip(words, made, strict=True)})
    checks = {one.what: one for one in scaling.checks(results, cases.CORI)}
    assert checks["Cori, ACB over Ind. I/O, least"].ours == 6.0
    assert checks["Cori, ACB over Ind. I/O, most"].ours == 10.0
    assert checks["Cori, ACB over Ind. I/O, most"].held
    assert not checks["Cori, Coll. I/O over Ind. I/O, least"].paper == 0
    # A run that failed leaves nothing to judge, and says so.
    missing = results_of({Modelled(words[0]): planned()})
    assert scaling.checks(missing, cases.CORI) == []
    assert scaling.figure_6.find(missing).verdict == "measured"


def test_trends_of_striping():
    places = cases.striping(cases.EDISON)

    def made(count, mib, **of_mib):
        return planned({name: of_mib.get(name, 1.0) * 100 / count for name in SECONDS})

    flat = {
        place: made(*place, independent={4: 1.1, 8: 1.05, 16: 1.0}[place[1]]) for place in places
    }
    results = results_of({Modelled(places[place]): p for place, p in flat.items()})
    assert all(is_so for _, is_so, _ in striping.trends(striping.plans(results, cases.EDISON)))
    steep = {place: made(*place, aggregated=1 / place[1]) for place in places}
    results = results_of({Modelled(places[place]): p for place, p in steep.items()})
    told = {what: is_so for what, is_so, _ in striping.trends(striping.plans(results, "edison"))}
    assert not told["ACB: stripe size hardly matters"]
    assert not told["Ind. I/O: larger stripes slightly faster"]
    assert told["Coll. I/O: stripe size hardly matters"]


def test_sizes_are_in_darshans_ranges():
    bins = binned([(0, 1), (100, 2), (101, 4), (1024, 8), (4599936, 16), ((1 << 30) + 1, 32)])
    assert bins["0-100"] == 3 and bins["100-1K"] == 12
    assert bins["4M-10M"] == 16 and bins["1G+"] == 32


def level(writes, count):
    return {"writes": writes, "bytes": count, "bytes_read": 0, "sizes": [[1, writes]]}


def traced(**of_strategy):
    return {
        "strategies": {
            name.replace("_", "-"): {"mpi": level(*mpi), "posix": level(*posix)}
            for name, (mpi, posix) in of_strategy.items()
        }
    }


def test_plan_against_trace():
    made = traced(
        independent=((10, 100), (19, 110)),
        hdf5_independent=((12, 100), (12, 110)),
        aggregated=((10, 100), (19, 110)),
        collective=((10, 100), (31, 110)),
        hdf5_aggregated_independent=((10, 100), (50, 110)),
    )
    records = {
        measured.counted(SETTINGS, 1, "ompio"): planned(posix={COLLECTIVE: 20}),
        measured.traced(SETTINGS, 1, "ompio"): made,
    }
    lines = {one.strategy: one for one in plan_and_trace.lines(results_of(records))}
    assert lines["independent"].structure == 9 and lines["hdf5-independent"].structure == 2
    assert lines["independent"].off == 0 and lines["aggregated"].off == 0
    assert lines["collective"].off == pytest.approx(0.1) and lines["collective"].held
    assert lines["hdf5-aggregated-independent"].held is None
    found = plan_and_trace.ITEM.find(results_of(records))
    assert "not modelled: hdf5-aggregated-independent" in found.why and found.verdict == "holds"


def test_amplification_is_judged_where_nothing_is_said_to_be_read_back():
    made = traced(independent=((1, 100), (1, 104)), collective=((1, 100), (9, 800)))
    timed = {
        "strategies": [
            {"name": "independent", "read_modify_write": False},
            {"name": "collective", "read_modify_write": True},
        ]
    }
    records = {
        measured.traced(SETTINGS, 2, "ompio"): made,
        measured.timed(SETTINGS, 2, "ompio"): timed,
    }
    assert amplification.ITEM.find(results_of(records)).verdict == "holds"
    timed["strategies"][1]["read_modify_write"] = False
    found = amplification.ITEM.find(results_of(records))
    assert found.verdict == "holds in part" and "collective, 2 ranks, ompio: 8.00" in found.why


def test_table_1_without_its_plans_is_not_judged():
    assert table_1.checks(results_of({})) == []
    assert table_1.ITEM.find(results_of({})).verdict == "measured"


@pytest.mark.parametrize("item", ITEMS, ids=lambda item: item.name)
def test_every_item_stands_without_records(item):
    found = item.find(results_of({}))
    assert found.verdict in ("measured", "described") and found.paper
    for one in item.needs(SETTINGS):
        assert requests.from_json(requests.as_json(one)) == one


def test_every_request_is_planned_once():
    wanted = plan.wanted(SETTINGS)
    assert len(wanted) == len(set(wanted))
    assert {type(one) for one in wanted} == {Modelled, Timed, Traced, Contents, Staged, Grid}
    assert all(requests.name_of(one) for one in wanted)


# ---- what is told of measured seconds ----------------------------------------------------------


def timed_row(name, least, median, **more):
    seconds = {"min": least, "total": median, "write": median, "sync": 0.0}
    row = {"name": name, "strategy": name, "aggregate_boxes": 0, "seconds": seconds, "MBps": 1.0}
    return {**row, "read_seconds": median, "peak_buffer_bytes": 8, "mpi_writes": 1, **more}


def runs_of(*of_ranks):
    """Timed runs on 1 and 2 ranks: seconds, least and median, by strategy."""
    return {
        measured.timed(SETTINGS, ranks, "ompio"): {
            "strategies": [timed_row(name, *seconds) for name, seconds in of.items()]
        }
        for ranks, of in zip(SETTINGS.ranks, of_ranks, strict=True)
    }


ACB, COLL, IND = "hdf5-aggregated", "hdf5-collective", "hdf5-independent"
CLEAR = {ACB: (1.0, 1.1), COLL: (2.0, 2.2), IND: (4.0, 4.4)}
MIXED = {ACB: (1.0, 2.0), COLL: (1.5, 2.5), IND: (1.0, 1.9)}


def test_a_line_of_seconds_holds_where_every_comparison_is_decided():
    found = scaling_here.ITEM.find(results_of(runs_of(CLEAR, CLEAR)))
    assert found.verdict == "holds" and scaling_here.UNDECIDED not in found.why
    assert "ACB over collective 2.00, over independent 4.00" in found.ours


def test_one_decided_comparison_of_four_holds_in_part():
    one = {**MIXED, IND: (4.0, 4.4)}
    found = scaling_here.ITEM.find(results_of(runs_of(MIXED, one)))
    assert found.verdict == "holds in part"
    assert f"faster: {ACB} over {IND}, 2 ranks, ompio. no difference can be told in 3 of 4" in (
        found.why
    )
    assert "over collective no difference can be told, over independent 2.20 (no" in found.ours
    slower = {**CLEAR, COLL: (0.5, 0.6)}
    found = scaling_here.ITEM.find(results_of(runs_of(slower, MIXED)))
    assert found.verdict == "holds in part" and f"slower: {ACB} over {COLL}, 1 rank" in found.why


def test_undecided_seconds_claim_nothing():
    results = results_of(runs_of(MIXED, MIXED))
    found = scaling_here.ITEM.find(results)
    assert found.verdict == "measured" and "in 4 of 4 comparisons" in found.why
    order = conclusions.ITEM.find(results).numbers[
        "ACB outperforms Coll. I/O and Ind. I/O, measured here"
    ]
    assert (
        order["verdict"] == "measured" and "over hdf5-collective no difference" in order["numbers"]
    )


def test_times_to_read_have_no_spread():
    request = next(one for one in read_back.needs(SETTINGS) if isinstance(one, Contents))
    same = {"strategies": {name: {"values": "a", "file": "b"} for name in (ACB, IND)}}
    results = results_of({request: same, **runs_of(CLEAR, CLEAR)})
    found = read_back.ITEM.find(results)
    assert found.verdict == "holds" and "no difference can be told" in found.ours
    assert "times as fast" not in found.ours + found.neve
    claim = conclusions.ITEM.find(results).numbers[
        "The file's layout does not change, measured here"
    ]
    assert claim["verdict"] == "holds" and "times as fast" not in claim["numbers"]


def limited(seconds_of_all, seconds_of_one=(2.0, 2.1)):
    requests_of = list(box_limit.needs(SETTINGS))
    plans = {}
    for boxes, request in zip(box_limit.BOXES, requests_of, strict=False):
        made = planned()
        name = f"aggregated, {boxes} boxes" if boxes else AGGREGATED
        one = {**made["strategies"][2], "name": name, "buffer_bytes": 4096 * (boxes or 43)}
        made["strategies"] = [one]
        plans[request] = made
    rows = [
        timed_row(f"{ACB}-{n}", *of, strategy=ACB, aggregate_boxes=n, peak_buffer_bytes=1 + n)
        for n, of in ((1, seconds_of_one), (0, seconds_of_all))
    ]
    rows[1]["peak_buffer_bytes"] = 99
    return box_limit.ITEM.find(results_of({**plans, requests_of[-1]: {"strategies": rows}}))


def test_measured_seconds_of_a_box_limit_are_judged():
    assert limited((1.0, 1.1)).verdict == "holds"
    slower = limited((3.0, 3.1))
    assert slower.verdict == "holds in part"
    assert "not so: measured here, all boxes at a time are faster than 1" in slower.why
    once = limited((1.0, 1.0))
    assert (
        once.verdict == "holds in part" and "faster than 1: no difference can be told" in once.why
    )
    modelled = once.blocks[-1].content
    assert modelled[-1][0] == "all" and modelled[-1][2] == tell_size(43 * 4096)


def test_past_the_paper_tells_what_is_undecided():
    words = [words for _, words in cases.scaling(cases.CORI)]
    plans = {Modelled(one): planned() for one in words}
    there = {**CLEAR, "skeleton": (1.0, 1.05), "compressed": (0.2, 0.3), AGGREGATED: (1.3, 1.4)}
    found = past_the_paper.ITEM.find(results_of({**plans, **runs_of(there, there)}))
    assert found.verdict == "holds in part"
    assert "skeleton over hdf5-aggregated no difference can be told" in found.ours
    assert "skeleton over aggregated 1.33" in found.ours and "in 2 of 6 comparisons" in found.why
    there["skeleton"] = (0.5, 0.6)
    found = past_the_paper.ITEM.find(results_of({**plans, **runs_of(there, there)}))
    assert found.verdict == "holds"


# ---- what the paper says beside the first numbers ----------------------------------------------


def test_table_1_judges_the_second_access_size():
    def made(count):
        one = planned()
        for strategy in one["strategies"]:
            sizes = ((4599936, 42640), (8388608, count))
            strategy["posix"]["top"] = [{"bytes": of, "count": n} for of, n in sizes]
        return one

    def find(count):
        plans = {Modelled(cases.darshan(osts)): made(count) for osts in cases.DARSHAN_OSTS}
        results = results_of(plans)
        return {one.what: one for one in table_1.checks(results)}, table_1.ITEM.find(results)

    checks, found = find(4560)
    assert checks["Coll. I/O, 48 OSTs: access size 2"].held
    count = checks["Coll. I/O, 48 OSTs: count of access size 2"]
    assert (count.paper, count.ours, count.held) == (4779, 4560, False)
    assert "fitted to the collective counts" in found.why and "our reading" in found.why
    unsized = found.blocks[1].content
    assert [tuple(row[1:]) for row in unsized] == [
        ("272 B", count, "not sized by the model") for count in ("15", "15", "16", "16")
    ]
    checks, _ = find(4800)
    assert checks["Coll. I/O, 48 OSTs: count of access size 2"].held


@pytest.mark.parametrize(
    "least, most, missed", [(1, 6, ()), (0, 6, ("least",)), (2, 3, ()), (0, 7, ("least", "most"))]
)
def test_figure_12_judges_the_finest_boxes_of_a_rank(least, most, missed):
    grid = {"levels": [{"domain": [768, 768], "boxes": [[[0, 0], [16, 16]]]}] * 2}
    shared = planned(finest_boxes_of_a_rank={"least": least, "most": most})
    found = figure_12.ITEM.find(results_of({figure_12.GRID: grid, figure_12.SHARED: shared}))
    for end in ("least", "most"):
        assert found.numbers[f"its boxes on a rank, at {end}"]["held"] == (end not in missed)
    assert ("Some ranks have none" in found.why) == (least == 0)


def test_table_3_tells_how_far_the_counts_of_collective_writes_are_off():
    made = planned()
    for strategy in made["strategies"]:
        sizes = ((73440, 100), (38880, 237), (204000, 433))
        strategy["posix"]["top"] = [{"bytes": of, "count": n} for of, n in sizes]
    item = tables_of_sizes.table_3
    (request,) = item.needs(SETTINGS)
    found = item.find(results_of({request: made}))
    # Of three files: 300 for the paper's 1529, 711 for 1422, 1299 for 1298.
    assert "counts of Coll. I/O are off by -80.4 %, -50 %, +0.077 %" in found.why


def test_amplification_says_where_nothing_was_read_back():
    made = traced(skeleton=((1, 100), (1, 130)))
    timed = {"strategies": [{"name": "skeleton", "read_modify_write": False}]}
    records = {
        measured.traced(SETTINGS, 2, "ompio"): made,
        measured.timed(SETTINGS, 2, "ompio"): timed,
    }
    found = amplification.ITEM.find(results_of(records))
    assert "In 1 of these 1 nothing was read back: the rest is the file's structure" in found.why
    made["strategies"]["skeleton"]["posix"]["bytes_read"] = 50
    found = amplification.ITEM.find(results_of(records))
    assert "1.30, 50 B read" in found.why and "structure" not in found.why


# ---- traces ------------------------------------------------------------------------------------


def file(name, writes, **more):
    counters = {"BYTES_WRITTEN": sum(s * n for s, n in writes), "BYTES_READ": 7}

    def of(prefix):
        return {
            "write_sizes": writes,
            "counters": {f"{prefix}_{key}": value for key, value in counters.items()},
        }

    phase = {"phase": "", "mpiio": of("MPIIO"), "posix": of("POSIX")}
    return {"path": f"/x/.tmp/{name}", "phases": [phase], **more}


def test_a_trace_is_taken_apart_by_strategy():
    trace = {
        "incomplete": {"dropped_calls": 0},
        "files": [
            file("new", [[512, 3], [8, 3]], renamed_to=["/x/neve_chombo_hdf5-collective.h5"]),
            file("neve_chombo_skeleton.h5", [[100, 2]]),
            file("other.txt", [[1, 1000]]),
        ],
    }
    found = work.by_strategy(trace)
    assert found.keys() == {"hdf5-collective", "skeleton"}
    one = found["hdf5-collective"]["posix"]
    assert (one["writes"], one["bytes"], one["bytes_read"]) == (6, 1560, 7)
    assert one["sizes"] == [(8, 3), (512, 3)]
    with pytest.raises(Error, match="the trace is not whole"):
        work.by_strategy({**trace, "incomplete": {"dropped_calls": 1}})
