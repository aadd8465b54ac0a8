// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/transfer/ending.hpp"

#include <algorithm>
#include <bit>

#include "parallel/comm/patient_wait.hpp"

namespace neve::mpi {
namespace {

// One reduction of all of it, each number in its own way.
struct Ending {
  uint64_t agreement = 0;    // the least
  uint64_t value_bytes = 0;  // sums
  uint64_t frame_bytes = 0;
  uint64_t error = 0;  // the largest; bits of a double that is not negative
};
constexpr int ending_words = sizeof(Ending) / sizeof(uint64_t);

extern "C" void neve_merge_endings(void* from, void* into, int* count, MPI_Datatype*) {
  const auto* const theirs = static_cast<const Ending*>(from);
  auto* const ours = static_cast<Ending*>(into);
  for (int i = 0; i < *count; ++i) {
    // As agree() compares: signed.
    ours[i].agreement = static_cast<uint64_t>(
        std::min(static_cast<int64_t>(ours[i].agreement), static_cast<int64_t>(theirs[i].agreement)));
    ours[i].value_bytes += theirs[i].value_bytes;
    ours[i].frame_bytes += theirs[i].frame_bytes;
    ours[i].error = std::max(ours[i].error, theirs[i].error);
  }
}

// Collective.
Status merge_endings(const Comm& comm, Ending& ending) {
  const Ending own = ending;
  MPI_Datatype type = MPI_DATATYPE_NULL;
  MPI_Op op = MPI_OP_NULL;
  NEVE_TRY(mpi_status(MPI_Type_contiguous(ending_words, MPI_UINT64_T, &type), "MPI_Type_contiguous"));
  NEVE_TRY(mpi_status(MPI_Type_commit(&type), "MPI_Type_commit"));
  NEVE_TRY(mpi_status(MPI_Op_create(neve_merge_endings, 1, &op), "MPI_Op_create"));
  const Status merged = allreduce_patiently(&own, &ending, 1, type, op, comm.get(), "agreement of the ranks");
  MPI_Op_free(&op);
  MPI_Type_free(&type);
  return merged;
}

}  // namespace

Status end_together(const Comm& comm, const Status& done, uint64_t value_bytes, const Moved& sent,
                    Reached& reached) {
  Ending ending{agreement_key(comm, done), value_bytes, sent.frame_bytes,
                std::bit_cast<uint64_t>(sent.max_abs_error)};
  NEVE_TRY(merge_endings(comm, ending));
  if (!all_agree(ending.agreement)) return lowest_failure(comm, ending.agreement, done);
  reached.value_bytes = ending.value_bytes;
  reached.moved_bytes = ending.frame_bytes;
  reached.max_abs_error = std::bit_cast<double>(ending.error);
  return {};
}

}  // namespace neve::mpi
