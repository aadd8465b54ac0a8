# SPDX-License-Identifier: BSD-3-Clause
"""What a fuzzing run did and covered, as tables: of each target, and of each room's source files.

Usage: fuzz_report.py BUILD TARGET...
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
from collections import defaultdict
from pathlib import Path

CHECKOUT = Path(__file__).resolve().parent.parent
# What a target is there to reach; lines of encoders are among them.
SUBJECTS = {
    "amrex_header": ["src/io/plotfile/amrex_header", "src/io/plotfile/scanner"],
    "amrex_plotfile": [
        "src/io/plotfile/amrex_",
        "src/io/plotfile/scanner",
        "src/io/plotfile/file",
        "src/io/plotfile/open",
    ],
    "checkpoint": [
        "src/io/hdf5/checkpoint",
        "src/io/hdf5/plotfile_header",
        "src/io/hdf5/attributes",
        "src/io/hdf5/frame_reader",
    ],
    "data_file": ["src/io/datafile/"],
    "frame": ["src/core/codecs/", "src/core/format/", "src/core/stages/"],
    "frame_file": [
        "src/core/format/frame_file",
        "src/core/format/file_",
        "src/core/format/piece_finder",
        "src/parallel/transfer/frame_file_reader",
        "src/core/codecs/frame_values",
    ],
    "npy": ["src/io/plotfile/npy"],
    "options": ["src/parallel/write/option_text", "tools/neve/options", "src/core/format/types"],
    "plotfile": [
        "src/io/hdf5/plotfile",
        "src/io/hdf5/frame_reader",
        "src/io/hdf5/field_records",
        "src/io/hdf5/attributes",
        "src/io/hdf5/filter",
    ],
    "rules": ["tools/neve/variable_rules"],
    "stream": ["src/core/stream/"],
    "trace_json": ["src/preload/trace/json", "src/preload/trace/model"],
    "trace_part": ["src/preload/trace/part_reader", "src/preload/trace/model"],
}
ROOMS = [
    "src/core/codecs",
    "src/core/format",
    "src/core/stages",
    "src/core/stream",
    "src/io/plotfile",
    "src/io/hdf5",
    "src/io/datafile",
    "src/parallel/transfer",
    "src/preload/trace",
]


def tool(name: str) -> str:
    """The LLVM tool of the clang that built the targets."""
    version = subprocess.run(
        ["clang", "-dumpversion"], capture_output=True, text=True, check=True
    ).stdout
    return f"{name}-{version.split('.')[0]}"


def lines_covered(build: Path, names: list[str]) -> dict[str, tuple[int, int]]:
    """(covered, all) lines of each source file, of these targets together."""
    raw = [build / "profiles" / f"{name}.profraw" for name in names]
    raw = [path for path in raw if path.exists()]
    if not raw:
        return {}
    merged = build / "profiles" / "merged.profdata"
    subprocess.run([tool("llvm-profdata"), "merge", "-sparse", "-o", merged, *raw], check=True)
    objects = [build / "bin" / f"fuzz_{name}" for name in names]
    command = [tool("llvm-cov"), "export", "-summary-only", f"-instr-profile={merged}", objects[0]]
    for other in objects[1:]:
        command += ["-object", other]
    done = subprocess.run(command, check=True, capture_output=True, text=True)
    covered = {}
    for file in json.loads(done.stdout)["data"][0]["files"]:
        path = Path(file["filename"]).resolve()
        if path.is_relative_to(CHECKOUT):
            lines = file["summary"]["lines"]
            covered[str(path.relative_to(CHECKOUT))] = (lines["covered"], lines["count"])
    return covered


def share(covered: dict[str, tuple[int, int]], prefixes: list[str]) -> str:
    """'covered / all (percent)' of the files below any of the prefixes."""
    parts = [
        counts for path, counts in covered.items() if any(path.startswith(p) for p in prefixes)
    ]
    done, total = sum(p[0] for p in parts), sum(p[1] for p in parts)
    return f"{done} / {total} ({100 * done / total:.0f} %)" if total else "-"


def statistics(log: str) -> dict[str, str]:
    """Of libFuzzer's log: executed inputs, seconds, edges, corpus, peak memory."""
    found: dict[str, str] = defaultdict(lambda: "-")
    for key, pattern in {
        "runs": r"stat::number_of_executed_units:\s*(\d+)",
        "memory": r"stat::peak_rss_mb:\s*(\d+)",
        "seconds": r"Done \d+ runs in (\d+) second",
    }.items():
        if match := re.search(pattern, log):
            found[key] = match[1]
    if progress := re.findall(r"^#\d+\s.*cov: (\d+) ft: \d+ corp: (\d+)", log, re.MULTILINE):
        found["edges"], found["inputs"] = progress[-1]
    return found


def main() -> None:
    build, names = Path(sys.argv[1]), sys.argv[2:]
    print(
        "| target | runs | seconds | inputs kept | edges | lines of its subject "
        "| peak memory | findings |"
    )
    print("|---|---|---|---|---|---|---|---|")
    for name in names:
        found = statistics((build / "logs" / f"{name}.log").read_text(errors="replace"))
        subject = share(lines_covered(build, [name]), SUBJECTS[name])
        findings = len(list((build / "findings").glob(f"{name}-*")))
        print(
            f"| {name} | {found['runs']} | {found['seconds']} | {found['inputs']} "
            f"| {found['edges']} | {subject} "
            f"| {found['memory']} MiB | {findings} |"
        )
    together = lines_covered(build, names)
    print("\n| room | lines covered by all targets together |")
    print("|---|---|")
    for room in ROOMS:
        print(f"| {room} | {share(together, [room + '/'])} |")


if __name__ == "__main__":
    main()
