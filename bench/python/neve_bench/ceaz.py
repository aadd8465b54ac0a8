# SPDX-License-Identifier: BSD-3-Clause
"""The CEAZ paper's tables and figures on our data: codebooks, chunk sizes, update rules, ratio and
PSNR, latency, threads.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
import time
import zlib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import numpy as np

import neve

from . import arguments, codebooks, codec_methods, fields, report, timing, variables
from .codec_methods import SZ3_DEFAULT, SZ3_LORENZO, sz3_compress, sz3_decompress
from .method import Measured, measure
from .report import number

STUDIES = ("offline", "update", "chi", "ratio", "quality", "latency", "threads")
MIB = 1 << 20

CHI_CHUNK_VALUES = 1 << 16
RATIO_TARGET = {4: 10.5, 8: 21.0}  # the CEAZ paper's, by bytes of a value
MIN_VALUES = 50000
MAX_VALUES = 1 << 22
LATENCY_SIDES = (16, 32, 64, 128)
UPDATE_MIB = (0.25, 1, 4, 16, 32, 64)


def add_arguments(parser: argparse.ArgumentParser) -> None:
    parser.description = (
        "Repeats the CEAZ paper's tables and figures with Neve's streams: codebooks, chunk sizes, "
        "rules of rebuilding, ratio and PSNR, latency, threads."
    )
    parser.epilog = (
        f"examples: neve bench ceaz --only {STUDIES[0]}; neve bench ceaz --json ceaz.json "
        "-o ceaz.md"
    )
    parser.add_argument(
        "--only", nargs="+", choices=STUDIES, default=list(STUDIES), help="studies (all)"
    )
    parser.add_argument(
        "--sz3", metavar="DIR", help="SZ3's include folder: also measure latency from C++"
    )
    arguments.add_measurement(parser, 5)
    arguments.add_report(parser)


def _stream(array: np.ndarray, **options: Any) -> tuple[bytes, list[dict[str, Any]]]:
    encoder = neve.StreamEncoder(array.shape, array.dtype, **options)
    encoder.push(array)
    encoder.finish()
    return encoder.take(), encoder.reports


def _range(array: np.ndarray) -> tuple[float, float]:
    return float(array.min()), float(array.max())


# --- figure 10 ------------------------------------------------------------------------------------


def offline(options: argparse.Namespace) -> dict[str, Any]:
    """What offline codebooks lose against codebooks of one's own; for the set in use, and trained
    without the file that is measured.
    """
    of = list(codebooks.samples(Path(options.data)))
    left_out = codebooks.left_out_losses(of)
    rows = []
    for name, file in fields.REFERENCE.items():
        array = np.load(Path(options.data) / "arrays" / file)
        bound = 1e-4 * float(np.ptp(array))
        own, _ = _stream(array, abs=bound, codebook_rule="always")
        shared, _ = _stream(array, abs=bound, codebook_rule="never")
        rows.append(
            {
                "field": name,
                "ratio_online": array.nbytes / len(own),
                "ratio_offline": array.nbytes / len(shared),
                "loss": 1 - len(own) / len(shared),
            }
        )
    return {
        "samples": len(of),
        "files": len({s.file for s in of}),
        "left_out_loss_median": float(np.median(left_out)),
        "left_out_loss_p90": float(np.quantile(left_out, 0.9)),
        "left_out_loss_max": float(left_out.max()),
        "rows": rows,
    }


def offline_text(found: dict[str, Any]) -> str:
    rows = [
        [
            r["field"],
            number(r["ratio_online"]),
            number(r["ratio_offline"]),
            f"{100 * r['loss']:.1f} %",
        ]
        for r in found["rows"]
    ]
    return (
        "Offline against online codebooks (figure 10), bound rel=1e-4\n\n"
        + report.table(["field", "online", "offline", "ratio lost"], rows)
        + f"\n\nLeave one file out, {found['samples']} samples of {found['files']} files: "
        f"ratio lost {100 * found['left_out_loss_median']:.1f} % median, "
        f"{100 * found['left_out_loss_p90']:.1f} % p90, "
        f"{100 * found['left_out_loss_max']:.1f} % at most"
    )


# --- figure 11 ------------------------------------------------------------------------------------


def update(options: argparse.Namespace) -> dict[str, Any]:
    rows = []
    for name, make in (("turbulence 256^3", fields.turbulence), ("EM wave 256^3", fields.em_wave)):
        array = make().ravel()
        bound = 1e-4 * float(np.ptp(array))
        for mib in UPDATE_MIB:
            row = {"field": name, "chunk_mib": mib}
            for rule in ("always", "exact_cost"):
                stored, _ = _stream(
                    array, abs=bound, chunk_bytes=int(mib * MIB), codebook_rule=rule
                )
                row[rule] = array.nbytes / len(stored)
            rows.append(row)
    return {"rows": rows}


def update_text(found: dict[str, Any]) -> str:
    rows = [
        [
            f"{r['field']}, {number(r['chunk_mib'])} MiB",
            number(r["always"], 4),
            number(r["exact_cost"], 4),
        ]
        for r in found["rows"]
    ]
    return "Chunk size (figure 11), ratio at rel=1e-4 in 1D\n\n" + report.table(
        ["chunk", "a table each", "exact cost"], rows
    )


# --- figure 12 ------------------------------------------------------------------------------------


def _float_variables(data: Path) -> Iterator[tuple[str, np.ndarray]]:
    for variable in variables.load(["climate", "amr"], data):
        array = variable.array
        if array.dtype.kind == "f" and array.size >= MIN_VALUES:
            yield variable.name, array.reshape([n for n in array.shape if n != 1])
    for path in sorted((data / "arrays").glob("*.npy")):
        yield path.stem, np.load(path)


def chi(options: argparse.Namespace) -> dict[str, Any]:
    """A stream whose chunks come from all fields in turn, each scaled to its range; for the
    engine, which has CEAZ's symbols.
    """
    chunks = []
    for _, array in _float_variables(Path(options.data)):
        field = codebooks.without_specials(array)
        if field is None:
            continue
        flat = field.ravel()
        scaled = ((flat - flat.min()) / np.ptp(flat)).astype(np.float32)
        whole = min(4, scaled.size // CHI_CHUNK_VALUES)
        chunks.append([scaled[c * CHI_CHUNK_VALUES :][:CHI_CHUNK_VALUES] for c in range(whole)])
    # Fields one after another, but not sorted by file: two chunks of one, then of another.
    order = np.random.default_rng(fields.SEED).permutation(len(chunks))
    mixed = [c for half in (0, 1) for i in order for c in chunks[i][2 * half : 2 * half + 2]]
    values = np.concatenate(mixed)
    found: dict[str, Any] = {"chunks": len(mixed), "chunk_values": CHI_CHUNK_VALUES, "rows": []}
    for bound in (1e-3, 1e-4):
        row: dict[str, Any] = {"bound": bound}
        for rule in ("exact_cost", "chi", "always", "never"):
            stored, reports = _stream(
                values,
                abs=bound,
                chunk_bytes=4 * CHI_CHUNK_VALUES,
                codebook_rule=rule,
                for_engine=True,
            )
            row[rule] = values.nbytes / len(stored)
            if rule == "exact_cost":
                kinds = [r["codebook"] for r in reports]
                row["codebooks"] = {kind: kinds.count(kind) for kind in sorted(set(kinds))}
        # The paper's rule falls back to one offline codebook; here to our best.
        stored_by_codebook = [
            len(
                _stream(
                    values,
                    abs=bound,
                    chunk_bytes=4 * CHI_CHUNK_VALUES,
                    codebook_rule="chi",
                    offline_codebook=codebook,
                    for_engine=True,
                )[0]
            )
            for codebook in range(codebooks.CODEBOOKS)
        ]
        row["chi_one_codebook"] = values.nbytes / min(stored_by_codebook)
        row["one_codebook"] = int(np.argmin(stored_by_codebook))
        # Every chunk under a codebook of its own whose table costs nothing.
        shares = np.array(
            [codebooks.symbol_counts(c, bound, dims=1) / CHI_CHUNK_VALUES for c in mixed]
        )
        row["ideal"] = values.nbytes / (codebooks.own_bits(shares).sum() * CHI_CHUNK_VALUES / 8)
        found["rows"].append(row)
    return found


def chi_text(found: dict[str, Any]) -> str:
    rules = ("exact_cost", "chi", "chi_one_codebook", "always", "never", "ideal")
    rows = [
        [
            f"bound {r['bound']:g} of the range",
            *(number(r[rule]) for rule in rules),
            f"{100 * (r['exact_cost'] / r['chi'] - 1):.1f} %",
            f"{100 * (r['exact_cost'] / r['chi_one_codebook'] - 1):.1f} %",
        ]
        for r in found["rows"]
    ]
    columns = ["", *(rule.replace("_", " ") for rule in rules), "exact cost above chi"]
    columns.append("above chi with one offline codebook, as in the paper")
    return (
        f"Rules (figure 12): one stream of {found['chunks']} chunks of {found['chunk_values']} "
        "values from all fields; chi falls back to the best of our offline codebooks, or to one\n\n"
        + report.table(columns, rows)
    )


# --- figure 13 ------------------------------------------------------------------------------------


def ratio(options: argparse.Namespace) -> dict[str, Any]:
    rows = []
    for name, array in _float_variables(Path(options.data)):
        array = array[: max(1, MAX_VALUES // max(1, array[0].size))]
        field = codebooks.without_specials(array)
        if field is None:
            continue
        target = RATIO_TARGET[array.dtype.itemsize]
        stored = neve.compress(array, ratio=target, threads=1)
        component = neve.info(stored)["components"][0]
        # Who feeds a stream says what is no data; compress() finds it by itself.
        streamed, reports = _stream(
            np.ascontiguousarray(array), ratio=target, fill=component["fill"]
        )
        rows.append(
            {
                "field": name,
                "target": target,
                "array": array.nbytes / len(stored),
                "array_error": component["max_abs_error"],
                "stream": array.nbytes / len(streamed),
                "stream_error": max((r["max_abs_error"] for r in reports), default=0.0),
            }
        )
    found: dict[str, Any] = {"rows": rows}
    for way in ("array", "stream"):
        for percent in (10, 15):
            found[f"{way}_within_{percent}"] = float(
                np.mean([_is_reached(r, way, percent) for r in rows])
            )
    return found


def _is_reached(row: dict[str, Any], way: str, percent: int) -> bool:
    """Whether the ratio is within so many percent of the target, or above it without any error."""
    if row[way + "_error"] == 0 and row[way] > row["target"]:
        return True
    return abs(row[way] / row["target"] - 1) <= percent / 100


def ratio_text(found: dict[str, Any]) -> str:
    rows = [
        [
            way,
            f"{100 * found[way + '_within_10']:.1f} %",
            f"{100 * found[way + '_within_15']:.1f} %",
        ]
        for way in ("array", "stream")
    ]
    missed = [
        f"{r['field']}: array {number(r['array'])}, stream {number(r['stream'])} of {r['target']:g}"
        for r in found["rows"]
        if not all(_is_reached(r, way, 15) for way in ("array", "stream"))
    ]
    return (
        f"Fixed ratio (figure 13): {RATIO_TARGET[4]:g} for f32, {RATIO_TARGET[8]:g} for f64, "
        f"{len(found['rows'])} fields; reached within, or above without any error\n\n"
        + report.table(["", "10 %", "15 %"], rows)
        + "".join(f"\n- {line}" for line in missed)
    )


# --- figure 14, tables 4 and 5 --------------------------------------------------------------------


def _quality_row(array: np.ndarray, stored_bytes: int, decoded: np.ndarray) -> dict[str, Any]:
    error = decoded.astype(np.float64) - array.astype(np.float64)
    rms = float(np.sqrt(np.mean(error * error)))
    return {
        "ratio": array.nbytes / stored_bytes,
        "psnr_db": float(20 * np.log10(float(np.ptp(array)) / rms)) if rms > 0 else None,
    }


QUALITY_WAYS = (
    "SZ3 Lorenzo+reg",
    "dual_quant fast",
    "dual_quant balanced",
    "stream",
    "stream for the engine",
)


def quality(options: argparse.Namespace) -> dict[str, Any]:
    rows = []
    for name, file in fields.REFERENCE.items():
        array = np.load(Path(options.data) / "arrays" / file)
        raw = array.tobytes()
        lossless = array.nbytes / len(zlib.compress(raw, 9))
        for rel in (1e-3, 1e-4, 1e-5, 1e-6):
            bound = rel * float(np.ptp(array.astype(np.float64)))

            def with_sz3(bound: float = bound, array: np.ndarray = array):
                stored = sz3_compress(array, bound, SZ3_LORENZO)
                return memoryview(stored).nbytes, sz3_decompress(stored, array)

            def with_neve(codec: str, effort: str, bound: float = bound, array: np.ndarray = array):
                stored = neve.compress(array, abs=bound, codec=codec, effort=effort, threads=1)
                return len(stored), neve.decompress(stored)

            def with_stream(for_engine: bool, bound: float = bound, array: np.ndarray = array):
                of_both = {"abs": bound, "range": _range(array), "for_engine": for_engine}
                dims = neve.best_stream_dims(array, **of_both)
                stored, _ = _stream(array, dims=dims, **of_both)
                return len(stored), neve.decompress(stored)

            ways: dict[str, Callable[[], tuple[int, np.ndarray]]] = {
                "SZ3 Lorenzo+reg": with_sz3,
                "dual_quant fast": lambda: with_neve("dual_quant", "fast"),
                "dual_quant balanced": lambda: with_neve("dual_quant", "balanced"),
                "stream": lambda: with_stream(False),
                "stream for the engine": lambda: with_stream(True),
            }
            row: dict[str, Any] = {"field": name, "rel": rel, "gzip": lossless}
            for way, run_way in ways.items():
                row[way] = _quality_row(array, *run_way())
            rows.append(row)
    summary = {}
    for rel in (1e-3, 1e-4, 1e-5, 1e-6):
        of_rel = [r for r in rows if r["rel"] == rel]
        summary[f"{rel:g}"] = {
            way: report.geomean(r[way]["ratio"] for r in of_rel) for way in QUALITY_WAYS
        }
    return {"rows": rows, "geomean": summary}


def quality_text(found: dict[str, Any]) -> str:
    ways = QUALITY_WAYS

    def cell(of: dict[str, Any]) -> str:
        psnr = "exact" if of["psnr_db"] is None else f"{of['psnr_db']:.1f}"
        return f"{number(of['ratio'])} ({psnr})"

    rows = [
        [f"{r['field']} {r['rel']:g}", *(cell(r[way]) for way in ways), number(r["gzip"])]
        for r in found["rows"]
    ]
    rows += [
        [f"geomean {rel}", *(number(of[way]) for way in ways), ""]
        for rel, of in found["geomean"].items()
    ]
    return "Ratio and PSNR (figure 14, tables 4 and 5): ratio (dB)\n\n" + report.table(
        ["field and rel", *ways, "gzip -9"], rows
    )


# --- table 7 --------------------------------------------------------------------------------------


def _microseconds(call: Callable[[], Any], rounds: int) -> float:
    """The median of single calls, which is what one block waits for."""
    return 1e6 * timing.median_seconds(call, rounds, time.perf_counter)


def _sz3_program(options: argparse.Namespace, folder: Path) -> Path | None:
    """A program that times SZ3 called from C++; None without its headers."""
    if options.sz3 is None:
        return None
    program = folder / "sz3_latency"
    source = Path(__file__).parent / "sz3_latency.cpp"
    command = ["c++", "-O3", "-std=c++17", f"-I{options.sz3}", str(source), "-o", str(program)]
    built = subprocess.run([*command, "-lzstd"], capture_output=True, text=True)
    if built.returncode != 0:
        raise neve.Error(f"--sz3 {options.sz3}: no program from its headers: {built.stderr[:500]}")
    return program


def _sz3_microseconds(program: Path, array: np.ndarray, bound: float, rounds: int) -> float:
    """Of the faster of its two algorithms."""
    file = program.parent / "array.f32"
    array.tofile(file)
    arguments = [str(program), str(file), str(array.shape[0]), repr(bound), str(rounds)]
    timed = subprocess.run(arguments, capture_output=True, text=True, check=True)
    lines = timed.stdout.splitlines()
    return 1e6 * min(statistics.median(map(float, line.split())) for line in lines)


def latency(options: argparse.Namespace) -> dict[str, Any]:
    rows = []
    whole = fields.turbulence(128)[64]
    with tempfile.TemporaryDirectory() as folder:
        program = _sz3_program(options, Path(folder))
        for side in LATENCY_SIDES:
            array = np.ascontiguousarray(whole[:side, :side])
            bound = 1e-3 * float(np.ptp(array))
            dims = neve.best_stream_dims(array, abs=bound)
            encoder = neve.StreamEncoder(array.shape, array.dtype, abs=bound, dims=dims)

            def with_sz3(algorithm: str, array: np.ndarray = array, bound: float = bound) -> Any:
                return sz3_compress(array, bound, algorithm)

            rounds = 200 * options.repeats
            seconds = encoder._core.encode_seconds(array, rounds)
            algorithms = (SZ3_DEFAULT, SZ3_LORENZO)
            row = {
                "side": side,
                "dims": dims,
                "neve_cpp_us": 1e6 * statistics.median(seconds),
                "neve_us": _microseconds(lambda: encoder.encode(array), rounds),  # noqa: B023
                "sz3_us": min(_microseconds(lambda: with_sz3(a), rounds) for a in algorithms),  # noqa: B023
                "neve_ratio": array.nbytes / len(encoder.encode(array)),
                "sz3_ratio": array.nbytes
                / min(memoryview(with_sz3(of)).nbytes for of in algorithms),
            }
            if program is not None:
                row["sz3_cpp_us"] = _sz3_microseconds(program, array, bound, rounds)
            rows.append(row)
    return {"rows": rows}


def latency_text(found: dict[str, Any]) -> str:
    columns = ["", "stream from C++, us", "stream from Python, us", "SZ3 from Python, us"]
    columns += ["times lower, Python"]
    has_cpp = "sz3_cpp_us" in found["rows"][0]
    if has_cpp:
        columns += ["SZ3 from C++, us", "times lower, C++"]
    rows = []
    for r in found["rows"]:
        cells = [r["neve_cpp_us"], r["neve_us"], r["sz3_us"], r["sz3_us"] / r["neve_us"]]
        if has_cpp:
            cells += [r["sz3_cpp_us"], r["sz3_cpp_us"] / r["neve_cpp_us"]]
        cells += [r["neve_ratio"], r["sz3_ratio"]]
        rows.append([f"{r['side']} x {r['side']} f32", *map(number, cells)])
    return (
        "Latency of encoding one small array (table 7), rel=1e-3, median of calls; SZ3 by the "
        "faster of its default and Lorenzo+regression, its ratio the better of the two"
        + ("" if has_cpp else " (without --sz3 nothing is measured from C++ for it)")
        + "\n\n"
        + report.table([*columns, "ratio", "SZ3's ratio"], rows)
    )


# --- figure 16 ------------------------------------------------------------------------------------


def _speeds(found: Measured, array: np.ndarray) -> dict[str, float]:
    return {
        "encode_gb_per_s": array.nbytes / found.encode_seconds / 1e9,
        "decode_gb_per_s": array.nbytes / found.decode_seconds / 1e9,
    }


def threads(options: argparse.Namespace) -> dict[str, Any]:
    array = fields.turbulence()
    rows = []
    for count in (1, 2):
        coders = (
            lambda: neve.compress(array, rel=1e-3, codec="dual_quant", threads=count),  # noqa: B023
            lambda stored: neve.decompress(stored, threads=count),  # noqa: B023
        )
        found = measure(coders, options.repeats, time.perf_counter)
        rows.append({"threads": count, **_speeds(found, array)})
    bound = 1e-3 * float(np.ptp(array))
    dims = neve.best_stream_dims(array, abs=bound)
    encoder = neve.StreamEncoder(array.shape, array.dtype, abs=bound, dims=dims)
    back = np.empty_like(array)

    def encode() -> bytes:
        encoder.reset()
        encoder.push(array)
        encoder.finish()
        return encoder.take()

    def decode(stored: bytes) -> np.ndarray:
        neve._core.decode_stream(stored, back)
        return back

    found = measure((encode, decode), options.repeats, time.process_time)
    return {
        "rows": rows,
        "stream_dims": dims,
        "stream_ratio": array.nbytes / found.stored_bytes,
        **{f"stream_{name}": speed for name, speed in _speeds(found, array).items()},
    }


def threads_text(found: dict[str, Any]) -> str:
    rows = [
        [f"dual_quant, {r['threads']}", number(r["encode_gb_per_s"]), number(r["decode_gb_per_s"])]
        for r in found["rows"]
    ]
    rows.append(
        [
            f"stream, 1 (processor time; predicted in {found['stream_dims']} of 3 directions)",
            number(found["stream_encode_gb_per_s"]),
            number(found["stream_decode_gb_per_s"]),
        ]
    )
    return (
        "Speed against threads (figure 16): turbulence 256^3 f32, rel=1e-3, from Python, "
        "median of the repeats, GB/s\n\n" + report.table(["threads", "encode", "decode"], rows)
    )


def run(options: argparse.Namespace) -> int:
    timing.check_repeats(options.repeats)
    studies: dict[str, tuple[Callable, Callable]] = {
        "offline": (offline, offline_text),
        "update": (update, update_text),
        "chi": (chi, chi_text),
        "ratio": (ratio, ratio_text),
        "quality": (quality, quality_text),
        "latency": (latency, latency_text),
        "threads": (threads, threads_text),
    }
    recorded: dict[str, Any] = {
        "command": " ".join(["neve bench ceaz --only", *options.only]),
        "machine": report.machine(),
        "versions": codec_methods.versions(),
    }
    texts = []
    for study in options.only:
        report.progress(study)
        find, text = studies[study]
        recorded[study] = find(options)
        texts.append(text(recorded[study]))
    report.progress("")
    report.deliver(options, recorded, "\n\n".join(texts))
    return 0
