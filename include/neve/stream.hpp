// SPDX-License-Identifier: BSD-3-Clause
// A stream: values compressed as they arrive, block after block, in bounded memory. Neve's hardware engine
// produces the same bytes (docs/format.md). Nothing here is collective; distinct objects may be used by
// distinct threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <vector>

#include "neve/frame.hpp"
#include "neve/span.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"

#pragma GCC visibility push(default)
namespace neve {

// When a chunk gets a codebook of its own (CEAZ, section 3.2.3). A chunk is what is held back until its
// codebook is chosen.
enum class CodebookRule : uint8_t {
  exact_cost = 0,  // whatever takes the fewest bytes, table included
  chi = 1,         // by the change of the standard deviation of symbol frequencies
  always = 2,      // every chunk
  never = 3,       // the offline codebook that suits the first chunk
};
std::string_view codebook_rule_name(CodebookRule rule);  // "exact_cost", "chi", "always", "never"
Result<CodebookRule> parse_codebook_rule(std::string_view name);

// Values are those of the format; never renumber.
enum class CodebookKind : uint8_t { kept = 0, rebuilt = 1, offline = 2 };
std::string_view codebook_kind_name(CodebookKind kind);  // "kept", "rebuilt", "offline"

// What the options below may be.
inline constexpr int max_stream_dims = 3;
inline constexpr uint32_t min_stream_block_values = 1U << 8;
inline constexpr uint32_t max_stream_block_values = 1U << 24;
inline constexpr uint64_t min_stream_chunk_bytes = 1024;
inline constexpr uint64_t max_stream_chunk_bytes = uint64_t{1} << 30;
inline constexpr int offline_codebook_count = 16;

struct StreamOptions {
  DType dtype = DType::f32;  // f32 or f64
  // Shape of the array, slowest first. The slowest size may be 0: then the stream ends when finish() is
  // called.
  std::vector<uint64_t> shape;
  // abs; ratio (bytes before / after, over the whole stream); rel and psnr need `range`.
  Bound bound;
  ValueRange range;            // of all values to come, if known
  std::optional<double> fill;  // value that marks missing data; comes back bit for bit
  // Directions that prediction uses, the fastest first: 1 to 3; 0: as many as the shape has.
  int dims = 0;

  uint32_t block_values = 1U << 16;
  uint64_t chunk_bytes = uint64_t{32} << 20;  // bytes of values; with a ratio or psnr at most tried_bytes
  // With a ratio or psnr: so many bytes of values are held back and tried under one bound after another.
  uint64_t tried_bytes = uint64_t{4} << 20;
  // Prediction restarts after so many blocks, so that these decode independently; 0: never.
  uint32_t restart_blocks = 0;
  CodebookRule rule = CodebookRule::exact_cost;
  // Thresholds of rule chi on |sigma of the chunk before - sigma of this one|. Sigma is the standard
  // deviation of the 1024 symbol frequencies, each relative to 1/1024. Up to the first the codebook is kept,
  // up to the second rebuilt, above it the offline codebook is taken.
  double chi_keep = 5.18;
  double chi_offline = 9.69;
  // The only offline codebook to be taken, as an engine that holds just one; -1: whichever suits best.
  int offline_codebook = -1;
  // Only blocks that Neve's hardware decoder reads: none raw, none with extra bits.
  bool for_engine = false;
};

// Why a chunk got its codebook.
enum class CodebookReason : uint8_t {
  first,         // no codebook before this chunk
  fewest_bytes,  // by exact cost
  small_change,  // rule chi
  change,
  large_change,
  missing_code,  // the codebook before has no code for a symbol of this chunk
  rule,          // always or never
  raw,           // none: all its blocks are raw
};
std::string_view codebook_reason_name(CodebookReason reason);

struct ChunkReport {
  uint64_t values = 0;
  uint64_t stored_bytes = 0;
  double bound_abs = 0;
  double max_abs_error = 0;
  uint64_t exact_values = 0;    // kept bit for bit, apart from the codes
  uint64_t special_values = 0;  // of these NaN, infinite, -0, fill, or beyond what quantization codes reach
  CodebookKind codebook = CodebookKind::offline;
  int offline_codebook = -1;  // its number when codebook is offline
  CodebookReason reason = CodebookReason::first;
  double chi = 0;  // change of sigma against the chunk before; 0 for the first
  // Bits of the codes, table included, by choice; 0 where the choice was not open.
  uint64_t kept_bits = 0;
  uint64_t rebuilt_bits = 0;
  uint64_t offline_bits = 0;
  // Bits beside the codes that tell residuals of a class apart; 0: each residual has a symbol of its own.
  uint64_t extra_bits = 0;
  uint64_t raw_values = 0;  // in raw blocks
};

class StreamEncoder {
 public:
  // Errors: usage.
  static Result<StreamEncoder> create(const StreamOptions& options);
  StreamEncoder(StreamEncoder&&) noexcept;
  StreamEncoder& operator=(StreamEncoder&&) noexcept;
  ~StreamEncoder();

