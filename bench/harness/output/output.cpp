// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/output/output.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <memory>

#include "bench/harness/output/containers.hpp"
#include "bench/harness/timed.hpp"
#include "io/files/write.hpp"
#include "parallel/write/target.hpp"

namespace neve::apps {
namespace {

using Compression = Output::Compression;
using Container = Output::Container;

const std::vector<Output>& all_outputs() {
  static const std::vector<Output> outputs = {
      {"raw", Container::raw, false, Compression::none, false},
      {"hdf5", Container::hdf5, false, Compression::none, false},
      {"hdf5-chunked", Container::hdf5, true, Compression::none, false},
      {"hdf5-zlib", Container::hdf5, true, Compression::deflate, false},
      {"hdf5-szip", Container::hdf5, true, Compression::szip, false},
      {"hdf5-shuffle-zlib", Container::hdf5, true, Compression::shuffle_deflate, false},
      {"hdf5-zfp", Container::hdf5, true, Compression::zfp, true},
      {"hdf5-neve", Container::hdf5, true, Compression::neve, true},
      {"hdf5-neve-lossless", Container::hdf5, true, Compression::neve, false},
      {"netcdf", Container::netcdf, false, Compression::none, false},
      {"netcdf-chunked", Container::netcdf, true, Compression::none, false},
      {"netcdf-zlib", Container::netcdf, true, Compression::deflate, false},
      {"netcdf-shuffle-zlib", Container::netcdf, true, Compression::shuffle_deflate, false},
      {"adios-posix", Container::adios_posix, false, Compression::none, false},
      {"adios-posix-zlib", Container::adios_posix, false, Compression::deflate, false},
      {"adios-posix-szip", Container::adios_posix, false, Compression::szip, false},
      {"adios-posix-zfp", Container::adios_posix, false, Compression::zfp, true},
      {"adios-mpi", Container::adios_mpi, false, Compression::none, false},
      {"adios-mpi-zlib", Container::adios_mpi, false, Compression::deflate, false},
      {"adios-mpi-szip", Container::adios_mpi, false, Compression::szip, false},
      {"adios-mpi-zfp", Container::adios_mpi, false, Compression::zfp, true},
      {"adios-mpi-zfp-c-order", Container::adios_mpi, false, Compression::zfp, true, true},
      {"adios-lustre", Container::adios_lustre, false, Compression::none, false},
      {"adios-lustre-zlib", Container::adios_lustre, false, Compression::deflate, false},
      {"adios-lustre-szip", Container::adios_lustre, false, Compression::szip, false},
      {"adios-lustre-zfp", Container::adios_lustre, false, Compression::zfp, true},
      {"adios-aggregate", Container::adios_aggregate, false, Compression::none, false},
      {"adios-aggregate-zlib", Container::adios_aggregate, false, Compression::deflate, false},
      {"adios-aggregate-szip", Container::adios_aggregate, false, Compression::szip, false},
      {"adios-aggregate-zfp", Container::adios_aggregate, false, Compression::zfp, true},
      {"neve", Container::plotfile, true, Compression::neve, true},
      {"neve-lossless", Container::plotfile, true, Compression::neve, false},
      {"neve-none", Container::plotfile, false, Compression::none, false},
  };
  return outputs;
}

// What a build without it lacks; empty where it is there.
std::string lacking([[maybe_unused]] const Output& output) {
#ifndef NEVE_NETCDF
  if (output.container == Container::netcdf)
    return "a parallel netCDF (Debian's libnetcdf-mpi-dev, of Open MPI)";
#endif
#ifndef NEVE_ADIOS
  if (is_adios(output)) {
    return "ADIOS 1.13 (Debian's libadios-openmpi-dev and libblosc-dev, of Open MPI)";
  }
#endif
  return {};
}

Result<std::unique_ptr<ArrayReader>> open_file(const Output& output, const std::string& path,
                                               std::span<const ArraySpec> arrays) {
  switch (output.container) {
    case Container::raw:
      return open_raw(path, arrays);
    case Container::plotfile:
      return open_plot(path, arrays);
    case Container::hdf5:
    case Container::netcdf:
      return open_hdf5(path, arrays);
    case Container::adios_posix:
    case Container::adios_mpi:
    case Container::adios_lustre:
    case Container::adios_aggregate:
      break;
  }
#ifdef NEVE_ADIOS
  return open_adios(path, arrays, output);
#else
  return usage_error(output.name + ": this build lacks " + lacking(output));
#endif
}

// The next rank's part of an array: where it lies, and its values.
struct OthersPart {
  Shape start, count;
  std::vector<std::byte> values;
};

// Collective.
Result<OthersPart> part_of_next(const mpi::Comm& comm, const ArrayPart& mine) {
  const int next = (comm.rank() + 1) % comm.size(), before = (comm.rank() + comm.size() - 1) % comm.size();
  OthersPart other;
  other.start.resize(mine.start.size());
  other.count.resize(mine.count.size());
  const auto exchange = [&](const void* send, size_t send_bytes, void* receive, size_t receive_bytes) {
    // Counts of MPI are int: several messages, as many for all ranks.
    constexpr size_t most = size_t{1} << 28;
    uint64_t longest = send_bytes;
    NEVE_TRY(mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, &longest, 1, MPI_UINT64_T, MPI_MAX, comm.get()),
                             "exchange of parts"));
    for (size_t at = 0; at < longest; at += most) {
      const auto part = [&](size_t bytes) {
        return static_cast<int>(std::min(most, bytes - std::min(at, bytes)));
      };
      NEVE_TRY(mpi::mpi_status(
          MPI_Sendrecv(static_cast<const std::byte*>(send) + std::min(at, send_bytes), part(send_bytes),
                       MPI_BYTE, before, 0, static_cast<std::byte*>(receive) + std::min(at, receive_bytes),
                       part(receive_bytes), MPI_BYTE, next, 0, comm.get(), MPI_STATUS_IGNORE),
          "exchange of parts"));
    }
    return Status();
  };
  const size_t shape_bytes = mine.start.size() * sizeof(uint64_t);
  NEVE_TRY(exchange(mine.start.data(), shape_bytes, other.start.data(), shape_bytes));
  NEVE_TRY(exchange(mine.count.data(), shape_bytes, other.count.data(), shape_bytes));
  other.values.resize(value_count(other.count) * dtype_bytes(mine.spec.dtype));
  NEVE_TRY(exchange(mine.values, mine.bytes(), other.values.data(), other.values.size()));
  return other;
}

