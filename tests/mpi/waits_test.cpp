// SPDX-License-Identifier: BSD-3-Clause
// How often ranks wait for each other in a write, counted where MPI is called: two exchanges before the put,
// whatever the number of fields and boxes. No wait for an exchange keeps the processor.
#include <fcntl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <map>
#include <string>

#include "neve/checkpoint.hpp"
#include "parallel/comm/kept_comm.hpp"
#include "tests/mpi/generated.hpp"

namespace {

// Calls since the counting began, by name; `before_put`: when the first of this rank's bytes was to be
// placed.
struct Waits {
  bool are_counted = false;
  std::map<std::string, int> calls, before_put;
};
Waits& waits() {
  static Waits all;
  return all;
}
void count(const char* name) {
  if (waits().are_counted) ++waits().calls[name];
}

}  // namespace

// MPI's own functions are weak: these take their places in this program.
extern "C" {
int MPI_Allreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  count("allreduce that keeps the processor");
  return PMPI_Allreduce(in, out, n, type, op, comm);
}
int MPI_Iallreduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                   MPI_Request* request) {
  count("allreduce");
  return PMPI_Iallreduce(in, out, n, type, op, comm, request);
}
int MPI_Iexscan(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm,
                MPI_Request* request) {
  count("exscan, posted with an allreduce");
  return PMPI_Iexscan(in, out, n, type, op, comm, request);
}
int MPI_Igatherv(const void* in, int n, MPI_Datatype type, void* out, const int* counts, const int* starts,
                 MPI_Datatype out_type, int root, MPI_Comm comm, MPI_Request* request) {
  count("gather that nobody waits for");
  return PMPI_Igatherv(in, n, type, out, counts, starts, out_type, root, comm, request);
}
int MPI_Bcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm) {
  count("bcast that keeps the processor");
  return PMPI_Bcast(data, n, type, root, comm);
}
int MPI_Ibcast(void* data, int n, MPI_Datatype type, int root, MPI_Comm comm, MPI_Request* request) {
  count("bcast");
  return PMPI_Ibcast(data, n, type, root, comm, request);
}
int MPI_Wait(MPI_Request* request, MPI_Status* status) {
  count("wait that keeps the processor");
  return PMPI_Wait(request, status);
}
int MPI_Gatherv(const void* in, int n, MPI_Datatype type, void* out, const int* counts, const int* starts,
                MPI_Datatype out_type, int root, MPI_Comm comm) {
  count("gatherv");
  return PMPI_Gatherv(in, n, type, out, counts, starts, out_type, root, comm);
}
int MPI_Scatterv(const void* in, const int* counts, const int* starts, MPI_Datatype type, void* out, int n,
                 MPI_Datatype out_type, int root, MPI_Comm comm) {
  count("scatterv");
  return PMPI_Scatterv(in, counts, starts, type, out, n, out_type, root, comm);
}
int MPI_Reduce(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, int root, MPI_Comm comm) {
  count("reduce");
  return PMPI_Reduce(in, out, n, type, op, root, comm);
}
int MPI_Exscan(const void* in, void* out, int n, MPI_Datatype type, MPI_Op op, MPI_Comm comm) {
  count("exscan");
  return PMPI_Exscan(in, out, n, type, op, comm);
}
int MPI_Allgather(const void* in, int n, MPI_Datatype type, void* out, int out_n, MPI_Datatype out_type,
                  MPI_Comm comm) {
  count("allgather");
  return PMPI_Allgather(in, n, type, out, out_n, out_type, comm);
}
int MPI_Barrier(MPI_Comm comm) {
  count("barrier");
  return PMPI_Barrier(comm);
}
int MPI_Comm_dup(MPI_Comm comm, MPI_Comm* copy) {
  count("duplication");
  return PMPI_Comm_dup(comm, copy);
}
// A put begins by taking its space.
int fallocate(int file, int mode, off_t begin, off_t bytes) {
  if (waits().before_put.empty()) waits().before_put = waits().calls;
  return static_cast<int>(syscall(SYS_fallocate, file, mode, begin, bytes));
}
}

namespace neve {
namespace {

using test::world_rank;
using test::world_size;
using Calls = std::map<std::string, int>;

// Of one write.
class WaitsOfAWrite : public testing::Test {
 protected:
  WaitsOfAWrite() : directory_(test::make_directory("waits")) {}
  ~WaitsOfAWrite() override { test::remove_directory(directory_); }

