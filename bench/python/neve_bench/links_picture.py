# SPDX-License-Identifier: BSD-3-Clause
"""The picture of `neve bench links`: what frames gain over bandwidth, and over nodes."""

from __future__ import annotations

import statistics
from pathlib import Path
from typing import Any

from . import figures

NAME = "mpi-links.png"
MODELLED = ("MPI_Gather, values at root", "MPI_Gather, frames kept at root", "MPI_File_write")
CORES = (1, 16, 128)
BLOCK_BYTES = 4 << 20
# What the CEAZ paper says of its figure 17.
CEAZ_NODES = 128
CEAZ = {
    "gather": {
        "SZ, 1 core": 25.1 / 29.7,
        "SZ, 16 cores": 10.9,
        "CEAZ, Nyx": 13.4,
        "CEAZ, S3D": 24.8,
    },
    "write": {
        "SZ, 1 core": 23.9 / 26.6,
        "SZ, 16 cores": 11.8,
        "CEAZ, Nyx": 13.6,
        "CEAZ, S3D": 25.8,
    },
}
COLOURS = ("#1f77b4", "#ff7f0e", "#2ca02c", "#d62728", "#9467bd", "#8c564b")
MARKS = {"gather": "o", "write": "^"}


def gain(slowness: float, ratio: float, decode_over_encode: float, blocks: float) -> float:
    """Of a gather through a link that is `slowness` times slower than its ranks encode: encoding,
    moving and decoding side by side, but for one block.
    """
    parts = [1.0, slowness / ratio, 1 / decode_over_encode]
    return max(slowness, 1e-9) / (max(parts) + (sum(parts) - max(parts)) / blocks)


def modelled(recorded: dict[str, Any], operation: str, nodes: int, cores: int) -> list[float]:
    """Of all fields."""
    return [
        row["factor"]
        for field in recorded["fields"]
        for row in field["modelled"]
        if (row["operation"], row["nodes"], row["cores"]) == (operation, nodes, cores)
    ]


def _scale(axes: Any, across: list[float]) -> None:
    """Both logarithmic, with numbers as people say them."""
    axes.set_xscale("log", base=2)
    axes.set_yscale("log", base=2)
    axes.set_xticks(across, [_said(value) for value in across], fontsize=8)
    axes.minorticks_off()
    axes.yaxis.set_major_formatter(lambda value, _: _said(value))


def _said(value: float) -> str:
    return f"{value:g}" if value >= 1 else f"1/{1 / value:g}"


def _draw_bandwidth(axes: Any, recorded: dict[str, Any]) -> None:
    for colour, field in zip(COLOURS, recorded["fields"], strict=False):
        for operation, mark in MARKS.items():
            axes.plot(
                [1 / point["encode_over_link"] for point in field["links"]],
                [point[operation]["factor"] for point in field["links"]],
                mark,
                color=colour,
                markersize=5,
                label=field["field"].removesuffix(".npy") if operation == "gather" else None,
            )
    cores = [field["one_core"] for field in recorded["fields"]]
    ratio = statistics.median(core["ratio"] for core in cores)
    decode = statistics.median(core["decode_GBps"] / core["encode_GBps"] for core in cores)
    blocks = recorded["fields"][0]["rank_bytes"] / BLOCK_BYTES
    shares = [2 ** (-step / 8) for step in range(-16, 57)]
    axes.plot(
        shares,
        [gain(1 / share, ratio, decode, blocks) for share in shares],
        color="black",
        linewidth=1,
        label=f"model, ratio {ratio:.0f}",
    )
    axes.axhline(1, color="grey", linewidth=0.8, linestyle=":")
    _scale(axes, [1 / 64, 1 / 24, 1 / 12, 1 / 4, 1 / 2, 1, 2, 4])
    axes.set_xlabel("bandwidth of the link / speed of encoding")
    axes.set_ylabel("frames: times as fast as values")
    axes.set_title("Measured: gather (circles), write (triangles)", fontsize=10)
    axes.legend(fontsize=7)


def _draw_nodes(axes: Any, recorded: dict[str, Any]) -> None:
    nodes = sorted({row["nodes"] for row in recorded["fields"][0]["modelled"]})
    styles = dict(zip(MODELLED, ("-", "--", ":"), strict=True))
    for colour, cores in zip(COLOURS, CORES, strict=False):
        for operation, style in styles.items():
            axes.plot(
                nodes,
                [statistics.median(modelled(recorded, operation, n, cores)) for n in nodes],
                style,
                color=colour,
                label=f"{operation}, {cores} cores" if cores > 1 else f"{operation}, 1 core",
            )
    for operation, mark in MARKS.items():
        for shade, (name, factor) in zip(
            ("0.7", "0.5", "0.25", "0"), CEAZ[operation].items(), strict=True
        ):
            axes.plot(
                [CEAZ_NODES],
                [factor],
                mark,
                color=shade,
                markersize=6,
                label=f"{name} (paper)" if operation == "gather" else None,
            )
    axes.axhline(1, color="grey", linewidth=0.8, linestyle=":")
    _scale(axes, nodes)
    axes.set_xlabel("nodes")
    model = recorded["fields"][0]["model"]
    axes.set_title(
        f"Modelled: links of {model['link_GBps']:g}, files {model['storage_GBps']:g} GB/s;\n"
        "paper: CEAZ's figure 17, gather (circles), write (triangles)",
        fontsize=10,
    )
    axes.legend(fontsize=7, loc="center left", bbox_to_anchor=(1.01, 0.5))


def draw(recorded: dict[str, Any], folder: Path) -> Path:
    figure, (bandwidth, nodes) = figures.picture(2, columns=2)
    _draw_bandwidth(bandwidth, recorded)
    _draw_nodes(nodes, recorded)
    return figures.save_picture(figure, folder / NAME)
