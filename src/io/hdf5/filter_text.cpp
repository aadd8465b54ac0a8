// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/filter_text.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <set>

#include "core/bits/value_types.hpp"
#include "core/options/nearest_name.hpp"
#include "core/options/value_text.hpp"

namespace neve::hdf5 {
namespace {

struct Entry {
  std::string key;  // with the table's name before it: "range.min"
  std::string value;
  bool is_string = false;
};

bool is_blank(char c) { return c == ' ' || c == '\t'; }
bool is_key_letter(char c) {
  return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_' || c == '-' ||
         c == '.';
}

class Reader {
 public:
  explicit Reader(std::string_view text) : text_(text) {}

  Result<std::vector<Entry>> read() {
    skip_blanks();
    if (take('{')) {
      NEVE_TRY(read_table("", 0));
    } else if (!at_end()) {
      NEVE_TRY(read_entries("", 0));
    }
    skip_blanks();
    if (!at_end()) return refused("a comma or the end");
    return std::move(entries_);
  }

 private:
  static constexpr int max_depth = 4;

  bool at_end() const { return at_ == text_.size(); }
  char next() const { return text_[at_]; }
  void skip_blanks() {
    while (!at_end() && is_blank(next())) ++at_;
  }
  bool take(char wanted) {
    if (at_end() || next() != wanted) return false;
    ++at_;
    return true;
  }
  Status refused(std::string_view wanted) const {
    return usage_error(fmt::format("Neve filter: '{}' at byte {} of the parameters; {} is allowed there",
                                   text_.substr(at_, 16), at_, wanted));
  }

  // Behind '{'.
  Status read_table(const std::string& prefix, int depth) {
    skip_blanks();
    if (take('}')) return {};
    NEVE_TRY(read_entries(prefix, depth));
    return take('}') ? Status{} : refused("a comma or }");
  }

  Status read_entries(const std::string& prefix, int depth) {
    do {
      skip_blanks();
      const size_t begin = at_;
      while (!at_end() && is_key_letter(next())) ++at_;
      if (at_ == begin) return refused("the name of a parameter");
      const std::string key = prefix + std::string(text_.substr(begin, at_ - begin));
      skip_blanks();
      if (!take('=')) return refused("=");
      skip_blanks();
      NEVE_TRY(read_value(key, depth));
      skip_blanks();
    } while (take(','));
    return {};
  }

  Status read_value(const std::string& key, int depth) {
    if (take('{')) return depth < max_depth ? read_table(key + ".", depth + 1) : refused("a value");
    const bool is_string = !at_end() && (next() == '"' || next() == '\'');
    std::string value;
    if (is_string) {
      NEVE_ASSIGN(value, read_string());
    } else {
      const size_t begin = at_;
      while (!at_end() && next() != ',' && next() != '}' && !is_blank(next())) ++at_;
      value = text_.substr(begin, at_ - begin);
      if (value.empty()) return refused("a value");
    }
    const bool is_new = keys_.insert(key).second;
    if (!is_new) return usage_error(fmt::format("Neve filter: {} is given twice", key));
    entries_.push_back({key, std::move(value), is_string});
    return {};
  }

  // Names of choices need no escapes.
  Result<std::string> read_string() {
    const char quote = text_[at_++];
    const size_t end = text_.find(quote, at_);
    if (end == std::string_view::npos) return refused("a closing quotation mark");
    std::string value(text_.substr(at_, end - at_));
    at_ = end + 1;
    return value;
  }

