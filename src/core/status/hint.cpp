// SPDX-License-Identifier: BSD-3-Clause
#include "core/status/hint.hpp"

#include <fmt/format.h>

#include <cstdio>
#include <cstdlib>
#include <string>

namespace neve {
namespace {

bool is_another_rank() {
  for (const char* name : {"OMPI_COMM_WORLD_RANK", "PMI_RANK", "PMIX_RANK", "SLURM_PROCID"}) {
    const char* rank = std::getenv(name);
    if (rank != nullptr && std::string_view(rank) != "0") return true;
  }
  return false;
}

}  // namespace

void say_hint(std::string_view text) {
  const char* wanted = std::getenv("NEVE_HINTS");
  if ((wanted != nullptr && std::string_view(wanted) == "0") || is_another_rank()) return;
  const std::string line = fmt::format("neve: {}. NEVE_HINTS=0 silences this.\n", text);
  std::fwrite(line.data(), 1, line.size(), stderr);
}

}  // namespace neve
