# SPDX-License-Identifier: BSD-3-Clause
"""Data files with everything that a conversion has to keep, and their comparison by other readers.

Run as a program it compares two files, in a process whose HDF5 finds the plugin:
data_files.py READER A B.
"""

import sys

import numpy as np


def _axes(f):
    f.title = "a file with everything"
    f.numbers = np.array([1.5, -2.0], dtype=np.float32)
    f.setncattr_string("tags", ["first", "zweite", "troisième"])
    f.createDimension("time", None)
    f.createDimension("lev", 3)
    f.createDimension("lat", 20)
    f.createDimension("lon", 37)
    f.createDimension("nchar", 8)
    f.createDimension("unused", 5)
    time = f.createVariable("time", "f8", ("time",), chunksizes=(4,))
    time.units = "days since 2000-01-01"
    lat = f.createVariable("lat", "f4", ("lat",))
    lat.units = "degrees_north"
    lat[:] = np.linspace(-90, 90, 20)
    lon = f.createVariable("lon", "f8", ("lon",))
    lon[:] = np.arange(37) * 10.0
    return time


def _user_types(f):
    pair = f.createCompoundType(np.dtype([("u", "f4"), ("n", "i4")]), "pair_t")
    pairs = f.createVariable("pairs", pair, ("lev",))
    pairs[:] = np.array([(1.5, 1), (2.5, 2), (np.nan, 3)], dtype=pair.dtype)
    ragged = f.createVLType(np.int32, "ragged_t")
    rows = f.createVariable("rows", ragged, ("lev",))
    for i, row in enumerate(([1, 2, 3], [], [7])):
        rows[i] = np.array(row, dtype=np.int32)
    colour = f.createEnumType(np.uint8, "colour_t", {"red": 0, "green": 1})
    f.createVariable("colours", colour, ("lev",))[:] = np.array([0, 1, 0], dtype=np.uint8)


def make_netcdf(path):
    """What netCDF-4 knows: groups, user types, unlimited dimensions, packing, fill values."""
    import netCDF4

    rng = np.random.default_rng(5)
    with netCDF4.Dataset(path, "w") as f:
        time = _axes(f)
        y, x = np.meshgrid(np.arange(20) / 3, np.arange(37) / 5, indexing="ij")
        waves = np.sin(x)[None] * np.cos(y)[None] * np.arange(1, 12)[:, None, None]

        temp = f.createVariable(
            "temp",
            "f4",
            ("time", "lat", "lon"),
            fill_value=np.float32(1e20),
            chunksizes=(2, 20, 37),
        )
        temp.units, temp.valid_range = "K", np.array([180, 330], dtype=np.float32)
        values = (280 + waves).astype(np.float32)
        values[:, 3:6, 10:20] = 1e20
        temp[:] = values
        time[:] = np.arange(11) * 0.5

        # Chunks that do not divide the extent, in dimensions that can and cannot grow.
        wind = f.createVariable(
            "wind",
            "f8",
            ("time", "lev", "lat", "lon"),
            zlib=True,
            shuffle=True,
            chunksizes=(4, 2, 16, 16),
        )
        noise = np.round(rng.normal(size=(11, 3, 20, 37)), 2)
        noise[2, 1, 4, 5], noise[3, 0, 0, 0], noise[4, 0, 0, 1] = np.nan, -0.0, np.inf
        wind[:] = noise
        packed = f.createVariable(
            "packed", "i2", ("time", "lat", "lon"), fill_value=np.int16(-32768), zlib=True
        )
        packed.scale_factor, packed.add_offset = 0.01, 273.15
        packed[:] = np.ma.masked_less(280 + waves, 275)
        counts = f.createVariable("counts", "i4", ("lat", "lon"))
        counts[:] = np.arange(740).reshape(20, 37) ** 2
        f.createVariable("flags", "u1", ("lev", "lat", "lon"))[:] = rng.integers(0, 3, (3, 20, 37))
        f.createVariable("big_endian", "f4", ("lat", "lon"), endian="big")[:] = waves[3]
        f.createVariable("height", "f8", ())[...] = 2.0
        f.createVariable("never_written", "f4", ("time", "lat", "lon"), fill_value=-5.0)
        f.createVariable("static", "f4", ("lat", "lon"), contiguous=True)[:] = waves[7]
        names = f.createVariable("names", str, ("lev",))
        names[:] = np.array(["one", "", "drei und ein längerer Text"], dtype=object)
        f.createVariable("letters", "S1", ("lev", "nchar"))[:] = np.frombuffer(
            b"abcdefghijklmnopqrstuvwx", dtype="S1"
        ).reshape(3, 8)

        deep = f.createGroup("ocean").createGroup("deep")
        deep.createDimension("depth", 6)
        deep.note = "inherits lat and lon"
        salt = deep.createVariable("salt", "f8", ("depth", "lat", "lon"), zlib=True)
        salt[:] = 35 + waves[:6] / 100
        _user_types(f)


