// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/mpi/benchmark.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <vector>

#include "bench/apps/mpi/calls.hpp"
#include "bench/apps/mpi/field.hpp"
#include "bench/apps/mpi/links.hpp"
#include "bench/harness/timed.hpp"
#include "bench/harness/workplace.hpp"
#include "core/codecs/frame_values.hpp"
#include "core/threads/thread_clock.hpp"
#include "parallel/transfer/block_encoder.hpp"

namespace neve::mpibench {
namespace {

using mpi::BlockEncoder;
using mpi::BlockPlan;
using mpi::Transfer;

// One thread's CPU time: a busy neighbour changes it little. What a call does before it encodes (the range)
// counts as encoding.
Status measure_speeds(const Case& options, const Field& field, Result& result) {
  Transfer transfer;
  transfer.dtype = field.dtype;
  transfer.values.bound = options.calls.bound;
  transfer.layer_shape = field.layer();
  NEVE_ASSIGN(const BlockPlan plan, mpi::plan_blocks(field.count(), dtype_bytes(field.dtype),
                                                     options.calls.block_bytes, transfer.layer_shape));
  std::vector<double> encode, decode;
  Bytes decoded(field.values.size());
  uint64_t frame_bytes = 0;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    std::vector<Bytes> frames;
    double begin = thread_seconds();
    NEVE_ASSIGN(const auto whole, mpi::measure_alone(transfer, plan, field.values.data()));
    const BlockEncoder encoder(transfer, plan, field.values.data(), whole, 0);
    for (size_t block = 0; block < plan.blocks(); ++block) {
      NEVE_ASSIGN(Bytes frame, encoder.encode(block));
      frames.push_back(std::move(frame));
    }
    encode.push_back(thread_seconds() - begin);
    begin = thread_seconds();
    for (size_t block = 0; block < plan.blocks(); ++block) {
      NEVE_TRY(decode_values(frames[block], field.dtype, plan.values(block),
                             decoded.data() + plan.first(block) * dtype_bytes(field.dtype)));
    }
    decode.push_back(thread_seconds() - begin);
    frame_bytes = 0;
    for (const Bytes& frame : frames) frame_bytes += frame.size();
    NEVE_ASSIGN(const Frame first, Frame::parse(frames.front()));
    result.bound_abs = first.components().front().bound_abs;
  }
  const auto bytes = static_cast<double>(field.values.size());
  result.speeds = {bytes / apps::median_of(encode), bytes / apps::median_of(decode),
                   bytes / static_cast<double>(frame_bytes)};
  return {};
}

template <class T>
void compare_as(const Field& field, const std::byte* got, Result& result) {
  const auto* wanted = reinterpret_cast<const T*>(field.values.data());
  const auto* values = reinterpret_cast<const T*>(got);
  for (uint64_t i = 0; i < field.count(); ++i) {
    const double error = std::abs(static_cast<double>(values[i]) - static_cast<double>(wanted[i]));
    if (std::isfinite(error)) result.max_abs_error = std::max(result.max_abs_error, error);
  }
  result.compared_values += field.count();
}

void compare(const Field& field, const std::byte* got, Result& result) {
  field.dtype == DType::f32 ? compare_as<float>(field, got, result) : compare_as<double>(field, got, result);
}

Status time_gathers(const mpi::Comm& comm, const Case& options, const Field& field, const Calls& calls,
                    Bytes& all, Result& result) {
  std::vector<double> plain, framed;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    NEVE_ASSIGN(const double plain_seconds,
                apps::timed(comm, [&] { return calls.gather_values(all.data()); }));
    plain.push_back(plain_seconds);
    std::fill(all.begin(), all.end(), std::byte{0});
    NEVE_ASSIGN(const double seconds, apps::timed(comm, [&] { return calls.gather_frames(all.data()); }));
    framed.push_back(seconds);
  }
  for (size_t at = 0; at < all.size(); at += field.values.size()) compare(field, all.data() + at, result);
  result.plain_gather_seconds = apps::median_of(plain);
  result.gather_seconds = apps::median_of(framed);
  return {};
}

