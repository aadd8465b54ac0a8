// SPDX-License-Identifier: BSD-3-Clause
#include "tools/common/options.hpp"

#include <fmt/format.h>

#include <charconv>
#include <cstdlib>
#include <utility>

namespace neve::cli {
namespace {

struct Unit {
  const char* name;
  uint64_t bytes;
};
constexpr Unit units[] = {
    {"", 1}, {"B", 1}, {"KiB", 1ull << 10}, {"MiB", 1ull << 20}, {"GiB", 1ull << 30}, {"TiB", 1ull << 40}};

std::vector<std::string> split(const std::string& text, char separator) {
  std::vector<std::string> parts;
  size_t begin = 0;
  while (true) {
    const size_t end = text.find(separator, begin);
    parts.push_back(text.substr(begin, end - begin));
    if (end == std::string::npos) return parts;
    begin = end + 1;
  }
}

Result<int> parse_cells(const std::string& what, const std::string& text) {
  int cells = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, cells);
  if (error != std::errc() || rest != end) {
    return usage_error(fmt::format("{} '{}' is not a whole number", what, text));
  }
  return cells;
}

// What one --field says of a field's tuning: all of it together replaces that of the other options.
struct TuningSettings {
  std::optional<Arrangement> arrangement;
  std::optional<int> unit_cells, block_cells;
  std::optional<bool> merge_units;
  std::optional<LosslessMethod> method;

  bool is_given() const { return arrangement || unit_cells || block_cells || merge_units || method; }
  CodecTuning value() const {
    return {arrangement.value_or(Arrangement::automatic), unit_cells.value_or(0), block_cells.value_or(0),
            merge_units.value_or(false), method.value_or(LosslessMethod::automatic)};
  }
};

template <class T>
Status set_once(std::optional<T>& target, T value, const std::string& field, const char* what) {
  if (target.has_value()) return usage_error(fmt::format("--field {}: its {} is given twice", field, what));
  target = std::move(value);
  return {};
}

}  // namespace

Result<uint64_t> parse_bytes(const std::string& option, const std::string& text) {
  uint64_t number = 0;
  const char* end = text.data() + text.size();
  const auto [rest, error] = std::from_chars(text.data(), end, number);
  const std::string unit_text(rest, end);
  if (error == std::errc()) {
    for (const Unit& unit : units) {
      uint64_t bytes = 0;
      if (unit_text == unit.name && !__builtin_mul_overflow(number, unit.bytes, &bytes)) return bytes;
    }
  }
  return usage_error(
      fmt::format("{} '{}' is not a size; allowed: a whole number followed by nothing, B, KiB, MiB, GiB or "
                  "TiB, as in 8MiB",
                  option, text));
}

Result<double> parse_number(const std::string& what, const std::string& text) {
  char* end = nullptr;
  const double value = std::strtod(text.c_str(), &end);
  if (text.empty() || end != text.c_str() + text.size()) {
    return usage_error(fmt::format("{} '{}' is not a number", what, text));
  }
  return value;
}

Status parse_field_rule(const std::string& text, std::map<std::string, FieldRule>& rules) {
  // Component names may hold colons themselves (species), settings never do.
  const size_t colon = text.rfind(':');
  if (colon == std::string::npos || colon == 0 || colon + 1 == text.size()) {
    return usage_error(fmt::format(
        "--field '{}' is not NAME:SETTING; allowed settings: abs=X, rel=X, lossless, fill=X, codec=NAME, "
        "arrangement=NAME, unit=N, block=N, merge-units, method=NAME",
        text));
  }
  const std::string name = text.substr(0, colon);
  FieldRule& rule = rules[name];
  TuningSettings tuning;
  for (const std::string& setting : split(text.substr(colon + 1), ',')) {
    const size_t equals = setting.find('=');
    const std::string key = setting.substr(0, equals);
    const std::string value = equals == std::string::npos ? "" : setting.substr(equals + 1);
    if (key == "fill") {
      NEVE_ASSIGN(const double fill, parse_number(fmt::format("--field {}: fill", name), value));
      NEVE_TRY(set_once(rule.fill, fill, name, "fill value"));
    } else if (key == "codec") {
      auto codec = parse_codec(value);
      if (!codec.ok()) return codec.status().in("--field " + name);
      NEVE_TRY(set_once(rule.codec, *codec, name, "codec"));
    } else if (key == "arrangement") {
      auto arrangement = parse_arrangement(value);
      if (!arrangement.ok()) return arrangement.status().in("--field " + name);
      NEVE_TRY(set_once(tuning.arrangement, *arrangement, name, "arrangement"));
    } else if (key == "unit" || key == "block") {
      NEVE_ASSIGN(const int cells, parse_cells(fmt::format("--field {}: {}", name, key), value));
      NEVE_TRY(set_once(key == "unit" ? tuning.unit_cells : tuning.block_cells, cells, name, key.c_str()));
    } else if (key == "method") {
      auto method = parse_lossless_method(value);
      if (!method.ok()) return method.status().in("--field " + name);
      NEVE_TRY(set_once(tuning.method, *method, name, "method"));
    } else if (setting == "merge-units") {
      NEVE_TRY(set_once(tuning.merge_units, true, name, "merge-units"));
    } else {
      auto bound = parse_bound(setting);
      if (!bound.ok()) return bound.status().in("--field " + name);
      NEVE_TRY(set_once(rule.bound, *bound, name, "bound"));
    }
  }
  if (tuning.is_given()) {
    NEVE_TRY(set_once(rule.tuning, tuning.value(), name, "arrangement"));
    NEVE_TRY(check_tuning(*rule.tuning).in("--field " + name));
  }
  return {};
}