struct Difference {
  uint64_t values = 0, wrong = 0;
  double largest = 0;
};

template <class T>
void compare(const ArraySpec& spec, const Output& output, std::span<const std::byte> wanted,
             std::span<const std::byte> got, Difference& difference) {
  const auto* a = reinterpret_cast<const T*>(wanted.data());
  const auto* b = reinterpret_cast<const T*>(got.data());
  const size_t count = wanted.size() / sizeof(T);
  difference.values += count;
  for (size_t i = 0; i < count; ++i) {
    if (std::memcmp(a + i, b + i, sizeof(T)) == 0) continue;
    const double error = std::abs(static_cast<double>(a[i]) - static_cast<double>(b[i]));
    difference.largest = std::max(difference.largest, error);
    // zfp knows nothing of fill values: near is all it promises.
    const bool is_fill =
        output.compression == Compression::neve && spec.fill && static_cast<double>(a[i]) == *spec.fill;
    if (!output.lossy || std::is_integral_v<T> || is_fill || !(error <= spec.bound_abs)) ++difference.wrong;
  }
}

void compare(const ArraySpec& spec, const Output& output, std::span<const std::byte> wanted,
             std::span<const std::byte> got, Difference& difference) {
  switch (spec.dtype) {
    case DType::f32:
      return compare<float>(spec, output, wanted, got, difference);
    case DType::f64:
      return compare<double>(spec, output, wanted, got, difference);
    case DType::i8:
    case DType::u8:
      return compare<uint8_t>(spec, output, wanted, got, difference);
    case DType::i16:
    case DType::u16:
      return compare<uint16_t>(spec, output, wanted, got, difference);
    case DType::i32:
    case DType::u32:
      return compare<uint32_t>(spec, output, wanted, got, difference);
    case DType::i64:
    case DType::u64:
      return compare<uint64_t>(spec, output, wanted, got, difference);
  }
}

