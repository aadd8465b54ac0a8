// SPDX-License-Identifier: BSD-3-Clause
#include "core/io_model/write_calls.hpp"

#include <algorithm>

namespace neve::io_model {
namespace {

// Which call of its dataset takes a piece: the place of the piece among its rank's, over pieces a call.
std::vector<uint32_t> call_of_pieces(const Dataset& dataset, int ranks, Strategy strategy,
                                     int aggregate_boxes) {
  std::vector<uint32_t> call(dataset.owner.size(), 0);
  const bool all_at_once =
      strategy == Strategy::skeleton || (strategy == Strategy::aggregated && aggregate_boxes == 0);
  if (all_at_once) return call;
  const uint32_t pieces_per_call =
      strategy == Strategy::aggregated ? static_cast<uint32_t>(aggregate_boxes) : 1;
  std::vector<uint32_t> seen(static_cast<size_t>(ranks), 0);
  for (size_t i = 0; i < call.size(); ++i) {
    call[i] = seen[static_cast<size_t>(dataset.owner[i])]++ / pieces_per_call;
  }
  return call;
}

// The ranges of one collective call as they grow, cut into requests.
class RangeCutter {
 public:
  RangeCutter(uint64_t stripe_bytes, std::vector<Request>& requests)
      : stripe_bytes_(stripe_bytes), requests_(requests) {}
  void add(uint64_t begin, uint64_t bytes) {
    if (begin != end_) {
      finish();
      begin_ = begin;
    }
    end_ = begin + bytes;
  }
  // After the last piece.
  void finish() {
    for (uint64_t at = begin_; at < end_;) {
      const uint64_t next =
          stripe_bytes_ == 0 ? end_ : std::min(end_, (at / stripe_bytes_ + 1) * stripe_bytes_);
      requests_.push_back({at, next - at, -1});
      at = next;
    }
    begin_ = end_;
  }

 private:
  uint64_t stripe_bytes_;
  std::vector<Request>& requests_;
  uint64_t begin_ = 0, end_ = 0;
};

void visit_independent(const FilePieces& file, const std::function<void(const Step&)>& visit) {
  for (const Dataset& dataset : file.datasets) {
    Step step;
    step.is_collective = false;
    step.mpi_bytes = dataset.piece_bytes;
    uint64_t begin = dataset.begin;
    for (size_t i = 0; i < dataset.piece_bytes.size(); ++i) {
      step.requests.push_back({begin, dataset.piece_bytes[i], dataset.owner[i]});
      begin += dataset.piece_bytes[i];
    }
    visit(step);
  }
}

}  // namespace

void for_each_step(const FilePieces& file, Strategy strategy, int aggregate_boxes, uint64_t stripe_bytes,
                   const std::function<void(const Step&)>& visit) {
  if (strategy == Strategy::independent) {
    visit_independent(file, visit);
    return;
  }
  const auto ranks = static_cast<size_t>(file.ranks);
  Step of_all;  // strategy skeleton: one call for all datasets
  of_all.mpi_bytes.assign(ranks, 0);
  RangeCutter all_ranges(stripe_bytes, of_all.requests);
  for (const Dataset& dataset : file.datasets) {
    const std::vector<uint32_t> call = call_of_pieces(dataset, file.ranks, strategy, aggregate_boxes);
    // Pieces by call, in file order within each.
    uint32_t calls = 0;
    for (uint32_t c : call) calls = std::max(calls, c + 1);
    std::vector<std::vector<uint32_t>> pieces(calls);
    std::vector<uint64_t> begins(call.size());
    uint64_t begin = dataset.begin;
    for (size_t i = 0; i < call.size(); ++i) {
      pieces[call[i]].push_back(static_cast<uint32_t>(i));
      begins[i] = begin;
      begin += dataset.piece_bytes[i];
    }
    for (const std::vector<uint32_t>& of_call : pieces) {
      if (strategy == Strategy::skeleton) {
        for (uint32_t i : of_call) {
          of_all.mpi_bytes[static_cast<size_t>(dataset.owner[i])] += dataset.piece_bytes[i];
          all_ranges.add(begins[i], dataset.piece_bytes[i]);
        }
        continue;
      }
      Step step;
      step.mpi_bytes.assign(ranks, 0);
      RangeCutter ranges(stripe_bytes, step.requests);
      for (uint32_t i : of_call) {
        step.mpi_bytes[static_cast<size_t>(dataset.owner[i])] += dataset.piece_bytes[i];
        ranges.add(begins[i], dataset.piece_bytes[i]);
      }
      ranges.finish();
      visit(step);
    }
  }
  if (strategy == Strategy::skeleton) {
    all_ranges.finish();
    visit(of_all);
  }
}

uint64_t total_count(const SizeCounts& counts) {
  uint64_t total = 0;
  for (const auto& [bytes, count] : counts) total += count;
  return total;
}

WriteCounts count_writes(const FilePieces& file, Strategy strategy, int aggregate_boxes,
                         uint64_t stripe_bytes) {
  WriteCounts counts;
  for_each_step(file, strategy, aggregate_boxes, stripe_bytes, [&](const Step& step) {
    for (uint64_t bytes : step.mpi_bytes) ++counts.mpi[bytes];
    for (const Request& request : step.requests) ++counts.posix[request.bytes];
  });
  return counts;
}

}  // namespace neve::io_model
