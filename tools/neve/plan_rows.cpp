// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/plan_rows.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "core/amr/sample_grids.hpp"
#include "core/io_model/romio_writes.hpp"
#include "core/io_model/unstriped_time.hpp"

namespace neve::cli::plan {
namespace {

using io_model::Buffering;
using io_model::FilePieces;
using io_model::FileSystem;
using io_model::MpiIo;
using io_model::Strategy;
using io_model::Striping;
using io_model::Way;
using io_model::Writer;

// Rank 0 writes the structure for a chunk in 3 us (1e5 chunks in 0.30 s).
constexpr double skeleton_chunk_seconds = 3e-6;
// Stripes that bench chombo's own collective buffering cuts at unless it is given others.
constexpr uint64_t model_stripe_bytes = uint64_t{1} << 20;

// What the busiest rank copies for its largest call: the bytes of K pieces, or of all that it has.
uint64_t packed_bytes(const FilePieces& file, const Way& way) {
  uint64_t most = 0;
  std::vector<uint64_t> of_rank(static_cast<size_t>(file.ranks));
  io_model::for_each_call(file, way.strategy, way.aggregate_boxes, [&](const io_model::Call& call) {
    std::ranges::fill(of_rank, 0);
    for (const io_model::CallPiece& piece : call.pieces) {
      uint64_t& bytes = of_rank[static_cast<size_t>(piece.rank)];
      bytes = call.is_collective ? bytes + piece.bytes : std::max(bytes, piece.bytes);
    }
    most = std::max(most, *std::max_element(of_rank.begin(), of_rank.end()));
  });
  return most;
}

class Rows {
 public:
  Rows(const Args& args, const Subject& subject, const Striping& striping, const FileSystem& system)
      : args_(args), subject_(subject), striping_(striping), system_(system) {
    buffering_.mpi_io = args.mpi_io;
    buffering_.stripe_bytes = args.is_striped() ? striping.stripe_bytes : model_stripe_bytes;
    buffering_.aggregators = args.layout.aggregators;
    buffering_.ranks_per_node = system.ranks_per_node;
  }

  void add(std::string name, const Way& way) {
    Row& row = rows_.emplace_back();
    row.name = std::move(name);
    row.counts = io_model::count_writes(subject_.values, way, buffering_);
    row.prediction =
        args_.is_striped()
            ? io_model::predict(subject_.values, way.strategy, way.aggregate_boxes, striping_, system_)
            : io_model::predict_unstriped(subject_.values, way, buffering_, system_);
    row.metadata_writes = metadata_writes(args_, subject_, way.writer);
    row.is_neves = way.writer == Writer::neve;
    row.buffer_bytes = packed_bytes(subject_.values, way);
  }

  void add_compressed() {
    const FilePieces& frames = *subject_.frames;
    Row& row = rows_.emplace_back();
    row.name = "skeleton, compressed";
    if (args_.is_striped()) {
      row.counts = io_model::count_writes(frames, Strategy::skeleton, 0, striping_.stripe_bytes);
      row.prediction = io_model::predict(frames, Strategy::skeleton, 0, striping_, system_);
    } else {
      row.counts = io_model::count_direct_writes(frames);
      row.prediction = io_model::predict_direct(frames, system_);
    }
    row.metadata_writes = metadata_writes(args_, subject_, Writer::neve);
    row.compresses = true;
    row.encode_seconds = static_cast<double>(subject_.busiest_rank_bytes) / (args_.codec_megabytes * 1e6);
    row.structure_seconds = static_cast<double>(frames.pieces()) * skeleton_chunk_seconds;
  }

  std::vector<Row> take() { return std::move(rows_); }

