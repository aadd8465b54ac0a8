// SPDX-License-Identifier: BSD-3-Clause
// Public calls with something wrong in them: what each must come to, and how many there were of each
// function. tests/python/test_public_calls.py looks into the tests that include this for the name of every
// public function.
#pragma once

#include <gtest/gtest.h>

#include <cstdio>
#include <map>
#include <string>

#include "neve/neve.h"
#include "neve/status.hpp"

namespace neve::test {

// Calls so far, by function.
inline std::map<std::string, int>& wrong_calls() {
  static std::map<std::string, int> counts;
  return counts;
}

// The call came back with this error, which has words.
inline void refused(const std::string& function, const Status& status, Code code = Code::usage) {
  ++wrong_calls()[function];
  EXPECT_EQ(status.code(), code) << function << ": " << status.message();
  EXPECT_FALSE(status.message().empty()) << function;
}

// The same of a C function that was called last.
inline void refused(const std::string& function, int code, int wanted) {
  const Status status = code == NEVE_OK ? Status() : Status(static_cast<Code>(code), neve_last_error());
  refused(function, status, static_cast<Code>(wanted));
}

// A function that has no error to give came back: with something wrong it does nothing, or what its comment
// says.
inline void survived(const std::string& function, bool is_as_said = true) {
  ++wrong_calls()[function];
  EXPECT_TRUE(is_as_said) << function;
}

inline void print_wrong_calls(const char* name) {
  int calls = 0;
  for (const auto& [function, count] : wrong_calls()) calls += count;
  std::printf("%s: %d calls of %zu functions\n", name, calls, wrong_calls().size());
}

}  // namespace neve::test
