# SPDX-License-Identifier: BSD-3-Clause
"""One method on one case, in a child of its own: a peer that crashes or hangs costs only its
row.
"""

from __future__ import annotations

import multiprocessing
import signal
import time
import traceback
from typing import Any

import numpy as np

from .case import Case
from .method import Method, NotApplicable, measure, megabytes_per_second


def compare(case: Case, decoded: np.ndarray, bound_abs: float) -> dict[str, Any]:
    """Errors in float64, and the special values that did not come back bit for bit."""
    original = case.array
    if decoded.shape != original.shape or decoded.dtype != original.dtype:
        return {"error": f"decoded to {decoded.dtype} {decoded.shape}"}
    bits = np.uint32 if original.dtype.itemsize == 4 else np.uint64
    special = ~np.isfinite(original) | ((original == 0) & np.signbit(original))
    if case.fill is not None:
        special |= original == case.fill
    same_bits = np.ascontiguousarray(original).view(bits) == np.ascontiguousarray(decoded).view(
        bits
    )
    ordinary = ~special
    with np.errstate(all="ignore"):
        error = np.abs(decoded[ordinary].astype(np.float64) - original[ordinary].astype(np.float64))
    broken = ~(error <= bound_abs)  # a NaN breaks it too
    values = original[ordinary].astype(np.float64)
    spread = float(values.max()) - float(values.min()) if values.size else 0.0
    with np.errstate(all="ignore"):
        mean_square = float(np.mean(np.square(error))) if error.size else 0.0
    psnr = None
    if 0 < spread < np.inf and 0 < mean_square < np.inf:
        psnr = float(20 * np.log10(spread) - 10 * np.log10(mean_square))
    finite = error[np.isfinite(error)]
    return {
        "max_abs_error": float(finite.max(initial=0.0)),
        "rms_error": float(np.sqrt(mean_square)) if np.isfinite(mean_square) else None,
        "psnr_db": psnr,
        "violations": int(broken.sum()),
        "specials": int(special.sum()),
        "specials_lost": int((special & ~same_bits).sum()),
    }


def _measure(method: Method, case: Case, bound_abs: float, repeats: int) -> dict[str, Any]:
    # One core's speed is its CPU time, which a busy neighbour does not change; threads need the
    # clock.
    clock = time.perf_counter if method.multithreaded else time.process_time
    found = measure(method.prepare(case, bound_abs), repeats, clock)
    raw_bytes = case.array.nbytes
    row = compare(case, found.decoded, bound_abs)
    if "error" in row:
        return row
    row |= {"stored_bytes": found.stored_bytes, "ratio": raw_bytes / found.stored_bytes}
    if repeats > 0:
        row["encode_mb_per_s"] = megabytes_per_second(raw_bytes, found.encode_seconds)
        row["decode_mb_per_s"] = megabytes_per_second(raw_bytes, found.decode_seconds)
    return row


def _child(pipe, *arguments) -> None:
    try:
        pipe.send(_measure(*arguments))
    except NotApplicable as reason:
        pipe.send({"skipped": str(reason)})
    except BaseException as error:  # noqa: B036 - whatever a peer raises is its row's result
        last = traceback.format_exception_only(error)[-1].strip()
        pipe.send({"error": last})


def run(
    method: Method, case: Case, bound_abs: float, repeats: int, limit_seconds: float
) -> dict[str, Any]:
    context = multiprocessing.get_context("fork")
    receiver, sender = context.Pipe(duplex=False)
    child = context.Process(target=_child, args=(sender, method, case, bound_abs, repeats))
    child.start()
    sender.close()
    try:
        if not receiver.poll(limit_seconds):
            return {"error": f"stopped after {limit_seconds:g} s"}
        return receiver.recv()
    except EOFError:
        child.join()
        code = child.exitcode
        name = signal.Signals(-code).name if code is not None and code < 0 else f"exit code {code}"
        return {"error": f"crashed ({name})"}
    finally:
        if child.is_alive():
            child.kill()
        child.join()
        receiver.close()
