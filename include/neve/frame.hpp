// SPDX-License-Identifier: BSD-3-Clause
// A frame: the compressed form of a group of boxes of one level (one HDF5 chunk), or of one array.
// docs/format.md is the contract for its bytes. Nothing here is collective; all functions are
// thread-safe as long as their outputs are distinct.
#pragma once

#include <array>
#include <cmath>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "neve/box.hpp"
#include "neve/members.hpp"
#include "neve/selection_report.hpp"
#include "neve/span.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

#pragma GCC visibility push(default)
namespace neve {

inline constexpr int max_frame_dims = 4;
using Extents = std::array<int64_t, max_frame_dims>;  // x first (fastest); 1 past ndim

// A rectangle of cells relative to its box: first cell and size in each direction.
struct Rect {
  Extents lo{0, 0, 0, 0};
  Extents size{1, 1, 1, 1};

  int64_t cells() const { return size[0] * size[1] * size[2] * size[3]; }
  bool operator==(const Rect& other) const { return lo == other.lo && size == other.size; }
  bool operator!=(const Rect& other) const { return !(*this == other); }
};

struct FrameBox {
  Extents lo{0, 0, 0, 0};  // place in the level's index space
  Extents size{1, 1, 1, 1};
  // Cells a finer level covers, which components may leave out. Disjoint: together at most all of the box's.
  std::vector<Rect> covered;

  int64_t cells() const { return size[0] * size[1] * size[2] * size[3]; }
};

// The contents of a decoded frame: box after box, in a box component after component, x fastest, from element
// 0 without gaps; then zeros up to element_count.
//
// A box too large for one chunk is cut: such a frame has exactly this one box and holds elements
// [split_begin, split_begin + split_count) of its components x cells.
struct FrameShape {
  int ndim = 3;                // 1..max_frame_dims
  int components = 1;          // 1..65535
  uint64_t element_count = 0;  // >= the elements held
  bool is_split = false;
  uint64_t split_begin = 0;           // 0 unless is_split
  uint64_t split_count = 0;           // ignored unless is_split
  bool is_array = false;              // array_shape counts; an array without elements has no boxes
  std::vector<uint64_t> array_shape;  // the user's shape, slowest first; empty for a single value
};

// The boxes that an encoder is to put into a frame.
struct FrameLayout : FrameShape {
  std::vector<FrameBox> boxes;  // at least one, except for an array without elements

  uint64_t held_elements() const;
};

// Minimum and maximum of the finite values that are not `fill`. Ranks merge theirs by min and max.
struct ValueRange {
  double min = 0;
  double max = 0;
  bool empty = true;  // no such value

  void merge(const ValueRange& other);
  double width() const;  // max - min, at most the largest double; 0 when empty
};

// Values besides the fill value that mark missing data, of which CF (section 2.5.1) has several kinds:
// `missing_value`, netCDF's default, values outside valid_min and valid_max. They come back bit for bit and
// do not count in any range.
struct MissingValues {
  std::vector<double> fills;  // each as the data's type holds it
  double lowest = -HUGE_VAL;  // below it nothing is valid
  double highest = HUGE_VAL;
  // Readers find missing values by comparing: no other value decodes to one of them, or to the fill value.
  bool is_mask = false;
  // HDF5 fills chunks up with zeros: they come back as zeros and do not count in any range, but other values
  // may also become 0.
  bool has_zero_padding = false;

