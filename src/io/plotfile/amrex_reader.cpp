// SPDX-License-Identifier: BSD-3-Clause
#include "io/plotfile/amrex_reader.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <cstring>
#include <filesystem>
#include <limits>
#include <list>
#include <mutex>

#include "core/amr/box_text.hpp"
#include "core/status/guarded.hpp"
#include "io/plotfile/amrex_header.hpp"
#include "io/plotfile/byte_order.hpp"
#include "io/plotfile/file.hpp"
#include "io/plotfile/own_folder.hpp"

namespace neve::plotfile {
namespace {

namespace fs = std::filesystem;

constexpr uintmax_t max_side_file_bytes = uintmax_t{16} << 20;
// A FAB header is one line: a format, a box and a number.
constexpr int64_t max_fab_header_bytes = 1024;
constexpr size_t max_open_files = 16;

// Not inlined: of two that stand side by side GCC 12 makes a vector, and leaves the rounding out.
[[gnu::noinline]] double rounded_to_f32(double value) {
  return static_cast<double>(static_cast<float>(value));
}

Box grow(const Box& box, const IntVect& ghosts) {
  Box r = box;
  for (int d = 0; d < max_dims; ++d) {
    r.lo[d] -= ghosts[d];
    r.hi[d] += ghosts[d];
  }
  return r;
}

// Bytes of a box's values; empty when they exceed 63 bits.
std::optional<int64_t> value_bytes(const Box& box, int64_t components, DType dtype) {
  int64_t bytes = components * static_cast<int64_t>(dtype_bytes(dtype));
  for (int d = 0; d < max_dims; ++d) {
    if (__builtin_mul_overflow(bytes, box.size(d), &bytes)) return std::nullopt;
  }
  return bytes;
}

// Whether a region is that of a box where the corner of cell `first` lies at `prob_lo`, in direction d.
bool lies_at(const Region& found, const Box& box, size_t d, double dx, double prob_lo, int32_t first) {
  constexpr double text_rounding = 1e-5;
  const double lo = prob_lo + dx * (box.lo[d] - static_cast<double>(first));
  const double hi = prob_lo + dx * (box.hi[d] + 1.0 - first);
  const double allowed = 0.5 * dx + text_rounding * std::max(std::abs(lo), std::abs(hi));
  // Written so that NaN is refused.
  return std::abs(found.lo[d] - lo) <= allowed && std::abs(found.hi[d] - hi) <= allowed;
}

// The last few files read, kept open: boxes of a level share files, and opening is slow on parallel file
// systems.
class OpenFiles {
 public:
  Result<std::shared_ptr<File>> get(const std::string& path) {
    const std::lock_guard lock(mutex_);
    for (auto i = files_.begin(); i != files_.end(); ++i) {
      if ((*i)->path() == path) {
        files_.splice(files_.begin(), files_, i);
        return files_.front();
      }
    }
    NEVE_ASSIGN(std::shared_ptr<File> file, File::open(path));
    files_.push_front(file);
    if (files_.size() > max_open_files) files_.pop_back();
    return file;
  }

 private:
  std::mutex mutex_;
  std::list<std::shared_ptr<File>> files_;  // latest used first
};

// What the reader knows of one level's FABs.
struct FabLevel {
  FabArrayHeader header;
  std::vector<std::string> paths;     // of header.files
  std::vector<int64_t> values_begin;  // of each FAB's values in its file, -1 until its header was read
  std::string header_path;            // for messages
};

class AmrexPlotfile final : public PlotfileSource {
 public:
  static Result<std::unique_ptr<PlotfileSource>> open(const std::string& path, const OpenOptions& options);

  const Hierarchy& hierarchy() const override { return hierarchy_; }
  Status read_box(int level, int box, int component, std::byte* out) override {
    if (out == nullptr) return usage_error("the output of a box is null");
    return guarded("reading a box", [&] { return read(level, box, component, 1, out); });
  }
  Status read_components(int level, int box, int first, int count, std::byte* out) override {
    if (out == nullptr) return usage_error("the output of a box is null");
    return guarded("reading a box", [&] { return read(level, box, first, count, out); });
  }
  Result<bool> read_cells(int level, int box, int component, int64_t first, int64_t cells,
                          std::byte* out) override {
    if (out == nullptr) return usage_error("the output of a box is null");
    return guarded("reading a box", [&] { return read_run(level, box, component, first, cells, out); });
  }
  uint64_t place(int level, int box) const override;
  IntVect stored_ghosts(int level) const override {
    const bool exists = level >= 0 && static_cast<size_t>(level) < levels_.size();
    return exists ? levels_[static_cast<size_t>(level)].header.ghosts : IntVect{0, 0, 0};
  }
  std::optional<std::pair<double, double>> stated_range(int level, int component) const override;
  std::vector<std::string> left_behind() const override { return left_behind_; }
  std::vector<std::string> remarks() const override { return remarks_; }
  std::string kind() const override { return "AMReX plotfile"; }

