#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Proofs with Yosys' own solver: run.py [UNIT]

No inputs break an assertion of UNIT_formal.sv: ever, by induction, or within the first `steps`
cycles from reset on. Each proof is worth what it can refute: every change of `broken` has to break
it.
"""

import os
import shutil
import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).resolve().parent
RTL = HERE.parent.parent.parent / "rtl"
LIMIT_S = 240

# `parts`: modules below the unit. All others may show anything at any time.
PROOFS = {
    "packer": {
        "steps": 8,
        "broken": {
            "a carry lost between the places of a code": (
                "code2 <= {3'b0, code1} << offset1[1:0];",
                "code2 <= {3'b0, code1 << offset1[1:0]};",
            ),
            "a block that begins where the one before ended": (
                "assign end_next = {1'b0, in_first ? 5'd0 : end1}",
                "assign end_next = {1'b0, end1}",
            ),
            "bits of the block before in the next": (
                "assign low = (first3 ? 32'd0 : gathered4)",
                "assign low = gathered4",
            ),
        },
    },
    "byte_joiner": {
        "steps": 8,
        "broken": {
            "moves while it waits": (
                "if (enable) begin\n      out_last <=",
                "begin\n      out_last <=",
            ),
            "the beginning of a word lost": (
                "if (kept3[i]) out_data[8*i+:8] <= gathered[8*i+:8];",
                "if (1'b0) out_data[8*i+:8] <= gathered[8*i+:8];",
            ),
            "a rest that stays behind": (
                "rest4 <= valid3 & last3 & |end3;",
                "rest4 <= valid3 & last3 & ~fills3 & |end3;",
            ),
        },
    },
    "block_framer": {
        "parts": ["byte_joiner"],
        "steps": 12,
        "is_unbounded": True,
        "broken": {
            "moves on while what is valid waits": (
                "assign enable = ~out_valid | out_ready;",
                "assign enable = 1'b1;",
            ),
            "bytes kept from the wrong end": (
                "out_keep[i] = (B+1)'(i) < word_bytes;",
                "out_keep[i] = (B+1)'(i) > word_bytes;",
            ),
        },
    },
    "symbol_queue": {
        "steps": 10,
        "is_unbounded": True,
        "broken": {
            "one more than there is room for": (
                "count != (P + 1)'(DEPTH)",
                "count <= (P + 1)'(DEPTH)",
            ),
            "an element that changes while it waits": (
                "if (takes) memory[in_at] <= in_data;",
                "if (in_valid) memory[in_at] <= in_data;",
            ),
            "what was given is given again": (
                "if (gives) out_at <= out_at + P'(1);",
                "if (gives && !takes) out_at <= out_at + P'(1);",
            ),
        },
    },
}


def files(modules):
    return " ".join(str(RTL / f"{m}.sv") for m in modules)


def holds(unit, source, is_unbounded):
    """Whether the proof goes through; anything but a proof or a counterexample is an error."""
    proof = PROOFS[unit]
    steps = proof["steps"]
    seen = ["neve_pkg", *proof.get("parts", [])]
    others = {m.stem for m in RTL.glob("*.sv")} - {*seen, unit}
    induction = "-tempinduct" if is_unbounded else "-tempinduct -tempinduct-baseonly"
    # Memories become registers, which induction speaks of, before modules dissolve.
    script = (
        f"read_verilog -formal -sv {files(seen)} {source} {HERE}/{unit}_formal.sv; "
        f"read_verilog -sv -lib {files(sorted(others))}; "
        f"prep -top {unit}_formal; memory_map; opt_clean; flatten; opt_clean; "
        "chformal -assume -early; sat -seq 1 -prove-asserts -set-assumes -ignore_unknown_cells "
        f"{induction} -maxsteps {steps} {unit}_formal"
    )
    done = subprocess.run(
        ["yosys", "-p", script], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    success = "Induction step proven" if is_unbounded else f"proved base case for {steps} steps"
    proven = f"{success}: SUCCESS" in done.stdout
    refuted = "model found for base case: FAIL" in done.stdout
    if done.returncode != 0 or proven == refuted:
        raise RuntimeError(
            f"{unit}: yosys says neither yes nor no\n{done.stdout[-2000:]}{done.stderr}"
        )
    return proven


def holds_broken(unit, right, changed):
    """Whether the proof goes through, in spite of a change that it should find."""
    source = RTL / f"{unit}.sv"
    text = source.read_text()
    if text.count(right) != 1:
        raise RuntimeError(f"{source}: is changed where `{right}` was looked for")
    with tempfile.TemporaryDirectory() as directory:
        mutant = Path(directory) / source.name
        mutant.write_text(text.replace(right, changed))
        return holds(unit, mutant, False)


def main():
    if shutil.which("yosys") is None:
        sys.exit("formal: needs yosys")
    wrong = 0
    with ThreadPoolExecutor(os.cpu_count()) as pool:
        tasks = {}
        for unit in sys.argv[1:] or PROOFS:
            proof = PROOFS[unit]
            is_unbounded = proof.get("is_unbounded", False)
            tasks[unit] = pool.submit(holds, unit, RTL / f"{unit}.sv", is_unbounded)
            for name, change in proof["broken"].items():
                tasks[unit, name] = pool.submit(holds_broken, unit, *change)
        for what, task in tasks.items():
            try:
                proven = task.result()
            except RuntimeError as error:
                pool.shutdown(cancel_futures=True)
                sys.exit(str(error))
            if isinstance(what, tuple):
                print(f"  {what[1]}: {'NOT FOUND' if proven else 'found'}", flush=True)
                wrong += proven
                continue
            proof = PROOFS[what]
            extent = "ever" if proof.get("is_unbounded") else f"for {proof['steps']} steps"
            print(f"{what}: {'holds' if proven else 'FAILS'} {extent}", flush=True)
            wrong += not proven
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
