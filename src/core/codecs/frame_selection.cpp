// SPDX-License-Identifier: BSD-3-Clause
#include "core/codecs/frame_selection.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <map>
#include <tuple>

namespace neve {
namespace {

// A section of codec lossless begins with its method.
Result<LosslessMethod> method_of(Span<const std::byte> section) {
  const int number = section.empty() ? 0 : static_cast<int>(section[0]);
  if (number == 0 || number >= lossless_methods)
    return corrupt(fmt::format("lossless section: method {} unknown", number));
  return static_cast<LosslessMethod>(number);
}

}  // namespace

Result<Selection> frame_selection(Span<const std::byte> bytes, const FrameDescription& description) {
  using Made = std::tuple<Codec, Arrangement, LosslessMethod>;
  std::map<Made, uint64_t> cells;
  uint64_t begin = description.header_bytes;
  for (const SectionInfo& section : description.sections) {
    if (section.stored_bytes > bytes.size() || begin > bytes.size() - section.stored_bytes)
      return corrupt(fmt::format("a section ends after {} bytes, the frame has {}",
                                 begin + section.stored_bytes, bytes.size()));
    LosslessMethod method = LosslessMethod::automatic;
    if (section.codec == Codec::lossless) {
      NEVE_ASSIGN(method, method_of(bytes.subspan(begin, section.stored_bytes)));
    }
    cells[{section.codec, section.arrangement, method}] += section.cells;
    begin += section.stored_bytes;
  }
  const auto most = std::max_element(cells.begin(), cells.end(),
                                     [](const auto& a, const auto& b) { return a.second < b.second; });
  if (most == cells.end()) return Selection{};
  const auto& [codec, arrangement, method] = most->first;
  return Selection{codec, arrangement, method};
}

}  // namespace neve
