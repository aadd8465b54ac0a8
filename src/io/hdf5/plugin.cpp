// SPDX-License-Identifier: BSD-3-Clause
// What HDF5 looks for in a filter plugin. These two symbols are all that the library exports (plugin.map). A
// plugin has one number, NEVE_PLUGIN_FILTER_ID; each number that files have needs a plugin of its own.
#include "io/hdf5/filter.hpp"

#pragma GCC visibility push(default)
extern "C" {

H5PL_type_t H5PLget_plugin_type(void) { return H5PL_TYPE_FILTER; }

const void* H5PLget_plugin_info(void) { return &neve::hdf5::filter_class<NEVE_PLUGIN_FILTER_ID>(); }
}
#pragma GCC visibility pop
