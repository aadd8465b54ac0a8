// SPDX-License-Identifier: BSD-3-Clause
// All members of a struct, to compare it as a whole.
#pragma once

#include <cstddef>
#include <tuple>

#pragma GCC visibility push(default)
namespace neve {

// References to the members of a struct that has `count` of them. With another count it does not compile, so
// a member that is added is never forgotten.
template <std::size_t count, class Struct>
auto all_members(const Struct& of) {
  const auto tied = [&] {
    if constexpr (count == 3) {
      const auto& [a, b, c] = of;
      return std::tie(a, b, c);
    } else if constexpr (count == 4) {
      const auto& [a, b, c, d] = of;
      return std::tie(a, b, c, d);
    } else if constexpr (count == 5) {
      const auto& [a, b, c, d, e] = of;
      return std::tie(a, b, c, d, e);
    } else if constexpr (count == 7) {
      const auto& [a, b, c, d, e, f, g] = of;
      return std::tie(a, b, c, d, e, f, g);
    } else {
      static_assert(count == 19, "add a branch for this count");
      const auto& [a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s] = of;
      return std::tie(a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s);
    }
  }();
  static_assert(std::tuple_size_v<decltype(tied)> == count, "a branch leaves a member out");
  return tied;
}

}  // namespace neve
#pragma GCC visibility pop
