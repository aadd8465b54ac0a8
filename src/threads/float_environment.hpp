// SPDX-License-Identifier: BSD-3-Clause
// IEEE arithmetic as the format assumes it, while this object lives: round to nearest even, denormals kept.
// Simulations built with -ffast-math start with denormals flushed to zero, which would hide errors from
// the encoder's own check.
#pragma once

#include <cfenv>

namespace neve {

class FloatEnvironment {
 public:
  FloatEnvironment() {
    std::fegetenv(&saved_);
    std::fesetenv(FE_DFL_ENV);
  }
  ~FloatEnvironment() { std::fesetenv(&saved_); }
  FloatEnvironment(const FloatEnvironment&) = delete;
  FloatEnvironment& operator=(const FloatEnvironment&) = delete;

 private:
  std::fenv_t saved_;
};

}  // namespace neve