  auto fields() const { return all_members<5>(*this); }
  bool operator==(const MissingValues& other) const { return fields() == other.fields(); }
  bool operator!=(const MissingValues& other) const { return !(*this == other); }
};

// Encoding that can be repeated: decoded values are multiples of a step that depends only on the bound, the
// type and this range. So they stay the same however often they are encoded again with other values around
// them. Codec automatic then chooses among the codecs that can do this (repeats_values).
struct Lattice {
  ValueRange range;  // the range of all values to come, if known; it leaves room for rounding
};

// How one component is to be encoded. With codecs dual_quant, exact and constant, equal values decode to
// equal values under equal specs, whatever values stand around them. The other codecs predict from values
// that were decoded before, and only keep the bound.
struct ComponentSpec {
  double bound_abs = 0;  // largest |decoded - original| of a finite value; 0 = exact
  Bound asked;           // what the user asked for, kept for `info`
  Codec codec = Codec::automatic;
  CodecTuning tuning;
  // With codec automatic: the one to use without comparison (SelectionMemory); automatic: none.
  Codec recalled = Codec::automatic;
  // The arrangement of its sections then; automatic and in_place: in place.
  Arrangement recalled_arrangement = Arrangement::automatic;
  // With tuning.method automatic: the method of codec lossless to use without comparison.
  LosslessMethod recalled_method = LosslessMethod::automatic;
  ValueRange range;            // where most values lie: codes count from its middle when it is far from 0
  std::optional<double> fill;  // value that marks missing data; comes back bit for bit
  bool drop_covered = false;   // leave out the cells of FrameBox::covered ...
  bool may_nest = false;       // sections may be coded with values of the next coarser level (Nesting)
  // With codec automatic: a decoded value must depend only on its original and this, not on its neighbours.
  bool decodes_alone = false;
  // Instead of `fill` for integers, two's complement, since a double does not hold all of 64 bits.
  std::optional<uint64_t> integer_fill;
  MissingValues missing;           // of floating point
  std::optional<Lattice> lattice;  // of floating point; with codec automatic, dual_quant, exact or lossless
};

// Where a box's values are: value (x,y,z,w) of component c is at
// data[component_begin(c) + x + y*stride[1] + z*stride[2] + w*stride[3]] (in elements, stride[0] == 1).
struct BoxData {
  const void* data = nullptr;
  int64_t component_stride = 0;
  std::array<int64_t, max_frame_dims> stride{1, 0, 0, 0};
  // ... except where this (cells x components bytes, x fastest, component by component) is non-zero: covered
  // cells that must be kept because the average of the finer cells is outside the bound. Null: none.
  const uint8_t* keep = nullptr;
  // Of components that were allocated apart: where each begins, in elements from `data` (component_offsets).
  // Null: they are component_stride apart.
  const int64_t* component_offsets = nullptr;