  template <class Write>
  void count_calls(const Write& write) {
    test::barrier();
    waits() = {};
    waits().are_counted = true;
    const Status status = write();
    waits().are_counted = false;
    ASSERT_TRUE(status.ok()) << status.message();
  }
  // Of the second write of the hierarchy, one time step on.
  void write_twice(Hierarchy h, const WriteOptions& options) {
    for (int step = 0; step < 2; ++step) {
      h.time = step;
      const test::OwnedBoxes owned(h, distribute_boxes(h, world_size()), world_rank());
      count_calls([&] { return write_plotfile(MPI_COMM_WORLD, path(), h, owned.boxes(), options).status(); });
    }
  }
  static Calls exchanges(int count) {
    return {
        {"allreduce", count}, {"exscan, posted with an allreduce", 1}, {"gather that nobody waits for", 1}};
  }
  // What a rank that puts something had waited for.
  static void expect_before_put(const Calls& calls) {
    if (!waits().before_put.empty()) {
      EXPECT_EQ(waits().before_put, calls);
    }
    Calls all = calls;
    ++all["allreduce"];  // all has been put
    ++all["bcast"];      // the file has its name
    EXPECT_EQ(waits().calls, all);
  }
  std::string path() const { return directory_ + "/file"; }

  std::string directory_;
};

Hierarchy of_fields(int fields, int box_cells) {
  Hierarchy h = test::make_hierarchy({.dims = 3, .box_cells = box_cells});
  h.components.clear();
  for (int c = 0; c < fields; ++c) h.components.push_back("field" + std::to_string(c));
  return h;
}

TEST_F(WaitsOfAWrite, AreTwoBeforeThePutWhereCellsAreKeptOrDropped) {
  for (const Covered covered : {Covered::keep, Covered::drop}) {
    for (const BoundMode mode : {BoundMode::abs, BoundMode::rel}) {
      for (const auto& [fields, box_cells] : {std::pair(1, 16), std::pair(7, 16), std::pair(2, 4)}) {
        WriteOptions options;
        options.covered = covered;
        options.bound = {mode, 1e-3};
        write_twice(of_fields(fields, box_cells), options);
        expect_before_put(exchanges(2));
      }
    }
  }
}

TEST_F(WaitsOfAWrite, AreOneMoreForALevelWhoseCellsTheValuesDecideOn) {
  for (const int fields : {1, 5}) {
    for (const Codec codec : {Codec::automatic, Codec::dual_quant}) {
      WriteOptions options = test::leaving_out();
      options.codec = codec;
      const Hierarchy h = of_fields(fields, 16);
      write_twice(h, options);
      expect_before_put(exchanges(2 + static_cast<int>(h.levels.size()) - 1));
    }
  }
}

TEST_F(WaitsOfAWrite, AreTwoForAllVariablesOfACheckpoint) {
  Hierarchy h = of_fields(3, 16);
  const std::vector<Variable> variables = {{"state", h.components}, {"more", h.components}};
  const test::OwnedBoxes owned(h, distribute_boxes(h, world_size()), world_rank());
  const std::vector<std::vector<LocalBox>> boxes = {owned.boxes(), owned.boxes()};
  for (int step = 0; step < 2; ++step)
    count_calls([&] { return write_checkpoint(MPI_COMM_WORLD, path(), h, variables, boxes, {}).status(); });
  expect_before_put(exchanges(2));
}

// Of which the copied step's second comes in the next call.
TEST_F(WaitsOfAWrite, AreTwoInAllWhereTheFileIsWrittenBehind) {
  for (const Behind behind : {Behind::encode, Behind::copy}) {
    WriteOptions options;
    options.behind = behind;
    for (int step = 0; step < 3; ++step) write_twice(of_fields(3, 16), options);
    EXPECT_EQ(waits().calls, exchanges(2)) << behind_name(behind);
    ASSERT_TRUE(wait_for_writes(MPI_COMM_WORLD).ok());
  }
}

// Who got the arguments out of something else, and failed at it on one rank, has no exchange of its own
// either.
TEST_F(WaitsOfAWrite, TellEverybodyOfAnErrorFromBeforeTheWrite) {
  const Hierarchy h = of_fields(1, 16);
  const test::OwnedBoxes owned(h, distribute_boxes(h, world_size()), world_rank());
  const bool fails = world_rank() == world_size() - 1;
  const Status given = fails ? usage_error("no values today") : Status();
  const Hierarchy none;
  const std::vector<LocalBox> no_boxes;
  const auto report = write_plotfile_if(MPI_COMM_WORLD, given, fails ? "" : path(), fails ? none : h,
                                        fails ? no_boxes : owned.boxes(), {});
  EXPECT_EQ(report.status().code(), Code::usage);
  EXPECT_NE(report.status().message().find("no values today"), std::string::npos)
      << report.status().message();
  EXPECT_EQ(report.status().message().find("disagree"), std::string::npos);
  test::barrier();
  EXPECT_TRUE(test::list_directory(directory_).empty());
  count_calls([&] { return write_plotfile_if(MPI_COMM_WORLD, {}, path(), h, owned.boxes(), {}).status(); });
  count_calls([&] { return write_plotfile_if(MPI_COMM_WORLD, {}, path(), h, owned.boxes(), {}).status(); });
  expect_before_put(exchanges(2));
}

// Whatever else the other ranks disagree about.
TEST_F(WaitsOfAWrite, ComeToOneVerdictWhereOneRankFailsAndTheOthersDisagree) {
  const Hierarchy h = of_fields(1, 16);
  const test::OwnedBoxes owned(h, distribute_boxes(h, world_size()), world_rank());
  for (int failing = 0; failing < world_size(); ++failing) {
    for (const char* what : {"path", "options", "hierarchy"}) {
      Hierarchy own = h;
      WriteOptions options;
      std::string own_path = path();
      const std::string number = std::to_string(world_rank());
      if (what == std::string("path")) own_path += number;
      if (what == std::string("options")) options.bound.value = 1 + world_rank();
      if (what == std::string("hierarchy")) own.components = {number};
      const Status given = world_rank() == failing ? failure("not today") : Status();
      const Status status =
          write_plotfile_if(MPI_COMM_WORLD, given, own_path, own, owned.boxes(), options).status();
      EXPECT_NE(status.message().find("not today"), std::string::npos) << what << ": " << status.message();
      EXPECT_TRUE(test::same_on_all_ranks(status.message())) << what;
      ASSERT_TRUE(write_plotfile(MPI_COMM_WORLD, path(), h, owned.boxes(), {}).ok());
    }
  }
}

// What is more than in any write before takes one more, once; so do the copy of the communicator and the plan
// of exchanges.
TEST_F(WaitsOfAWrite, TakeMoreTheFirstTimeAlone) {
  MPI_Comm comm = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &comm), MPI_SUCCESS);
  const Hierarchy h = of_fields(60, 4);
  const test::OwnedBoxes owned(h, distribute_boxes(h, world_size()), world_rank());
  std::vector<int> allreduces, duplications;
  for (int step = 0; step < 3; ++step) {
    count_calls([&] { return write_plotfile(comm, path(), h, owned.boxes(), test::leaving_out()).status(); });
    allreduces.push_back(waits().calls["allreduce"]);
    duplications.push_back(waits().calls["duplication"]);
  }
  EXPECT_GT(allreduces[0], allreduces[1]);
  EXPECT_EQ(allreduces[1], allreduces[2]);
  EXPECT_EQ(duplications, (std::vector<int>{1, 0, 0}));
  MPI_Comm_free(&comm);
}

