// SPDX-License-Identifier: BSD-3-Clause
#include "neve/write_options.hpp"

#include <fmt/format.h>

#include "core/catalog/choices.hpp"
#include "core/catalog/strategies.hpp"

namespace neve {

Result<Covered> parse_covered(const std::string& name) {
  if (const auto covered = value_in(covered_names, name)) return *covered;
  return not_a_name("covered", name, joined(covered_names));
}

const char* covered_name(Covered covered) { return name_in(covered_names, covered).data(); }

Result<Behind> parse_behind(const std::string& name) {
  if (const auto behind = value_in(behind_names, name)) return *behind;
  return not_a_name("behind", name, joined(behind_names));
}

const char* behind_name(Behind behind) { return name_in(behind_names, behind).data(); }

Behind behind_of(const WriteOptions& options) {
  return options.behind == Behind::none && !options.stage.empty() ? Behind::encode : options.behind;
}

Status check_behind(const WriteOptions& options) {
  if (options.behind > Behind::copy)
    return not_among("behind", static_cast<int>(options.behind), joined(behind_names));
  if (options.stage_bytes > 0 && options.stage.empty())
    return usage_error(fmt::format("stage_size is {}, but no stage is named; it is allowed with stage",
                                   options.stage_bytes));
  if (options.stage.find('\0') != std::string::npos) return usage_error("stage holds a zero byte");
  if (behind_of(options) == Behind::none) return {};
  const auto refuse = [&](const std::string& what, const char* allowed = "none is") {
    if (options.behind == Behind::none) {
      return usage_error(
          fmt::format("stage is {}, but {}; with that no stage is allowed, which is for files "
                      "that are written behind",
                      options.stage, what));
    }
    return usage_error(fmt::format("behind is {}, but {}; with that only behind {} allowed",
                                   behind_name(options.behind), what, allowed));
  };
  if (!options.compress) return refuse("the values are written uncompressed");
  const bool writes_alone = options.strategy == strategy_name(Strategy::skeleton) ||
                            options.strategy == strategy_name(Strategy::amrex_1d);
  if (!writes_alone) return refuse("strategy " + options.strategy + " writes through MPI");
  if (options.layout.aggregators > 0 || options.layout.buffer_bytes > 0)
    return refuse("aggregators and buffer_size ask for writes through MPI");
  if (!options.like.empty()) return refuse("objects are to be taken over from " + options.like);
  if (behind_of(options) == Behind::encode) return {};
  if (options.covered == Covered::automatic)
    return refuse("with covered auto the ranks meet while they compress", "none and encode are");
  if (options.cross_level)
    return refuse("with cross_level the ranks meet while they compress", "none and encode are");
  return {};
}

Status check_chunk_bytes(uint64_t bytes) {
  if (bytes >= min_chunk_bytes && bytes <= max_chunk_bytes) return {};
  return out_of_range("chunk_size", bytes, min_chunk_bytes, max_chunk_bytes);
}

Status check_chunk_values(int64_t values) {
  if (values >= 1 && values <= max_chunk_values) return {};
  return out_of_range("chunk_values", values, 1, max_chunk_values);
}

}  // namespace neve