 private:
  const Args& args_;
  const Subject& subject_;
  const Striping& striping_;
  const FileSystem& system_;
  Buffering buffering_;
  std::vector<Row> rows_;
};

void add_other_writers(const Args& args, Rows& rows) {
  const int K = args.aggregate_boxes;
  rows.add("hdf5-independent", {Strategy::independent, 0, Writer::hdf5});
  rows.add("hdf5-collective", {Strategy::collective, 0, Writer::hdf5});
  rows.add("hdf5-aggregated", {Strategy::aggregated, K, Writer::hdf5});
  rows.add("hdf5-aggregated-independent", {Strategy::aggregated, K, Writer::hdf5, true});
  // As programs write that know of no hints.
  rows.add("hdf5-collective, no hints", {Strategy::collective, 0, Writer::hdf5, false, false});
  rows.add("hdf5-aggregated, no hints", {Strategy::aggregated, K, Writer::hdf5, false, false});
  rows.add("cb2-collective", {Strategy::collective, 0, Writer::model});
  rows.add("cb2-aggregated", {Strategy::aggregated, K, Writer::model});
}

}  // namespace

uint64_t smallest_cut(const Args& args, uint64_t largest_box) {
  if (args.is_striped()) {
    return args.layout.stripe_bytes > 0 ? args.layout.stripe_bytes : io_model::least_tried_stripe;
  }
  // Rows of Writer::model cut at stripes; ROMIO without hints sieves through a smaller buffer.
  uint64_t cut = model_stripe_bytes;
  if (args.mpi_io == MpiIo::romio) cut = std::min(cut, io_model::RomioHints{}.sieve_bytes);
  if (args.aggregate_boxes > 0) {
    // OMPIO fills half a buffer at a time.
    cut = std::min(cut, io_model::bounded_buffer_bytes(args.aggregate_boxes, largest_box) / 2);
  }
  return cut;
}

Result<Striping> striping_of(const Args& args, const FilePieces& file, const FileSystem& system) {
  const FileLayout& given = args.layout;
  if (!args.is_striped()) {
    const int nodes = (file.ranks + system.ranks_per_node - 1) / system.ranks_per_node;
    return Striping{1, 0, given.aggregators > 0 ? given.aggregators : nodes};
  }
  if (given.stripe_count > system.targets) {
    return usage_error(fmt::format("--stripe-count {} is more than the {} targets there are",
                                   given.stripe_count, system.targets));
  }
  // One aggregator per target: two would get in each other's way, fewer leave targets idle. Strategies
  // collective and aggregated are not tried: they take the bytes of skeleton in more calls and no larger
  // requests, so that with no striping either is faster.
  Striping best;
  double least = std::numeric_limits<double>::infinity();
  for (const Strategy strategy : {Strategy::skeleton, Strategy::independent}) {
    const Striping striping = io_model::best_striping(
        file, strategy, system, {given.stripe_count, given.stripe_bytes, given.aggregators});
    const double seconds = io_model::predict(file, strategy, 0, striping, system).total();
    if (seconds >= least) continue;
    least = seconds;
    best = striping;
  }
  return best;
}

std::vector<Row> rows_of(const Args& args, const Subject& subject, const Striping& striping,
                         const FileSystem& system) {
  Rows rows(args, subject, striping, system);
  rows.add("independent", {Strategy::independent});
  rows.add("collective", {Strategy::collective});
  rows.add("aggregated", {Strategy::aggregated});
  if (args.aggregate_boxes > 0) {
    rows.add(fmt::format("aggregated, {} boxes", args.aggregate_boxes),
             {Strategy::aggregated, args.aggregate_boxes});
  }
  rows.add("skeleton", {Strategy::skeleton});
  if (!args.is_striped()) add_other_writers(args, rows);
  if (subject.frames) rows.add_compressed();
  return rows.take();
}

uint64_t metadata_writes(const Args& args, const Subject& subject, Writer writer) {
  if (args.metadata_writes) return static_cast<uint64_t>(*args.metadata_writes);
  if (args.is_striped()) {
    const amr::IceFile kind = args.checkpoint ? amr::IceFile::checkpoint : amr::IceFile::plot;
    return static_cast<uint64_t>(args.ice ? amr::ice_metadata_writes(kind) : amr::chombo_metadata_writes);
  }
  // Fitted to what was counted of files of 3 and 5 levels with 3 to 95 datasets: at most 4 or 2 % off.
  const uint64_t levels = subject.levels;
  const uint64_t further = subject.values.datasets.size() / levels - 1;  // variables after the first
  if (writer == Writer::hdf5) return 15 + 25 * levels + further * (8 * levels + 5);
  return 3 + 2 * levels + (args.checkpoint ? 3 : 0) + further * (2 * levels + 4) / 5;
}

}  // namespace neve::cli::plan