Status time_writes(const mpi::Comm& comm, const std::string& folder, const Case& options, const Field& field,
                   const Calls& calls, Result& result) {
  const std::string plain_path = folder + "/plain", framed_path = folder + "/framed";
  std::vector<double> plain, framed;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    NEVE_ASSIGN(double seconds, apps::timed(comm, [&] { return calls.write_values(plain_path); }));
    plain.push_back(seconds);
    NEVE_TRY(remove_together(comm, plain_path));
    if (repeat > 0) NEVE_TRY(remove_together(comm, framed_path));
    NEVE_ASSIGN(seconds, apps::timed(comm, [&] { return calls.write_frames(framed_path); }));
    framed.push_back(seconds);
  }
  NEVE_TRY(mpi::agree(comm, mpi::guarded("reading back", [&]() -> Status {
                        NEVE_ASSIGN(const Bytes got, calls.read_frames(framed_path));
                        compare(field, got.data(), result);
                        return {};
                      })));
  NEVE_TRY(remove_together(comm, framed_path));
  result.plain_write_seconds = apps::median_of(plain);
  result.write_seconds = apps::median_of(framed);
  return {};
}

// Collective: the largest error and the number of values of all ranks.
Status merge_errors(const mpi::Comm& comm, Result& result) {
  NEVE_TRY(
      mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, &result.max_abs_error, 1, MPI_DOUBLE, MPI_MAX, comm.get()),
                      "largest error"));
  NEVE_TRY(mpi::mpi_status(
      MPI_Allreduce(MPI_IN_PLACE, &result.compared_values, 1, MPI_UINT64_T, MPI_SUM, comm.get()), "values"));
  NEVE_TRY(mpi::mpi_status(MPI_Bcast(&result.bound_abs, 1, MPI_DOUBLE, 0, comm.get()), "bound"));
  if (result.max_abs_error <= result.bound_abs) return {};
  return Status(Code::bound_violated, fmt::format("a value came back {} off; the bound is {}",
                                                  result.max_abs_error, result.bound_abs));
}

Status check(const mpi::Comm& comm, const Case& options) {
  if (options.repeats < 1) {
    return usage_error(fmt::format("repeats is {}; at least 1 is needed", options.repeats));
  }
  if (!options.links.empty() && comm.size() < 2) {
    return usage_error("imitated links need 2 ranks or more: one alone sends nothing");
  }
  return {};
}

}  // namespace

neve::Result<Result> run_benchmark(MPI_Comm given, const Case& options) {
  NEVE_ASSIGN(const mpi::Comm comm, mpi::Comm::duplicate(given));
  Result result;
  Field field;
  Bytes all;  // of root
  const Status read = mpi::guarded("reading the field", [&]() -> Status {
    NEVE_TRY(check(comm, options));
    NEVE_ASSIGN(field, read_field(options.input, options.rank_bytes));
    if (field.values.size() > mpi::max_block_bytes) {
      return usage_error(fmt::format("{} bytes a rank; at most {}, since MPI_Gather counts with int",
                                     field.values.size(), mpi::max_block_bytes));
    }
    if (comm.rank() == 0) all.resize(field.values.size() * static_cast<size_t>(comm.size()));
    return {};
  });
  NEVE_TRY(mpi::agree(comm, read));
  result.ranks = comm.size();
  result.field = field.name;
  result.rank_bytes = field.values.size();
  NEVE_TRY(mpi::agree(comm, comm.rank() != 0 ? Status() : mpi::guarded("speeds", [&] {
                        return measure_speeds(options, field, result);
                      })));
  const Calls calls(comm, field, options.calls);
  NEVE_TRY(time_gathers(comm, options, field, calls, all, result));
  NEVE_ASSIGN(const apps::Workplace place, apps::Workplace::begin(comm, options.folder, false, {}));
  NEVE_TRY(time_writes(comm, place.path(), options, field, calls, result));
  const LinkCase links{options.links, options.repeats, place.path()};
  NEVE_ASSIGN(result.links, measure_links(comm, field, options.calls, links, all));
  NEVE_TRY(merge_errors(comm, result));
  return result;
}

}  // namespace neve::mpibench
