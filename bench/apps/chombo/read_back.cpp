// SPDX-License-Identifier: BSD-3-Clause
#include "bench/apps/chombo/read_back.hpp"

#include "bench/apps/chombo/file_reader.hpp"
#include "bench/harness/timed.hpp"

namespace neve::chombo {

Result<double> read_back(const mpi::Comm& comm, const Contents& contents, const Way& way,
                         const WriteCase& how, const std::string& path) {
  return apps::timed_alone(comm, "reading back", [&]() -> Status {
    NEVE_ASSIGN(FileReader reader, FileReader::open(contents, way, how, path));
    return reader.for_each_box(
        [&](size_t level, size_t box) { return contents.owners()[level][box] == comm.rank(); },
        [](size_t, const Box&, size_t, const std::vector<double>&) {});
  });
}

}  // namespace neve::chombo
