// SPDX-License-Identifier: BSD-3-Clause
// A parsed frame: what its header says, and decoding of all of it or of one box and component.
#include <nanobind/stl/optional.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/vector.h>

#include <cstring>
#include <mutex>
#include <vector>

#include "binding.hpp"
#include "neve/frame.hpp"

namespace neve::python {

namespace {

// The frame looks into the bytes, so they must live as long as it does.
class HeldFrame {
 public:
  explicit HeldFrame(nb::handle bytes)
      : input_(bytes, Buffer::Access::read), frame_(unwrap(Frame::parse(input_.bytes()))) {}

  const Frame& get() const { return frame_; }
  uint64_t input_bytes() const { return input_.size_bytes(); }

  Status decode_box(int box, int component, std::byte* out, uint64_t out_bytes) const {
    if (copy_kept(box, component, out, out_bytes)) return {};
    return frame_.decode_box(box, component, out, out_bytes);
  }

 private:
  static constexpr uint64_t max_kept_bytes = uint64_t{64} << 20;

  // From the component decoded whole, which is done when a second box of it is asked for: a section holds
  // many boxes, and decoding it for each would take as many times as long.
  bool copy_kept(int box, int component, std::byte* out, uint64_t out_bytes) const {
    const std::lock_guard lock(mutex_);
    const bool is_again = component == last_component_ && box != last_box_;
    if (component != last_component_) kept_ = {};
    last_component_ = component;
    last_box_ = box;
    const uint64_t value_bytes = dtype_bytes(frame_.dtype());
    const uint64_t bytes = frame_.component_values(component) * value_bytes;
    if (frame_.shape().is_split || box < 0 || static_cast<uint64_t>(box) >= frame_.box_count()) return false;
    if (kept_.empty() && is_again && bytes <= max_kept_bytes) {
      kept_.resize(bytes);
      // Damage to another box's section must not reach this one.
      if (!frame_.decode_component(component, kept_.data(), bytes).ok()) kept_ = {};
    }
    const auto number = static_cast<uint64_t>(box);
    const uint64_t of_box = static_cast<uint64_t>(frame_.box(number).cells()) * value_bytes;
    if (kept_.empty() || out_bytes != of_box) return false;
    const uint64_t begin =
        frame_.first_element(number) / static_cast<uint64_t>(frame_.shape().components) * value_bytes;
    std::memcpy(out, kept_.data() + begin, of_box);
    return true;
  }

