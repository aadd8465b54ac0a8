// SPDX-License-Identifier: BSD-3-Clause
#include <fmt/format.h>

#include <algorithm>

#include "core/io_model/access_bins.hpp"
#include "tools/common/console.hpp"
#include "tools/neve/plan_report.hpp"

namespace neve::cli::plan {
namespace {

std::string head_text(const Plan& plan) {
  const Subject& subject = plan.subject;
  std::string text =
      fmt::format("{}\n{}, {} on {} (busiest / mean {:.3f})", subject.what,
                  counted(subject.values.pieces(), "box", "boxes"), human_bytes(subject.values.bytes()),
                  counted(static_cast<uint64_t>(plan.args.ranks), "rank"), subject.max_over_mean);
  if (!plan.args.is_striped()) return text + fmt::format("; {}, no stripes\n\n", plan.args.mpi_io_name);
  return text + fmt::format("; {} of {}, {}\n\n",
                            counted(static_cast<uint64_t>(plan.striping.stripe_count), "stripe"),
                            human_bytes(plan.striping.stripe_bytes),
                            counted(static_cast<uint64_t>(plan.striping.aggregators), "aggregator"));
}

std::string rows_text(const Plan& plan) {
  std::vector<std::string> heads = {"strategy",     "MPI-IO writes", "POSIX writes + metadata",
                                    "mean of data", "seconds",       "encode",
                                    "exchange",     "targets",       "calls",
                                    "metadata"};
  if (!plan.args.is_striped()) heads.insert(heads.begin() + 4, "bytes / data");
  Table table(heads);
  for (const Row& row : plan.rows) {
    std::vector<std::string> cells = {
        row.name,
        std::to_string(io_model::total_count(row.counts.mpi)),
        fmt::format("{} + {}", io_model::total_count(row.counts.posix), row.metadata_writes),
        human_bytes(mean_size(row.counts.posix)),
        seconds_text(row.total()),
        seconds_text(row.encode_seconds),
        seconds_text(row.prediction.exchange_seconds),
        seconds_text(row.prediction.target_seconds),
        seconds_text(row.prediction.call_seconds),
        seconds_text(row.prediction.metadata_seconds)};
    if (!plan.args.is_striped()) {
      const uint64_t data = row.compresses ? plan.subject.frames->bytes() : plan.subject.values.bytes();
      cells.insert(cells.begin() + 4, fmt::format("{:.2f}", row.amplification(data)));
    }
    table.add(cells);
  }
  return table.text();
}

std::string bins_text(const Plan& plan) {
  std::vector<std::string> heads = {"sizes of writes"};
  heads.insert(heads.end(), io_model::bin_names.begin(), io_model::bin_names.end());
  Table bins(heads);
  for (const bool posix : {false, true}) {
    for (const Row& row : plan.rows) {
      std::vector<std::string> cells = {(posix ? "POSIX " : "MPI-IO ") + row.name};
      for (uint64_t count : io_model::binned(posix ? row.counts.posix : row.counts.mpi)) {
        cells.push_back(std::to_string(count));
      }
      bins.add(cells);
    }
  }
  return "\n" + bins.text();
}

std::string advice_text(const Plan& plan) {
  const Row& best = plan.rows[plan.advice.best];
  std::string text = "\nRecommended: " + best.name;
  if (plan.args.is_striped()) {
    text +=
        fmt::format(", {} of {}, {}", counted(static_cast<uint64_t>(plan.striping.stripe_count), "stripe"),
                    human_bytes(plan.striping.stripe_bytes),
                    counted(static_cast<uint64_t>(plan.striping.aggregators), "aggregator"));
  }
  if (plan.advice.compress) {
    text +=
        fmt::format("; compression {} ({} s against {} s", *plan.advice.compress ? "pays" : "does not pay",
                    seconds_text(plan.rows.back().total()), seconds_text(best.total()));
    text += plan.advice.break_even_megabytes
                ? fmt::format("; it does from {:.0f} MB/s a rank on)", *plan.advice.break_even_megabytes)
                : "; at no codec speed)";
  }
  return text + "\n";
}

}  // namespace

uint64_t mean_size(const io_model::SizeCounts& counts) {
  const uint64_t total = io_model::total_count(counts);
  return total == 0 ? 0 : io_model::total_bytes(counts) / total;
}

std::string seconds_text(double seconds) { return fmt::format("{:.3g}", seconds); }

std::string plan_text(const Plan& plan) {
  std::string text = head_text(plan) + rows_text(plan);
  if (plan.args.bins) text += bins_text(plan);
  text += advice_text(plan);
  text += "To paste:\n";
  Table lines({"  for", "line"}, true);
  for (const PasteLine& line :
       paste_lines(plan.args, plan.striping, plan.system, chosen_row(plan.advice, plan.rows))) {
    lines.add({"  " + line.use, line.line});
  }
  text += lines.text();
  text += "Where this may be wrong:\n";
  for (const std::string& line : plan.advice.caveats) text += "  " + line + "\n";
  text += "Assumptions:\n";
  for (const std::string& line : basis_of(plan)) text += "  " + line + "\n";
  return text;
}

}  // namespace neve::cli::plan
