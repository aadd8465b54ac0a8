// SPDX-License-Identifier: BSD-3-Clause
#include "rtl/model/engine_model.hpp"

#include <array>
#include <bit>
#include <cstring>

#include "core/bits/bytes.hpp"
#include "core/engine/ratio_control.hpp"
#include "core/engine/round_codebooks.hpp"

namespace neve::rtl {

namespace {

constexpr uint32_t header_page = 0x80;
constexpr uint32_t ladder_page = 0x200;

Status put_registers(const EngineBuild& build, const EngineOptions& o, const stream::Header& h,
                     uint64_t values, const Bytes& header, EngineModel& model) {
  std::vector<RegisterWrite>& r = model.registers;
  NEVE_ASSIGN(const uint32_t plane, engine::plane_values(build, o, h, values));
  const uint64_t lines = h.dims == 1 ? 0 : o.block_values / h.line;
  const auto has_fill = static_cast<uint32_t>(o.fill.has_value());
  r.push_back({0x01, static_cast<uint32_t>(h.dims) | static_cast<uint32_t>(o.rule) << 4 | has_fill << 8 |
                         static_cast<uint32_t>(o.restarts) << 9 |
                         static_cast<uint32_t>(o.ratio.has_value()) << 10 | o.table_shift << 12});
  r.push_back({0x02, h.dims == 1 ? 0xffff : h.line - 1});
  r.push_back({0x03, h.dims == 3 ? h.lines_per_plane - 1 : 0xffff});
  r.push_back({0x04, plane});
  r.push_back({0x05, h.dims == 1 ? 0 : o.block_values % h.line});
  r.push_back({0x06, h.dims == 3 ? static_cast<uint32_t>(lines % h.lines_per_plane) : 0});
  r.push_back({0x07, o.block_values});
  r.push_back({0x08, static_cast<uint32_t>(values)});
  r.push_back({0x09, static_cast<uint32_t>(values >> 32)});
  r.push_back({0x0a, std::bit_cast<uint32_t>(static_cast<float>(o.fill.value_or(0)))});
  r.push_back({0x0b, static_cast<uint32_t>(header.size() / 4)});
  r.push_back({0x0c, static_cast<uint32_t>(o.chi_keep * engine::fixed_point)});
  r.push_back({0x0d, static_cast<uint32_t>(o.chi_offline * engine::fixed_point)});
  r.push_back({0x0e, o.build_rounds});
  const engine::RatioSettings ratio = engine::ratio_settings(build, o);
  r.push_back({0x0f, ratio.target});
  r.push_back({0x10, ratio.shift << 16 | static_cast<uint32_t>(o.bounds.size() - 1) << 8 | o.first_rung});
  for (size_t at = 0; at < header.size(); at += 4) {
    uint32_t word = 0;
    std::memcpy(&word, header.data() + at, 4);
    r.push_back({static_cast<uint32_t>(header_page + at / 4), word});
  }
  for (uint32_t rung = 0; rung < o.bounds.size(); ++rung) {
    const Quantizer<float> q = engine::rung_quantizer(o, rung);
    if (const auto made = quantizer_settings(q); !made.ok()) return made.status();
    const auto bound = std::bit_cast<uint64_t>(o.bounds[rung]);
    const std::array<uint32_t, 5> words{std::bit_cast<uint32_t>(q.step),
                                        std::bit_cast<uint32_t>(q.inverse_step),
                                        std::bit_cast<uint32_t>(q.tolerance), static_cast<uint32_t>(bound),
                                        static_cast<uint32_t>(bound >> 32)};
    for (uint32_t w = 0; w < words.size(); ++w) r.push_back({ladder_page + 8 * rung + w, words[w]});
  }
  return {};
}

}  // namespace

Result<EngineModel> model_engine(const EngineBuild& build, const EngineOptions& o,
                                 std::span<const float> values) {
  EngineModel model;
  NEVE_ASSIGN(engine::EngineStream made, engine::encode_engine_stream(build, o, values));
  model.stream = std::move(made.bytes);
  model.rounds = std::move(made.rounds);
  const stream::Header header = engine::header_of(build, o);
  Bytes header_bytes;
  stream::write_header(header, header_bytes);
  NEVE_TRY(put_registers(build, o, header, values.size(), header_bytes, model));
  return model;
}

}  // namespace neve::rtl
