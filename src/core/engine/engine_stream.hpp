// SPDX-License-Identifier: BSD-3-Clause
// The stream that Neve's hardware engine makes (rtl/engine.sv), in software, byte by byte. Blocks, codes and
// codebooks are made by the classes of Neve's own encoder; what is the engine's is how blocks are dealt to
// lanes, from which counts codebooks are made, and when they are on offer.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string_view>
#include <vector>

#include "core/kernels/kernels.hpp"
#include "core/stream/stream_format.hpp"
#include "neve/stream.hpp"

namespace neve::engine {

// Parameters the engine is built with.
struct EngineBuild {
  uint32_t lanes = 1;
  uint32_t block_bits = 12;
  uint32_t dims = 3;
  uint32_t line_bits = 12;
  uint32_t plane_bits = 12;
};

struct EngineOptions {
  std::vector<uint64_t> shape;  // slowest first; none of them open
  // Bounds by rung, ascending; one where the bound is absolute.
  std::vector<double> bounds;
  std::optional<Bound> asked;  // what the user said, for the header; nothing: what follows from the others
  ValueRange range;            // of the values, where it is known: keeps more of them inside the bound
  std::optional<double> fill;
  uint32_t block_values = 4096;
  bool restarts = true;  // prediction, at every block; with one lane it may go on
  CodebookRule rule = CodebookRule::exact_cost;
  double chi_keep = 5.18;
  double chi_offline = 9.69;
  uint32_t build_rounds = 4;  // whose counts make a codebook
  uint32_t table_shift = 2;   // a table counts as if 2^table_shift rounds shared it
  // Fixed ratio: bytes before / after.
  std::optional<double> ratio;
  uint32_t first_rung = 0;
};

// The blocks that the lanes hold at one time.
struct EngineRound {
  uint64_t values = 0;
  uint64_t stored_bytes = 0;
  double bound_abs = 0;
  double max_abs_error = 0;
  CodebookKind codebook = CodebookKind::offline;
  uint8_t offline_codebook = 0;
  uint32_t rung = 0;
  std::string_view why;  // which branch of the decision was taken
};

struct EngineStream {
  std::vector<std::byte> bytes;
  std::vector<EngineRound> rounds;
};

// Errors: usage, naming what the engine was not built for.
Result<EngineStream> encode_engine_stream(const EngineBuild& build, const EngineOptions& options,
                                          std::span<const float> values);

// A ladder of bounds from `least` on, with 8 rungs to an octave.
inline constexpr uint32_t max_rungs = 64;
std::vector<double> bound_ladder(double least, uint32_t rungs);

// --- what the engine's registers hold of it (rtl/model) ------------------------------------------------

stream::Header header_of(const EngineBuild& build, const EngineOptions& options);
// A rung's quantizer.
Quantizer<float> rung_quantizer(const EngineOptions& options, uint32_t rung);
// The plane that blocks look back to; 0 where none looks so far. Errors: usage.
Result<uint32_t> plane_values(const EngineBuild& build, const EngineOptions& options,
                              const stream::Header& header, uint64_t values);

}  // namespace neve::engine
