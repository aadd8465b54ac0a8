// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <optional>
#include <set>
#include <string>

#include "core/format/codec_choices.hpp"
#include "core/options/idle.hpp"
#include "core/options/settings.hpp"
#include "core/options/slots.hpp"
#include "neve/options.hpp"

namespace neve {
namespace {

using options::Setting;

constexpr std::string_view field_key = "field";
constexpr std::string_view of_a_write = "field:NAME=";

// One option of a list: a setting, or "field:NAME=RULE".
struct Item {
  Setting setting;
  std::string field;  // of key "field"
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
    if (!rest_.starts_with(std::string(field_key) + ":"))
      return Item{options::setting_of(take_until(";")), {}};
    const std::string_view begin = rest_;
    Item item;
    item.setting.key = field_key;
    take(field_key.size() + 1);
    NEVE_ASSIGN(item.field, take_name());
    if (rest_.starts_with('=')) {
      take(1);
      item.setting.value = take_until(";");
    }
    item.setting.text = begin.substr(0, begin.size() - rest_.size());
    if (rest_.empty() || rest_.starts_with(';')) return item;
    return usage_error("option \"" + item.setting.text + "\" is followed by \"" +
                       std::string(rest_.substr(0, 20)) + "\"; a name in quotes ends with '=' and its bound");
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

// What was said, and that nothing is said twice: two that settle the same contradict each other, or one of
// them does nothing.
class Said {
 public:
  Status add(const Item& item) {
    const std::string settles = !item.field.empty()           ? "field \"" + item.field + "\""
                                : item.setting.key == "bound" ? "the bound of all fields"
                                                              : item.setting.key;
    if (settled_.insert(settles).second) {
      keys_.insert(item.setting.key);
      return {};
    }
    return usage_error(fmt::format("option \"{}\": {} is given twice", item.setting.text, settles));
  }

  const std::set<std::string>& keys() const { return keys_; }
  options::Asked asked() const {
    return {[this](std::string_view key) { return keys_.count(std::string(key)) > 0; }};
  }

 private:
  std::set<std::string> settled_, keys_;
};

Status read_rule(const Item& item, WriteOptions& options) {
  if (item.field.empty()) return usage_error("option \"" + item.setting.text + "\" names no field");
  auto rule = options::parse_rule(item.setting.value, options::field_rule);
  if (!rule.ok()) return rule.status().in("field " + item.field);
  options.fields[item.field] = {rule->bound, rule->codec, rule->tuning, rule->fill};
  return {};
}

// Options of an array, or of a series of them, as they are read.
class ArrayReader {
 public:
  explicit ArrayReader(OptionsSoFar before, ChoiceRules* rules = nullptr)
      : given_(std::move(before.given)),
        dtype_(before.dtype),
        slots_(std::move(before.values)),
        rules_(rules) {}
  Status read(const Setting& setting) {
    options::Slots slots = slots_.slots();
    slots.choice = rules_;
    const options::Targets targets = options::array | (rules_ != nullptr ? options::series : 0U);
    return options::read_setting(setting, targets, slots);
  }
  Result<ArrayOptions> finish(const Said& said) {
    ArrayOptions options = slots_.take();
    NEVE_TRY(check_tuning(options.tuning));
    given_.insert(said.keys().begin(), said.keys().end());
    if (dtype_ && !is_integer(*dtype_)) NEVE_TRY(check_keeps_bound(options.bound, options.codec));
    // Integers are lossless whatever is said of a bound.
    const bool may_be_of_integers = !dtype_ && given_.count("bound") == 0;
    given_.erase("codec");  // one that integers cannot have is encode_array's to refuse
    const options::Asked asked{[this](std::string_view key) { return given_.count(std::string(key)) > 0; }};
    NEVE_TRY(refuse_idle_codec_options(asked, options::codec_uses(options), may_be_of_integers));
    NEVE_TRY(refuse_idle_choices(asked, options::codec_uses(options).front(), may_be_of_integers));
    return options;
  }

