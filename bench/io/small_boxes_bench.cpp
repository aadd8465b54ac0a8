// SPDX-License-Identifier: BSD-3-Clause
// What small boxes cost: thread CPU time of writing a plotfile whose boxes are cut small, over that of
// encoding the same values as arrays at the same bound. One rank, one thread, effort fast. JSON on stdout.
//
//   mpirun -n 1 neve_bench_small_boxes PLOTFILE FOLDER BOUND COVERED BOX_CELLS REPEATS
#include <mpi.h>

#include <algorithm>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <tuple>
#include <vector>

#include "bench/harness/median.hpp"
#include "bench/io/must.hpp"
#include "core/amr/morton.hpp"
#include "core/amr/rect_box.hpp"
#include "core/threads/thread_clock.hpp"
#include "io/plotfile/amrex_reader.hpp"
#include "neve/frame.hpp"
#include "neve/plotfile_writer.hpp"

namespace {

using neve::Box;
using neve::Hierarchy;
using neve::Level;
using neve::thread_time_ns;
using neve::apps::median_of;
using neve::bench::must;
using neve::bench::number_argument;

constexpr int brick_cells = 8;  // of a side; the boxes of the plotfile are made of such cubes
constexpr int max_box_cells = 1024;
constexpr int max_repeats = 1000;

// The box in pieces of at most `cells` a side.
std::vector<Box> cut_box(const Box& box, int cells) {
  std::vector<Box> pieces;
  for (int z = box.lo[2]; z <= box.hi[2]; z += cells) {
    for (int y = box.lo[1]; y <= box.hi[1]; y += cells) {
      for (int x = box.lo[0]; x <= box.hi[0]; x += cells) {
        const Box whole{{x, y, z}, {x + cells - 1, y + cells - 1, z + cells - 1}};
        pieces.push_back(neve::intersect(box, whole));
      }
    }
  }
  return pieces;
}

// One component of `piece`, which lies in `box`; both x fastest.
void copy_piece(const double* values, const Box& box, const Box& piece, const Box& place, double* out,
                const Box& all) {
  const int64_t shift[3] = {place.lo[0] - piece.lo[0], place.lo[1] - piece.lo[1], place.lo[2] - piece.lo[2]};
  for (int64_t z = piece.lo[2]; z <= piece.hi[2]; ++z) {
    for (int64_t y = piece.lo[1]; y <= piece.hi[1]; ++y) {
      std::memcpy(out + neve::amr::cell_number(all, piece.lo[0] + shift[0], y + shift[1], z + shift[2]),
                  values + neve::amr::cell_number(box, piece.lo[0], y, z),
                  static_cast<size_t>(piece.size(0)) * sizeof(double));
    }
  }
}

Box bounds_of(const std::vector<Box>& boxes) {
  Box bounds = boxes[0];
  for (const Box& box : boxes) {
    for (int d = 0; d < 3; ++d) {
      bounds.lo[d] = std::min(bounds.lo[d], box.lo[d]);
      bounds.hi[d] = std::max(bounds.hi[d], box.hi[d]);
    }
  }
  return bounds;
}

// Where bricks stand in an array: in their true places if they fill a rectangle, else in Morton order in the
// rectangle nearest a cube that they fill.
std::vector<Box> places_of(const std::vector<Box>& bricks) {
  const auto count = static_cast<int>(bricks.size());
  if (bounds_of(bricks).cells() == bricks[0].cells() * count) return bricks;
  int sides[3] = {count, 1, 1};
  for (int x = 1; x <= count; ++x) {
    for (int y = 1; x * y <= count; ++y) {
      const int z = count / (x * y);
      if (x * y * z == count && x + y + z < sides[0] + sides[1] + sides[2])
        std::tie(sides[0], sides[1], sides[2]) = std::tuple(x, y, z);
    }
  }
  std::vector<Box> places(bricks.size());
  int number = 0;
  for (const int brick : neve::amr::morton_order(bricks)) {
    const int at[3] = {number % sides[0], number / sides[0] % sides[1], number / (sides[0] * sides[1])};
    Box& place = places[static_cast<size_t>(brick)];
    for (int d = 0; d < 3; ++d) {
      place.lo[d] = at[d] * brick_cells;
      place.hi[d] = place.lo[d] + brick_cells - 1;
    }
    ++number;
  }
  return places;
}

struct Array {
  std::vector<uint64_t> shape;
  std::vector<double> values;
};

struct Input {
  Hierarchy hierarchy;  // with small boxes
  std::vector<std::vector<double>> values;
  std::vector<neve::LocalBox> boxes;
  std::vector<Array> arrays;  // of each level and component
  uint64_t bytes = 0;
};

std::vector<Box> bricks_of(const Level& level) {
  std::vector<Box> bricks;
  for (const Box& box : level.boxes) {
    for (const Box& brick : cut_box(box, brick_cells)) {
      if (brick.cells() != brick_cells * brick_cells * brick_cells) {
        neve::bench::stop(
            neve::usage_error("PLOTFILE has boxes that are not made of cubes of 8 cells a side"));
      }
      bricks.push_back(brick);
    }
  }
  return bricks;
}

// Every small box in memory of its own, and the arrays.
void load_level(neve::PlotfileSource& source, int number, int box_cells, Input& input) {
  const Level& level = source.hierarchy().levels[static_cast<size_t>(number)];
  const size_t components = source.hierarchy().components.size();
  Level& cut = input.hierarchy.levels[static_cast<size_t>(number)];
  cut.boxes.clear();
  const std::vector<Box> bricks = bricks_of(level);
  const std::vector<Box> places = places_of(bricks);
  const Box all = bounds_of(places);
  const Array empty{{static_cast<uint64_t>(all.size(2)), static_cast<uint64_t>(all.size(1)),
                     static_cast<uint64_t>(all.size(0))},
                    std::vector<double>(static_cast<size_t>(all.cells()))};
  std::vector<Array> arrays(components, empty);
  size_t first_brick = 0;
  for (size_t b = 0; b < level.boxes.size(); ++b) {
    const Box& box = level.boxes[b];
    const std::vector<Box> pieces = cut_box(box, box_cells);
    const size_t end_brick = first_brick + cut_box(box, brick_cells).size();
    const size_t first = input.values.size();
    for (const Box& piece : pieces) {
      input.values.emplace_back(components * static_cast<size_t>(piece.cells()));
      cut.boxes.push_back(piece);
    }
    std::vector<double> values(static_cast<size_t>(box.cells()));
    for (size_t c = 0; c < components; ++c) {
      must(source.read_box(number, static_cast<int>(b), static_cast<int>(c),
                           reinterpret_cast<std::byte*>(values.data())));
      for (size_t p = 0; p < pieces.size(); ++p) {
        const Box& piece = pieces[p];
        copy_piece(values.data(), box, piece, piece,
                   input.values[first + p].data() + c * static_cast<size_t>(piece.cells()), piece);
      }
      for (size_t k = first_brick; k < end_brick; ++k)
        copy_piece(values.data(), box, bricks[k], places[k], arrays[c].values.data(), all);
    }
    first_brick = end_brick;
  }
  for (Array& array : arrays) input.arrays.push_back(std::move(array));
}

Input load(neve::PlotfileSource& source, int box_cells) {
  if (source.hierarchy().dtype != neve::DType::f64 || source.hierarchy().dims != 3) {
    neve::bench::stop(neve::usage_error("PLOTFILE must have three dimensions and float64 values"));
  }
  Input input;
  input.hierarchy = source.hierarchy();
  const auto levels = static_cast<int>(input.hierarchy.levels.size());
  for (int l = 0; l < levels; ++l) load_level(source, l, box_cells, input);
  size_t number = 0;
  for (int l = 0; l < levels; ++l) {
    const std::vector<Box>& boxes = input.hierarchy.levels[static_cast<size_t>(l)].boxes;
    for (int b = 0; b < static_cast<int>(boxes.size()); ++b, ++number) {
      neve::FrameBox shape;
      for (int d = 0; d < 3; ++d) shape.size[static_cast<size_t>(d)] = boxes[static_cast<size_t>(b)].size(d);
      input.boxes.push_back({l, b, neve::dense_box_data(input.values[number].data(), shape), {}});
      input.bytes += input.values[number].size() * sizeof(double);
    }
  }
  return input;
}

nlohmann::json measure(const Input& input, const std::string& folder, const neve::WriteOptions& options,
                       int repeats) {
  const std::string path = folder + "/small_boxes.h5";
  neve::ArrayOptions array_options;
  array_options.bound = options.bound;
  array_options.encode = options.encode;
  std::vector<double> write, array;
  neve::WriteReport report;
  uint64_t array_bytes = 0;
  for (int repeat = 0; repeat < repeats; ++repeat) {
    const uint64_t begin_ns = thread_time_ns();
    report = must(neve::write_plotfile(MPI_COMM_WORLD, path, input.hierarchy, input.boxes, options));
    const uint64_t written_ns = thread_time_ns();
    array_bytes = 0;
    for (const Array& each : input.arrays) {
      array_bytes +=
          must(neve::encode_array(neve::DType::f64, each.shape, each.values.data(), array_options)).size();
    }
    write.push_back(1e-9 * static_cast<double>(written_ns - begin_ns));
    array.push_back(1e-9 * static_cast<double>(thread_time_ns() - written_ns));
    std::filesystem::remove(path);
  }
  return {
      {"boxes", input.boxes.size()},           {"raw_bytes", input.bytes},
      {"stored_bytes", report.file_bytes},     {"array_bytes", array_bytes},
      {"write_cpu_seconds", median_of(write)}, {"array_cpu_seconds", median_of(array)},
  };
}

void run(char** argv) {
  auto source = must(neve::plotfile::open_amrex_plotfile(argv[1]));
  neve::WriteOptions options;
  options.bound = must(neve::parse_bound(argv[3]));
  options.covered = must(neve::parse_covered(argv[4]));
  options.encode.effort = neve::Effort::fast;
  options.encode.threads = 1;
  const int box_cells = number_argument(argv[5], "BOX_CELLS", max_box_cells);
  const int repeats = number_argument(argv[6], "REPEATS", max_repeats);
  nlohmann::json result = measure(load(*source, box_cells), argv[2], options, repeats);
  result["box_cells"] = box_cells;
  result["covered"] = neve::covered_name(options.covered);
  std::printf("%s\n", result.dump().c_str());
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  if (argc != 7) {
    neve::bench::stop(
        neve::usage_error("usage: neve_bench_small_boxes PLOTFILE FOLDER BOUND COVERED BOX_CELLS REPEATS"));
  }
  run(argv);
  MPI_Finalize();
  return 0;
}
