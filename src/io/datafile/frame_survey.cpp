// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/frame_survey.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <vector>

#include "core/codecs/frame_selection.hpp"
#include "io/datafile/written_blocks.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/filter.hpp"
#include "io/hdf5/stored_chunks.hpp"
#include "neve/frame.hpp"

namespace neve::datafile {
namespace {

using hdf5::Handle;

// A chunk is read as a whole, though its first bytes would do: few of them, and none that is very large.
constexpr uint64_t most_chunks = 64;
constexpr uint64_t most_chunk_bytes = uint64_t{32} << 20;

// The bit of a chunk's filter mask that says it skips Neve's; nothing where another filter comes after it.
std::optional<uint32_t> mask_bit(hid_t dataset) {
  const Handle creation(H5Dget_create_plist(dataset), H5Pclose);
  const int count = H5Pget_nfilters(creation.id());
  if (count <= 0) return {};
  unsigned flags = 0, config = 0;
  size_t words = 0;
  const H5Z_filter_t last = H5Pget_filter2(creation.id(), static_cast<unsigned>(count - 1), &flags, &words,
                                           nullptr, 0, nullptr, &config);
  if (last != hdf5::neve_filter_id) return {};
  return uint32_t{1} << static_cast<unsigned>(count - 1);
}

void add_frame(const std::vector<std::byte>& bytes, FrameSurvey& survey) {
  const auto frame = describe_frame(bytes);
  const auto selection = frame.ok() ? frame_selection(bytes, *frame) : Result<Selection>(frame.status());
  if (!selection.ok()) {
    ++survey.methods["damaged"];
    return;
  }
  ++survey.methods[chunk_method_text(selection->codec, selection->method, false)];
  for (const ComponentInfo& component : frame->components) {
    survey.bound_abs = std::max(survey.bound_abs, component.bound_abs);
    survey.max_abs_error = std::max(survey.max_abs_error, component.max_abs_error);
  }
}

using Look = std::function<Status(const std::vector<hsize_t>& first, uint64_t bytes)>;

// Shows each stored chunk.
Status go_through(hid_t dataset, const Variable& variable, const Look& look) {
  const ChunkGrid grid{variable.dims, variable.chunk};
  NEVE_ASSIGN(const std::vector<ElementBlock> blocks, written_blocks(dataset, variable));
  PieceWalk walk(grid, blocks);
  while (const auto number = walk.next()) {
    const Extent first = grid.first_element(*number);
    const std::vector<hsize_t> offset(first.begin(), first.end());
    NEVE_ASSIGN(const auto bytes, hdf5::stored_chunk_bytes(dataset, offset));
    if (bytes) NEVE_TRY(look(offset, *bytes));
  }
  return {};
}

Status look_at(hid_t dataset, const std::vector<hsize_t>& first, uint64_t chunk_bytes, uint32_t skips,
               FrameSurvey& survey) {
  std::vector<std::byte> bytes(chunk_bytes);
  uint32_t mask = 0;
  if (H5Dread_chunk(dataset, H5P_DEFAULT, first.data(), &mask, bytes.data()) < 0)
    return corrupt(fmt::format("a chunk cannot be read: {}", hdf5::last_error()));
  ++survey.looked_at;
  if ((mask & skips) == 0) {
    add_frame(bytes, survey);
  } else {
    ++survey.methods[chunk_method_text(Codec::exact, LosslessMethod::automatic, true)];
  }
  return {};
}

}  // namespace

std::string chunk_method_text(Codec codec, LosslessMethod method, bool skips_filter) {
  if (skips_filter) return "as they are";
  std::string text(codec_name(codec));
  if (codec == Codec::lossless) text += fmt::format(" {}", lossless_method_name(method));
  return text;
}

Result<std::optional<FrameSurvey>> survey_frames(hid_t dataset, const Variable& variable) {
  const auto skips = mask_bit(dataset);
  if (variable.layout != H5D_CHUNKED || !skips) return std::optional<FrameSurvey>();
  FrameSurvey survey;
  NEVE_TRY(go_through(dataset, variable, [&](const std::vector<hsize_t>&, uint64_t) {
    ++survey.chunks;
    return Status();
  }));
  const uint64_t wanted = std::min(most_chunks, survey.chunks);
  uint64_t number = 0, looks = 0;
  NEVE_TRY(go_through(dataset, variable, [&](const std::vector<hsize_t>& first, uint64_t bytes) {
    const uint64_t next = wanted < 2 ? 0 : looks * (survey.chunks - 1) / (wanted - 1);
    if (number++ != next || looks == wanted) return Status();
    ++looks;
    return bytes > most_chunk_bytes ? Status() : look_at(dataset, first, bytes, *skips, survey);
  }));
  return std::optional(survey);
}

}  // namespace neve::datafile