 private:
  Status check_exists(int level, int box, int first, int count) const;
  Status read(int level, int box, int first, int count, std::byte* out);
  Result<bool> read_run(int level, int box, int component, int64_t first, int64_t cells, std::byte* out);
  Status read_inner_cells(const File& file, const Box& valid, const IntVect& ghosts, int64_t component_begin,
                          std::byte* out) const;
  Result<std::shared_ptr<File>> file_of(size_t l, size_t box);
  Status load(const std::string& path, const OpenOptions& options);
  Status check_inside(const std::string& piece) const;
  Status load_level(const std::string& path, const PlotfileHeader& header, size_t l);
  Status find_real_format();
  Status check_regions(const std::string& header_path, const PlotfileHeader& header);
  Status check_file_sizes() const;
  Status read_side_files(const std::string& path, const PlotfileHeader& header);
  std::string usual_fab_header(size_t l, size_t box) const;
  // Header and first values of a box in one read, where nothing has been read of it and the header is the
  // usual one: false where not. Small boxes are many.
  Result<bool> read_with_usual_header(size_t l, size_t box, const File& file, std::span<std::byte> out);
  Result<int64_t> values_begin(size_t l, size_t box, const File& file);
  Result<FabHeader> read_fab_header(const FabLevel& level, size_t box, const File& file,
                                    int64_t* header_bytes) const;
  std::string fab_name(const FabLevel& level, size_t box) const;

