# SPDX-License-Identifier: BSD-3-Clause
"""Arrays of every kind, for `neve bench codecs --wide`: lines to four dimensions, f32 and f64,
smooth, rough, on lattices. Generated ones come from fixed seeds; real ones from --data.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import numpy as np

from .case import Case
from .fields import REFERENCE, SEED, data_file, random_field, turbulence

KINDS = {
    "lines": "Lines",
    "planes": "Two dimensions",
    "volumes": "Three dimensions",
    "series": "Four dimensions",
    "lattices": "Lattices, ramps and steps",
}
BOUNDS = (1e-1, 1e-2, 1e-3, 1e-4, 1e-5, 1e-6, 1e-7)
LINE_VALUES = 1 << 18
CUBE = 96


def fractional_noise(rng: np.random.Generator, count: int, hurst: float) -> np.ndarray:
    """Fractional Brownian motion, as SDRBench's Brown samples: increments of the exact covariance
    (Davies and Harte, "Tests for Hurst effect", Biometrika 74, 1987), summed.
    """
    lags = np.arange(count + 1)
    covariance = 0.5 * (
        np.abs(lags - 1.0) ** (2 * hurst)
        - 2 * np.abs(lags) ** (2 * hurst)
        + (lags + 1.0) ** (2 * hurst)
    )
    circle = np.concatenate([covariance, covariance[-2:0:-1]])
    power = np.maximum(np.fft.fft(circle).real, 0)
    noise = rng.standard_normal(len(circle)) + 1j * rng.standard_normal(len(circle))
    return np.cumsum(np.fft.fft(np.sqrt(power / len(circle)) * noise).real[:count])


def particle_positions(rng: np.random.Generator, count: int) -> np.ndarray:
    """As HACC writes them: of eight ranks one after another, each a slow sweep of its box, moved by
    smooth and by rough displacements.
    """
    of_rank = count // 8
    sweep = np.arange(of_rank) / of_rank
    window = 512
    parts = []
    for rank in range(8):
        smooth = np.convolve(
            rng.standard_normal(of_rank + window - 1), np.ones(window) / window**0.5, "valid"
        )
        rough = rng.standard_normal(of_rank)
        parts.append(32 * (rank % 2) + 32 * sweep + 0.6 * smooth + 0.25 * rough)
    return np.concatenate(parts)


def electron_integrals(rng: np.random.Generator, count: int) -> np.ndarray:
    """As NWChem's two-electron integrals: blocks of shells, whose size falls as a Gaussian of the
    shells' distance over many decades; a block's values differ by some factors that come again.
    """
    block = 64
    blocks = count // block
    distance = np.abs(rng.normal(0, 3, blocks))
    factors = rng.choice(rng.standard_normal(24), (blocks, block))
    return (np.exp(-(distance**2))[:, None] * factors).reshape(-1)


def _lines(data: Path | None) -> Iterator[tuple[str, np.ndarray]]:
    rng = np.random.default_rng(SEED + 3)
    n = LINE_VALUES
    made = {"sine of 2 periods": np.sin(np.arange(n) * (4 * np.pi / n))}
    for hurst in (0.2, 0.5, 0.8):
        made[f"fractional noise, H {hurst}"] = fractional_noise(rng, n, hurst)
    made["particle positions"] = particle_positions(rng, n)
    made["electron integrals"] = electron_integrals(rng, n)
    for name, line in made.items():
        yield name, line.astype(np.float32)
        yield name, line
    if data is not None:
        for name in ("WarpX Ex", "WRF T"):
            yield f"{name} as a line", _real(data, name).reshape(-1)


def _planes(data: Path | None) -> Iterator[tuple[str, np.ndarray]]:
    rng = np.random.default_rng(SEED + 4)
    for name, slope in (("smooth plane", -5.0), ("rough plane", -2.5)):
        plane = random_field(rng, (512, 512), slope)
        yield name, plane
        yield name, plane.astype(np.float64)
    if data is not None:
        yield "ECHAM t, one level", np.ascontiguousarray(_real(data, "ECHAM t")[-1])
        yield "WRF QVAPOR, one level", np.ascontiguousarray(_real(data, "WRF QVAPOR")[0])


def _volumes(data: Path | None) -> Iterator[tuple[str, np.ndarray]]:
    cube = turbulence(CUBE)
    yield f"turbulence {CUBE}^3", cube
    smooth = random_field(np.random.default_rng(SEED + 5), (CUBE,) * 3, -5.0)
    yield f"smooth cube {CUBE}^3", smooth.astype(np.float64)
    if data is not None:
        for name in REFERENCE:
            yield name, _real(data, name)


def _series(data: Path | None) -> Iterator[tuple[str, np.ndarray]]:
    """Steps of a field that drifts, and a rough field in four dimensions."""
    field = random_field(np.random.default_rng(SEED + 6), (32, 48, 64), -4.0)
    steps = [np.roll(field, step, axis=-1) * np.float32(1 + 0.02 * step) for step in range(12)]
    yield "steps of a drifting field", np.stack(steps)
    rough = random_field(np.random.default_rng(SEED + 7), (12, 24, 48, 64), -3.0)
    yield "rough in four dimensions", rough.astype(np.float64)


def _lattices(data: Path | None) -> Iterator[tuple[str, np.ndarray]]:
    rng = np.random.default_rng(SEED + 8)
    n = LINE_VALUES
    walk = np.cumsum(rng.integers(-3, 4, n)).astype(np.float64)
    yield "0, 1, 2 ...", np.arange(n, dtype=np.float64)
    yield "0 to 999, each so many times", np.repeat(np.arange(1000.0), n // 1000)
    yield "walk of whole numbers", walk
    yield "walk in hundredths", (walk.astype(np.int64) / 100).astype(np.float32)
    yield "ramp by 0.37", (np.arange(n) * 0.37).astype(np.float32)
    sparse = np.where(rng.random(n) < 0.03, rng.standard_normal(n), 0)
    yield "97 % zeros", sparse.astype(np.float32)


def _real(data: Path, name: str) -> np.ndarray:
    return np.load(data_file(data, "arrays", REFERENCE[name]))


_MAKERS = {
    "lines": _lines,
    "planes": _planes,
    "volumes": _volumes,
    "series": _series,
    "lattices": _lattices,
}


def load(kinds: list[str], data: Path | None) -> Iterator[Case]:
    """Each array of the kinds under each of BOUNDS; without `data` the generated ones alone."""
    for kind in kinds:
        for name, array in _MAKERS[kind](data):
            for rel in BOUNDS:
                yield Case(kind, f"{name}, {_short(array.dtype)}", array, rel)


def _short(dtype: np.dtype) -> str:
    return f"{dtype.kind}{8 * dtype.itemsize}"
