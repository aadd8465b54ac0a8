// SPDX-License-Identifier: BSD-3-Clause
#include "core/io_model/unstriped_time.hpp"

#include <algorithm>
#include <vector>

#include "core/io_model/write_calls.hpp"

namespace neve::io_model {
namespace {

// What writers do side by side; writer -1, the aggregators together, comes last.
class Writers {
 public:
  explicit Writers(int ranks) : bytes_(static_cast<size_t>(ranks) + 1) {}
  void add(const Request& request, bool is_joined = false) {
    const size_t writer = request.writer < 0 ? bytes_.size() - 1 : static_cast<size_t>(request.writer);
    bytes_[writer] += static_cast<double>(request.bytes + request.read_bytes);
    all_bytes_ += static_cast<double>(request.bytes);
    if (!is_joined) requests_ += 1;
  }
  double seconds(const FileSystem& disk) const {
    return *std::max_element(bytes_.begin(), bytes_.end()) / disk.node_bytes_per_second +
           all_bytes_ / disk.target_bytes_per_second + requests_ * disk.request_seconds;
  }
  double aggregated_bytes() const { return bytes_.back(); }

 private:
  std::vector<double> bytes_;
  double all_bytes_ = 0, requests_ = 0;
};

}  // namespace

FileSystem local_disk() { return {"disk", 1, 0.5e9, 0.7e9, 1 << 20, 80e-6, 0, 0, 0.7e-3}; }

Prediction predict_unstriped(const FilePieces& file, const Way& way, const Buffering& buffering,
                             const FileSystem& disk) {
  Prediction prediction;
  for_each_step(file, way, buffering, [&](const Step& step) {
    Writers writers(file.ranks);
    for (const Request& request : step.requests) writers.add(request);
    prediction.target_seconds += writers.seconds(disk);
    if (writers.aggregated_bytes() == 0) return;
    uint64_t exchanged = 0;
    for (uint64_t bytes : step.mpi_bytes) exchanged += bytes;
    prediction.exchange_seconds += static_cast<double>(exchanged) / disk.node_bytes_per_second;
    prediction.call_seconds += disk.call_seconds;
  });
  return prediction;
}

Prediction predict_direct(const FilePieces& file, const FileSystem& disk) {
  Writers writers(file.ranks);
  std::vector<uint64_t> end_of_rank(static_cast<size_t>(file.ranks), UINT64_MAX);  // of nothing yet
  for (const Dataset& dataset : file.datasets) {
    uint64_t begin = dataset.begin;
    for (size_t i = 0; i < dataset.owner.size(); ++i) {
      uint64_t& end = end_of_rank[static_cast<size_t>(dataset.owner[i])];
      writers.add({begin, dataset.piece_bytes[i], dataset.owner[i]}, end == begin);
      begin += dataset.piece_bytes[i];
      end = begin;
    }
  }
  Prediction prediction;
  prediction.target_seconds = writers.seconds(disk);
  return prediction;
}

}  // namespace neve::io_model
