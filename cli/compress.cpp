// SPDX-License-Identifier: BSD-3-Clause
// `neve compress`: one .npy array into one frame.
#include <fmt/format.h>

#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "cli/array_file.hpp"
#include "cli/command.hpp"
#include "cli/console.hpp"
#include "cli/options.hpp"
#include "format/codec_choices.hpp"
#include "neve/frame.hpp"

namespace neve::cli {
namespace {

struct Args {
  std::string input, output;
  std::string bound, codec = "auto", effort = "fast", fill = "auto";
  TuningArgs tuning;
  int threads = 1;
  bool json = false;
};

Status set_fill(const std::string& text, DType dtype, ArrayOptions& options) {
  NEVE_ASSIGN(const FillChoice fill, parse_fill(text));
  options.detect_fill = fill.detect;
  if (!is_integer(dtype)) {
    options.fill = fill.value;
  } else if (fill.value && !fill.whole) {
    return usage_error(fmt::format("--fill '{}' is no value of {}", text, dtype_name(dtype)));
  } else {
    options.integer_fill = fill.whole;
  }
  return {};
}

Result<ArrayOptions> array_options(const Args& args) {
  ArrayOptions options;
  auto bound = parse_bound(args.bound);
  if (!bound.ok()) return bound.status().in("--bound");
  options.bound = *bound;
  NEVE_ASSIGN(options.codec, parse_codec(args.codec));
  NEVE_ASSIGN(options.tuning, parse_tuning(args.tuning));
  NEVE_ASSIGN(options.encode.effort, parse_effort(args.effort));
  NEVE_ASSIGN(options.encode.threads, check_threads(args.threads));
  NEVE_TRY(parse_fill(args.fill).status());
  return options;
}

Status compress(const Args& args) {
  NEVE_ASSIGN(ArrayOptions options, array_options(args));
  NEVE_ASSIGN(const plotfile::NpyArray array, plotfile::read_npy(args.input));
  NEVE_TRY(set_fill(args.fill, array.dtype, options));
  FrameReport report;
  const double begin_seconds = MPI_Wtime();
  NEVE_ASSIGN(const std::vector<std::byte> frame,
              encode_array(array.dtype, array.shape, array.values.data(), options, &report));
  const double encode_seconds = MPI_Wtime() - begin_seconds;
  NEVE_ASSIGN(const Frame parsed, Frame::parse(frame));
  NEVE_TRY(write_file(args.output, frame));

  const ComponentReport& component = report.components.front();
  const double ratio = static_cast<double>(array.values.size()) / static_cast<double>(frame.size());
  if (args.json) {
    nlohmann::ordered_json j;
    j["source"] = args.input;
    j["destination"] = args.output;
    j["raw_bytes"] = array.values.size();
    j["stored_bytes"] = frame.size();
    j["ratio"] = ratio;
    j["bound"] = to_string(options.bound);
    j["bound_abs"] = parsed.components().front().bound_abs;
    j["max_abs_error"] = component.max_abs_error;
    j["special_cells"] = component.special_cells;
    j["exact_cells"] = component.exact_cells;
    j["codec"] = codec_name(component.codec);
    if (component.codec == Codec::lossless) j["method"] = lossless_method_name(component.method);
    j["arrangement"] = arrangement_text(component.arrangement, component.unit_cells);
    j["seconds"] = {{"encode", encode_seconds}};
    std::cout << j.dump(2) << std::endl;
  } else {
    std::cout << fmt::format("{}: {} -> {}, {} times smaller, max error {} (bound {})\n", args.output,
                             human_bytes(array.values.size()), human_bytes(frame.size()), human_ratio(ratio),
                             human_error(component.max_abs_error),
                             human_error(parsed.components().front().bound_abs))
              << std::flush;
  }
  return {};
}

}  // namespace

Command add_compress(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("compress", "One .npy array into one compressed file");
  auto args = std::make_shared<Args>();
  sub->add_option("IN", args->input,
                  "a .npy array of floating point, or of integers, which are kept bit for bit")
      ->required();
  sub->add_option("OUT", args->output, "the compressed array, the bytes of neve.compress")->required();
  sub->add_option("--bound", args->bound, "abs=X (largest error), rel=X (of the value range) or lossless")
      ->required();
  sub->add_option("--codec", args->codec, codec_choices())->capture_default_str();
  add_tuning_options(*sub, args->tuning);
  sub->add_option("--effort", args->effort, "fast, balanced or max")->capture_default_str();
  sub->add_option("--fill", args->fill,
                  "the value that means 'nothing here': auto (detect), none or a number")
      ->capture_default_str();
  sub->add_option("--threads", args->threads, "threads")->capture_default_str();
  sub->add_flag("--json", args->json, "the report as JSON on stdout");
  sub->footer(
      "Under mpirun one rank does the work.\n"
      "Examples:\n"
      "  neve compress field.npy field.neve --bound rel=1e-3\n"
      "  neve compress sst.npy sst.neve --bound abs=0.01 --fill -999\n"
      "  neve compress theta.npy theta.neve --bound lossless --method BW-zlib\n"
      "  neve compress landuse.npy landuse.neve --bound lossless --fill 255");
  Command command{sub, {}, {}};
  command.parallel = [args](const Ranks& ranks) {
    return ranks.on_first("compress", [&] { return compress(*args); });
  };
  return command;
}

}  // namespace neve::cli
