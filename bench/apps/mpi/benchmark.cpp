// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/mpi/benchmark.hpp"

#include <fmt/format.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <vector>

#include "bench/harness/timed.hpp"
#include "bench/harness/workplace.hpp"
#include "core/codecs/frame_values.hpp"
#include "core/threads/thread_clock.hpp"
#include "io/plotfile/npy.hpp"
#include "neve/transfer.h"
#include "parallel/file/openable_path.hpp"
#include "parallel/file/written.hpp"
#include "parallel/transfer/block_encoder.hpp"

namespace neve::mpibench {
namespace {

using mpi::BlockEncoder;
using mpi::BlockPlan;
using mpi::Transfer;

struct Field {
  std::string name;
  DType dtype = DType::f32;
  std::vector<uint64_t> shape;  // slowest first
  Bytes values;

  uint64_t count() const { return values.size() / dtype_bytes(dtype); }
  MPI_Datatype type() const { return dtype == DType::f32 ? MPI_FLOAT : MPI_DOUBLE; }
  std::vector<uint64_t> layer() const { return {shape.begin() + 1, shape.end()}; }
};

// Waves of a few lengths with a little noise: smooth, as fields of simulations are, and no file is needed.
Field generated_field() {
  constexpr uint64_t side = 128;
  Field field;
  field.name = "waves with noise, 128^3 f32";
  field.shape = {side, side, side};
  field.values.resize(side * side * side * sizeof(float));
  auto* out = reinterpret_cast<float*>(field.values.data());
  uint32_t state = 1;
  for (uint64_t z = 0; z < side; ++z) {
    for (uint64_t y = 0; y < side; ++y) {
      for (uint64_t x = 0; x < side; ++x) {
        state = state * 1664525u + 1013904223u;
        const double noise = static_cast<double>(state >> 8) / (1 << 24) - 0.5;
        *out++ = static_cast<float>(std::sin(0.05 * static_cast<double>(x)) *
                                        std::cos(0.07 * static_cast<double>(y)) +
                                    0.3 * std::sin(0.11 * static_cast<double>(z)) + 1e-3 * noise);
      }
    }
  }
  return field;
}

neve::Result<Field> read_field(const Case& options) {
  Field field;
  if (options.input.empty()) {
    field = generated_field();
  } else {
    NEVE_ASSIGN(plotfile::NpyArray array, plotfile::read_npy(options.input));
    if (is_integer(array.dtype) || array.shape.empty() || array.values.empty()) {
      return usage_error(options.input + ": an array of floating-point values is needed");
    }
    field = {std::filesystem::path(options.input).filename().string(), array.dtype, array.shape,
             std::move(array.values)};
  }
  const Bytes once = field.values;
  while (field.values.size() + once.size() <= options.rank_bytes) {
    field.values.insert(field.values.end(), once.begin(), once.end());
  }
  field.shape[0] *= field.values.size() / once.size();
  return field;
}

// One thread's CPU time: a busy neighbour changes it little. What a call does before it encodes (the range)
// counts as encoding.
Status measure_speeds(const Case& options, const Field& field, Result& result) {
  Transfer transfer;
  transfer.dtype = field.dtype;
  transfer.values.bound = options.bound;
  transfer.layer_shape = field.layer();
  NEVE_ASSIGN(const BlockPlan plan, mpi::plan_blocks(field.count(), dtype_bytes(field.dtype),
                                                     options.block_bytes, transfer.layer_shape));
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

Status of_code(int code) {
  return code == NEVE_OK ? Status() : Status(static_cast<Code>(code), neve_last_error());
}

Status time_gathers(const mpi::Comm& comm, const Case& options, const Field& field, const std::string& bound,
                    const neve_mpi_options& call, Result& result) {
  const bool is_root = comm.rank() == 0;
  Bytes all;
  NEVE_TRY(mpi::agree(comm, mpi::guarded("gather", [&]() -> Status {
                        if (is_root) all.resize(field.values.size() * static_cast<size_t>(comm.size()));
                        return {};
                      })));
  std::vector<double> plain, framed;
  for (int repeat = 0; repeat < options.repeats; ++repeat) {
    NEVE_ASSIGN(const double plain_seconds, apps::timed(comm, [&] {
                  const int count = static_cast<int>(field.count());
                  return mpi::mpi_status(MPI_Gather(field.values.data(), count, field.type(), all.data(),
                                                    count, field.type(), 0, comm.get()),
                                         "MPI_Gather");
                }));
    plain.push_back(plain_seconds);
    std::fill(all.begin(), all.end(), std::byte{0});
    NEVE_ASSIGN(const double seconds, apps::timed(comm, [&] {
                  return of_code(neve_mpi_gather(field.values.data(), field.count(), field.type(), all.data(),
                                                 0, comm.get(), bound.c_str(), &call));
                }));
    framed.push_back(seconds);
  }
  for (int rank = 0; is_root && rank < comm.size(); ++rank) {
    compare(field, all.data() + static_cast<size_t>(rank) * field.values.size(), result);
  }
  result.plain_gather_seconds = apps::median_of(plain);
  result.gather_seconds = apps::median_of(framed);
  return {};
}

Status write_plain(const mpi::Comm& comm, const std::string& path, const Field& field) {
  MPI_File file = MPI_FILE_NULL;
  mpi::OpenablePath name;
  NEVE_TRY(mpi::open_file(comm, path, MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY, MPI_INFO_NULL, name,
                          file));
  const auto at = static_cast<MPI_Offset>(static_cast<size_t>(comm.rank()) * field.values.size());
  MPI_Status moved;
  Status written =
      mpi::mpi_status(MPI_File_write_at_all(file, at, field.values.data(), static_cast<int>(field.count()),
                                            field.type(), &moved),
                      path);
  if (written.ok()) written = mpi::check_written(moved, field.values.size(), path);
  const Status synced = mpi::mpi_status(MPI_File_sync(file), path);
  const Status closed = mpi::mpi_status(MPI_File_close(&file), path);
  NEVE_TRY(written);
  NEVE_TRY(synced);
  return closed;
}

Status write_framed(const mpi::Comm& comm, const std::string& path, const Field& field,
                    const std::string& bound, const neve_mpi_options& call) {
  neve_mpi_file* file = nullptr;
  NEVE_TRY(of_code(neve_mpi_file_open(comm.get(), path.c_str(), NEVE_MPI_FILE_CREATE, &file)));
  const uint64_t first = static_cast<uint64_t>(comm.rank()) * field.count();
  const Status written = of_code(neve_mpi_file_write_at_all(file, first, field.values.data(), field.count(),
                                                            field.type(), bound.c_str(), &call));
  const Status closed = of_code(neve_mpi_file_close(&file));
  NEVE_TRY(written);
  return closed;
}

// Each rank the values of the next one.
Status read_back(const mpi::Comm& comm, const std::string& path, const Field& field, Result& result) {
  neve_mpi_file* file = nullptr;
  NEVE_TRY(of_code(neve_mpi_file_open(comm.get(), path.c_str(), NEVE_MPI_FILE_READ, &file)));
  Bytes got(field.values.size());
  const auto rank = static_cast<uint64_t>((comm.rank() + 1) % comm.size());
  const Status read = of_code(neve_mpi_file_read_at_all(file, rank * field.count(), got.data(), field.count(),
                                                        field.type(), nullptr));
  const Status closed = of_code(neve_mpi_file_close(&file));
  NEVE_TRY(read);
  compare(field, got.data(), result);
  return closed;
}

Status time_writes(const mpi::Comm& comm, const std::string& folder, const Case& options, const Field& field,
                   const std::string& bound, const neve_mpi_options& call, Result& result) {
  const std::string plain_path = folder + "/plain", framed_path = folder + "/framed";
  const auto remove = [&](const std::string& path) {
    std::error_code ignored;
    if (comm.rank() == 0) std::filesystem::remove(path, ignored);
  };
  std::vector<double> plain, framed;
  Status status;
  for (int repeat = 0; repeat < options.repeats && status.ok(); ++repeat) {
    auto seconds = apps::timed(comm, [&] { return write_plain(comm, plain_path, field); });
    remove(plain_path);
    status = mpi::agree(comm, seconds.status());
    if (!status.ok()) break;
    plain.push_back(*seconds);
    seconds = apps::timed(comm, [&] { return write_framed(comm, framed_path, field, bound, call); });
    status = mpi::agree(comm, seconds.status());
    if (status.ok()) framed.push_back(*seconds);
  }
  if (status.ok()) status = mpi::agree(comm, read_back(comm, framed_path, field, result));
  remove(framed_path);
  NEVE_TRY(status);
  result.plain_write_seconds = apps::median_of(plain);
  result.write_seconds = apps::median_of(framed);
  return {};
}

}  // namespace

neve::Result<Result> run_benchmark(MPI_Comm given, const Case& options) {
  NEVE_ASSIGN(const mpi::Comm comm, mpi::Comm::duplicate(given));
  Result result;
  Field field;
  const Status read = mpi::guarded("reading the field", [&]() -> Status {
    if (options.repeats < 1)
      return usage_error(fmt::format("repeats is {}; at least 1 is needed", options.repeats));
    NEVE_ASSIGN(field, read_field(options));
    if (field.values.size() > mpi::max_block_bytes) {
      return usage_error(fmt::format("{} bytes a rank; at most {}, since MPI_Gather counts with int",
                                     field.values.size(), mpi::max_block_bytes));
    }
    return {};
  });
  NEVE_TRY(mpi::agree(comm, read));
  result.ranks = comm.size();
  result.field = field.name;
  result.rank_bytes = field.values.size();
  NEVE_TRY(mpi::agree(comm, comm.rank() != 0 ? Status() : mpi::guarded("speeds", [&] {
                        return measure_speeds(options, field, result);
                      })));

  const std::vector<uint64_t> layer = field.layer();
  neve_compress_options values = NEVE_COMPRESS_OPTIONS_INIT;
  values.threads = options.threads;
  neve_mpi_options call = NEVE_MPI_OPTIONS_INIT;
  call.values = &values;
  call.block_bytes = options.block_bytes;
  call.layer_ndim = static_cast<int>(layer.size());
  call.layer_shape = layer.data();
  const std::string bound = to_string(options.bound);
  NEVE_TRY(time_gathers(comm, options, field, bound, call, result));
  NEVE_ASSIGN(const apps::Workplace place, apps::Workplace::begin(comm, options.folder, false, {}));
  NEVE_TRY(time_writes(comm, place.path(), options, field, bound, call, result));

  NEVE_TRY(
      mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, &result.max_abs_error, 1, MPI_DOUBLE, MPI_MAX, comm.get()),
                      "largest error"));
  NEVE_TRY(mpi::mpi_status(
      MPI_Allreduce(MPI_IN_PLACE, &result.compared_values, 1, MPI_UINT64_T, MPI_SUM, comm.get()), "values"));
  NEVE_TRY(mpi::mpi_status(MPI_Bcast(&result.bound_abs, 1, MPI_DOUBLE, 0, comm.get()), "bound"));
  if (result.max_abs_error > result.bound_abs) {
    return Status(Code::bound_violated, fmt::format("a value came back {} off; the bound is {}",
                                                    result.max_abs_error, result.bound_abs));
  }
  return result;
}

}  // namespace neve::mpibench
