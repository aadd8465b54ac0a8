// SPDX-License-Identifier: BSD-3-Clause
#include "preload/mpi/gathers.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <limits>
#include <map>
#include <mutex>
#include <optional>
#include <vector>

#include "neve/transfer.h"
#include "parallel/transfer/mpi_type.hpp"
#include "preload/mpi/inside.hpp"
#include "preload/mpi/settings.hpp"

namespace neve::pmpi {
namespace {

Counts counts;

// Calls under a ratio, by what tells their sites apart. Of the calls whose root this rank was.
struct RatioSite {
  int root, ranks;
  size_t value_bytes;
  uint64_t call_bytes;
  auto operator<=>(const RatioSite&) const = default;
};
struct RatioSums {
  uint64_t calls = 0, value_bytes = 0, moved_bytes = 0;
  double max_abs_error = 0, seconds = 0;
};
std::mutex ratio_mutex;
std::map<RatioSite, RatioSums> ratio_sites;

void count_ratio_call(const Gather& call, int ranks, size_t value_bytes, const neve_mpi_reached& reached,
                      double seconds) {
  const std::lock_guard lock(ratio_mutex);
  RatioSums& sums = ratio_sites[{call.root, ranks, value_bytes, reached.value_bytes}];
  ++sums.calls;
  sums.value_bytes += reached.value_bytes;
  sums.moved_bytes += reached.moved_bytes;
  sums.max_abs_error = std::max(sums.max_abs_error, reached.max_abs_error);
  sums.seconds += seconds;
}

bool is_derived(MPI_Datatype type) {
  int integers = 0, addresses = 0, types = 0, combiner = MPI_COMBINER_NAMED;
  return type != MPI_DATATYPE_NULL &&
         MPI_Type_get_envelope(type, &integers, &addresses, &types, &combiner) == MPI_SUCCESS &&
         combiner != MPI_COMBINER_NAMED;
}

std::optional<DType> float_of(MPI_Datatype type) {
  const auto dtype = mpi::dtype_of(type);
  return dtype && !is_integer(*dtype) ? dtype : std::nullopt;
}

void say_once_of_derived_types() {
  static std::atomic<bool> said{false};
  if (said.exchange(true)) return;
  say("a gather of a derived datatype is passed through as it is: Neve does not know where its values are");
}

// The type of this rank's values on both sides; nothing where it is not one of floating point.
std::optional<DType> type_of(const Gather& call, bool is_root) {
  const bool in_place = is_root && call.send == MPI_IN_PLACE;
  for (const MPI_Datatype type :
       {in_place ? call.recv_type : call.send_type, is_root ? call.recv_type : call.send_type}) {
    if (is_derived(type)) say_once_of_derived_types();
  }
  const auto sent = float_of(in_place ? call.recv_type : call.send_type);
  if (is_root && sent != float_of(call.recv_type)) return {};
  return sent;
}

// Whether root's places are ones that values of `ranks` ranks can be put into: a matter of root's own
// arguments.
bool has_sound_places(const Gather& call, int ranks) {
  if (!call.is_of_counts) return call.recv_count >= 0;
  if (!call.count_of || !call.displ_of) return false;
  for (int rank = 0; rank < ranks; ++rank) {
    if (call.count_of(rank) < 0 || call.displ_of(rank) < 0) return false;
  }
  return true;
}

// What this rank sends: nothing where MPI has to judge the arguments.
struct Sent {
  int64_t count = -1;
  uint64_t bytes = 0;
};
Sent sent_by(const Gather& call, bool is_root) {
  const bool in_place = is_root && call.send == MPI_IN_PLACE;
  Sent sent;
  if (!in_place) {
    sent.count = call.send_count;
  } else {
    sent.count = call.is_of_counts ? call.count_of(call.root) : call.recv_count;
  }
  const MPI_Datatype type = in_place ? call.recv_type : call.send_type;
  int size = 0;
  if (sent.count < 0 || type == MPI_DATATYPE_NULL || MPI_Type_size(type, &size) != MPI_SUCCESS || size < 0)
    return {};
  sent.bytes = static_cast<uint64_t>(sent.count) * static_cast<uint64_t>(size);
  return sent;
}

// Arguments that are beyond doubt; MPI judges all others.
bool is_sound(const Gather& call, bool is_root, int ranks, const Sent& sent) {
  if (sent.count < 0 || (call.send == MPI_IN_PLACE && !is_root)) return false;
  if (call.send == nullptr && sent.count > 0) return false;
  if (!is_root) return true;
  if (call.recv_type == MPI_DATATYPE_NULL || call.recv == MPI_IN_PLACE || call.recv == call.send)
    return false;
  if (call.recv == nullptr || !has_sound_places(call, ranks)) return false;
  const int64_t own_place = call.is_of_counts ? call.count_of(call.root) : call.recv_count;
  return call.send_type != call.recv_type || own_place == sent.count;
}

// Collective: whether all ranks can, and want. Ranks whose types differ would each decide for themselves.
bool all_agree(const Gather& call, const std::optional<DType>& dtype, uint64_t bytes) {
  const int64_t mine = dtype ? static_cast<int64_t>(*dtype) : -1;
  const int64_t wants = bytes >= settings().min_bytes ? -1 : 0;  // the least counts: one that wants is enough
  std::array<int64_t, 3> numbers = {mine, -mine, wants};
  if (MPI_Allreduce(MPI_IN_PLACE, numbers.data(), 3, MPI_INT64_T, MPI_MIN, call.comm) != MPI_SUCCESS)
    return false;
  return numbers[0] >= 0 && numbers[0] == -numbers[1] && numbers[2] < 0;
}

// The layer of the environment where the rank's values are whole layers; in a line otherwise.
neve_mpi_options options_for(uint64_t count, const neve_compress_options& values, neve_mpi_report& report) {
  const std::vector<uint64_t>& layer = settings().transfer.layer_shape;
  uint64_t layer_values = 1;
  for (const uint64_t size : layer) layer_values *= size;
  neve_mpi_options options = NEVE_MPI_OPTIONS_INIT;
  options.values = &values;
  options.block_bytes = settings().transfer.block_bytes;
  if (count % layer_values == 0) {
    options.layer_ndim = static_cast<int>(layer.size());
    options.layer_shape = layer.data();
  }
  options.report = &report;
  return options;
}

// Collective: whether the values have arrived. Where they have not, they have on no rank, and all that is
// lost is time: MPI's own call goes before them.
bool gather_frames(const Gather& call, bool is_root, int ranks) {
  neve_compress_options values = NEVE_COMPRESS_OPTIONS_INIT;
  values.threads = settings().transfer.values.encode.threads;
  values.options = settings().options.c_str();
  neve_mpi_report report = {};
  std::vector<uint64_t> places_counts, displs;
  for (int rank = 0; is_root && rank < ranks; ++rank) {
    const auto count = static_cast<uint64_t>(call.is_of_counts ? call.count_of(rank) : call.recv_count);
    places_counts.push_back(count);
    displs.push_back(call.is_of_counts ? static_cast<uint64_t>(call.displ_of(rank))
                                       : static_cast<uint64_t>(rank) * count);
  }
  const bool in_place = is_root && call.send == MPI_IN_PLACE;
  const uint64_t own =
      in_place ? places_counts[static_cast<size_t>(call.root)] : static_cast<uint64_t>(call.send_count);
  neve_mpi_options options = options_for(own, values, report);
  const bool is_ratio = settings().transfer.values.bound.mode == BoundMode::ratio;
  neve_mpi_reached reached = {};
  if (is_ratio) options.reached = &reached;
  const double begin = MPI_Wtime();
  const int code = neve_mpi_gatherv(call.send, own, in_place ? call.recv_type : call.send_type, call.recv,
                                    places_counts.data(), displs.data(), call.root, call.comm,
                                    settings().bound.c_str(), &options);
  if (code != NEVE_OK) {
    if (is_root) say(std::string("a gather is passed through as it is: ") + neve_last_error());
    return false;
  }
  if (is_root && is_ratio) {
    const auto dtype = mpi::dtype_of(in_place ? call.recv_type : call.send_type);
    count_ratio_call(call, ranks, dtype ? dtype_bytes(*dtype) : 0, reached, MPI_Wtime() - begin);
  }
  ++counts.calls;
  if (!is_root) {
    counts.value_bytes += report.value_bytes;
    counts.frame_bytes += report.moved_bytes;
  }
  return true;
}

}  // namespace

int gather(const Gather& call, const std::function<int()>& plain) {
  if (Inside::is() || !settings().gathers || call.comm == MPI_COMM_NULL) return plain();
  const Inside inside;
  int is_inter = 0, rank = 0, ranks = 1;
  if (MPI_Comm_test_inter(call.comm, &is_inter) != MPI_SUCCESS) return plain();
  if (is_inter != 0) {
    say("a gather between two groups is passed through as it is");
    return plain();
  }
  MPI_Comm_rank(call.comm, &rank);
  MPI_Comm_size(call.comm, &ranks);
  if (call.root < 0 || call.root >= ranks) return plain();  // MPI's own error
  const bool is_root = rank == call.root;
  const bool has_places = !is_root || has_sound_places(call, ranks);
  const Sent sent = has_places || call.send != MPI_IN_PLACE ? sent_by(call, is_root) : Sent{};
  // The bytes of MPI_Gather are the same on all ranks: small ones, and those that are none, need no
  // agreement. In MPI_Gatherv a rank whose arguments are wrong does not leave the others waiting for it.
  if (!call.is_of_counts && (sent.count < 0 || sent.bytes < settings().min_bytes)) return plain();
  const auto dtype = is_sound(call, is_root, ranks, sent) ? type_of(call, is_root) : std::nullopt;
  if (!all_agree(call, dtype, sent.bytes) || !gather_frames(call, is_root, ranks)) return plain();
  return MPI_SUCCESS;
}

const Counts& gather_counts() { return counts; }

void say_ratios() {
  for (const auto& [site, sums] : ratio_sites) {
    const double ratio = static_cast<double>(sums.value_bytes) / static_cast<double>(sums.moved_bytes);
    say(
        fmt::format("gathers of {} bytes of f{} to rank {} of {}: {} calls, {} bytes as {}, ratio {:.2f}, "
                    "largest error {:.3g}, {:.3f} GB/s",
                    site.call_bytes, 8 * site.value_bytes, site.root, site.ranks, sums.calls,
                    sums.value_bytes, sums.moved_bytes, sums.moved_bytes == 0 ? 0 : ratio, sums.max_abs_error,
                    static_cast<double>(sums.value_bytes) / std::max(sums.seconds, 1e-9) / 1e9));
  }
}

}  // namespace neve::pmpi
