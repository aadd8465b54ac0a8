// SPDX-License-Identifier: BSD-3-Clause
#include "neve/types.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <optional>
#include <span>
#include <vector>

#include "core/catalog/choices.hpp"
#include "core/catalog/codecs.hpp"
#include "core/catalog/lossless_methods.hpp"
#include "core/format/codec_choices.hpp"

namespace neve {

namespace {

constexpr std::string_view unknown_name = "unknown";

struct TypeFacts {
  std::string_view name;
  size_t bytes;
};
constexpr std::array<TypeFacts, dtypes> type_facts = {{{"f32", 4},
                                                       {"f64", 8},
                                                       {"i8", 1},
                                                       {"u8", 1},
                                                       {"i16", 2},
                                                       {"u16", 2},
                                                       {"i32", 4},
                                                       {"u32", 4},
                                                       {"i64", 8},
                                                       {"u64", 8}}};

bool is_known(DType t) { return static_cast<size_t>(t) < type_facts.size(); }

}  // namespace

size_t dtype_bytes(DType t) { return is_known(t) ? type_facts[static_cast<size_t>(t)].bytes : 0; }
std::string_view dtype_name(DType t) {
  return is_known(t) ? type_facts[static_cast<size_t>(t)].name : unknown_name;
}

bool holds_integer(DType t, uint64_t value) {
  if (!is_known(t)) return false;
  const size_t unused_bits = 64 - 8 * dtype_bytes(t);
  if (!is_signed(t)) return value << unused_bits >> unused_bits == value;
  return static_cast<int64_t>(value << unused_bits) >> unused_bits == static_cast<int64_t>(value);
}

std::string integer_text(DType t, uint64_t value) {
  return is_signed(t) ? fmt::format("{}", static_cast<int64_t>(value)) : fmt::format("{}", value);
}

namespace {

struct ModeName {
  BoundMode mode;
  std::string_view name;
  BoundUse min_use;  // fields may have it, or arrays only
};
constexpr ModeName modes_with_value[] = {{BoundMode::abs, "abs", BoundUse::field},
                                         {BoundMode::rel, "rel", BoundUse::field},
                                         {BoundMode::ratio, "ratio", BoundUse::array},
                                         {BoundMode::psnr, "psnr", BoundUse::array}};

bool may_have(BoundUse use, const ModeName& mode) {
  return use == BoundUse::array || mode.min_use == BoundUse::field;
}

std::string allowed_bounds(BoundUse use) {
  std::string allowed;
  for (const ModeName& mode : modes_with_value) {
    if (may_have(use, mode)) allowed += fmt::format("{}=VALUE, ", mode.name);
  }
  return allowed + "lossless";
}

std::string_view limits_of(BoundMode mode) {
  return mode == BoundMode::ratio ? "finite numbers above 1" : "finite numbers above 0";
}

bool is_allowed_value(const Bound& bound) {
  return std::isfinite(bound.value) && bound.value > (bound.mode == BoundMode::ratio ? 1 : 0);
}

}  // namespace

bool is_known_bound_mode(unsigned number) { return number <= static_cast<unsigned>(BoundMode::psnr); }

Status check_dtype(DType dtype) {
  if (is_known(dtype)) return {};
  return usage_error(
      fmt::format("dtype {} unknown; 0 to {} are allowed", static_cast<int>(dtype), dtypes - 1));
}

Status check_threads(int64_t threads) {
  if (threads >= 1 && threads <= max_threads) return {};
  return out_of_range("threads", threads, 1, max_threads);
}

Status check_bound(const Bound& bound, BoundUse use) {
  if (!is_known_bound_mode(static_cast<unsigned>(bound.mode))) {
    return usage_error(fmt::format("bound: mode {} unknown; allowed: {}", static_cast<int>(bound.mode),
                                   allowed_bounds(use)));
  }
  for (const ModeName& mode : modes_with_value) {
    if (mode.mode == bound.mode && !may_have(use, mode)) {
      return usage_error(fmt::format("bound {} is for whole arrays and streams; allowed here: {}",
                                     to_string(bound), allowed_bounds(use)));
    }
  }
  if (bound.mode != BoundMode::lossless && !is_allowed_value(bound)) {
    return not_among("bound: value", bound.value, limits_of(bound.mode));
  }
  if (bound.best_effort && bound.mode != BoundMode::ratio) {
    return usage_error(fmt::format("best effort has no meaning with bound {}; it is allowed with ratio=VALUE",
                                   to_string(bound)));
  }
  return {};
}

Result<Bound> parse_bound(std::string_view text, BoundUse use) {
  if (text == "lossless") return Bound{BoundMode::lossless, 0};
  const size_t equals = text.find('=');
  const std::string_view name = text.substr(0, equals);
  const auto* const mode =
      std::find_if(std::begin(modes_with_value), std::end(modes_with_value),
                   [&](const ModeName& m) { return m.name == name && may_have(use, m); });
  if (mode == std::end(modes_with_value)) {
    double number = 0;
    const auto [rest, fault] = std::from_chars(text.data(), text.data() + text.size(), number);
    if (!text.empty() && fault == std::errc() && rest == text.data() + text.size()) {
      return usage_error(fmt::format(
          "bound \"{0}\" has no mode; did you mean rel={0} (of the value range) or abs={0}?", text));
    }
    if (name == "pw_rel") {
      return usage_error(
          fmt::format("bound \"{}\": this version has no mode pw_rel (relative to each value); allowed: {}",
                      text, allowed_bounds(use)));
    }
    if (name == "lossless") return usage_error(fmt::format("bound \"{}\": lossless takes no value", text));
    return usage_error(
        fmt::format("bound \"{}\": mode \"{}\" unknown; allowed: {}", text, name, allowed_bounds(use)));
  }
  Bound bound{mode->mode, 0};
  const std::string_view value =
      equals == std::string_view::npos ? std::string_view() : text.substr(equals + 1);
  const auto [end, error] = std::from_chars(value.data(), value.data() + value.size(), bound.value);
  if (error == std::errc::result_out_of_range && end == value.data() + value.size()) {
    return usage_error(fmt::format("bound \"{}\": value {} is no number that f64 holds", text, value));
  }
  if (value.empty() || error != std::errc() || end != value.data() + value.size()) {
    return usage_error(fmt::format("bound \"{}\": value \"{}\" is not a number", text, value));
  }
  if (!is_allowed_value(bound)) {
    return not_among(fmt::format("bound \"{}\": value", text), value, limits_of(bound.mode));
  }
  return bound;
}

std::string to_string(const Bound& bound) {
  for (const ModeName& mode : modes_with_value) {
    if (mode.mode == bound.mode) return fmt::format("{}={}", mode.name, bound.value);
  }
  return "lossless";
}

std::string_view codec_name(Codec codec) { return traits_of(codec).name; }

bool keeps_integers(Codec codec) { return traits_of(codec).keeps_bits; }

namespace {

// The names of the codecs that somebody may ask for and `is_one` takes, in a row.
std::vector<std::string_view> names_of(bool (*is_one)(Codec)) {
  std::vector<std::string_view> names;
  for (const CodecTraits& row : codec_rows) {
    if (row.is_asked_for && is_one(row.codec)) names.push_back(row.name);
  }
  return names;
}

}  // namespace

Result<Codec> parse_codec(std::string_view name) {
  for (const CodecTraits& row : codec_rows) {
    if (row.is_asked_for && name == row.name) return row.codec;
  }
  return usage_error(fmt::format("codec \"{}\" unknown; allowed: {}", name, codec_choices()));
}

Status check_codec(Codec codec) {
  if (traits_of(codec).is_asked_for) return {};
  if (is_codec(codec)) return usage_error(fmt::format("codec {} cannot be selected", codec_name(codec)));
  return usage_error(fmt::format("codec {} unknown; allowed: {}", static_cast<int>(codec), codec_choices()));
}

bool can_keep_every_bit(Codec asked) { return asked == Codec::automatic || keeps_integers(asked); }

Status check_integer_choices(DType dtype, const Bound& bound, Codec codec) {
  if (bound.mode != BoundMode::lossless) {
    return usage_error(
        fmt::format("bound {} for values of {}: integers are kept bit for bit, their bound is lossless",
                    to_string(bound), dtype_name(dtype)));
  }
  if (!can_keep_every_bit(codec)) {
    return usage_error(fmt::format("codec {} for values of {}; integers take {}", codec_name(codec),
                                   dtype_name(dtype), fmt::join(names_of(can_keep_every_bit), ", ")));
  }
  return {};
}

Status check_keeps_bound(const Bound& bound, Codec codec) {
  if (bound.mode != BoundMode::lossless || can_keep_every_bit(codec)) return {};
  return usage_error(fmt::format("codec {} cannot keep the bound lossless; allowed with it: {}",
                                 codec_name(codec), fmt::join(names_of(can_keep_every_bit), ", ")));
}

Status check_uses_bound(const Bound& bound, Codec codec, std::string_view name) {
  if (bound.mode == BoundMode::lossless || !keeps_integers(codec)) return {};
  return usage_error(fmt::format(
      "{} {} has no meaning with codec {}, which keeps every bit; allowed with it: lossless, and with this "
      "bound the other codecs",
      name, to_string(bound), codec_name(codec)));
}

bool repeats_values(Codec asked) { return asked == Codec::automatic || traits_of(asked).decodes_alone; }

Status check_repeats_values(Codec codec) {
  if (repeats_values(codec)) return {};
  return usage_error(
      fmt::format("codec {} does not keep its decoded values when they are encoded again; allowed: {}",
                  codec_name(codec), fmt::join(names_of(repeats_values), ", ")));
}

std::string codec_choices() {
  return fmt::format("{}", fmt::join(names_of([](Codec) { return true; }), ", "));
}

namespace {

bool is_same_word(std::string_view a, std::string_view b) {
  const auto lower = [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c; };
  return std::equal(a.begin(), a.end(), b.begin(), b.end(),
                    [&](char x, char y) { return lower(x) == lower(y); });
}

// The begin of a caller's long text. Signs of UTF-8 stay whole.
std::string shortened(std::string_view text) {
  constexpr size_t most = 40;
  if (text.size() <= most) return std::string(text);
  size_t kept = most;
  while (kept > 0 && (static_cast<unsigned char>(text[kept]) & 0xc0) == 0x80) --kept;
  return std::string(text.substr(0, kept)) + "...";
}

Status not_a_method(std::string_view name, std::string_view allowed) {
  return usage_error(fmt::format("lossless method \"{}\" unknown; allowed: {}", shortened(name), allowed));
}

std::optional<LosslessMethod> method_named(std::string_view name) {
  for (const LosslessMethodTraits& row : lossless_method_rows) {
    if (is_same_word(name, row.name)) return row.method;
  }
  return {};
}

std::string method_names(std::span<const LosslessMethodTraits> rows) {
  std::vector<std::string_view> names;
  for (const LosslessMethodTraits& row : rows) names.push_back(row.name);
  return fmt::format("{}", fmt::join(names, ", "));
}

}  // namespace

std::string_view lossless_method_name(LosslessMethod method) { return traits_of(method).name; }

Result<LosslessMethod> parse_lossless_method(std::string_view name) {
  if (const auto method = method_named(name)) return *method;
  return not_a_method(name, method_names(lossless_method_rows));
}

namespace {

// Around it.
std::string_view without_blanks(std::string_view text) {
  constexpr std::string_view blanks = " \t";
  const size_t first = text.find_first_not_of(blanks);
  if (first == std::string_view::npos) return {};
  return text.substr(first, text.find_last_not_of(blanks) + 1 - first);
}

// Sets stand alone; what may be joined by + or a comma are names of methods.
Status not_a_candidate(std::string_view name) {
  const std::string methods = method_names(std::span(lossless_method_rows).subspan(1));
  const std::string allowed =
      fmt::format("{} or {} alone, or with + between them {}", all_methods_name, acomps_name, methods);
  const std::string_view automatic = lossless_method_name(LosslessMethod::automatic);
  if (!is_same_word(name, automatic)) return not_a_method(name, allowed);
  return usage_error(fmt::format("{} is no method to choose from; allowed: {}", automatic, allowed));
}

}  // namespace

Result<LosslessMethods> parse_lossless_methods(std::string_view names) {
  names = without_blanks(names);
  if (is_same_word(names, all_methods_name)) return LosslessMethods{};
  if (is_same_word(names, acomps_name)) return acomps_methods;
  LosslessMethods methods;
  for (size_t begin = 0; begin <= names.size();) {
    const size_t end = std::min(names.find_first_of("+,", begin), names.size());
    const std::string_view name = without_blanks(names.substr(begin, end - begin));
    const auto method = method_named(name);
    if (!method || *method == LosslessMethod::automatic) return not_a_candidate(name);
    methods.bits |= 1U << static_cast<unsigned>(*method);
    begin = end + 1;
  }
  return methods;
}

std::string lossless_methods_text(LosslessMethods methods) {
  if (methods.is_all()) return std::string(all_methods_name);
  if (methods == acomps_methods) return std::string(acomps_name);
  std::vector<std::string_view> names;
  for (const LosslessMethodTraits& row : lossless_method_rows) {
    if (methods.has(row.method)) names.push_back(row.name);
  }
  return fmt::format("{}", fmt::join(names, "+"));
}

std::string_view arrangement_name(Arrangement arrangement) {
  if (arrangement == Arrangement::nested) return "nested";
  return name_in(arrangement_choices, arrangement, unknown_name);
}

Result<Arrangement> parse_arrangement(std::string_view name) {
  if (const auto arrangement = value_in(arrangement_choices, name)) return *arrangement;
  return usage_error(
      fmt::format("arrangement \"{}\" unknown; allowed: {}", name, joined(arrangement_choices)));
}

std::string arrangement_text(Arrangement arrangement, int unit_cells) {
  return unit_cells > 0 ? fmt::format("{} {}", arrangement_name(arrangement), unit_cells)
                        : std::string(arrangement_name(arrangement));
}

Status check_tuning(const CodecTuning& tuning) {
  NEVE_TRY(check_side("unit", tuning.unit_cells, unit_sides));
  NEVE_TRY(check_side("block", tuning.block_cells, block_sides));
  if (arrangement_name(tuning.arrangement) == unknown_name) {
    return usage_error(fmt::format("arrangement {} unknown; allowed: {}",
                                   static_cast<int>(tuning.arrangement), joined(arrangement_choices)));
  }
  if (tuning.arrangement == Arrangement::nested) {
    return usage_error(
        "arrangement nested cannot be selected; sections of a file written with cross-level prediction get "
        "it where it is smaller");
  }
  NEVE_TRY(check_weight("speed_weight", tuning.speed_weight));
  NEVE_TRY(check_weight("ratio_weight", tuning.ratio_weight));
  if (tuning.speed_weight == 0 && tuning.ratio_weight == 0) {
    return usage_error("speed_weight and ratio_weight are both 0; at least one must be above 0");
  }
  if (static_cast<int>(tuning.method) >= lossless_methods) {
    return usage_error(fmt::format("lossless method {}, below {} is allowed", static_cast<int>(tuning.method),
                                   lossless_methods));
  }
  constexpr uint32_t known_methods = (1U << lossless_methods) - 2;  // not automatic
  if ((tuning.candidates.bits & ~known_methods) != 0) {
    return usage_error(fmt::format("candidates have bits {:#x}, only those of {:#x} are allowed",
                                   tuning.candidates.bits, known_methods));
  }
  if (tuning.arrangement == Arrangement::in_place && tuning.unit_cells != 0) {
    return usage_error(fmt::format("unit is {}: arrangement in_place has no unit blocks", tuning.unit_cells));
  }
  return {};
}

std::string_view effort_name(Effort effort) { return name_in(effort_names, effort, unknown_name); }

Status check_effort(Effort effort) {
  if (effort_name(effort) != unknown_name) return {};
  return usage_error(
      fmt::format("effort {} unknown; allowed: {}", static_cast<int>(effort), joined(effort_names)));
}

Result<Effort> parse_effort(std::string_view name) {
  if (const auto effort = value_in(effort_names, name)) return *effort;
  return usage_error(fmt::format("effort \"{}\" unknown; allowed: {}", name, joined(effort_names)));
}

}  // namespace neve
