// SPDX-License-Identifier: BSD-3-Clause
#include "neve/distribution.hpp"

#include <fmt/format.h>

#include "core/amr/distribution_names.hpp"
#include "core/amr/load_balance.hpp"
#include "core/status/guarded.hpp"

namespace neve {

Result<DistributionMethod> parse_distribution_method(const std::string& name) {
  if (const auto method = value_in(amr::distribution_names, name)) return *method;
  return usage_error(
      fmt::format("unknown distribution \"{}\"; allowed: {}", name, joined(amr::distribution_names)));
}

Result<std::vector<std::vector<int>>> distribute_boxes(const Hierarchy& hierarchy, int ranks,
                                                       const DistributionOptions& options) {
  if (ranks < 1)
    return usage_error(fmt::format("boxes cannot be shared among {} ranks; at least 1 is needed", ranks));
  if (options.method > DistributionMethod::chombo) {
    return usage_error(fmt::format("unknown distribution {}; allowed: {}", static_cast<int>(options.method),
                                   joined(amr::distribution_names)));
  }
  return guarded("sharing boxes", [&]() -> Result<std::vector<std::vector<int>>> {
    if (options.loads.empty()) {
      return amr::share_boxes(hierarchy, ranks, amr::cell_loads(hierarchy), options.method);
    }
    NEVE_ASSIGN(const amr::Loads loads, amr::whole_loads(hierarchy, options.loads));
    return amr::share_boxes(hierarchy, ranks, loads, options.method);
  });
}

}  // namespace neve
