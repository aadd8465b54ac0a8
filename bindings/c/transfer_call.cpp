// SPDX-License-Identifier: BSD-3-Clause
#include "bindings/c/transfer_call.hpp"

#include <array>
#include <bit>
#include <cstddef>
#include <vector>

#include "bindings/c/options.hpp"
#include "core/format/codec_choices.hpp"
#include "parallel/transfer/mpi_type.hpp"

namespace neve::mpi {
namespace {

constexpr size_t max_common_numbers = 8;

Status read_layer(const neve_mpi_options& given, std::vector<uint64_t>& layer_shape) {
  if (given.layer_ndim < 0 || given.layer_ndim >= NEVE_MAX_DIMS) {
    return usage_error(
        fmt::format("layer_ndim is {}; 0 to {} are allowed", given.layer_ndim, NEVE_MAX_DIMS - 1));
  }
  if (given.layer_ndim == 0) return {};
  if (given.layer_shape == nullptr) {
    return usage_error(fmt::format("layer_shape is NULL for {} dimensions", given.layer_ndim));
  }
  layer_shape.assign(given.layer_shape, given.layer_shape + given.layer_ndim);
  return {};
}

Status check_kind(CallKind kind, const ArrayOptions& values, const neve_mpi_reached* reached) {
  const Bound& bound = values.bound;
  if (reached != nullptr && kind == CallKind::other) {
    return usage_error("reached is given for a call that is not one of collective values; pass NULL");
  }
  const bool writes = kind == CallKind::collective_write || kind == CallKind::write;
  if (reached != nullptr && kind == CallKind::write) {
    return usage_error("reached is given for a write of one rank; it is for collective calls");
  }
  if (bound.mode != BoundMode::ratio) {
    if (reached == nullptr || !writes) return check_bound(bound);
    return usage_error(
        fmt::format("reached is given for a write with bound {}; it is for collective writes with bound "
                    "ratio=VALUE, and for other collective calls",
                    to_string(bound)));
  }
  if (kind != CallKind::gather && !writes) {
    return usage_error(fmt::format(
        "bound {} is for gathers and files; allowed here: abs=VALUE, rel=VALUE, lossless", to_string(bound)));
  }
  NEVE_TRY(check_bound(bound, BoundUse::array));
  NEVE_TRY(check_uses_bound(bound, values.codec));
  if (!values.lattice) return {};
  return usage_error(
      fmt::format("bound {} is found anew each time, and does not go with a lattice", to_string(bound)));
}

}  // namespace

Result<CallOptions> read_call(CallKind kind, MPI_Datatype type, const char* bound,
                              const neve_mpi_options* options) {
  CallOptions call;
  const auto dtype = dtype_of(type);
  if (!dtype) {
    return usage_error(
        "the datatype is not one that neve knows; allowed are MPI_FLOAT, MPI_DOUBLE, their Fortran names, "
        "and "
        "integers of 8 to 64 bits");
  }
  call.transfer.dtype = *dtype;
  neve_mpi_options given = NEVE_MPI_OPTIONS_INIT;
  if (options != nullptr) {
    NEVE_TRY(capi::read_struct("neve_mpi_options", "neve/transfer.h", options,
                               offsetof(neve_mpi_options, reached), given));
  }
  ArrayOptions& values = call.transfer.values;
  NEVE_TRY(capi::read_options(*dtype, given.values, bound, values));
  NEVE_TRY(check_kind(kind, values, given.reached));
  if (is_integer(*dtype) && values.bound.mode != BoundMode::lossless) {
    return usage_error(fmt::format("the bound is {} for {} values; integers are lossless",
                                   to_string(values.bound), dtype_name(*dtype)));
  }
  call.transfer.block_bytes = given.block_bytes;
  NEVE_TRY(read_layer(given, call.transfer.layer_shape));
  call.report = given.report;
  call.reached = given.reached;
  call.transfer.tells_errors = kind == CallKind::gather || kind == CallKind::collective;
  return call;
}

Status check_root(int root, int ranks) {
  if (root >= 0 && root < ranks) return {};
  return usage_error(fmt::format("root is {}; allowed are 0 to {}", root, ranks - 1));
}

Status check_values(const char* name, const void* values, uint64_t count) {
  if (values != nullptr || count == 0) return {};
  return usage_error(fmt::format("{} is NULL for {} values", name, count));
}

void report_moved(const CallOptions& options, uint64_t values, const Moved& moved) {
  if (options.report == nullptr) return;
  *options.report = {values * dtype_bytes(options.transfer.dtype), moved.frame_bytes, moved.blocks};
}

void report_reached(const CallOptions& options, const Reached& reached) {
  if (options.reached == nullptr) return;
  *options.reached = {reached.value_bytes, reached.moved_bytes, reached.bound, reached.max_abs_error};
}

Status check_same(const Comm& comm, std::initializer_list<Common> numbers) {
  // Minima, then complements of maxima, so that one reduction serves both. No memory is asked for: a rank
  // that got none would leave the others waiting.
  std::array<int64_t, 2 * max_common_numbers> extremes{};
  size_t count = 0;
  for (const Common& common : numbers) extremes[count++] = common.number;
  for (const Common& common : numbers) extremes[count++] = ~common.number;
  NEVE_TRY(mpi_status(
      MPI_Allreduce(MPI_IN_PLACE, extremes.data(), static_cast<int>(count), MPI_INT64_T, MPI_MIN, comm.get()),
      "comparison of the ranks' arguments"));
  size_t i = 0;
  for (const Common& common : numbers) {
    if (extremes[i] != ~extremes[i + numbers.size()]) {
      return usage_error(std::string("the ranks do not agree on the ") + common.name);
    }
    ++i;
  }
  return {};
}

Status check_same_transfer(const Comm& comm, const Transfer& transfer, Common another) {
  const Bound& bound = transfer.values.bound;
  const double bound_value = bound.mode == BoundMode::lossless ? 0 : bound.value;
  return check_same(comm, {{"datatype", static_cast<int64_t>(transfer.dtype)},
                           {"bound", static_cast<int64_t>(bound.mode)},
                           {"bound", std::bit_cast<int64_t>(bound_value)},
                           {"detection of fill values", transfer.values.detect_fill ? 1 : 0},
                           {"fill value", std::bit_cast<int64_t>(transfer.values.fill.value_or(0))},
                           another});
}

}  // namespace neve::mpi
