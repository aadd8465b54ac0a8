// SPDX-License-Identifier: BSD-3-Clause
#include "core/io_model/predict.hpp"

#include <fmt/format.h>

#include <algorithm>

namespace neve::io_model {
namespace {

constexpr double within = 1.05;

// Fitted (`neve bench model --fit`).
constexpr double call_seconds_per_rank = 5.99e-6;

TargetLoads no_loads(const Striping& striping) {
  const std::vector<double> none(static_cast<size_t>(striping.stripe_count), 0.0);
  return {none, none, none};
}

void add_loads(const Step& step, const Striping& striping, TargetLoads& loads) {
  const auto targets = static_cast<size_t>(striping.stripe_count);
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
      if (next - at < striping.stripe_bytes) loads.part_stripes[in_stripe % targets] += 1;
      if (request.writer >= 0) {
        if (in_stripe != stripe) close_stripe();
        stripe = in_stripe;
        writers.push_back(request.writer);
      }
      at = next;
    }
  }
  close_stripe();
}

FileSystem edison() {
  // 72 GB/s over 96 OSTs; 24 cores a node.
  return {"edison", 96, 72e9 / 96, 5e9, 24, 4.33e-3, 11.9e-3, call_seconds_per_rank};
}

FileSystem cori() {
  // 744 GB/s over 248 OSTs; 32 cores a node.
  return {"cori", 248, 744e9 / 248, 5e9, 32, 0.538e-3, 20.3e-3, call_seconds_per_rank};
}

}  // namespace

Result<FileSystem> named_file_system(const std::string& name) {
  for (const FileSystem& system : {edison(), cori()}) {
    if (system.name == name) return system;
  }
  return usage_error(fmt::format("unknown file system \"{}\"; allowed are edison, cori", name));
}

void add_step(Prediction& prediction, const TargetLoads& loads, bool is_collective, int ranks,
              const Striping& striping, const FileSystem& system) {
  const int nodes = (ranks + system.ranks_per_node - 1) / system.ranks_per_node;
  const double sending =
      (is_collective ? std::min(nodes, striping.aggregators) : nodes) * system.node_bytes_per_second;
  double slowest = 0, bytes = 0;
  for (size_t t = 0; t < loads.bytes.size(); ++t) {
    slowest = std::max(slowest, loads.bytes[t] / system.target_bytes_per_second +
                                    loads.part_stripes[t] * system.request_seconds +
                                    loads.locks[t] * system.lock_seconds);
    bytes += loads.bytes[t];
  }
  // No faster than the writing nodes send.
  prediction.target_seconds += std::max(slowest, bytes / sending);
  if (!is_collective) return;
  prediction.exchange_seconds += bytes / sending;
  prediction.call_seconds += system.call_seconds + ranks * system.call_seconds_per_rank;
}

void for_each_load(const FilePieces& file, Strategy strategy, int aggregate_boxes, const Striping& striping,
                   const std::function<void(const TargetLoads&, bool is_collective)>& visit) {
  TargetLoads independent = no_loads(striping);
  bool has_independent = false;
  for_each_step(file, strategy, aggregate_boxes, striping.stripe_bytes, [&](const Step& step) {
    if (!step.is_collective) {
      add_loads(step, striping, independent);
      has_independent = true;
      return;
    }
    TargetLoads loads = no_loads(striping);
    add_loads(step, striping, loads);
    visit(loads, true);
  });
  if (has_independent) visit(independent, false);
}

double metadata_seconds(uint64_t writes, const FileSystem& system) {
  return static_cast<double>(writes) * system.request_seconds;
}

Prediction predict(const FilePieces& file, Strategy strategy, int aggregate_boxes, const Striping& striping,
                   const FileSystem& system) {
  Prediction prediction;
  prediction.metadata_seconds = metadata_seconds(file.metadata_writes, system);
  for_each_load(file, strategy, aggregate_boxes, striping, [&](const TargetLoads& loads, bool is_collective) {
    add_step(prediction, loads, is_collective, file.ranks, striping, system);
  });
  return prediction;
}

Striping best_striping(const FilePieces& file, Strategy strategy, const FileSystem& system,
                       const GivenStriping& given) {
  std::vector<int> counts = {given.stripe_count};
  std::vector<uint64_t> sizes = {given.stripe_bytes};
  if (given.stripe_count == 0) {
    counts.clear();
    for (int n = 1; n < system.targets; n *= 2) counts.push_back(n);
    counts.push_back(system.targets);
  }
  if (given.stripe_bytes == 0) {
    sizes.clear();
    for (const uint64_t times : {16, 8, 4, 2, 1}) sizes.push_back(times * least_tried_stripe);
  }
  std::vector<std::pair<double, Striping>> tried;
  double best = 0;
  for (int count : counts) {
    for (const uint64_t stripe_bytes : sizes) {
      const int aggregators = given.aggregators > 0 ? given.aggregators : std::min(count, file.ranks);
      const Striping striping{count, stripe_bytes, aggregators};
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
