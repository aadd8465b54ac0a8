// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/host_hdf5.hpp"

#include <dlfcn.h>

namespace neve::hdf5 {
namespace {

class Library {
 public:
  explicit Library(void* address_inside) {
    Dl_info info{};
    if (dladdr(address_inside, &info) == 0 || info.dli_fname == nullptr) return;
    handle_ = dlopen(info.dli_fname, RTLD_LAZY | RTLD_NOLOAD | RTLD_LOCAL);
  }
  // Dropping our reference is safe: the caller's frame keeps its library loaded.
  ~Library() {
    if (handle_ != nullptr) dlclose(handle_);
  }
  Library(const Library&) = delete;
  Library& operator=(const Library&) = delete;

  // A host that has HDF5 inside its executable is not found by name; its symbols are global then.
  template <class T>
  void look_up(const char* name, T* out) const {
    void* symbol = handle_ != nullptr ? dlsym(handle_, name) : nullptr;
    if (symbol == nullptr) symbol = dlsym(RTLD_DEFAULT, name);
    *out = reinterpret_cast<T>(symbol);
  }

 private:
  void* handle_ = nullptr;
};

}  // namespace

HostHdf5 find_host_hdf5(void* return_address) {
  const Library library(return_address);
  HostHdf5 host;
  library.look_up("H5Epush2", &host.push_error);
  library.look_up("H5Eis_paused", &host.is_paused);
  library.look_up("H5Ecreate_stack", &host.create_stack);
  library.look_up("H5Eset_current_stack", &host.set_current_stack);
  library.look_up("H5E_ERR_CLS_g", &host.error_class);
  library.look_up("H5E_PLINE_g", &host.pipeline_major);
  library.look_up("H5E_CALLBACK_g", &host.callback_minor);
  library.look_up("H5Tget_class", &host.type_class);
  library.look_up("H5Tget_size", &host.type_size);
  library.look_up("H5Tget_order", &host.type_order);
  library.look_up("H5Tget_sign", &host.type_sign);
  library.look_up("H5Tget_fields", &host.float_fields);
  library.look_up("H5Tget_ebias", &host.float_bias);
  library.look_up("H5Tget_norm", &host.float_norm);
  library.look_up("H5Pget_chunk", &host.chunk_shape);
  library.look_up("H5Pget_filter_by_id2", &host.filter_words);
  library.look_up("H5Pmodify_filter", &host.modify_filter);
  library.look_up("H5Pget_nfilters", &host.filter_count);
  library.look_up("H5Pget_filter2", &host.filter_at);
  library.look_up("H5Pfill_value_defined", &host.fill_is_defined);
  library.look_up("H5Pget_fill_value", &host.fill_value);
  library.look_up("H5Pget_fill_time", &host.fill_time);
  return host;
}

bool HostHdf5::can_report() const {
  if (push_error == nullptr || error_class == nullptr || pipeline_major == nullptr ||
      callback_minor == nullptr) {
    return false;
  }
  return *error_class > 0;  // no identifiers before HDF5 has initialized itself
}

void HostHdf5::push(hid_t stack, const char* function, const std::string& message) const {
  push_error(stack, "neve", function, 0, *error_class, *pipeline_major, *callback_minor, "%s",
             message.c_str());
}

void HostHdf5::report(const char* function, const std::string& message) const {
  if (!can_report()) return;
  hbool_t paused = false;
  if (is_paused != nullptr && create_stack != nullptr && set_current_stack != nullptr &&
      is_paused(H5E_DEFAULT, &paused) >= 0 && paused) {
    // HDF5 2 pauses the stack while a filter runs and drops what is pushed meanwhile. Resuming it does not
    // help: pausing it again clears it. A stack of our own put in its place stays.
    const hid_t stack = create_stack();
    if (stack < 0) return;
    push(stack, function, message);
    set_current_stack(stack);
    return;
  }
  push(H5E_DEFAULT, function, message);
}

}  // namespace neve::hdf5