// Collective. Reading is timed, comparing is not.
Status verify(const mpi::Comm& comm, const Output& output, const std::string& path,
              std::span<const ArrayPart> parts, int repeats, StoreResult& into) {
  std::vector<ArraySpec> specs;
  std::vector<OthersPart> wanted;
  std::vector<std::vector<std::byte>> got;
  for (const ArrayPart& part : parts) {
    specs.push_back(part.spec);
    NEVE_ASSIGN(OthersPart other, part_of_next(comm, part));
    got.emplace_back(other.values.size());
    wanted.push_back(std::move(other));
  }
  const auto nothing = [] { return Status(); };
  NEVE_ASSIGN(const Seconds seconds, timed(comm, repeats, nothing, [&] {
                return mpi::agree(
                    comm, mpi::guarded("reading", [&]() -> Status {
                      NEVE_ASSIGN(const auto reader, open_file(output, path, specs));
                      for (size_t i = 0; i < specs.size(); ++i) {
                        NEVE_TRY(reader->read(i, wanted[i].start, wanted[i].count, got[i].data()).in(path));
                      }
                      return {};
                    }));
              }));
  into.read += seconds;
  Difference difference;
  for (size_t i = 0; i < specs.size(); ++i) {
    compare(specs[i], output, wanted[i].values, got[i], difference);
  }
  std::array<uint64_t, 2> counts = {difference.values, difference.wrong};
  NEVE_TRY(mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, counts.data(), 2, MPI_UINT64_T, MPI_SUM, comm.get()),
                           "merging of what was verified"));
  NEVE_TRY(
      mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, &difference.largest, 1, MPI_DOUBLE, MPI_MAX, comm.get()),
                      "merging of errors"));
  into.verified_values += counts[0];
  into.wrong_values += counts[1];
  into.max_abs_error = std::max(into.max_abs_error, difference.largest);
  return {};
}

void add_to(std::vector<uint64_t>& sums, const std::vector<uint64_t>& more) {
  sums.resize(more.size(), 0);
  for (size_t i = 0; i < more.size(); ++i) sums[i] += more[i];
}

// Collective. What the ranks' parts became in the file, and become alone.
Status count(const mpi::Comm& comm, const Output& output, const std::string& path,
             std::span<const ArrayPart> parts, const StoreOptions& options, StoreResult& into) {
  NEVE_ASSIGN(const std::vector<uint64_t> stored, bytes_of_ranks(comm, output, path, parts));
  add_to(into.rank_bytes, stored);
  into.has_shared_chunks = has_shared_chunks(output);
  if (!into.has_shared_chunks) {
    add_to(into.alone_bytes, stored);
    return {};
  }
  uint64_t mine = 0;
  NEVE_TRY(mpi::agree(comm, mpi::guarded("counting", [&]() -> Status {
                        NEVE_ASSIGN(mine, bytes_alone(output, options.folder, parts));
                        return {};
                      })));
  std::vector<uint64_t> alone(static_cast<size_t>(comm.size()));
  NEVE_TRY(mpi::mpi_status(MPI_Allgather(&mine, 1, MPI_UINT64_T, alone.data(), 1, MPI_UINT64_T, comm.get()),
                           "gathering of bytes"));
  add_to(into.alone_bytes, alone);
  return {};
}

}  // namespace

std::vector<std::string> output_names() {
  std::vector<std::string> names;
  for (const Output& output : all_outputs()) {
    if (lacking(output).empty()) names.push_back(output.name);
  }
  return names;
}

