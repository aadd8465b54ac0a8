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
#include "io/files/target.hpp"
#include "io/files/temporary_file.hpp"
#include "neve/frame.hpp"
#include "neve/options.hpp"
#include "neve/stream.hpp"
#include "tools/common/console.hpp"
#include "tools/common/idle_options.hpp"
#include "tools/common/options.hpp"
#include "tools/common/ranks.hpp"
#include "tools/neve/array_file.hpp"
#include "tools/neve/commands.hpp"
#include "tools/neve/explanation.hpp"

namespace neve::cli {
namespace {

// What only a stream has, as it was typed.
struct StreamArgs {
  std::string chunk = "32MiB", rule = "exact_cost";
  std::vector<double> chi{5.18, 9.69};
  uint32_t block = 1U << 16, restart = 0;
  int dims = 0;
};
// Options that mean something to a stream alone.
constexpr const char* stream_options[] = {"--chunk",        "--codebook-rule", "--chi",
                                          "--block-values", "--restart",       "--dims"};
// Of the table of options, what means something to a stream.
bool is_of_stream(std::string_view key) { return key == "bound" || key == "best_effort" || key == "fill"; }

struct Args {
  std::string input, output;
  OptionFlags flags;  // of the table of options
  bool json = false;
  bool stream = false;
  StreamArgs stream_options;
};

Result<ArrayOptions> array_options(const Args& args) {
  options::ArraySlots slots;
  NEVE_TRY(args.flags.read(slots.slots()));
  ArrayOptions options = slots.take();
  NEVE_TRY(check_tuning(options.tuning));
  return options;
}

Result<StreamArrayOptions> stream_array_options(const Args& args, DType dtype) {
  StreamArrayOptions options;
  NEVE_ASSIGN(const ArrayOptions common, array_options(args));
  options.stream.bound = common.bound;
  if (is_integer(dtype)) {
    return usage_error(
        fmt::format("--stream: the values are {}; allowed are f32 and f64", dtype_name(dtype)));
  }
  options.stream.fill = common.fill;
  options.detect_fill = common.detect_fill;
  NEVE_ASSIGN(options.stream.chunk_bytes, parse_bytes("--chunk", args.stream_options.chunk));
  if (options.stream.chunk_bytes < min_stream_chunk_bytes ||
      options.stream.chunk_bytes > max_stream_chunk_bytes) {
    return out_of_range("--chunk", options.stream.chunk_bytes, min_stream_chunk_bytes,
                        max_stream_chunk_bytes);
  }
  NEVE_ASSIGN(options.stream.rule, parse_codebook_rule(args.stream_options.rule));
  options.stream.chi_keep = args.stream_options.chi[0];
  options.stream.chi_offline = args.stream_options.chi[1];
  options.stream.block_values = args.stream_options.block;
  options.stream.restart_blocks = args.stream_options.restart;
  options.stream.dims = args.stream_options.dims;
  return options;
}

// Options that would have no effect on what is made.
Status check_options(const CLI::App& command, const Args& args) {
  std::vector<OptionUse> uses;
  for (const options::Option& option : options::table()) {
    if (!args.stream || is_of_stream(option.key) || !args.flags.is_given(option.key)) continue;
    return usage_error(fmt::format("--{} has no meaning with --stream", options::dashed(option.key)));
  }
  for (const char* option : stream_options) uses.push_back({option, args.stream, "without --stream"});
  const bool is_chi = args.stream_options.rule == codebook_rule_name(CodebookRule::chi);
  uses.push_back({"--chi", is_chi, "with this --codebook-rule; it is allowed with --codebook-rule chi"});
  NEVE_TRY(refuse_idle(command, uses));
  if (args.stream) return {};
  NEVE_ASSIGN(const ArrayOptions options, array_options(args));
  return refuse_idle_codec_options(args.flags.asked(), options::codec_uses(options));
}

nlohmann::ordered_json chunk_json(const ChunkReport& chunk) {
  return {{"values", chunk.values},
          {"stored_bytes", chunk.stored_bytes},
          {"bound_abs", chunk.bound_abs},
          {"max_abs_error", chunk.max_abs_error},
          {"exact_values", chunk.exact_values},
          {"special_values", chunk.special_values},
          {"raw_values", chunk.raw_values},
          {"extra_bits", chunk.extra_bits},
          {"codebook", chunk.reason == CodebookReason::raw
                           ? nlohmann::ordered_json()
                           : nlohmann::ordered_json(codebook_kind_name(chunk.codebook))},
          {"offline_codebook", chunk.offline_codebook < 0 ? nlohmann::ordered_json()
                                                          : nlohmann::ordered_json(chunk.offline_codebook)},
          {"reason", codebook_reason_name(chunk.reason)},
          {"chi", chunk.chi},
          {"kept_bits", chunk.kept_bits},
          {"rebuilt_bits", chunk.rebuilt_bits},
          {"offline_bits", chunk.offline_bits}};
}

Status compress_stream(const Args& args) {
  NEVE_TRY(files::check_is_another(args.input, args.output));
  NEVE_ASSIGN(const plotfile::NpyArray array, plotfile::read_npy(args.input));
  NEVE_ASSIGN(const StreamArrayOptions options, stream_array_options(args, array.dtype));
  std::vector<ChunkReport> chunks;
  const double begin_seconds = MPI_Wtime();
  NEVE_ASSIGN(const std::vector<std::byte> bytes,
              encode_stream(array.dtype, array.shape, array.values.data(), options, &chunks));
  const double encode_seconds = MPI_Wtime() - begin_seconds;
  NEVE_TRY(files::write_file(args.output, bytes));

  const double ratio = static_cast<double>(array.values.size()) / static_cast<double>(bytes.size());
  double max_error = 0;
  double bound_abs = 0;
  for (const ChunkReport& chunk : chunks) {
    max_error = std::max(max_error, chunk.max_abs_error);
    bound_abs = std::max(bound_abs, chunk.bound_abs);
  }
  if (args.json) {
    nlohmann::ordered_json j;
    j["source"] = args.input;
    j["destination"] = args.output;
    j["raw_bytes"] = array.values.size();
    j["stored_bytes"] = bytes.size();
    j["ratio"] = ratio;
    j["bound"] = to_string(options.stream.bound);
    j["bound_abs"] = bound_abs;
    j["max_abs_error"] = max_error;
    j["chunks"] = nlohmann::ordered_json::array();
    for (const ChunkReport& chunk : chunks) j["chunks"].push_back(chunk_json(chunk));
    j["seconds"] = {{"encode", encode_seconds}};
    std::cout << j.dump(2) << std::endl;
    return {};
  }
  std::cout << fmt::format("{}: {} -> {}, {}, max error {} (bound {})\n", args.output,
                           human_bytes(array.values.size()), human_bytes(bytes.size()), human_change(ratio),
                           human_error(max_error), human_error(bound_abs));
  for (size_t c = 0; c < chunks.size(); ++c) {
    const std::string number =
        chunks[c].offline_codebook < 0 ? "" : fmt::format(" {}", chunks[c].offline_codebook);
    const std::string codebook =
        chunks[c].reason == CodebookReason::raw
            ? "values as they are"
            : fmt::format("codebook {}{} ({})", codebook_kind_name(chunks[c].codebook), number,
                          codebook_reason_name(chunks[c].reason));
    std::cout << fmt::format("chunk {}: {} in {}, {}\n", c,
                             human_bytes(chunks[c].values * dtype_bytes(array.dtype)),
                             human_bytes(chunks[c].stored_bytes), codebook);
  }
  std::cout << std::flush;
  return {};
}

Status compress(const Args& args) {
  if (args.stream) return compress_stream(args);
  NEVE_ASSIGN(ArrayOptions options, array_options(args));
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
    std::cout << j.dump(2) << std::endl;
  } else {
    std::cout << fmt::format("{}: {} -> {}, {}, max error {} (bound {})\n", args.output,
                             human_bytes(array.values.size()), human_bytes(frame.size()), human_change(ratio),
                             human_error(component.max_abs_error), human_error(component.bound_abs))
              << (explanation ? "\n" + explanation_text(args.input, *explanation) : "") << std::flush;
  }
  return {};
}

void add_stream_options(CLI::App& sub, Args& args) {
  sub.option_defaults()->group("Stream options");
  sub.add_flag("--stream", args.stream,
               "write a stream of blocks, in bounded memory, instead of a frame; Neve's hardware engine "
               "makes the same bytes");
  StreamArgs& stream = args.stream_options;
  sub.add_option("--chunk", stream.chunk,
                 fmt::format("bytes of values for which one codebook is chosen, {} to {}",
                             options::bytes_text(min_stream_chunk_bytes),
                             options::bytes_text(max_stream_chunk_bytes)))
      ->capture_default_str();
  sub.add_option("--codebook-rule", stream.rule,
                 "when a codebook is rebuilt: exact_cost, chi, always or never")
      ->capture_default_str();
  sub.add_option("--chi", stream.chi,
                 "two thresholds of rule chi, for the change of the standard deviation of the 1024 "
                 "symbol frequencies, each relative to 1/1024: up to the first the codebook is kept, up to "
                 "the second it is rebuilt, above it an offline one is used")
      ->expected(2)
      ->delimiter(',')
      ->default_str("5.18,9.69");
  sub.add_option("--block-values", stream.block, "values in a block")
      ->check(CLI::Range(min_stream_block_values, max_stream_block_values))
      ->capture_default_str();
  sub.add_option("--restart", stream.restart, "prediction restarts after so many blocks; 0: never")
      ->capture_default_str();
  sub.add_option("--dims", stream.dims,
                 "number of directions that prediction uses, the fastest first; 0: chosen from a sample")
      ->check(CLI::Range(0, max_stream_dims))
      ->capture_default_str();
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
  add_stream_options(*sub, *args);
  sub->footer(
      "Under mpirun one rank does the work.\n"
      "Examples:\n"
      "  neve compress field.npy field.neve --bound rel=1e-3\n"
      "  neve compress sst.npy sst.neve --bound abs=0.01 --fill -999\n"
      "  neve compress field.npy field.neve --bound ratio=10\n"
      "  neve compress field.npy field.neve --bound ratio=50 --best-effort\n"
      "  neve compress field.npy field.nevs --bound rel=1e-3 --stream --chunk 4MiB\n"
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
