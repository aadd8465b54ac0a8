// SPDX-License-Identifier: BSD-3-Clause
// Every public function that needs no MPI, each argument wrong in each way: an error by name, never a crash.
#include <cmath>
#include <cstring>
#include <limits>
#include <thread>
#include <vector>

#include "neve/checkpoint_reader.hpp"
#include "neve/distribution.hpp"
#include "neve/frame.hpp"
#include "neve/hierarchy.hpp"
#include "neve/neve.h"
#include "neve/options.hpp"
#include "neve/series.h"
#include "neve/series.hpp"
#include "neve/stream.h"
#include "neve/stream.hpp"
#include "tests/support/wrong_calls.hpp"

namespace neve {
namespace {

using test::refused;
using test::survived;

constexpr double nan_value = std::numeric_limits<double>::quiet_NaN();
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr uint8_t wrong_numbers[] = {77, 128, 254};

class WrongCalls : public testing::Test {
 protected:
  static void TearDownTestSuite() { test::print_wrong_calls("WrongCalls"); }

  const std::vector<double> values_ = std::vector<double>(600, 1.5);
  const std::vector<uint64_t> shape_ = {20, 30};
};

// --- neve.h
// -------------------------------------------------------------------------------------------------

TEST_F(WrongCalls, OfCompressingInC) {
  void* frame = nullptr;
  size_t bytes = 0;
  const auto wrong = [&](int dtype, int ndim, const uint64_t* shape, const void* data,
                         const neve_compress_options* options) {
    refused("neve_compress", neve_compress(dtype, ndim, shape, data, options, &frame, &bytes), NEVE_USAGE);
    EXPECT_EQ(frame, nullptr);
    EXPECT_EQ(bytes, 0u);
  };
  const uint64_t* const shape = shape_.data();
  const void* const data = values_.data();
  for (const int dtype : {-1, 10, 77, INT32_MIN, INT32_MAX}) wrong(dtype, 2, shape, data, nullptr);
  for (const int ndim : {-1, 33, INT32_MIN, INT32_MAX}) wrong(NEVE_F64, ndim, shape, data, nullptr);
  wrong(NEVE_F64, 2, nullptr, data, nullptr);
  wrong(NEVE_F64, 2, shape, nullptr, nullptr);
  wrong(NEVE_F64, 0, nullptr, nullptr, nullptr);
  for (const uint64_t huge : {UINT64_MAX, uint64_t{1} << 63, (uint64_t{1} << 40) + 1}) {
    const uint64_t one[] = {huge}, two[] = {huge, huge}, none[] = {0, huge};
    wrong(NEVE_F64, 1, one, data, nullptr);
    wrong(NEVE_F64, 2, two, data, nullptr);
    wrong(NEVE_F64, 2, none, nullptr, nullptr);
  }
  refused("neve_compress", neve_compress(NEVE_F64, 2, shape, data, nullptr, nullptr, &bytes), NEVE_USAGE);
  refused("neve_compress", neve_compress(NEVE_F64, 2, shape, data, nullptr, &frame, nullptr), NEVE_USAGE);

  const auto wrong_options = [&](auto change) {
    neve_compress_options options = NEVE_COMPRESS_OPTIONS_INIT;
    change(options);
    wrong(NEVE_F64, 2, shape, data, &options);
  };
  for (const size_t size : {size_t{0}, size_t{8}, size_t{40}}) {
    wrong_options([&](auto& o) { o.struct_bytes = size; });
  }
  for (const char* bound :
       {"", "abs", "abs=", "abs=0", "abs=-1", "abs=nan", "abs=inf", "abs=1e999", "rel=0", "rel=1;abs=2",
        "ratio=1", "ratio=0", "psnr=-3", "psnr=nan", "pw_rel=1", "lossless=1", "abs=1 ", " abs=1", "\xff"}) {
    wrong_options([&](auto& o) { o.bound = bound; });
  }
  for (const char* word : {"", "gzip", "constant", "AUTO", "\xff", "nested"}) {
    wrong_options([&](auto& o) { o.codec = word; });
    wrong_options([&](auto& o) { o.effort = word; });
    wrong_options([&](auto& o) { o.arrangement = word; });
  }
  for (const char* word : {"", "gzip", "\xff"}) wrong_options([&](auto& o) { o.method = word; });
  for (const int number : {-1, INT32_MIN, INT32_MAX, 1025}) {
    wrong_options([&](auto& o) { o.threads = number; });
    wrong_options([&](auto& o) { o.unit_cells = number; });
    wrong_options([&](auto& o) { o.block_cells = number; });
  }
  const int64_t whole = 3;
  wrong_options([&](auto& o) { o.integer_fill = &whole; });
  neve_compress_options bounded = NEVE_COMPRESS_OPTIONS_INIT;
  bounded.bound = "abs=1";
  wrong(NEVE_I32, 2, shape, data, &bounded);
  survived("neve_version", std::strlen(neve_version()) > 0);
  neve_free(nullptr);
  survived("neve_free");
  survived("neve_last_error", std::strlen(neve_last_error()) > 0);
}

TEST_F(WrongCalls, OfDecompressingInC) {
  void* frame = nullptr;
  size_t bytes = 0;
  ASSERT_EQ(neve_compress(NEVE_F64, 2, shape_.data(), values_.data(), nullptr, &frame, &bytes), NEVE_OK);
  std::vector<double> out(values_.size());
  const size_t out_bytes = out.size() * sizeof(double);
  neve_frame_description description = NEVE_FRAME_DESCRIPTION_INIT;
  const auto info = [&](const void* from, size_t length, neve_frame_description* to, int code) {
    refused("neve_frame_info", neve_frame_info(from, length, to), code);
  };
  const auto decompress = [&](const void* from, size_t length, int threads, void* to, size_t room, int code) {
    refused("neve_decompress", neve_decompress(from, length, threads, to, room), code);
  };
  info(nullptr, bytes, &description, NEVE_USAGE);
  info(frame, bytes, nullptr, NEVE_USAGE);
  neve_frame_description unset = NEVE_FRAME_DESCRIPTION_INIT;
  unset.struct_bytes = 0;
  info(frame, bytes, &unset, NEVE_USAGE);
  for (size_t length = 0; length < bytes; length += 1 + bytes / 40) {
    info(frame, length, &description, NEVE_CORRUPT);
    decompress(frame, length, 1, out.data(), out_bytes, NEVE_CORRUPT);
  }
  decompress(nullptr, bytes, 1, out.data(), out_bytes, NEVE_USAGE);
  decompress(frame, bytes, 1, nullptr, out_bytes, NEVE_USAGE);
  decompress(frame, bytes, 1, nullptr, 0, NEVE_USAGE);
  for (const size_t room : {size_t{0}, out_bytes - 1, out_bytes + 1, SIZE_MAX}) {
    decompress(frame, bytes, 1, out.data(), room, NEVE_USAGE);
  }
  for (const int threads : {-1, 1025, INT32_MIN, INT32_MAX, 2000000000}) {
    decompress(frame, bytes, threads, out.data(), out_bytes, NEVE_USAGE);
  }
  neve_free(frame);
}

TEST_F(WrongCalls, FromSeveralThreadsHaveTheirOwnWords) {
  std::vector<std::thread> threads;
  std::vector<std::string> words(8);
  for (size_t t = 0; t < words.size(); ++t) {
    threads.emplace_back([&, t] {
      void* frame = nullptr;
      size_t bytes = 0;
      for (int i = 0; i < 200; ++i) {
        (void)neve_compress(100 + static_cast<int>(t), 2, shape_.data(), values_.data(), nullptr, &frame,
                            &bytes);
      }
      words[t] = neve_last_error();
    });
  }
  for (std::thread& thread : threads) thread.join();
  for (size_t t = 0; t < words.size(); ++t) {
    survived("neve_last_error", words[t].find("dtype is " + std::to_string(100 + t)) == 0);
  }
}

// --- types.hpp, status.hpp
// ------------------------------------------------------------------------------------

TEST_F(WrongCalls, OfNamesAndNumbers) {
  for (const std::string& text :
       {std::string(), std::string("x"), std::string("\xff\0", 2), std::string(5000, 'a')}) {
    refused("parse_bound", parse_bound(text).status());
    refused("parse_codec", parse_codec(text).status());
    refused("parse_lossless_method", parse_lossless_method(text).status());
    refused("parse_lossless_methods", parse_lossless_methods(text).status());
    refused("parse_speeds", parse_speeds(text).status());
    refused("parse_series_options", parse_series_options({{text, text}}).status());
    refused("parse_series_options", parse_series_options("delta=" + text).status());
    refused("parse_arrangement", parse_arrangement(text).status());
    refused("parse_effort", parse_effort(text).status());
    refused("parse_codebook_rule", parse_codebook_rule(text).status());
    refused("parse_distribution_method", parse_distribution_method(text).status());
    refused("set_simd_target", set_simd_target(text));
  }
  for (const uint8_t n : wrong_numbers) {
    survived("dtype_bytes", dtype_bytes(static_cast<DType>(n)) == 0);
    survived("dtype_name", dtype_name(static_cast<DType>(n)) == "unknown");
    survived("speeds_name", speeds_name(static_cast<Speeds>(n)) == "unknown");
    survived("choice_reason_name", !choice_reason_name(static_cast<ChoiceReason>(n)).empty());
    survived("choice_reason_words", !choice_reason_words(static_cast<ChoiceReason>(n)).empty());
    survived("is_integer", is_integer(static_cast<DType>(n)) || true);
    survived("is_signed", is_signed(static_cast<DType>(n)) || true);
    survived("holds_integer", !holds_integer(static_cast<DType>(n), 1));
    survived("integer_text", !integer_text(static_cast<DType>(n), 1).empty());
    survived("is_known_bound_mode", !is_known_bound_mode(n));
    refused("check_bound", check_bound({static_cast<BoundMode>(n), 1}, BoundUse::array));
    survived("to_string", !to_string(Bound{static_cast<BoundMode>(n), 1}).empty());
    survived("codec_name", codec_name(static_cast<Codec>(n)) == "unknown");
    survived("keeps_integers", !keeps_integers(static_cast<Codec>(n)));
    survived("lossless_method_name", lossless_method_name(static_cast<LosslessMethod>(n)) == "unknown");
    survived("arrangement_name", arrangement_name(static_cast<Arrangement>(n)) == "unknown");
    survived("arrangement_text", arrangement_text(static_cast<Arrangement>(n), -1) == "unknown");
    survived("effort_name", effort_name(static_cast<Effort>(n)) == "unknown");
    survived("codebook_rule_name", codebook_rule_name(static_cast<CodebookRule>(n)) == "unknown");
    survived("codebook_kind_name", codebook_kind_name(static_cast<CodebookKind>(n)) == "unknown");
    survived("codebook_reason_name", codebook_reason_name(static_cast<CodebookReason>(n)) == "unknown");
    survived("fate_name", fate_name(static_cast<Fate>(n)) == "unknown");
    survived("fate_words", fate_words(static_cast<Fate>(n)) == "unknown");
  }
  for (const double value : {0.0, -1.0, nan_value, infinity, -infinity}) {
    refused("check_bound", check_bound({BoundMode::abs, value}));
    refused("check_bound", check_bound({BoundMode::rel, value}));
    refused("check_bound", check_bound({BoundMode::ratio, value}, BoundUse::array));
    refused("check_bound", check_bound({BoundMode::psnr, value}, BoundUse::array));
  }
  for (const int64_t threads :
       {int64_t{0}, int64_t{-1}, int64_t{1025}, int64_t{2000000000}, INT64_MAX, INT64_MIN}) {
    refused("check_threads", check_threads(threads));
  }
}

TEST_F(WrongCalls, OfTunings) {
  const auto wrong_tuning = [](auto change) {
    CodecTuning tuning;
    change(tuning);
    refused("check_tuning", check_tuning(tuning));
  };
  for (const uint8_t n : wrong_numbers) {
    wrong_tuning([&](CodecTuning& t) { t.arrangement = static_cast<Arrangement>(n); });
    wrong_tuning([&](CodecTuning& t) { t.method = static_cast<LosslessMethod>(n); });
  }
  wrong_tuning([](CodecTuning& t) { t.arrangement = Arrangement::nested; });
  for (const uint32_t bits : {1U, 1U << lossless_methods, UINT32_MAX}) {
    wrong_tuning([&](CodecTuning& t) { t.candidates.bits = bits; });
    const bool is_unknown = bits == 1U << lossless_methods;
    survived("lossless_methods_text", lossless_methods_text({bits}).empty() == is_unknown);
    survived("choice_text", !choice_text({{}, {nan_value, static_cast<Speeds>(bits)}}).empty());
  }
  for (const int cells : {-1, 5, 7, INT32_MIN, INT32_MAX}) {
    wrong_tuning([&](CodecTuning& t) { t.unit_cells = cells; });
    wrong_tuning([&](CodecTuning& t) { t.block_cells = cells; });
  }
  for (const double weight : {-1.0, nan_value, infinity}) {
    wrong_tuning([&](CodecTuning& t) { t.speed_weight = weight; });
    wrong_tuning([&](CodecTuning& t) { t.ratio_weight = weight; });
  }
}

TEST_F(WrongCalls, OfAStatus) {
  survived("usage_error", !usage_error("").ok());
  survived("failure", !failure("").ok());
  survived("corrupt", !corrupt("").ok());
  survived("Status::ok", Status().ok());
  survived("Status::code", Status().code() == Code::ok);
  survived("Status::message", Status().message().empty());
  survived("Status::in", Status().in("").ok());
  const Result<int> none = usage_error("x");
  survived("Result::ok", !none.ok());
  survived("Result::status", !none.status().ok());
}

// --- frame.hpp
// ------------------------------------------------------------------------------------------------

TEST_F(WrongCalls, OfEncodingAnArray) {
  const auto wrong = [&](DType dtype, std::span<const uint64_t> shape, const void* data,
                         const ArrayOptions& o) {
    refused("encode_array", encode_array(dtype, shape, data, o).status());
    SelectionMemory memory;
    refused("encode_step", encode_step(
                               dtype, shape, 1, [&](size_t) { return data; }, o, memory, "x")
                               .status());
  };
  for (const uint8_t n : wrong_numbers) {
    wrong(static_cast<DType>(n), shape_, values_.data(), {});
    ArrayOptions options;
    options.bound.mode = static_cast<BoundMode>(n);
    wrong(DType::f64, shape_, values_.data(), options);
    options = {};
    options.codec = static_cast<Codec>(n);
    wrong(DType::f64, shape_, values_.data(), options);
    options = {};
    options.encode.effort = static_cast<Effort>(n);
    wrong(DType::f64, shape_, values_.data(), options);
    options = {};
    options.tuning.arrangement = static_cast<Arrangement>(n);
    wrong(DType::f64, shape_, values_.data(), options);
  }
  for (const int threads : {0, -1, 1025, 2000000000}) {
    ArrayOptions options;
    options.encode.threads = threads;
    wrong(DType::f64, shape_, values_.data(), options);
  }
  for (const double value : {0.0, -1.0, nan_value, infinity}) {
    ArrayOptions options;
    options.bound = {BoundMode::abs, value};
    wrong(DType::f64, shape_, values_.data(), options);
  }
  wrong(DType::f64, shape_, nullptr, {});
  wrong(DType::f32, {}, nullptr, {});
  for (const std::vector<uint64_t>& shape : {std::vector<uint64_t>{UINT64_MAX},
                                             {uint64_t{1} << 40, 2},
                                             {(uint64_t{1} << 32) + 1, uint64_t{1} << 32},
                                             {0, UINT64_MAX},
                                             std::vector<uint64_t>(33, 1)}) {
    wrong(DType::f64, shape, values_.data(), {});
  }
  ArrayOptions integers;
  wrong(DType::i32, shape_, values_.data(), integers);  // a bound
  integers.bound = {BoundMode::lossless, 0};
  integers.fill = 3;
  wrong(DType::i32, shape_, values_.data(), integers);
  integers.fill = {};
  integers.integer_fill = uint64_t{1} << 40;
  wrong(DType::i32, shape_, values_.data(), integers);
}

TEST_F(WrongCalls, OfASelectionMemory) {
  SelectionMemory memory;
  refused("encode_step", encode_step(DType::f64, shape_, 1, nullptr, {}, memory, "x").status());
  for (const double delta : {-1.0, nan_value, infinity}) {
    SelectionMemory wrong_memory(delta);
    survived("SelectionMemory::delta", !(wrong_memory.delta() >= 0 && std::isfinite(wrong_memory.delta())));
    refused("encode_step",
            encode_step(
                DType::f64, shape_, 1, [&](size_t) { return values_.data(); }, {}, wrong_memory, "x")
                .status());
  }
  for (const ChoiceRules& rules : {ChoiceRules{-1}, {nan_value}, {infinity}, {0, static_cast<Speeds>(2)}}) {
    refused("check_choice_rules", check_choice_rules(rules));
    SelectionMemory wrong_memory(rules);
    survived("SelectionMemory::rules", wrong_memory.rules().speeds == rules.speeds);
    refused("encode_step",
            encode_step(
                DType::f64, shape_, 1, [&](size_t) { return values_.data(); }, {}, wrong_memory, "x")
                .status());
  }
  survived("selection_name", selection_name({}).empty());
  for (const uint8_t n : wrong_numbers) {
    const Selection wrong{static_cast<Codec>(n), {}, static_cast<LosslessMethod>(n)};
    survived("selection_name", !selection_name(wrong).empty());
  }
  memory.log({});
  survived("SelectionMemory::log");
  survived("SelectionMemory::choices", memory.choices().size() == 1);
  survived("SelectionMemory::choices_dropped", memory.choices_dropped() == 0);
  for (const uint8_t n : wrong_numbers) {
    survived("SelectionMemory::recall", !memory.recall(static_cast<Effort>(n), -1, "").has_value());
    memory.note(static_cast<Effort>(n), INT32_MIN, "", {static_cast<Codec>(n), {}, {}}, nan_value);
    survived("SelectionMemory::note");
    survived("SelectionMemory::reason_to_choose",
             memory.reason_to_choose(static_cast<Effort>(n), -1, "none") == ChoiceReason::first);
    survived("SelectionMemory::series", memory.series(static_cast<Effort>(n), "") != nullptr);
    survived("SelectionMemory::decisions", memory.decisions(static_cast<Effort>(n), INT32_MAX, "") == 0);
  }
}

TEST_F(WrongCalls, OfAShapeWithAZero) {
  for (const std::vector<uint64_t>& shape : {std::vector<uint64_t>{0},
                                             {uint64_t{1} << 30, uint64_t{1} << 30, 0},
                                             {0, uint64_t{1} << 40, uint64_t{1} << 40}}) {
    const auto frame = encode_array(DType::f32, shape, nullptr, {});
    ASSERT_TRUE(frame.ok()) << frame.status().message();
    const auto parsed = Frame::parse(*frame);
    ASSERT_TRUE(parsed.ok()) << parsed.status().message();
    EXPECT_EQ(parsed->shape().array_shape, shape);
    EXPECT_TRUE(parsed->decode(nullptr, 0).ok());
  }
}

using Layout = FrameLayout;
using Specs = std::vector<ComponentSpec>;
using Data = std::vector<BoxData>;
using Options = EncodeOptions;

// A frame of one box of 30 times 20 cells.
struct FrameArguments {
  explicit FrameArguments(const std::vector<double>& values) {
    layout.ndim = 2;
    layout.boxes.resize(1);
    layout.boxes[0].size = {30, 20, 1, 1};
    layout.element_count = 600;
    data = {dense_box_data(values.data(), layout.boxes[0])};
  }
  Status encode() const { return encode_frame(DType::f64, layout, specs, data, options).status(); }

