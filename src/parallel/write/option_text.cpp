// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/option_text.hpp"

#include <algorithm>
#include <charconv>
#include <limits>
#include <set>
#include <string>

#include "parallel/file/strategy.hpp"

namespace neve::mpi {
namespace {

constexpr std::string_view field_key = "field";

// One option of the list: "key", "key=value", or "field:NAME=BOUND".
struct Item {
  std::string text;  // as it was given, for messages
  std::string key;
  std::string field;  // of key "field"
  std::string value;
  bool has_value = false;
};

// Reads the options from the front of `text`.
class Reader {
 public:
  explicit Reader(std::string_view text) : rest_(text) {}

  bool is_at_end() {
    while (rest_.starts_with(';')) rest_.remove_prefix(1);
    return rest_.empty();
  }

  Result<Item> next() {
    const std::string_view begin = rest_;
    Item item;
    item.key = take_until(":=;");
    if (item.key == field_key && rest_.starts_with(':')) {
      rest_.remove_prefix(1);
      NEVE_ASSIGN(item.field, take_name());
    }
    if (rest_.starts_with('=')) {
      rest_.remove_prefix(1);
      item.value = take_until(";");
      item.has_value = true;
    }
    item.text = begin.substr(0, begin.size() - rest_.size());
    if (rest_.empty() || rest_.starts_with(';')) return item;
    return usage_error("option \"" + item.text + "\" is followed by \"" + std::string(rest_.substr(0, 20)) +
                       "\"; a name in quotes ends with '=' and its bound");
  }

 private:
  std::string_view take(size_t count) {
    const std::string_view taken = rest_.substr(0, count);
    rest_.remove_prefix(taken.size());
    return taken;
  }
  std::string take_until(std::string_view ends) { return std::string(take(rest_.find_first_of(ends))); }

  // Plain up to '=', or in double quotes, where \" and \\ stand for '"' and '\'.
  Result<std::string> take_name() {
    if (!rest_.starts_with('"')) return take_until("=;");
    std::string name;
    for (size_t i = 1; i < rest_.size(); ++i) {
      if (rest_[i] == '"') {
        take(i + 1);
        return name;
      }
      if (rest_[i] == '\\' && i + 1 < rest_.size()) ++i;
      name += rest_[i];
    }
    return usage_error("option field:" + std::string(rest_.substr(0, 40)) +
                       ": the closing '\"' of the name is missing");
  }

  std::string_view rest_;
};

template <class Number>
Status parse_number(const Item& item, Number least, Number most, Number& out) {
  const char* const end = item.value.data() + item.value.size();
  const auto [rest, error] = std::from_chars(item.value.data(), end, out);
  if (error == std::errc() && rest == end && out >= least && out <= most) return {};
  const std::string range = most == std::numeric_limits<Number>::max()
                                ? "at least " + std::to_string(least)
                                : std::to_string(least) + " to " + std::to_string(most);
  return usage_error("option \"" + item.text + "\" needs a whole number of " + range);
}

Status parse_item(const Item& item, WriteOptions& options) {
  if (item.key == "abs" || item.key == "rel" || item.key == "lossless") {
    NEVE_ASSIGN(options.bound, parse_bound(item.text));
  } else if (item.key == field_key && !item.field.empty()) {
    NEVE_ASSIGN(options.fields[item.field].bound, parse_bound(item.value));
  } else if (item.key == "codec") {
    NEVE_ASSIGN(options.codec, parse_codec(item.value));
  } else if (item.key == "effort") {
    NEVE_ASSIGN(options.encode.effort, parse_effort(item.value));
  } else if (item.key == "strategy") {
    NEVE_TRY(parse_strategy(item.value).status());
    options.strategy = item.value;
  } else if (item.key == "uncompressed") {
    if (item.has_value) return usage_error("option \"" + item.text + "\": uncompressed takes no value");
    options.compress = false;
  } else if (item.key == "aggregate_boxes") {
    NEVE_TRY(parse_number(item, 0, std::numeric_limits<int>::max(), options.aggregate_boxes));
  } else if (item.key == "ghosts") {
    NEVE_TRY(parse_number(item, int32_t{0}, std::numeric_limits<int32_t>::max(), options.ghosts[0]));
    options.ghosts.fill(options.ghosts[0]);
  } else if (item.key == "covered") {
    NEVE_ASSIGN(options.covered, parse_covered(item.value));
  } else if (item.key == "threads") {
    NEVE_TRY(parse_number(item, 1, max_threads, options.encode.threads));
  } else if (item.key == "chunk_bytes") {
    NEVE_TRY(parse_number(item, uint64_t{1}, std::numeric_limits<uint64_t>::max(), options.chunk_bytes));
  } else {
    return usage_error("unknown option \"" + item.text +
                       "\"; allowed are abs=, rel=, lossless, field:NAME=, codec=, effort=, covered=, "
                       "strategy=, aggregate_boxes=, uncompressed, ghosts=, threads=, chunk_bytes=");
  }
  return {};
}

// What an option settles: two that settle the same contradict each other, or one of them does nothing.
std::string settled_by(const Item& item) {
  if (item.key == "abs" || item.key == "rel" || item.key == "lossless") return "the bound of all fields";
  if (item.key == field_key) return "the bound of field \"" + item.field + "\"";
  return item.key;
}

}  // namespace

Result<WriteOptions> parse_write_options(std::string_view text) {
  WriteOptions options;
  std::set<std::string> settled;
  for (Reader reader(text); !reader.is_at_end();) {
    NEVE_ASSIGN(const Item item, reader.next());
    NEVE_TRY(parse_item(item, options));
    if (!settled.insert(settled_by(item)).second) {
      return usage_error("option \"" + item.text + "\": " + settled_by(item) + " is given twice");
    }
  }
  return options;
}

}  // namespace neve::mpi
