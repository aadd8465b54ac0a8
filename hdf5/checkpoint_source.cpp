// SPDX-License-Identifier: BSD-3-Clause
#include "hdf5/checkpoint_source.hpp"

#include <fmt/format.h>

#include <deque>

#include "hdf5/errors.hpp"
#include "hdf5/filter.hpp"
#include "hdf5/frame_reader.hpp"
#include "hdf5/layout_names.hpp"
#include "hdf5/plain_box.hpp"
#include "hdf5/plotfile_header.hpp"

namespace neve {
namespace {

class Hdf5Checkpoint : public Checkpoint {
 public:
  explicit Hdf5Checkpoint(hdf5::CheckpointHeader header) : header_(std::move(header)) {
    for (const hdf5::PlotfileHeader& data : header_.data) frames_.emplace_back(data);
  }
  Hdf5Checkpoint(const Hdf5Checkpoint&) = delete;
  Hdf5Checkpoint& operator=(const Hdf5Checkpoint&) = delete;

  const Hierarchy& hierarchy() const override { return header_.hierarchy; }
  const std::vector<Variable>& variables() const override { return header_.variables; }

  Status read_box(int variable, int level, int box, int component, std::byte* out) override {
    const hdf5::QuietErrors quiet;
    NEVE_TRY(check("variable", variable, header_.variables.size()));
    const auto v = static_cast<size_t>(variable);
    NEVE_TRY(check("component", component, header_.variables[v].components.size()));
    NEVE_TRY(check("level", level, header_.hierarchy.levels.size()));
    const auto l = static_cast<size_t>(level);
    NEVE_TRY(check("box", box, header_.hierarchy.levels[l].boxes.size()));
    const auto b = static_cast<size_t>(box);
    if (!header_.data[v].levels[l].holds_frames()) {
      return hdf5::read_plain_box(header_.data[v], l, b, component, out);
    }
    return frames_[v].read(l, b, component, out);
  }

 private:
  static Status check(const char* what, int asked, size_t count) {
    if (asked >= 0 && static_cast<size_t>(asked) < count) return {};
    return usage_error(fmt::format("{} {} asked for; 0 to {} exist", what, asked, count - 1));
  }

  hdf5::CheckpointHeader header_;
  std::deque<hdf5::FrameReader> frames_;  // they refer to header_, and do not move
};

}  // namespace

Result<std::unique_ptr<Checkpoint>> open_checkpoint(const std::string& path) {
  NEVE_TRY(hdf5::register_filter());
  NEVE_ASSIGN(hdf5::CheckpointHeader header, hdf5::read_checkpoint_header(path));
  return std::unique_ptr<Checkpoint>(std::make_unique<Hdf5Checkpoint>(std::move(header)));
}

namespace hdf5 {

Result<CheckpointStorage> describe_checkpoint(const std::string& path) {
  NEVE_ASSIGN(CheckpointHeader header, read_checkpoint_header(path));
  CheckpointStorage storage;
  storage.file_bytes = header.data.front().file_bytes;
  for (size_t v = 0; v < header.variables.size(); ++v) {
    VariableStorage& of = storage.variables.emplace_back();
    of.variable = std::move(header.variables[v]);
    of.hierarchy = std::move(header.data[v].hierarchy);
    for (LevelData& data : header.data[v].levels) of.levels.push_back(level_storage(data));
  }
  storage.hierarchy = std::move(header.hierarchy);
  return storage;
}

bool is_checkpoint(const std::string& path) {
  const QuietErrors quiet;
  const Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, H5P_DEFAULT), H5Fclose);
  const std::string variables = std::string(neve_name) + "/" + variables_name;
  return file.valid() && H5Lexists(file.id(), neve_name, H5P_DEFAULT) > 0 &&
         H5Lexists(file.id(), variables.c_str(), H5P_DEFAULT) > 0;
}

}  // namespace hdf5
}  // namespace neve
