// SPDX-License-Identifier: BSD-3-Clause
// What people and other programs write: options, rules, .npy headers, parts of traces.
#include <cstring>

#include "preload/trace/json.hpp"
#include "preload/trace/part.hpp"
#include "preload/trace/part_reader.hpp"
#include "tests/fuzz/seeds/seeds.hpp"
#include "tests/fuzz/support/scratch.hpp"

namespace neve::fuzz {
namespace {

constexpr const char* option_texts[] = {
    "rel=1e-3",
    "abs=0.5;field:density=abs=1e-6;covered=keep",
    "lossless;codec=context;effort=max;threads=2;chunk_size=65536",
    "uncompressed;ghosts=2;strategy=aggregated;aggregate_boxes=4",
    "ratio=10",
    "psnr=60",
    "8MiB",
    "-9.96921e36",
    "none",
    "temp:rel=1e-4,fill=-999,codec=lorenzo_regression,block=6,merge-units,unit=16",
    "temp:rel=1e-4,codec=interpolation,merge-units,unit=64",
    "temp:lossless,method=rank",
    "temp:arrangement=cluster,unit=8",
};

constexpr const char* rule_texts[] = {
    "[[rule]]\nmatch = [\"so\", \"thetao\"]\nbound = \"rel=1e-4\"\ncodec = \"interpolation\"\n",
    "[[rule]]\nmatch = \"/ocean/*\"\nbound = \"abs=0.5\"\nfill = 1e20\neffort = \"max\"\n"
    "[[rule]]\nmatch = \"time*\"\nstays = true\n",
    "[[rule]]\nmatch = \"T\"\nbound = \"lossless\"\nmethod = \"bitshuffle-zstd\"\nunit = 8\nblock = 4\n"
    "merge-units = false\narrangement = \"cluster\"\n",
    "temp:rel=1e-3,unchanged\nsalt:effort=balanced\nT*:abs=1,fill=-999\n",
};

void put_npy(Places& places, const std::string& name, const plotfile::NpyArray& array) {
  const std::string path = scratch_folder() + "/seed.npy";
  must(plotfile::write_npy(path, array.dtype, array.shape, array.values), name);
  places.put("npy", name, read_file(path));
}

// A part as a process leaves it: one file, renamed, in two phases.
class PartBuilder {
 public:
  PartBuilder() { bytes_.resize(sizeof(trace::PartHeader)); }

  template <class T>
  uint32_t add(const T& value) {
    const size_t at = bytes_.size();
    bytes_.resize((at + sizeof value + 7) / 8 * 8);
    std::memcpy(bytes_.data() + at, &value, sizeof value);
    return static_cast<uint32_t>(at);
  }
  uint32_t add_name(const std::string& text) {
    const uint32_t at = add(trace::PartName{0, static_cast<uint32_t>(text.size())});
    bytes_.resize((at + sizeof(trace::PartName) + text.size() + 7) / 8 * 8);
    std::memcpy(bytes_.data() + at + sizeof(trace::PartName), text.data(), text.size());
    return at;
  }
  uint32_t add_phase(uint32_t next, const std::string& name) {
    trace::PartPhase phase{};
    phase.next = next;
    phase.name = add_name(name);
    for (size_t c = 0; c < trace::counter_count; ++c) phase.counters[c] = static_cast<int64_t>(c);
    for (auto& times : phase.times) times[0] = 1.5;
    for (auto& level : phase.accesses) {
      for (auto& accesses : level) {
        accesses.bins[3] = 2;
        accesses.map_capacity = 2;
        accesses.map_used = 1;
        accesses.map = add(trace::PartSize{4096, 2});
        add(trace::PartSize{0, 0});
      }
    }
    return add(phase);
  }
  std::vector<std::byte> finish(trace::PartHeader header) {
    header.magic = trace::part_magic;
    header.used_bytes = bytes_.size();
    std::memcpy(bytes_.data(), &header, sizeof header);
    return bytes_;
  }

 private:
  std::vector<std::byte> bytes_;
};

}  // namespace

void make_text_seeds(Places& places) {
  int number = 0;
  for (const char* text : option_texts)
    places.put("options", std::to_string(number++), std::string_view(text));
  for (const char* text : rule_texts) places.put("rules", std::to_string(number++), std::string_view(text));
  for (const NamedArray& real : real_arrays(places)) put_npy(places, real.name, real.array);
  // As other writers have it: Fortran order, the other byte order, integers.
  for (const char* descr : {"'>f8'", "'<i2'", "'|u1'", "'>u4'"}) {
    std::string header = std::string("{'descr': ") + descr + ", 'fortran_order': True, 'shape': (2, 3), }";
    header.resize(117, ' ');
    header += '\n';
    std::string file("\x93NUMPY\x01\x00", 8);
    file += static_cast<char>(header.size());
    file += '\0';
    places.put("npy", std::to_string(number++), file + header + std::string(48, '\1'));
  }
}

void make_trace_seeds(Places& places) {
  for (const int files : {1, 3}) {
    PartBuilder part;
    trace::PartHeader header{};
    header.process_id = 7;
    header.rank = 1;
    header.ranks = 4;
    header.process_start = 1e9;
    header.last_event = 1e9 + 2;
    header.host = part.add_name("node1");
    header.program = part.add_name("/usr/bin/simulation");
    for (int f = 0; f < files; ++f) {
      trace::PartFile file{};
      file.next = header.files;
      file.path = part.add_name("/data/plt0000" + std::to_string(f));
      file.renamed = part.add(trace::PartRename{0, part.add_name("/data/plt.final"), 0, 0, 1});
      file.phases = part.add_phase(part.add_phase(0, "write"), "");
      header.files = part.add(file);
    }
    const auto bytes = part.finish(header);
    places.put("trace_part", std::to_string(files), bytes);
    const auto json = trace::to_json(must(trace::read_part(bytes), "part")).dump(1);
    places.put("trace_json", std::to_string(files), json);
  }
}

}  // namespace neve::fuzz
