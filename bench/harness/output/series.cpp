// SPDX-License-Identifier: BSD-3-Clause
#include "bench/harness/output/series.hpp"

#include <fmt/format.h>

namespace neve::apps {

Result<std::vector<XdmfFile>> FileSeries::store(const mpi::Comm& comm, int step,
                                                std::span<const ArrayPart> parts,
                                                const StoreOptions& options) {
  std::vector<ArraySpec> specs;
  for (const ArrayPart& part : parts) specs.push_back(part.spec);
  std::vector<XdmfFile> stored;
  for (size_t o = 0; o < outputs_.size(); ++o) {
    const Output& output = outputs_[o];
    const std::string name = fmt::format("{}_{}_{:06}", stem_, output.name, step);
    NEVE_TRY(apps::store(comm, output, name, parts, options, results_[o]));
    stored.push_back({output, path_of(output, options.folder, name), specs, static_cast<double>(step)});
  }
  return stored;
}

Status check_outputs(std::span<const Output> outputs) {
  return outputs.empty() ? usage_error("no outputs are given; at least one is needed") : Status();
}

}  // namespace neve::apps