Result<Output> parse_output(const std::string& name) {
  for (const Output& output : all_outputs()) {
    if (output.name != name) continue;
    const std::string what = lacking(output);
    if (what.empty()) return output;
    return usage_error(fmt::format("output {}: this build of Neve was made without {}", name, what));
  }
  return usage_error(
      fmt::format("unknown output '{}'; allowed are {}", name, fmt::join(output_names(), ", ")));
}

bool is_adios(const Output& output) {
  return output.container >= Container::adios_posix && output.container <= Container::adios_aggregate;
}

bool has_shared_chunks(const Output& output) {
  return output.compression != Compression::none &&
         (output.container == Container::hdf5 || output.container == Container::netcdf);
}

std::string container_name(const Output& output) {
  switch (output.container) {
    case Container::raw:
      return "raw";
    case Container::hdf5:
      return "hdf5";
    case Container::netcdf:
      return "netcdf";
    case Container::adios_posix:
      return "adios-posix";
    case Container::adios_mpi:
      return "adios-mpi";
    case Container::adios_lustre:
      return "adios-lustre";
    case Container::adios_aggregate:
      return "adios-aggregate";
    case Container::plotfile:
      return "neve";
  }
  return {};
}

std::string compression_name(const Output& output) {
  switch (output.compression) {
    case Compression::none:
      return output.chunked ? "chunked" : "none";
    case Compression::deflate:
      return "zlib";
    case Compression::szip:
      return "szip";
    case Compression::shuffle_deflate:
      return "shuffle-zlib";
    case Compression::zfp:
      return output.c_order ? "zfp-c-order" : "zfp";
    case Compression::neve:
      return output.lossy ? "neve" : "neve-lossless";
  }
  return {};
}

std::string path_of(const Output& output, const std::string& folder, const std::string& name) {
  const char* const extension = output.container == Container::raw      ? ".raw"
                                : output.container == Container::netcdf ? ".nc"
                                : is_adios(output)                      ? ".bp"
                                                                        : ".h5";
  return (std::filesystem::path(folder) / (name + extension)).string();
}

std::vector<std::string> file_stems(std::span<const std::string> names, std::span<const Output> outputs) {
  std::vector<std::string> stems;
  for (const std::string& name : names) {
    for (const Output& output : outputs) {
      for (const char* behind : {"_", "."})
        stems.push_back(fmt::format("{}_{}{}", name, output.name, behind));
    }
  }
  return stems;
}

Result<Written> write_output(const mpi::Comm& comm, const Output& output, const std::string& path,
                             std::span<const ArrayPart> parts) {
  if (output.container == Container::plotfile) return write_plot(comm, path, parts, output);
#ifdef NEVE_ADIOS
  if (is_adios(output)) return write_adios(comm, path, parts, output);
#endif
  NEVE_ASSIGN(mpi::Target target, mpi::Target::begin(comm, path, WriteOptions()));
  const std::string& temporary = target.temporary_path();
  switch (output.container) {
    case Container::raw:
      NEVE_TRY(write_raw(comm, temporary, parts));
      break;
    case Container::netcdf:
#ifdef NEVE_NETCDF
      NEVE_TRY(write_netcdf(comm, temporary, parts, output));
      break;
#else
      return usage_error(output.name + ": this build lacks " + lacking(output));
#endif
    default:
      NEVE_TRY(write_hdf5(comm, temporary, parts, output));
  }
  NEVE_TRY(mpi::agree(comm, comm.rank() == 0 ? files::sync_path(target.temporary_path()) : Status()));
  Written written;
  NEVE_ASSIGN(const mpi::Target::Finished finished, target.finish(comm));
  written.bytes = finished.bytes;
  return written;
}