  // The next values of the stream, of the options' dtype.
  // Errors: usage when they are more than the shape has, or the stream is finished; failure (no memory), and
  // then nothing more can be pushed until reset().
  Status push(const void* values, uint64_t count);
  // Makes output of the values pushed so far, although their chunk is not full. Errors: usage after finish().
  Status flush();
  // Errors: usage when values are missing.
  Status finish();

  // Output that is ready; valid until the next call that changes this object.
  Span<const std::byte> output() const;
  void clear_output();
  // Starts the next stream of the same options; keeps buffers, so that small streams cost no allocation.
  void reset();

  // Of the chunks that have left since the beginning or the last reset(); valid as output() is.
  Span<const ChunkReport> reports() const;

  struct State;

 private:
  explicit StreamEncoder(std::unique_ptr<State>);
  template <class Work>
  Status change(const Work& work);
  std::unique_ptr<State> state_;
};

struct StreamInfo {
  DType dtype = DType::f32;
  std::vector<uint64_t> shape;  // slowest first; the slowest may be 0 until the stream has ended
  Bound bound;                  // what the user asked for
  std::optional<double> fill;
  int dims = 1;  // directions that prediction uses; 0: none, the stream is raw
  uint32_t block_values = 0;
  bool is_raw = false;  // the values as they are, without blocks
};

class StreamDecoder {
 public:
  StreamDecoder();
  StreamDecoder(StreamDecoder&&) noexcept;
  StreamDecoder& operator=(StreamDecoder&&) noexcept;
  ~StreamDecoder();

  // The next bytes of the stream, cut anywhere. Whole blocks are decoded at once.
  // Errors: corrupt; then nothing more is decoded.
  Status push(Span<const std::byte> bytes);
  // Errors: corrupt when the stream has not ended.
  Status finish() const;

  bool has_info() const;  // whether the header has been read
  const StreamInfo& info() const;
  bool has_ended() const;
  // Decoded values that are ready; valid until the next call that changes this object.
  Span<const std::byte> output() const;
  void clear_output();

  struct State;

 private:
  std::unique_ptr<State> state_;
};

// Whether bytes begin like a stream.
bool is_stream(Span<const std::byte> bytes);

// How many directions suit an array best, by a sample: noise adds up with each, so that on rough fields
// fewer are better. `options` are those of its stream: dtype, shape, bound, range and fill.
// Errors: usage.
Result<int> best_stream_dims(const StreamOptions& options, const void* values);

// A whole array as a stream. The range is scanned where the bound needs it, a fill value is detected, and the
// directions are chosen where options leave them open.
// Errors: usage, failure (no memory).
struct StreamArrayOptions {
  StreamOptions stream;  // dtype, shape and range are set from the array
  bool detect_fill = true;
};
Result<std::vector<std::byte>> encode_stream(DType dtype, Span<const uint64_t> shape, const void* values,
                                             const StreamArrayOptions& options,
                                             std::vector<ChunkReport>* reports = nullptr);

// One block as `info` shows it.
struct StreamBlock {
  uint64_t values = 0;
  uint64_t stored_bytes = 0;
  CodebookKind codebook = CodebookKind::kept;
  int offline_codebook = -1;
  bool restarts = false;
  double bound_abs = 0;
  bool has_extra_bits = false;
  bool is_raw = false;
};
// Describes a whole stream without decoding its values. Errors: corrupt.
struct StreamContents {
  StreamInfo info;
  uint64_t values = 0;
  std::vector<StreamBlock> blocks;
};
Result<StreamContents> describe_stream(Span<const std::byte> bytes);

// The values of a whole stream, into out_bytes = their number (describe_stream) times the size of one.
// Errors: corrupt; usage when they do not fill out_bytes, or `out` is null.
Status decode_stream(Span<const std::byte> bytes, std::byte* out, uint64_t out_bytes);

}  // namespace neve
#pragma GCC visibility pop
