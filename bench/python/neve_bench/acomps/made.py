# SPDX-License-Identifier: BSD-3-Clause
"""Series whose best method changes at known steps: a smooth wave, showers over dry cells, layers
that repeat, classes without an order. Everything is a function of the step alone.
"""

from __future__ import annotations

import numpy as np

SHAPE = (16, 48, 48)  # of a step: layers, rows, columns
STEPS = 30
CHANGES = (10, 20)  # steps at which the best method is another one
SEED = 39
DRY_SHARE = 0.9
LEVELS = 6  # different values of a layer's classes

# Which content the thirds of a series have. From the wave to classes the ratio of XORed bytes stays
# what it was where others reach several times as much: a rule that heeds the method in use alone
# sees nothing.
ORDERS = {
    "wave, showers, layers": ("wave", "showers", "layers"),
    "wave, classes, showers": ("wave", "classes", "showers"),
    "layers, wave, classes": ("layers", "wave", "classes"),
}
NAMES = tuple(ORDERS)


def step_of(name: str, step: int) -> np.ndarray:
    """float32, C-contiguous, of SHAPE. `step` is below STEPS."""
    content = ORDERS[name][sum(step >= change for change in CHANGES)]
    return np.ascontiguousarray(_CONTENTS[content](step), dtype=np.float32)


def _grid() -> tuple[np.ndarray, np.ndarray, np.ndarray]:
    z, y, x = np.meshgrid(*(np.linspace(0, 2 * np.pi, n) for n in SHAPE), indexing="ij")
    return z, y, x


def _wave(step: int) -> np.ndarray:
    """A temperature: smooth, with every bit of the mantissa in use."""
    z, y, x = _grid()
    phase = 0.05 * step
    return 280 + 3 * np.sin(0.25 * x + phase + 0.7) * np.cos(0.22 * y + 0.3) - 2 * z


def _showers(step: int) -> np.ndarray:
    """A rain rate: exact zeros but for some cells, whose values are noise."""
    random = np.random.default_rng((SEED, step))
    rain = random.lognormal(0, 1, SHAPE)
    return np.where(random.random(SHAPE) < DRY_SHARE, 0, rain)


def _layers(step: int) -> np.ndarray:
    """Few different values, and each layer like the one above it."""
    return np.broadcast_to(_classes(step)[0], SHAPE)


def _classes(step: int) -> np.ndarray:
    """Few different values, the same at every step, each cell by itself."""
    values = np.random.default_rng(SEED).random(LEVELS)
    random = np.random.default_rng((SEED, step))
    return values[random.integers(0, LEVELS, SHAPE)]


_CONTENTS = {"wave": _wave, "showers": _showers, "layers": _layers, "classes": _classes}
