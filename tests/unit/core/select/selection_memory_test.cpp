// SPDX-License-Identifier: BSD-3-Clause
#include "neve/selection_memory.hpp"

#include <gtest/gtest.h>

namespace neve {
namespace {

constexpr Effort effort = Effort::max;

TEST(SelectionMemory, RecallsWhatWonForThisFieldOfThisLevelAtThisEffort) {
  SelectionMemory memory;
  EXPECT_FALSE(memory.recall(effort, 0, "density"));
  memory.note(effort, 0, "density", {Codec::context, Arrangement::linear}, 0.5);
  EXPECT_EQ(memory.recall(effort, 0, "density"), (Selection{Codec::context, Arrangement::linear}));
  EXPECT_FALSE(memory.recall(effort, 1, "density"));
  EXPECT_FALSE(memory.recall(effort, 0, "Temp"));
  EXPECT_FALSE(memory.recall(Effort::balanced, 0, "density"));
}

TEST(SelectionMemory, IsWeighedAgainAfterSomeSteps) {
  SelectionMemory memory;
  memory.note(effort, 0, "density", {Codec::context, Arrangement::linear}, 0.5);
  for (int step = 0; step < SelectionMemory::steps_between_trials; ++step) {
    ASSERT_EQ(memory.recall(effort, 0, "density"), (Selection{Codec::context, Arrangement::linear})) << step;
    memory.note(effort, 0, "density", {Codec::context, Arrangement::linear}, 0.5);
  }
  EXPECT_FALSE(memory.recall(effort, 0, "density"));
  memory.note(effort, 0, "density", {Codec::dual_quant, Arrangement::linear}, 0.4);
  EXPECT_EQ(memory.recall(effort, 0, "density"), (Selection{Codec::dual_quant, Arrangement::linear}));
}

TEST(SelectionMemory, IsWeighedAgainWhenTheDataDrifts) {
  SelectionMemory memory;
  memory.note(effort, 0, "density", {Codec::context, Arrangement::linear}, 0.5);
  memory.note(effort, 0, "density", {Codec::context, Arrangement::linear},
              0.5 * (1 + 0.9 * SelectionMemory::default_delta));
  EXPECT_EQ(memory.recall(effort, 0, "density"), (Selection{Codec::context, Arrangement::linear}));
  memory.note(effort, 0, "density", {Codec::context, Arrangement::linear},
              0.5 * (1 + 1.1 * SelectionMemory::default_delta));
  EXPECT_FALSE(memory.recall(effort, 0, "density"));
}

TEST(SelectionMemory, DoesNotHoldWhatNothingWasWeighedAgainst) {
  SelectionMemory memory;
  memory.note(effort, 0, "density", {Codec::constant, Arrangement::linear}, 0.001);
  memory.note(effort, 0, "Temp", {Codec::exact, Arrangement::linear}, 8);
  EXPECT_FALSE(memory.recall(effort, 0, "density"));
  EXPECT_FALSE(memory.recall(effort, 0, "Temp"));
}

}  // namespace
}  // namespace neve
