// SPDX-License-Identifier: BSD-3-Clause
#include "core/status/guarded.hpp"

#include <exception>
#include <new>
#include <stdexcept>
#include <string>

namespace neve {
namespace {

// A string that short keeps its characters in itself.
Status no_memory() noexcept { return failure("out of memory"); }

Status described(std::string_view what, std::string_view reason) noexcept {
  try {
    std::string message(what);
    if (!message.empty()) message += ": ";
    message += reason;
    return failure(std::move(message));
  } catch (...) {
    return no_memory();
  }
}

}  // namespace

Status caught_exception(std::string_view what) noexcept {
  try {
    throw;
  } catch (const std::bad_alloc&) {
    return described(what, "out of memory");
  } catch (const std::length_error&) {  // more than any memory holds
    return described(what, "out of memory");
  } catch (const std::exception& error) {
    return described(what, error.what());
  } catch (...) {
    return described(what, "unknown error");
  }
}

}  // namespace neve
