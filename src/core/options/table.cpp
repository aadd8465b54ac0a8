// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/catalog/choices.hpp"
#include "core/catalog/lossless_methods.hpp"
#include "core/catalog/strategies.hpp"
#include "core/format/codec_choices.hpp"
#include "core/options/option.hpp"
#include "core/options/value_text.hpp"
#include "neve/limits.hpp"

namespace neve::options {
namespace {

constexpr Targets encoded = plotfile | checkpoint | data_file | chombo_checkpoint;
constexpr Targets rules = field_rule | variable_rule;
constexpr Targets coded = encoded | array | transfer;
constexpr Targets through_mpi = plotfile | uncompressed_plotfile | checkpoint | uncompressed_checkpoint;
constexpr Targets uncompressed =
    uncompressed_plotfile | uncompressed_checkpoint | uncompressed_chombo_checkpoint;

template <class Struct>
using Slot = Struct* Slots::*;

// A whole number of a range.
struct Range {
  int least = 0, most = std::numeric_limits<int>::max();
};
auto whole_reader(std::string_view key, Range range) {
  return [key, range](std::string_view text, int& value) -> Status {
    uint64_t number = 0;
    NEVE_TRY(
        read_whole(key, text, static_cast<uint64_t>(range.least), static_cast<uint64_t>(range.most), number));
    value = static_cast<int>(number);
    return {};
  };
}

// A side of blocks, among a few.
template <size_t count>
auto side_reader(std::string_view key, const int (&sides)[count]) {
  return [key, &sides](std::string_view text, int& value) -> Status {
    uint64_t number = 0;
    const bool is_known = read_whole(key, text, 0, sides[count - 1], number).ok() &&
                          is_side(static_cast<int64_t>(number), sides);
    if (!is_known) return not_among(key, text, allowed_sides(sides));
    value = static_cast<int>(number);
    return {};
  };
}

using NumberCheck = Status (*)(std::string_view key, double value);
auto number_reader(std::string_view key, NumberCheck check) {
  return [key, check](std::string_view text, double& value) -> Status {
    NEVE_TRY(parse_value(text, value));
    return check(key, value);
  };
}
auto weight_reader(std::string_view key) { return number_reader(key, check_weight); }

// The option is what a slot points to.
template <class T>
Option whole(Option row, Slot<T> slot) {
  row.read = [slot](std::string_view text, const Slots& slots) { return parse_value(text, *(slots.*slot)); };
  row.print = [slot](const Slots& slots) { return value_text(*(slots.*slot)); };
  return row;
}

// The option is a member of what a slot points to.
constexpr auto parsed = [](std::string_view text, auto& value) { return parse_value(text, value); };
template <class Struct, class T, class Reader = decltype(parsed)>
Option member(Option row, Slot<Struct> slot, T Struct::*member, Reader reader = parsed) {
  row.read = [=](std::string_view text, const Slots& slots) { return reader(text, (slots.*slot)->*member); };
  row.print = [=](const Slots& slots) { return value_text((slots.*slot)->*member); };
  return row;
}

// Likewise, of a number of bytes; 0 is nothing said.
template <class Struct>
Option bytes_member(Option row, Slot<Struct> slot, uint64_t Struct::*member) {
  row.read = [=](std::string_view text, const Slots& slots) -> Status {
    NEVE_ASSIGN((slots.*slot)->*member, parse_bytes(text));
    return {};
  };
  row.print = [=](const Slots& slots) {
    const uint64_t bytes = (slots.*slot)->*member;
    return bytes == 0 ? std::string() : bytes_text(bytes);
  };
  return row;
}

Option used_where(Option row, UseTest is_used, std::string_view purpose, bool is_of_integers = false) {
  row.is_used = is_used;
  row.purpose = purpose;
  row.is_of_integers = is_of_integers;
  return row;
}

Option command_only(Option row) {
  row.is_in_text = false;
  return row;
}

Option bound() {
  Option row{"bound",       "B",           Kind::text,
             Group::common, coded | rules, "abs=X (largest error), rel=X (of the value range) or lossless"};
  row.read = [](std::string_view text, const Slots& slots) -> Status {
    const bool best_effort = slots.bound->best_effort;  // said apart
    NEVE_ASSIGN(*slots.bound, parse_bound(text, slots.bound_use));
    slots.bound->best_effort = best_effort;
    return {};
  };
  row.print = [](const Slots& slots) { return to_string(*slots.bound); };
  return row;
}

Option best_effort() {
  Option row{"best_effort", "",    Kind::toggle,
             Group::common, array, "with bound ratio=X: where nothing reaches the ratio, the most there is"};
  row.read = [](std::string_view text, const Slots& slots) {
    return parse_value(text, slots.bound->best_effort);
  };
  row.print = [](const Slots& slots) { return value_text(slots.bound->best_effort); };
  return row;
}

Option fill() {
  Option row{"fill",
             "X",
             Kind::number,
             Group::common,
             plotfile | data_file | chombo_checkpoint | array | rules,
             "the fill value, which marks missing data: auto (detect), none or a number"};
  row.read = [](std::string_view text, const Slots& slots) -> Status {
    NEVE_ASSIGN(*slots.fill, parse_fill(text));
    return {};
  };
  row.print = [](const Slots& slots) -> std::string {
    if (slots.fill->value) return value_text(*slots.fill->value);
    return slots.fill->detect ? "auto" : "none";
  };
  return row;
}

Option threads() {
  Option row{"threads", "N", Kind::whole, Group::common, coded, "threads of each rank"};
  row.read = [read = whole_reader(row.key, {1, max_threads})](std::string_view text, const Slots& slots) {
    return read(text, *slots.threads);
  };
  row.print = [](const Slots& slots) { return value_text(*slots.threads); };
  return row;
}

Option chunk_size() {
  Option row{
      "chunk_size",
      "BYTES",
      Kind::size,
      Group::data,
      encoded,
      fmt::format("most bytes of values in a chunk, {} to {}; without it, data files keep their chunks, "
                  "and variables without chunks get chunks of at most 4MiB",
                  bytes_text(min_chunk_bytes), bytes_text(max_chunk_bytes))};
  row.read = [](std::string_view text, const Slots& slots) -> Status {
    NEVE_ASSIGN(const uint64_t bytes, parse_bytes(text));
    NEVE_TRY(check_chunk_bytes(bytes));
    if (slots.chunk_bytes != nullptr) *slots.chunk_bytes = bytes;
    if (slots.write != nullptr) slots.write->chunk_bytes = bytes;
    return {};
  };
  row.print = [](const Slots& slots) {
    return slots.write != nullptr ? bytes_text(slots.write->chunk_bytes) : std::string();
  };
  return row;
}

Option no_compression() {
  Option row{
      "uncompressed", "",
      Kind::toggle,   Group::common,
      uncompressed,   "write the values uncompressed, boxes in Chombo's order; chunk options apply to boxes"};
  row.read = [](std::string_view text, const Slots& slots) -> Status {
    bool is_asked = false;
    NEVE_TRY(parse_value(text, is_asked));
    if (slots.write != nullptr) slots.write->compress = !is_asked;
    return {};
  };
  row.print = [](const Slots& slots) { return value_text(slots.write != nullptr && !slots.write->compress); };
  return row;
}

Option ghosts() {
  Option row{"ghosts",
             "N",
             Kind::whole,
             Group::data,
             plotfile | uncompressed_plotfile,
             "layers of ghost cells written around every box"};
  row.is_in_command = false;  // where `convert --ghosts` asks what becomes of those that there are
  row.read = [read = whole_reader(row.key, {0, max_ghosts})](std::string_view text,
                                                             const Slots& slots) -> Status {
    int layers = 0;
    NEVE_TRY(read(text, layers));
    slots.write->ghosts.fill(layers);
    return {};
  };
  row.print = [](const Slots& slots) { return value_text(slots.write->ghosts[0]); };
  return row;
}

constexpr std::string_view one_candidate =
    "there is nothing to choose; allowed with codec auto and lossless, without a method";

std::string weight_help(std::string_view what) {
  return fmt::format(
      "weight of the {} in scores: of the methods of codec lossless, and with codec auto and a bound of the "
      "codecs, at effort fast only of codec lossless beside dual_quant where that lists many values",
      what);
}

std::string candidates_help() {
  return fmt::format(
      "methods that codec lossless chooses from: {} (Neve's ten and B-zlib), {} (the nine of ACOMPS), or "
      "names "
      "with + between them",
      all_methods_name, acomps_name);
}

std::vector<Option> tuning_rows() {
  constexpr auto tuning = &Slots::tuning;
  constexpr Targets targets = coded | rules;
  std::vector<Option> rows = {
      member({"arrangement", "NAME", Kind::text, Group::codec, targets,
              "how boxes are placed for prediction: " + joined(arrangement_choices, " or ")},
             tuning, &CodecTuning::arrangement),
      member({"unit", "N", Kind::whole, Group::expert, targets,
              "side of the unit blocks of linear and cluster: " + joined(unit_sides, " or ") +
                  "; 0: chosen automatically"},
             tuning, &CodecTuning::unit_cells, side_reader("unit", unit_sides)),
      used_where(
          member({"block", "N", Kind::whole, Group::expert, targets,
                  "side of lorenzo_regression's prediction blocks: " + joined(block_sides, " or ") +
                      "; 0: chosen automatically"},
                 tuning, &CodecTuning::block_cells, side_reader("block", block_sides)),
          may_have_blocks,
          "only codec lorenzo_regression has prediction blocks; auto tries it at efforts balanced and max, "
          "with a bound other than lossless"),
      used_where(member({"merge_units", "", Kind::toggle, Group::expert, targets,
                         "lorenzo_regression and interpolation predict across unit blocks stacked in a line"},
                        tuning, &CodecTuning::merge_units),
                 may_merge_units,
                 "only codecs lorenzo_regression and interpolation merge unit blocks, in arrangement linear; "
                 "auto tries it with the first, at efforts balanced and max"),
      used_where(
          member({"method", "NAME", Kind::text, Group::expert, targets,
                  "method of codec lossless: " + joined(lossless_method_rows, " or ")},
                 tuning, &CodecTuning::method),
          may_be_lossless,
          "it belongs to codec lossless; allowed with codec lossless, or with bound lossless and codec auto",
          true),
      used_where(member({"candidates", "NAMES", Kind::text, Group::expert, targets, candidates_help()},
                        tuning, &CodecTuning::candidates),
                 weighs_candidates, one_candidate, true),
      used_where(member({"speed_weight", "X", Kind::number, Group::expert, targets,
                         weight_help("typical speed (in 100 MB/s)")},
                        tuning, &CodecTuning::speed_weight, weight_reader("speed_weight")),
                 weighs_candidates, one_candidate, true),
      used_where(member({"ratio_weight", "X", Kind::number, Group::expert, targets, weight_help("ratio")},
                        tuning, &CodecTuning::ratio_weight, weight_reader("ratio_weight")),
                 weighs_candidates, one_candidate, true),
  };
  for (Option& row : rows) row.is_of_tuning = true;
  return rows;
}

std::vector<Option> choice_rows() {
  constexpr auto choice = &Slots::choice;
  std::vector<Option> rows = {
      used_where(member({"delta", "X", Kind::number, Group::expert, series,
                         "what was chosen is kept while its performance (speed x speed_weight + ratio x "
                         "ratio_weight) stays within this fraction of what it was then, and no other is "
                         "estimated to perform better by more than 0.4 x delta"},
                        choice, &ChoiceRules::delta, number_reader("delta", check_delta)),
                 weighs_candidates, one_candidate, true),
      used_where(member({"speeds", "NAME", Kind::text, Group::expert, series,
                         "speeds in scores: " + joined(speeds_names, " or ") +
                             "; by measured ones, files depend on what else the machine does"},
                        choice, &ChoiceRules::speeds),
                 weighs_speed, "speeds have no weight; allowed with a speed weight above 0", true),
  };
  for (Option& row : rows) row.is_of_choice = true;
  return rows;
}

constexpr auto stage_reader = [](std::string_view text, std::string& value) -> Status {
  if (text.empty()) return usage_error("stage is empty; the path of a folder is needed");
  value = text;
  return {};
};

// parallel/file knows what they do; a flag is named by who reads it.
constexpr auto strategy_reader = [](std::string_view text, std::string& value) -> Status {
  for (const StrategyRow& row : strategy_rows) {
    if (row.name != text) continue;
    value = text;
    return {};
  }
  return not_a_name("strategy", text, joined(strategy_rows));
};

std::string strategy_help() {
  const auto explained = [](const StrategyRow& row) { return fmt::format("{} ({})", row.name, row.covers); };
  std::vector<std::string> usual, peers;
  for (const StrategyRow& row : strategies_of_values) usual.push_back(explained(row));
  for (const StrategyRow& row : strategies_of_peers) peers.push_back(explained(row));
  return fmt::format("what one write covers: {}; for comparison, compressed only: {}", joined(usual),
                     joined(peers, " and "));
}

std::vector<Option> write_rows() {
  constexpr auto write = &Slots::write;
  return {
      member({"covered", "NAME", Kind::text, Group::data, plotfile,
              "cells that a finer level covers: keep; auto (left out where the average of the finer cells is "
              "within the bound) or drop (all left out). Only Neve's readers restore left-out cells; other "
              "tools see stand-in values there"},
             write, &WriteOptions::covered),
      member({"cross_level", "", Kind::toggle, Group::codec, plotfile,
              "predict finer levels from coarser ones too where that is smaller (codecs interpolation and "
              "context); only Neve itself reads such files, not the HDF5 plugin"},
             write, &WriteOptions::cross_level),
      member(
          {"behind", "NAME", Kind::text, Group::parallel, held_plotfile,
           "what goes into the file when the call has returned: none; encode (the compressed data) or copy "
           "(which also compresses then)"},
          write, &WriteOptions::behind),
      member({"stage", "DIR", Kind::text, Group::parallel, held_plotfile,
              "a folder on a fast device of each machine, such as /dev/shm: a file that is written behind "
              "(encode, where nothing is said of it) waits there and not in memory"},
             write, &WriteOptions::stage, stage_reader),
      bytes_member(
          {"stage_size", "BYTES", Kind::size, Group::parallel, held_plotfile,
           "most that a rank may have on the stage, as in 4GiB; without it as much as there is room"},
          write, &WriteOptions::stage_bytes),
      member({"strategy", "NAME", Kind::text, Group::expert, through_mpi, strategy_help()}, write,
             &WriteOptions::strategy, strategy_reader),
      member({"aggregate_boxes", "N", Kind::whole, Group::expert, through_mpi,
              "strategy aggregated: boxes (or chunks) of a rank in one write; 0: all of a level"},
             write, &WriteOptions::aggregate_boxes, whole_reader("aggregate_boxes", {})),
      member({"chunk_values", "N", Kind::whole, Group::expert, plotfile,
              fmt::format("strategy amrex-1d: values in a chunk, 1 to {} ({}, as AMReX)", max_chunk_values,
                          default_chunk_values)},
             write, &WriteOptions::chunk_values, whole_reader("chunk_values", {1, max_chunk_values})),
      ghosts(),
      no_compression(),
  };
}

std::vector<Option> layout_rows() {
  constexpr auto layout = &Slots::layout;
  std::vector<Option> rows = {
      member({"stripe_count", "N", Kind::whole, Group::parallel, through_mpi,
              "storage targets that the file is striped over (Lustre); 0: the file system's default"},
             layout, &FileLayout::stripe_count, whole_reader("stripe_count", {0, max_stripes})),
      bytes_member({"stripe_size", "BYTES", Kind::size, Group::parallel, through_mpi,
                    "stripe size, as in 8MiB; ROMIO splits its writes there on any file system"},
                   layout, &FileLayout::stripe_bytes),
      member({"aggregators", "N", Kind::whole, Group::parallel, through_mpi,
              "ranks that write for the others in a collective write; 0: the MPI library's default"},
             layout, &FileLayout::aggregators, whole_reader("aggregators", {0, max_aggregators})),
      bytes_member({"buffer_size", "BYTES", Kind::size, Group::parallel, through_mpi,
                    "buffer size of an aggregator, best a multiple of the stripe"},
                   layout, &FileLayout::buffer_bytes),
  };
  for (Option& row : rows) row.is_of_layout = true;
  return rows;
}

std::vector<Option> make_table() {
  std::vector<Option> rows = {
      bound(),
      whole({"codec", "NAME", Kind::text, Group::codec, coded | rules, codec_choices()}, &Slots::codec),
      whole(
          {"effort", "NAME", Kind::text, Group::common, coded | variable_rule, joined(effort_names, " or ")},
          &Slots::effort),
      best_effort(),
      fill(),
      threads(),
      chunk_size(),
      command_only(whole({"explain", "", Kind::toggle, Group::common, encoded | array,
                          "every candidate's score, and why it lost or was not tried; with --json as data"},
                         &Slots::explain)),
  };
  for (std::vector<Option> (*more)() : {tuning_rows, choice_rows, write_rows, layout_rows}) {
    for (Option& row : more()) rows.push_back(std::move(row));
  }
  return rows;
}

char key_letter(char c) {
  if (c == '-') return '_';
  return c >= 'A' && c <= 'Z' ? static_cast<char>(c - 'A' + 'a') : c;
}

}  // namespace

std::span<const Option> table() {
  static const std::vector<Option> rows = make_table();
  return rows;
}

const char* heading(Group group) {
  switch (group) {
    case Group::common:
      return "Common options";
    case Group::codec:
      return "Codec";
    case Group::parallel:
      return "Ranks and the file system";
    case Group::data:
      return "Data";
    case Group::expert:
      return "Expert options, for measurements";
  }
  return "";
}

const Option* find(std::string_view name) {
  std::string key(name);
  std::transform(key.begin(), key.end(), key.begin(), key_letter);
  const std::span<const Option> rows = table();
  const auto found =
      std::find_if(rows.begin(), rows.end(), [&](const Option& row) { return row.key == key; });
  return found == rows.end() ? nullptr : &*found;
}

std::string keys_of(Targets targets) {
  std::string keys;
  for (const Option& row : table()) {
    if ((row.targets & targets) == 0 || !row.is_in_text) continue;
    keys += (keys.empty() ? "" : ", ") + std::string(row.key);
  }
  return keys;
}

std::string tuning_text(CodecTuning tuning) {
  Slots slots;
  slots.tuning = &tuning;
  std::string text;
  for (const Option& row : table()) {
    if (!row.is_of_tuning) continue;
    text += fmt::format("{}{}={}", text.empty() ? "" : ",", row.key, row.print(slots));
  }
  return text;
}

Status naming(const Status& status, const Option& option, const std::string& name) {
  const std::string key = std::string(option.key) + ' ';
  if (status.ok() || !status.message().starts_with(key)) return status.in(name);
  return {status.code(), name + status.message().substr(key.size() - 1)};
}

std::string variable_of(const Option& option) {
  std::string name = "NEVE_MPI_";
  for (const char c : option.key) name += c >= 'a' && c <= 'z' ? static_cast<char>(c - 'a' + 'A') : c;
  return name;
}

std::string dashed(std::string_view key) {
  std::string name(key);
  std::replace(name.begin(), name.end(), '_', '-');
  return name;
}

}  // namespace neve::options