// Missing values of several kinds in one field, on ranks that each see one of them, take another look.
TEST_F(WaitsOfAWrite, FillValuesThatTheRanksSeeDifferentlyAreStillFound) {
  Hierarchy h = of_fields(1, 16);
  h.levels.resize(1);
  h.levels[0].ref_ratio = {1, 1, 1};
  const auto owners = distribute_boxes(h, world_size());
  test::OwnedBoxes owned(h, owners, world_rank());
  for (size_t i = 0; i < owned.boxes().size(); ++i) {
    const LocalBox& local = owned.boxes()[i];
    const double fill = local.box % 2 == 0 ? 1e20 : 9.969209968386869e36;
    auto* const first = static_cast<double*>(const_cast<void*>(local.data.data));
    if (h.dtype == DType::f64) *first = fill;
  }
  WriteOptions options;
  options.bound = {BoundMode::rel, 1e-3};
  const auto report = write_plotfile(MPI_COMM_WORLD, path(), h, owned.boxes(), options);
  ASSERT_TRUE(report.ok()) << report.status().message();
  const FieldReport& field = report->levels[0].fields[0];
  ASSERT_TRUE(field.fill.has_value());
  EXPECT_EQ(*field.fill, 9.969209968386869e36);
  EXPECT_EQ(field.range_max, 1e20);  // which is no fill value beside the other
}

}  // namespace
}  // namespace neve
