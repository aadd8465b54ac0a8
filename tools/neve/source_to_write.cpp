// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/source_to_write.hpp"

#include <algorithm>
#include <chrono>
#include <numeric>
#include <tuple>
#include <utility>

#include "tools/neve/source.hpp"

namespace neve::cli {

SourceToWrite::SourceToWrite(PlotfileSource& source, std::string path)
    : source_(source), path_(std::move(path)), hierarchy_(source.hierarchy()) {}

void SourceToWrite::sort_as_chombo() {
  order_.clear();
  for (const Level& level : hierarchy_.levels) {
    std::vector<int>& order = order_.emplace_back(level.boxes.size());
    std::iota(order.begin(), order.end(), 0);
    const auto key = [&](int box) {
      const Box& b = level.boxes[static_cast<size_t>(box)];
      return std::tie(b.lo, b.hi);
    };
    std::sort(order.begin(), order.end(), [&](int a, int b) { return key(a) < key(b); });
  }
  sort_boxes_as_chombo(hierarchy_);
}

int SourceToWrite::number(int level, int box) const {
  return order_.empty() ? box : order_[static_cast<size_t>(level)][static_cast<size_t>(box)];
}

template <class Read>
auto SourceToWrite::timed(const Read& read) -> decltype(read()) {
  using Clock = std::chrono::steady_clock;
  const Clock::time_point begin = Clock::now();
  auto result = read();
  seconds_ += std::chrono::duration<double>(Clock::now() - begin).count();
  return result;
}

Status SourceToWrite::read_box(int level, int box, int component, std::byte* out) {
  return read_components(level, box, component, 1, out);
}

Status SourceToWrite::read_components(int level, int box, int first, int count, std::byte* out) {
  const Status read =
      timed([&] { return source_.read_components(level, number(level, box), first, count, out); });
  return read.ok() ? read : naming_file(read, path_);
}

Result<bool> SourceToWrite::read_cells(int level, int box, int component, int64_t first, int64_t cells,
                                       std::byte* out) {
  Result<bool> read =
      timed([&] { return source_.read_cells(level, number(level, box), component, first, cells, out); });
  if (read.ok()) return read;
  return naming_file(read.status(), path_);
}

}  // namespace neve::cli
