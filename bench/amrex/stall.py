#!/usr/bin/env python3
# SPDX-License-Identifier: BSD-3-Clause
"""How long a step waits for its plotfile: neve_bench_stall, each way in turn, in many rounds.

    bench/amrex/stall.py --plotfile plt00020 --replicas 8 --device disk=/tmp/stall

A device is tmpfs=FOLDER, disk=FOLDER (native files are fsynced), or imitated=FOLDER: there writes
take as long as on a device that is as fast as a quarter of one rank's encoding, measured in this
run, and shared by all ranks. Medians over the rounds, and of the ratios within a round.
"""

import argparse
import json
import os
import shutil
import statistics
import subprocess
import sys
from pathlib import Path

WAYS = ("native", "async", "hdf5", "none", "encode", "copy")


def run_once(args, way, folder, environment):
    """One process: a step that is not counted, then one that is."""
    shutil.rmtree(folder, ignore_errors=True)
    folder.mkdir(parents=True)
    program = Path(args.build) / "bin" / "neve_bench_stall"
    command = [args.mpiexec, "-n", str(args.ranks), str(program), args.plotfile, str(folder), way]
    command += [str(args.replicas), str(args.steps), str(args.pause_ms), args.bound]
    command += ["amrex.async_out=1"] if way == "async" else []
    done = subprocess.run(
        command, capture_output=True, text=True, env=environment, timeout=600, check=False
    )
    lines = [line for line in done.stdout.splitlines() if line.startswith("{")]
    if done.returncode != 0 or len(lines) != 1:
        sys.exit(f"{' '.join(command)} ended with {done.returncode}:\n{done.stderr[-2000:]}")
    return json.loads(lines[0])


def encoding_bytes_per_second(args, folder):
    """Of one rank, with every rank at work, as in the steps that are measured."""
    report = run_once(args, "none", folder, dict(os.environ))
    return report["mib"] * 2**20 / report["ranks"] / report["encode_seconds"]


def environment_of(args, device, folder):
    environment = dict(os.environ)
    if device != "imitated":
        return environment, None
    speed = encoding_bytes_per_second(args, folder) / 4
    clock = Path("/dev/shm") / f"neve-slow-device-{os.getpid()}"
    environment["LD_PRELOAD"] = str((Path(args.build) / "lib" / "libneve_slow_device.so").resolve())
    environment["NEVE_SLOW_DEVICE"] = f"{folder.resolve()}:{clock}:{speed:.0f}"
    return environment, speed


def busy(count):
    """Processes that keep `count` cores busy."""
    return [subprocess.Popen([sys.executable, "-c", "while True: pass"]) for _ in range(count)]


def measure(args, device, folder):
    environment, speed = environment_of(args, device, folder)
    rounds = []
    others = busy(os.cpu_count() if args.busy else 0)
    try:
        for _ in range(args.rounds):
            rounds.append({w: run_once(args, w, folder, environment) for w in args.ways})
    finally:
        for other in others:
            other.kill()
        shutil.rmtree(folder, ignore_errors=True)
    median = statistics.median
    first = rounds[0][args.ways[0]]
    result = {"device": device, "busy": args.busy, "device_bytes_per_second": speed}
    result |= {"plotfile": Path(args.plotfile).name, "replicas": args.replicas}
    result |= {"ranks": args.ranks, "mib": first["mib"], "boxes": first["boxes"]}
    result |= {"rounds": args.rounds, "bound": args.bound, "ways": {}}
    for way in args.ways:
        of_way = {"ms": median(r[way]["stall_seconds"] for r in rounds) * 1e3}
        for peer in ("native", "async"):
            if peer in args.ways:
                ratios = [r[way]["stall_seconds"] / r[peer]["stall_seconds"] for r in rounds]
                of_way[f"over_{peer}"] = median(ratios)
        encode = [r[way]["encode_seconds"] for r in rounds]
        if min(encode) > 0:
            over = [r[way]["stall_seconds"] / r[way]["encode_seconds"] for r in rounds]
            of_way["over_encoding"] = median(over)
        result["ways"][way] = of_way
    return result


def main():
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--build", default="build", help="the build folder (with NEVE_AMREX)")
    parser.add_argument("--plotfile", required=True, help="any that Neve reads, in 3D")
    parser.add_argument("--replicas", type=int, default=1, help="copies of it along x")
    parser.add_argument("--ranks", type=int, default=2)
    parser.add_argument("--rounds", type=int, default=21)
    parser.add_argument("--steps", type=int, default=1, help="that are counted, of a process")
    parser.add_argument("--pause-ms", type=int, default=500, help="between steps")
    parser.add_argument("--bound", default="rel=1e-3")
    usual = [way for way in WAYS if way != "hdf5"]
    parser.add_argument("--ways", nargs="+", choices=WAYS, default=usual)
    parser.add_argument("--busy", action="store_true", help="every core has other work, too")
    parser.add_argument("--device", action="append", required=True, metavar="KIND=FOLDER")
    parser.add_argument("--mpiexec", default="mpirun")
    parser.add_argument("--into", help="a JSON file, to which the results are added")
    args = parser.parse_args()
    results = []
    for device in args.device:
        kind, _, folder = device.partition("=")
        results.append(measure(args, kind, Path(folder) / f"stall-{os.getpid()}"))
        print(json.dumps(results[-1]))
    if args.into:
        known = json.loads(Path(args.into).read_text()) if Path(args.into).exists() else []
        Path(args.into).write_text(json.dumps(known + results, indent=1) + "\n")


if __name__ == "__main__":
    main()