  Layout layout;
  Specs specs{1};
  Data data;
  Options options;
};

template <class Change>
void refuse_frame(const std::vector<double>& values, Change change) {
  FrameArguments changed(values);
  change(changed.layout, changed.specs, changed.data, changed.options);
  refused("encode_frame", changed.encode());
}

TEST_F(WrongCalls, OfEncodingAFrameOfAWrongLayout) {
  ASSERT_TRUE(FrameArguments(values_).encode().ok());
  const auto wrong = [&](auto change) { refuse_frame(values_, change); };
  for (const int number : {0, -1, 5, INT32_MIN, INT32_MAX}) {
    wrong([&](Layout& l, Specs&, Data&, Options&) { l.ndim = number; });
    wrong([&](Layout& l, Specs&, Data&, Options&) { l.components = number; });
    if (number != 5) wrong([&](Layout&, Specs&, Data&, Options& o) { o.threads = number; });
  }
  wrong([](Layout& l, Specs&, Data&, Options&) { l.boxes.clear(); });
  for (const int64_t size : {int64_t{0}, int64_t{-1}, INT64_MIN, INT64_MAX, int64_t{1} << 41}) {
    wrong([&](Layout& l, Specs&, Data&, Options&) { l.boxes[0].size[0] = size; });
    wrong([&](Layout& l, Specs&, Data&, Options&) { l.boxes[0].size[3] = size; });
  }
  for (const int64_t place : {INT64_MIN, INT64_MAX}) {
    wrong([&](Layout& l, Specs&, Data&, Options&) { l.boxes[0].lo[0] = place; });
    wrong([&](Layout& l, Specs&, Data&, Options&) {
      l.boxes[0].covered = {{{place, 0, 0, 0}, {1, 1, 1, 1}}};
    });
    wrong([&](Layout& l, Specs&, Data&, Options&) {
      l.boxes[0].covered = {{{0, 0, 0, 0}, {place, 1, 1, 1}}};
    });
  }
  for (const uint64_t count : {uint64_t{0}, uint64_t{599}, UINT64_MAX}) {
    wrong([&](Layout& l, Specs&, Data&, Options&) { l.element_count = count; });
    wrong([&](Layout& l, Specs&, Data&, Options&) {
      l.is_split = true;
      l.split_begin = count;
      l.split_count = count == 0 ? 0 : UINT64_MAX;
    });
  }
  wrong([](Layout& l, Specs&, Data&, Options&) { l.array_shape.assign(33, 1); });
}

TEST_F(WrongCalls, OfSeriesInC) {
  const auto expect = [](const char* function, int code) { refused(function, code, NEVE_USAGE); };
  neve_series* series = nullptr;
  for (const char* options :
       {"accuracy=1", "candidates=gzip", "candidates=", "delta=-1", "delta=nan", "speeds=fast",
        "speeds=measured", "speed_weight=-1", "ratio_weight=0", "method=zstd;candidates=acomps",
        "rel=1e-3;codec=context;delta=1", "threads=0"}) {
    expect("neve_series_create", neve_series_create(options, &series));
    EXPECT_EQ(series, nullptr);
  }
  expect("neve_series_create", neve_series_create("", nullptr));
  neve_series_free(nullptr);
  survived("neve_series_free");

  ASSERT_EQ(neve_series_create("", &series), NEVE_OK) << neve_last_error();
  const uint64_t shape[] = {30, 20}, huge[] = {UINT64_MAX, UINT64_MAX};
  const void* data[] = {values_.data(), nullptr};
  void* frames[2] = {};
  size_t bytes[2] = {};
  const auto wrong_step = [&](neve_series* of, const char* name, int dtype, int ndim, const uint64_t* sizes,
                              size_t pieces, const void* const* from) {
    expect("neve_series_step", neve_series_step(of, name, dtype, ndim, sizes, pieces, from, frames, bytes));
    EXPECT_TRUE(frames[0] == nullptr && bytes[0] == 0);
  };
  wrong_step(nullptr, "x", NEVE_F64, 2, shape, 1, data);
  wrong_step(series, nullptr, NEVE_F64, 2, shape, 1, data);
  for (const int number : {-1, 33, INT32_MIN, INT32_MAX}) {
    wrong_step(series, "x", number, 2, shape, 1, data);
    wrong_step(series, "x", NEVE_F64, number, shape, 1, data);
  }
  wrong_step(series, "x", NEVE_F64, 2, nullptr, 1, data);
  wrong_step(series, "x", NEVE_F64, 2, huge, 1, data);
  wrong_step(series, "x", NEVE_F64, 2, shape, 2, data);
  wrong_step(series, "x", NEVE_F64, 2, shape, 1, nullptr);
  expect("neve_series_step", neve_series_step(series, "x", NEVE_F64, 2, shape, 1, data, nullptr, bytes));
  expect("neve_series_step", neve_series_step(series, "x", NEVE_F64, 2, shape, 1, data, frames, nullptr));

  uint64_t choices = 0, dropped = 0;
  neve_choice choice = NEVE_CHOICE_INIT, bare = {};
  expect("neve_series_choices", neve_series_choices(nullptr, &choices, &dropped));
  expect("neve_series_choices", neve_series_choices(series, nullptr, &dropped));
  expect("neve_series_choice", neve_series_choice(series, 0, &choice));
  ASSERT_EQ(neve_series_step(series, "x", NEVE_F64, 2, shape, 1, data, frames, bytes), NEVE_OK)
      << neve_last_error();
  neve_free(frames[0]);
  ASSERT_EQ(neve_series_choices(series, &choices, nullptr), NEVE_OK);
  EXPECT_EQ(choices, 1U);
  expect("neve_series_choice", neve_series_choice(nullptr, 0, &choice));
  expect("neve_series_choice", neve_series_choice(series, 0, nullptr));
  expect("neve_series_choice", neve_series_choice(series, 0, &bare));
  for (const uint64_t number : {choices, UINT64_MAX}) {
    expect("neve_series_choice", neve_series_choice(series, number, &choice));
  }
  neve_series_free(series);
}

TEST_F(WrongCalls, OfStreamsInC) {
  const auto expect = [](const char* function, int code) { refused(function, code, NEVE_USAGE); };
  const uint64_t shape[] = {30, 20}, none[] = {0, 20}, huge[] = {UINT64_MAX, UINT64_MAX};
  const void* bytes = nullptr;
  size_t size = 0;
  uint64_t count = 0;
  int dims = 0;
  void* made = nullptr;
  neve_stream_encoder* encoder = nullptr;
  neve_stream_options good = NEVE_STREAM_OPTIONS_INIT;
  good.dtype = NEVE_F64;
  good.ndim = 2;
  good.shape = shape;
  good.bound = "abs=1e-3";
  const auto wrong = [&](const neve_stream_options* options) {
    expect("neve_stream_encoder_create", neve_stream_encoder_create(options, &encoder));
    EXPECT_EQ(encoder, nullptr);
    expect("neve_stream_compress", neve_stream_compress(options, values_.data(), &made, &size));
    expect("neve_stream_best_dims", neve_stream_best_dims(options, values_.data(), &dims));
  };
  const auto changed = [&](auto change) {
    neve_stream_options options = good;
    change(options);
    wrong(&options);
  };
  wrong(nullptr);
  changed([](auto& o) { o.struct_bytes = 8; });
  for (const int number : {-1, 4, INT32_MIN, INT32_MAX}) {
    changed([&](auto& o) { o.ndim = number; });
    changed([&](auto& o) { o.dims = number; });
    if (number != 4 && number != -1) changed([&](auto& o) { o.offline_codebook = &number; });
  }
  for (const int dtype : {-1, 2, 9, 10, INT32_MIN}) changed([&](auto& o) { o.dtype = dtype; });
  changed([](auto& o) { o.ndim = 0; });
  changed([](auto& o) { o.shape = nullptr; });
  changed([&](auto& o) { o.shape = huge; });
  for (const char* bound : {"", "lossless", "abs=0", "abs=nan", "ratio=1", "magic"}) {
    changed([&](auto& o) { o.bound = bound; });
  }
  for (const uint32_t number : {1U, 255U, UINT32_MAX}) changed([&](auto& o) { o.block_values = number; });
  changed([](auto& o) { o.chunk_bytes = 3; });
  changed([](auto& o) { o.rule = "sometimes"; });
  expect("neve_stream_encoder_create", neve_stream_encoder_create(&good, nullptr));
  expect("neve_stream_compress", neve_stream_compress(&good, nullptr, &made, &size));
  expect("neve_stream_compress", neve_stream_compress(&good, values_.data(), nullptr, &size));
  expect("neve_stream_compress", neve_stream_compress(&good, values_.data(), &made, nullptr));
  expect("neve_stream_best_dims", neve_stream_best_dims(&good, values_.data(), nullptr));
  neve_stream_options open = good;
  open.shape = none;
  expect("neve_stream_compress", neve_stream_compress(&open, values_.data(), &made, &size));
  expect("neve_stream_best_dims", neve_stream_best_dims(&open, values_.data(), &dims));

  {
    neve_stream_encoder* const nobody = nullptr;
    neve_stream_chunk chunk = NEVE_STREAM_CHUNK_INIT;
    expect("neve_stream_encoder_push", neve_stream_encoder_push(nobody, values_.data(), 1));
    expect("neve_stream_encoder_flush", neve_stream_encoder_flush(nobody));
    expect("neve_stream_encoder_finish", neve_stream_encoder_finish(nobody));
    expect("neve_stream_encoder_output", neve_stream_encoder_output(nobody, &bytes, &size));
    expect("neve_stream_encoder_clear_output", neve_stream_encoder_clear_output(nobody));
    expect("neve_stream_encoder_reset", neve_stream_encoder_reset(nobody));
    expect("neve_stream_encoder_chunks", neve_stream_encoder_chunks(nobody, &count));
    expect("neve_stream_encoder_chunk", neve_stream_encoder_chunk(nobody, 0, &chunk));
  }
  ASSERT_EQ(neve_stream_encoder_create(&good, &encoder), NEVE_OK) << neve_last_error();
  neve_stream_chunk chunk = NEVE_STREAM_CHUNK_INIT, old_chunk = {};
  expect("neve_stream_encoder_push", neve_stream_encoder_push(encoder, nullptr, 1));
  expect("neve_stream_encoder_push", neve_stream_encoder_push(encoder, values_.data(), 601));
  expect("neve_stream_encoder_finish", neve_stream_encoder_finish(encoder));
  expect("neve_stream_encoder_output", neve_stream_encoder_output(encoder, nullptr, &size));
  expect("neve_stream_encoder_output", neve_stream_encoder_output(encoder, &bytes, nullptr));
  expect("neve_stream_encoder_chunks", neve_stream_encoder_chunks(encoder, nullptr));
  expect("neve_stream_encoder_chunk", neve_stream_encoder_chunk(encoder, 0, &chunk));
  ASSERT_EQ(neve_stream_encoder_push(encoder, values_.data(), 600), NEVE_OK);
  ASSERT_EQ(neve_stream_encoder_finish(encoder), NEVE_OK);
  expect("neve_stream_encoder_flush", neve_stream_encoder_flush(encoder));
  expect("neve_stream_encoder_chunk", neve_stream_encoder_chunk(encoder, 0, nullptr));
  expect("neve_stream_encoder_chunk", neve_stream_encoder_chunk(encoder, 0, &old_chunk));
  expect("neve_stream_encoder_chunk", neve_stream_encoder_chunk(encoder, UINT64_MAX, &chunk));
  neve_stream_encoder_free(encoder);
  neve_stream_encoder_free(nullptr);
  survived("neve_stream_encoder_free");
}

TEST_F(WrongCalls, OfReadingStreamsInC) {
  const auto expect = [](const char* function, int code) { refused(function, code, NEVE_USAGE); };
  const uint64_t shape[] = {30, 20};
  neve_stream_options good = NEVE_STREAM_OPTIONS_INIT;
  good.dtype = NEVE_F64;
  good.ndim = 2;
  good.shape = shape;
  void* stream = nullptr;
  size_t stream_bytes = 0;
  ASSERT_EQ(neve_stream_compress(&good, values_.data(), &stream, &stream_bytes), NEVE_OK)
      << neve_last_error();
  std::vector<double> back(600);
  const void* values = nullptr;
  uint64_t count = 0;
  int answer = 0;
  neve_stream_description description = NEVE_STREAM_DESCRIPTION_INIT, old = {};
  expect("neve_stream_info", neve_stream_info(nullptr, 1, &description));
  expect("neve_stream_info", neve_stream_info(stream, stream_bytes, nullptr));
  expect("neve_stream_info", neve_stream_info(stream, stream_bytes, &old));
  refused("neve_stream_info", neve_stream_info(stream, 0, &description), NEVE_CORRUPT);
  refused("neve_stream_info", neve_stream_info(stream, stream_bytes - 1, &description), NEVE_CORRUPT);
  expect("neve_stream_decompress", neve_stream_decompress(nullptr, stream_bytes, back.data(), 4800));
  expect("neve_stream_decompress", neve_stream_decompress(stream, stream_bytes, nullptr, 4800));
  expect("neve_stream_decompress", neve_stream_decompress(stream, stream_bytes, back.data(), 4799));
  refused("neve_stream_decompress", neve_stream_decompress(stream, 20, back.data(), 4800), NEVE_CORRUPT);
  expect("neve_is_stream", neve_is_stream(nullptr, 1, &answer));
  expect("neve_is_stream", neve_is_stream(stream, stream_bytes, nullptr));

  neve_stream_decoder* decoder = nullptr;
  expect("neve_stream_decoder_create", neve_stream_decoder_create(nullptr));
  expect("neve_stream_decoder_push", neve_stream_decoder_push(nullptr, stream, stream_bytes));
  expect("neve_stream_decoder_finish", neve_stream_decoder_finish(nullptr));
  expect("neve_stream_decoder_output", neve_stream_decoder_output(nullptr, &values, &count));
  expect("neve_stream_decoder_clear_output", neve_stream_decoder_clear_output(nullptr));
  expect("neve_stream_decoder_info", neve_stream_decoder_info(nullptr, &description));
  ASSERT_EQ(neve_stream_decoder_create(&decoder), NEVE_OK);
  expect("neve_stream_decoder_push", neve_stream_decoder_push(decoder, nullptr, 1));
  expect("neve_stream_decoder_output", neve_stream_decoder_output(decoder, nullptr, &count));
  expect("neve_stream_decoder_output", neve_stream_decoder_output(decoder, &values, nullptr));
  expect("neve_stream_decoder_info", neve_stream_decoder_info(decoder, nullptr));
  expect("neve_stream_decoder_info", neve_stream_decoder_info(decoder, &old));
  refused("neve_stream_decoder_finish", neve_stream_decoder_finish(decoder), NEVE_CORRUPT);
  EXPECT_EQ(neve_stream_decoder_output(decoder, &values, &count), NEVE_OK);
  EXPECT_EQ(count, 0u);
  refused("neve_stream_decoder_push", neve_stream_decoder_push(decoder, back.data(), 4800), NEVE_CORRUPT);
  neve_stream_decoder_free(decoder);
  neve_stream_decoder_free(nullptr);
  survived("neve_stream_decoder_free");
  neve_free(stream);
}

TEST_F(WrongCalls, OfEncodingAFrame) {
  const FrameArguments right(values_);
  survived("dense_box_data", dense_box_data(nullptr, FrameBox{}).data == nullptr);
  const void* const gap[] = {values_.data(), nullptr};
  const void* const crooked[] = {values_.data(), reinterpret_cast<const std::byte*>(values_.data()) + 3};
  for (const auto& components : {gap, crooked}) {
    refused("component_offsets", component_offsets(DType::f64, {components, 2}).status());
  }
  for (const uint8_t n : wrong_numbers) {
    refused("component_offsets", component_offsets(static_cast<DType>(n), {crooked, 1}).status());
  }
  const auto wrong = [&](auto change) { refuse_frame(values_, change); };
  wrong([](Layout&, Specs& s, Data&, Options&) { s.clear(); });
  wrong([](Layout&, Specs& s, Data&, Options&) { s.resize(2); });
  wrong([](Layout&, Specs&, Data& d, Options&) { d.clear(); });
  wrong([](Layout&, Specs&, Data& d, Options&) { d[0].data = nullptr; });
  wrong([](Layout&, Specs&, Data& d, Options&) { d[0].stride[0] = 2; });
  for (const double bound : {-1.0, nan_value, infinity}) {
    wrong([&](Layout&, Specs& s, Data&, Options&) { s[0].bound_abs = bound; });
  }
  wrong([](Layout&, Specs& s, Data&, Options&) { s[0].codec = Codec::constant; });
  wrong([](Layout&, Specs& s, Data&, Options&) { s[0].integer_fill = 3; });
  for (const uint8_t n : wrong_numbers) {
    wrong([&](Layout&, Specs& s, Data&, Options&) { s[0].codec = static_cast<Codec>(n); });
    wrong([&](Layout&, Specs& s, Data&, Options&) { s[0].recalled = static_cast<Codec>(n); });
    wrong([&](Layout&, Specs& s, Data&, Options&) { s[0].recalled_method = static_cast<LosslessMethod>(n); });
    wrong(
        [&](Layout&, Specs& s, Data&, Options&) { s[0].recalled_arrangement = static_cast<Arrangement>(n); });
    wrong([&](Layout&, Specs& s, Data&, Options&) { s[0].asked.mode = static_cast<BoundMode>(n); });
    wrong([&](Layout&, Specs&, Data&, Options& o) { o.effort = static_cast<Effort>(n); });
    refused("encode_frame",
            encode_frame(static_cast<DType>(n), right.layout, right.specs, right.data).status());
  }
  const Nesting none;
  refused("encode_frame",
          encode_frame(DType::f64, right.layout, right.specs, right.data, {}, nullptr, &none).status());
  survived("FrameLayout::held_elements", FrameLayout{}.held_elements() == 0);
}

TEST_F(WrongCalls, OfDecodingAFrame) {
  const auto bytes = encode_array(DType::f64, shape_, values_.data(), {});
  ASSERT_TRUE(bytes.ok());
  refused("Frame::parse", Frame::parse({}).status(), Code::corrupt);
  const auto frame = Frame::parse(*bytes);
  ASSERT_TRUE(frame.ok());
  for (const uint64_t other :
       {uint64_t{0}, uint64_t{bytes->size()} - 1, uint64_t{bytes->size()} + 1, UINT64_MAX}) {
    refused("Frame::check_stands_alone", frame->check_stands_alone(other), Code::corrupt);
  }
  std::vector<std::byte> out(values_.size() * sizeof(double));
  const uint64_t size = out.size();
  for (const uint64_t room : {uint64_t{0}, size - 1, size + 1, UINT64_MAX}) {
    refused("Frame::decode", frame->decode(out.data(), room));
    refused("Frame::decode_box", frame->decode_box(0, 0, out.data(), room));
    refused("Frame::decode_component", frame->decode_component(0, out.data(), room));
  }
  refused("Frame::decode", frame->decode(nullptr, size));
  refused("Frame::decode_box", frame->decode_box(0, 0, nullptr, size));
  refused("Frame::decode_component", frame->decode_component(0, nullptr, size));
  for (const int number : {-1, 1, INT32_MIN, INT32_MAX}) {
    refused("Frame::decode_box", frame->decode_box(number, 0, out.data(), size));
    refused("Frame::decode_box", frame->decode_box(0, number, out.data(), size));
    refused("Frame::decode_component", frame->decode_component(number, out.data(), size));
    refused("Frame::left_out", frame->left_out(number, 0).status());
    refused("Frame::left_out", frame->left_out(0, number).status());
    survived("Frame::component_values", frame->component_values(number) == 0);
    survived("Frame::needs_coarser_level", !frame->needs_coarser_level(number));
  }
  for (const int threads : {0, -1, 1025, 2000000000}) {
    refused("Frame::decode", frame->decode(out.data(), size, threads));
    refused("Frame::decode_component", frame->decode_component(0, out.data(), size, threads));
  }
  refused("describe_frame", describe_frame({}).status(), Code::corrupt);
  for (size_t length = 0; length < bytes->size(); length += 1 + bytes->size() / 40) {
    refused("describe_frame", describe_frame(std::span(*bytes).first(length)).status(), Code::corrupt);
  }
  for (const uint64_t number : {uint64_t{1}, uint64_t{1} << 63, UINT64_MAX}) {
    survived("Frame::box", frame->box(number).cells() == 0);
    survived("Frame::first_element", frame->first_element(number) == frame->held_elements());
    survived("Frame::find_box", !frame->find_box(number).has_value());
  }
  survived("Frame::box_count", frame->box_count() == 1);
  survived("Frame::held_elements", frame->held_elements() == values_.size());
  survived("Frame::memory_bytes", frame->memory_bytes() > 0);
  survived("Frame::shape", frame->shape().is_array);
  survived("Frame::dtype", frame->dtype() == DType::f64);
  survived("Frame::components", frame->components().size() == 1);
  survived("Frame::sections", !frame->sections().empty());
  survived("Frame::header_bytes", frame->header_bytes() > 0);
}

TEST_F(WrongCalls, OfRangesAndFillValues) {
  FrameBox box;
  box.size = {30, 20, 1, 1};
  const BoxData data = dense_box_data(values_.data(), box);
  for (const uint8_t n : wrong_numbers) {
    refused("scan_range", scan_range(static_cast<DType>(n), box, data, 0, {}).status());
    survived("detect_integer_fill", !detect_integer_fill(static_cast<DType>(n), box, data).has_value());
    survived("suspect_fill", !suspect_fill(static_cast<DType>(n), ValueRange{}).has_value());
    survived("absolute_bound", absolute_bound({static_cast<BoundMode>(n), 1}, {0, 1, false}) == 0);
  }
  refused("scan_range", scan_range(DType::i32, box, data, 0, {}).status());
  refused("scan_range", scan_range(DType::f64, box, {}, 0, {}).status());
  refused("scan_range", scan_range(DType::f64, box, data, -1, {}).status());
  FrameBox negative = box;
  negative.size[1] = -3;
  refused("scan_range", scan_range(DType::f64, negative, data, 0, {}).status());
  survived("detect_integer_fill", !detect_integer_fill(DType::i32, box, {}).has_value());
  survived("detect_integer_fill", !detect_integer_fill(DType::i32, negative, data).has_value());
  survived("accept_fill", !accept_fill(nan_value, ValueRange{}));
  survived("accept_fill", !accept_fill(nan_value, {0, 1, false}));
  survived("suspect_fill", !suspect_fill(DType::f64, {nan_value, nan_value, false}).has_value());
  ValueRange range;
  range.merge({nan_value, nan_value, true});
  survived("ValueRange::merge", range.empty);
  survived("ValueRange::width", range.width() == 0);
  survived("simd_target", !simd_target().empty());
  survived("simd_targets", !simd_targets().empty());
}

// --- stream.hpp
// -----------------------------------------------------------------------------------------------

StreamOptions stream_options(const std::vector<uint64_t>& shape) {
  StreamOptions good;
  good.dtype = DType::f64;
  good.shape = shape;
  good.bound = {BoundMode::abs, 0.1};
  return good;
}

TEST_F(WrongCalls, OfStreamOptions) {
  const StreamOptions good = stream_options(shape_);
  const auto wrong = [&](auto change) {
    StreamOptions options = good;
    change(options);
    refused("StreamEncoder::create", StreamEncoder::create(options).status());
    refused("best_stream_dims", best_stream_dims(options, values_.data()).status());
  };
  for (const uint8_t n : wrong_numbers) {
    wrong([&](StreamOptions& o) { o.dtype = static_cast<DType>(n); });
    wrong([&](StreamOptions& o) { o.bound.mode = static_cast<BoundMode>(n); });
    wrong([&](StreamOptions& o) { o.rule = static_cast<CodebookRule>(n); });
  }
  wrong([](StreamOptions& o) { o.dtype = DType::i32; });
  wrong([](StreamOptions& o) { o.bound.mode = BoundMode::lossless; });
  wrong([](StreamOptions& o) { o.bound = {BoundMode::rel, 1e-3}; });
  for (const double value : {0.0, -1.0, nan_value, infinity})
    wrong([&](StreamOptions& o) { o.bound.value = value; });
  wrong([](StreamOptions& o) { o.range = {nan_value, 1, false}; });
  wrong([](StreamOptions& o) { o.range = {1, -1, false}; });
  wrong([](StreamOptions& o) { o.shape = {UINT64_MAX}; });
  wrong([](StreamOptions& o) { o.shape = {3, 0}; });
  wrong([](StreamOptions& o) { o.shape.assign(33, 1); });
  for (const int dims : {-1, 4, INT32_MIN, INT32_MAX}) wrong([&](StreamOptions& o) { o.dims = dims; });
  for (const int codebook : {-2, 1000, INT32_MIN, INT32_MAX})
    wrong([&](StreamOptions& o) { o.offline_codebook = codebook; });
  for (const uint32_t block : {0U, UINT32_MAX}) wrong([&](StreamOptions& o) { o.block_values = block; });
  for (const uint64_t chunk : {uint64_t{0}, UINT64_MAX}) {
    wrong([&](StreamOptions& o) { o.chunk_bytes = chunk; });
    wrong([&](StreamOptions& o) { o.tried_bytes = chunk; });
  }
  for (const double chi : {-1.0, nan_value}) wrong([&](StreamOptions& o) { o.chi_keep = chi; });
  wrong([](StreamOptions& o) { o.chi_offline = nan_value; });
  refused("best_stream_dims", best_stream_dims(good, nullptr).status());
}

TEST_F(WrongCalls, OfAStreamEncoder) {
  const StreamOptions good = stream_options(shape_);
  auto encoder = StreamEncoder::create(good);
  ASSERT_TRUE(encoder.ok());
  refused("StreamEncoder::push", encoder->push(nullptr, 3));
  for (const uint64_t count : {uint64_t{601}, UINT64_MAX})
    refused("StreamEncoder::push", encoder->push(values_.data(), count));
  refused("StreamEncoder::finish", encoder->finish());
  ASSERT_TRUE(encoder->push(nullptr, 0).ok());
  ASSERT_TRUE(encoder->push(values_.data(), 600).ok());
  ASSERT_TRUE(encoder->finish().ok());
  refused("StreamEncoder::finish", encoder->finish());
  refused("StreamEncoder::push", encoder->push(values_.data(), 1));
  refused("StreamEncoder::flush", encoder->flush());
  survived("StreamEncoder::output", !encoder->output().empty());
  survived("StreamEncoder::reports", encoder->reports().size() == 1);
  encoder->clear_output();
  survived("StreamEncoder::clear_output", encoder->output().empty());
  encoder->reset();
  survived("StreamEncoder::reset", encoder->push(values_.data(), 600).ok());
  StreamOptions open = good;
  open.shape = {0, 30};
  auto endless = StreamEncoder::create(open);
  ASSERT_TRUE(endless.ok());
  refused("StreamEncoder::push", endless->push(values_.data(), UINT64_MAX));
}

TEST_F(WrongCalls, OfStreams) {
  for (const std::vector<uint64_t>& shape :
       {std::vector<uint64_t>{(uint64_t{1} << 32) + 1, uint64_t{1} << 32}, {UINT64_MAX}}) {
    refused("encode_stream", encode_stream(DType::f64, shape, values_.data(), {}).status());
  }
  refused("encode_stream", encode_stream(DType::f64, shape_, nullptr, {}).status());
  refused("encode_stream", encode_stream(static_cast<DType>(77), shape_, values_.data(), {}).status());

  auto encoder = StreamEncoder::create(stream_options(shape_));
  ASSERT_TRUE(encoder.ok() && encoder->push(values_.data(), 600).ok() && encoder->finish().ok());
  const std::vector<std::byte> stream(encoder->output().begin(), encoder->output().end());
  std::vector<std::byte> out(values_.size() * sizeof(double));
  refused("decode_stream", decode_stream(stream, nullptr, out.size()));
  refused("decode_stream", decode_stream(stream, out.data(), out.size() + 1));
  refused("decode_stream", decode_stream(stream, out.data(), out.size() - 1));
  refused("decode_stream", decode_stream({}, out.data(), out.size()), Code::corrupt);
  refused("describe_stream", describe_stream({}).status(), Code::corrupt);
  for (size_t length = 0; length < stream.size(); length += 1 + stream.size() / 20) {
    const auto part = std::span(stream).first(length);
    refused("decode_stream", decode_stream(part, out.data(), out.size()), Code::corrupt);
    refused("describe_stream", describe_stream(part).status(), Code::corrupt);
    StreamDecoder decoder;
    survived("StreamDecoder::push", decoder.push(part).ok());
    refused("StreamDecoder::finish", decoder.finish(), Code::corrupt);
    survived("StreamDecoder::has_ended", !decoder.has_ended());
  }
  survived("is_stream", !is_stream({}));
  StreamDecoder decoder;
  survived("StreamDecoder::has_info", !decoder.has_info());
  survived("StreamDecoder::info", decoder.info().shape.empty());
  survived("StreamDecoder::output", decoder.output().empty());
  decoder.clear_output();
  survived("StreamDecoder::clear_output", decoder.output().empty());
  refused("StreamDecoder::push", decoder.push(std::as_bytes(std::span(values_))), Code::corrupt);
}

// --- hierarchy.hpp, distribution.hpp, selection_report.hpp
// -----------------------------------------------------

Hierarchy small_hierarchy() {
  Hierarchy h;
  h.dims = 2;
  h.components = {"u"};
  h.levels.resize(1);
  h.levels[0].domain = {{0, 0, 0}, {29, 19, 0}};
  h.levels[0].boxes = {h.levels[0].domain};
  return h;
}

TEST_F(WrongCalls, OfHierarchies) {
  ASSERT_TRUE(check_hierarchy(small_hierarchy()).ok());
  const auto wrong = [](auto change) {
    Hierarchy h = small_hierarchy();
    change(h);
    refused("check_hierarchy", check_hierarchy(h));
  };
  for (const int dims : {0, -1, 4, INT32_MIN, INT32_MAX}) wrong([&](Hierarchy& h) { h.dims = dims; });
  for (const uint8_t n : wrong_numbers) wrong([&](Hierarchy& h) { h.dtype = static_cast<DType>(n); });
  wrong([](Hierarchy& h) { h.components.clear(); });
  wrong([](Hierarchy& h) { h.components = {""}; });
  wrong([](Hierarchy& h) { h.components = {"u", "u"}; });
  wrong([](Hierarchy& h) { h.components = {std::string("u\0v", 3)}; });
  wrong([](Hierarchy& h) { h.levels.clear(); });
  wrong([](Hierarchy& h) { h.levels[0].boxes.clear(); });
  for (const double value : {nan_value, infinity}) {
    wrong([&](Hierarchy& h) { h.prob_lo[0] = value; });
    wrong([&](Hierarchy& h) { h.prob_hi[1] = value; });
    wrong([&](Hierarchy& h) { h.levels[0].dx[0] = value; });
  }
  for (const double dx : {0.0, -1.0}) wrong([&](Hierarchy& h) { h.levels[0].dx[0] = dx; });
  for (const int32_t place : {INT32_MIN, INT32_MAX}) {
    wrong([&](Hierarchy& h) { h.levels[0].domain.lo[0] = place; });
    wrong([&](Hierarchy& h) { h.levels[0].domain.hi[1] = place; });
    wrong([&](Hierarchy& h) { h.levels[0].boxes[0].lo[0] = place; });
    wrong([&](Hierarchy& h) { h.levels[0].ref_ratio[0] = place; });
  }
  wrong([](Hierarchy& h) { h.levels[0].boxes.push_back(h.levels[0].boxes[0]); });
  wrong([](Hierarchy& h) {
    h.levels.push_back(h.levels[0]);
    h.levels[1].domain.hi[0] = 99;  // not the coarser one refined
  });
  Hierarchy none;
  sort_boxes_as_chombo(none);
  survived("sort_boxes_as_chombo", none.levels.empty());

  const Hierarchy h = small_hierarchy();
  for (const int ranks : {0, -1, INT32_MIN}) {
    refused("distribute_boxes", distribute_boxes(h, ranks, {}).status());
  }
  for (const uint8_t n : wrong_numbers) {
    refused("distribute_boxes", distribute_boxes(h, 2, {static_cast<DistributionMethod>(n), {}}).status());
  }
  for (const double load : {-1.0, nan_value, infinity}) {
    refused("distribute_boxes", distribute_boxes(h, 2, {DistributionMethod::greedy, {{load}}}).status());
  }
  refused("distribute_boxes", distribute_boxes(h, 2, {DistributionMethod::greedy, {{1, 1}}}).status());
  refused("distribute_boxes", distribute_boxes(h, 2, {DistributionMethod::greedy, {{1}, {1}}}).status());
}

TEST_F(WrongCalls, OfSelectionReports) {
  SelectionReport report;
  const WeighedCandidate wrong_codec{static_cast<Codec>(77), LosslessMethod::automatic, Fate::won, 1, 1};
  const WeighedCandidate wrong_fate{Codec::exact, LosslessMethod::automatic, static_cast<Fate>(77), 1, 1};
  const WeighedCandidate wrong_method{Codec::lossless, static_cast<LosslessMethod>(77), Fate::won, 1, 1};
  const WeighedCandidate all[] = {wrong_codec, wrong_fate, wrong_method};
  report.add(all, 10, {});
  survived("SelectionReport::add", report.sections == 1 && report.listed({}).empty());
  survived("SelectionReport::listed");
  for (const size_t place : {candidate_places, SIZE_MAX})
    survived("SelectionReport::score", report.score(place, {}) == 0);
  survived("candidate_place", candidate_place(static_cast<Codec>(77), {}) >= candidate_places);
  survived("candidate_name", !candidate_name(SIZE_MAX).empty());
  survived("CandidateSums::by_frequency", CandidateSums{}.by_frequency().empty());
  survived("CandidateSums::outcome", CandidateSums{}.outcome().empty());
  survived("SelectionTimes::share", SelectionTimes{}.share() == 0);
  survived("selection_score", selection_score(static_cast<Codec>(77), {}, 1, 0, {}) >= 0);
}

}  // namespace
}  // namespace neve