 private:
  std::set<std::string> given_;
  std::optional<DType> dtype_;
  options::ArraySlots slots_;
  ChoiceRules* rules_;  // of a series; null: of one array
};

// Each of them, and that none is given twice.
Status read_all(const std::map<std::string, std::string>& given, ArrayReader& reader, Said& said) {
  for (const auto& [name, value] : given) {
    const options::Option* const option = options::find(name);
    const std::string key(option == nullptr ? std::string_view(name) : option->key);
    const Item item{{name, key, value}, {}};
    NEVE_TRY(reader.read(item.setting));
    NEVE_TRY(said.add(item));
  }
  return {};
}

Status read_all(std::string_view text, ArrayReader& reader, Said& said) {
  for (Reader list(text); !list.is_at_end();) {
    NEVE_ASSIGN(const Item item, list.next());
    NEVE_TRY(reader.read(item.setting));
    NEVE_TRY(said.add(item));
  }
  return {};
}

template <class Given>
Result<ArrayOptions> read_array(const Given& given, OptionsSoFar before) {
  ArrayReader reader(std::move(before));
  Said said;
  NEVE_TRY(read_all(given, reader, said));
  return reader.finish(said);
}

template <class Given>
Result<SeriesOptions> read_series(const Given& given, OptionsSoFar before, const ChoiceRules& rules) {
  SeriesOptions options{{}, rules};
  ArrayReader reader(std::move(before), &options.rules);
  Said said;
  NEVE_TRY(read_all(given, reader, said));
  NEVE_ASSIGN(options.array, reader.finish(said));
  NEVE_TRY(check_choice_rules(options.rules));
  return options;
}

// Uncompressed files have few options: those of `allowed`.
Status check_uncompressed(const Said& said, const WriteOptions& options, options::Targets allowed) {
  if (options.compress) return {};
  for (const std::string& key : said.keys()) {
    const options::Option* const option = options::find(key);
    if (option != nullptr && (option->targets & allowed) != 0) continue;
    return usage_error(fmt::format("option {} has no meaning with uncompressed; allowed are {}", key,
                                   options::keys_of(allowed)));
  }
  return {};
}

// A stage is for files that are written behind: encode, unless it is said how.
Status check_behind_and_stage(const Said& said, const WriteOptions& options) {
  NEVE_TRY(check_behind(options));
  if (options.stage.empty() || options.behind != Behind::none || said.keys().count("behind") == 0) return {};
  return usage_error("option stage has no meaning with behind none; encode and copy are allowed with it");
}

// Those of a write, as they are said.
Result<WriteOptions> read_write_options(std::string_view text, options::Targets targets, Said& said) {
  options::WriteSlots slots;
  WriteOptions rules;
  for (Reader list(text); !list.is_at_end();) {
    NEVE_ASSIGN(const Item item, list.next());
    if (item.setting.key == field_key) {
      NEVE_TRY(read_rule(item, rules));
    } else {
      NEVE_TRY(options::read_setting(item.setting, targets, slots.slots(), of_a_write));
    }
    NEVE_TRY(said.add(item));
  }
  WriteOptions options = slots.take();
  options.fields = std::move(rules.fields);
  NEVE_TRY(check_tuning(options.tuning));
  return options;
}

// A variable has no fill value, and no tuning of its own.
Status check_variable_rules(const WriteOptions& options) {
  for (const auto& [name, rule] : options.fields) {
    if (!rule.tuning && !rule.fill) continue;
    return usage_error(fmt::format(
        "option field:{}: the rule of a variable of a checkpoint sets its bound and its codec; {} is "
        "not allowed",
        name, rule.fill ? "a fill value" : "tuning of the codec"));
  }
  return {};
}

}  // namespace

Result<ArrayOptions> parse_array_options(const std::map<std::string, std::string>& given,
                                         OptionsSoFar before) {
  return read_array(given, std::move(before));
}

Result<ArrayOptions> parse_array_options(std::string_view text, OptionsSoFar before) {
  return read_array(text, std::move(before));
}

Result<SeriesOptions> parse_series_options(const std::map<std::string, std::string>& given,
                                           OptionsSoFar before, const ChoiceRules& rules) {
  return read_series(given, std::move(before), rules);
}

Result<SeriesOptions> parse_series_options(std::string_view text, OptionsSoFar before,
                                           const ChoiceRules& rules) {
  return read_series(text, std::move(before), rules);
}

std::string choice_text(const SeriesOptions& options) {
  SeriesOptions copy = options;
  options::Slots slots;
  slots.tuning = &copy.array.tuning;
  slots.choice = &copy.rules;
  std::string text;
  for (const char* key : {"candidates", "speed_weight", "ratio_weight", "delta", "speeds"})
    text += fmt::format("{}{}={}", text.empty() ? "" : ";", key, options::find(key)->print(slots));
  return text;
}

ArrayOptions options_for(DType dtype, ArrayOptions options) {
  if (!is_integer(dtype)) {
    options.integer_fill.reset();
  } else if (options.integer_fill) {
    options.fill.reset();
  }
  return options;
}

Result<WriteOptions> parse_write_options(std::string_view text) {
  constexpr options::Targets uncompressed = options::uncompressed_plotfile | options::held_plotfile;
  Said said;
  NEVE_ASSIGN(WriteOptions options, read_write_options(text, options::plotfile | uncompressed, said));
  NEVE_TRY(check_uncompressed(said, options, uncompressed));
  NEVE_TRY(check_behind_and_stage(said, options));
  NEVE_TRY(refuse_idle_layout(said.asked(), options));
  NEVE_TRY(refuse_idle_of_plotfile(said.asked(), options, "field "));
  return options;
}

Result<WriteOptions> parse_checkpoint_options(std::string_view text) {
  constexpr options::Targets uncompressed = options::uncompressed_checkpoint | options::held_plotfile;
  Said said;
  NEVE_ASSIGN(WriteOptions options, read_write_options(text, options::checkpoint | uncompressed, said));
  if (said.keys().count("bound") == 0) options.bound = {BoundMode::lossless, 0};
  NEVE_TRY(check_variable_rules(options));
  NEVE_TRY(check_uncompressed(said, options, uncompressed));
  NEVE_TRY(check_behind_and_stage(said, options));
  NEVE_TRY(refuse_idle_layout(said.asked(), options));
  if (options.compress) {
    NEVE_TRY(refuse_idle_codec_options(said.asked(), options::codec_uses(options, "variable ")));
  }
  return options;
}

}  // namespace neve
