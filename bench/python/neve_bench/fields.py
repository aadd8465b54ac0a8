# SPDX-License-Identifier: BSD-3-Clause
"""What the codecs are measured on. Generated fields come from fixed seeds; real ones from
--data.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from pathlib import Path

import numpy as np

from neve._errors import FAILURE, Error

from .case import Case

SEED = 7
CUBE = 256
SPECIAL_CUBE = 64

REFERENCE = {
    "WarpX Ex": "wpx_Ex.npy",
    "WRF T": "wrf_T.npy",
    "WRF QVAPOR": "wrf_QV.npy",
    "WRF W": "wrf_W.npy",
    "ECHAM t": "echam_t.npy",
    "UM theta": "um_theta.npy",
}

# (name, file, variable): land or missing data is a fill value in each.
MASKED = (
    ("OSTIA temperature", "ostia_monthly.nc", "surface_temperature"),
    ("FOAM V", "foam.ocean.nc", "V"),
    ("NEMO tos", "nemo_1m_20150101-20150201_grid-T.nc", "tos"),
    ("ORCA sst", "ctorca.nc", "sosstsst"),
    ("MITgcm T", "global_oce_latlon_d0000-0360.nc", "T"),
    ("MITgcm U", "global_oce_latlon_d0000-0360.nc", "U"),
)


def random_field(rng: np.random.Generator, shape: tuple[int, ...], slope: float) -> np.ndarray:
    """Isotropic Gaussian field of unit variance whose power spectrum falls as k**slope."""
    from scipy import fft

    spectrum = fft.rfftn(rng.standard_normal(shape, dtype=np.float32))
    waves = [np.fft.fftfreq(n) * n for n in shape[:-1]] + [np.fft.rfftfreq(shape[-1]) * shape[-1]]
    squares = np.meshgrid(*[w.astype(np.float32) ** 2 for w in waves], indexing="ij", sparse=True)
    wave_squared = sum(squares)
    mean = (0,) * len(shape)
    wave_squared[mean] = 1
    spectrum *= wave_squared ** np.float32(slope / 4)
    spectrum[mean] = 0
    field = fft.irfftn(spectrum, s=shape)
    return (field / field.std()).astype(np.float32)


def turbulence(size: int = CUBE) -> np.ndarray:
    """Log-normal density with a rough k**-3 spectrum."""
    return np.exp(random_field(np.random.default_rng(SEED), (size,) * 3, -3.0)).astype(np.float32)


def em_wave(size: int = CUBE) -> np.ndarray:
    """A laser pulse and its plasma wake with particle noise, as a wakefield simulation has them."""
    axis = np.linspace(-1, 1, size, dtype=np.float32)
    z, y, x = np.meshgrid(axis, axis, axis, indexing="ij", sparse=True)
    radius_squared = x * x + y * y
    pulse_centre, pulse_length, pulse_waist, wave_number = 0.45, 0.12, 0.25, 24
    behind = pulse_centre - z
    pulse = np.exp(-((behind / pulse_length) ** 2) - radius_squared / pulse_waist**2)
    field = pulse * np.cos(-2 * np.pi * wave_number * behind - 6 * radius_squared)
    wake = np.sin(2 * np.pi * 3.3 * behind) * (behind > 0) * np.exp(-np.maximum(behind, 0) / 0.9)
    field = field + 0.25 * np.exp(-radius_squared / 0.3**2) * wake
    noise = random_field(np.random.default_rng(SEED + 1), (size,) * 3, -1.0)
    field = field + noise * (1e-4 * np.exp(-radius_squared / 0.5**2))
    return (3e12 * field).astype(np.float32)


def special_matrix(dtype: type) -> Iterator[tuple[str, np.ndarray, float | None]]:
    """(name, array, fill): what breaks codecs, each kind alone."""
    rng = np.random.default_rng(SEED + 2)
    smooth = turbulence(SPECIAL_CUBE).astype(dtype)
    places = rng.choice(smooth.size, 2000, replace=False)
    yield from _specials_in(smooth, places)
    yield from _extremes(dtype, rng)
    yield "largest values", (np.sign(smooth - 1) * np.finfo(dtype).max).astype(dtype), None
    yield "white noise", rng.standard_normal(smooth.shape).astype(dtype), None
    yield (
        "checkerboard",
        np.where(np.indices(smooth.shape).sum(axis=0) % 2 == 0, 1, -1).astype(dtype),
        None,
    )
    yield "one value", smooth[:1, :1, :1].copy(), None
    yield "thin", smooth[:, :1, :1].copy(), None


def _specials_in(
    smooth: np.ndarray, places: np.ndarray
) -> Iterator[tuple[str, np.ndarray, float | None]]:
    """A smooth field with special values at `places`."""

    def altered(change: Callable[[np.ndarray], None]) -> np.ndarray:
        array = smooth.copy()
        change(array.reshape(-1))
        return array

    def put(where: np.ndarray | slice, value: float) -> Callable[[np.ndarray], None]:
        def change(flat: np.ndarray) -> None:
            flat[where] = value

        return change

    def nan_and_infinities(flat: np.ndarray) -> None:
        flat[places[:1000]] = np.nan
        flat[places[1000:1500]] = np.inf
        flat[places[1500:]] = -np.inf

    def nan_payloads(flat: np.ndarray) -> None:
        bits = np.uint32 if flat.dtype.itemsize == 4 else np.uint64
        quiet = np.array([np.nan], flat.dtype).view(bits)[0]
        flat.view(bits)[places[:1000]] = quiet | np.arange(1, 1001).astype(bits)

    half = slice(0, smooth.size // 2)
    yield "NaN and infinities", altered(nan_and_infinities), None
    yield "NaN payloads", altered(nan_payloads), None
    yield "NaN in half the cube", altered(put(half, np.nan)), None
    yield "negative zeros", altered(put(places, -0.0)), None
    yield "fill 1e20, half the cube", altered(put(half, 1e20)), float(smooth.dtype.type(1e20))
    yield "fill -999, scattered", altered(put(places, -999.0)), -999.0
    yield "fill -9999, scattered", altered(put(places, -9999.0)), -9999.0
    yield "lone spikes of 1e30", altered(put(places[:20], 1e30)), None


def _extremes(
    dtype: type, rng: np.random.Generator
) -> Iterator[tuple[str, np.ndarray, float | None]]:
    """One value everywhere, and values at the ends of the type."""
    shape = (SPECIAL_CUBE,) * 3
    tiny = np.finfo(dtype).smallest_subnormal
    decades = 30 if dtype is np.float32 else 250
    yield "constant", np.full(shape, 3.14159, dtype), None
    yield "zero", np.zeros(shape, dtype), None
    yield "all NaN", np.full(shape, np.nan, dtype), None
    yield "all infinite", np.full(shape, np.inf, dtype), None
    yield "denormals", (rng.integers(-9999, 9999, shape) * tiny).astype(dtype), None
    yield (
        "huge range",
        (rng.standard_normal(shape) * 10.0 ** rng.uniform(-decades, decades, shape)).astype(dtype),
        None,
    )


def data_file(data: Path, *parts: str) -> Path:
    path = data.joinpath(*parts)
    if not path.exists():
        raise Error(
            f"{'/'.join(parts)}: not in the data folder given with --data (default "
            "../shared/data); "
            "--only turbulence special needs no data",
            FAILURE,
        )
    return path


def _masked_fields(data: Path) -> Iterator[Case]:
    import netCDF4

    for name, file, variable in MASKED:
        with netCDF4.Dataset(data_file(data, "climate", file)) as dataset:
            dataset.set_auto_maskandscale(False)
            source = dataset.variables[variable]
            array = np.squeeze(source[...])
            name_of_fill = "_FillValue" if "_FillValue" in source.ncattrs() else "missing_value"
            fill = float(source.getncattr(name_of_fill))
        yield Case("masked", f"{name}, fill", array, 1e-3, fill)
        with_nan = np.where(array == fill, np.nan, array).astype(array.dtype)
        yield Case("masked", f"{name}, NaN", with_nan, 1e-3)


def load(groups: list[str], data: Path) -> Iterator[Case]:
    """The fields of the named groups, one at a time: they are large."""
    if "reference" in groups:
        for rel in (1e-3, 1e-4):
            for name, file in REFERENCE.items():
                yield Case("reference", name, np.load(data_file(data, "arrays", file)), rel)
    if "turbulence" in groups:
        for name, make in (("turbulence 256^3", turbulence), ("EM wave 256^3", em_wave)):
            array = make()
            for rel in (1e-3, 1e-4):
                yield Case("turbulence", name, array, rel)
    if "masked" in groups:
        yield from _masked_fields(data)
    if "special" in groups:
        for dtype in (np.float32, np.float64):
            for name, array, fill in special_matrix(dtype):
                yield Case("special", f"{name}, {np.dtype(dtype).name}", array, 1e-3, fill)


GROUPS = ("reference", "turbulence", "masked", "special")
