// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/convert_for_viewers.hpp"

#include <fmt/format.h>

#include <array>
#include <vector>

#include "tools/common/python.hpp"

namespace neve::cli {
namespace {

struct Viewer {
  const char* to;  // as --to says it, and the destination's ending after a dot
  const char* module;
};
constexpr std::array<Viewer, 2> viewers = {{{"vtkhdf", "neve.vtkhdf"}, {"xdmf", "neve.xdmf"}}};

const Viewer* find_viewer(const std::string& destination, const std::string& to) {
  for (const Viewer& viewer : viewers) {
    const bool by_name = to == "auto" && destination.ends_with(std::string(".") + viewer.to);
    if (by_name || to == viewer.to) return &viewer;
  }
  return nullptr;
}

}  // namespace

bool is_for_viewers(const std::string& destination, const std::string& to) {
  return find_viewer(destination, to) != nullptr;
}

Status check_for_viewers(const Ranks& ranks, const std::string& destination) {
  if (ranks.size() == 1) return {};
  return usage_error(fmt::format(
      "{} is made by one rank, not {}; let the ranks make a plotfile (.h5), and convert that without mpirun",
      destination, ranks.size()));
}

int convert_for_viewers(const CLI::App& convert) {
  const std::string source = convert.get_option("SRC")->as<std::string>();
  const std::string destination = convert.get_option("DST")->as<std::string>();
  const std::string to = convert.get_option("--to")->as<std::string>();
  std::vector<std::string> words = {source, destination};
  for (const CLI::Option* option : convert.parse_order()) {
    const std::string name = option->get_name();
    if (option->get_positional() || name == "--to") continue;
    const bool is_flag = option->get_items_expected_max() == 0;
    for (const std::string& value : option->results()) {
      if (!is_flag) words.push_back(name);
      if (!is_flag) words.push_back(value);
      if (is_flag && value == "true") words.push_back(name);
    }
  }
  return exec_module(find_viewer(destination, to)->module, words);
}

}  // namespace neve::cli
