// SPDX-License-Identifier: BSD-3-Clause
#include "pmpi/gathers.hpp"

#include <array>
#include <atomic>
#include <limits>
#include <optional>
#include <vector>

#include "mpi/blocks/mpi_type.hpp"
#include "neve/mpi.h"
#include "pmpi/inside.hpp"
#include "pmpi/settings.hpp"

namespace neve::pmpi {
namespace {

Counts counts;

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

uint64_t bytes_of(uint64_t count, MPI_Datatype type) {
  int size = 0;
  return MPI_Type_size(type, &size) == MPI_SUCCESS ? count * static_cast<uint64_t>(size) : 0;
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

// Collective: whether all ranks can, and want. Ranks whose types differ would each decide for themselves.
bool all_agree(const Gather& call, const std::optional<DType>& dtype, uint64_t bytes) {
  const int64_t mine = dtype ? static_cast<int64_t>(*dtype) : -1;
  const int64_t wants =
      bytes >= settings().least_bytes ? -1 : 0;  // the least counts: one that wants is enough
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

int gather_frames(const Gather& call, bool is_root, int ranks) {
  neve_compress_options values = NEVE_COMPRESS_OPTIONS_INIT;
  values.threads = settings().transfer.values.encode.threads;
  if (!settings().codec.empty()) values.codec = settings().codec.c_str();
  if (!settings().effort.empty()) values.effort = settings().effort.c_str();
  neve_mpi_report report = {};
  std::vector<uint64_t> places_counts, displs;
  for (int rank = 0; is_root && rank < ranks; ++rank) {
    places_counts.push_back(call.count_of ? call.count_of(rank) : call.recv_count);
    displs.push_back(call.displ_of ? static_cast<uint64_t>(call.displ_of(rank))
                                   : static_cast<uint64_t>(rank) * call.recv_count);
  }
  const bool in_place = is_root && call.send == MPI_IN_PLACE;
  const uint64_t own = in_place ? places_counts[static_cast<size_t>(call.root)] : call.send_count;
  const neve_mpi_options options = options_for(own, values, report);
  const int code = neve_mpi_gatherv(call.send, own, in_place ? call.recv_type : call.send_type, call.recv,
                                    places_counts.data(), displs.data(), call.root, call.comm,
                                    settings().bound.c_str(), &options);
  if (code != NEVE_OK) {
    say(std::string("MPI_Gather: ") + neve_last_error());
    MPI_Comm_call_errhandler(call.comm, MPI_ERR_OTHER);
    return MPI_ERR_OTHER;
  }
  ++counts.calls;
  if (!is_root) {
    counts.value_bytes += report.value_bytes;
    counts.frame_bytes += report.moved_bytes;
  }
  return MPI_SUCCESS;
}

}  // namespace

int gather(const Gather& call, const std::function<int()>& plain) {
  if (Inside::is() || !settings().gathers || call.comm == MPI_COMM_NULL) return plain();
  const Inside inside;
  int is_inter = 0, rank = 0, ranks = 1;
  MPI_Comm_test_inter(call.comm, &is_inter);
  if (is_inter != 0) {
    say("a gather between two groups is passed through as it is");
    return plain();
  }
  MPI_Comm_rank(call.comm, &rank);
  MPI_Comm_size(call.comm, &ranks);
  if (call.root < 0 || call.root >= ranks) return plain();  // MPI's own error
  const bool is_root = rank == call.root;
  const bool in_place = is_root && call.send == MPI_IN_PLACE;
  uint64_t bytes = 0;
  if (!in_place) {
    bytes = bytes_of(call.send_count, call.send_type);
  } else {
    bytes = bytes_of(call.count_of ? call.count_of(rank) : call.recv_count, call.recv_type);
  }
  // The bytes of MPI_Gather are the same on all ranks: small ones need no agreement.
  const bool is_equal = !call.count_of && !call.displ_of;
  if (is_equal && bytes < settings().least_bytes) return plain();
  bool is_forward = true;
  for (int r = 0; is_root && call.displ_of && r < ranks; ++r)
    is_forward = is_forward && call.displ_of(r) >= 0;
  const auto dtype = is_forward ? type_of(call, is_root) : std::nullopt;
  if (!all_agree(call, dtype, bytes)) return plain();
  return gather_frames(call, is_root, ranks);
}

const Counts& gather_counts() { return counts; }

}  // namespace neve::pmpi
