// SPDX-License-Identifier: BSD-3-Clause
// Time steps of variables, and the log of how their methods were chosen.
#include <nanobind/stl/map.h>
#include <nanobind/stl/string.h>
#include <nanobind/stl/string_view.h>
#include <nanobind/stl/vector.h>

#include <atomic>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <string>

#include "binding.hpp"
#include "neve/options.hpp"
#include "neve/series.hpp"

namespace neve::python {

namespace {

// How many steps and choices a memory's log has had, also those that it has dropped. Any number of threads.
class ChoiceCounts {
 public:
  // To be called after each step.
  void note(const SelectionMemory& memory) {
    if (++steps_noted_ % steps_between_counts == 0) count(memory);
  }

  nb::tuple told(const SelectionMemory& memory) {
    {
      const nb::gil_scoped_release release;
      count(memory);
    }
    const std::lock_guard lock(mutex_);
    return nb::make_tuple(steps_, steps_of_.size(), made_);
  }

 private:
  // Often enough that other threads' steps push none out of the log that is not counted.
  static constexpr uint64_t steps_between_counts = SelectionMemory::max_choices / 4;

  void count(const SelectionMemory& memory) {
    const std::lock_guard lock(mutex_);
    for (const Choice& choice : memory.choices()) {
      uint64_t& known = steps_of_[choice.variable];
      if (choice.step < known) continue;
      known = choice.step + 1;
      ++steps_;
      if (choice.reason != ChoiceReason::none) ++made_;
    }
  }

  std::atomic<uint64_t> steps_noted_ = 0;
  std::mutex mutex_;
  std::map<std::string, uint64_t> steps_of_;  // by variable, as the log numbers them
  uint64_t steps_ = 0, made_ = 0;
};

class Series {
 public:
  // `options` are those of neve/options.hpp, as text.
  explicit Series(const std::map<std::string, std::string>& options)
      : options_(unwrap(parse_series_options(options, lossless()))), memory_(options_.rules) {}

  // A frame of each piece. Pieces are C-contiguous and native-endian, of one dtype and shape;
  // neve/_series.py has seen to it.
  nb::list step(const std::string& variable, const std::string& dtype, const std::vector<uint64_t>& shape,
                const nb::list& pieces) {
    const DType type = dtype_of_name(dtype);
    std::vector<std::unique_ptr<Buffer>> inputs;
    for (const nb::handle piece : pieces)
      inputs.push_back(std::make_unique<Buffer>(piece, Buffer::Access::read));
    std::vector<std::vector<std::byte>> frames;
    {
      const nb::gil_scoped_release release;
      frames = unwrap(encode_step(
          type, shape, inputs.size(), [&](size_t i) { return inputs[i]->data(); },
          options_for(type, options_.array), memory_, variable));
      counts_.note(memory_);
    }
    nb::list made;
    for (const std::vector<std::byte>& frame : frames)
      made.append(nb::bytes(reinterpret_cast<const char*>(frame.data()), frame.size()));
    return made;
  }

  // Each as neve/_choice.py's Choice has it.
  nb::list choices() const {
    constexpr double nanosecond = 1e-9;
    nb::list told;
    for (const Choice& choice : memory_.choices()) {
      told.append(nb::make_tuple(choice.variable, choice.level, choice.step, selection_name(choice.selection),
                                 choice_reason_name(choice.reason), choice.performance, choice.estimate,
                                 selection_name(choice.rival), choice.rival_estimate, choice.raw_bytes,
                                 choice.coded_bytes, nanosecond * static_cast<double>(choice.choosing_ns),
                                 nanosecond * static_cast<double>(choice.coding_ns)));
    }
    return told;
  }

  uint64_t choices_dropped() const { return memory_.choices_dropped(); }
  nb::tuple counts() { return counts_.told(memory_); }

  nb::dict rules() const {
    const CodecTuning& tuning = options_.array.tuning;
    nb::dict told;
    told["candidates"] = lossless_methods_text(tuning.candidates);
    told["delta"] = options_.rules.delta;
    told["speeds"] = speeds_name(options_.rules.speeds);
    told["speed_weight"] = tuning.speed_weight;
    told["ratio_weight"] = tuning.ratio_weight;
    return told;
  }

 private:
  static OptionsSoFar lossless() {
    OptionsSoFar so_far;
    so_far.given = {"bound"};
    so_far.values.bound = {BoundMode::lossless, 0};
    return so_far;
  }

  SeriesOptions options_;
  SelectionMemory memory_;
  ChoiceCounts counts_;
};

}  // namespace

void bind_series(nb::module_& module) {
  module.attr("DEFAULT_DELTA") = ChoiceRules{}.delta;
  nb::class_<Series>(module, "Series")
      .def(nb::init<const std::map<std::string, std::string>&>(), nb::arg("options"))
      .def("step", &Series::step, nb::arg("variable"), nb::arg("dtype"), nb::arg("shape"), nb::arg("pieces"))
      .def_prop_ro("choices", &Series::choices)
      .def_prop_ro("choices_dropped", &Series::choices_dropped)
      .def_prop_ro("counts", &Series::counts)
      .def_prop_ro("rules", &Series::rules);
}

}  // namespace neve::python
