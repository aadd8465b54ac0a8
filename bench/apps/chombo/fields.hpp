// SPDX-License-Identifier: BSD-3-Clause
// Field values of the benchmark: a blast wave and turbulence at many scales. A function of the place alone,
// evaluated in the same order for every cell, so that a cell's bits do not depend on who computes it.
#pragma once

#include <array>
#include <cstdint>
#include <vector>

#include "neve/box.hpp"
#include "neve/hierarchy.hpp"

namespace neve::chombo {

class Fields {
 public:
  explicit Fields(const Hierarchy& hierarchy);

  // Values of one component of a level in `cells` (which may reach past the domain: ghosts), x fastest.
  void fill(int level, const Box& cells, int component, double* out) const;

 private:
  struct Mode {
    std::array<double, max_dims> wave;  // radians over the unit of length
    double phase = 0, amplitude = 0;
  };

  std::vector<Mode> modes_of(int component) const;

  int dims_;
  std::vector<std::array<double, max_dims>>
      cell_size_;  // by level, in units of the smallest side of the domain
  std::array<double, max_dims> centre_{};
  std::vector<std::vector<Mode>> modes_;  // by component
};

}  // namespace neve::chombo
