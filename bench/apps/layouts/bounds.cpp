// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/layouts/bounds.hpp"

#include "core/amr/chunking.hpp"
#include "parallel/comm/ranges.hpp"

namespace neve::layouts {

Result<FieldBounds> measure_bounds(const mpi::Comm& comm, const Input& input, const Bound& bound) {
  const size_t levels = input.hierarchy.levels.size(), components = input.components();
  std::vector<ValueRange> ranges;
  NEVE_TRY(mpi::agree(comm, mpi::guarded("ranges", [&]() -> Status {
                        ranges.resize(levels * components);
                        for (const LocalBox& local : input.boxes) {
                          const auto level = static_cast<size_t>(local.level);
                          const Level& of = input.hierarchy.levels[level];
                          const FrameBox box = amr::frame_box(of.boxes[static_cast<size_t>(local.box)],
                                                              {0, 0, 0}, {1, 1, 1}, nullptr);
                          for (size_t c = 0; c < components; ++c) {
                            NEVE_ASSIGN(const ValueRange range,
                                        scan_range(input.hierarchy.dtype, box, local.data,
                                                   static_cast<int>(c), std::nullopt));
                            ranges[level * components + c].merge(range);
                          }
                        }
                        return {};
                      })));
  NEVE_TRY(mpi::merge_over_ranks(comm, ranges));
  FieldBounds found;
  for (size_t level = 0; level < levels; ++level) {
    auto& of_level = found.ranges.emplace_back();
    auto& bounds = found.bounds.emplace_back();
    for (size_t c = 0; c < components; ++c) {
      of_level.push_back(ranges[level * components + c]);
      bounds.push_back(absolute_bound(bound, of_level.back()));
    }
  }
  return found;
}

Bounds bit_for_bit(const Input& input) {
  return Bounds(input.hierarchy.levels.size(), std::vector<double>(input.components(), 0.0));
}

}  // namespace neve::layouts
