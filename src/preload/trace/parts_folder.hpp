// SPDX-License-Identifier: BSD-3-Clause
// The folder beside a trace where the processes of a run leave their parts (src/preload/trace/collect.hpp).
#pragma once

#include <string>

#include "io/files/descriptor.hpp"
#include "neve/status.hpp"

namespace neve::trace {

std::string parts_folder_of(const std::string& path);

// Is the trace at `path` one that the parts beside it are going to replace, and so no part of theirs?
bool is_to_be_replaced(const std::string& path);

class PartsFolder {
 public:
  // An empty folder for a run whose trace goes to `output`, this run's until the object ends. Parts that an
  // earlier run left make way; an older trace at `output` stays, and is to be replaced. Usage errors, with
  // nothing changed: `output` is something else than a trace; the folder holds something else than parts, is
  // a link, or another run is using it.
  static Result<PartsFolder> begin(const std::string& output);

  // Removes the folder, if nothing but what `begin` put there is left in it.
  void finish();

 private:
  PartsFolder() = default;
  std::string path_;
  files::Descriptor lock_;
};

}  // namespace neve::trace
