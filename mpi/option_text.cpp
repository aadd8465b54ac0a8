// SPDX-License-Identifier: BSD-3-Clause
#include "mpi/option_text.hpp"

#include <algorithm>
#include <charconv>
#include <string>

#include "mpi/strategy.hpp"

namespace neve::mpi {
namespace {

constexpr std::string_view field_prefix = "field:";

template <class Number>
Status parse_number(std::string_view value, Number least, const std::string& item, Number& out) {
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), out);
  if (error != std::errc() || end != value.data() + value.size() || out < least) {
    return usage_error("option \"" + item + "\" needs a whole number of at least " + std::to_string(least));
  }
  return {};
}

Status parse_item(std::string_view item, WriteOptions& options) {
  const size_t equals = item.find('=');
  const std::string_view key = item.substr(0, equals);
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : item.substr(equals + 1);
  const std::string text(item);
  if (key == "abs" || key == "rel" || key == "lossless") {
    NEVE_ASSIGN(options.bound, parse_bound(item));
  } else if (key.starts_with(field_prefix)) {
    NEVE_ASSIGN(options.fields[std::string(key.substr(field_prefix.size()))].bound, parse_bound(value));
  } else if (key == "codec") {
    NEVE_ASSIGN(options.codec, parse_codec(value));
  } else if (key == "effort") {
    NEVE_ASSIGN(options.encode.effort, parse_effort(value));
  } else if (key == "strategy") {
    NEVE_TRY(parse_strategy(std::string(value)).status());
    options.strategy = value;
  } else if (key == "uncompressed") {
    if (equals != std::string_view::npos) {
      return usage_error("option \"" + text + "\": uncompressed takes no value");
    }
    options.compress = false;
  } else if (key == "aggregate_boxes") {
    NEVE_TRY(parse_number(value, 0, text, options.aggregate_boxes));
  } else if (key == "ghosts") {
    NEVE_TRY(parse_number(value, int32_t{0}, text, options.ghosts[0]));
    options.ghosts.fill(options.ghosts[0]);
  } else if (key == "covered") {
    NEVE_ASSIGN(options.covered, parse_covered(std::string(value)));
  } else if (key == "threads") {
    NEVE_TRY(parse_number(value, 1, text, options.encode.threads));
  } else if (key == "chunk_bytes") {
    NEVE_TRY(parse_number(value, uint64_t{1}, text, options.chunk_bytes));
  } else {
    return usage_error("unknown option \"" + text +
                       "\"; allowed are abs=, rel=, lossless, field:NAME=, codec=, effort=, covered=, "
                       "strategy=, aggregate_boxes=, uncompressed, ghosts=, threads=, chunk_bytes=");
  }
  return {};
}

}  // namespace

Result<WriteOptions> parse_write_options(std::string_view text) {
  WriteOptions options;
  while (!text.empty()) {
    const std::string_view item = text.substr(0, text.find(';'));
    text.remove_prefix(std::min(text.size(), item.size() + 1));
    if (!item.empty()) NEVE_TRY(parse_item(item, options));
  }
  return options;
}

}  // namespace neve::mpi
