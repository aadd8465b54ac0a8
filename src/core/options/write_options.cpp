// SPDX-License-Identifier: BSD-3-Clause
#include "neve/write_options.hpp"

#include <fmt/format.h>

#include "core/catalog/choices.hpp"

namespace neve {

Result<Covered> parse_covered(const std::string& name) {
  for (const Covered covered : {Covered::automatic, Covered::drop, Covered::keep}) {
    if (name == covered_name(covered)) return covered;
  }
  return not_a_name("covered", name, "auto, drop, keep");
}

const char* covered_name(Covered covered) {
  switch (covered) {
    case Covered::automatic:
      return "auto";
    case Covered::drop:
      return "drop";
    case Covered::keep:
      return "keep";
  }
  return "unknown";
}

Result<Behind> parse_behind(const std::string& name) {
  for (const Behind behind : {Behind::none, Behind::encode, Behind::copy}) {
    if (name == behind_name(behind)) return behind;
  }
  return not_a_name("behind", name, "none, encode, copy");
}

const char* behind_name(Behind behind) {
  switch (behind) {
    case Behind::none:
      return "none";
    case Behind::encode:
      return "encode";
    case Behind::copy:
      return "copy";
  }
  return "unknown";
}

Status check_chunk_bytes(uint64_t bytes) {
  if (bytes >= min_chunk_bytes && bytes <= max_chunk_bytes) return {};
  return out_of_range("chunk_size", bytes, min_chunk_bytes, max_chunk_bytes);
}

}  // namespace neve