def make_hdf5(path):
    """What only HDF5 knows: all kinds of links, references, named types, a user block, holes."""
    import h5py

    with h5py.File(path, "w", userblock_size=512, track_order=True) as f:
        f.create_group("zebra")
        group = f.create_group("apple", track_order=True)
        values = np.sin(np.arange(40000) / 50).reshape(100, 400)
        data = group.create_dataset("data", data=values)
        data.attrs["unit"] = "m"
        data.attrs["empty"] = h5py.Empty("f4")
        f["again"] = data
        f["soft"] = h5py.SoftLink("/apple/data")
        f["elsewhere"] = h5py.ExternalLink("other.h5", "/x")
        f["up"] = group
        f["named"] = np.dtype([("a", "f8"), ("b", "S5")])
        records = f.create_dataset("records", (3,), dtype=f["named"])
        records[:] = [(1, b"x"), (2, b"yy"), (3, b"")]
        holes = f.create_dataset("holes", (64, 64), chunks=(16, 16), dtype="f4", fillvalue=-1)
        holes[16:32, 32:48] = 5
        references = f.create_dataset("references", (3,), dtype=h5py.ref_dtype)
        references[0], references[1] = data.ref, group.ref
        f.attrs["region"] = data.regionref[3:6, 10:20]
        f.attrs["big"] = np.arange(3000, dtype="f8")
        f.create_dataset("opaque", data=np.array([b"abcd", b"efgh"], dtype="V4"))
        f.create_dataset("half", data=values.astype("f2"))
        f.create_dataset("no_values", data=h5py.Empty("f8"))
        f.create_dataset("nothing", (0, 4), maxshape=(None, 4), dtype="f8")
        f.create_dataset("growing", data=values[:30], maxshape=(None, 400), chunks=(32, 128))
        f["zebra"].attrs["order"] = "first made, last by name"
    with open(path, "r+b") as raw:
        raw.write(b"#!user block\n")


def same(a, b):
    a, b = np.asarray(a), np.asarray(b)
    if a.dtype != b.dtype or a.shape != b.shape:
        return False
    if a.dtype.hasobject:
        return all(np.array_equal(x, y) for x, y in zip(a.ravel(), b.ravel(), strict=True))
    return a.tobytes() == b.tobytes()


def compare_netcdf4(a, b):
    import netCDF4

    def walk(x, y, place):
        for z in (x, y):
            z.set_auto_maskandscale(False)
        assert x.ncattrs() == y.ncattrs(), place
        for name in x.ncattrs():
            assert same(x.getncattr(name), y.getncattr(name)), (place, name)
        assert list(x.dimensions) == list(y.dimensions), place
        for name, dim in x.dimensions.items():
            twin = y.dimensions[name]
            assert (len(dim), dim.isunlimited()) == (len(twin), twin.isunlimited()), (place, name)
        assert list(x.variables) == list(y.variables), place
        assert list(x.cmptypes) == list(y.cmptypes) and list(x.vltypes) == list(y.vltypes)
        assert list(x.enumtypes) == list(y.enumtypes)
        for name, v in x.variables.items():
            w = y.variables[name]
            assert v.dimensions == w.dimensions and str(v.dtype) == str(w.dtype), (place, name)
            assert v.endian() == w.endian(), (place, name)
            assert v.ncattrs() == w.ncattrs(), (place, name)
            for attribute in v.ncattrs():
                assert same(v.getncattr(attribute), w.getncattr(attribute)), (
                    place,
                    name,
                    attribute,
                )
            assert same(v[...], w[...]), (place, name)
        assert list(x.groups) == list(y.groups), place
        for name in x.groups:
            walk(x.groups[name], y.groups[name], f"{place}/{name}")

    with netCDF4.Dataset(a) as x, netCDF4.Dataset(b) as y:
        walk(x, y, "")


