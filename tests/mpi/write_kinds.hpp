// SPDX-License-Identifier: BSD-3-Clause
// Every kind of parallel write, small, and the phases in which it can be made to fail
// (src/parallel/comm/fault.hpp).
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "neve/status.hpp"

namespace neve::test {

struct WriteKind {
  std::string name;
  // Phases that a rank of so many passes through.
  std::function<std::vector<std::string>(int rank, int ranks)> phases;
  // Collective. `version` changes what is written. The same outcome on every rank.
  std::function<Status(const std::string& path, int version)> write;
  bool makes_file = true;
  bool adds_to_file = false;  // behind what was there, which stays
};

const std::vector<WriteKind>& write_kinds();

// What lies under the path: a file's bytes, a folder's names and bytes. Empty when there is nothing.
std::string contents(const std::string& path);

// Whether `now` holds what `before` was, after a write of this kind that failed.
bool is_kept(const WriteKind& kind, const std::string& before, const std::string& now);

}  // namespace neve::test
