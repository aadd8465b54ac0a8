// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/write/load_pieces.hpp"

#include <algorithm>
#include <iterator>

#include "parallel/write/frame_spool.hpp"
#include "parallel/write/place_values.hpp"

namespace neve::mpi {
namespace {

// Most bytes of a rank in a call whose bytes are loaded: all that is held of them.
constexpr uint64_t loading_call_bytes = uint64_t{16} << 20;

template <class Placed>
void sort_by_address(std::vector<Placed>& placed) {
  std::sort(placed.begin(), placed.end(),
            [](const Placed& a, const Placed& b) { return a.address < b.address; });
}

// The one that holds the address.
template <class Placed>
const Placed& holder(const std::vector<Placed>& placed, uint64_t address) {
  const auto behind = std::upper_bound(placed.begin(), placed.end(), address,
                                       [](uint64_t at, const Placed& p) { return at < p.address; });
  return *std::prev(behind);
}

}  // namespace

void FramePieces::add(std::span<const EncodedChunk> chunks, std::span<const uint64_t> addresses,
                      uint32_t first_dataset) {
  for (size_t i = 0; i < chunks.size(); ++i) {
    const EncodedChunk& chunk = chunks[i];
    const Rows rows = chunk.spool == nullptr ? one_run(chunk.frame) : unloaded_run(chunk.frame_bytes);
    pieces_.push_back({addresses[i], rows, first_dataset + static_cast<uint32_t>(chunk.level)});
    if (chunk.spool != nullptr) put_aside_.push_back({addresses[i], &chunk});
  }
}

uint64_t FramePieces::call_bytes() const {
  return put_aside_.empty() ? default_call_bytes : loading_call_bytes;
}

LoadBytes FramePieces::load() const {
  if (put_aside_.empty()) return {};
  sort_by_address(put_aside_);
  return [this](uint64_t address, std::span<std::byte> out) {
    const Put& put = holder(put_aside_, address);
    return put.chunk->spool->get(put.chunk->spooled_at + (address - put.address), out);
  };
}

void ValuePieces::add(const Hierarchy& hierarchy, const IntVect& ghosts, const LocalValues& owned,
                      std::span<const uint64_t> addresses, uint32_t first_dataset) {
  const size_t components = hierarchy.components.size();
  for (size_t l = 0; l < addresses.size(); ++l) {
    const uint32_t dataset = first_dataset + static_cast<uint32_t>(l);
    if (owned.are_in_memory()) {
      append_pieces(hierarchy, static_cast<int>(l), ghosts, components, owned.boxes(), addresses[l], dataset,
                    pieces_);
      continue;
    }
    const uint64_t value_bytes = dtype_bytes(hierarchy.dtype);
    const std::vector<int64_t> offsets = value_offsets(hierarchy.levels[l], ghosts, components);
    for (size_t i = 0; i < owned.size(); ++i) {
      if (static_cast<size_t>(owned[i].level) != l) continue;
      const uint64_t address =
          addresses[l] + static_cast<uint64_t>(offsets[static_cast<size_t>(owned[i].box)]) * value_bytes;
      pieces_.push_back({address, unloaded_run(owned.elements(i) * value_bytes), dataset});
      unread_.push_back({address, &owned, i, value_bytes});
    }
  }
}

uint64_t ValuePieces::call_bytes() const { return unread_.empty() ? default_call_bytes : loading_call_bytes; }

LoadBytes ValuePieces::load() const {
  if (unread_.empty()) return {};
  sort_by_address(unread_);
  return [this](uint64_t address, std::span<std::byte> out) {
    const Unread& box = holder(unread_, address);
    return box.values->read(box.local, (address - box.address) / box.value_bytes,
                            out.size() / box.value_bytes, out.data());
  };
}

}  // namespace neve::mpi
