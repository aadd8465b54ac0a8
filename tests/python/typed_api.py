# SPDX-License-Identifier: BSD-3-Clause
"""Every public name as a typed program uses it: test_types.py has mypy and pyright read this file,
and runs it. Its arguments: the folder for files, a plotfile.
"""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Any

import h5py
import numpy as np
import numpy.typing as npt

import neve
import neve.plot
from neve.export import export
from neve.plotfile import Field, Level, Plotfile, Slice


def arrays() -> None:
    field: npt.NDArray[np.float32] = np.linspace(0, 1, 6000, dtype=np.float32).reshape(20, 300)
    frame: bytes = neve.compress(field, rel=1e-3, effort="balanced", fill=None, threads=2)
    back: npt.NDArray[Any] = neve.decompress(frame, threads=1)
    assert np.abs(back - field).max() <= 1e-3
    from_list: bytes = neve.compress([[1, 2], [3, 4]], lossless=True, method="zstd")
    assert neve.decompress(memoryview(from_list)).tolist() == [[1, 2], [3, 4]]
    ratio: float = neve.info(frame)["ratio"]
    weighed: dict[str, Any] = neve.explain(field, rel=1e-3, codec="auto", speed_weight=1.0)
    assert ratio > 1 and weighed["candidates"]


def steps(folder: Path) -> None:
    field: npt.NDArray[np.float64] = np.linspace(0, 1, 6000).reshape(20, 300)
    made = neve.Series(candidates=["zstd", "BW-zlib"], speed_weight=1.0, delta=0.1, threads=1)
    frame: bytes = made.step("t", field)
    frames: list[bytes] = made.step("t", [field[:10], field[10:]])
    assert [len(neve.decompress(one)) for one in (frame, *frames)] == [20, 10, 10]
    choices: list[neve.Choice] = made.choices
    first: neve.Choice = choices[0]
    method: str = first.method
    dropped: int = made.choices_dropped
    rules: dict[str, Any] = made.rules
    made.write_choices(folder / "choices.h5", times=True)
    log: neve.ChoiceLog = neve.read_choices(folder / "choices.h5")
    assert method and dropped == 0 and log.rules == rules and log.choices[0].step == 0
    chosen = neve.Filter(lossless=True, candidates="acomps", speed_weight=1, ratio_weight=1)
    assert chosen["compression_opts"]
    assert neve.compress(field, lossless=True, candidates=("zstd",))


def filters(folder: Path) -> None:
    values = np.linspace(0, 1, 6000).reshape(20, 300)
    chunks: tuple[int, ...] = neve.guess_chunks(values.shape, values.dtype, append_axis=0)
    one = neve.Filter(rel=1e-3, range=(0.0, 1.0), fill=[-999.0, 1e20], rewrite=True)
    other = neve.Filter(abs=1e-3, data=values, codec="dual_quant", detect_fill=False)
    words: tuple[int, ...] = one["compression_opts"]
    text: str = neve.filter_text(words)
    named: tuple[int, ...] = neve.filter_parameters(text)
    assert named == words
    assert words and len(other) == len(one)
    with h5py.File(folder / "values.h5", "w") as file:
        dataset: h5py.Dataset = file.create_dataset("t", data=values, chunks=chunks, **one)
        assert np.abs(dataset[()] - values).max() <= 1e-3
    plugin: Path = neve.plugin_dir()
    assert plugin.is_dir()


def whole_files(folder: Path, plotfile: Path) -> None:
    made: neve.Report = neve.convert(
        plotfile, folder / "copy.h5", bound="rel=1e-3", fields={"Temp": "abs=0.5"}, threads=2
    )
    ratio: float = made["ratio"]
    notes: tuple[str, ...] = made.notes
    assert ratio == made.ratio and isinstance(notes, tuple)
    verdict: neve.Report = neve.verify(plotfile, folder / "copy.h5", progress=False)
    told: neve.Report = neve.file_info(folder / "copy.h5", follow_external=True)
    assert verdict["ok"] and told["levels"] and "plugin" in neve.doctor()


def series(folder: Path) -> None:
    steps: list[Path] = [folder / f"step_{step}.h5" for step in range(2)]
    for step, path in enumerate(steps):
        with h5py.File(path, "w") as file:
            file["t"] = np.sin(np.arange(3000) / 90 + step)
    made: neve.Report = neve.convert_series(steps, folder / "into", delta=0.1, choices="log")
    log: neve.ChoiceLog = neve.read_choices(folder / "into")
    choice: neve.Choice = log.choices[0]
    ratio: float = choice.ratio
    assert made["files"] and choice.is_new and ratio > 1 and log.rules["delta"] == 0.1


