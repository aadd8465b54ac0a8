// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/comm/fault.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <string>
#include <thread>

namespace neve::mpi {
namespace {

constexpr std::array<std::string_view, 11> names = {"range", "plan", "encode", "place", "skeleton", "write",
                                                    "send",  "sync", "rename", "stage", "drain"};
constexpr std::chrono::milliseconds slow{300};

std::string all_names() {
  std::string all;
  for (const std::string_view name : names) (all += all.empty() ? "" : ", ") += name;
  return all;
}

}  // namespace

std::string_view phase_name(Phase phase) { return names[static_cast<size_t>(phase)]; }

Status injected_fault(Phase phase, int rank) {
  const char* variable = std::getenv("NEVE_FAULT");
  if (variable == nullptr || *variable == '\0') return {};
  const std::string_view text = variable;
  const Status malformed = usage_error(
      "NEVE_FAULT is \"" + std::string(text) +
      "\"; allowed is phase:rank, phase:rank:kill or phase:rank:slow with phase one of " + all_names());
  const size_t colon = text.find(':');
  if (colon == std::string_view::npos) return malformed;
  const std::string_view name = text.substr(0, colon);
  if (std::find(names.begin(), names.end(), name) == names.end()) return malformed;
  int wanted_rank = -1;
  const char* const end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data() + colon + 1, end, wanted_rank);
  if (error != std::errc() || wanted_rank < 0) return malformed;
  const std::string_view action(rest, static_cast<size_t>(end - rest));
  if (!action.empty() && action != ":kill" && action != ":slow") return malformed;

  if (name != phase_name(phase) || wanted_rank != rank) return {};
  if (action == ":slow") {
    std::this_thread::sleep_for(slow);
    return {};
  }
  if (!action.empty()) std::raise(SIGKILL);
  return failure("injected fault in phase " + std::string(name));
}

}  // namespace neve::mpi