  int64_t component_begin(int component) const {
    return component_offsets != nullptr ? component_offsets[component] : component * component_stride;
  }
};

// Strides of a box held without ghosts, components one after another.
BoxData dense_box_data(const void* data, const FrameBox& box);

// BoxData::component_offsets of components that begin at these addresses, with BoxData::data the first one's.
// Errors: usage where one is null, or not a whole number of values away from the first.
Result<std::vector<int64_t>> component_offsets(DType dtype, Span<const void* const> components);

// Values of the next coarser level, for sections that are coded with it (Arrangement::nested).
class CoarserLevel {
 public:
  virtual ~CoarserLevel() = default;
  // Decoded values of a component in a rectangle of that level's index space, x fastest, and for each cell 1
  // in `held` where the level stores a value; 0 where it has no such cell or leaves it out, whatever the
  // value. Called from several threads at once where a frame is encoded or decoded in several.
  virtual Status read(int component, const Rect& cells, std::byte* values, uint8_t* held) const = 0;
};

// Lets an encoder use the next coarser level: components with ComponentSpec::may_nest use it where that is
// smaller.
struct Nesting {
  const CoarserLevel* coarser = nullptr;
  Extents ratio{1, 1, 1, 1};  // finer cells a coarser one has in each direction, at least 1; 1 past ndim
};

struct EncodeOptions {
  Effort effort = Effort::fast;
  int threads = 1;       // used inside one frame; 1 to max_threads. Fewer where the system gives no more
  bool explain = false;  // FrameReport::selections
};

struct ComponentReport {
  double bound_abs = 0;  // the bound that its values keep; for a ratio or a PSNR: the bound that was found
  uint64_t stored_bytes = 0;  // its sections, without the tables and the header that all share
  uint64_t cells = 0;         // cells held, left-out ones not counted
  uint64_t left_out_cells = 0;
  uint64_t special_cells = 0;  // NaN, infinities, -0, fill
  uint64_t exact_cells = 0;    // finite values the bound could not hold, stored bit for bit
  double max_abs_error = 0;
  // Of most of its cells:
  Codec codec = Codec::dual_quant;
  Arrangement arrangement = Arrangement::linear;
  // The codec that `auto` compared it with, and the bytes that this would have taken (an estimate if a sample
  // was enough); Codec::automatic when there was no choice.
  Codec rival = Codec::automatic;
  uint64_t rival_bytes = 0;
  bool rival_is_estimate = false;
  int unit_cells = 0;                                 // side of its unit blocks; 0: none
  LosslessMethod method = LosslessMethod::automatic;  // of codec lossless
};

// A section as a frame's header has it.
struct SectionInfo {
  int component = 0;
  uint64_t cells = 0;
  uint64_t stored_bytes = 0;
  Codec codec = Codec::dual_quant;
  Arrangement arrangement = Arrangement::linear;
  int unit_cells = 0;  // side of its unit blocks; 0: none
};

struct FrameReport {
  std::vector<ComponentReport> components;
  std::vector<SectionInfo> sections;        // in the frame's order
  std::vector<SelectionReport> selections;  // by component; empty unless EncodeOptions::explain
  // The ratio or the PSNR (dB, infinite without any error) of an array that asked for one.
  double reached = 0;
};

// Encode. `boxes[i]` holds the values of layout.boxes[i]. Integers take codec automatic, lossless or exact
// and no bound. The frame's bytes do not depend on threads nor on the SIMD target. The encoder checks every
// value with the decoder's arithmetic. Errors: usage (layout, bound, spec counts), failure (no memory).
Result<std::vector<std::byte>> encode_frame(DType dtype, const FrameLayout& layout,
                                            Span<const ComponentSpec> specs, Span<const BoxData> boxes,
                                            const EncodeOptions& options = {}, FrameReport* report = nullptr,
                                            const Nesting* nesting = nullptr);

// A component as the header describes it.
struct ComponentInfo {
  Bound asked;
  double bound_abs = 0;
  double center = 0;  // a dual_quant value is code * step + center, computed in the frame's dtype
  double step = 0;    // 0 when no section uses dual_quant
  // Measured by the encoder over this frame, in the values' own arithmetic: for f32 it may be up to 2^-24 of
  // itself below or above the result of f64 arithmetic.
  double max_abs_error = 0;
  std::optional<double> fill;
  bool drops_covered = false;
  std::optional<uint64_t> integer_fill;  // `fill` of integers, two's complement
  MissingValues missing;                 // integers have none
  std::optional<Lattice> lattice;        // as in ComponentSpec; not with a ratio or a PSNR
};

// A frame's header, without the places of its boxes.
struct FrameDescription {
  DType dtype = DType::f64;
  FrameShape shape;
  uint64_t boxes = 0;
  uint64_t held_elements = 0;  // the rest of element_count is 0
  std::vector<ComponentInfo> components;
  std::vector<SectionInfo> sections;
  uint64_t header_bytes = 0;  // header with section table and shared codebooks
  uint64_t frame_bytes = 0;
};

// Checks everything that Frame::parse checks, and takes less memory: boxes are read one by one and not kept
// (docs/guarantees.md, "Hostile input"). Errors: those of Frame::parse.
Result<FrameDescription> describe_frame(Span<const std::byte> bytes);

// A parsed frame. Keeps a view of the bytes: they must outlive it.
class Frame {
 public:
  // Checks magic, version, sizes and the header's checksum; touches no section.
  // Errors: corrupt (what, where, found, allowed).
  static Result<Frame> parse(Span<const std::byte> bytes);

  // Checks that the frame is all of the `bytes` that it was parsed from: bytes after a frame that stands
  // alone mean damage. Errors: corrupt.
  Status check_stands_alone(uint64_t bytes) const;
  Frame(Frame&&) noexcept;
  Frame& operator=(Frame&&) noexcept;
  ~Frame();

  DType dtype() const;
  const FrameShape& shape() const;
  uint64_t held_elements() const;
  uint64_t box_count() const;
  // A box's place in the level's index space; empty from box_count() on. Boxes are packed: finding one takes
  // some dozens of steps.
  Rect box(uint64_t number) const;
  // The number of its first element in the frame; held_elements() from box_count() on.
  uint64_t first_element(uint64_t box) const;
  // The number of the box whose first element in the frame is `element`; nothing where none begins there.
  std::optional<uint64_t> find_box(uint64_t element) const;
  // Memory of the parsed header, in addition to the frame's bytes.
  uint64_t memory_bytes() const;
  const std::vector<ComponentInfo>& components() const;
  const std::vector<SectionInfo>& sections() const;
  uint64_t header_bytes() const;  // header with section table and shared codebooks
  // Whether any section of the component was coded with values of the next coarser level. Decoding such a
  // section needs `coarser` below and is refused as corrupt without it; all other sections ignore it.
  bool needs_coarser_level(int component) const;

