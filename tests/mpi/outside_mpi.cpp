// SPDX-License-Identifier: BSD-3-Clause
// Calls before MPI_Init, on threads that may not call MPI, and after MPI_Finalize, by a program without
// mpirun: each is an error by name, and what outlives MPI_Finalize goes without a word on stderr.
#include <gtest/gtest.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <memory>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "neve/checkpoint.h"
#include "neve/checkpoint.hpp"
#include "neve/plotfile.h"
#include "neve/plotfile_reader.hpp"
#include "neve/plotfile_writer.hpp"
#include "neve/transfer.h"

namespace neve {
namespace {

int failures = 0;
int calls = 0;

void expect(bool is_right, const std::string& what) {
  if (is_right) return;
  ++failures;
  std::printf("FAILED: %s\n", what.c_str());
}

void refused(const char* function, const Status& status, std::string_view wanted) {
  ++calls;
  expect(status.code() == Code::usage && status.message().find(wanted) != std::string::npos,
         std::string(function) + ": code " + std::to_string(static_cast<int>(status.code())) + ", \"" +
             status.message() + "\" without \"" + std::string(wanted) + "\"");
}

// Of a C function that was called last.
void refused(const char* function, int code, std::string_view wanted) {
  refused(function, Status(static_cast<Code>(code), neve_last_error()), wanted);
}

struct Plot {
  Plot() {
    hierarchy.dims = 2;
    hierarchy.components = {"u"};
    hierarchy.levels.resize(1);
    hierarchy.levels[0].domain = {{0, 0, 0}, {7, 7, 0}};
    hierarchy.levels[0].boxes = {hierarchy.levels[0].domain};
    owned.resize(1);
    owned[0].data = {values.data(), 64, {1, 8, 64, 0}, nullptr};
  }
  Hierarchy hierarchy;
  std::vector<double> values = std::vector<double>(64, 2.5);
  std::vector<LocalBox> owned;
};

// Every function that calls MPI; `file` may be null.
void call_all(neve_mpi_file* file, std::string_view wanted) {
  const Plot plot;
  const char* const names[] = {"u"};
  neve_hierarchy* const h = neve_hierarchy_create(2, 8, 1, names);
  const int lo[] = {0, 0}, hi[] = {7, 7};
  expect(h != nullptr && neve_hierarchy_add_level(h, lo, hi, 0) == NEVE_OK,
         "a hierarchy is described without MPI");
  expect(neve_hierarchy_add_box(h, lo, hi, plot.values.data(), 0) == NEVE_OK, "so is its box");
  for (const MPI_Comm comm : {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL}) {
    std::array<float, 8> values{};
    const uint64_t counts[] = {8};
    neve_mpi_file* none = nullptr;
    refused("neve_write_plotfile", neve_write_plotfile(comm, "outside", h, nullptr), wanted);
    const neve_variable variable = {sizeof(neve_variable), "gas", h, 0, 0};
    refused("neve_write_checkpoint", neve_write_checkpoint(comm, "outside", 1, &variable, nullptr, nullptr),
            wanted);
    refused("neve_write_amrex_plotfile", neve_write_amrex_plotfile(comm, "outside", h), wanted);
    refused("neve_wait_for_writes", neve_wait_for_writes(comm), wanted);
    refused("wait_for_writes", wait_for_writes(comm), wanted);
    refused("neve_mpi_gather",
            neve_mpi_gather(values.data(), 8, MPI_FLOAT, values.data(), 0, comm, nullptr, nullptr), wanted);
    refused("neve_mpi_gatherv",
            neve_mpi_gatherv(values.data(), 8, MPI_FLOAT, values.data(), counts, nullptr, 0, comm, nullptr,
                             nullptr),
            wanted);
    refused("neve_mpi_allgather",
            neve_mpi_allgather(values.data(), 1, MPI_FLOAT, values.data(), comm, nullptr, nullptr), wanted);
    refused("neve_mpi_alltoallv",
            neve_mpi_alltoallv(values.data(), counts, nullptr, MPI_FLOAT, values.data(), counts, nullptr,
                               comm, nullptr, nullptr),
            wanted);
    refused("neve_mpi_bcast", neve_mpi_bcast(values.data(), 8, MPI_FLOAT, 0, comm, nullptr, nullptr), wanted);
    refused("neve_mpi_scatter",
            neve_mpi_scatter(values.data(), 1, MPI_FLOAT, values.data(), 0, comm, nullptr, nullptr), wanted);
    refused("neve_mpi_send", neve_mpi_send(values.data(), 8, MPI_FLOAT, 0, 0, comm, nullptr, nullptr),
            wanted);
    refused("neve_mpi_recv",
            neve_mpi_recv(values.data(), 8, MPI_FLOAT, 0, 0, comm, nullptr, nullptr, nullptr), wanted);
    refused("neve_mpi_file_open", neve_mpi_file_open(comm, "outside", NEVE_MPI_FILE_CREATE, &none), wanted);
    refused("write_plotfile", write_plotfile(comm, "outside", plot.hierarchy, plot.owned, {}).status(),
            wanted);
    refused("write_amrex_plotfile", write_amrex_plotfile(comm, "outside", plot.hierarchy, plot.owned),
            wanted);
    const std::vector<Variable> variables = {{"h", {"u"}}};
    const std::vector<std::vector<LocalBox>> boxes = {plot.owned};
    refused("write_checkpoint",
            write_checkpoint(comm, "outside", plot.hierarchy, variables, boxes, {}).status(), wanted);
  }
  neve_hierarchy_free(h);
  if (file == nullptr) return;
  std::array<float, 8> values{};
  refused("neve_mpi_file_read_at", neve_mpi_file_read_at(file, 0, values.data(), 8, MPI_FLOAT, nullptr),
          wanted);
  refused("neve_mpi_file_read_at_all",
          neve_mpi_file_read_at_all(file, 0, values.data(), 8, MPI_FLOAT, nullptr), wanted);
  refused("neve_mpi_file_write_at",
          neve_mpi_file_write_at(file, 0, values.data(), 8, MPI_FLOAT, nullptr, nullptr), wanted);
  refused("neve_mpi_file_write_at_all",
          neve_mpi_file_write_at_all(file, 0, values.data(), 8, MPI_FLOAT, nullptr, nullptr), wanted);
  refused("neve_mpi_file_sync", neve_mpi_file_sync(file), wanted);
}

struct Open {
  std::unique_ptr<PlotfileSource> source;
  std::unique_ptr<Checkpoint> checkpoint;
};

template <class T>
T taken(Result<T> made, const char* what) {
  expect(made.ok(), std::string(what) + ": " + made.status().message());
  if (!made.ok()) std::exit(1);
  return std::move(*made);
}

Open write_and_open(const std::string& folder) {
  const Plot plot;
  expect(write_plotfile(MPI_COMM_SELF, folder + "/plot", plot.hierarchy, plot.owned, {}).ok(),
         "writes a plotfile");
  const std::vector<Variable> variables = {{"h", {"u"}}};
  const std::vector<std::vector<LocalBox>> boxes = {plot.owned};
  expect(write_checkpoint(MPI_COMM_SELF, folder + "/state", plot.hierarchy, variables, boxes, {}).ok(),
         "writes a checkpoint");
  return {taken(open_plotfile(folder + "/plot"), "opens a plotfile"),
          taken(open_checkpoint(folder + "/state"), "opens a checkpoint")};
}

void read_after(Open& open, const std::string& folder) {
  std::vector<std::byte> out(64 * sizeof(double));
  refused("PlotfileSource::read_box", open.source->read_box(0, 0, 0, out.data()), "MPI_Finalize");
  refused("PlotfileSource::left_out", open.source->left_out(0, 0, 0).status(), "MPI_Finalize");
  refused("Checkpoint::read_box", open.checkpoint->read_box(0, 0, 0, 0, out.data()), "MPI_Finalize");
  // Reading needs no MPI, and HDF5 begins anew. Its identifiers do, too: the old readers close none of them.
  auto again = taken(open_plotfile(folder + "/plot"), "opens a plotfile after MPI_Finalize");
  open = {};
  expect(again->read_box(0, 0, 0, out.data()).ok(), "reads it");
  double first = 0;
  std::memcpy(&first, out.data(), sizeof first);
  expect(first == 2.5, "finds its value");
}

int run(const std::string& folder) {
  call_all(nullptr, "not initialized");
  int level = 0;
  MPI_Init_thread(nullptr, nullptr, MPI_THREAD_FUNNELED, &level);
  const std::string path = folder + "/frames";
  std::array<float, 8> values{1, 2, 3};
  neve_mpi_file* file = nullptr;
  expect(neve_mpi_file_open(MPI_COMM_SELF, path.c_str(), NEVE_MPI_FILE_CREATE, &file) == NEVE_OK,
         "opens a file");
  expect(neve_mpi_file_write_at_all(file, 0, values.data(), 8, MPI_FLOAT, nullptr, nullptr) == NEVE_OK,
         "writes it");
  if (level < MPI_THREAD_SERIALIZED) {
    std::thread([&] { call_all(file, "MPI_THREAD_FUNNELED"); }).join();
  }
  expect(neve_mpi_file_close(&file) == NEVE_OK, "closes it");
  Open open = write_and_open(folder);
  expect(neve_mpi_file_open(MPI_COMM_SELF, path.c_str(), NEVE_MPI_FILE_READ, &file) == NEVE_OK,
         "opens a file to read");
  MPI_Finalize();
  call_all(file, "finalized");
  uint64_t count = 0;
  expect(neve_mpi_file_describe(file, nullptr, &count) == NEVE_OK && count == 8, "describes what it has");
  refused("neve_mpi_file_close", neve_mpi_file_close(&file), "finalized");
  expect(file == nullptr, "the file is gone");
  read_after(open, folder);
  std::printf("outside MPI: %d calls, %d failures\n", calls, failures);
  return failures == 0 ? 0 : 1;
}

// In a process of its own, which initializes MPI and ends; what it printed on stderr, to its very end.
int exit_code_of(const std::string& folder, std::string& said) {
  int ends[2];
  if (pipe(ends) != 0) return -1;
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) {
    dup2(ends[1], STDERR_FILENO);
    close(ends[0]);
    close(ends[1]);
    std::exit(run(folder));
  }
  close(ends[1]);
  std::array<char, 4096> part{};
  for (ssize_t got = 0; (got = read(ends[0], part.data(), part.size())) > 0;) {
    said.append(part.data(), static_cast<size_t>(got));
  }
  close(ends[0]);
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

TEST(OutsideMpi, CallsAreErrorsByNameAndReadersEndInSilence) {
  const std::string folder =
      std::filesystem::temp_directory_path() / ("neve_outside_" + std::to_string(getpid()));
  std::filesystem::create_directory(folder);
  std::string said;
  EXPECT_EQ(exit_code_of(folder, said), 0);
  EXPECT_EQ(said, "");
  std::filesystem::remove_all(folder);
}

}  // namespace
}  // namespace neve
