// SPDX-License-Identifier: BSD-3-Clause
// The ways in which the benchmark writes its file.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "neve/status.hpp"

namespace neve::chombo {

enum class Writer : uint8_t {
  neve,  // Neve's own writer, by one of its strategies
  hdf5,  // HDF5, as Chombo writes: H5Dwrite of boxes that were copied into a buffer
  cb2,   // two-phase exchange by the rules of Cray's CB2 on Lustre
};

struct Way {
  std::string name;          // as it is reported
  std::string strategy;      // as it is asked for
  std::string_view meaning;  // in a few words
  Writer writer = Writer::neve;
  bool compresses = false;
  bool is_collective = true;
  bool takes_aggregate_boxes = false;
  // Boxes of a rank that go into one call. 0: all of a dataset, of skeleton and compressed of the file.
  int aggregate_boxes = 0;
};

// All that there are, by their names and with all boxes in one call where that can be said.
const std::vector<Way>& all_ways();
std::string way_names();  // "a, b, c"

// The ways of a list of names; those that take a number of boxes once for each of `aggregate_boxes`, which is
// part of their names where there are several. Usage error for an unknown name, one given twice, and a
// number below 0.
Result<std::vector<Way>> parse_ways(const std::vector<std::string>& names,
                                    const std::vector<int>& aggregate_boxes);

}  // namespace neve::chombo