  // The whole frame, element_count values. Left-out cells hold finite values near their neighbours.
  // Errors: corrupt; usage when out_bytes is not element_count values, or threads not 1 to max_threads.
  Status decode(std::byte* out, uint64_t out_bytes, int threads = 1,
                const CoarserLevel* coarser = nullptr) const;

  // One component of one box, cells() values, x fastest; reads only the sections that hold it.
  // For a split frame only the cells it holds are written, at their place in the box.
  Status decode_box(int box, int component, std::byte* out, uint64_t out_bytes,
                    const CoarserLevel* coarser = nullptr) const;

  // One component of all boxes: box after box, in a box x fastest. A split frame gives the cells it holds of
  // that component, without gaps. Reads only the sections that hold it.
  // Errors: corrupt; usage when out_bytes is not component_values(component) values.
  Status decode_component(int component, std::byte* out, uint64_t out_bytes, int threads = 1,
                          const CoarserLevel* coarser = nullptr) const;
  uint64_t component_values(int component) const;  // 0 for a component that does not exist

  // Cells of that box and component which the frame does not hold because they are covered (1), one byte a
  // cell; empty when none. A split frame marks only cells inside its range.
  Result<std::vector<uint8_t>> left_out(int box, int component) const;

 private:
  struct State;
  explicit Frame(std::unique_ptr<State>);
  static Result<Frame> parse_unguarded(Span<const std::byte> bytes);
  Result<std::vector<uint8_t>> left_out_unguarded(int box, int component) const;
  template <class Visit>
  Status decoded(const Visit& visit) const;

  std::unique_ptr<State> state_;
};

// --- value ranges -------------------------------------------------------------------------------------

// The range of one component of a box, without missing values. Errors: usage for integers, data that is null,
// or a component below 0.
Result<ValueRange> scan_range(DType dtype, const FrameBox& box, const BoxData& data, int component,
                              std::optional<double> fill, const MissingValues& missing = {});

// Whether an extreme of the range is a value that is often used for missing data (1e20, -999, netCDF's
// defaults, ...). Returns it; the caller scans again with it as `fill` and calls accept_fill.
std::optional<double> suspect_fill(DType dtype, const ValueRange& range);
// A suspect is a fill value when it lies outside the range of the others by more than that range.
bool accept_fill(double suspect, const ValueRange& others);
// Both steps for integers, for which netCDF has its own defaults; two's complement. Nothing for other types
// and for data that is null.
std::optional<uint64_t> detect_integer_fill(DType dtype, const FrameBox& box, const BoxData& data);

// The absolute bound that results from a user's bound. 0 (exact) for lossless, an empty or a zero range, and
// for a ratio, whose bound is not known here. For a PSNR the bound that keeps it whatever the errors are.
double absolute_bound(const Bound& bound, const ValueRange& range);

// --- arrays -------------------------------------------------------------------------------------------

// For a ratio encode_array tries bounds up to the range of the values, for about the smallest one whose ratio
// is at most 3 % below; that more is reached under it may be: ratios jump. Where none is found: an error
// (usage), or with `bound.best_effort` the smallest frame there is, or one that is hardly larger with a
// smaller error. For a PSNR it tries for the largest bound that meets it. `reached` in the report and
// max_abs_error give the result.
struct ArrayOptions {
  Bound bound;  // integers: lossless
  Codec codec = Codec::automatic;
  CodecTuning tuning;
  std::optional<double> fill;  // given, else detected
  bool detect_fill = true;
  EncodeOptions encode;
  std::optional<uint64_t> integer_fill;  // `fill` of integers, two's complement
  MissingValues missing;                 // integers have none
  std::optional<Lattice> lattice;        // as in ComponentSpec; not with a ratio or a PSNR
};

// An N-d C-contiguous array (shape slowest first, 0 to 32 dimensions, sizes may be 0 or 1) as one frame.
// `data` may be null where a size is 0. Errors: usage, failure (no memory).
Result<std::vector<std::byte>> encode_array(DType dtype, Span<const uint64_t> shape, const void* data,
                                            const ArrayOptions& options, FrameReport* report = nullptr);

// Which instruction set the kernels run with: "AVX2", "SSE4", "portable", ... NEVE_SIMD forces one.
std::string simd_target();
std::vector<std::string> simd_targets();          // all this machine can run
Status set_simd_target(const std::string& name);  // not thread-safe; for tests and the command

}  // namespace neve
#pragma GCC visibility pop