  std::string_view text_;
  size_t at_ = 0;
  std::vector<Entry> entries_;
  std::set<std::string> keys_;
};

constexpr const char* missing_prefix = "missing.";

// What of the text is no single parameter.
struct Draft {
  FilterParameters parameters;
  int bounds = 0;
  std::optional<double> lowest, highest;
};

Status read_bound(BoundMode mode, const std::string& text, Draft& draft) {
  NEVE_ASSIGN(draft.parameters.bound.value, options::parse_number(text));
  draft.parameters.bound.mode = mode;
  ++draft.bounds;
  return check_bound(draft.parameters.bound);
}

Status read_lossless(const std::string& text, Draft& draft) {
  if (text != "true") return usage_error(fmt::format("'{}'; allowed: true", text));
  ++draft.bounds;
  return {};
}

Status read_fill(const std::string& text, FilterParameters& p) {
  constexpr uint64_t exact_in_double = uint64_t{1} << 53;
  NEVE_ASSIGN(const options::FillChoice fill, options::parse_fill(text));
  if (!fill.value) return usage_error(fmt::format("'{}' is not a number", text));
  const uint64_t magnitude = text.starts_with('-') ? -fill.whole.value_or(0) : fill.whole.value_or(0);
  const bool is_exact = magnitude <= exact_in_double;
  if (is_exact) {
    p.fill = fill.value;
  } else {
    p.integer_fill = fill.whole;
  }
  return {};
}

Status read_candidates(const std::string& text, FilterParameters& p) {
  NEVE_ASSIGN(p.candidates, parse_lossless_methods(text));
  return {};
}

Status read_switch(const std::string& text, bool on_means, bool& member) {
  if (text != "true" && text != "false") return usage_error(fmt::format("'{}'; allowed: true, false", text));
  member = (text == "true") == on_means;
  return {};
}

struct Key {
  const char* name;
  bool is_string;
  Status (*read)(const std::string& text, Draft& draft);
};

constexpr Key keys[] = {
    {"abs", false, [](const std::string& t, Draft& d) { return read_bound(BoundMode::abs, t, d); }},
    {"rel", false, [](const std::string& t, Draft& d) { return read_bound(BoundMode::rel, t, d); }},
    {"lossless", false, read_lossless},
    {"range.min", false,
     [](const std::string& t, Draft& d) { return options::parse_value(t, d.lowest.emplace()); }},
    {"range.max", false,
     [](const std::string& t, Draft& d) { return options::parse_value(t, d.highest.emplace()); }},
    {"fill", false, [](const std::string& t, Draft& d) { return read_fill(t, d.parameters); }},
    {"detect_fill", false,
     [](const std::string& t, Draft& d) { return read_switch(t, true, d.parameters.detect_fill); }},
    {"codec", true,
     [](const std::string& t, Draft& d) { return options::parse_value(t, d.parameters.codec); }},
    {"effort", true,
     [](const std::string& t, Draft& d) { return options::parse_value(t, d.parameters.effort); }},
    {"candidates", true, [](const std::string& t, Draft& d) { return read_candidates(t, d.parameters); }},
    {"speed_weight", false,
     [](const std::string& t, Draft& d) { return options::parse_value(t, d.parameters.speed_weight); }},
    {"ratio_weight", false,
     [](const std::string& t, Draft& d) { return options::parse_value(t, d.parameters.ratio_weight); }},
    {"rewrite", false,
     [](const std::string& t, Draft& d) { return read_switch(t, false, d.parameters.is_written_once); }},
    {"has_bound", false,
     [](const std::string& t, Draft& d) { return read_switch(t, true, d.parameters.has_bound_already); }},
};

Status unknown_key(const std::string& name) {
  std::vector<std::string> known;
  for (const Key& key : keys) known.emplace_back(key.name);
  known.push_back(fmt::format("{}1 to {}{}", missing_prefix, missing_prefix, max_missing));
  const std::string meant = options::nearest_name(name, known);
  return usage_error(fmt::format("Neve filter: no parameter '{}'{}; allowed: {}", name,
                                 meant.empty() ? "" : fmt::format(" (did you mean {}?)", meant),
                                 fmt::join(known, ", ")));
}

// missing.1, missing.2, ... in this order.
Status read_missing(const Entry& entry, FilterParameters& p) {
  const size_t number = p.missing.size() + 1;
  if (number > max_missing || entry.key != fmt::format("{}{}", missing_prefix, number)) {
    return usage_error(fmt::format("{} missing values stand before it; {} are allowed, numbered from 1",
                                   p.missing.size(), max_missing));
  }
  return options::parse_value(entry.value, p.missing.emplace_back());
}

Status read_entry(const Entry& entry, Draft& draft) {
  const bool is_missing = entry.key.starts_with(missing_prefix);
  const Key* const key =
      std::find_if(std::begin(keys), std::end(keys), [&](const Key& k) { return entry.key == k.name; });
  if (!is_missing && key == std::end(keys)) return unknown_key(entry.key);
  if (entry.is_string != (!is_missing && key->is_string)) {
    return usage_error(fmt::format("Neve filter: {} = {} is {}a text in quotation marks; allowed: {}",
                                   entry.key, entry.value, entry.is_string ? "" : "not ",
                                   entry.is_string ? "a number, true or false" : "\"...\""));
  }
  const Status read = is_missing ? read_missing(entry, draft.parameters) : key->read(entry.value, draft);
  return read.ok() ? read : read.in(fmt::format("Neve filter: {}", entry.key));
}

Result<FilterParameters> finish(Draft& draft) {
  FilterParameters& p = draft.parameters;
  NEVE_TRY(check_tuning(tuning_of(p)).in("Neve filter"));
  if (draft.bounds > 1) {
    return usage_error("Neve filter: more than one of abs, rel and lossless is given; one is allowed");
  }
  if (draft.lowest.has_value() != draft.highest.has_value()) {
    return usage_error("Neve filter: one of range.min and range.max is given; both or none are allowed");
  }
  if (!draft.lowest) return std::move(p);
  NEVE_TRY(check_range({*draft.lowest, *draft.highest, false}, "range"));
  p.range = ValueRange{*draft.lowest, *draft.highest, false};
  p.bound = bound_in_range(p.bound, *p.range);
  return std::move(p);
}

// A number that TOML takes for a floating-point one.
std::string number_text(double value) {
  std::string text = options::value_text(value);
  const bool is_whole = text.find_first_not_of("-0123456789") == std::string::npos;
  return is_whole ? text + ".0" : text;
}

std::string fill_text(const FilterParameters& p) {
  if (p.fill) return number_text(*p.fill);
  return integer_text(p.chunk_shape.empty() ? DType::i64 : p.dtype, *p.integer_fill);
}

std::string bound_text(const Bound& bound) {
  if (bound.mode == BoundMode::lossless) return "lossless = true";
  return fmt::format("{} = {}", bound.mode == BoundMode::abs ? "abs" : "rel", number_text(bound.value));
}

}  // namespace

Result<FilterParameters> parse_filter_text(std::string_view text) {
  if (text.size() > max_filter_text) {
    return usage_error(fmt::format("Neve filter: parameters of {} bytes; at most {} are allowed", text.size(),
                                   max_filter_text));
  }
  NEVE_ASSIGN(const std::vector<Entry> entries, Reader(text).read());
  Draft draft;
  draft.parameters.bound = {BoundMode::lossless, 0};
  for (const Entry& entry : entries) NEVE_TRY(read_entry(entry, draft));
  return finish(draft);
}

std::string filter_text(const FilterParameters& p) {
  const FilterParameters untold;
  std::string text = bound_text(p.bound);
  const auto add = [&](std::string_view key, const std::string& value) {
    text += fmt::format(", {} = {}", key, value);
  };
  // A bound relative to each chunk's own range makes no use of it. In a text the two are a bound in the
  // values' units.
  if (p.range && p.bound.mode != BoundMode::rel) {
    add("range.min", number_text(p.range->min));
    add("range.max", number_text(p.range->max));
  }
  if (p.fill || p.integer_fill) add("fill", fill_text(p));
  for (size_t i = 0; i < p.missing.size(); ++i) {
    add(fmt::format("{}{}", missing_prefix, i + 1), number_text(p.missing[i]));
  }
  if (p.detect_fill != untold.detect_fill) add("detect_fill", options::value_text(p.detect_fill));
  if (p.codec != untold.codec) add("codec", fmt::format("\"{}\"", options::value_text(p.codec)));
  if (p.effort != untold.effort) add("effort", fmt::format("\"{}\"", options::value_text(p.effort)));
  if (!p.candidates.is_all()) {
    add("candidates", fmt::format("\"{}\"", lossless_methods_text(p.candidates)));
  }
  if (p.speed_weight != untold.speed_weight) add("speed_weight", number_text(p.speed_weight));
  if (p.ratio_weight != untold.ratio_weight) add("ratio_weight", number_text(p.ratio_weight));
  if (p.is_written_once) add("rewrite", "false");
  if (p.has_bound_already) add("has_bound", "true");
  return text;
}

Result<std::string> words_text(std::span<const uint32_t> words) {
  NEVE_ASSIGN(UserParameters user, parse_user_words(words));
  FilterParameters& parameters = user.parameters;
  if (words.size() != user.words) {
    NEVE_ASSIGN(parameters, parse_words(words));
  }
  NEVE_TRY(check_promises(parameters));
  return filter_text(parameters);
}

}  // namespace neve::hdf5
