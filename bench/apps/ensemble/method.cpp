// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/ensemble/method.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <string_view>

namespace neve::ensemble {

std::string file_prefix(const Method& method) {
  std::string name = method.name;
  std::replace_if(
      name.begin(), name.end(), [](char c) { return c == ':' || c == '+'; }, '-');
  return fmt::format("neve_ensemble_{}_", name);
}

Result<Method> parse_method(const std::string& name) {
  Method method;
  method.name = name;
  method.converts = name == "netcdf";
  if (name == "netcdf" || name == "none") return method;
  if (name == "zlib") {
    method.storage.kind = Storage::Kind::deflate;
    return method;
  }
  method.storage.kind = Storage::Kind::neve;
  CodecTuning& tuning = method.storage.tuning;
  constexpr std::string_view of_set = "ratio:";
  if (name == "bzip2") {
    tuning.method = LosslessMethod::b_bzip2;
  } else if (name == "lzo") {
    tuning.method = LosslessMethod::b_lzo;
  } else if (name == "speed" || name == "acomps-speed") {
    tuning.speed_weight = 1;
    tuning.ratio_weight = 0;
  } else if (name.starts_with(of_set)) {
    std::string set = name.substr(of_set.size());
    std::replace(set.begin(), set.end(), '+', ',');
    NEVE_ASSIGN(tuning.candidates, parse_lossless_methods(set));
  } else if (name != "ratio" && name != "acomps-ratio") {
    return usage_error(fmt::format("unknown method '{}'; allowed: {}", name, method_choices));
  }
  if (name.starts_with("acomps-")) {
    NEVE_ASSIGN(tuning.candidates, parse_lossless_methods("acomps"));
  }
  return method;
}

bool is_chosen(const Method& method) {
  return method.storage.kind == Storage::Kind::neve &&
         method.storage.tuning.method == LosslessMethod::automatic;
}

}  // namespace neve::ensemble
