# SPDX-License-Identifier: BSD-3-Clause
"""Files in Chombo's layout, made by h5py: what write<LevelData> of CH_HDF5 leaves."""

import dataclasses

import h5py
import numpy as np

AXES = "ijk"


def box_type(dims):
    return np.dtype([(f"{side}_{a}", "<i4") for side in ("lo", "hi") for a in AXES[:dims]])


def intvect(values):
    dtype = np.dtype([(f"intvect{a}", "<i4") for a in AXES[: len(values)]])
    return np.array(tuple(values), dtype)


@dataclasses.dataclass
class Variable:
    base: str
    components: int = 1
    ghosts: int = 0
    dtype: str = "<f8"
    gap: int = 0  # elements after each box that belong to none
    reverse: bool = False  # boxes lie in the opposite order
    faces: bool = False  # values on faces: more than cells
    says_ghosts: bool = True
    storage: dict = dataclasses.field(default_factory=dict)  # of h5py's create_dataset


LEVELS = (
    # domain's size, boxes as low and high corners along every direction
    (16, ((0, 7), (8, 15))),
    (32, ((8, 13), (14, 25))),
)


def stretch(dims):
    """In one dimension boxes are longer: a dataset under 2048 bytes stays as it is stored."""
    return 64 if dims == 1 else 1


def boxes_of(level, dims):
    """Boxes side by side along x, of equal extent along the others."""
    _, spans = LEVELS[level]
    low, high = spans[0]
    times = stretch(dims)
    return [
        ((lo * times,) + (low,) * (dims - 1), ((hi + 1) * times - 1,) + (high,) * (dims - 1))
        for lo, hi in spans
    ]


