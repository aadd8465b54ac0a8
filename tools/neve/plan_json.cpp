// SPDX-License-Identifier: BSD-3-Clause
#include <algorithm>

#include "core/io_model/access_bins.hpp"
#include "tools/neve/plan_report.hpp"

namespace neve::cli::plan {
namespace {

using io_model::SizeCounts;

constexpr size_t top_sizes = 4;

std::vector<std::pair<uint64_t, uint64_t>> most_frequent(const SizeCounts& counts) {
  std::vector<std::pair<uint64_t, uint64_t>> sorted(counts.begin(), counts.end());
  std::stable_sort(sorted.begin(), sorted.end(),
                   [](const auto& a, const auto& b) { return a.second > b.second; });
  sorted.resize(std::min(sorted.size(), top_sizes));
  return sorted;
}

Json counts_json(const SizeCounts& counts) {
  Json j = {{"writes", io_model::total_count(counts)}, {"mean_bytes", mean_size(counts)}};
  j["bins"] = Json::object();
  const auto bins = io_model::binned(counts);
  for (size_t i = 0; i < bins.size(); ++i) j["bins"][io_model::bin_names[i]] = bins[i];
  j["top"] = Json::array();
  for (const auto& [bytes, count] : most_frequent(counts))
    j["top"].push_back({{"bytes", bytes}, {"count", count}});
  return j;
}

Json row_json(const Row& row) {
  Json posix = counts_json(row.counts.posix);
  posix["bytes"] = io_model::total_bytes(row.counts.posix);
  posix["writes_with_metadata"] = row.posix_writes();
  return {{"name", row.name},
          {"mpi", counts_json(row.counts.mpi)},
          {"posix", std::move(posix)},
          {"read_modify_write_bytes", row.counts.read_bytes},
          {"buffer_bytes", row.buffer_bytes},
          {"seconds",
           {{"total", row.total()},
            {"encode", row.encode_seconds},
            {"structure", row.structure_seconds},
            {"exchange", row.prediction.exchange_seconds},
            {"targets", row.prediction.target_seconds},
            {"calls", row.prediction.call_seconds},
            {"metadata", row.prediction.metadata_seconds}}}};
}

}  // namespace

Json plan_json(const Plan& plan) {
  const Subject& subject = plan.subject;
  Json j = {{"what", subject.what},
            {"mpi_io", plan.args.mpi_io_name},
            {"ranks", plan.args.ranks},
            {"boxes", subject.values.pieces()},
            {"bytes", subject.values.bytes()},
            {"max_over_mean_load", subject.max_over_mean},
            {"stripe_count", plan.striping.stripe_count},
            {"stripe_bytes", plan.striping.stripe_bytes},
            {"aggregators", plan.striping.aggregators},
            {"system", plan.system.name},
            {"metadata_writes", plan.metadata_writes},
            {"strategies", Json::array()}};
  if (subject.finest_boxes) {
    j["finest_boxes_of_a_rank"] = {{"least", subject.finest_boxes->first},
                                   {"most", subject.finest_boxes->second}};
  }
  for (const Row& row : plan.rows) j["strategies"].push_back(row_json(row));
  const Row& best = plan.rows[plan.advice.best];
  Json recommended = {{"uncompressed", best.name},
                      {"stripe_count", plan.striping.stripe_count},
                      {"stripe_bytes", plan.striping.stripe_bytes},
                      {"aggregators", plan.striping.aggregators}};
  if (plan.advice.compress) recommended["compress"] = *plan.advice.compress;
  if (plan.advice.break_even_megabytes) {
    recommended["break_even_codec_MBps"] = *plan.advice.break_even_megabytes;
  }
  j["recommended"] = std::move(recommended);
  j["paste"] = Json::array();
  for (const PasteLine& line :
       paste_lines(plan.args, plan.striping, plan.system, chosen_row(plan.advice, plan.rows))) {
    j["paste"].push_back({{"use", line.use}, {"line", line.line}});
  }
  j["caveats"] = plan.advice.caveats;
  j["basis"] = basis_of(plan);
  return j;
}

}  // namespace neve::cli::plan
