// SPDX-License-Identifier: BSD-3-Clause
// Times the parallel write of an AMR hierarchy against the two writes it competes with: the same bytes by
// plain MPI-IO, and the uncompressed AMReX plotfile. JSON on stdout.
//
//   mpirun -n 4 neve_bench_write PLOTFILE FOLDER BOUND COVERED REPLICAS REPEATS
//
// The plotfile is read once and repeated REPLICAS times along each direction, every copy in memory of its
// own, so that a small sample makes a large write.
#include <mpi.h>

#include <algorithm>
#include <climits>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "bench/harness/timed.hpp"
#include "bench/io/must.hpp"
#include "bench/io/process_memory.hpp"
#include "io/plotfile/amrex_reader.hpp"
#include "neve/plotfile_writer.hpp"

namespace {

using neve::Box;
using neve::Hierarchy;
using neve::Level;
using neve::apps::median_of;
using neve::bench::must;
using neve::bench::number_argument;
using neve::bench::process_memory_bytes;
using neve::bench::reset_peak_memory;
using neve::bench::stop;

constexpr int max_replicas = 16;
constexpr int max_repeats = 1000;

int rank_of_world() {
  int rank = 0;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  return rank;
}

int ranks_of_world() {
  int ranks = 1;
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  return ranks;
}

void must_mpi(int code, const char* call) {
  if (code != MPI_SUCCESS) stop(neve::failure(std::string(call) + " failed"));
}

// Boxes of copy c of an original with n boxes are c*n ... c*n + n-1.
Hierarchy replicate(const Hierarchy& original, int replicas) {
  Hierarchy result = original;
  neve::IntVect copies{1, 1, 1};
  for (int d = 0; d < original.dims; ++d) {
    copies[d] = replicas;
    result.prob_hi[d] = original.prob_lo[d] + replicas * (original.prob_hi[d] - original.prob_lo[d]);
  }
  for (Level& level : result.levels) {
    const Box domain = level.domain;
    const std::vector<Box> boxes = level.boxes;
    level.boxes.clear();
    for (int32_t z = 0; z < copies[2]; ++z) {
      for (int32_t y = 0; y < copies[1]; ++y) {
        for (int32_t x = 0; x < copies[0]; ++x) {
          const neve::IntVect copy{x, y, z};
          for (Box box : boxes) {
            for (int d = 0; d < neve::max_dims; ++d) {
              const int32_t shift = copy[d] * static_cast<int32_t>(domain.size(d));
              box.lo[d] += shift;
              box.hi[d] += shift;
            }
            level.boxes.push_back(box);
          }
        }
      }
    }
    for (int d = 0; d < neve::max_dims; ++d) {
      level.domain.hi[d] = domain.lo[d] + copies[d] * static_cast<int32_t>(domain.size(d)) - 1;
    }
  }
  return result;
}

struct Input {
  std::vector<std::vector<std::byte>> values;
  std::vector<neve::LocalBox> boxes;
  uint64_t bytes = 0;
};

Input load_own_boxes(neve::PlotfileSource& source, const Hierarchy& hierarchy) {
  Input input;
  const auto owners = neve::distribute_boxes(hierarchy, ranks_of_world());
  const int components = static_cast<int>(hierarchy.components.size());
  for (int l = 0; l < static_cast<int>(hierarchy.levels.size()); ++l) {
    const int originals = static_cast<int>(source.hierarchy().levels[l].boxes.size());
    for (int b = 0; b < static_cast<int>(hierarchy.levels[l].boxes.size()); ++b) {
      if (owners[l][b] != rank_of_world()) continue;
      const Box& box = hierarchy.levels[l].boxes[b];
      const size_t component_bytes = static_cast<size_t>(box.cells()) * neve::dtype_bytes(hierarchy.dtype);
      std::vector<std::byte>& values = input.values.emplace_back(components * component_bytes);
      for (int c = 0; c < components; ++c) {
        must(source.read_box(l, b % originals, c, values.data() + c * component_bytes));
      }
      neve::FrameBox shape;
      for (int d = 0; d < neve::max_dims; ++d) shape.size[d] = box.size(d);
      input.boxes.push_back({l, b, neve::dense_box_data(values.data(), shape)});
      input.bytes += values.size();
    }
  }
  return input;
}

// One rank's equal share of a file's bytes.
struct Share {
  uint64_t begin = 0;
  std::vector<char> bytes;
};

Share read_share(const std::string& path) {
  const uint64_t size = std::filesystem::file_size(path);
  const uint64_t ranks = ranks_of_world();
  const uint64_t begin = size * rank_of_world() / ranks;
  const uint64_t end = size * (rank_of_world() + 1) / ranks;
  if (end - begin > INT_MAX) stop(neve::usage_error("a rank's share is over 2 GiB; use fewer REPLICAS"));
  Share share{begin, std::vector<char>(end - begin)};
  std::ifstream file(path, std::ios::binary);
  file.seekg(static_cast<std::streamoff>(begin));
  file.read(share.bytes.data(), static_cast<std::streamsize>(share.bytes.size()));
  if (!file) stop(neve::failure(path + ": cannot read back what was written"));
  return share;
}

// The least a parallel writer can do: create, one collective write, sync, close.
void write_plain(const std::string& path, const Share& share) {
  MPI_File file = MPI_FILE_NULL;
  must_mpi(MPI_File_open(MPI_COMM_WORLD, path.c_str(), MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY,
                         MPI_INFO_NULL, &file),
           "MPI_File_open");
  must_mpi(MPI_File_write_at_all(file, static_cast<MPI_Offset>(share.begin), share.bytes.data(),
                                 static_cast<int>(share.bytes.size()), MPI_BYTE, MPI_STATUS_IGNORE),
           "MPI_File_write_at_all");
  must_mpi(MPI_File_sync(file), "MPI_File_sync");
  must_mpi(MPI_File_close(&file), "MPI_File_close");
}

void remove_on_rank_0(const std::string& path) {
  if (rank_of_world() == 0) std::filesystem::remove_all(path);
  MPI_Barrier(MPI_COMM_WORLD);
}

uint64_t largest(uint64_t value) {
  MPI_Allreduce(MPI_IN_PLACE, &value, 1, MPI_UINT64_T, MPI_MAX, MPI_COMM_WORLD);
  return value;
}

struct Measured {
  neve::WriteReport report;  // of the last write
  std::vector<double> total, encode, place, write, plain, raw;
  uint64_t memory_above_input_bytes = 0;
};

// The three take turns, so that a disturbance of the machine meets all of them.
Measured measure(const Hierarchy& hierarchy, const Input& input, const std::string& folder,
                 const neve::WriteOptions& options, int repeats) {
  const std::string encoded_path = folder + "/encoded.h5";
  const std::string plain_path = folder + "/plain.bin";
  const std::string raw_path = folder + "/raw_plotfile";
  const auto world = must(neve::mpi::Comm::duplicate(MPI_COMM_WORLD));
  const auto timed = [&](const auto& work) {
    return must(neve::apps::timed(world, [&] {
      work();
      return neve::Status();
    }));
  };
  Measured found;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    reset_peak_memory();
    const uint64_t before_bytes = process_memory_bytes("VmRSS");
    found.total.push_back(timed([&] {
      found.report =
          must(neve::write_plotfile(MPI_COMM_WORLD, encoded_path, hierarchy, input.boxes, options));
    }));
    const uint64_t peak_bytes = process_memory_bytes("VmHWM");
    found.memory_above_input_bytes =
        std::max(found.memory_above_input_bytes, largest(peak_bytes - std::min(peak_bytes, before_bytes)));
    found.encode.push_back(found.report.plan_seconds + found.report.encode_seconds);
    found.place.push_back(found.report.place_seconds);
    found.write.push_back(found.report.write_seconds + found.report.sync_seconds);

    const Share share = read_share(encoded_path);
    found.plain.push_back(timed([&] { write_plain(plain_path, share); }));
    found.raw.push_back(
        timed([&] { must(neve::write_amrex_plotfile(MPI_COMM_WORLD, raw_path, hierarchy, input.boxes)); }));
    remove_on_rank_0(encoded_path);
    remove_on_rank_0(plain_path);
    remove_on_rank_0(raw_path);
  }
  return found;
}

