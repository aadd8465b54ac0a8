// SPDX-License-Identifier: BSD-3-Clause
// toml++ without its assertions. An input can break some ([$[rule]]), after which the parser says what is
// wrong with it; where NDEBUG is defined the compiler would take them for granted.
#pragma once

#pragma push_macro("NDEBUG")
#undef NDEBUG
#define TOML_ASSERT(expr) static_assert(true)
#include <toml++/toml.h>  // IWYU pragma: export
#pragma pop_macro("NDEBUG")
