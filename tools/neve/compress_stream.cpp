// SPDX-License-Identifier: BSD-3-Clause
#include "tools/neve/compress_stream.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <iostream>

#include "core/catalog/refusals.hpp"
#include "core/options/value_text.hpp"
#include "core/select/asked_target.hpp"
#include "io/files/target.hpp"
#include "io/files/temporary_file.hpp"
#include "tools/common/console.hpp"
#include "tools/common/json_text.hpp"
#include "tools/common/options.hpp"
#include "tools/common/ranks.hpp"

namespace neve::cli {
namespace {

// Options that mean something to a stream alone.
constexpr const char* stream_options[] = {"--chunk",   "--codebook-rule", "--chi",   "--block-values",
                                          "--restart", "--dims",          "--engine"};

Result<StreamArrayOptions> stream_array_options(const ArrayOptions& common, const StreamArgs& args) {
  StreamArrayOptions options;
  options.stream.bound = common.bound;
  options.stream.fill = common.fill;
  options.detect_fill = common.detect_fill;
  NEVE_ASSIGN(options.stream.chunk_bytes, parse_bytes("--chunk", args.chunk));
  if (options.stream.chunk_bytes < min_stream_chunk_bytes ||
      options.stream.chunk_bytes > max_stream_chunk_bytes) {
    return out_of_range("--chunk", options.stream.chunk_bytes, min_stream_chunk_bytes,
                        max_stream_chunk_bytes);
  }
  NEVE_ASSIGN(options.stream.rule, parse_codebook_rule(args.rule));
  options.stream.chi_keep = args.chi[0];
  options.stream.chi_offline = args.chi[1];
  options.stream.block_values = args.block.value_or(options.stream.block_values);
  options.stream.restart_blocks = args.restart.value_or(0);
  options.stream.dims = args.dims;
  return options;
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

std::string chunk_text(size_t number, const ChunkReport& chunk, DType dtype) {
  const std::string offline = chunk.offline_codebook < 0 ? "" : fmt::format(" {}", chunk.offline_codebook);
  const std::string codebook = chunk.reason == CodebookReason::raw
                                   ? "values as they are"
                                   : fmt::format("codebook {}{} ({})", codebook_kind_name(chunk.codebook),
                                                 offline, codebook_reason_name(chunk.reason));
  return fmt::format("chunk {}: {} in {}, {}\n", number, human_bytes(chunk.values * dtype_bytes(dtype)),
                     human_bytes(chunk.stored_bytes), codebook);
}

Result<StreamOutcome> encode_as_software(const plotfile::NpyArray& array, const ArrayOptions& common,
                                         const StreamArgs& args) {
  NEVE_ASSIGN(const StreamArrayOptions options, stream_array_options(common, args));
  std::vector<ChunkReport> chunks;
  StreamOutcome made;
  NEVE_ASSIGN(made.bytes, encode_stream(array.dtype, array.shape, array.values.data(), options, &chunks));
  made.parts_name = "chunks";
  made.parts = nlohmann::ordered_json::array();
  for (const ChunkReport& chunk : chunks) {
    made.max_abs_error = std::max(made.max_abs_error, chunk.max_abs_error);
    made.bound_abs = std::max(made.bound_abs, chunk.bound_abs);
    made.parts_text += chunk_text(made.parts.size(), chunk, array.dtype);
    made.parts.push_back(chunk_json(chunk));
  }
  return made;
}

void report(const StreamFiles& files, const plotfile::NpyArray& array, const Bound& bound,
            const StreamOutcome& made, double encode_seconds) {
  const double ratio = static_cast<double>(array.values.size()) / static_cast<double>(made.bytes.size());
  if (!files.json) {
    std::cout << fmt::format("{}: {} -> {}, {}, max error {} (bound {})\n{}", files.output,
                             human_bytes(array.values.size()), human_bytes(made.bytes.size()),
                             human_change(ratio), human_error(made.max_abs_error),
                             human_error(made.bound_abs), made.parts_text)
              << missed_ratio_text(bound, ratio) << std::flush;
    return;
  }
  nlohmann::ordered_json j;
  j["source"] = files.input;
  j["destination"] = files.output;
  j["raw_bytes"] = array.values.size();
  j["stored_bytes"] = made.bytes.size();
  j["ratio"] = ratio;
  j["bound"] = to_string(bound);
  j["bound_abs"] = made.bound_abs;
  j["max_abs_error"] = made.max_abs_error;
  if (bound.mode == BoundMode::ratio) j["reached"] = ratio;
  j[made.parts_name] = made.parts;
  j["seconds"] = {{"encode", encode_seconds}};
  std::cout << json_text(j) << std::endl;
}

}  // namespace

Status compress_stream(const StreamFiles& files, const ArrayOptions& common, const StreamArgs& args) {
  NEVE_TRY(files::check_is_another(files.input, files.output));
  NEVE_ASSIGN(const plotfile::NpyArray array, plotfile::read_npy(files.input));
  if (is_integer(array.dtype)) {
    return usage_error(
        fmt::format("--stream: the values are {}; allowed are f32 and f64", dtype_name(array.dtype)));
  }
  const double begin_seconds = MPI_Wtime();
  NEVE_ASSIGN(const StreamOutcome made, args.of_engine ? encode_as_engine(array, common, args)
                                                       : encode_as_software(array, common, args));
  const double encode_seconds = MPI_Wtime() - begin_seconds;
  NEVE_TRY(files::write_file(files.output, made.bytes));
  report(files, array, common.bound, made, encode_seconds);
  return {};
}

std::vector<OptionUse> stream_option_uses(const StreamArgs& args) {
  std::vector<OptionUse> uses;
  for (const char* option : stream_options) uses.push_back({option, args.is_wanted, "without --stream"});
  uses.push_back({"--chunk", !args.of_engine, "with --engine, which holds a block of each lane"});
  uses.push_back({"--lanes", args.of_engine, "without --engine"});
  const bool is_chi = args.rule == codebook_rule_name(CodebookRule::chi);
  uses.push_back({"--chi", is_chi, "with this --codebook-rule; it is allowed with --codebook-rule chi"});
  return uses;
}

void add_stream_options(CLI::App& sub, StreamArgs& stream) {
  sub.option_defaults()->group("Stream options");
  sub.add_flag("--stream", stream.is_wanted,
               "write a stream of blocks, in bounded memory, instead of a frame");
  sub.add_flag(
      "--engine", stream.of_engine,
      "write the bytes that Neve's hardware engine makes of these float32 values; they are larger at "
      "tight bounds");
  sub.add_option("--lanes", stream.lanes, "lanes of the engine, to which blocks go in turn")
      ->check(CLI::Range(1U, max_engine_lanes))
      ->capture_default_str();
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
  sub.add_option("--block-values", stream.block, "values in a block; of the engine 256 to 4096")
      ->check(CLI::Range(min_stream_block_values, max_stream_block_values))
      ->default_str("65536, of the engine 4096");
  sub.add_option("--restart", stream.restart,
                 "prediction restarts after so many blocks; 0: never. Of the engine 1, and 0 with one lane")
      ->default_str("0, of the engine 1");
  sub.add_option(
         "--dims", stream.dims,
         "number of directions that prediction uses, the fastest first; 0: chosen from a sample, of the "
         "engine as many as the shape has")
      ->check(CLI::Range(0, max_stream_dims))
      ->capture_default_str();
}

}  // namespace neve::cli
