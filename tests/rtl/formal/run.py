#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""Bounded proofs with Yosys' own solver: run.py [UNIT]

From reset on, no inputs within the first STEPS cycles break an assertion of UNIT_formal.sv. Each
proof is worth what it can refute: every change of `broken` has to break it.
"""

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).resolve().parent
RTL = HERE.parent.parent.parent / "rtl"
LIMIT_S = 240

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
    "symbol_queue": {
        "steps": 10,
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


def holds(unit, source, steps):
    """Whether the proof goes through; anything but a proof or a counterexample is an error."""
    script = (
        f"read_verilog -formal -sv {RTL}/neve_pkg.sv {source} {HERE}/{unit}_formal.sv; "
        f"prep -flatten -top {unit}_formal; memory_map; opt_clean; chformal -assume -early; "
        "sat -seq 1 -prove-asserts -set-assumes -tempinduct -tempinduct-baseonly "
        f"-maxsteps {steps} {unit}_formal"
    )
    done = subprocess.run(
        ["yosys", "-p", script], capture_output=True, text=True, timeout=LIMIT_S, check=False
    )
    proven = f"proved base case for {steps} steps: SUCCESS" in done.stdout
    refuted = "FAIL" in done.stdout and "model found" in done.stdout
    if done.returncode != 0 or proven == refuted:
        sys.exit(f"{unit}: yosys says neither yes nor no\n{done.stdout[-2000:]}{done.stderr}")
    return proven


def main():
    if shutil.which("yosys") is None:
        sys.exit("formal: needs yosys")
    wrong = 0
    for unit in sys.argv[1:] or PROOFS:
        proof = PROOFS[unit]
        source = RTL / f"{unit}.sv"
        proven = holds(unit, source, proof["steps"])
        print(f"{unit}: {'holds' if proven else 'FAILS'} for {proof['steps']} steps", flush=True)
        wrong += not proven
        for name, (right, changed) in proof["broken"].items():
            text = source.read_text()
            if text.count(right) != 1:
                sys.exit(f"{source}: is changed where `{right}` was looked for")
            with tempfile.TemporaryDirectory() as directory:
                mutant = Path(directory) / source.name
                mutant.write_text(text.replace(right, changed))
                proven = holds(unit, mutant, proof["steps"])
            print(f"  {name}: {'NOT FOUND' if proven else 'found'}", flush=True)
            wrong += proven
    return 1 if wrong else 0


if __name__ == "__main__":
    sys.exit(main())
