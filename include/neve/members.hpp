// SPDX-License-Identifier: BSD-3-Clause
// All members of a struct, to compare it as a whole.
#pragma once

#include <cstddef>
#include <tuple>

#pragma GCC visibility push(default)
namespace neve {

// What all_members does for one count; `else` follows.
#define NEVE_IF_MEMBERS(n, ...)     \
  if constexpr (count == (n)) {     \
    const auto& [__VA_ARGS__] = of; \
    return std::tie(__VA_ARGS__);   \
  } else

// References to the members of a struct that has `count` of them. With another count it does not compile, so
// a member that is added is never forgotten.
template <std::size_t count, class Struct>
auto all_members(const Struct& of) {
  const auto tied = [&] {
    // clang-format off
    NEVE_IF_MEMBERS(2, a, b)
    NEVE_IF_MEMBERS(3, a, b, c)
    NEVE_IF_MEMBERS(4, a, b, c, d)
    NEVE_IF_MEMBERS(5, a, b, c, d, e)
    NEVE_IF_MEMBERS(6, a, b, c, d, e, f)
    NEVE_IF_MEMBERS(7, a, b, c, d, e, f, g)
    NEVE_IF_MEMBERS(8, a, b, c, d, e, f, g, h)
    NEVE_IF_MEMBERS(9, a, b, c, d, e, f, g, h, i)
    NEVE_IF_MEMBERS(10, a, b, c, d, e, f, g, h, i, j)
    NEVE_IF_MEMBERS(11, a, b, c, d, e, f, g, h, i, j, k)
    NEVE_IF_MEMBERS(12, a, b, c, d, e, f, g, h, i, j, k, l)
    NEVE_IF_MEMBERS(13, a, b, c, d, e, f, g, h, i, j, k, l, m)
    NEVE_IF_MEMBERS(14, a, b, c, d, e, f, g, h, i, j, k, l, m, n)
    NEVE_IF_MEMBERS(15, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o)
    NEVE_IF_MEMBERS(16, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p)
    NEVE_IF_MEMBERS(17, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q)
    NEVE_IF_MEMBERS(18, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r)
    NEVE_IF_MEMBERS(19, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s)
    NEVE_IF_MEMBERS(20, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t)
    NEVE_IF_MEMBERS(21, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u)
    NEVE_IF_MEMBERS(22, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v)
    NEVE_IF_MEMBERS(23, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w)
    NEVE_IF_MEMBERS(24, a, b, c, d, e, f, g, h, i, j, k, l, m, n, o, p, q, r, s, t, u, v, w, x)
    // clang-format on
    static_assert(count >= 2 && count <= 24, "add a line for this count");
  }();
  static_assert(std::tuple_size_v<decltype(tied)> == count, "a line leaves a member out");
  return tied;
}

#undef NEVE_IF_MEMBERS

}  // namespace neve
#pragma GCC visibility pop
