// SPDX-License-Identifier: BSD-3-Clause
// The parts of codec context's entropy coder: adaptive distributions that stay codable whatever they see, and
// rANS there and back.
#include <gtest/gtest.h>

#include <cmath>

#include "core/stages/entropy/context_models.hpp"
#include "core/stages/entropy/rans.hpp"
#include "tests/support/test_fields.hpp"

namespace neve {
namespace {

using test::Random;

void expect_codable(const NibbleModel& model) {
  ASSERT_EQ(model.begin(0), 0U);
  ASSERT_EQ(model.end(nibble_symbols - 1), 1U << probability_bits);
  for (int s = 0; s < nibble_symbols; ++s) ASSERT_LT(model.begin(s), model.end(s)) << "symbol " << s;
}

void expect_find_inverts(const NibbleModel& model) {
  for (int s = 0; s < nibble_symbols; ++s) {
    const uint32_t last = model.end(s) - 1;
    for (const uint32_t slot : {model.begin(s), (model.begin(s) + last) / 2, last}) {
      ASSERT_EQ(model.find(slot), s) << "slot " << slot;
    }
  }
}

std::vector<NibbleModel> fresh_models() {
  ContextModels models;
  std::vector<NibbleModel> fresh;
  for (int activity = 0; activity < activity_classes; ++activity) {
    fresh.push_back(models.of_directions(2)[ContextModels::context(activity, 0, 0)]);
  }
  return fresh;
}

TEST(NibbleModel, EverySymbolStaysCodableAfterLongRunsOfAny) {
  for (const NibbleModel& fresh : fresh_models()) {
    expect_codable(fresh);
    expect_find_inverts(fresh);
    for (int s = 0; s < nibble_symbols; ++s) {
      NibbleModel model = fresh;
      for (int i = 0; i < 5000; ++i) model.update(s);
      expect_codable(model);
      expect_find_inverts(model);
      EXPECT_GT(model.end(s) - model.begin(s), 32600U) << "has learnt " << s;
      // And on to the other extreme, looked at on the way.
      for (int i = 0; i < 3000; ++i) {
        model.update(nibble_symbols - 1 - s);
        if (i % 50 == 0) expect_codable(model);
      }
      expect_find_inverts(model);
    }
  }
}

TEST(NibbleModel, RandomHistoriesKeepOrder) {
  Random random(1);
  NibbleModel model = fresh_models()[5];
  for (int i = 0; i < 200000; ++i) {
    const int64_t kind = i / 1000 % 3;
    model.update(static_cast<int>(kind == 0 ? random.below(16) : kind == 1 ? random.below(2) : 15));
    if (i % 97 == 0) expect_codable(model);
    if (i % 9973 == 0) expect_find_inverts(model);
  }
}

TEST(ContextModels, PriorsFallWithTheMagnitudeAndWidenWithTheActivity) {
  const auto fresh = fresh_models();
  const auto share = [](const NibbleModel& m, int s) { return m.end(s) - m.begin(s); };
  for (int activity = 0; activity < activity_classes; ++activity) {
    const NibbleModel& model = fresh[static_cast<size_t>(activity)];
    // Symbols 2 k - 1 and 2 k are -k and k.
    for (int s = 2; s + 1 < nibble_symbols; ++s) EXPECT_LE(share(model, s), share(model, s - 1) + 1);
    if (activity > 0 && activity < 12) {
      EXPECT_LT(share(model, 0), share(fresh[static_cast<size_t>(activity) - 1], 0)) << activity;
    }
  }
}

TEST(ContextModels, ActivitiesRiseWithTheMeanMagnitude) {
  for (uint32_t eighths = 1; eighths < activity_limit; ++eighths) {
    const int step = activity_table[eighths] - activity_table[eighths - 1];
    EXPECT_TRUE(step == 0 || step == 1) << eighths;
  }
  EXPECT_EQ(activity_table[7], 7);
  EXPECT_EQ(activity_table[activity_limit - 1], activity_classes - 1);
}

TEST(ContextModels, ZigzagBothWays) {
  for (const int32_t value : {0, 1, -1, 2, -2, 1 << 21, -(1 << 21), INT32_MAX, INT32_MIN}) {
    EXPECT_EQ(unzigzag(zigzag(value)), value);
  }
  EXPECT_EQ(zigzag(-1), 1U);
  EXPECT_EQ(zigzag(1), 2U);
}

// Codes symbols with models picked by number, as the codec does, and reads them back.
void round_trip(const std::vector<int>& symbols, size_t model_count, size_t& bytes) {
  const NibbleModel fresh = fresh_models()[3];
  std::vector<NibbleModel> models(model_count, fresh);
  RansEncoder encoder;
  for (size_t i = 0; i < symbols.size(); ++i) {
    NibbleModel& model = models[i % model_count];
    encoder.put(model.begin(symbols[i]), model.end(symbols[i]));
    model.update(symbols[i]);
  }
  Bytes coded;
  ByteWriter out(coded);
  encoder.finish(out);
  bytes = coded.size();

  const auto decode = [&](ByteSpan words) {
    models.assign(model_count, fresh);
    RansDecoder decoder(words);
    size_t right = 0;
    for (size_t i = 0; i < symbols.size(); ++i) {
      NibbleModel& model = models[i % model_count];
      const int symbol = model.find(decoder.slot());
      decoder.advance(model.begin(symbol), model.end(symbol));
      model.update(symbol);
      right += symbol == symbols[i];
    }
    return std::pair(right == symbols.size(), decoder.is_at_end());
  };
  EXPECT_EQ(decode(coded), std::pair(true, true)) << symbols.size() << " symbols";
  // Words that are missing or left over are noticed at the end at the latest.
  for (size_t n = 0; n < coded.size(); n += coded.size() < 64 ? 1 : coded.size() / 17) {
    EXPECT_FALSE(decode(ByteSpan(coded).first(n)).second) << n << " of " << coded.size();
  }
  Bytes longer = coded;
  longer.insert(longer.end(), 2, std::byte{0});
  EXPECT_FALSE(decode(longer).second);
}

TEST(Rans, SymbolsThereAndBack) {
  size_t bytes = 0;
  round_trip({}, 1, bytes);
  EXPECT_EQ(bytes, 8U) << "two states";
  for (int s = 0; s < nibble_symbols; ++s) round_trip({s}, 1, bytes);
  round_trip({15, 0}, 1, bytes);
  Random random(2);
  for (const size_t n : {size_t{3}, size_t{100}, size_t{20001}}) {
    for (const size_t model_count : {size_t{1}, size_t{7}}) {
      std::vector<int> symbols(n);
      for (int& s : symbols) s = static_cast<int>(random.below(nibble_symbols));
      round_trip(symbols, model_count, bytes);
      for (int& s : symbols) s = random.below(50) == 0 ? 15 : 0;
      round_trip(symbols, model_count, bytes);
    }
  }
}

TEST(Rans, TakesAboutTheEntropy) {
  Random random(3);
  std::vector<int> symbols(50000);
  for (int& s : symbols) s = random.below(10) == 0 ? 1 + static_cast<int>(random.below(4)) : 0;
  size_t bytes = 0;
  round_trip(symbols, 1, bytes);
  const double bits = -(0.9 * std::log2(0.9) + 0.1 * std::log2(0.025));
  EXPECT_LT(static_cast<double>(bytes), 1.03 * bits * 50000 / 8);
  EXPECT_GT(static_cast<double>(bytes), 0.97 * bits * 50000 / 8);
  symbols.assign(1000000, 0);
  round_trip(symbols, 1, bytes);
  EXPECT_LT(bytes, 300U) << "a symbol that is all but certain costs all but nothing";
}

}  // namespace
}  // namespace neve
