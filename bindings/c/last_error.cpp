// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/c/last_error.hpp"

#include <string>

#include "neve/neve.h"

namespace neve::capi {
namespace {

static_assert(static_cast<int>(Code::ok) == NEVE_OK);
static_assert(static_cast<int>(Code::failure) == NEVE_FAILURE);
static_assert(static_cast<int>(Code::usage) == NEVE_USAGE);
static_assert(static_cast<int>(Code::bound_violated) == NEVE_BOUND_VIOLATED);
static_assert(static_cast<int>(Code::corrupt) == NEVE_CORRUPT);
static_assert(static_cast<int>(Code::plugin_missing) == NEVE_PLUGIN_MISSING);

thread_local std::string last_error;

}  // namespace

int report(const Status& status) noexcept {
  try {
    last_error = status.message();
  } catch (...) {
    last_error = "no memory";  // short enough to need none
  }
  return static_cast<int>(status.code());
}

}  // namespace neve::capi

const char* neve_last_error(void) { return neve::capi::last_error.c_str(); }
