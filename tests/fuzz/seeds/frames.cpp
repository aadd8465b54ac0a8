// SPDX-License-Identifier: BSD-3-Clause
// Frames of every codec, effort, element type and arrangement; streams; frame files.
#include <algorithm>
#include <cmath>
#include <limits>

#include "core/amr/coverage.hpp"
#include "core/bits/checksum.hpp"
#include "core/codecs/frame_values.hpp"
#include "core/format/frame_file.hpp"
#include "neve/frame.hpp"
#include "neve/stream.hpp"
#include "tests/fuzz/seeds/seeds.hpp"
#include "tests/fuzz/support/position_level.hpp"

namespace neve::fuzz {
namespace {

constexpr Codec codecs[] = {Codec::dual_quant,    Codec::exact,   Codec::lorenzo_regression,
                            Codec::interpolation, Codec::context, Codec::lossless,
                            Codec::axis_passes};
constexpr Effort efforts[] = {Effort::fast, Effort::balanced, Effort::max};

std::string label(const std::string& name, Codec codec, const std::string& more) {
  return name + "_" + std::string(codec_name(codec)) + "_" + more;
}

template <class From, class To>
std::vector<std::byte> converted(const std::vector<std::byte>& values, double scale) {
  std::vector<std::byte> out;
  for (size_t i = 0; i + sizeof(From) <= values.size(); i += sizeof(From)) {
    From value;
    std::memcpy(&value, values.data() + i, sizeof value);
    const auto to = static_cast<To>(std::clamp(static_cast<double>(value) * scale, -100.0, 100.0));
    const auto* const bytes = reinterpret_cast<const std::byte*>(&to);
    out.insert(out.end(), bytes, bytes + sizeof to);
  }
  return out;
}

void put_array(Places& places, const std::string& name, const plotfile::NpyArray& array,
               const ArrayOptions& options) {
  const auto frame =
      must(encode_array(array.dtype, array.shape, array.values.data(), options, nullptr), name);
  places.put("frame", name, frame);
}

void put_integers(Places& places, const NamedArray& real) {
  plotfile::NpyArray whole = real.array;
  whole.dtype = DType::i16;
  whole.values = real.array.dtype == DType::f32 ? converted<float, int16_t>(real.array.values, 3)
                                                : converted<double, int16_t>(real.array.values, 3);
  for (int method = 0; method < lossless_methods; ++method) {
    ArrayOptions options;
    options.bound = {BoundMode::lossless, 0};
    options.codec = Codec::lossless;
    options.tuning.method = static_cast<LosslessMethod>(method);
    put_array(places, label(real.name, options.codec, "i16_" + std::to_string(method)), whole, options);
  }
}

void put_floats(Places& places, const NamedArray& real) {
  for (const double bound : {1e-1, 1e-3, 1e-6}) {
    for (const Codec codec : codecs) {
      for (const Effort effort : efforts) {
        ArrayOptions options;
        options.bound = {BoundMode::rel, bound};
        if (codec == Codec::lossless || codec == Codec::exact) options.bound = {BoundMode::lossless, 0};
        options.codec = codec;
        options.encode.effort = effort;
        put_array(
            places,
            label(real.name, codec,
                  std::string(effort_name(effort)) + "_" + std::to_string(std::lround(-std::log10(bound)))),
            real.array, options);
      }
    }
  }
  for (int method = 1; method < lossless_methods; ++method) {
    ArrayOptions options;
    options.bound = {BoundMode::lossless, 0};
    options.codec = Codec::lossless;
    options.tuning.method = static_cast<LosslessMethod>(method);
    put_array(places, label(real.name, options.codec, std::to_string(method)), real.array, options);
  }
}

// The boxes of a level as one frame. `covered`: with what the finer level covers.
FrameLayout layout_of(const SmallPlotfile& small, size_t l) {
  const Hierarchy& h = small.hierarchy;
  FrameLayout layout;
  layout.ndim = h.dims;
  layout.components = static_cast<int>(h.components.size());
  for (const Box& box : h.levels[l].boxes) {
    FrameBox in_frame;
    for (int d = 0; d < h.dims; ++d) {
      in_frame.lo[static_cast<size_t>(d)] = box.lo[d];
      in_frame.size[static_cast<size_t>(d)] = box.size(d);
    }
    for (size_t f = 0; l + 1 < h.levels.size() && f < h.levels[l + 1].boxes.size(); ++f) {
      const Box part = intersect(box, coarsen(h.levels[l + 1].boxes[f], h.levels[l].ref_ratio));
      if (part.empty()) continue;
      Rect rect;
      for (int d = 0; d < h.dims; ++d) {
        rect.lo[static_cast<size_t>(d)] = part.lo[d] - box.lo[d];
        rect.size[static_cast<size_t>(d)] = part.size(d);
      }
      in_frame.covered.push_back(rect);
    }
    layout.boxes.push_back(in_frame);
  }
  layout.element_count = layout.held_elements() + 17;
  return layout;
}

void put_level(Places& places, const SmallPlotfile& small, size_t l, Codec codec, Arrangement arrangement,
               int unit, bool drops, bool nests, bool merges = false) {
  const FrameLayout layout = layout_of(small, l);
  std::vector<BoxData> data;
  for (size_t b = 0; b < layout.boxes.size(); ++b) {
    data.push_back(dense_box_data(small.values[l][b].data(), layout.boxes[b]));
  }
  ComponentSpec spec;
  spec.asked = {BoundMode::rel, 1e-3};
  spec.codec = codec;
  spec.tuning.arrangement = arrangement;
  spec.tuning.unit_cells = unit;
  spec.tuning.merge_units = merges;
  spec.drop_covered = drops;
  spec.may_nest = nests;
  std::vector<ComponentSpec> specs;
  for (int c = 0; c < layout.components; ++c) {
    spec.range = {};
    for (size_t b = 0; b < data.size(); ++b) {
      spec.range.merge(must(scan_range(small.hierarchy.dtype, layout.boxes[b], data[b], c, {}), small.name));
    }
    spec.bound_abs = absolute_bound(spec.asked, spec.range);
    specs.push_back(spec);
  }
  const PositionLevel<float> f32;
  const PositionLevel<double> f64;
  Nesting nesting;
  nesting.coarser = small.hierarchy.dtype == DType::f32 ? static_cast<const CoarserLevel*>(&f32) : &f64;
  for (int d = 0; d < layout.ndim; ++d) nesting.ratio[static_cast<size_t>(d)] = 2;
  const std::string name =
      label(small.name, codec,
            "level" + std::to_string(l) + "_" + arrangement_text(arrangement, unit) +
                (drops ? "_drops" : "") + (nests ? "_nests" : "") + (merges ? "_merges" : ""));
  const auto frame =
      must(encode_frame(small.hierarchy.dtype, layout, specs, data, {}, nullptr, nests ? &nesting : nullptr),
           name);
  places.put("frame", name, frame);
}

void put_levels(Places& places, const SmallPlotfile& small) {
  for (size_t l = 0; l < small.hierarchy.levels.size(); ++l) {
    for (const Codec codec : codecs) {
      const bool drops = l + 1 < small.hierarchy.levels.size();
      put_level(places, small, l, codec, Arrangement::in_place, 0, drops, false);
      put_level(places, small, l, codec, Arrangement::linear, 8, drops, false);
      put_level(places, small, l, codec, Arrangement::cluster, 8, drops, false);
      put_level(places, small, l, codec, Arrangement::linear, 64, drops, false);
      put_level(places, small, l, codec, Arrangement::automatic, 0, false, false);
    }
    for (const Codec codec : {Codec::lorenzo_regression, Codec::interpolation}) {
      put_level(places, small, l, codec, Arrangement::linear, 8, l + 1 < small.hierarchy.levels.size(), false,
                true);
    }
    put_level(places, small, l, Codec::interpolation, Arrangement::automatic, 0, false, true);
    put_level(places, small, l, Codec::context, Arrangement::automatic, 0, false, true);
  }
}

}  // namespace

void make_frame_seeds(Places& places) {
  for (const NamedArray& real : real_arrays(places)) {
    put_floats(places, real);
    put_integers(places, real);
  }
  for (const SmallPlotfile& small : small_plotfiles(places)) put_levels(places, small);
}

// Chunks of values as they are, which leave before the encoder knows that all will be.
void put_raw_blocks(Places& places, const NamedArray& real, StreamOptions options) {
  options.dtype = real.array.dtype;
  options.shape = real.array.shape;
  options.bound = {BoundMode::abs, std::numeric_limits<double>::min()};
  auto encoder = StreamEncoder::create(options);
  if (!encoder.ok()) return;
  const uint64_t values = real.array.values.size() / dtype_bytes(real.array.dtype);
  if (!encoder->push(real.array.values.data(), values).ok() || !encoder->finish().ok()) return;
  places.put("stream", real.name + "_raw_blocks", encoder->output());
}

void make_stream_seeds(Places& places) {
  constexpr Bound bounds[] = {{BoundMode::rel, 1e-1},
                              {BoundMode::rel, 1e-4},
                              {BoundMode::rel, 1e-6},
                              {BoundMode::abs, std::numeric_limits<double>::min()},
                              {BoundMode::ratio, 8}};
  for (const NamedArray& real : real_arrays(places)) {
    int number = 0;
    for (const Bound& bound : bounds) {
      for (const CodebookRule rule : {CodebookRule::exact_cost, CodebookRule::always, CodebookRule::never}) {
        StreamArrayOptions options;
        options.stream.bound = bound;
        options.stream.rule = rule;
        options.stream.block_values = 512;
        options.stream.chunk_bytes = 4096;
        options.stream.restart_blocks = rule == CodebookRule::always ? 2 : 0;
        const auto stream =
            encode_stream(real.array.dtype, real.array.shape, real.array.values.data(), options);
        if (stream.ok()) places.put("stream", real.name + "_" + std::to_string(number++), *stream);
        if (number == 1) put_raw_blocks(places, real, options.stream);
      }
    }
  }
}

namespace {

// A frame file as it grows.
class GrowingFile {
 public:
  void add(PieceKind kind, DType dtype, const FileBox& box, std::span<const std::byte> stored) {
    FramePiece piece;
    piece.kind = kind;
    piece.dtype = dtype;
    piece.at = file_.size();
    piece.bytes = stored.size();
    if (kind == PieceKind::raw) piece.checksum = checksum(stored);
    piece.place = FilePlace(box);
    index_.bytes = std::max(index_.bytes, box.end());
    index_.pieces.push_back(std::move(piece));
    file_.insert(file_.end(), stored.begin(), stored.end());
  }

