// SPDX-License-Identifier: BSD-3-Clause
// `neve compress`: one .npy array into one frame, or into a stream.
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <iostream>
#include <memory>
#include <nlohmann/json.hpp>

#include "core/catalog/refusals.hpp"
#include "core/options/idle.hpp"
#include "core/options/slots.hpp"
#include "core/options/value_text.hpp"
#include "core/select/asked_target.hpp"
#include "io/files/target.hpp"
#include "io/files/temporary_file.hpp"
#include "neve/frame.hpp"
#include "neve/options.hpp"
#include "tools/common/console.hpp"
#include "tools/common/idle_options.hpp"
#include "tools/common/json_text.hpp"
#include "tools/common/options.hpp"
#include "tools/common/ranks.hpp"
#include "tools/neve/array_file.hpp"
#include "tools/neve/commands.hpp"
#include "tools/neve/compress_stream.hpp"
#include "tools/neve/explanation.hpp"

namespace neve::cli {
namespace {

// Of the table of options, what means something to a stream.
bool is_of_stream(std::string_view key) { return key == "bound" || key == "best_effort" || key == "fill"; }

struct Args {
  std::string input, output;
  OptionFlags flags;  // of the table of options
  bool json = false;
  StreamArgs stream;
};

Result<ArrayOptions> array_options(const Args& args) {
  options::ArraySlots slots;
  NEVE_TRY(args.flags.read(slots.slots()));
  ArrayOptions options = slots.take();
  NEVE_TRY(check_tuning(options.tuning));
  return options;
}

// Options that would have no effect on what is made.
Status check_options(const CLI::App& command, const Args& args) {
  std::vector<OptionUse> uses;
  for (const options::Option& option : options::table()) {
    if (!args.stream.is_wanted || is_of_stream(option.key) || !args.flags.is_given(option.key)) continue;
    return usage_error(fmt::format("--{} has no meaning with --stream", options::dashed(option.key)));
  }
  const std::vector<OptionUse> of_stream = stream_option_uses(args.stream);
  uses.insert(uses.end(), of_stream.begin(), of_stream.end());
  NEVE_TRY(refuse_idle(command, uses));
  if (args.stream.is_wanted) return {};
  NEVE_ASSIGN(const ArrayOptions options, array_options(args));
  return refuse_idle_codec_options(args.flags.asked(), options::codec_uses(options));
}

Status compress(const Args& args) {
  NEVE_ASSIGN(ArrayOptions options, array_options(args));
  if (args.stream.is_wanted)
    return compress_stream({args.input, args.output, args.json}, options, args.stream);
  NEVE_TRY(files::check_is_another(args.input, args.output));
  NEVE_ASSIGN(const plotfile::NpyArray array, plotfile::read_npy(args.input));
  options = options_for(array.dtype, std::move(options));
  if (is_integer(array.dtype) && options.fill) {
    return usage_error(fmt::format("--fill '{}' is not a value of type {}", args.flags.text("fill"),
                                   dtype_name(array.dtype)));
  }
  FrameReport report;
  const double begin_seconds = MPI_Wtime();
  NEVE_ASSIGN(const std::vector<std::byte> frame,
              encode_array(array.dtype, array.shape, array.values.data(), options, &report));
  const double encode_seconds = MPI_Wtime() - begin_seconds;
  NEVE_TRY(files::write_file(args.output, frame));

  const ComponentReport& component = report.components.front();
  const std::optional<Explanation> explanation =
      options.encode.explain ? std::optional<Explanation>({report.selections.front(), options.tuning})
                             : std::nullopt;
  const double ratio = static_cast<double>(array.values.size()) / static_cast<double>(frame.size());
  if (args.json) {
    nlohmann::ordered_json j;
    j["source"] = args.input;
    j["destination"] = args.output;
    j["raw_bytes"] = array.values.size();
    j["stored_bytes"] = frame.size();
    j["ratio"] = ratio;
    j["bound"] = to_string(options.bound);
    j["bound_abs"] = component.bound_abs;
    j["max_abs_error"] = component.max_abs_error;
    j["special_cells"] = component.special_cells;
    j["exact_cells"] = component.exact_cells;
    j["codec"] = codec_name(component.codec);
    if (component.codec == Codec::lossless) j["method"] = lossless_method_name(component.method);
    j["arrangement"] = arrangement_text(component.arrangement, component.unit_cells);
    if (options.bound.mode == BoundMode::ratio || options.bound.mode == BoundMode::psnr) {
      j["reached"] =
          std::isfinite(report.reached) ? nlohmann::ordered_json(report.reached) : nlohmann::ordered_json();
    }
    if (explanation) j["explanation"] = explanation_json(*explanation);
    j["seconds"] = {{"encode", encode_seconds}};
    std::cout << json_text(j) << std::endl;
  } else {
    std::cout << fmt::format("{}: {} -> {}, {}, max error {} (bound {})\n", args.output,
                             human_bytes(array.values.size()), human_bytes(frame.size()), human_change(ratio),
                             human_error(component.max_abs_error), human_error(component.bound_abs))
              << missed_ratio_text(options.bound, ratio)
              << (explanation ? "\n" + explanation_text(args.input, *explanation) : "") << std::flush;
  }
  return {};
}

}  // namespace

Command add_compress(CLI::App& app) {
  CLI::App* sub = app.add_subcommand("compress", "Compress one .npy array into one file");
  auto args = std::make_shared<Args>();
  sub->add_option("IN", args->input,
                  "a .npy array of floating-point numbers, or of integers, which are kept bit for bit")
      ->required();
  sub->add_option("OUT", args->output, "the compressed array, with the same bytes as neve.compress")
      ->required();
  static options::ArraySlots defaults;
  args->flags.add(*sub, for_targets(options::array), defaults.slots());
  args->flags.describe(
      "bound",
      "abs=X (largest error), rel=X (of the value range), ratio=X (bytes before / after), psnr=X (dB) or "
      "lossless");
  sub->get_option("--bound")->required()->default_str("");
  sub->add_flag("--json", args->json, "the report as JSON on stdout")
      ->group(options::heading(options::Group::common));
  add_stream_options(*sub, args->stream);
  sub->footer(
      "Under mpirun one rank does the work.\n"
      "Examples:\n"
      "  neve compress field.npy field.neve --bound rel=1e-3\n"
      "  neve compress sst.npy sst.neve --bound abs=0.01 --fill -999\n"
      "  neve compress field.npy field.neve --bound ratio=10\n"
      "  neve compress field.npy field.neve --bound ratio=50 --best-effort\n"
      "  neve compress field.npy field.nevs --bound rel=1e-3 --stream --chunk 4MiB\n"
      "  neve compress field.npy field.nevs --bound rel=1e-3 --stream --engine --lanes 4\n"
      "  neve compress theta.npy theta.neve --bound lossless --method BW-zlib\n"
      "  neve compress theta.npy theta.neve --bound lossless --effort balanced --explain\n"
      "  neve compress landuse.npy landuse.neve --bound lossless --fill 255");
  Command command{sub, {}, {}};
  command.parallel = [args, sub](const Ranks& ranks) {
    return ranks.on_first("compress", [&]() -> Status {
      NEVE_TRY(check_options(*sub, *args));
      return compress(*args);
    });
  };
  return command;
}

}  // namespace neve::cli
