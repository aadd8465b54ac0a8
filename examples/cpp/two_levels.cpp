// SPDX-License-Identifier: BSD-3-Clause
// A two-level hierarchy written from all ranks: mpirun -n 2 ./two_levels_cpp two_levels.h5
#include <neve/plotfile_writer.hpp>

#include <cmath>
#include <cstdio>

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);

  neve::Hierarchy h;
  h.components = {"density"};
  h.time = 0.5;
  const neve::Level coarse{{{0, 0, 0}, {31, 31, 31}},
                           {{{0, 0, 0}, {31, 31, 15}}, {{0, 0, 16}, {31, 31, 31}}},
                           {2, 2, 2},
                           {1. / 32, 1. / 32, 1. / 32},
                           7,
                           h.time};
  const neve::Level fine{{{0, 0, 0}, {63, 63, 63}},
                         {{{16, 16, 16}, {47, 47, 47}}},
                         {1, 1, 1},
                         {1. / 64, 1. / 64, 1. / 64},
                         14,
                         h.time};
  h.levels = {coarse, fine};

  // Whose box is whose is the simulation's choice; here neve deals them out.
  const auto owner = neve::distribute_boxes(h, ranks);
  std::vector<std::vector<double>> values;
  std::vector<neve::LocalBox> mine;
  for (int l = 0; l < 2; ++l) {
    for (int b = 0; b < int(h.levels[l].boxes.size()); ++b) {
      if (owner[l][b] != rank) continue;
      const neve::Box box = h.levels[l].boxes[b];
      auto& cells = values.emplace_back();
      for (int z = box.lo[2]; z <= box.hi[2]; ++z)
        for (int y = box.lo[1]; y <= box.hi[1]; ++y)
          for (int x = box.lo[0]; x <= box.hi[0]; ++x)
            cells.push_back(std::sin(6 * (x + .5) * h.levels[l].dx[0]) *
                                std::cos(4 * (y + .5) * h.levels[l].dx[1]) +
                            (z + .5) * h.levels[l].dx[2]);
      mine.push_back({l, b, {cells.data(), box.cells(), {1, box.size(0), box.size(0) * box.size(1), 0}}});
    }
  }

  neve::WriteOptions options;
  options.bound = {neve::BoundMode::abs, 1e-4};
  const auto report =
      neve::write_plotfile(MPI_COMM_WORLD, argc > 1 ? argv[1] : "two_levels.h5", h, mine, options);
  if (rank == 0 && !report.ok()) std::fprintf(stderr, "%s\n", report.status().message().c_str());
  if (rank == 0 && report.ok())
    std::printf("%g times smaller\n", double(report->raw_bytes) / report->file_bytes);
  MPI_Finalize();
  return int(report.status().code());
}
