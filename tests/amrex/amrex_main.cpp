// SPDX-License-Identifier: BSD-3-Clause
// GoogleTest on all ranks of AMReX: rank 0 prints as usual, the others only what fails on them.
#include <AMReX.H>
#include <AMReX_ParallelDescriptor.H>
#include <AMReX_ParmParse.H>
#include <gtest/gtest.h>

#include <cstdio>
#include <cstdlib>
#include <memory>

namespace {

class FailurePrinter : public testing::EmptyTestEventListener {
 public:
  void OnTestPartResult(const testing::TestPartResult& result) override {
    if (!result.failed()) return;
    std::fprintf(stderr, "[rank %d] %s:%d: %s\n", amrex::ParallelDescriptor::MyProc(),
                 result.file_name() == nullptr ? "?" : result.file_name(), result.line_number(),
                 result.message());
  }
};

// amrex::Abort throws, so that a test can see it. Tests fill and read MultiFabs in loops of the host, but for
// those that ask for a device's memory.
void set_parameters() {
  amrex::ParmParse parameters("amrex");
  parameters.add("throw_exception", 1);
  parameters.add("signal_handling", 0);
  parameters.add("verbose", 0);
  parameters.add("the_arena_is_managed", 1);
  if (std::getenv("NEVE_TEST_ASYNC_OUT") != nullptr) parameters.add("async_out", 1);
}

}  // namespace

int main(int argc, char** argv) {
  testing::InitGoogleTest(&argc, argv);
  argc = 1;  // the rest is not for AMReX, which would take it for an inputs file
  amrex::Initialize(argc, argv, true, MPI_COMM_WORLD, set_parameters);
  testing::TestEventListeners& listeners = testing::UnitTest::GetInstance()->listeners();
  if (!amrex::ParallelDescriptor::IOProcessor()) {
    delete listeners.Release(listeners.default_result_printer());
    listeners.Append(std::make_unique<FailurePrinter>().release());
  }
  int failed = RUN_ALL_TESTS();
  amrex::ParallelDescriptor::ReduceIntMax(failed);
  amrex::Finalize();
  return failed;
}
