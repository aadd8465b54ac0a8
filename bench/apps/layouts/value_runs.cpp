// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>
#include <cstring>
#include <utility>

#include "bench/apps/layouts/prepared.hpp"
#include "io/hdf5/filter.hpp"
#include "io/hdf5/layout_names.hpp"
#include "parallel/comm/fault.hpp"

namespace neve::layouts {
namespace {

// Where the ranks' runs begin in a level's dataset.
struct RunPlaces {
  std::vector<uint64_t> first_element;  // by share
  uint64_t elements = 0;
};

uint64_t whole_chunks(uint64_t elements, uint64_t chunk_elements) {
  if (chunk_elements == 0) return elements;
  return (elements + chunk_elements - 1) / chunk_elements * chunk_elements;
}

RunPlaces place_runs(const amr::LevelChunks& shares, uint64_t chunk_elements) {
  RunPlaces places;
  for (const amr::Chunk& share : shares.chunks) {
    places.first_element.push_back(places.elements);
    places.elements += whole_chunks(share.elements, chunk_elements);
  }
  return places;
}

BoxTable box_table(const Input& input, size_t level, const amr::LevelChunks& shares,
                   const RunPlaces& places) {
  const std::vector<Box>& boxes = input.hierarchy.levels[level].boxes;
  BoxTable table{std::vector<int64_t>(boxes.size(), 0)};
  for (size_t s = 0; s < shares.chunks.size(); ++s) {
    uint64_t at = places.first_element[s];
    for (const int box : shares.chunks[s].boxes) {
      table.first_element[static_cast<size_t>(box)] = static_cast<int64_t>(at);
      at += static_cast<uint64_t>(boxes[static_cast<size_t>(box)].cells()) * input.components();
    }
  }
  return table;
}

// The run of a share, in whole chunks.
std::vector<std::byte> gather(const Input& input, size_t level, const amr::Chunk& share,
                              uint64_t chunk_elements) {
  const size_t value_bytes = input.value_bytes();
  std::vector<std::byte> buffer(whole_chunks(share.elements, chunk_elements) * value_bytes);
  std::byte* out = buffer.data();
  for (const int box : share.boxes) {
    const LocalBox& local = input.local_box(level, box);
    const int64_t cells = input.hierarchy.levels[level].boxes[static_cast<size_t>(box)].cells();
    const size_t bytes = static_cast<size_t>(cells) * input.components() * value_bytes;
    std::memcpy(out, local.data.data, bytes);  // it has the components one after another, too
    out += bytes;
  }
  for (; out < buffer.data() + buffer.size(); out += value_bytes) {
    std::memcpy(out, out - value_bytes, value_bytes);
  }
  return buffer;
}

// The tightest bound of the fields that each chunk holds values of.
std::vector<double> chunk_bounds(const Input& input, size_t level, const amr::Chunk& share,
                                 uint64_t chunk_elements, const std::vector<double>& bounds) {
  const size_t chunks = whole_chunks(share.elements, chunk_elements) / chunk_elements;
  std::vector<double> tightest(chunks, std::numeric_limits<double>::infinity());
  uint64_t at = 0;
  for (const int box : share.boxes) {
    const auto cells =
        static_cast<uint64_t>(input.hierarchy.levels[level].boxes[static_cast<size_t>(box)].cells());
    for (const double bound : bounds) {
      for (uint64_t k = at / chunk_elements; k * chunk_elements < at + cells; ++k) {
        tightest[k] = std::min(tightest[k], bound);
      }
      at += cells;
    }
  }
  return tightest;
}

// Encodes a rank's chunks one after another, in the order in which HDF5 calls the filter.
class Chunks1d {
 public:
  Chunks1d(const Input& input, int rank, const Way& way, std::span<const std::byte> run,
           std::vector<double> bounds)
      : rank_(rank), run_(run), bounds_(std::move(bounds)) {
    parameters_.codec = way.codec;
    parameters_.detect_fill = false;
    parameters_.is_written_once = true;
    parameters_.dtype = input.hierarchy.dtype;
    parameters_.chunk_shape = {way.chunk_elements};
  }

  Result<std::vector<std::byte>> next(std::span<const std::byte> chunk) {
    NEVE_TRY(mpi::injected_fault(mpi::Phase::encode, rank_));
    const size_t number = next_++;
    if (number >= bounds_.size() ||
        std::memcmp(chunk.data(), run_.data() + number * chunk.size(), chunk.size()) != 0) {
      return failure("HDF5 gave the filter another chunk than that which follows");
    }
    const double bound = bounds_[number];
    parameters_.bound = bound > 0 ? Bound{BoundMode::abs, bound} : Bound{BoundMode::lossless, 0};
    return hdf5::encode_chunk(parameters_, chunk);
  }

 private:
  int rank_;
  std::span<const std::byte> run_;
  std::vector<double> bounds_;
  hdf5::FilterParameters parameters_;
  size_t next_ = 0;
};

Status prepare_level(int rank, const Way& way, const Input& input, size_t level, Prepared& prepared) {
  const amr::LevelChunks shares = shares_of(input, level);
  const RunPlaces places = place_runs(shares, way.chunk_elements);
  prepared.tables.push_back(box_table(input, level, shares, places));
  DatasetWrite& dataset = prepared.datasets.emplace_back();
  dataset.level = level;
  dataset.name = hdf5::data_name;
  dataset.elements = places.elements;
  dataset.chunk_elements = way.chunk_elements;
  const size_t own = own_share(shares, rank);
  if (own == shares.chunks.size()) return {};
  const amr::Chunk& share = shares.chunks[own];
  prepared.buffers.push_back(gather(input, level, share, way.chunk_elements));
  const std::vector<std::byte>& buffer = prepared.buffers.back();
  dataset.first = places.first_element[own];
  dataset.count = buffer.size() / input.value_bytes();
  dataset.values = buffer.data();
  prepared.runs.push_back({level, dataset.name, dataset.first, share.boxes, 0, input.components()});
  if (way.layout != Layout::chunks_1d) return {};
  auto chunks = std::make_shared<Chunks1d>(
      input, rank, way, buffer,
      chunk_bounds(input, level, share, way.chunk_elements, prepared.bounds[level]));
  dataset.encode = [chunks](std::span<const std::byte> chunk) { return chunks->next(chunk); };
  return {};
}

}  // namespace

Result<Prepared> prepare_values(const mpi::Comm& comm, const Way& way, const Input& input,
                                const Bound& bound) {
  Prepared prepared;
  if (way.is_compressed()) {
    NEVE_ASSIGN(FieldBounds measured, measure_bounds(comm, input, bound));
    prepared.bounds = std::move(measured.bounds);
  } else {
    prepared.bounds = bit_for_bit(input);
  }
  const Status mine = mpi::guarded("prepare", [&]() -> Status {
    for (size_t level = 0; level < input.hierarchy.levels.size(); ++level) {
      NEVE_TRY(prepare_level(comm.rank(), way, input, level, prepared));
    }
    return {};
  });
  NEVE_TRY(mpi::agree(comm, mine));
  return prepared;
}

}  // namespace neve::layouts