  size_t pieces() const { return index_.pieces.size(); }
  std::vector<std::byte> finished() {
    const auto listed = index_bytes(index_);
    const auto header = header_bytes(index_, file_.size(), listed);
    std::copy(header.begin(), header.end(), file_.begin());
    file_.insert(file_.end(), listed.begin(), listed.end());
    return file_;
  }

 private:
  FrameFileIndex index_;
  std::vector<std::byte> file_ = std::vector<std::byte>(frame_file_header_bytes);
};

}  // namespace

void make_frame_file_seeds(Places& places) {
  for (const NamedArray& real : real_arrays(places)) {
    const auto value_bytes = static_cast<uint32_t>(dtype_bytes(real.array.dtype));
    const uint64_t values = real.array.values.size() / value_bytes;
    GrowingFile file;
    const std::span<const std::byte> all(real.array.values);
    file.add(PieceKind::raw, DType::f32, line_box(0, 1, 64), pack_raw(all.first(64)));
    constexpr uint64_t piece = 700;
    // The last pieces lie over the first ones; each second one in rows with gaps.
    for (uint64_t first = 0; first + piece <= values && file.pieces() < 5; first += piece - 100) {
      const std::vector<uint64_t> shape = {10, piece / 10};
      ArrayOptions options;
      options.bound = {BoundMode::rel, 1e-3};
      const auto frame = must(
          encode_array(real.array.dtype, shape, all.subspan(first * value_bytes).data(), options), real.name);
      FileBox box{64 + first * value_bytes, value_bytes, 2, {}};
      box.directions[0] = {shape[0], (shape[1] + (file.pieces() % 2 == 0 ? 30 : 0)) * value_bytes};
      box.directions[1] = {shape[1], value_bytes};
      file.add(PieceKind::frame, real.array.dtype, box, frame);
    }
    file.add(PieceKind::zeros, DType::f32, line_box(100, 3, 70), {});
    places.put("frame_file", real.name, file.finished());
  }
}

}  // namespace neve::fuzz
