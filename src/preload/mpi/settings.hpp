// SPDX-License-Identifier: BSD-3-Clause
// What the environment asks for. docs/mpi.md lists the variables.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "parallel/transfer/block_encoder.hpp"
#include "preload/mpi/kind.hpp"

namespace neve::pmpi {

struct Settings {
  bool compresses = false;  // a bound is given; reading frame files needs none
  unsigned calls = 0;       // a bit for each kind
  bool files = false;
  bool reports = false;
  bool always = false;  // whether it pays or not
  uint64_t min_bytes = 65536;
  std::vector<std::string> patterns;  // of paths (src/preload/trace/path_pattern.hpp); none: all
  mpi::Transfer transfer;             // without a type
  std::string bound;
  std::string options;  // of values, as neve_compress_options::options

  bool wants(const std::string& path) const;  // an absolute path
  bool wants(Kind kind) const { return (calls >> static_cast<int>(kind) & 1U) != 0; }
};

// Read at the first call. A variable that cannot be understood ends the program: to go on without what was
// asked for would be to ignore it.
const Settings& settings();

// "neve mpi: ..." on stderr.
void say(const std::string& text);

}  // namespace neve::pmpi
