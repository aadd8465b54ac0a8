// SPDX-License-Identifier: BSD-3-Clause
// The HDF5 library that called us. The plugin links none: a process may hold several (a wheel brings its
// own), and only the caller's knows its identifiers. Its functions are looked up by name in the library that
// holds the caller's return address.
#pragma once

#include <H5PLextern.h>

#include <string>

namespace neve::hdf5 {

struct HostHdf5 {
  decltype(&::H5Epush2) push_error = nullptr;
  // Our headers may be older than this one; null where the host is.
  herr_t (*is_paused)(hid_t stack, hbool_t* paused) = nullptr;
  decltype(&::H5Ecreate_stack) create_stack = nullptr;
  decltype(&::H5Eset_current_stack) set_current_stack = nullptr;
  const hid_t* error_class = nullptr;
  const hid_t* pipeline_major = nullptr;
  const hid_t* callback_minor = nullptr;
  decltype(&::H5Tget_class) type_class = nullptr;
  decltype(&::H5Tget_size) type_size = nullptr;
  decltype(&::H5Tget_order) type_order = nullptr;
  decltype(&::H5Tget_sign) type_sign = nullptr;
  decltype(&::H5Tget_fields) float_fields = nullptr;
  decltype(&::H5Tget_ebias) float_bias = nullptr;
  decltype(&::H5Tget_norm) float_norm = nullptr;
  decltype(&::H5Pget_chunk) chunk_shape = nullptr;
  decltype(&::H5Pget_filter_by_id2) filter_words = nullptr;
  decltype(&::H5Pmodify_filter) modify_filter = nullptr;
  decltype(&::H5Pget_nfilters) filter_count = nullptr;
  decltype(&::H5Pget_filter2) filter_at = nullptr;
  decltype(&::H5Pfill_value_defined) fill_is_defined = nullptr;
  decltype(&::H5Pget_fill_value) fill_value = nullptr;
  decltype(&::H5Pget_fill_time) fill_time = nullptr;

  bool can_report() const;
  bool can_describe_datasets() const {
    return type_class != nullptr && type_size != nullptr && type_order != nullptr && type_sign != nullptr &&
           float_fields != nullptr && float_bias != nullptr && float_norm != nullptr &&
           chunk_shape != nullptr && filter_words != nullptr && modify_filter != nullptr &&
           filter_count != nullptr && filter_at != nullptr && fill_is_defined != nullptr &&
           fill_value != nullptr && fill_time != nullptr;
  }

  // Puts `message` on the host's error stack; without a reachable host there is nowhere to say it.
  void report(const char* function, const std::string& message) const;

 private:
  void push(hid_t stack, const char* function, const std::string& message) const;
};

// `return_address`: of the callback that HDF5 called (__builtin_return_address(0) there).
HostHdf5 find_host_hdf5(void* return_address);

}  // namespace neve::hdf5