def streams() -> None:
    values = np.linspace(0, 1, 6000).reshape(20, 300)
    dims: int = neve.best_stream_dims(values, abs=1e-3, fill=None)
    encoder = neve.StreamEncoder(
        (None, 300), np.float64, abs=1e-3, dims=dims, codebook_rule="chi", chi=(5.0, 9.0)
    )
    encoder.push(values[:10])
    encoder.flush()
    head: bytes = encoder.take()
    encoder.push(values[10:])
    encoder.finish()
    head += encoder.take()
    reports: list[dict[str, Any]] = encoder.reports
    decoder = neve.StreamDecoder()
    decoder.push(head)
    decoder.finish()
    back: npt.NDArray[Any] = decoder.take()
    assert reports and decoder.has_ended and decoder.info is not None and back.size == values.size
    encoder.reset()
    small = neve.StreamEncoder(values.shape, "f8", abs=1e-3).encode(values)
    assert neve.decompress(small).shape == values.shape


def plotfiles(path: Path) -> None:
    with neve.open(path, follow_external=False) as plotfile:
        opened: Plotfile = plotfile
        level: Level = opened[0]
        name: str = opened.components[0]
        field: Field = level[name]
        box: npt.NDArray[Any] = field[0]
        boxes: list[npt.NDArray[Any]] = field[:1]
        bound: float | None = field.bound_abs
        mask: npt.NDArray[np.bool_] = field.left_out(0)
        plane: Slice = opened.slice(name, axis="z", level=0)
        assert box.shape == boxes[0].shape == field.boxes[0].shape == mask.shape
        assert bound is None and plane.extent[0] < plane.extent[1] and field.ghosts == (0, 0, 0)


def errors() -> None:
    try:
        neve.compress(np.zeros(3), abs=-1.0)
    except neve.Error as error:
        code: int = error.code
        assert code == 2
    target: str = neve.simd_target()
    names: list[str] = neve.simd_targets()
    neve.set_simd_target(target)
    assert target in names


def pictures(folder: Path, path: Path) -> None:
    at: dict[str, float | str] = {"z": 4.0}
    figure = neve.plot.plot(path, ["density", "Temp"], folder / "fields.png", at=at, dpi=50)
    figure.savefig(folder / "again.png")
    compared = neve.plot.compare(path, path, "density", range=(1e9, 1e11), log=True, size=(9, 7))
    assert len(compared.axes) == 4
    frames: int = neve.plot.film([path, path], folder / "a.gif", "density", fps=2.5, dpi=20)
    told: str = export(path, folder / "part.npy", "density", level=1, lo=(5, 2, 3), hi=(7, 5, 4))
    assert frames == 2 and "level 1" in told


def in_yt(path: Path) -> None:
    neve.load_yt(path, units_override={"length_unit": (1, "kpc")})


def in_xarray(path: Path) -> None:
    import xarray

    import neve.xarray

    with xarray.open_datatree(path, engine=neve.xarray.XarrayBackend, covered="nan") as tree:
        of_tree = neve.xarray.DataTreeAccessor(tree)
        joined: xarray.Dataset = of_tree.composite(1, ["density"])
        masks: xarray.DataTree = of_tree.covered
        level: xarray.Dataset = tree["level_0"].to_dataset()
        mask: xarray.DataArray = neve.xarray.DatasetAccessor(level).covered
        bounds: dict[str, float | None] = neve.xarray.DatasetAccessor(level).bounds
        assert joined.attrs["level"] == 1 and "level_0" in masks and mask.ndim == 3 and bounds


def over_mpi(folder: Path) -> None:
    """Read by the type checkers only: test_mpi.py runs such calls."""
    from mpi4py import MPI

    import neve.mpi

    comm = MPI.COMM_WORLD
    mine = np.zeros((4, 5))
    whole: npt.NDArray[Any] | None = neve.mpi.gather(comm, mine, root=0, bound="abs=1", threads=2)
    everywhere: npt.NDArray[Any] = neve.mpi.allgather(comm, mine, bound="abs=1")
    parts: list[npt.NDArray[Any]] = neve.mpi.alltoall(comm, [mine] * comm.size, bound="abs=1")
    same: npt.NDArray[Any] = neve.mpi.bcast(comm, everywhere, root=0, bound="abs=1")
    part: npt.NDArray[Any] = neve.mpi.scatter(comm, parts, root=0, bound="abs=1")
    neve.mpi.send(comm, mine, dest=0, tag=1, bound="lossless", codec="auto", effort="fast")
    received: int = neve.mpi.recv(comm, mine, source=0, tag=1, threads=1)
    with neve.mpi.File(comm, folder / "values.neve", "w") as file:
        file.write_at_all(0, mine, bound="abs=1", block_bytes=4096)
        file.write_at(20, mine)
        file.sync()
        dtype: np.dtype[Any] | None = file.dtype
        both: npt.NDArray[Any] = file.read_at_all(0, len(file), threads=2) + file.read_at(0, 20)
    assert whole is None or (received and dtype is not None and both.size + same.size + part.size)


if __name__ == "__main__":
    arrays()
    steps(Path(sys.argv[1]))
    filters(Path(sys.argv[1]))
    whole_files(Path(sys.argv[1]), Path(sys.argv[2]))
    series(Path(sys.argv[1]))
    streams()
    plotfiles(Path(sys.argv[2]))
    in_xarray(Path(sys.argv[2]))
    pictures(Path(sys.argv[1]), Path(sys.argv[2]))
    errors()
