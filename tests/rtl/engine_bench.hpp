// SPDX-License-Identifier: BSD-3-Clause
// An engine in Verilator with what surrounds it: registers, inputs with bubbles, an output with stalls; and
// the comparison with its model.
#pragma once

#include <gtest/gtest.h>

#include <algorithm>
#include <bit>
#include <cmath>
#include <cstring>
#include <type_traits>
#include <vector>

#include "neve/stream.hpp"
#include "rtl/model/engine_model.hpp"
#include "tests/rtl/clocked.hpp"
#include "tests/rtl/fields.hpp"

namespace neve::rtl {

struct Flow {
  double offered = 1;  // share of cycles with a value at a lane's input
  double taken = 1;    // share of cycles with room at the output
  uint64_t seed = 1;
};

// Ports are plain integers or wide words, by the number of lanes and bytes.
template <class Port>
void set_word(Port& port, size_t word, uint32_t value) {
  if constexpr (std::is_integral_v<Port>) {
    port = static_cast<Port>((port & ~(Port{0xffffffffU} << (32 * word))) | Port{value} << (32 * word));
  } else {
    port[word] = value;
  }
}
template <class Port>
uint8_t byte_of(const Port& port, size_t at) {
  if constexpr (std::is_integral_v<Port>) {
    return static_cast<uint8_t>(port >> (8 * at));
  } else {
    return static_cast<uint8_t>(port[at / 4] >> (8 * (at % 4)));
  }
}

// What the engine says of a round.
struct EngineChoice {
  CodebookKind codebook = CodebookKind::offline;
  uint8_t offline_codebook = 0;
};

struct EngineRun {
  std::vector<std::byte> bytes;
  std::vector<EngineChoice> choices;  // by round
  uint64_t input_cycles = 0;          // from the first value to the last
  uint64_t cycles = 0;                // from start to the last byte
};

template <class Engine>
class EngineBench {
 public:
  EngineBench(const EngineBuild& build, unsigned output_bytes, uint64_t seed)
      : build_(build), output_bytes_(output_bytes), engine_(seed) {
    engine_->rst = 1;
    engine_->reg_write = 0;
    engine_->s_axis_tvalid = 0;
    engine_->m_axis_tready = 0;
    for (int i = 0; i < 64; ++i) engine_.tick();
    engine_->rst = 0;
    engine_.tick();
  }

  EngineRun run(const EngineModel& model, uint32_t block_values, const std::vector<float>& values,
                const Flow& flow) {
    for (const RegisterWrite& w : model.registers) write(w.address, w.data);
    write(start_register, 0);
    test::Random random(flow.seed);
    Inputs inputs(build_.lanes, block_values);
    EngineRun run;
    const uint64_t begin = engine_.cycles();
    const uint64_t limit =
        begin + 60000 +
        static_cast<uint64_t>(static_cast<double>(values.size() * 6 + model.stream.size()) * 4 /
                              std::min(flow.offered, flow.taken));
    uint64_t first = 0;
    uint64_t last = 0;
    bool ends = false;
    while (!ends) {
      const uint64_t valid = offer(inputs, values, flow, random);
      engine_->m_axis_tready = flow.taken >= 1 || random.uniform() < flow.taken;
      engine_.settle();
      const uint64_t goes = valid & engine_->s_axis_tready;
      if (goes != 0 && first == 0) first = engine_.cycles();
      if (goes != 0) last = engine_.cycles();
      inputs.advance(goes);
      ends = take_output(run);
      engine_.tick();
      if (engine_.cycles() > limit) {
        ADD_FAILURE() << "hangs after " << run.bytes.size() << " of " << model.stream.size() << " bytes";
        return run;
      }
    }
    run.input_cycles = last - first + 1;
    run.cycles = engine_.cycles() - begin;
    engine_->s_axis_tvalid = 0;
    for (int i = 0; i < 4; ++i) engine_.tick();
    EXPECT_EQ(engine_->busy, 0);
    return run;
  }

 private:
  void write(uint32_t address, uint32_t data) {
    engine_->reg_write = 1;
    engine_->reg_addr = static_cast<uint16_t>(address);
    engine_->reg_data = data;
    engine_.tick();
    engine_->reg_write = 0;
  }

  // Where each lane stands among the values: its blocks are every LANES-th.
  struct Inputs {
    Inputs(uint32_t lanes, uint32_t block) : block_values(block), at(lanes), holds(lanes) {
      for (uint32_t l = 0; l < lanes; ++l) at[l] = uint64_t{l} * block;
    }
    // Past the values of the lanes in `goes`.
    void advance(uint64_t goes) {
      for (size_t l = 0; l < at.size(); ++l) {
        if ((goes >> l & 1) == 0) continue;
        holds[l] = false;
        ++at[l];
        if (at[l] % block_values == 0) at[l] += (at.size() - 1) * block_values;
      }
    }

