// SPDX-License-Identifier: BSD-3-Clause
// Writes the steps of a simulation to argv[1], argv[3] of them, by the way argv[2] of WriteOptions::behind,
// or by way of argv[1]/stage where that is "staged": plotfiles, each third one a checkpoint. argv[1]/log
// tells what it has come to: "pid N" of each rank, and of rank 0 "waited N" when all files up to step N have
// been waited for.
#include <fcntl.h>
#include <mpi.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <string>

#include "neve/checkpoint.hpp"
#include "tests/mpi/generated.hpp"

namespace {

using neve::Status;

void say(const std::string& folder, const std::string& what, int number) {
  const int file = ::open((folder + "/log").c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC, 0600);
  const std::string line = what + " " + std::to_string(number) + "\n";
  if (file < 0 || ::write(file, line.data(), line.size()) < 0) std::abort();
  ::close(file);
}

Status write_step(const std::string& path, int number, const neve::WriteOptions& options) {
  neve::Hierarchy h = neve::test::make_hierarchy({.levels = 2});
  h.time = number;
  const int ranks = neve::test::world_size(), rank = neve::test::world_rank();
  const neve::test::OwnedBoxes owned(h, neve::distribute_boxes(h, ranks), rank);
  if (number % 3 != 2) return neve::write_plotfile(MPI_COMM_WORLD, path, h, owned.boxes(), options).status();
  neve::Variable state;
  state.name = "state";
  state.components = h.components;
  state.bound = {neve::BoundMode::rel, 1e-4};
  const std::vector<std::vector<neve::LocalBox>> boxes = {owned.boxes()};
  return neve::write_checkpoint(MPI_COMM_WORLD, path, h, {&state, 1}, boxes, options).status();
}

Status write_steps(const std::string& folder, const std::string& behind, int steps) {
  neve::WriteOptions options;
  if (behind == "staged") {
    options.stage = folder + "/stage";
  } else {
    NEVE_ASSIGN(options.behind, neve::parse_behind(behind));
  }
  say(folder, "pid", static_cast<int>(::getpid()));
  for (int number = 0; number < steps; ++number) {
    NEVE_TRY(write_step(folder + "/step" + std::to_string(number) + ".h5", number, options));
    ::usleep(5000);
    if (number % 8 != 7) continue;
    NEVE_TRY(neve::wait_for_writes(MPI_COMM_WORLD));
    if (neve::test::world_rank() == 0) say(folder, "waited", number);
  }
  return {};
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  const Status status = argc == 4 ? write_steps(argv[1], argv[2], std::atoi(argv[3]))
                                  : neve::usage_error("usage: write_steps FOLDER BEHIND STEPS");
  if (!status.ok()) std::fprintf(stderr, "[%d] %s\n", neve::test::world_rank(), status.message().c_str());
  MPI_Finalize();
  return static_cast<int>(status.code());
}