def values_of(variable, box, number, dims, seed):
    """Smooth fields with a few special values; all components of one box, x fastest."""
    lo, hi = box
    g = variable.ghosts
    grids = np.meshgrid(
        *[np.arange(a - g, b + g + 1) for a, b in zip(lo, hi, strict=True)], indexing="ij"
    )
    rng = np.random.default_rng(seed + number)
    parts = []
    for c in range(variable.components):
        field = 10.0**c * (2 + np.sin(sum(grids) / 3 + c)) + 1e-3 * rng.standard_normal(
            grids[0].shape
        )
        if variable.dtype[1] == "f":
            field.flat[0] = np.nan
            field.flat[-1] = -0.0
        parts.append(field.astype(variable.dtype).ravel(order="F"))
    values = np.concatenate(parts)
    if variable.faces:
        values = np.concatenate([values, values[: values.size // 4]])
    return values


def write_variable(group, variable, level, dims):
    boxes = boxes_of(level, dims)
    chunks = [values_of(variable, box, b, dims, 100 * level) for b, box in enumerate(boxes)]
    order = range(len(boxes))[::-1] if variable.reverse else range(len(boxes))
    offsets = np.zeros(len(boxes) + 1, "<i8")
    pieces, at = [], 0
    for b in order:
        offsets[b] = at
        gap = np.full(variable.gap, 7, variable.dtype)
        pieces += [chunks[b], gap]
        at += chunks[b].size + gap.size
    offsets[-1] = at
    group.create_dataset(
        f"{variable.base}:datatype=0", data=np.concatenate(pieces), **variable.storage
    )
    group.create_dataset(f"{variable.base}:offsets=0", data=offsets)
    attributes = group.create_group(f"{variable.base}_attributes")
    attributes.attrs["comps"] = np.int32(variable.components)
    attributes.attrs["objectType"] = np.bytes_("FluxBox" if variable.faces else "FArrayBox")
    attributes.attrs["ghost"] = intvect((variable.ghosts,) * dims)
    if variable.says_ghosts:
        attributes.attrs["outputGhost"] = intvect((variable.ghosts,) * dims)


def write(path, dims, variables, *, restart=True, components=(), empty_level=False, extras=True):
    with h5py.File(path, "w", libver="earliest") as file:
        file.create_group("Chombo_global").attrs.update(
            {"SpaceDim": np.int32(dims), "testReal": np.float64(0)}
        )
        file.attrs["num_levels"] = np.int32(len(LEVELS) + empty_level)
        file.attrs["max_level"] = np.int32(4)
        file.attrs["iteration"] = np.int32(17)
        file.attrs["time"] = np.float64(0.125)
        file.attrs["num_components"] = np.int32(len(components))
        for c, name in enumerate(components):
            file.attrs[f"component_{c}"] = np.bytes_(name)
        if restart:
            file.attrs["regrid_interval_0"] = np.int32(2)
            file.attrs["steps_since_regrid_0"] = np.int32(1)
        for level in range(len(LEVELS) + empty_level):
            write_level(file, level, dims, variables, restart)
        if extras:
            other = file.create_group("bisicles")
            other.attrs["friction law"] = "μ"  # variable-length UTF-8
            other.create_dataset("table", data=np.arange(12, dtype="<i2").reshape(3, 4))


def write_level(file, level, dims, variables, restart):
    group = file.create_group(f"level_{level}")
    is_empty = level >= len(LEVELS)
    size = LEVELS[min(level, len(LEVELS) - 1)][0] * (2 if is_empty else 1) * stretch(dims)
    domain = np.array((0,) * dims + (size - 1,) * dims, "<i4")
    group.attrs["prob_domain"] = np.array(tuple(domain), box_type(dims))
    group.attrs["dx"] = np.float64(1 / size)
    group.attrs["dt"] = np.float64(0.01 / 2**level)
    group.attrs["time"] = np.float64(0.125 + level)
    group.attrs["ref_ratio"] = np.int32(2)
    if restart:
        group.attrs["tag_buffer_size"] = np.int32(3)
        for d in range(dims):
            group.attrs[f"is_periodic_{d}"] = np.int32(d % 2)
    if is_empty:
        group.create_dataset("boxes", shape=(0,), dtype=box_type(dims))
        group.create_dataset("Processors", shape=(0,), dtype="<i4")
        for variable in variables:
            group.create_dataset(f"{variable.base}:datatype=0", shape=(0,), dtype=variable.dtype)
            group.create_dataset(f"{variable.base}:offsets=0", data=np.zeros(1, "<i8"))
        return
    boxes = boxes_of(level, dims)
    group.create_dataset("boxes", data=np.array([lo + hi for lo, hi in boxes], box_type(dims)))
    group.create_dataset("Processors", data=np.arange(len(boxes), dtype="<i4") % 2)
    for variable in variables:
        write_variable(group, variable, level, dims)


def same_everywhere(a, b, ignore=()):
    """Differences between two files as h5py sees them, attributes and types among them."""
    found = []

    def attributes(path, x, y):
        names = set(x.attrs) | set(y.attrs)
        for name in sorted(names):
            if name not in x.attrs or name not in y.attrs:
                found.append(f"{path}@{name} is on one side")
                continue
            tx, ty = x.attrs.get_id(name), y.attrs.get_id(name)
            if (
                tx.dtype != ty.dtype
                or tx.shape != ty.shape
                or not tx.get_type().equal(ty.get_type())
            ):
                found.append(f"{path}@{name} has another type")
            elif np.asarray(x.attrs[name]).tobytes() != np.asarray(y.attrs[name]).tobytes() and (
                tx.dtype.kind != "O" or x.attrs[name] != y.attrs[name]
            ):
                found.append(f"{path}@{name} has another value")

    def compare(x, y, path):
        attributes(path, x, y)
        for name in sorted(set(x) | set(y)):
            place = f"{path}/{name}"
            if place in ignore or name in ignore:
                continue
            if name not in x or name not in y:
                found.append(f"{place} is on one side")
            elif isinstance(x[name], h5py.Group):
                compare(x[name], y[name], place)
            else:
                dx, dy = x[name], y[name]
                attributes(place, dx, dy)
                if dx.shape != dy.shape or not dx.id.get_type().equal(dy.id.get_type()):
                    found.append(f"{place} has another type or shape")
                elif dx[()].tobytes() != dy[()].tobytes():
                    found.append(f"{place} has other values")

    with h5py.File(a) as x, h5py.File(b) as y:
        compare(x, y, "")
    return found
