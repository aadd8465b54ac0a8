// SPDX-License-Identifier: BSD-3-Clause
// Plotfiles and checkpoints: of Neve's writers, cut from real ones, and what real Chombo and AMReX files say.
#include <algorithm>

#include "neve/checkpoint.hpp"
#include "neve/plotfile_writer.hpp"
#include "tests/fuzz/seeds/hdf5_dump.hpp"
#include "tests/fuzz/seeds/seeds.hpp"
#include "tests/fuzz/support/bundle.hpp"
#include "tests/fuzz/support/scratch.hpp"

namespace neve::fuzz {
namespace {

namespace fs = std::filesystem;

std::vector<LocalBox> local_boxes(const SmallPlotfile& small) {
  std::vector<LocalBox> boxes;
  for (size_t l = 0; l < small.hierarchy.levels.size(); ++l) {
    const auto& of_level = small.hierarchy.levels[l].boxes;
    for (size_t b = 0; b < of_level.size(); ++b) {
      const Box& box = of_level[b];
      LocalBox local{static_cast<int>(l), static_cast<int>(b), {}, {0, 0, 0}};
      local.data = {
          small.values[l][b].data(), box.cells(), {1, box.size(0), box.size(0) * box.size(1), 0}, nullptr};
      boxes.push_back(local);
    }
  }
  return boxes;
}

void put_recipe(Places& places, const std::string& target, const std::string& name, const std::string& path,
                const DumpOptions& options) {
  places.put(target, name, serialize_recipe(must(dump_hdf5_file(path, options), path)));
}

std::vector<std::pair<std::string, WriteOptions>> ways_to_write() {
  std::vector<std::pair<std::string, WriteOptions>> ways;
  WriteOptions options;
  options.bound = {BoundMode::rel, 1e-1};
  ways.emplace_back("fast", options);
  options.encode.effort = Effort::balanced;
  ways.emplace_back("balanced", options);
  options.codec = Codec::context;
  options.cross_level = true;
  options.covered = Covered::keep;
  ways.emplace_back("cross_level", options);
  options.cross_level = false;
  options.covered = Covered::automatic;
  options.codec = Codec::lorenzo_regression;
  ways.emplace_back("lorenzo", options);
  options.bound = {BoundMode::lossless, 0};
  options.codec = Codec::automatic;
  ways.emplace_back("lossless", options);
  options.compress = false;
  ways.emplace_back("uncompressed", options);
  return ways;
}

void put_plotfiles(Places& places, const SmallPlotfile& small) {
  const std::vector<LocalBox> boxes = local_boxes(small);
  const std::string path = scratch_folder() + "/seed.h5";
  for (const auto& [way, options] : ways_to_write()) {
    // A field whose covered cells are left out cannot be asked for more in every way.
    const auto written = write_plotfile(MPI_COMM_SELF, path, small.hierarchy, boxes, options);
    must(written.status(), small.name + " " + way);
    DumpOptions all_values;
    all_values.max_value_bytes = uint64_t{40} << 10;
    put_recipe(places, "plotfile", small.name + "_" + way, path, all_values);
    fs::remove(path);
  }
}

void put_checkpoint(Places& places, const SmallPlotfile& small) {
  const std::string path = scratch_folder() + "/checkpoint.h5";
  Variable kept{"state", small.hierarchy.components, {0, 0, 0},
                true,    {BoundMode::rel, 1e-2},     Codec::automatic};
  Variable plain{"plain", small.hierarchy.components, {0, 0, 0},
                 false,   {BoundMode::lossless, 0},   Codec::automatic};
  const std::vector<Variable> variables = {kept, plain};
  const std::vector<std::vector<LocalBox>> boxes = {local_boxes(small), local_boxes(small)};
  must(write_checkpoint(MPI_COMM_SELF, path, small.hierarchy, variables, boxes, {}).status(), small.name);
  DumpOptions options;
  options.max_value_bytes = uint64_t{20} << 10;
  put_recipe(places, "checkpoint", small.name, path, options);
  put_recipe(places, "plotfile", small.name + "_checkpoint", path, options);
  fs::remove(path);
}

void put_amrex(Places& places, const SmallPlotfile& small) {
  const std::string path = scratch_folder() + "/plt_seed";
  must(write_amrex_plotfile(MPI_COMM_SELF, path, small.hierarchy, local_boxes(small)), small.name);
  std::string bundle;
  for (const auto& entry : fs::recursive_directory_iterator(path)) {
    if (!entry.is_regular_file()) continue;
    add_to_bundle(bundle, fs::relative(entry.path(), path).string(), read_file(entry.path()));
  }
  places.put("amrex_plotfile", small.name, bundle);
  fs::remove_all(path);
}

// What real plotfiles say in their text files; the values' files are large, and stand for themselves.
void put_real_headers(Places& places, const fs::path& folder) {
  std::error_code error;
  if (!fs::exists(folder, error)) return;
  std::string bundle;
  for (const auto& entry : fs::recursive_directory_iterator(folder)) {
    const std::string name = entry.path().filename().string();
    if (name != "Header" && !name.ends_with("_H")) continue;
    const std::string text = read_file(entry.path());
    std::string label = folder.filename().string() + "_" + fs::relative(entry.path(), folder).string();
    std::replace(label.begin(), label.end(), '/', '_');
    places.put("amrex_header", label, text);
    add_to_bundle(bundle, fs::relative(entry.path(), folder).string(), text);
  }
  places.put("amrex_plotfile", folder.filename().string(), bundle);
}

}  // namespace

void make_plotfile_seeds(Places& places) {
  for (const SmallPlotfile& small : small_plotfiles(places)) {
    put_plotfiles(places, small);
    put_checkpoint(places, small);
    put_amrex(places, small);
  }
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(places.shared() / "chombo", error)) {
    if (entry.path().extension() != ".hdf5") continue;
    for (const char* target : {"plotfile", "checkpoint"}) {
      put_recipe(places, target, entry.path().stem().string(), entry.path().string(), {});
    }
  }
  put_recipe(places, "plotfile", "golden_v1", (places.checkout() / "tests/golden/plotfile_v1.h5").string(),
             {});
  put_real_headers(places, places.checkout() / "samples" / "nyx_lya32_plt00113");
  for (const char* name : {"cns_rt_plt00450", "nyx_za64_plt00088"}) {
    put_real_headers(places, places.shared() / "amr" / name);
  }
}

// Real netCDF-4 files, cut small along every dimension; what is not HDF5 is passed over.
void make_data_file_seeds(Places& places) {
  std::error_code error;
  for (const auto& entry : fs::directory_iterator(places.shared() / "climate", error)) {
    for (const uint64_t side : {uint64_t{3}, uint64_t{12}}) {
      DumpOptions options;
      options.longest_side = side;
      options.max_value_bytes = uint64_t{8} << 10;
      const auto recipe = dump_hdf5_file(entry.path().string(), options);
      if (!recipe.ok()) continue;
      for (char choice = 0; choice < 2; ++choice) {
        Bytes bytes = serialize_recipe(*recipe);
        bytes.push_back(static_cast<std::byte>(choice));
        places.put("data_file",
                   entry.path().stem().string() + "_" + std::to_string(side) + "_" + std::to_string(choice),
                   bytes);
      }
    }
  }
}

}  // namespace neve::fuzz
