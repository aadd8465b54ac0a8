// SPDX-License-Identifier: BSD-3-Clause
// A small code on mesh blocks, as Athena++ and Parthenon have them: mpirun -n 2 ./block_code 20
// Every block has ghost cells, and every field of a block memory of its own; Neve reads the values where they
// lie. Each tenth step goes into plt0010.h5, ... within a bound, the last one into restart.h5 to the bit. To
// go on, on any number of ranks: mpirun -n 4 ./block_code 40 restart.h5
#include <neve/plotfile_reader.hpp>
#include <neve/plotfile_writer.hpp>

#include <cmath>
#include <cstdio>
#include <string>

constexpr int side = 16, ghosts = 2, width = side + 2 * ghosts;

struct MeshBlock {
  int level, index;
  neve::Box cells;
  std::vector<std::vector<double>> fields;  // with ghost cells, x fastest

  static size_t at(int x, int y, int z) {  // of a cell, counted from the block's corner
    return (size_t(z + ghosts) * width + size_t(y + ghosts)) * width + size_t(x + ghosts);
  }
};

template <class Work>
void for_cells(const Work& work) {
  for (int z = 0; z < side; ++z)
    for (int y = 0; y < side; ++y)
      for (int x = 0; x < side; ++x) work(x, y, z);
}

// 4 x 2 x 2 blocks, and the middle of the domain in blocks half as large. The same on every rank.
neve::Hierarchy make_mesh() {
  neve::Hierarchy h;
  h.components = {"prey", "predators", "food"};
  h.prob_hi = {2, 1, 1};
  const auto add_level = [&](int level, int bx, int by, int bz, int blocks_x, int blocks) {
    neve::Level l;
    const int scale = side << level;
    l.domain = {{0, 0, 0}, {4 * scale - 1, 2 * scale - 1, 2 * scale - 1}};
    l.dx = {0.5 / scale, 0.5 / scale, 0.5 / scale};
    for (int k = bz; k < bz + blocks; ++k)
      for (int j = by; j < by + blocks; ++j)
        for (int i = bx; i < bx + blocks_x; ++i)
          l.boxes.push_back(
              {{side * i, side * j, side * k}, {side * (i + 1) - 1, side * (j + 1) - 1, side * (k + 1) - 1}});
    if (level == 0) l.ref_ratio = {2, 2, 2};
    h.levels.push_back(l);
  };
  add_level(0, 0, 0, 0, 4, 2);
  add_level(1, 3, 1, 1, 2, 2);
  return h;
}

// The blocks of this rank.
std::vector<MeshBlock> make_blocks(const neve::Hierarchy& h, int rank, int ranks) {
  const auto owner = neve::distribute_boxes(h, ranks);
  std::vector<MeshBlock> blocks;
  for (int l = 0; l < int(h.levels.size()); ++l) {
    for (int b = 0; b < int(h.levels[l].boxes.size()); ++b) {
      if (owner[l][b] != rank) continue;
      MeshBlock& block = blocks.emplace_back(MeshBlock{l, b, h.levels[l].boxes[b], {}});
      // Ghost cells hold what never belongs into a file.
      for (size_t f = 0; f < h.components.size(); ++f) block.fields.emplace_back(width * width * width, NAN);
      const double dx = h.levels[l].dx[0];
      for_cells([&](int x, int y, int z) {
        const size_t cell = MeshBlock::at(x, y, z);
        const double px = (block.cells.lo[0] + x + .5) * dx, py = (block.cells.lo[1] + y + .5) * dx,
                     pz = (block.cells.lo[2] + z + .5) * dx;
        block.fields[0][cell] = 1 + 0.5 * std::sin(6 * px) * std::cos(5 * py);
        block.fields[1][cell] = 0.7 + 0.2 * std::cos(4 * pz);
        block.fields[2][cell] = 1 + 0.3 * py * pz;
      });
    }
  }
  return blocks;
}

void advance(MeshBlock& block, double dt) {
  for_cells([&](int x, int y, int z) {
    const size_t cell = MeshBlock::at(x, y, z);
    double &prey = block.fields[0][cell], &predators = block.fields[1][cell], &food = block.fields[2][cell];
    const double eaten = prey * predators;
    prey += dt * (food * prey - eaten);
    predators += dt * (eaten - predators);
    food += dt * 0.1 * (1 - food * prey);
  });
}

