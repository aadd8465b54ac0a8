#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""A real AMReX plotfile into compressed HDF5 and back, with one table and one picture in demo/."""

import json
import math
import os
import pathlib
import shutil
import subprocess
import sys

from rich.console import Console
from rich.table import Table

ROOT = pathlib.Path(__file__).resolve().parent.parent
NEVE = ROOT / "build" / "bin" / "neve"
SAMPLE = ROOT / "examples" / "samples" / "nyx_lya32_plt00113"
DEMO = ROOT / "demo"
RANKS = "2"
BOUND = "rel=1e-3"
PICTURE_FIELD = "density"

# Wide enough for the table where the output is no terminal.
console = Console(soft_wrap=True, width=max(Console().width, 100))


def run(*command):
    console.print("[dim]$ " + " ".join(str(w).replace(f"{ROOT}/", "") for w in command) + "[/dim]")
    done = subprocess.run([str(word) for word in command], stdout=subprocess.PIPE, text=True)
    if done.returncode != 0:
        sys.exit(f"demo: the command above ended with {done.returncode}")
    return done.stdout


def parallel(*command):
    return json.loads(run("mpirun", "-n", RANKS, NEVE, *command, "--json"))


def megabytes(count):
    return f"{count / 1e6:.3f} MB"


def at_most(share):
    """Four digits, rounded up: 1.0000 is within the bound, more is not."""
    return f"{math.ceil(share * 1e4) / 1e4:.4f}"


def field_rows(report):
    for level in report["levels"]:
        for field in level["fields"]:
            yield level["level"], field


def results_table(verdict, write_seconds, raw_write_seconds):
    table = Table(title=f"{SAMPLE.name}, bound {BOUND}, {RANKS} ranks")
    for name in ("level", "field", "raw", "stored", "ratio", "worst error / bound", "PSNR dB"):
        table.add_column(name, justify="left" if name == "field" else "right")
    for level, field in field_rows(verdict):
        share = field["max_abs_error"] / field["bound_abs"] if field["bound_abs"] else 0
        psnr = "exact" if field["psnr_db"] is None else f"{field['psnr_db']:.1f}"
        table.add_row(
            *(str(level), field["name"], megabytes(field["raw_bytes"])),
            *(megabytes(field["stored_bytes"]), f"{field['ratio']:.1f}", at_most(share), psnr),
        )
    worst = max(
        f["max_abs_error"] / f["bound_abs"] for _, f in field_rows(verdict) if f["bound_abs"]
    )
    table.add_section()
    table.add_row(
        *("", "whole file", megabytes(verdict["raw_bytes"]), megabytes(verdict["stored_bytes"])),
        *(f"{verdict['ratio']:.1f}", at_most(worst), ""),
    )
    table.caption = (
        f"written in {write_seconds * 1e3:.0f} ms; "
        f"the same data raw, as AMReX writes it: {raw_write_seconds * 1e3:.0f} ms"
    )
    return table


def main():
    shutil.rmtree(DEMO, ignore_errors=True)
    DEMO.mkdir()
    packed = DEMO / f"{SAMPLE.name}.h5"
    back = DEMO / f"{SAMPLE.name}_back"
    raw = DEMO / f"{SAMPLE.name}_raw"
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT", "1")
    os.environ.setdefault("OMPI_ALLOW_RUN_AS_ROOT_CONFIRM", "1")
    os.environ.setdefault("OMPI_MCA_rmaps_base_oversubscribe", "1")
    os.environ["NEVE_PYTHON"] = sys.executable

    seconds = parallel("convert", SAMPLE, packed, "--bound", BOUND)["seconds"]
    write_seconds = sum(seconds[phase] for phase in ("plan", "encode", "place", "write", "sync"))
    verdict = parallel("verify", SAMPLE, packed)
    parallel("convert", packed, back)
    raw_write_seconds = parallel("convert", SAMPLE, raw)["seconds"]["write"]
    shutil.rmtree(raw)
    run(
        *(NEVE, "plot", packed, "--field", PICTURE_FIELD, "--against", SAMPLE),
        *("-o", DEMO / f"{PICTURE_FIELD}.png"),
    )
    table = results_table(verdict, write_seconds, raw_write_seconds)
    console.print(table)
    with open(DEMO / "table.txt", "w", encoding="utf-8") as f:
        Console(file=f, width=120).print(table)
    for path in (packed, back, DEMO / f"{PICTURE_FIELD}.png", DEMO / "table.txt"):
        console.print(f"  {path.relative_to(ROOT)}")


if __name__ == "__main__":
    main()
