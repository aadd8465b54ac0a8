// SPDX-License-Identifier: BSD-3-Clause
// Values with their names in rows, and rows in words: help texts and messages say the same list.
#pragma once

#include <iterator>
#include <optional>
#include <string>
#include <string_view>

namespace neve {

template <class Value>
struct Named {
  Value value;
  std::string_view name;
};

// "a, b, c"; with `last` " or ": "a, b or c".
template <class Texts>
std::string joined(const Texts& texts, std::string_view last = ", ") {
  std::string all;
  const auto end = std::end(texts);
  for (auto at = std::begin(texts); at != end; ++at) {
    if (at != std::begin(texts)) all += std::next(at) == end ? last : std::string_view(", ");
    if constexpr (requires { std::to_string(*at); }) {
      all += std::to_string(*at);
    } else if constexpr (requires { at->name; }) {
      all += at->name;
    } else {
      all += *at;
    }
  }
  return all;
}

template <class Rows, class Value>
std::string_view name_in(const Rows& rows, Value value, std::string_view otherwise = "unknown") {
  for (const auto& row : rows) {
    if (row.value == value) return row.name;
  }
  return otherwise;
}

template <class Value, size_t count>
std::optional<Value> value_in(const Named<Value> (&rows)[count], std::string_view name) {
  for (const Named<Value>& row : rows) {
    if (row.name == name) return row.value;
  }
  return {};
}

}  // namespace neve
