// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/chombo/verify.hpp"

#include <fmt/format.h>
#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstring>
#include <vector>

#include "bench/apps/chombo/file_reader.hpp"

namespace neve::chombo {
namespace {

struct Verification {
  uint64_t values = 0, wrong = 0;
  double max_abs_error = 0;

  // Bit for bit where the bound is 0.
  void compare(const std::vector<double>& wanted, const std::vector<double>& got, double bound) {
    values += wanted.size();
    for (size_t i = 0; i < wanted.size(); ++i) {
      if (std::memcmp(&wanted[i], &got[i], sizeof(double)) == 0) continue;
      const double error = std::abs(wanted[i] - got[i]);
      max_abs_error = std::max(max_abs_error, error);
      if (!(error <= bound) || bound == 0) ++wrong;
    }
  }
};

// Of a component of a level; 0 where values are as they were.
double bound_of(const Contents& contents, const Way& way, const WriteReport& written, size_t level,
                size_t component) {
  if (!way.compresses) return 0;
  if (contents.file() == FileKind::plot) return written.levels[level].fields[component].bound_abs;
  size_t variable = 0;
  for (; component >= contents.groups()[variable].variable.components.size(); ++variable)
    component -= contents.groups()[variable].variable.components.size();
  return written.variables[variable].levels[level].fields[component].bound_abs;
}

Status verify_mine(const mpi::Comm& comm, const Contents& contents, const Way& way, const WriteCase& how,
                   const WriteReport& written, const std::string& path, Verification& mine) {
  NEVE_ASSIGN(FileReader reader, FileReader::open(contents, way, how, path));
  std::vector<double> wanted;
  return reader.for_each_box(
      // Every rank reads boxes that others wrote, where there are others.
      [&](size_t level, size_t box) {
        return (contents.owners()[level][box] + 1) % comm.size() == comm.rank();
      },
      [&](size_t level, const Box& cells, size_t component, const std::vector<double>& got) {
        wanted.resize(got.size());
        contents.fields().fill(static_cast<int>(level), cells, static_cast<int>(component), wanted.data());
        mine.compare(wanted, got, bound_of(contents, way, written, level, component));
      });
}

}  // namespace

Result<Verified> verify(const mpi::Comm& comm, const Contents& contents, const Way& way, const WriteCase& how,
                        const WriteReport& written, const std::string& path) {
  Verification mine;
  NEVE_TRY(mpi::agree(comm, mpi::guarded("verifying", [&] {
                        return verify_mine(comm, contents, way, how, written, path, mine);
                      })));
  std::array<uint64_t, 2> counts = {mine.values, mine.wrong};
  NEVE_TRY(mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, counts.data(), 2, MPI_UINT64_T, MPI_SUM, comm.get()),
                           "merging of what was verified"));
  NEVE_TRY(
      mpi::mpi_status(MPI_Allreduce(MPI_IN_PLACE, &mine.max_abs_error, 1, MPI_DOUBLE, MPI_MAX, comm.get()),
                      "merging of errors"));
  if (counts[1] == 0) return Verified{counts[0], mine.max_abs_error};
  return Status{Code::bound_violated,
                fmt::format("{}: {} of {} values read back differ from what was written (largest error {})",
                            path, counts[1], counts[0], mine.max_abs_error)};
}

}  // namespace neve::chombo
