// SPDX-License-Identifier: BSD-3-Clause
// The table of options: a row each, from which every surface takes what it says of it. The command's flags
// and their help, --field, TOML rules, the texts of neve/options.hpp (C, ADIOS2), NEVE_MPI_* and what is
// refused because it would do nothing all come from here.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "core/options/codec_use.hpp"
#include "neve/choice.hpp"
#include "neve/frame.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"
#include "neve/write_options.hpp"

namespace neve::options {

// What an option may be said of. Values are bits.
enum Target : unsigned {
  plotfile = 1,
  uncompressed_plotfile = 2,
  amrex_plotfile = 4,
  checkpoint = 8,
  uncompressed_checkpoint = 16,
  data_file = 32,
  chombo_checkpoint = 64,
  uncompressed_chombo_checkpoint = 128,
  array = 256,
  transfer = 512,        // compressed MPI
  field_rule = 1024,     // of a field of a plotfile or checkpoint
  variable_rule = 2048,  // of variables of a data file
  held_plotfile = 4096,  // whose values a program holds in memory, compressed or not
  series = 8192,         // of arrays, time steps of variables; takes the options of an array, too
};
using Targets = unsigned;

// Where the options of one call lie; what is null the call has none of.
struct Slots {
  Bound* bound = nullptr;
  BoundUse bound_use = BoundUse::field;
  Codec* codec = nullptr;
  CodecTuning* tuning = nullptr;
  ChoiceRules* choice = nullptr;  // of a series
  Effort* effort = nullptr;
  int* threads = nullptr;
  bool* explain = nullptr;
  FillChoice* fill = nullptr;
  std::optional<uint64_t>* chunk_bytes = nullptr;
  FileLayout* layout = nullptr;
  WriteOptions* write = nullptr;  // what only a write has
};

enum class Kind { text, whole, number, toggle, size };
enum class Group { common, codec, parallel, data, expert };
const char* heading(Group group);  // in a help text

struct Option {
  std::string_view key;          // with _ between words
  std::string_view placeholder;  // of its value in a help text; empty for toggles
  Kind kind;
  Group group;
  Targets targets;
  std::string help;
  std::function<Status(std::string_view, const Slots&)> read = {};
  std::function<std::string(const Slots&)> print = {};  // of what the slots hold; empty: has no text
  bool is_in_text = true;                               // not of the command alone
  bool is_in_command = true;
  bool is_of_tuning = false;  // CodecTuning's
  bool is_of_layout = false;  // how a file lies on its file system
  bool is_of_choice = false;  // ChoiceRules'
  // Of a codec's tuning, or of choices: which use of a codec it changes (null: any), and what it is for.
  UseTest is_used = nullptr;
  std::string_view purpose = {};
  bool is_of_integers = false;  // they take codec lossless whatever the bound says
};

std::span<const Option> table();
// By its key, in any capitals, with - or _; null where there is none.
const Option* find(std::string_view name);
// The keys of `targets`, in the table's order, joined by commas.
std::string keys_of(Targets targets);
// All of a codec's settings, the same for the same ones alone: "arrangement=auto,unit=0,...".
std::string tuning_text(CodecTuning tuning);
std::string dashed(std::string_view key);  // "merge-units"
// An error of the option's read, with its name as the surface has it: "--unit is 7; ...", "--unit: 'x' is not
// ...".
Status naming(const Status& status, const Option& option, const std::string& name);
std::string variable_of(
    const Option& option);  // of target transfer, in the environment: "NEVE_MPI_MERGE_UNITS"

}  // namespace neve::options