Status store(const mpi::Comm& comm, const Output& output, const std::string& name,
             std::span<const ArrayPart> parts, const StoreOptions& options, StoreResult& into) {
  const std::string path = path_of(output, options.folder, name);
  into.name = output.name;
  into.container = container_name(output);
  into.compression = compression_name(output);
#ifdef NEVE_ADIOS
  if (is_adios(output)) NEVE_TRY(check_adios(comm, parts, output).in(path));
#endif
  Written written;
  std::vector<double> compressing;
  NEVE_ASSIGN(const Seconds seconds, timed(
                                         comm, options.repeats, [&] { return remove_file(comm, path); },
                                         [&]() -> Status {
                                           NEVE_ASSIGN(written, write_output(comm, output, path, parts));
                                           compressing.push_back(written.compress_seconds);
                                           return {};
                                         }));
  into.write += seconds;
  into.file_bytes += written.bytes;
  if (options.phases) {
    double compress_seconds = median_of(compressing);
    if (has_shared_chunks(output)) {
      NEVE_ASSIGN(compress_seconds, filter_seconds(comm, parts, output));
    }
    into.compress_seconds = into.compress_seconds.value_or(0) + compress_seconds;
  }
  ++into.files;
  for (const ArrayPart& part : parts) {
    into.raw_bytes += value_count(part.spec.shape) * dtype_bytes(part.spec.dtype);
  }
  if (options.verify) NEVE_TRY(verify(comm, output, path, parts, options.repeats, into));
  if (options.count) NEVE_TRY(count(comm, output, path, parts, options, into));
  return options.keep ? Status() : remove_file(comm, path);
}

Status check_options(const StoreOptions& options) {
  constexpr int most = 1000;
  if (options.repeats >= 1 && options.repeats <= most) return {};
  return usage_error(fmt::format("repeats is {}; 1 to {} is allowed", options.repeats, most));
}

Status remove_file(const mpi::Comm& comm, const std::string& path) {
  return mpi::agree(comm, mpi::guarded("removing", [&]() -> Status {
                      std::error_code error;
                      if (comm.rank() != 0) return {};
                      // Nothing but what ADIOS made in a folder of its own.
                      if (std::filesystem::exists(std::filesystem::path(path) / "data.bp", error)) {
                        std::filesystem::remove_all(path, error);
                      } else {
                        std::filesystem::remove(path, error);
                      }
                      return error ? failure(path + ": " + error.message()) : Status();
                    }));
}

Status set_bounds(const mpi::Comm& comm, const Bound& bound, std::span<ArrayPart> parts) {
  if (bound.mode == BoundMode::lossless) {
    return usage_error("bound lossless: outputs that keep every bit are those whose names end in lossless");
  }
  NEVE_TRY(check_bound(bound));
  for (ArrayPart& part : parts) {
    if (is_integer(part.spec.dtype)) continue;
    part.spec.bound_abs = bound.value;
    if (bound.mode != BoundMode::rel) continue;
    // -min and max, merged by one maximum.
    std::array<double, 2> ends = {-std::numeric_limits<double>::infinity(),
                                  -std::numeric_limits<double>::infinity()};
    const uint64_t count = value_count(part.count);
    for (uint64_t i = 0; i < count; ++i) {
      const double value = part.spec.dtype == DType::f32 ? static_cast<const float*>(part.values)[i]
                                                         : static_cast<const double*>(part.values)[i];
      if (value == part.spec.fill || !std::isfinite(value)) continue;
      ends[0] = std::max(ends[0], -value);
      ends[1] = std::max(ends[1], value);
    }
    NEVE_TRY(mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, ends.data(), 2, MPI_DOUBLE, MPI_MAX, comm.get()),
                             "merging of ranges"));
    const double range = ends[0] + ends[1];
    part.spec.bound_abs =
        range > 0 ? bound.value * range : static_cast<double>(std::numeric_limits<float>::min());
  }
  return {};
}

Status check_stored(std::span<const StoreResult> results) {
  std::string text;
  for (const StoreResult& result : results) {
    if (result.wrong_values == 0) continue;
    text += fmt::format("{}{}: {} of {} values read back are not within the bound (largest error {})",
                        text.empty() ? "" : "; ", result.name, result.wrong_values, result.verified_values,
                        result.max_abs_error);
  }
  return text.empty() ? Status() : Status(Code::bound_violated, text);
}

}  // namespace neve::apps