  std::string path_;
  std::optional<OwnFolder> folder_;  // nothing: its pieces may lie anywhere
  Hierarchy hierarchy_;
  RealFormat format_;
  std::vector<FabLevel> levels_;
  std::vector<std::string> left_behind_;
  std::vector<std::string> remarks_;
  OpenFiles files_;
  std::mutex mutex_;  // of FabLevel::values_begin
};

Result<std::unique_ptr<PlotfileSource>> AmrexPlotfile::open(const std::string& path,
                                                            const OpenOptions& options) {
  auto plotfile = std::make_unique<AmrexPlotfile>();
  NEVE_TRY(plotfile->load(path, options));
  return std::unique_ptr<PlotfileSource>(std::move(plotfile));
}

// What is missing is left to its reader.
Status AmrexPlotfile::check_inside(const std::string& piece) const {
  std::error_code fault;
  if (!folder_ || !fs::exists(piece, fault) || folder_->holds(piece)) return {};
  return folder_->refusal(piece + ", a symbolic link,", fs::canonical(piece, fault).string()).in(path_);
}

Status AmrexPlotfile::load(const std::string& path, const OpenOptions& options) {
  const std::string header_path = path + "/Header";
  path_ = path;
  if (!options.follow_external) {
    NEVE_ASSIGN(folder_, OwnFolder::of_directory(path));
  }
  if (std::error_code fault; !fs::exists(header_path, fault)) return no_amrex_header(path);
  NEVE_TRY(check_inside(header_path));
  NEVE_ASSIGN(const std::string text, read_text(header_path));
  NEVE_ASSIGN(PlotfileHeader header, parse_plotfile_header(text, header_path));
  hierarchy_ = std::move(header.hierarchy);
  remarks_ = std::move(header.remarks);
  for (size_t l = 0; l < hierarchy_.levels.size(); ++l) NEVE_TRY(load_level(path, header, l));
  hierarchy_.source_ghosts = levels_.front().header.ghosts;
  if (const Status status = check_hierarchy(hierarchy_); !status.ok())
    return corrupt(status.in(path).message());
  NEVE_TRY(check_regions(header_path, header));
  NEVE_TRY(find_real_format());
  NEVE_TRY(check_file_sizes());
  return read_side_files(path, header);
}

Status AmrexPlotfile::load_level(const std::string& path, const PlotfileHeader& header, size_t l) {
  FabLevel level;
  level.header_path = fmt::format("{}/{}_H", path, header.fab_paths[l]);
  NEVE_TRY(check_inside(level.header_path));
  NEVE_ASSIGN(const std::string text, read_text(level.header_path));
  NEVE_ASSIGN(level.header, parse_fab_array_header(text, level.header_path, hierarchy_.dims));
  if (level.header.boxes.size() != header.regions[l].size()) {
    return corrupt(fmt::format("{} lists {} boxes; {}/Header lists {} for level {}", level.header_path,
                               level.header.boxes.size(), path, header.regions[l].size(), l));
  }
  if (static_cast<size_t>(level.header.components) != hierarchy_.components.size()) {
    return corrupt(fmt::format("{} has {} components; {}/Header has {}", level.header_path,
                               level.header.components, path, hierarchy_.components.size()));
  }
  const std::string directory = fs::path(level.header_path).parent_path().string();
  for (const std::string& file : level.header.files) {
    level.paths.push_back(directory + "/" + file);
    NEVE_TRY(check_inside(level.paths.back()));
  }
  level.values_begin.assign(level.header.boxes.size(), -1);
  hierarchy_.levels[l].boxes = level.header.boxes;
  levels_.push_back(std::move(level));
  return {};
}

// Header repeats each box in physical coordinates. Half a cell and the rounding of the shortest text AMReX
// writes are allowed; a box list of another run is not. Where the domain does not begin at cell 0, AMReX's
// writers differ: prob_lo is the corner of the domain's first cell (WriteMultiLevelPlotfile) or of cell 0
// (AmrLevel::writePlotFile). Which of them wrote a plotfile is not kept; the copy is of the first kind.
Status AmrexPlotfile::check_regions(const std::string& header_path, const PlotfileHeader& header) {
  bool is_moved = false;
  for (size_t l = 0; l < hierarchy_.levels.size(); ++l) {
    const Level& level = hierarchy_.levels[l];
    for (size_t i = 0; i < level.boxes.size(); ++i) {
      const Region& found = header.regions[l][i];
      for (size_t d = 0; d < static_cast<size_t>(hierarchy_.dims); ++d) {
        if (lies_at(found, level.boxes[i], d, level.dx[d], hierarchy_.prob_lo[d], level.domain.lo[d]))
          continue;
        if (lies_at(found, level.boxes[i], d, level.dx[d], hierarchy_.prob_lo[d], 0)) {
          is_moved = true;
          continue;
        }
        const double first = level.domain.lo[d];
        const double lo = hierarchy_.prob_lo[d] + level.dx[d] * (level.boxes[i].lo[d] - first);
        return corrupt(fmt::format(
            "{}: box {} of level {} lies at {}..{} in direction {}; {} of {} lies at {}..{}", header_path, i,
            l, found.lo[d], found.hi[d], d, amr::to_string(level.boxes[i], hierarchy_.dims),
            levels_[l].header_path, lo, lo + level.dx[d] * level.boxes[i].size(static_cast<int>(d))));
      }
    }
  }
  if (is_moved) {
    remarks_.push_back(
        "boxes are placed as if cell 0 lay at prob_lo; in the copy the domain's first cell lies there");
  }
  return {};
}

std::string AmrexPlotfile::fab_name(const FabLevel& level, size_t box) const {
  return fmt::format("{} at byte {} (box {})",
                     level.paths[static_cast<size_t>(level.header.file_of_box[box])],
                     level.header.offsets[box], box);
}

// The precision of all fields is that of each level's first FAB; read() refuses a FAB that differs.
Status AmrexPlotfile::find_real_format() {
  for (size_t l = 0; l < levels_.size(); ++l) {
    const FabLevel& level = levels_[l];
    RealFormat format;
    if (level.header.has_fab_headers()) {
      NEVE_ASSIGN(const std::shared_ptr<File> file,
                  files_.get(level.paths[static_cast<size_t>(level.header.file_of_box[0])]));
      NEVE_ASSIGN(const FabHeader header, read_fab_header(level, 0, *file, nullptr));
      format = header.format;
    } else {
      format = *level.header.real_format;
    }
    if (l == 0) {
      format_ = format;
    } else if (format != format_) {
      return corrupt(fmt::format(
          "{}: level {} is {} {}-endian, level 0 {} {}-endian; all levels must be stored alike",
          level.header_path, l, dtype_bytes(format.dtype) == 4 ? "f32" : "f64",
          format.is_big_endian ? "big" : "little", dtype_bytes(format_.dtype) == 4 ? "f32" : "f64",
          format_.is_big_endian ? "big" : "little"));
    }
  }
  hierarchy_.dtype = format_.dtype;
  return {};
}

Status AmrexPlotfile::check_file_sizes() const {
  for (const FabLevel& level : levels_) {
    std::vector<int64_t> sizes;
    for (const std::string& path : level.paths) {
      std::error_code fault;
      const uintmax_t size = fs::file_size(path, fault);
      if (fault) return failure(fmt::format("cannot ask the size of {}: {}", path, fault.message()));
      sizes.push_back(static_cast<int64_t>(size));
    }
    for (size_t i = 0; i < level.header.boxes.size(); ++i) {
      const auto file = static_cast<size_t>(level.header.file_of_box[i]);
      const std::optional<int64_t> bytes = value_bytes(grow(level.header.boxes[i], level.header.ghosts),
                                                       level.header.components, format_.dtype);
      const int64_t offset = level.header.offsets[i];
      if (!bytes || offset > sizes[file] || *bytes > sizes[file] - offset) {
        return corrupt(fmt::format("{} has {} bytes; box {} of {} needs {} bytes from byte {} on",
                                   level.paths[file], sizes[file], i, level.header_path,
                                   bytes ? std::to_string(*bytes) : "more than 2^63", offset));
      }
    }
  }
  return {};
}

// Small text files beside Header are kept for a plotfile converted back; what else there is stays behind.
Status AmrexPlotfile::read_side_files(const std::string& path, const PlotfileHeader& header) {
  std::vector<std::string> known{"Header"};
  for (const std::string& fab_path : header.fab_paths) known.push_back(fs::path(fab_path).begin()->string());
  std::error_code fault;
  for (fs::directory_iterator i(path, fault), end; !fault && i != end; i.increment(fault)) {
    const std::string name = i->path().filename().string();
    if (std::find(known.begin(), known.end(), name) != known.end()) continue;
    std::error_code ignored;
    const bool is_inside = !folder_ || folder_->holds(i->path());
    const bool is_small_file =
        is_inside && i->is_regular_file(ignored) && i->file_size(ignored) <= max_side_file_bytes && !ignored;
    if (is_small_file) {
      NEVE_ASSIGN(std::string text, read_text(i->path().string()));
      if (text.find('\0') == std::string::npos) {
        hierarchy_.side_files.emplace(name, std::move(text));
        continue;
      }
    }
    left_behind_.push_back(name);
  }
  if (fault) return failure(fmt::format("cannot list {}: {}", path, fault.message()));
  std::sort(left_behind_.begin(), left_behind_.end());
  return {};
}

Result<FabHeader> AmrexPlotfile::read_fab_header(const FabLevel& level, size_t box, const File& file,
                                                 int64_t* header_bytes) const {
  const int64_t offset = level.header.offsets[box];
  const int64_t length = std::clamp<int64_t>(file.size_bytes() - offset, 0, max_fab_header_bytes);
  std::string text(static_cast<size_t>(length), '\0');
  NEVE_TRY(file.read(offset, std::as_writable_bytes(std::span(text))));
  const std::string name = fab_name(level, box);
  const size_t line_end = text.find('\n');
  if (line_end == std::string::npos) {
    return corrupt(fmt::format("{}: no FAB header; a line beginning with 'FAB' is allowed", name));
  }
  NEVE_ASSIGN(const FabHeader header,
              parse_fab_header(std::string_view(text).substr(0, line_end), name, hierarchy_.dims));
  const Box expected = grow(level.header.boxes[box], level.header.ghosts);
  if (header.box != expected) {
    return corrupt(fmt::format("{}: FAB box is {}; by {} it is {}", name,
                               amr::to_string(header.box, hierarchy_.dims), level.header_path,
                               amr::to_string(expected, hierarchy_.dims)));
  }
  if (header.components != level.header.components) {
    return corrupt(fmt::format("{}: FAB has {} components; by {} it has {}", name, header.components,
                               level.header_path, level.header.components));
  }
  if (header_bytes != nullptr) *header_bytes = static_cast<int64_t>(line_end) + 1;
  return header;
}

Result<int64_t> AmrexPlotfile::values_begin(size_t l, size_t box, const File& file) {
  FabLevel& level = levels_[l];
  if (!level.header.has_fab_headers()) return level.header.offsets[box];
  {
    const std::lock_guard lock(mutex_);
    if (level.values_begin[box] >= 0) return level.values_begin[box];
  }
  int64_t header_bytes = 0;
  NEVE_ASSIGN(const FabHeader header, read_fab_header(level, box, file, &header_bytes));
  if (header.format != format_) {
    return corrupt(fmt::format(
        "{}: FAB is stored in another real format than the first one of level 0; all must be alike",
        fab_name(level, box)));
  }
  const int64_t begin = level.header.offsets[box] + header_bytes;
  const std::lock_guard lock(mutex_);
  level.values_begin[box] = begin;
  return begin;
}

Status AmrexPlotfile::check_exists(int level, int box, int first, int count) const {
  const auto in_range = [](int i, size_t n) { return i >= 0 && static_cast<size_t>(i) < n; };
  const auto components = static_cast<int>(hierarchy_.components.size());
  if (in_range(level, levels_.size()) &&
      in_range(box, levels_[static_cast<size_t>(level)].header.boxes.size()) && first >= 0 && count >= 1 &&
      first < components && count <= components - first) {
    return {};
  }
  const std::string last = count > 1 ? fmt::format(" to {}", static_cast<int64_t>(first) + count - 1) : "";
  return usage_error(
      fmt::format("level {}, box {}, component {}{} is asked of a plotfile of {} levels and {} components",
                  level, box, first, last, levels_.size(), components));
}

Result<std::shared_ptr<File>> AmrexPlotfile::file_of(size_t l, size_t box) {
  return files_.get(levels_[l].paths[static_cast<size_t>(levels_[l].header.file_of_box[box])]);
}

// Per plane one read, from its first valid cell to its last.
Status AmrexPlotfile::read_inner_cells(const File& file, const Box& valid, const IntVect& ghosts,
                                       int64_t component_begin, std::byte* out) const {
  const auto value_size = static_cast<int64_t>(dtype_bytes(format_.dtype));
  const Box stored = grow(valid, ghosts);
  const int64_t row = stored.size(0);
  const int64_t plane = row * stored.size(1);
  const int64_t valid_row_bytes = valid.size(0) * value_size;
  std::vector<std::byte> buffer(
      static_cast<size_t>((row * (valid.size(1) - 1) + valid.size(0)) * value_size));
  for (int64_t z = 0; z < valid.size(2); ++z) {
    const int64_t first = (z + ghosts[2]) * plane + ghosts[1] * row + ghosts[0];
    NEVE_TRY(file.read(component_begin + first * value_size, buffer));
    for (int64_t y = 0; y < valid.size(1); ++y, out += valid_row_bytes) {
      std::memcpy(out, buffer.data() + y * row * value_size, static_cast<size_t>(valid_row_bytes));
    }
  }
  return {};
}

// The header that AMReX writes before the values of a box.
std::string AmrexPlotfile::usual_fab_header(size_t l, size_t box) const {
  const FabArrayHeader& header = levels_[l].header;
  return fmt::format("FAB {}{} {}\n", native_real_format_text(format_.dtype),
                     amr::to_string(grow(header.boxes[box], header.ghosts), hierarchy_.dims),
                     header.components);
}

Result<bool> AmrexPlotfile::read_with_usual_header(size_t l, size_t box, const File& file,
                                                   std::span<std::byte> out) {
  FabLevel& level = levels_[l];
  if (!level.header.has_fab_headers() || format_.is_big_endian) return false;
  {
    const std::lock_guard lock(mutex_);
    if (level.values_begin[box] >= 0) return false;
  }
  const std::string expected = usual_fab_header(l, box);
  const int64_t offset = level.header.offsets[box];
  const auto needed = static_cast<int64_t>(expected.size() + out.size());
  if (needed > file.size_bytes() - offset) return false;
  std::string found(expected.size(), '\0');
  NEVE_TRY(file.read(offset, std::as_writable_bytes(std::span(found)), out));
  if (found != expected) return false;
  const std::lock_guard lock(mutex_);
  level.values_begin[box] = offset + static_cast<int64_t>(expected.size());
  return true;
}

Status AmrexPlotfile::read(int level, int box, int first, int count, std::byte* out) {
  NEVE_TRY(check_exists(level, box, first, count));
  const auto l = static_cast<size_t>(level);
  const auto b = static_cast<size_t>(box);
  NEVE_ASSIGN(const std::shared_ptr<File> file, file_of(l, b));
  if (first == 0 && levels_[l].header.ghosts == IntVect{0, 0, 0}) {
    const int64_t bytes =
        levels_[l].header.boxes[b].cells() * count * static_cast<int64_t>(dtype_bytes(format_.dtype));
    NEVE_ASSIGN(const bool is_read, read_with_usual_header(l, b, *file, {out, static_cast<size_t>(bytes)}));
    if (is_read) return {};
  }
  NEVE_ASSIGN(const int64_t begin, values_begin(l, b, *file));

  const auto value_size = static_cast<int64_t>(dtype_bytes(format_.dtype));
  const FabArrayHeader& header = levels_[l].header;
  const Box& valid = header.boxes[b];
  const int64_t stored_bytes = grow(valid, header.ghosts).cells() * value_size;
  const int64_t valid_bytes = valid.cells() * value_size;
  if (stored_bytes == valid_bytes) {
    NEVE_TRY(file->read(begin + first * stored_bytes, {out, static_cast<size_t>(count * valid_bytes)}));
  } else {
    for (int c = 0; c < count; ++c) {
      NEVE_TRY(read_inner_cells(*file, valid, header.ghosts, begin + (first + c) * stored_bytes,
                                out + c * valid_bytes));
    }
  }
  if (format_.is_big_endian) reverse_bytes(format_.dtype, {out, static_cast<size_t>(count * valid_bytes)});
  return {};
}

Result<bool> AmrexPlotfile::read_run(int level, int box, int component, int64_t first, int64_t cells,
                                     std::byte* out) {
  NEVE_TRY(check_exists(level, box, component, 1));
  const auto l = static_cast<size_t>(level);
  const auto b = static_cast<size_t>(box);
  const FabArrayHeader& header = levels_[l].header;
  const int64_t all = header.boxes[b].cells();
  if (first < 0 || cells < 0 || first > all || cells > all - first) {
    return usage_error(
        fmt::format("{} cells from cell {} on are asked of box {}; it has {}", cells, first, box, all));
  }
  if (header.ghosts != IntVect{0, 0, 0}) return false;
  NEVE_ASSIGN(const std::shared_ptr<File> file, file_of(l, b));
  NEVE_ASSIGN(const int64_t begin, values_begin(l, b, *file));
  const auto value_size = static_cast<int64_t>(dtype_bytes(format_.dtype));
  const std::span<std::byte> run(out, static_cast<size_t>(cells * value_size));
  NEVE_TRY(file->read(begin + (component * all + first) * value_size, run));
  if (format_.is_big_endian) reverse_bytes(format_.dtype, run);
  return true;
}

uint64_t AmrexPlotfile::place(int level, int box) const {
  if (!check_exists(level, box, 0, 1).ok()) return 0;
  const FabArrayHeader& header = levels_[static_cast<size_t>(level)].header;
  const auto b = static_cast<size_t>(box);
  constexpr int file_shift = 44;  // files below 16 TiB lie behind each other; others only read more slowly
  return (static_cast<uint64_t>(header.file_of_box[b]) << file_shift) +
         static_cast<uint64_t>(header.offsets[b]);
}

std::optional<std::pair<double, double>> AmrexPlotfile::stated_range(int level, int component) const {
  if (!check_exists(level, 0, component, 1).ok()) return {};
  const FabArrayHeader& header = levels_[static_cast<size_t>(level)].header;
  const auto c = static_cast<size_t>(component);
  if (c >= header.min.size() || !std::isfinite(header.min[c]) || !std::isfinite(header.max[c]) ||
      header.min[c] > header.max[c])
    return {};
  if (format_.dtype == DType::f64) return std::pair(header.min[c], header.max[c]);
  // AMReX states the values as the run had them, before they were stored as f32.
  constexpr double largest = std::numeric_limits<float>::max();
  if (header.min[c] < -largest || header.max[c] > largest) return {};
  return std::pair(rounded_to_f32(header.min[c]), rounded_to_f32(header.max[c]));
}

}  // namespace

Status no_amrex_header(const std::string& path) {
  return failure(fmt::format("{} is a directory without a file Header; an AMReX plotfile has one", path));
}

Result<std::unique_ptr<PlotfileSource>> open_amrex_plotfile(const std::string& path,
                                                            const OpenOptions& options) {
  return AmrexPlotfile::open(path, options);
}

}  // namespace neve::plotfile
