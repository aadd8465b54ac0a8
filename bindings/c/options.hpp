// SPDX-License-Identifier: BSD-3-Clause
// Structs that a caller filled, perhaps built for another version of Neve.
#pragma once

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "neve/frame.hpp"
#include "neve/neve.h"
#include "neve/status.hpp"

namespace neve::capi {

// 1 for 0; a usage error beyond what is allowed.
Result<int> thread_count(int asked);

// `header`: the header with its INIT macro.
template <class Struct>
Status check_struct_bytes(const char* name, const char* header, const Struct* given,
                          size_t first_version_bytes) {
  if (given->struct_bytes < first_version_bytes) {
    return usage_error(fmt::format("{}.struct_bytes is {}; initialise it with the INIT macro of {} ({})",
                                   name, given->struct_bytes, header, sizeof(Struct)));
  }
  return {};
}

// The caller's struct as this library knows it. Fields that are set and lie past what it knows are refused:
// an option must not be ignored. `first_version_bytes`: the struct's size in the first release that had it.
template <class Struct>
Status read_struct(const char* name, const char* header, const Struct* given, size_t first_version_bytes,
                   Struct& known) {
  NEVE_TRY(check_struct_bytes(name, header, given, first_version_bytes));
  known = {};
  std::memcpy(&known, given, std::min(sizeof known, given->struct_bytes));
  const auto* bytes = reinterpret_cast<const unsigned char*>(given);
  if (given->struct_bytes > sizeof known && std::any_of(bytes + sizeof known, bytes + given->struct_bytes,
                                                        [](unsigned char b) { return b != 0; })) {
    return usage_error(
        fmt::format("{} has {} bytes, of which neve {} knows {}, and the others are set: the program was "
                    "built for a newer neve",
                    name, given->struct_bytes, neve_version(), sizeof known));
  }
  return {};
}

// The caller's struct, of which `known` is what this library can tell; its struct_bytes stays. Of structs
// that are as they were in their first release.
template <class Struct>
Status fill_struct(const char* name, const char* header, Struct known, Struct* given) {
  NEVE_TRY(check_struct_bytes(name, header, given, sizeof(Struct)));
  known.struct_bytes = given->struct_bytes;
  std::memcpy(given, &known, std::min(sizeof known, given->struct_bytes));
  return {};
}

// Defaults where `given` is NULL. Integers are lossless unless told otherwise, which encoding refuses.
// `bound`: a call's own, which overrides that of `given`; NULL: none.
Status read_options(DType dtype, const neve_compress_options* given, const char* bound,
                    ArrayOptions& options);

}  // namespace neve::capi