void add_tuning_options(CLI::App& command, TuningArgs& args) {
  command
      .add_option("--arrangement", args.arrangement,
                  "how boxes lie while they are predicted: auto, linear, cluster or in_place")
      ->capture_default_str();
  command.add_option("--unit", args.unit, "side of the unit blocks of linear and cluster: 8, 16 or 32");
  command.add_option("--block", args.block, "side of lorenzo_regression's prediction blocks: 4 or 6");
  command.add_flag("--merge-units", args.merge_units,
                   "lorenzo_regression predicts across unit blocks stacked in a line");
  command
      .add_option(
          "--method", args.method,
          "of codec lossless: auto, lorenzo, multiple, rank, zstd, lz4, shuffle-zstd, shuffle-lz4, "
          "bitshuffle-zstd, bitshuffle-lz4, xor-zstd, or B, BW or BWXOR with LZO, zlib or bzip2, as in "
          "BW-zlib")
      ->capture_default_str();
  command
      .add_option("--speed-weight", args.speed_weight,
                  "of codec lossless: weight of a method's typical speed (in 100 MB/s) in the choice")
      ->capture_default_str();
  command.add_option("--ratio-weight", args.ratio_weight, "weight of the ratio")->capture_default_str();
}

Result<CodecTuning> parse_tuning(const TuningArgs& args) {
  CodecTuning tuning;
  NEVE_ASSIGN(tuning.arrangement, parse_arrangement(args.arrangement));
  tuning.unit_cells = args.unit;
  tuning.block_cells = args.block;
  tuning.merge_units = args.merge_units;
  NEVE_ASSIGN(tuning.method, parse_lossless_method(args.method));
  tuning.speed_weight = args.speed_weight;
  tuning.ratio_weight = args.ratio_weight;
  NEVE_TRY(check_tuning(tuning));
  return tuning;
}

void add_layout_options(CLI::App& command, LayoutArgs& args) {
  command.add_option("--stripe-count", args.stripe_count, "storage targets the file is spread over (Lustre)");
  command.add_option("--stripe-size", args.stripe_size,
                     "length of a stripe, as in 8MiB; ROMIO cuts what it writes there on any file system");
  command.add_option("--aggregators", args.aggregators,
                     "ranks that write for the others in a collective write");
  command.add_option("--buffer-size", args.buffer_size,
                     "buffer of an aggregator, best a multiple of the stripe");
}

Result<FileLayout> parse_layout(const LayoutArgs& args) {
  FileLayout layout;
  layout.stripe_count = args.stripe_count;
  layout.aggregators = args.aggregators;
  if (!args.stripe_size.empty()) {
    NEVE_ASSIGN(layout.stripe_bytes, parse_bytes("--stripe-size", args.stripe_size));
  }
  if (!args.buffer_size.empty()) {
    NEVE_ASSIGN(layout.buffer_bytes, parse_bytes("--buffer-size", args.buffer_size));
  }
  return layout;
}

Result<FillChoice> parse_fill(const std::string& text) {
  FillChoice choice;
  if (text == "auto") return choice;
  choice.detect = false;
  if (text == "none") return choice;
  auto value = parse_number("--fill", text);
  if (!value.ok()) return usage_error(fmt::format("--fill '{}' is not auto, none or a number", text));
  choice.value = *value;
  int64_t whole = 0;
  uint64_t above = 0;
  const char* const end = text.data() + text.size();
  if (const auto [at, error] = std::from_chars(text.data(), end, whole); error == std::errc() && at == end) {
    choice.whole = static_cast<uint64_t>(whole);
  } else if (const auto [last, fault] = std::from_chars(text.data(), end, above);
             fault == std::errc() && last == end) {
    choice.whole = above;
  }
  return choice;
}

Result<int> check_threads(int threads) {
  NEVE_TRY(neve::check_threads(threads).in("--threads"));
  return threads;
}

}  // namespace neve::cli
