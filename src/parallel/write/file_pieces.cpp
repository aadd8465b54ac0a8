// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/file_pieces.hpp"

#include <algorithm>
#include <iterator>

#include "parallel/write/frame_spool.hpp"
#include "parallel/write/place_values.hpp"

namespace neve::mpi {
namespace {

// Most bytes of a rank in a call whose bytes are loaded: all that is held of them.
constexpr uint64_t loading_call_bytes = uint64_t{16} << 20;

}  // namespace

void FilePieces::add_frames(std::span<const EncodedChunk> chunks, std::span<const uint64_t> addresses,
                            uint32_t first_dataset) {
  for (size_t i = 0; i < chunks.size(); ++i) {
    const EncodedChunk& chunk = chunks[i];
    const uint32_t dataset = first_dataset + static_cast<uint32_t>(chunk.level);
    if (chunk.spool == nullptr) {
      pieces_.push_back({addresses[i], one_run(chunk.frame), dataset});
    } else {
      add_put_aside(addresses[i], *chunk.spool, chunk.spooled_at, chunk.frame_bytes, dataset);
    }
  }
}

void FilePieces::add_put_aside(uint64_t address, const FrameSpool& spool, uint64_t spooled_at, uint64_t bytes,
                               uint32_t dataset) {
  pieces_.push_back({address, unloaded_run(bytes), dataset});
  unloaded_.push_back({address, &spool, spooled_at, nullptr, 0, 1});
}

void FilePieces::add_values(const Hierarchy& hierarchy, const IntVect& ghosts, const LocalValues& owned,
                            std::span<const uint64_t> addresses, uint32_t first_dataset) {
  for (size_t l = 0; l < addresses.size(); ++l) {
    const uint32_t dataset = first_dataset + static_cast<uint32_t>(l);
    if (owned.are_in_memory()) {
      append_pieces(hierarchy, static_cast<int>(l), ghosts, hierarchy.components.size(), owned.boxes(),
                    addresses[l], dataset, pieces_);
    } else {
      add_unread(hierarchy, l, ghosts, owned, addresses[l], dataset);
    }
  }
}

void FilePieces::add_unread(const Hierarchy& hierarchy, size_t level, const IntVect& ghosts,
                            const LocalValues& owned, uint64_t address, uint32_t dataset) {
  const uint64_t value_bytes = dtype_bytes(hierarchy.dtype);
  const std::vector<int64_t> offsets =
      value_offsets(hierarchy.levels[level], ghosts, hierarchy.components.size());
  for (size_t i = 0; i < owned.size(); ++i) {
    if (static_cast<size_t>(owned[i].level) != level) continue;
    const uint64_t at =
        address + static_cast<uint64_t>(offsets[static_cast<size_t>(owned[i].box)]) * value_bytes;
    pieces_.push_back({at, unloaded_run(owned.elements(i) * value_bytes), dataset});
    unloaded_.push_back({at, nullptr, 0, &owned, i, value_bytes});
  }
}

uint64_t FilePieces::call_bytes() const {
  return unloaded_.empty() ? default_call_bytes : loading_call_bytes;
}

LoadBytes FilePieces::load() {
  if (unloaded_.empty()) return {};
  std::sort(unloaded_.begin(), unloaded_.end(),
            [](const Unloaded& a, const Unloaded& b) { return a.address < b.address; });
  return [this](uint64_t address, std::span<std::byte> out) { return load_part(address, out); };
}

Status FilePieces::load_part(uint64_t address, std::span<std::byte> out) const {
  const auto behind = std::upper_bound(unloaded_.begin(), unloaded_.end(), address,
                                       [](uint64_t at, const Unloaded& piece) { return at < piece.address; });
  const Unloaded& piece = *std::prev(behind);
  const uint64_t offset = address - piece.address;
  if (piece.spool != nullptr) return piece.spool->get(piece.spooled_at + offset, out);
  return piece.values->read(piece.local, offset / piece.value_bytes, out.size() / piece.value_bytes,
                            out.data());
}

}  // namespace neve::mpi
