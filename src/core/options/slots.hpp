// SPDX-License-Identifier: BSD-3-Clause
// Options of a call while they are read: slots into them, and what comes of it. Slots point into the object:
// it is not to be moved meanwhile.
#pragma once

#include <utility>

#include "core/options/option.hpp"

namespace neve::options {

class ArraySlots {
 public:
  explicit ArraySlots(ArrayOptions before = {})
      : options_(std::move(before)), fill_{options_.detect_fill, options_.fill, options_.integer_fill} {}
  Slots slots() {
    Slots slots;
    slots.bound = &options_.bound;
    slots.bound_use = BoundUse::array;
    slots.codec = &options_.codec;
    slots.tuning = &options_.tuning;
    slots.effort = &options_.encode.effort;
    slots.threads = &options_.encode.threads;
    slots.explain = &options_.encode.explain;
    slots.fill = &fill_;
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
    Slots slots;
    slots.bound = &options_.bound;
    slots.codec = &options_.codec;
    slots.tuning = &options_.tuning;
    slots.effort = &options_.encode.effort;
    slots.threads = &options_.encode.threads;
    slots.explain = &options_.encode.explain;
    slots.fill = &fill_;
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
