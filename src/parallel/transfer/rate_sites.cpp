// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/rate_sites.hpp"

#include <cmath>
#include <memory>
#include <mutex>

#include "parallel/comm/agree.hpp"

namespace neve::mpi {
namespace {

constexpr size_t max_entries = 64;
// Of the larger width: ranges whose ends differ by more are those of other fields.
constexpr double alike_share = 0.5;

extern "C" int neve_drop_rate_sites(MPI_Comm, int, void* value, void*) {
  delete static_cast<std::shared_ptr<RateSites>*>(value);
  return MPI_SUCCESS;
}

Status make_key(int& key) {
  static std::mutex mutex;
  static int made = MPI_KEYVAL_INVALID;
  const std::lock_guard lock(mutex);
  if (made == MPI_KEYVAL_INVALID) {
    NEVE_TRY(mpi_status(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, neve_drop_rate_sites, &made, nullptr),
                        "MPI_Comm_create_keyval"));
  }
  key = made;
  return {};
}

// How far apart two ranges are, as a share of the larger one's width; not finite where one is empty.
double distance(const ValueRange& a, const ValueRange& b) {
  if (a.empty || b.empty) return a.empty && b.empty ? 0 : HUGE_VAL;
  const double width = std::max(a.width(), b.width());
  const double apart = std::max(std::abs(a.min - b.min), std::abs(a.max - b.max));
  return apart == 0 ? 0 : apart / width;
}

}  // namespace

Result<std::shared_ptr<RateSites>> RateSites::shared_with(MPI_Comm comm) {
  int key = MPI_KEYVAL_INVALID, is_there = 0;
  void* value = nullptr;
  NEVE_TRY(make_key(key));
  NEVE_TRY(mpi_status(MPI_Comm_get_attr(comm, key, &value, &is_there), "MPI_Comm_get_attr"));
  if (is_there != 0) return *static_cast<std::shared_ptr<RateSites>*>(value);
  auto made = std::make_unique<std::shared_ptr<RateSites>>(std::make_shared<RateSites>());
  NEVE_TRY(mpi_status(MPI_Comm_set_attr(comm, key, made.get()), "MPI_Comm_set_attr"));
  return *made.release();
}

Result<RateSites*> RateSites::of(MPI_Comm comm) {
  NEVE_ASSIGN(const auto sites, shared_with(comm));
  return sites.get();
}

RateHistory* RateSites::find(const RateSite& site, const ValueRange& range) {
  auto nearest = entries_.end();
  double least = alike_share;
  for (auto entry = entries_.begin(); entry != entries_.end(); ++entry) {
    if (!(entry->site == site)) continue;
    const double apart = distance(entry->history.range, range);
    if (!(apart < least)) continue;
    least = apart;
    nearest = entry;
  }
  if (nearest == entries_.end()) return nullptr;
  entries_.splice(entries_.begin(), entries_, nearest);
  return &entries_.front().history;
}

RateHistory* RateSites::add(const RateSite& site, const RateHistory& history) {
  entries_.push_front({site, history});
  if (entries_.size() > max_entries) entries_.pop_back();
  return &entries_.front().history;
}

void RateSites::drop(const RateHistory* history) {
  entries_.remove_if([&](const Entry& entry) { return &entry.history == history; });
}

}  // namespace neve::mpi