void run(const std::string& plotfile, const std::string& folder, const neve::Bound& bound,
         neve::Covered covered, int replicas, int repeats) {
  auto source = must(neve::plotfile::open_amrex_plotfile(plotfile));
  const Hierarchy hierarchy = replicate(source->hierarchy(), replicas);
  const Input input = load_own_boxes(*source, hierarchy);
  neve::WriteOptions options;
  options.bound = bound;
  options.covered = covered;
  const Measured found = measure(hierarchy, input, folder, options, repeats);
  const uint64_t input_bytes = largest(input.bytes);
  if (rank_of_world() != 0) return;
  const nlohmann::json result = {
      {"ranks", ranks_of_world()},
      {"replicas", replicas},
      {"repeats", repeats},
      {"bound", neve::to_string(bound)},
      {"covered", neve::covered_name(covered)},
      {"raw_bytes", found.report.raw_bytes},
      {"stored_bytes", found.report.file_bytes},
      {"largest_rank_input_bytes", input_bytes},
      {"memory_above_input_bytes", found.memory_above_input_bytes},
      {"total_seconds", median_of(found.total)},
      {"plan_encode_seconds", median_of(found.encode)},
      {"place_seconds", median_of(found.place)},
      {"write_sync_seconds", median_of(found.write)},
      {"plain_mpi_io_seconds", median_of(found.plain)},
      {"raw_plotfile_seconds", median_of(found.raw)},
  };
  std::printf("%s\n", result.dump().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 7) {
    stop(neve::usage_error("usage: neve_bench_write PLOTFILE FOLDER BOUND COVERED REPLICAS REPEATS"));
  }
  run(argv[1], argv[2], must(neve::parse_bound(argv[3])), must(neve::parse_covered(argv[4])),
      number_argument(argv[5], "REPLICAS", max_replicas), number_argument(argv[6], "REPEATS", max_repeats));
  MPI_Finalize();
  return 0;
}
