// SPDX-License-Identifier: BSD-3-Clause
// The ensemble's model: what it conserves, that it runs for days, and that it is a function of its seed.
#include "bench/apps/ensemble/model.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

namespace neve::ensemble {
namespace {

constexpr double hour = 3600;
const Grid small{32, 24, 4, 100e3};

TEST(EnsembleModel, KeepsItsVolumeAndStaysBoundedForDays) {
  Model model(small);
  State state = model.initial_state(1, 0, 0.5);
  const double volume = model.volume(state);
  for (int day = 0; day < 4; ++day) {
    const Status status = model.advance(state, 24 * hour);
    ASSERT_TRUE(status.ok()) << status.message();
  }
  EXPECT_NEAR(model.volume(state) / volume, 1, 1e-6);  // rounding of f32
  const auto fastest = *std::max_element(state.u.begin(), state.u.end());
  EXPECT_GT(fastest, 1) << "the weather has not died out";
  EXPECT_LT(fastest, 60);
  EXPECT_GE(*std::min_element(state.vapour.begin(), state.vapour.end()), 0);
  EXPECT_GT(*std::max_element(state.rain.begin(), state.rain.end()), 0);
}

TEST(EnsembleModel, RestStaysAtRestOverTerrain) {
  Model model(small);
  State state(small);
  const State weather = model.initial_state(1, 0, 0);
  // Thickness at rest: base heights are the layers' middles, and the topmost layer's top is flat.
  const Constants& c = model.constants();
  for (size_t at = 0; at < small.columns(); ++at) {
    double bottom = double(c.terrain[at]);
    for (int k = small.layers - 1; k >= 0; --k) {
      const size_t cell = static_cast<size_t>(k) * small.columns() + at;
      const double half = double(c.base_height[cell]) - bottom;
      state.thickness[cell] = static_cast<float>(2 * half);
      bottom += 2 * half;
    }
  }
  ASSERT_TRUE(model.advance(state, 24 * hour).ok());
  for (const auto* wind : {&state.u, &state.v}) {
    for (const float speed : *wind) ASSERT_LT(std::abs(speed), 0.02F);  // rounding of the thickness above
  }
  EXPECT_GT(*std::max_element(c.terrain.begin(), c.terrain.end()), 100) << "there is terrain";
}

TEST(EnsembleModel, StepsOfAnOutputAreStepsOfTheWhole) {
  Model model(small);
  State at_once = model.initial_state(3, 2, 0.5);
  State in_parts = at_once;
  const double steps = 8 * std::floor(model.step_seconds());
  ASSERT_TRUE(model.advance(at_once, steps).ok());
  for (int part = 0; part < 4; ++part) ASSERT_TRUE(model.advance(in_parts, steps / 4).ok());
  EXPECT_EQ(at_once.u, in_parts.u);
  EXPECT_EQ(at_once.thickness, in_parts.thickness);
  EXPECT_EQ(at_once.vapour, in_parts.vapour);
  EXPECT_EQ(at_once.rain, in_parts.rain);
}

TEST(EnsembleModel, MembersDifferBySeedAndNumberAlone) {
  Model model(small);
  const State one = model.initial_state(1, 1, 0.5);
  EXPECT_EQ(one.u, Model(small).initial_state(1, 1, 0.5).u);
  EXPECT_NE(one.u, model.initial_state(1, 2, 0.5).u);
  EXPECT_NE(one.u, model.initial_state(2, 1, 0.5).u);
  EXPECT_EQ(model.initial_state(1, 1, 0).u, model.initial_state(1, 2, 0).u);
}

TEST(EnsembleModel, ManyPlacesAreDry) {
  Model model(small);
  const State state = model.initial_state(1, 1, 0.5);
  const auto dry = std::count(state.vapour.begin(), state.vapour.end(), 0.0F);
  EXPECT_GT(dry, static_cast<long>(small.cells()) / 4);
}

TEST(EnsembleModel, SaysWhenItBlowsUp) {
  Model model(small);
  State state = model.initial_state(1, 0, 0.5);
  state.thickness[small.cells() / 2] = -4000;
  const Status status = model.advance(state, 24 * hour);
  ASSERT_FALSE(status.ok());
  EXPECT_NE(status.message().find("blown up"), std::string::npos);
}

}  // namespace
}  // namespace neve::ensemble
