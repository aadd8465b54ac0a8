# SPDX-License-Identifier: BSD-3-Clause
"""netCDF classic files, made and compared by netCDF's own library. As a program: compares two,
SOURCE COPY [LARGEST_ERROR]."""

import sys

import netCDF4
import numpy as np

FORMATS = {
    "NETCDF3_CLASSIC": (),
    "NETCDF3_64BIT_OFFSET": (),
    "NETCDF3_64BIT_DATA": ("u1", "u2", "u4", "i8", "u8"),
}


def make(path, kind):
    """Records, a variable of several chunks, letters, a scalar, a name beside a dimension."""
    numbers = np.random.default_rng(7)
    with netCDF4.Dataset(path, "w", format=kind) as file:
        file.title, file.nothing = "grüße", ""
        file.Conventions, file.history, file.author = (
            "CF-1.6",
            "made",
            "none",
        )  # no order of letters
        file.numbers = np.array([1, 2, 3], "i4")
        for name, size in (("time", None), ("lev", 20), ("lat", 60), ("lon", 90), ("letters", 8)):
            file.createDimension(name, size)
        time = file.createVariable("time", "f8", ("time",))
        time.units = "days since 2000-01-01"
        file.createVariable("lat", "f4", ("lat",))[:] = np.linspace(-90, 90, 60)
        file.createVariable("lev", "f4", ("lat", "lon"))[:] = numbers.random((60, 90))
        air = file.createVariable("air", "f4", ("time", "lev", "lat", "lon"), fill_value=-999.0)
        flags = file.createVariable("flags", "i1", ("time",))
        small = file.createVariable("small", "i2", ("time", "lat"))
        y, x = np.mgrid[0:60, 0:90]
        for step in range(37):
            time[step], flags[step] = step, step % 5
            field = 280 + 20 * np.sin(x / 15 + step / 9) + np.arange(20)[:, None, None] + y / 9
            field[:, :3, :4] = -999
            air[step], small[step] = field, numbers.integers(-99, 99, 60)
        file.createVariable("deep", "f8", ("lev", "lat", "lon"))[:] = np.cumsum(
            numbers.standard_normal((20, 60, 90)), 2
        )
        file.createVariable("name", "S1", ("lev", "letters"))[:] = np.array(
            [list(f"level{level:03d}") for level in range(20)], "S1"
        )
        file.createVariable("one", "i4", ())[...] = 42
        for dtype in FORMATS[kind]:
            values = file.createVariable(f"of_{dtype}", dtype, ("time", "lat"))
            values[:] = numbers.integers(0, 200, (37, 60))


def attributes(of):
    return {name: np.asarray(of.getncattr(name)).tolist() for name in of.ncattrs()}


def compare(source, copy, largest_error):
    """Everything that netCDF's own library finds in one is in the other, in the same order; of
    `air` within the error, which is not 0 then."""
    with netCDF4.Dataset(source) as a, netCDF4.Dataset(copy) as b:
        for file in (a, b):
            file.set_auto_maskandscale(False)
            file.set_auto_chartostring(False)
        sizes = [[(n, len(d), d.isunlimited()) for n, d in f.dimensions.items()] for f in (a, b)]
        assert sizes[0] == sizes[1]
        assert list(a.variables) == list(b.variables)
        assert list(attributes(a).items()) == list(attributes(b).items())
        for name, variable in a.variables.items():
            other = b.variables[name]
            assert variable.dimensions == other.dimensions and variable.dtype == other.dtype, name
            assert list(attributes(variable).items()) == list(attributes(other).items()), name
            values, others = np.asarray(variable[...]), np.asarray(other[...])
            if name == "air" and largest_error > 0:
                error = np.abs(values.astype("f8") - others).max()
                assert 0 < error <= largest_error, error
            else:
                assert values.tobytes() == others.tobytes(), name


if __name__ == "__main__":
    compare(*sys.argv[1:3], float(sys.argv[3]) if len(sys.argv) > 3 else 0)
