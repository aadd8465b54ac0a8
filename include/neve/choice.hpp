// SPDX-License-Identifier: BSD-3-Clause
// How the method of a series is chosen, and the log of what was chosen at each step, and why.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "neve/members.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

#pragma GCC visibility push(default)
namespace neve {

struct Selection {
  Codec codec = Codec::automatic;
  Arrangement arrangement = Arrangement::automatic;   // of most of the field
  LosslessMethod method = LosslessMethod::automatic;  // of codec lossless, likewise

  auto fields() const { return all_members<3>(*this); }
  bool operator==(const Selection& other) const { return fields() == other.fields(); }
  bool operator!=(const Selection& other) const { return !(*this == other); }
};

// Speeds in scores. Measured ones make choices, and so files, depend on what else the machine does.
enum class Speeds : uint8_t { typical = 0, measured = 1 };
Result<Speeds> parse_speeds(std::string_view name);
std::string_view speeds_name(Speeds speeds);

// Of a series of writes, beside the candidates and weights in CodecTuning.
struct ChoiceRules {
  // A choice is kept while its performance stays within this fraction of what it was when it was made. Not
  // negative.
  double delta = 0.05;
  Speeds speeds = Speeds::typical;

  auto fields() const { return all_members<2>(*this); }
  bool operator==(const ChoiceRules& other) const { return fields() == other.fields(); }
  bool operator!=(const ChoiceRules& other) const { return !(*this == other); }
};
Status check_choice_rules(const ChoiceRules& rules);

enum class ChoiceReason : uint8_t {
  none = 0,  // the selection was kept
  first,     // there was none
  drift,     // its performance left [best - delta, best + delta]
  rival,     // another method is estimated to perform better
  due,       // many steps since the last choice
};
inline constexpr int choice_reasons = 5;
std::string_view choice_reason_name(ChoiceReason reason);   // "kept", "first", "drift", "rival", "due"
std::string_view choice_reason_words(ChoiceReason reason);  // a sentence

// One step of one variable.
struct Choice {
  std::string variable;
  int level = 0;
  uint64_t step = 0;  // of this variable in this memory, from 0; SelectionMemory::log counts them
  Selection selection;
  ChoiceReason reason = ChoiceReason::none;
  double performance = 0;  // speed * speed_weight + ratio * ratio_weight, as coded
  double estimate = 0;     // of the selection when it was compared with others; 0: it was not
  Selection rival;         // the best of the others, by its estimate; codec automatic: none
  double rival_estimate = 0;
  uint64_t raw_bytes = 0, coded_bytes = 0;
  uint64_t choosing_ns = 0,
           coding_ns = 0;  // CPU time; of choosing: samples, estimates, what was coded in vain
};

}  // namespace neve
#pragma GCC visibility pop
