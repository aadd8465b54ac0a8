// SPDX-License-Identifier: BSD-3-Clause
#include "core/io_model/predict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace neve::io_model {
namespace {

constexpr double within = 1.05;

// What one step puts on each target.
struct TargetLoads {
  explicit TargetLoads(int targets)
      : bytes(static_cast<size_t>(targets)),
        requests(static_cast<size_t>(targets)),
        locks(static_cast<size_t>(targets)) {}
  std::vector<double> bytes, requests, locks;
};

TargetLoads loads_of(const Step& step, const Striping& striping) {
  const auto targets = static_cast<uint64_t>(striping.stripe_count);
  TargetLoads loads(striping.stripe_count);
  uint64_t stripe = 0;
  std::vector<int> writers;  // of that stripe
  const auto close_stripe = [&] {
    std::sort(writers.begin(), writers.end());
    const auto several = std::unique(writers.begin(), writers.end()) - writers.begin();
    if (several > 1) loads.locks[stripe % targets] += static_cast<double>(several - 1);
    writers.clear();
  };
  for (const Request& request : step.requests) {
    const uint64_t end = request.begin + request.bytes;
    for (uint64_t at = request.begin; at < end;) {
      const uint64_t in_stripe = at / striping.stripe_bytes;
      const uint64_t next = std::min(end, (in_stripe + 1) * striping.stripe_bytes);
      loads.bytes[in_stripe % targets] += static_cast<double>(next - at);
      loads.requests[in_stripe % targets] += 1;
      if (request.writer >= 0) {
        if (in_stripe != stripe) close_stripe();
        stripe = in_stripe;
        writers.push_back(request.writer);
      }
      at = next;
    }
  }
  close_stripe();
  return loads;
}

FileSystem edison() {
  // 72 GB/s over 96 OSTs; 24 cores a node.
  return {"edison", 96, 72e9 / 96, 5e9, 24, 4e-3, 20e-3, 0.1};
}

FileSystem cori() {
  // 744 GB/s over 248 OSTs; 32 cores a node.
  return {"cori", 248, 744e9 / 248, 5e9, 32, 2e-3, 20e-3, 0};
}

}  // namespace

Result<FileSystem> named_file_system(const std::string& name) {
  for (const FileSystem& system : {edison(), cori()}) {
    if (system.name == name) return system;
  }
  return usage_error(fmt::format("unknown file system \"{}\"; allowed are edison, cori", name));
}

Prediction predict(const FilePieces& file, Strategy strategy, int aggregate_boxes, const Striping& striping,
                   const FileSystem& system) {
  const int nodes = (file.ranks + system.ranks_per_node - 1) / system.ranks_per_node;
  const double all_nodes = nodes * system.node_bytes_per_second;
  const double aggregators = std::min(nodes, striping.aggregators) * system.node_bytes_per_second;
  Prediction prediction;
  for_each_step(file, strategy, aggregate_boxes, striping.stripe_bytes, [&](const Step& step) {
    const TargetLoads loads = loads_of(step, striping);
    double slowest = 0, bytes = 0;
    for (size_t t = 0; t < loads.bytes.size(); ++t) {
      slowest = std::max(slowest, loads.bytes[t] / system.target_bytes_per_second +
                                      loads.requests[t] * system.request_seconds +
                                      loads.locks[t] * system.lock_seconds);
      bytes += loads.bytes[t];
    }
    // No faster than the writing nodes send.
    prediction.target_seconds += std::max(slowest, bytes / (step.is_collective ? aggregators : all_nodes));
    if (!step.is_collective) return;
    prediction.exchange_seconds += bytes / aggregators;
    prediction.call_seconds += system.call_seconds;
  });
  return prediction;
}

Striping best_striping(const FilePieces& file, Strategy strategy, const FileSystem& system) {
  std::vector<int> counts;
  for (int n = 1; n < system.targets; n *= 2) counts.push_back(n);
  counts.push_back(system.targets);
  std::vector<std::pair<double, Striping>> tried;
  double best = 0;
  for (int count : counts) {
    for (const uint64_t mebibytes : {1, 2, 4, 8, 16}) {
      const Striping striping{count, mebibytes << 20, std::min(count, file.ranks)};
      const double seconds = predict(file, strategy, 0, striping, system).total();
      if (tried.empty() || seconds < best) best = seconds;
      tried.emplace_back(seconds, striping);
    }
  }
  for (const auto& [seconds, striping] : tried) {
    if (seconds <= best * within) return striping;
  }
  return tried.back().second;
}

}  // namespace neve::io_model