// All ranks together. Prints what has become of it.
neve::Status write(const std::string& path, const neve::Hierarchy& h, const std::vector<MeshBlock>& blocks,
                   const neve::Bound& bound, int rank) {
  const size_t first = MeshBlock::at(0, 0, 0);
  std::vector<std::vector<int64_t>> offsets;  // of each block's fields; alive until the call returns
  std::vector<neve::LocalBox> mine;
  neve::Status given;
  for (const MeshBlock& block : blocks) {
    std::vector<const void*> begins;
    for (const auto& field : block.fields) begins.push_back(&field[first]);
    auto found = neve::component_offsets(neve::DType::f64, begins);
    if (!found.ok()) {
      given = found.status();
      break;
    }
    offsets.push_back(std::move(*found));
    neve::BoxData data;
    data.data = begins[0];
    data.stride = {1, width, width * width, 0};
    data.component_offsets = offsets.back().data();
    mine.push_back({block.level, block.index, data, {ghosts, ghosts, ghosts}});
  }
  neve::WriteOptions options;
  options.bound = bound;
  // `given`: an error of one rank becomes every rank's, and none waits for another.
  const auto report = neve::write_plotfile_if(MPI_COMM_WORLD, given, path, h, mine, options);
  if (!report.ok()) return report.status();
  if (rank != 0) return {};
  std::printf("%s: %.2f MB in %.3f MB\n", path.c_str(), report->raw_bytes / 1e6, report->file_bytes / 1e6);
  for (size_t l = 0; l < report->levels.size(); ++l)
    for (const neve::FieldReport& field : report->levels[l].fields)
      std::printf("  level %zu %-9s %6.1f times smaller, largest error %.2g of %.2g allowed\n", l,
                  field.name.c_str(), double(field.raw_bytes) / double(field.stored_bytes),
                  field.max_abs_error, field.bound_abs);
  return {};
}

// Each rank reads its own blocks, whoever has written them.
neve::Status read(const std::string& path, neve::Hierarchy& h, std::vector<MeshBlock>& blocks) {
  auto opened = neve::open_plotfile(path);
  if (!opened.ok()) return opened.status();
  neve::PlotfileSource& file = **opened;
  const neve::Hierarchy& there = file.hierarchy();
  bool is_ours = there.components == h.components && there.levels.size() == h.levels.size();
  for (size_t l = 0; is_ours && l < h.levels.size(); ++l)
    is_ours = there.levels[l].boxes == h.levels[l].boxes;
  if (!is_ours) return {neve::Code::usage, path + " has other fields or blocks than this run"};
  std::vector<double> values(side * side * side);
  for (MeshBlock& block : blocks) {
    for (int f = 0; f < int(block.fields.size()); ++f) {
      const auto status =
          file.read_box(block.level, block.index, f, reinterpret_cast<std::byte*>(values.data()));
      if (!status.ok()) return status;
      const double* next = values.data();
      for_cells([&](int x, int y, int z) { block.fields[f][MeshBlock::at(x, y, z)] = *next++; });
    }
  }
  h.time = there.time;
  for (size_t l = 0; l < h.levels.size(); ++l) h.levels[l].step = there.levels[l].step;
  return {};
}

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, ranks = 1;
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &ranks);
  const int last = argc > 1 ? std::atoi(argv[1]) : 20;
  const double dt = 0.05;

  neve::Hierarchy h = make_mesh();
  std::vector<MeshBlock> blocks = make_blocks(h, rank, ranks);
  neve::Status status;
  if (argc > 2) status = read(argv[2], h, blocks);
  // A rank that cannot read its blocks must not leave the others waiting.
  int failed = status.ok() ? 0 : 1;
  if (failed != 0) std::fprintf(stderr, "rank %d: %s\n", rank, status.message().c_str());
  MPI_Allreduce(MPI_IN_PLACE, &failed, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);

  for (int step = h.levels[0].step + 1; step <= last && failed == 0; ++step) {
    for (MeshBlock& block : blocks) advance(block, dt);
    h.time += dt;
    for (neve::Level& level : h.levels) {
      level.step = step;
      level.time = h.time;
    }
    if (step % 10 == 0) {
      char name[32];
      std::snprintf(name, sizeof name, "plt%04d.h5", step);
      status = write(name, h, blocks, {neve::BoundMode::rel, 1e-4}, rank);
    }
    if (step == last && status.ok())
      status = write("restart.h5", h, blocks, {neve::BoundMode::lossless, 0}, rank);
    if (!status.ok()) {  // the same on every rank
      if (rank == 0) std::fprintf(stderr, "%s\n", status.message().c_str());
      failed = 1;
    }
  }
  MPI_Finalize();
  return failed;
}
