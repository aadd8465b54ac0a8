// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/call_sites.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <map>
#include <mutex>
#include <vector>

#include "preload/mpi/settings.hpp"

namespace neve::pmpi {
namespace {

// A program that never makes the same call twice does not fill the memory.
constexpr size_t most_sites = 200;

struct Sums {
  uint64_t calls = 0, value_bytes = 0, moved_bytes = 0;
  double max_abs_error = 0, seconds = 0;

  void add(const Sums& other) {
    calls += other.calls;
    value_bytes += other.value_bytes;
    moved_bytes += other.moved_bytes;
    max_abs_error = std::max(max_abs_error, other.max_abs_error);
    seconds += other.seconds;
  }
};
using Sites = std::map<CallSite, Sums>;
struct Record {
  CallSite site;
  Sums sums;
};

std::mutex mutex;
Sites sites;

void add(CallSite site, const Sums& sums, Sites& to) {
  if (to.size() >= most_sites && !to.contains(site)) site.value_bytes = 0;
  to[site].add(sums);
}

// On rank 0: of all ranks.
std::vector<Record> gather_records() {
  std::vector<Record> own;
  for (const auto& [site, sums] : sites) own.push_back({site, sums});
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int bytes = static_cast<int>(own.size() * sizeof(Record));
  std::vector<int> counts(static_cast<size_t>(rank == 0 ? ranks : 0)), displs;
  MPI_Gather(&bytes, 1, MPI_INT, counts.data(), 1, MPI_INT, 0, MPI_COMM_WORLD);
  int end = 0;
  for (const int count : counts) {
    displs.push_back(end);
    end += count;
  }
  std::vector<Record> all(static_cast<size_t>(end) / sizeof(Record));
  MPI_Gatherv(own.data(), bytes, MPI_BYTE, all.data(), counts.data(), displs.data(), MPI_BYTE, 0,
              MPI_COMM_WORLD);
  return all;
}

void say_site(const CallSite& site, const Sums& sums) {
  const std::string bytes = site.value_bytes == 0 ? "other numbers of" : fmt::format("{}", site.value_bytes);
  const auto as_double = [](uint64_t number) { return static_cast<double>(number); };
  const double ratio = sums.moved_bytes == 0 ? 0 : as_double(sums.value_bytes) / as_double(sums.moved_bytes);
  say(
      fmt::format("{} of {} bytes of {} on {} ranks: {} calls, {} bytes as {}, ratio {:.2f}, largest error "
                  "{:.3g}, {:.3f} GB/s",
                  name_of(site.kind, site.is_of_counts), bytes, dtype_name(site.dtype), site.ranks,
                  sums.calls, sums.value_bytes, sums.moved_bytes, ratio, sums.max_abs_error,
                  as_double(sums.value_bytes) / std::max(sums.seconds, 1e-9) / 1e9));
}

}  // namespace

const char* name_of(Kind kind, bool is_of_counts) {
  switch (kind) {
    case Kind::gather:
      return is_of_counts ? "MPI_Gatherv" : "MPI_Gather";
    case Kind::allgather:
      return is_of_counts ? "MPI_Allgatherv" : "MPI_Allgather";
    case Kind::alltoall:
      return is_of_counts ? "MPI_Alltoallv" : "MPI_Alltoall";
    case Kind::bcast:
      return "MPI_Bcast";
    case Kind::scatter:
      break;
  }
  return is_of_counts ? "MPI_Scatterv" : "MPI_Scatter";
}

void count_call(const CallSite& site, const neve_mpi_reached& reached, double seconds) {
  const std::lock_guard lock(mutex);
  add(site, {1, reached.value_bytes, reached.moved_bytes, reached.max_abs_error, seconds}, sites);
}

CallSums say_calls() {
  Sites all;
  for (const Record& record : gather_records()) add(record.site, record.sums, all);
  CallSums sums;
  for (const auto& [site, of_site] : all) {
    say_site(site, of_site);
    sums.calls += of_site.calls;
    sums.value_bytes += of_site.value_bytes;
    sums.moved_bytes += of_site.moved_bytes;
  }
  return sums;
}

}  // namespace neve::pmpi
