// SPDX-License-Identifier: BSD-3-Clause
// `neve info`: levels, fields, bounds asked and measured, codecs, sizes. Decodes nothing.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <iostream>
#include <limits>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/amr/density.hpp"
#include "io/hdf5/checkpoint_source.hpp"
#include "io/hdf5/plotfile_source.hpp"
#include "io/plotfile/open.hpp"
#include "neve/stream.hpp"
#include "tools/common/console.hpp"
#include "tools/common/json_text.hpp"
#include "tools/common/ranks.hpp"
#include "tools/common/visible.hpp"
#include "tools/neve/array_file.hpp"
#include "tools/neve/commands.hpp"
#include "tools/neve/data_file.hpp"
#include "tools/neve/data_folder.hpp"
#include "tools/neve/frame_file.hpp"
#include "tools/neve/source.hpp"
#include "tools/neve/variable_source.hpp"

namespace neve::cli {
namespace {

using Json = nlohmann::ordered_json;

Json optional_number(const std::optional<double>& value) { return value.has_value() ? Json(*value) : Json(); }

uint64_t level_cells(const Level& level) {
  uint64_t cells = 0;
  for (const Box& box : level.boxes) cells += static_cast<uint64_t>(box.cells());
  return cells;
}

// The first `dims` entries.
template <class T>
Json of_dims(const std::array<T, max_dims>& values, int dims) {
  return Json(std::vector<T>(values.begin(), values.begin() + dims));
}

Json level_json(const Hierarchy& h, const Level& level, const amr::LevelDensity& density) {
  const uint64_t cells = level_cells(level);
  return {{"domain_lo", of_dims(level.domain.lo, h.dims)},
          {"domain_hi", of_dims(level.domain.hi, h.dims)},
          {"boxes", level.boxes.size()},
          {"cells", cells},
          {"fills", density.fills},
          {"density", optional_number(density.density)},
          {"raw_bytes", cells * h.components.size() * dtype_bytes(h.dtype)},
          {"dx", of_dims(level.dx, h.dims)},
          {"ref_ratio", of_dims(level.ref_ratio, h.dims)},
          {"step", level.step}};
}

Json hierarchy_json(const std::string& kind, const Hierarchy& h) {
  Json j = {{"kind", kind},
            {"dims", h.dims},
            {"dtype", dtype_name(h.dtype)},
            {"time", h.time},
            {"prob_lo", of_dims(h.prob_lo, h.dims)},
            {"prob_hi", of_dims(h.prob_hi, h.dims)},
            {"components", h.components},
            {"levels", Json::array()}};
  const std::vector<amr::LevelDensity> densities = amr::level_densities(h);
  for (size_t l = 0; l < h.levels.size(); ++l) {
    j["levels"].push_back(level_json(h, h.levels[l], densities[l]));
  }
  return j;
}

Json record_json(const hdf5::FieldRecord& field, size_t value_bytes) {
  const uint64_t raw_bytes = field.cells * value_bytes;
  return {
      {"name", field.name},
      {"cells", field.cells},
      {"raw_bytes", raw_bytes},
      {"stored_bytes", field.stored_bytes},
      {"ratio",
       field.stored_bytes > 0 ? static_cast<double>(raw_bytes) / static_cast<double>(field.stored_bytes) : 0},
      {"bound", to_string(field.asked)},
      {"bound_abs", field.bound_abs},
      {"max_abs_error", field.max_abs_error},
      {"range_min", field.range_min},
      {"range_max", field.range_max},
      {"fill", optional_number(field.fill)},
      {"left_out_cells", field.left_out_cells},
      {"special_cells", field.special_cells},
      {"exact_cells", field.exact_cells},
      {"codec", field.codec},
      {"arrangement", field.arrangement},
      {"chosen", field.chosen},
      {"covered", field.covered}};
}

Result<Json> describe_hdf5(const std::string& path, const OpenOptions& options) {
  NEVE_ASSIGN(const hdf5::PlotfileStorage file, hdf5::describe_hdf5_plotfile(path, options));
  Json j = hierarchy_json(file.kind, file.hierarchy);
  j["recognized_by"] = file.reason;
  j["stored_bytes"] = file.file_bytes;
  for (size_t level = 0; level < file.levels.size(); ++level) {
    const hdf5::LevelStorage& storage = file.levels[level];
    Json& l = j["levels"][level];
    l["chunks"] = storage.chunks;
    l["chunk_elements"] = storage.chunk_elements;
    l["stored_bytes"] = storage.stored_bytes;
    l["filters"] = storage.filters;
    l["ghosts"] = of_dims(storage.ghosts, file.hierarchy.dims);
    l["fields"] = Json::array();
    for (const hdf5::FieldRecord& field : storage.fields) {
      l["fields"].push_back(record_json(field, dtype_bytes(file.hierarchy.dtype)));
    }
  }
  return j;
}

// A level's fields are those of all variables; one that is not compressed has no records.
void add_variable(const hdf5::VariableStorage& variable, size_t value_bytes, size_t level, Json& into) {
  const hdf5::LevelStorage& storage = variable.levels[level];
  const uint64_t cells = level_cells(variable.hierarchy.levels[level]);
  const auto components = variable.variable.components.size();
  into["raw_bytes"] = into["raw_bytes"].get<uint64_t>() + cells * components * value_bytes;
  into["stored_bytes"] = into["stored_bytes"].get<uint64_t>() + storage.stored_bytes;
  into["chunks"] = into["chunks"].get<uint64_t>() + storage.chunks;
  if (into["filters"].empty()) into["filters"] = storage.filters;
  for (size_t c = 0; c < components; ++c) {
    hdf5::FieldRecord record;
    if (c < storage.fields.size()) {
      record = storage.fields[c];
    } else {  // not compressed, or written before there were records
      record.asked = variable.variable.bound;
      record.cells = cells;
      record.stored_bytes = storage.stored_bytes / components;
      record.codec = variable.variable.compress ? std::string(codec_name(variable.variable.codec)) : "none";
      record.chosen = variable.variable.compress ? "not recorded" : "uncompressed";
      record.covered = "none";
    }
    record.name = variable_field_name(variable.variable, c);
    into["fields"].push_back(record_json(record, value_bytes));
  }
}

Result<Json> describe_checkpoint(const std::string& path, const OpenOptions& options) {
  NEVE_ASSIGN(const hdf5::CheckpointStorage file, hdf5::describe_checkpoint(path, options));
  const Hierarchy& h = file.hierarchy;
  Json j = hierarchy_json(std::string(hdf5::amr_file_kind_name(file.is.kind)), h);
  j["recognized_by"] = file.is.reason;
  j["stored_bytes"] = file.file_bytes;
  if (!file.others.empty()) j["not_fields"] = file.others;
  j["variables"] = Json::array();
  for (const hdf5::VariableStorage& of : file.variables) {
    const Variable& variable = of.variable;
    uint64_t raw_bytes = 0, stored_bytes = 0;
    for (const Level& level : of.hierarchy.levels) {
      raw_bytes += level_cells(level) * variable.components.size() * dtype_bytes(h.dtype);
    }
    for (const hdf5::LevelStorage& level : of.levels) stored_bytes += level.stored_bytes;
    j["variables"].push_back({{"name", variable.name},
                              {"components", variable.components},
                              {"ghosts", of_dims(variable.ghosts, h.dims)},
                              {"compressed", variable.compress},
                              {"bound", to_string(variable.bound)},
                              {"codec", variable.compress ? codec_name(variable.codec) : "none"},
                              {"raw_bytes", raw_bytes},
                              {"stored_bytes", stored_bytes}});
  }
  for (size_t level = 0; level < h.levels.size(); ++level) {
    Json& l = j["levels"][level];
    l["raw_bytes"] = l["stored_bytes"] = l["chunks"] = uint64_t{0};
    l["filters"] = l["fields"] = Json::array();
    for (const hdf5::VariableStorage& variable : file.variables) {
      add_variable(variable, dtype_bytes(h.dtype), level, l);
    }
  }
  return j;
}

Result<Json> describe_plotfile(const std::string& path, const OpenOptions& options) {
  NEVE_ASSIGN(const std::unique_ptr<PlotfileSource> source, plotfile::open_plotfile(path, options));
  Json j = hierarchy_json(source->kind(), source->hierarchy());
  NEVE_ASSIGN(j["stored_bytes"], stored_bytes(path));
  const int dims = source->hierarchy().dims;
  for (size_t l = 0; l < j["levels"].size(); ++l) {
    j["levels"][l]["ghosts"] = of_dims(source->stored_ghosts(static_cast<int>(l)), dims);
  }
  const std::vector<std::string> others = source->left_behind();
  if (!others.empty()) j["not_fields"] = others;
  if (!source->remarks().empty()) j["remarks"] = source->remarks();
  return j;
}

Result<Json> describe_npy(const std::string& path) {
  NEVE_ASSIGN(const plotfile::NpyHeader header, plotfile::read_npy_header(path));
  return Json{{"kind", "NumPy array"},
              {"dtype", dtype_name(header.dtype)},
              {"shape", header.shape},
              {"raw_bytes", header.values_bytes}};
}

Json fill_json(DType dtype, const ComponentInfo& component) {
  if (!component.integer_fill) return optional_number(component.fill);
  if (is_signed(dtype)) return static_cast<int64_t>(*component.integer_fill);
  return *component.integer_fill;
}

Result<Json> describe_array_stream(const std::string& path, std::span<const std::byte> bytes) {
  auto contents = describe_stream(bytes);
  if (!contents.ok()) return contents.status().in(path);
  const uint64_t raw_bytes = contents->values * dtype_bytes(contents->info.dtype);
  Json j = {{"kind", "Neve stream"},
            {"dtype", dtype_name(contents->info.dtype)},
            {"shape", contents->info.shape},
            {"raw_bytes", raw_bytes},
            {"stored_bytes", bytes.size()},
            {"ratio", static_cast<double>(raw_bytes) / static_cast<double>(bytes.size())},
            {"bound", to_string(contents->info.bound)},
            {"fill", optional_number(contents->info.fill)},
            {"dims", contents->info.dims},
            {"block_values", contents->info.block_values},
            {"raw", contents->info.is_raw},
            {"blocks", Json::array()}};
  for (const StreamBlock& block : contents->blocks) {
    j["blocks"].push_back(
        {{"values", block.values},
         {"stored_bytes", block.stored_bytes},
         {"raw", block.is_raw},
         {"bound_abs", block.is_raw ? 0 : block.bound_abs},
         {"codebook", block.is_raw ? Json() : Json(codebook_kind_name(block.codebook))},
         {"extra_bits", block.has_extra_bits},
         {"offline_codebook", block.offline_codebook < 0 ? Json() : Json(block.offline_codebook)},
         {"restarts", block.restarts}});
  }
  return j;
}

Result<Json> describe_frame(const std::string& path) {
  NEVE_ASSIGN(const std::vector<std::byte> bytes, read_file(path));
  NEVE_TRY(check_is_compressed(bytes, path,
                               "plotfiles and checkpoints (AMReX directories; HDF5 files of AMReX, Chombo or "
                               "Neve), HDF5 and netCDF-4 data files, .npy arrays, and what Neve compressed: "
                               "arrays, streams, frame files"));
  if (is_stream(bytes)) return describe_array_stream(path, bytes);
  const auto frame = neve::describe_frame(bytes);
  if (!frame.ok()) return frame.status().in(path);
  const uint64_t raw_bytes = frame->shape.element_count * dtype_bytes(frame->dtype);
  Json j = {{"kind", "Neve frame"},
            {"dtype", dtype_name(frame->dtype)},
            {"shape", frame->shape.array_shape},
            {"boxes", frame->boxes},
            {"raw_bytes", raw_bytes},
            {"stored_bytes", bytes.size()},
            {"ratio", static_cast<double>(raw_bytes) / static_cast<double>(bytes.size())},
            {"header_bytes", frame->header_bytes},
            {"fields", Json::array()}};
  for (const ComponentInfo& component : frame->components) {
    j["fields"].push_back({{"bound", to_string(component.asked)},
                           {"bound_abs", component.bound_abs},
                           {"max_abs_error", component.max_abs_error},
                           {"fill", fill_json(frame->dtype, component)},
                           {"drops_covered", component.drops_covered}});
  }
  j["sections"] = Json::array();
  for (const SectionInfo& section : frame->sections) {
    j["sections"].push_back({{"component", section.component},
                             {"cells", section.cells},
                             {"stored_bytes", section.stored_bytes},
                             {"codec", codec_name(section.codec)},
                             {"arrangement", arrangement_text(section.arrangement, section.unit_cells)}});
  }
  return j;
}

Json pieces_json(const PiecesOfType& type) {
  Json j = {{"dtype", type.type},
            {"pieces", type.pieces},
            {"raw_bytes", type.value_bytes},
            {"stored_bytes", type.stored_bytes}};
  if (type.type == "raw") return j;
  j["bound"] = to_string(type.bound);
  j["bound_abs"] = type.bound_abs;
  j["max_abs_error"] = type.max_abs_error;
  return j;
}

Result<Json> describe_frame_file(const std::string& path) {
  NEVE_ASSIGN(const FrameFileContents contents, describe_frame_file_at(path));
  const auto dtype = line_dtype(contents.index);
  const uint64_t raw_bytes = contents.index.bytes;
  Json j = {{"kind", "Neve frame file"},
            {"dtype", nullptr},
            {"shape", nullptr},
            {"raw_bytes", raw_bytes},
            {"stored_bytes", contents.file_bytes},
            {"ratio", static_cast<double>(raw_bytes) / static_cast<double>(contents.file_bytes)},
            {"pieces", contents.index.pieces.size()},
            {"frames", 0},
            {"frame_bytes", 0},
            {"fields", Json::array()}};
  if (dtype) {
    j["dtype"] = dtype_name(*dtype);
    j["shape"] = {raw_bytes / dtype_bytes(*dtype)};
  }
  uint64_t frames = 0, frame_bytes = 0;
  for (const PiecesOfType& type : contents.types) {
    j["fields"].push_back(pieces_json(type));
    if (type.type == "raw") continue;
    frames += type.pieces;
    frame_bytes += type.stored_bytes;
  }
  j["frames"] = frames;
  j["frame_bytes"] = frame_bytes;
  return j;
}

// Files of neve 0.1 do not say an arrangement: it was always linear.
std::string codec_text(const Json& field) {
  if (field["codec"] == "none") return "none";
  const auto arrangement = field["arrangement"].get<std::string>();
  return field["codec"].get<std::string>() + ", " + (arrangement.empty() ? "linear" : arrangement);
}

// "3 chunks, compressed by neve (466)", "uncompressed".
std::string storage_text(const Json& level) {
  if (level["chunks"].get<uint64_t>() == 0) return "uncompressed";
  return fmt::format("{}, compressed by {}", counted(level["chunks"].get<uint64_t>(), "chunk"),
                     fmt::join(level["filters"].get<std::vector<std::string>>(), ", "));
}

// "; fills 12.5 % of the domain, density 6.25 %; 1, 1, 1 layers of ghost cells". A checkpoint's variables
// have ghosts of their own.
std::string place_text(const Json& level) {
  std::string text = fmt::format("; fills {:.4g} % of the domain, ", 100 * level["fills"].get<double>());
  text += level["density"].is_null() ? "density unknown: too many of its boxes meet boxes of the finer level"
                                     : fmt::format("density {:.4g} %", 100 * level["density"].get<double>());
  if (!level.contains("ghosts")) return text;
  const auto ghosts = level["ghosts"].get<std::vector<int32_t>>();
  const bool any = std::any_of(ghosts.begin(), ghosts.end(), [](int32_t layers) { return layers > 0; });
  return text +
         (any ? fmt::format("; {} layers of ghost cells", fmt::join(ghosts, ", ")) : "; no ghost cells");
}

std::string variables_text(const Json& variables) {
  Table table({"variable", "components", "ghosts", "bound", "codec asked", "raw", "stored", "ratio"});
  for (const Json& v : variables) {
    const auto raw = v["raw_bytes"].get<uint64_t>(), stored = v["stored_bytes"].get<uint64_t>();
    table.add({v["name"].get<std::string>(), std::to_string(v["components"].size()),
               fmt::format("{}", fmt::join(v["ghosts"].get<std::vector<int32_t>>(), ",")),
               v["compressed"].get<bool>() ? v["bound"].get<std::string>() : "uncompressed",
               v["codec"].get<std::string>(), human_bytes(raw), human_bytes(stored),
               human_ratio(static_cast<double>(raw) / static_cast<double>(std::max<uint64_t>(stored, 1)))});
  }
  return table.text();
}

std::string levels_text(const Json& j) {
  std::string text = fmt::format("{}D {}, time {}, ", j["dims"].get<int>(), j["dtype"].get<std::string>(),
                                 j["time"].get<double>());
  if (j.contains("variables")) {
    text += counted(j["variables"].size(), "variable") + "\n" + variables_text(j["variables"]);
  } else {
    text += fmt::format("{}: {}\n", counted(j["components"].size(), "field"),
                        fmt::join(j["components"].get<std::vector<std::string>>(), ", "));
  }
  size_t number = 0;
  for (const Json& level : j["levels"]) {
    text += fmt::format(
        "level {}: {}, {}, {}", number, counted(level["boxes"].get<uint64_t>(), "box", "boxes"),
        counted(level["cells"].get<uint64_t>(), "cell"), human_bytes(level["raw_bytes"].get<uint64_t>()));
    if (level.contains("stored_bytes")) {
      text +=
          fmt::format(" in {} ({})", human_bytes(level["stored_bytes"].get<uint64_t>()), storage_text(level));
    }
    text += place_text(level) + "\n";
    if (level.contains("fields") && !level["fields"].empty()) {
      Table table({"  field", "ratio", "bound", "as abs", "max error", "left out", "special",
                   "codec, arrangement", "chosen", "covered"},
                  true);
      for (const Json& f : level["fields"]) {
        table.add({"  " + f["name"].get<std::string>(), human_ratio(f["ratio"].get<double>()),
                   f["bound"].get<std::string>(), human_error(f["bound_abs"].get<double>()),
                   human_error(f["max_abs_error"].get<double>()),
                   std::to_string(f["left_out_cells"].get<uint64_t>()),
                   std::to_string(f["special_cells"].get<uint64_t>()), codec_text(f),
                   f["chosen"].get<std::string>(), f["covered"].get<std::string>()});
      }
      text += table.text();
    }
    ++number;
  }
  for (const Json& other : j.value("not_fields", Json::array())) {
    text += fmt::format("not a field: {}\n", other.get<std::string>());
  }
  return text;
}

// "7 blocks: 1 with a codebook of their own, ...", and what bounds they have.
std::string blocks_text(const Json& j) {
  size_t rebuilt = 0;
  size_t offline = 0, extra = 0, raw = 0;
  double least = std::numeric_limits<double>::infinity();
  double most = 0;
  for (const Json& block : j["blocks"]) {
    rebuilt += block["codebook"] == codebook_kind_name(CodebookKind::rebuilt) ? 1 : 0;
    offline += block["codebook"] == codebook_kind_name(CodebookKind::offline) ? 1 : 0;
    extra += block["extra_bits"].get<bool>() ? 1 : 0;
    raw += block["raw"].get<bool>() ? 1 : 0;
    least = std::min(least, block["bound_abs"].get<double>());
    most = std::max(most, block["bound_abs"].get<double>());
  }
  std::string text = fmt::format("bound {}", j["bound"].get<std::string>());
  if (!j["blocks"].empty()) {
    text += fmt::format(" ({})",
                        least == most ? human_error(most) : human_error(least) + " to " + human_error(most));
  }
  if (j.value("raw", false)) return text + "\nthe values as they are, without blocks\n";
  const size_t blocks = j["blocks"].size();
  return text + fmt::format(
                    "\n{} block{}: {} with a codebook of their own, {} with an offline one, {} with extra "
                    "bits, {} of values as they are\n",
                    blocks, blocks == 1 ? "" : "s", rebuilt, offline, extra, raw);
}

std::string array_text(const Json& j) {
  std::string text = fmt::format("{} of shape ({}), {}", j["dtype"].get<std::string>(),
                                 fmt::join(j["shape"].get<std::vector<uint64_t>>(), ", "),
                                 human_bytes(j["raw_bytes"].get<uint64_t>()));
  if (j.contains("stored_bytes"))
    text += fmt::format(" in {}", human_bytes(j["stored_bytes"].get<uint64_t>()));
  text += "\n";
  if (j.contains("blocks")) text += blocks_text(j);
  if (j.contains("fields")) {
    for (const Json& f : j["fields"]) {
      text += fmt::format("bound {} ({}), measured {}\n", f["bound"].get<std::string>(),
                          human_error(f["bound_abs"].get<double>()),
                          human_error(f["max_abs_error"].get<double>()));
    }
  }
  return text;
}

std::string frame_file_text(const Json& j) {
  const std::string sizes = fmt::format("{} in {}", human_bytes(j["raw_bytes"].get<uint64_t>()),
                                        human_bytes(j["stored_bytes"].get<uint64_t>()));
  std::string text = j["dtype"].is_null()
                         ? "bytes of a file: " + sizes + "\n"
                         : fmt::format("{} of shape ({}), {}\n", j["dtype"].get<std::string>(),
                                       j["shape"][0].get<uint64_t>(), sizes);
  for (const Json& f : j["fields"]) {
    const bool is_raw = f["dtype"] == "raw";
    text += fmt::format("{} of {}: {} in {}", counted(f["pieces"].get<uint64_t>(), "piece"),
                        is_raw ? "raw bytes" : f["dtype"].get<std::string>(),
                        human_bytes(f["raw_bytes"].get<uint64_t>()),
                        human_bytes(f["stored_bytes"].get<uint64_t>()));
    if (!is_raw) {
      text += fmt::format(", bound {} ({}), measured {}", f["bound"].get<std::string>(),
                          human_error(f["bound_abs"].get<double>()),
                          human_error(f["max_abs_error"].get<double>()));
    }
    text += "\n";
  }
  return text;
}

Status info(const std::string& path, const OpenOptions& options, bool json) {
  NEVE_ASSIGN(const std::optional<Json> folder, describe_data_folder(path));
  if (folder) {
    std::cout << (json ? folder->dump(2) + "\n"
                       : visible(fmt::format("{}: {}\n{}", path, (*folder)["kind"].get<std::string>(),
                                             data_folder_text(path, *folder))))
              << std::flush;
    return {};
  }
  NEVE_ASSIGN(const bool is_data, is_data_file(path));
  NEVE_ASSIGN(const InputKind kind, input_kind(path));
  // Of what nothing else recognises.
  bool is_frame_file = false;
  if (kind == InputKind::frame_or_unknown) {
    NEVE_ASSIGN(is_frame_file, is_frame_file_at(path));
  }
  auto described = is_data                                 ? describe_data_file(path, options)
                   : is_frame_file                         ? describe_frame_file(path)
                   : kind == InputKind::hdf5               ? describe_hdf5(path, options)
                   : kind == InputKind::checkpoint         ? describe_checkpoint(path, options)
                   : kind == InputKind::plotfile_directory ? describe_plotfile(path, options)
                   : kind == InputKind::npy                ? describe_npy(path)
                                                           : describe_frame(path);
  NEVE_TRY(described.status());
  const Json& j = *described;
  if (json) {
    std::cout << json_text(j) << std::endl;
  } else {
    const std::string by =
        j.contains("recognized_by") ? fmt::format(" ({})", j["recognized_by"].get<std::string>()) : "";
    const std::string below = j.contains("levels")      ? levels_text(j)
                              : j.contains("variables") ? data_file_text(j)
                              : j.contains("frames")    ? frame_file_text(j)
                                                        : array_text(j);
    std::cout << visible(fmt::format("{}: {}{}\n{}", path, j["kind"].get<std::string>(), by, below))
              << std::flush;
  }
  return {};
}

}  // namespace

Command add_info(CLI::App& app) {
  CLI::App* sub =
      app.add_subcommand("info", "Show levels, fields, bounds, measured errors, codecs and sizes");
  auto path = std::make_shared<std::string>();
  auto options = std::make_shared<OpenOptions>();
  auto json = std::make_shared<bool>(false);
  sub->add_option("FILE", *path,
                  "a plotfile, a compressed plotfile, a checkpoint, an array, a data file, a folder of data "
                  "files")
      ->required();
  sub->add_flag(follow_external_option, options->follow_external, follow_external_help);
  sub->add_flag("--json", *json, "as JSON on stdout");
  sub->footer(
      "Examples:\n"
      "  neve info plt00113.h5\n"
      "  neve info field.neve --json\n"
      "  neve info ocean.nc\n"
      "  neve info gathered.neve      # a frame file of neve/transfer.h");
  Command command{sub, {}, {}};
  command.parallel = [path, options, json](const Ranks& ranks) {
    return ranks.on_first("info", [&] { return info(*path, *options, *json); });
  };
  return command;
}

}  // namespace neve::cli
