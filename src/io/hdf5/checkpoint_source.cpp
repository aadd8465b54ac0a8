// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/checkpoint_source.hpp"

#include <fmt/format.h>

#include <deque>

#include "core/status/guarded.hpp"
#include "io/hdf5/errors.hpp"
#include "io/hdf5/filter.hpp"
#include "io/hdf5/frame_reader.hpp"
#include "io/hdf5/layout_names.hpp"
#include "io/hdf5/plain_box.hpp"
#include "io/hdf5/plotfile_header.hpp"

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
  uint64_t place(int variable, int level, int box) const override {
    if (variable < 0 || static_cast<size_t>(variable) >= header_.data.size()) return 0;
    return hdf5::place_of(header_.data[static_cast<size_t>(variable)], level, box);
  }
  void expect_all() override {
    expects_all_ = true;
    for (hdf5::FrameReader& frames : frames_) frames.expect_all();
  }

  Status read_box(int variable, int level, int box, int component, std::byte* out) override {
    return guarded("reading a box", [&]() -> Status {
      const hdf5::QuietErrors quiet;
      NEVE_TRY(hdf5::check_alive(header_.file));
      return read(variable, level, box, component, out);
    });
  }

 private:
  Status read(int variable, int level, int box, int component, std::byte* out) {
    NEVE_TRY(check("variable", variable, header_.variables.size()));
    const auto v = static_cast<size_t>(variable);
    NEVE_TRY(check("component", component, header_.variables[v].components.size()));
    NEVE_TRY(check("level", level, header_.hierarchy.levels.size()));
    const auto l = static_cast<size_t>(level);
    NEVE_TRY(check("box", box, header_.hierarchy.levels[l].boxes.size()));
    const auto b = static_cast<size_t>(box);
    if (out == nullptr) return usage_error("the output of a box is null");
    // Frames of a copy of Chombo's layout are cut without regard to boxes: HDF5 reads those.
    if (!header_.data[v].written_by_neve || !header_.data[v].levels[l].holds_frames()) {
      return hdf5::read_plain_box(header_.data[v], l, b, component, out);
    }
    if (expects_all_ && v != last_) frames_[last_].forget();
    last_ = v;
    return frames_[v].read(l, b, component, out);
  }

  static Status check(const char* what, int asked, size_t count) {
    if (asked >= 0 && static_cast<size_t>(asked) < count) return {};
    return usage_error(fmt::format("{} {} asked for; 0 to {} exist", what, asked, count - 1));
  }

  hdf5::CheckpointHeader header_;
  bool expects_all_ = false;
  size_t last_ = 0;                       // variable whose frames were read last
  std::deque<hdf5::FrameReader> frames_;  // they refer to header_, and do not move
};

}  // namespace

Result<std::unique_ptr<Checkpoint>> open_checkpoint(const std::string& path, const OpenOptions& options) {
  return guarded(path, [&]() -> Result<std::unique_ptr<Checkpoint>> {
    const hdf5::QuietErrors quiet;
    NEVE_TRY(hdf5::register_filter());
    NEVE_ASSIGN(hdf5::CheckpointHeader header, hdf5::read_checkpoint_header(path, options));
    return std::unique_ptr<Checkpoint>(std::make_unique<Hdf5Checkpoint>(std::move(header)));
  });
}

namespace hdf5 {

Result<CheckpointStorage> describe_checkpoint(const std::string& path, const OpenOptions& options) {
  const QuietErrors quiet;
  NEVE_ASSIGN(CheckpointHeader header, read_checkpoint_header(path, options));
  CheckpointStorage storage;
  storage.is = std::move(header.is);
  storage.others = std::move(header.others);
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
  const Result<AmrFile> found = recognize_amr_file(path);
  return found.ok() && is_checkpoint(found->kind);
}

}  // namespace hdf5
}  // namespace neve
