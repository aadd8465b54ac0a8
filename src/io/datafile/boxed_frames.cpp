// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/boxed_frames.hpp"

#include <algorithm>
#include <cmath>

#include "core/bits/value_types.hpp"

namespace neve::datafile {
namespace {

bool is_lossy_spec(const ComponentSpec& spec) { return spec.bound_abs > 0; }

ComponentSpec spec_of_chunk(const std::vector<BoxPiece>& pieces, const std::vector<ComponentSpec>& specs) {
  const ComponentSpec* first = nullptr;
  ComponentSpec merged;
  merged.asked = {BoundMode::lossless, 0};
  for (const BoxPiece& piece : pieces) {
    if (piece.component == BoxPiece::no_component) continue;
    const ComponentSpec& spec = specs[static_cast<size_t>(piece.component)];
    if (&spec == first) continue;
    if (first == nullptr) {
      first = &spec;
      merged = spec;
      continue;
    }
    if (spec.bound_abs < merged.bound_abs || spec.fill != merged.fill) {
      const bool differ = spec.fill != merged.fill;
      const ValueRange range = merged.range;
      merged = spec;
      merged.range = range;
      if (differ) {
        merged.fill.reset();
        merged.bound_abs = 0;
      }
    }
    merged.range.merge(spec.range);
  }
  return merged;
}

template <class T>
bool is_special(T value, const std::optional<double>& fill) {
  if constexpr (std::is_floating_point_v<T>) {
    if (!std::isfinite(value) || (value == 0 && std::signbit(value))) return true;
  }
  return fill.has_value() && value == static_cast<T>(*fill);
}

// What each component has of the chunk. Exact cells, which nobody counts one by one, go to the component with
// most of the cells.
template <class T>
void measure(const std::vector<BoxPiece>& pieces, const BoxedPlan& plan, const T* values, const T* decoded,
             const ComponentReport& of_chunk, std::vector<ComponentReport>& out) {
  out.assign(plan.specs.size(), {});
  uint64_t total = 0, shared = 0;
  for (const BoxPiece& piece : pieces) total += static_cast<uint64_t>(piece.box.cells());
  for (const BoxPiece& piece : pieces) {
    const auto cells = static_cast<uint64_t>(piece.box.cells());
    // Differences of running shares: they add up to the whole.
    const auto share = [&](uint64_t upto) { return of_chunk.stored_bytes * upto / total; };
    if (piece.component != BoxPiece::no_component) {
      ComponentReport& report = out[static_cast<size_t>(piece.component)];
      const std::optional<double>& fill = plan.specs[static_cast<size_t>(piece.component)].fill;
      report.codec = of_chunk.codec;
      report.method = of_chunk.method;
      report.cells += cells;
      report.stored_bytes += share(shared + cells) - share(shared);
      for (uint64_t i = 0; i < cells; ++i) {
        if (is_special(values[i], fill)) {
          ++report.special_cells;
        } else {
          const double error = std::abs(static_cast<double>(values[i]) - static_cast<double>(decoded[i]));
          report.max_abs_error = std::max(report.max_abs_error, error);
        }
      }
    }
    shared += cells;
    values += cells;
    decoded += cells;
  }
  const auto most = std::max_element(out.begin(), out.end(),
                                     [](const auto& a, const auto& b) { return a.cells < b.cells; });
  if (most != out.end())
    most->exact_cells = std::min(of_chunk.exact_cells, most->cells - most->special_cells);
}

}  // namespace

bool BoxedPlan::is_lossy() const { return std::any_of(specs.begin(), specs.end(), is_lossy_spec); }

Result<BoxedFrame> encode_boxed_chunk(DType dtype, const BoxedPlan& plan, uint64_t first, uint64_t held,
                                      std::span<const std::byte> values, const EncodeOptions& options) {
  const size_t value_bytes = dtype_bytes(dtype);
  const uint64_t count = values.size() / value_bytes;
  std::vector<BoxPiece> pieces = plan.runs.pieces(first, first + held);
  if (held < count) {
    BoxPiece& rest = pieces.emplace_back();
    rest.box.size[0] = static_cast<int64_t>(count - held);
  }
  FrameLayout layout;
  layout.ndim = plan.runs.dims();
  layout.components = 1;
  layout.element_count = count;
  std::vector<BoxData> data;
  uint64_t at = 0;
  for (const BoxPiece& piece : pieces) {
    layout.boxes.push_back(piece.box);
    data.push_back(dense_box_data(values.data() + at * value_bytes, piece.box));
    at += static_cast<uint64_t>(piece.box.cells());
  }
  const ComponentSpec spec = spec_of_chunk(pieces, plan.specs);
  BoxedFrame made;
  NEVE_ASSIGN(made.frame, encode_frame(dtype, layout, {&spec, 1}, data, options, &made.report));
  if (!plan.is_lossy()) return made;
  std::vector<std::byte> decoded(values.size());
  NEVE_ASSIGN(const Frame frame, Frame::parse(made.frame));
  NEVE_TRY(frame.decode(decoded.data(), decoded.size()));
  ComponentReport of_chunk = made.report.components.front();
  of_chunk.stored_bytes = made.frame.size();
  visit_type(dtype, [&]<class T>(std::type_identity<T>) {
    measure(pieces, plan, reinterpret_cast<const T*>(values.data()),
            reinterpret_cast<const T*>(decoded.data()), of_chunk, made.components);
  });
  return made;
}

}  // namespace neve::datafile
