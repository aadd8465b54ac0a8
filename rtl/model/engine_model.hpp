// SPDX-License-Identifier: BSD-3-Clause
// The engine's driver: what it writes into the engine's registers, and the bytes that come out
// (core/engine/engine_stream.hpp).
#pragma once

#include "core/engine/engine_stream.hpp"
#include "core/engine/quantizer_settings.hpp"

namespace neve::rtl {

using engine::bound_ladder;
using engine::EngineBuild;
using engine::EngineOptions;
using engine::EngineRound;
using engine::max_step;
using engine::min_step;
using engine::quantizer_settings;
using engine::QuantizerSettings;

struct RegisterWrite {
  uint32_t address;
  uint32_t data;
};
inline constexpr uint32_t start_register = 0;

struct EngineModel {
  // All but the start.
  std::vector<RegisterWrite> registers;
  std::vector<std::byte> stream;
  std::vector<EngineRound> rounds;
};

// Errors: usage, naming what the engine was not built for.
Result<EngineModel> model_engine(const EngineBuild& build, const EngineOptions& options,
                                 std::span<const float> values);

}  // namespace neve::rtl