def compare_xarray(a, b):
    import netCDF4
    import xarray

    groups = [""]
    with netCDF4.Dataset(a) as f:
        for name, group in f.groups.items():
            groups += [name] + [f"{name}/{inner}" for inner in group.groups]
        own_types = [
            name for name, v in f.variables.items() if not isinstance(v.datatype, np.dtype | type)
        ]
    for group in groups:
        for decoded in (True, False):
            options = dict(
                group=group,
                decode_cf=decoded,
                engine="netcdf4",
                drop_variables=[] if group else own_types,
                decode_timedelta=False,
            )
            with xarray.open_dataset(a, **options) as x, xarray.open_dataset(b, **options) as y:
                assert x.identical(y), (group, decoded)


def compare_h5py(a, b):
    import h5py

    def references(value, file):
        if isinstance(value, h5py.RegionReference):
            return (
                (file[value].name, h5py.h5r.get_region(value, file.id).get_select_bounds())
                if value
                else None
            )
        if isinstance(value, h5py.Reference):
            return file[value].name if value else None
        if isinstance(value, np.ndarray) and value.dtype.hasobject:
            return [references(x, file) for x in value.ravel()]
        if isinstance(value, np.void) and value.dtype.names:
            return [references(value[n], file) for n in value.dtype.names]
        if isinstance(value, np.ndarray | np.generic):
            return value.tobytes()
        return value

    def attributes(x, y, place):
        assert list(x.attrs) == list(y.attrs), place
        for name in x.attrs:
            mine, other = x.attrs[name], y.attrs[name]
            assert str(getattr(mine, "dtype", type(mine))) == str(
                getattr(other, "dtype", type(other))
            )
            assert references(mine, x.file) == references(other, y.file), (place, name)

    def walk(x, y, place):
        attributes(x, y, place)
        assert list(x) == list(y), place
        for name in x:
            link, twin = x.get(name, getlink=True), y.get(name, getlink=True)
            assert type(link) is type(twin), (place, name)
            if isinstance(link, h5py.SoftLink | h5py.ExternalLink):
                assert link.path == twin.path, (place, name)
                assert getattr(link, "filename", None) == getattr(twin, "filename", None)
                continue
            v, w = x[name], y[name]
            if isinstance(v, h5py.Group):
                if v.name == f"{place}/{name}":
                    walk(v, w, f"{place}/{name}")
                continue
            attributes(v, w, f"{place}/{name}")
            if isinstance(v, h5py.Datatype):
                assert v.dtype == w.dtype
                continue
            assert (v.shape, v.maxshape, v.dtype) == (w.shape, w.maxshape, w.dtype), (place, name)
            assert v.id.get_type().committed() == w.id.get_type().committed(), (place, name)
            if v.shape is not None:
                assert references(v[...], v.file) == references(w[...], w.file), (place, name)
                if not v.dtype.hasobject:
                    assert same(v.fillvalue, w.fillvalue), (place, name)

    with h5py.File(a) as x, h5py.File(b) as y:
        walk(x, y, "")


if __name__ == "__main__":
    readers = {"netcdf4": compare_netcdf4, "xarray": compare_xarray, "h5py": compare_h5py}
    readers[sys.argv[1]](sys.argv[2], sys.argv[3])