  Buffer input_;
  Frame frame_;
  mutable std::mutex mutex_;
  mutable int last_component_ = -1;
  mutable int last_box_ = -1;
  mutable std::vector<std::byte> kept_;  // all boxes of last_component_; empty: not decoded
};

nb::tuple extents(const Extents& values, int ndim) {
  nb::list list;
  for (int d = 0; d < ndim; ++d) list.append(values[d]);
  return nb::tuple(list);
}

// Position and size.
nb::tuple box(const HeldFrame& held, uint64_t number) {
  if (number >= held.get().box_count()) throw nb::index_error("no such box");
  const Rect place = held.get().box(number);
  const int ndim = held.get().shape().ndim;
  return nb::make_tuple(extents(place.lo, ndim), extents(place.size, ndim));
}

// A float, an int or None.
nb::object fill_of(DType dtype, const ComponentInfo& component) {
  if (component.fill) return nb::cast(*component.fill);
  if (!component.integer_fill) return nb::none();
  if (is_signed(dtype)) return nb::cast(static_cast<int64_t>(*component.integer_fill));
  return nb::cast(*component.integer_fill);
}

nb::list components_of(DType dtype, const std::vector<ComponentInfo>& components) {
  nb::list list;
  for (const ComponentInfo& component : components) {
    nb::dict entry;
    entry["asked"] = to_string(component.asked);
    entry["bound_abs"] = component.bound_abs;
    entry["max_abs_error"] = component.max_abs_error;
    entry["fill"] = fill_of(dtype, component);
    entry["drops_covered"] = component.drops_covered;
    list.append(entry);
  }
  return list;
}

nb::list sections_of(const std::vector<SectionInfo>& sections) {
  nb::list list;
  for (const SectionInfo& section : sections) {
    nb::dict entry;
    entry["component"] = section.component;
    entry["cells"] = section.cells;
    entry["stored_bytes"] = section.stored_bytes;
    entry["codec"] = std::string(codec_name(section.codec));
    entry["arrangement"] = std::string(arrangement_name(section.arrangement));
    entry["unit"] = section.unit_cells;
    list.append(entry);
  }
  return list;
}

nb::list components(const HeldFrame& held) {
  return components_of(held.get().dtype(), held.get().components());
}

nb::list sections(const HeldFrame& held) { return sections_of(held.get().sections()); }

// What a header says, without keeping its boxes.
nb::dict describe(nb::handle bytes) {
  const Buffer input(bytes, Buffer::Access::read);
  const FrameDescription frame = unwrap(describe_frame(input.bytes()));
  nb::dict entry;
  entry["dtype"] = std::string(dtype_name(frame.dtype));
  entry["array_shape"] = frame.shape.array_shape;
  entry["is_array"] = frame.shape.is_array;
  entry["held_elements"] = frame.held_elements;
  entry["header_bytes"] = frame.header_bytes;
  entry["boxes"] = frame.boxes;
  entry["components"] = components_of(frame.dtype, frame.components);
  entry["sections"] = sections_of(frame.sections);
  return entry;
}

void check_stands_alone(const HeldFrame& held) { check(held.get().check_stands_alone(held.input_bytes())); }

void decode(const HeldFrame& held, nb::handle out, int threads) {
  const Buffer output(out, Buffer::Access::write);
  const nb::gil_scoped_release release;
  check(held.get().decode(output.data(), output.size_bytes(), threads));
}

void decode_box(const HeldFrame& held, int box, int component, nb::handle out) {
  const Buffer output(out, Buffer::Access::write);
  const nb::gil_scoped_release release;
  check(held.decode_box(box, component, output.data(), output.size_bytes()));
}

// All boxes one after the other.
void decode_component(const HeldFrame& held, int component, nb::handle out) {
  const Buffer output(out, Buffer::Access::write);
  const nb::gil_scoped_release release;
  check(held.get().decode_component(component, output.data(), output.size_bytes()));
}

// One byte a cell, x fastest; empty when the frame holds every cell.
nb::bytes left_out(const HeldFrame& held, int box, int component) {
  const std::vector<uint8_t> mask = unwrap(held.get().left_out(box, component));
  return nb::bytes(reinterpret_cast<const char*>(mask.data()), mask.size());
}

}  // namespace

void bind_frame(nb::module_& module) {
  module.def("describe_frame", &describe, nb::arg("bytes"));
  nb::class_<HeldFrame>(module, "Frame")
      .def(nb::init<nb::handle>(), nb::arg("bytes"))
      .def_prop_ro("dtype", [](const HeldFrame& f) { return std::string(dtype_name(f.get().dtype())); })
      .def_prop_ro("is_double", [](const HeldFrame& f) { return f.get().dtype() == DType::f64; })
      .def_prop_ro("element_count", [](const HeldFrame& f) { return f.get().shape().element_count; })
      .def_prop_ro("held_elements", [](const HeldFrame& f) { return f.get().held_elements(); })
      .def_prop_ro("array_shape", [](const HeldFrame& f) { return f.get().shape().array_shape; })
      .def_prop_ro("is_array", [](const HeldFrame& f) { return f.get().shape().is_array; })
      .def_prop_ro("is_split", [](const HeldFrame& f) { return f.get().shape().is_split; })
      .def_prop_ro("split_begin", [](const HeldFrame& f) { return f.get().shape().split_begin; })
      .def_prop_ro("split_count", [](const HeldFrame& f) { return f.get().shape().split_count; })
      .def_prop_ro("header_bytes", [](const HeldFrame& f) { return f.get().header_bytes(); })
      .def_prop_ro("box_count", [](const HeldFrame& f) { return f.get().box_count(); })
      .def("box", &box, nb::arg("number"))
      .def_prop_ro("components", &components)
      .def_prop_ro("sections", &sections)
      .def("check_stands_alone", &check_stands_alone)
      .def("decode", &decode, nb::arg("out"), nb::arg("threads"))
      .def("decode_box", &decode_box, nb::arg("box"), nb::arg("component"), nb::arg("out"))
      .def("decode_component", &decode_component, nb::arg("component"), nb::arg("out"))
      .def("left_out", &left_out, nb::arg("box"), nb::arg("component"));
}

}  // namespace neve::python