    uint64_t block_values;
    std::vector<uint64_t> at;  // of each lane's next value
    std::vector<bool> holds;   // it is shown until it is taken
  };

  // The lanes' next values; any bits where none is offered. Returns the lanes that have one.
  uint64_t offer(Inputs& inputs, const std::vector<float>& values, const Flow& flow, test::Random& random) {
    uint64_t valid = 0;
    for (uint32_t l = 0; l < build_.lanes; ++l) {
      const uint64_t at = inputs.at[l];
      if (!inputs.holds[l]) {
        inputs.holds[l] = at < values.size() && (flow.offered >= 1 || random.uniform() < flow.offered);
      }
      set_word(engine_->s_axis_tdata, l,
               inputs.holds[l] ? std::bit_cast<uint32_t>(values[at]) : static_cast<uint32_t>(random.next()));
      valid |= uint64_t{inputs.holds[l]} << l;
    }
    engine_->s_axis_tvalid = static_cast<std::remove_reference_t<decltype(engine_->s_axis_tvalid)>>(valid);
    return valid;
  }

  // What leaves the engine in this cycle. True with the last word.
  bool take_output(EngineRun& run) {
    if (engine_->chosen != 0) {
      run.choices.push_back({static_cast<CodebookKind>(engine_->chosen_codebook),
                             static_cast<uint8_t>(engine_->chosen_offline_codebook)});
    }
    if (engine_->m_axis_tvalid == 0 || engine_->m_axis_tready == 0) return false;
    const bool ends = engine_->m_axis_tlast != 0;
    take_word(ends, run.bytes);
    return ends;
  }

  void take_word(bool is_last, std::vector<std::byte>& out) {
    for (unsigned b = 0; b < output_bytes_; ++b) {
      const bool is_kept = (engine_->m_axis_tkeep >> b & 1) != 0;
      if (!is_last) {
        EXPECT_TRUE(is_kept) << "a gap";
      }
      if (is_kept) out.push_back(static_cast<std::byte>(byte_of(engine_->m_axis_tdata, b)));
    }
  }

  EngineBuild build_;
  unsigned output_bytes_;
  Clocked<Engine> engine_;
};

// Compares, and decodes what came out.
template <class Engine>
EngineRun check(EngineBench<Engine>& bench, const EngineBuild& build, const EngineOptions& options,
                const std::vector<float>& values, const Flow& flow,
                std::vector<EngineRound>* rounds = nullptr) {
  const Result<EngineModel> model = model_engine(build, options, values);
  EXPECT_TRUE(model.ok()) << model.status().message();
  if (!model.ok()) return {};
  const EngineRun run = bench.run(*model, options.block_values, values, flow);
  EXPECT_EQ(run.bytes.size(), model->stream.size());
  const auto [mine, theirs] =
      std::mismatch(run.bytes.begin(), run.bytes.end(), model->stream.begin(), model->stream.end());
  EXPECT_TRUE(mine == run.bytes.end() && theirs == model->stream.end())
      << "first different byte " << mine - run.bytes.begin() << " of " << model->stream.size();
  std::vector<float> back(values.size());
  const Status s =
      decode_stream(run.bytes, reinterpret_cast<std::byte*>(back.data()), back.size() * sizeof(float));
  EXPECT_TRUE(s.ok()) << s.message();
  if (s.ok()) {
    const double largest = *std::max_element(options.bounds.begin(), options.bounds.end());
    size_t outside = 0;
    for (size_t i = 0; i < values.size(); ++i) {
      const bool is_same = std::memcmp(&values[i], &back[i], sizeof(float)) == 0;
      const double error = std::abs(static_cast<double>(values[i]) - static_cast<double>(back[i]));
      outside += is_same || error <= largest ? 0 : 1;
    }
    EXPECT_EQ(outside, 0U);
  }
  EXPECT_EQ(run.choices.size(), model->rounds.size());
  for (size_t r = 0; r < std::min(run.choices.size(), model->rounds.size()); ++r) {
    const EngineRound& round = model->rounds[r];
    EXPECT_EQ(run.choices[r].codebook, round.codebook) << "round " << r;
    if (round.codebook == CodebookKind::offline) {
      EXPECT_EQ(run.choices[r].offline_codebook, round.offline_codebook) << "round " << r;
    }
  }
  if (rounds != nullptr) *rounds = model->rounds;
  return run;
}

}  // namespace neve::rtl
