# SPDX-License-Identifier: BSD-3-Clause
"""Pictures of the mini-apps' fields, out of files that `neve bench APP --keep` leaves.

Usage: scripts/plot_miniapps.py FOLDER OUT_FOLDER
"""

import pathlib
import sys

import h5py
import matplotlib

matplotlib.use("Agg")
import matplotlib.pyplot as plt
import numpy as np
import PIL.Image
from mpl_toolkits.mplot3d.art3d import Poly3DCollection


def first(folder, pattern):
    paths = sorted(folder.glob(pattern))
    if not paths:
        raise SystemExit(f"{folder} holds no {pattern}: keep it with `neve bench ... --keep`")
    return paths


def save(figure, path):
    figure.savefig(path, dpi=80, bbox_inches="tight")
    # Few colours: a third of the bytes.
    PIL.Image.open(path).convert("RGB").quantize(96).save(path, optimize=True)
    plt.close(figure)


def plot_struct(folder, out):
    """Surface and a section down, with land in grey."""
    with h5py.File(first(folder, "neve_struct_*_hdf5_*.h5")[0]) as file:
        value = file["value"][()]
    masked = np.ma.masked_equal(value, -999)
    figure, (top, bottom) = plt.subplots(2, 1, figsize=(5, 6), height_ratios=[4, 1])
    colours = plt.get_cmap("viridis").with_extremes(bad="0.75")
    limits = {"vmin": masked.min(), "vmax": masked.max(), "cmap": colours}
    top.imshow(masked[0], origin="lower", **limits)
    bottom.imshow(masked[:, value.shape[1] // 2], origin="upper", aspect="auto", **limits)
    top.set(title="surface", xlabel="x", ylabel="y")
    bottom.set(title="section", xlabel="x", ylabel="depth")
    figure.tight_layout()
    save(figure, out / "struct.png")


def plot_surface(axes, points, triangles, value, low, high):
    """Triangles coloured by the mean value of their corners, lit from above."""
    corners = points[triangles]
    normals = np.cross(corners[:, 1] - corners[:, 0], corners[:, 2] - corners[:, 0])
    light = np.array([0.4, -0.5, 0.77])
    shade = normals @ light / np.maximum(np.linalg.norm(normals, axis=1), 1e-30)
    mean = value[triangles].mean(axis=1)
    colour = plt.get_cmap("viridis")((mean - mean.min()) / max(np.ptp(mean), 1e-30))
    colour[:, :3] *= (0.55 + 0.45 * np.clip(shade, 0, 1))[:, None]
    axes.add_collection3d(Poly3DCollection(corners, facecolors=colour, edgecolors="none"))
    axes.set(xlim=(low, high), ylim=(low, high), zlim=(low, high))
    axes.set_box_aspect((1, 1, 1), zoom=1.3)
    axes.set_axis_off()


def plot_cartiso(folder, out):
    paths = first(folder, "neve_cartiso_surface_hdf5_*.h5")
    figure = plt.figure(figsize=(3 * len(paths), 3))
    for i, path in enumerate(paths):
        with h5py.File(path) as file:
            axes = figure.add_subplot(1, len(paths), i + 1, projection="3d")
            plot_surface(
                axes, file["points"][()], file["triangles"][()], file["noise"][()], 0.1, 0.9
            )
            axes.set_title(f"step {i}: {len(file['triangles'])} triangles", fontsize=8)
    save(figure, out / "cartiso.png")


def plot_amr(folder, out):
    """A section through the middle, each level over the coarser ones, with its blocks."""
    paths = first(folder, "neve_amr_skeleton_*.h5")
    figure, all_axes = plt.subplots(1, len(paths), figsize=(4 * len(paths), 4), squeeze=False)
    for axes, path in zip(all_axes[0], paths, strict=True):
        with h5py.File(path) as file:
            for level in range(int(file.attrs["num_levels"])):
                group = file[f"level_{level}"]
                dx = float(group.attrs["dx"])
                middle = round(0.5 / dx)
                offsets, data = group["data:offsets=0"][()], group["data:datatype=0"]
                for box, offset in zip(group["boxes"][()], offsets, strict=False):
                    low, high = np.array(list(box)[:3]), np.array(list(box)[3:])
                    if not low[2] <= middle <= high[2]:
                        continue
                    size = high - low + 1
                    values = data[offset : offset + size.prod()].reshape(size[::-1])
                    edges = [low[0] * dx, (high[0] + 1) * dx, low[1] * dx, (high[1] + 1) * dx]
                    axes.imshow(
                        values[middle - low[2]],
                        origin="lower",
                        extent=edges,
                        vmin=-0.5,
                        vmax=0.5,
                        cmap="RdBu_r",
                        zorder=level,
                    )
                    corner, width = (edges[0], edges[2]), edges[1] - edges[0]
                    axes.add_patch(
                        plt.Rectangle(corner, width, width, fill=False, lw=0.3, zorder=level + 0.5)
                    )
        axes.set(xlim=(0, 1), ylim=(0, 1), title=path.stem[-6:].lstrip("0") or "0")
    save(figure, out / "amr.png")


def plot_unstruct(folder, out):
    values = first(folder, "neve_unstruct_values_hdf5_*.h5")
    cells = first(folder, "neve_unstruct_connectivity_hdf5_*.h5")
    figure = plt.figure(figsize=(3 * len(values), 3))
    for i, (value, cell) in enumerate(zip(values, cells, strict=True)):
        with h5py.File(value) as a, h5py.File(cell) as b:
            axes = figure.add_subplot(1, len(values), i + 1, projection="3d")
            corners = b["triangles"][()].reshape(-1, 3)
            plot_surface(axes, a["points"][()], corners, a["noise"][()], -0.8, 0.8)
    save(figure, out / "unstruct.png")


def main():
    if len(sys.argv) != 3:
        raise SystemExit(__doc__)
    folder, out = pathlib.Path(sys.argv[1]), pathlib.Path(sys.argv[2])
    for plot in (plot_struct, plot_cartiso, plot_amr, plot_unstruct):
        plot(folder, out)


if __name__ == "__main__":
    main()
