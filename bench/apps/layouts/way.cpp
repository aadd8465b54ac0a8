// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/layouts/way.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <charconv>

#include "core/catalog/choices.hpp"

namespace neve::layouts {
namespace {

constexpr uint64_t amrex_chunk_elements = 1024;  // AMReX's
// As --chunk-values of strategy amrex-1d.
constexpr uint64_t least_chunk_elements = 1, most_chunk_elements = uint64_t{1} << 24;

enum class Setting : uint8_t { none, chunk, effort };

struct WayRow {
  const char* name;
  Setting setting;
  Way way;
};

const std::array<WayRow, 9>& way_rows() {
  constexpr Codec lr = Codec::lorenzo_regression, interpolation = Codec::interpolation;
  static const std::array<WayRow, 9> rows = {{
      {"nocomp", Setting::none, {"", Layout::values}},
      {"amrex", Setting::chunk, {"", Layout::chunks_1d, lr, amrex_chunk_elements}},
      {"amric-lr", Setting::none, {"", Layout::filtered, lr}},
      {"amric-interp", Setting::none, {"", Layout::filtered, interpolation}},
      {"padded-lr", Setting::none, {"", Layout::padded, lr}},
      {"per-rank-lr", Setting::none, {"", Layout::per_rank, lr}},
      {"per-field-lr", Setting::none, {"", Layout::per_field, lr}},
      {"neve", Setting::effort, {"", Layout::skeleton}},
      {"neve-behind", Setting::none, {"", Layout::skeleton, Codec::automatic, 0, Effort::fast, true}},
  }};
  return rows;
}

std::string form(const WayRow& row) {
  switch (row.setting) {
    case Setting::chunk:
      return fmt::format("{}[:CHUNK]", row.name);
    case Setting::effort:
      return fmt::format("{}[:EFFORT]", row.name);
    case Setting::none:
      break;
  }
  return row.name;
}

Result<uint64_t> parse_chunk(const std::string& text) {
  uint64_t chunk = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), chunk);
  if (error != std::errc() || end != text.data() + text.size() || chunk < least_chunk_elements ||
      chunk > most_chunk_elements) {
    return usage_error(fmt::format("a chunk of '{}' values; a whole number from {} to {} is allowed", text,
                                   least_chunk_elements, most_chunk_elements));
  }
  return chunk;
}

Status set(const WayRow& row, const std::string& value, Way& way) {
  switch (row.setting) {
    case Setting::chunk: {
      NEVE_ASSIGN(way.chunk_elements, parse_chunk(value));
      return {};
    }
    case Setting::effort: {
      NEVE_ASSIGN(way.effort, parse_effort(value));
      return {};
    }
    case Setting::none:
      break;
  }
  return usage_error(fmt::format("{} has no setting; '{}' stands behind the colon", row.name, value));
}

bool is_same(const Way& a, const Way& b) {
  return a.layout == b.layout && a.codec == b.codec && a.chunk_elements == b.chunk_elements &&
         a.effort == b.effort && a.is_behind == b.is_behind;
}

}  // namespace

Result<Way> parse_way(const std::string& text) {
  const size_t colon = text.find(':');
  const std::string name = text.substr(0, colon);
  for (const WayRow& row : way_rows()) {
    if (name != row.name) continue;
    Way way = row.way;
    way.text = text;
    if (colon != std::string::npos) {
      NEVE_TRY(set(row, text.substr(colon + 1), way).in(fmt::format("way '{}'", text)));
    }
    return way;
  }
  return usage_error(fmt::format("way '{}' is unknown; allowed: {}", text, way_forms()));
}

Status check_ways(std::span<const Way> ways) {
  if (ways.empty()) return usage_error("no way is given; at least one is needed");
  for (size_t i = 0; i < ways.size(); ++i) {
    for (size_t j = 0; j < i; ++j) {
      if (is_same(ways[i], ways[j])) {
        return usage_error(
            fmt::format("way '{}' is the same as '{}'; each is allowed once", ways[i].text, ways[j].text));
      }
    }
  }
  return {};
}

std::vector<std::string> default_ways() {
  std::vector<std::string> names;
  for (const WayRow& row : way_rows()) names.emplace_back(row.name);
  return names;
}

std::string setting_ranges() {
  return fmt::format("CHUNK: {} to {} values ({}); EFFORT: fast (the default), balanced or max",
                     least_chunk_elements, most_chunk_elements, amrex_chunk_elements);
}

std::string way_forms() {
  std::string forms;
  for (const WayRow& row : way_rows()) forms += (forms.empty() ? "" : ", ") + form(row);
  return forms;
}

}  // namespace neve::layouts
