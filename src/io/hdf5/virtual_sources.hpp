// SPDX-License-Identifier: BSD-3-Clause
// Which virtual datasets have values of other virtual datasets.
#pragma once

#include <hdf5.h>

#include <map>
#include <string>
#include <utility>
#include <vector>

#include "neve/status.hpp"

namespace neve::hdf5 {

// HDF5 reads a source within the read of what it is a source of, and does not notice where that leads to
// itself: it calls itself until the stack ends.
class VirtualSources {
 public:
  // A virtual dataset. `file`: the real path of the one that holds it. `place`: as messages name it.
  void add(const std::string& file, haddr_t dataset, const std::string& place);
  // That it, added before, has values of what this path leads to in that file, through whatever links; %b in
  // the path stands for each number.
  void add_source(const std::string& file, haddr_t dataset, const std::string& source_file,
                  const std::string& source_path);

  // Corrupt where one leads to itself, or over more others than anybody nests; with `chunks` also where those
  // of a source are not whole.
  Status check(bool chunks) const;

 private:
  using Node = std::pair<std::string, haddr_t>;  // file, address
  struct Source {
    std::string file, path;
  };
  struct Dataset {
    std::string place;
    std::vector<Source> sources;
  };
  Result<std::map<Node, std::vector<Node>>> resolved(bool chunks) const;

  std::map<Node, Dataset> datasets_;
};

// A name with %b for a number; %% stands for %. Says whether there is one.
std::string numbered_name(const std::string& pattern, uint64_t number, bool& has_number);

}  // namespace neve::hdf5
