# SPDX-License-Identifier: BSD-3-Clause
"""What files of other formats begin with. (h5py.is_hdf5 knows HDF5, behind a user block too.)"""

NPY = b"\x93NUMPY"
NETCDF_CLASSIC = b"CDF"
