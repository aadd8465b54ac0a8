// SPDX-License-Identifier: BSD-3-Clause
// Makes the fuzz targets' seeds. Usage: fuzz_make_seeds CHECKOUT OUT
#include <mpi.h>

#include <cstdio>
#include <cstdlib>

#include "tests/fuzz/seeds/seeds.hpp"

int main(int argc, char** argv) {
  if (argc != 3) {
    std::fprintf(stderr, "usage: fuzz_make_seeds CHECKOUT OUT\n");
    return 2;
  }
  ::setenv("OMPI_MCA_ess_singleton_isolated", "1", 0);
  MPI_Init(nullptr, nullptr);
  neve::fuzz::Places places(argv[1], argv[2]);
  neve::fuzz::make_frame_seeds(places);
  neve::fuzz::make_stream_seeds(places);
  neve::fuzz::make_frame_file_seeds(places);
  neve::fuzz::make_plotfile_seeds(places);
  neve::fuzz::make_data_file_seeds(places);
  neve::fuzz::make_text_seeds(places);
  neve::fuzz::make_trace_seeds(places);
  MPI_Finalize();
  return 0;
}
