// SPDX-License-Identifier: BSD-3-Clause
// Options of a call while they are read: slots into them, and what comes of it. Slots point into the object:
// it is not to be moved meanwhile.
#pragma once

#include <utility>

#include "core/options/option.hpp"

namespace neve::options {

// What options of an array and of a write have alike.
template <class Options>
Slots common_slots(Options& options, FillChoice& fill) {
  Slots slots;
  slots.bound = &options.bound;
  slots.codec = &options.codec;
  slots.tuning = &options.tuning;
  slots.effort = &options.encode.effort;
  slots.threads = &options.encode.threads;
  slots.explain = &options.encode.explain;
  slots.fill = &fill;
  return slots;
}

class ArraySlots {
 public:
  explicit ArraySlots(ArrayOptions before = {})
      : options_(std::move(before)), fill_{options_.detect_fill, options_.fill, options_.integer_fill} {}
  Slots slots() {
    Slots slots = common_slots(options_, fill_);
    slots.bound_use = BoundUse::array;
    return slots;
  }
  ArrayOptions take() {
    options_.detect_fill = fill_.detect;
    options_.fill = fill_.value;
    options_.integer_fill = fill_.whole;
    return std::move(options_);
  }

 private:
  ArrayOptions options_;
  FillChoice fill_;
};

class WriteSlots {
 public:
  Slots slots() {
    Slots slots = common_slots(options_, fill_);
    slots.layout = &options_.layout;
    slots.write = &options_;
    return slots;
  }
  WriteOptions take() {
    options_.detect_fill = fill_.detect;
    options_.fill = fill_.value;
    return std::move(options_);
  }

 private:
  WriteOptions options_;
  FillChoice fill_;
};

}  // namespace neve::options
