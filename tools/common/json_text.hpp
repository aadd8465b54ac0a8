// SPDX-License-Identifier: BSD-3-Clause
// JSON as commands print it.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace neve::cli {

// Names in files may be no UTF-8, which JSON is: U+FFFD takes the place of such bytes.
template <class Json>
std::string json_text(const Json& json, int indent = 2) {
  return json.dump(indent, ' ', false, Json::error_handler_t::replace);
}

}  // namespace neve::cli
