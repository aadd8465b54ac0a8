// SPDX-License-Identifier: BSD-3-Clause
// The table of options: what every row must do, and what its surfaces make of it.
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "core/catalog/lossless_methods.hpp"
#include "core/options/idle.hpp"
#include "core/options/nearest_name.hpp"
#include "core/options/settings.hpp"
#include "core/options/slots.hpp"
#include "neve/options.hpp"
#include "parallel/write/options_key.hpp"

namespace neve {
namespace {

using options::Option;

// A value that is not the one an option has by itself.
std::string other_value(const Option& option) {
  if (option.key == "bound") return "abs=0.25";
  if (option.key == "codec") return "context";
  if (option.key == "effort") return "max";
  if (option.key == "arrangement") return "linear";
  if (option.key == "method") return "rank";
  if (option.key == "covered") return "drop";
  if (option.key == "behind") return "encode";
  if (option.key == "stage") return "/dev/shm";
  if (option.key == "strategy") return "aggregated";
  if (option.key == "candidates") return "zstd+lorenzo";
  if (option.key == "speeds") return "measured";
  if (option.key == "unit") return "16";
  if (option.key == "block") return "4";
  switch (option.kind) {
    case options::Kind::toggle:
      return "true";
    case options::Kind::size:
      return "1MiB";
    case options::Kind::number:
      return "2.5";
    default:
      return "3";
  }
}

// What options of a write have, and rules of choices, which belong to its memory.
class AllSlots {
 public:
  options::Slots slots() {
    options::Slots slots = write_.slots();
    slots.choice = &rules_;
    return slots;
  }
  WriteOptions take() { return write_.take(); }

 private:
  options::WriteSlots write_;
  ChoiceRules rules_;
};

TEST(OptionTable, EveryRowIsWhole) {
  std::set<std::string_view> keys;
  for (const Option& option : options::table()) {
    EXPECT_TRUE(keys.insert(option.key).second) << option.key;
    EXPECT_FALSE(option.help.empty()) << option.key;
    EXPECT_NE(option.targets, 0U) << option.key;
    EXPECT_EQ(option.placeholder.empty(), option.kind == options::Kind::toggle) << option.key;
    EXPECT_EQ(option.is_used == nullptr, option.purpose.empty()) << option.key;
    EXPECT_EQ(options::find(options::dashed(option.key)), &option);
  }
  EXPECT_EQ(options::find("no-such"), nullptr);
}

// What is read is printed, and the other way about: the surfaces show defaults and compare values by it.
TEST(OptionTable, EveryRowReadsWhatItPrints) {
  for (const Option& option : options::table()) {
    AllSlots slots, again;
    const options::Slots where = slots.slots();
    const std::string before = option.print(where);
    const Status status = option.read(other_value(option), where);
    ASSERT_TRUE(status.ok()) << option.key << ": " << status.message();
    const std::string after = option.print(where);
    EXPECT_NE(after, before) << option.key;
    ASSERT_TRUE(option.read(after, again.slots()).ok()) << option.key << " prints " << after;
    EXPECT_EQ(option.print(again.slots()), after);
  }
}

TEST(OptionTable, EveryRowRefusesNonsense) {
  for (const Option& option : options::table()) {
    AllSlots slots;
    // (Any bytes name a folder.)
    const Status status = option.read(option.key == "stage" ? "" : "no\xffsense", slots.slots());
    EXPECT_EQ(status.code(), Code::usage) << option.key;
  }
}

// Ranks that ask for different things are found out, whichever option it is.
TEST(OptionTable, RanksThatDifferAreFoundOut) {
  const std::string usual = mpi::options_key({});
  for (const Option& option : options::table()) {
    AllSlots slots;
    ASSERT_TRUE(option.read(other_value(option), slots.slots()).ok());
    const bool is_a_ranks_own = option.key == "threads" || option.is_of_choice;
    EXPECT_EQ(mpi::options_key(slots.take()) == usual, is_a_ranks_own) << option.key;
  }
  WriteOptions of_field;
  for (const char* rule : {"abs=1", "codec=context", "unit=8", "fill=3", "candidates=zstd+lz4"}) {
    const auto settings = options::parse_rule(rule, options::field_rule);
    ASSERT_TRUE(settings.ok());
    WriteOptions with_rule;
    with_rule.fields["u"] = {settings->bound, settings->codec, settings->tuning, settings->fill};
    of_field.fields["u"] = {};
    EXPECT_NE(mpi::options_key(with_rule), mpi::options_key(of_field)) << rule;
  }
  WriteOptions hinted;
  hinted.mpi_hints["cb_nodes"] = "2";
  EXPECT_NE(mpi::options_key(hinted), usual);
  WriteOptions like;
  like.like = "plt.h5";
  EXPECT_NE(mpi::options_key(like), usual);
}

TEST(OptionTable, EverySettingOfACodecIsInItsText) {
  const std::string usual = options::tuning_text({});
  for (const Option& option : options::table()) {
    if (!option.is_of_tuning) continue;
    CodecTuning tuning;
    options::Slots slots;
    slots.tuning = &tuning;
    ASSERT_TRUE(option.read(other_value(option), slots).ok());
    EXPECT_NE(options::tuning_text(tuning), usual) << option.key;
  }
}

TEST(ArrayOptionTexts, TakeEveryOptionOfArrays) {
  const auto options = parse_array_options({{"Bound", "ratio=10"},
                                            {"EFFORT", "max"},
                                            {"unit", "16"},
                                            {"merge-units", "Yes"},
                                            {"threads", "3"},
                                            {"fill", "-999"}});
  ASSERT_TRUE(options.ok()) << options.status().message();
  EXPECT_EQ(options->bound, (Bound{BoundMode::ratio, 10}));
  EXPECT_EQ(options->encode.effort, Effort::max);
  EXPECT_EQ(options->tuning.unit_cells, 16);
  EXPECT_TRUE(options->tuning.merge_units);
  EXPECT_EQ(options->encode.threads, 3);
  EXPECT_EQ(options_for(DType::f32, *options).fill, -999);
  EXPECT_FALSE(options_for(DType::f32, *options).integer_fill);
  EXPECT_EQ(options_for(DType::i16, *options).integer_fill, static_cast<uint64_t>(-999));
  EXPECT_FALSE(options_for(DType::i16, *options).fill);

  const auto text = parse_array_options("psnr=60;codec=context;fill=none");
  ASSERT_TRUE(text.ok()) << text.status().message();
  EXPECT_EQ(text->bound.mode, BoundMode::psnr);
  EXPECT_EQ(text->codec, Codec::context);
  EXPECT_FALSE(text->detect_fill);
}

TEST(ArrayOptionTexts, RefuseWhatWouldDoNothing) {
  for (const char* idle :
       {"rel=1e-3;method=rank;codec=context", "rel=1e-3;block=4", "codec=exact;effort=max;lossless",
        "rel=1e-3;codec=context;speed-weight=1", "rel=1e-3;rel=1e-4", "covered=keep", "explain",
        "rel=1e-3;merge-units;effort=fast", "rel=1e-3;method=zstd", "rel=1e-4;method=zstd",
        "rel=1e-3;codec=lossless", "ratio=5;codec=exact", "psnr=60;codec=lossless"}) {
    EXPECT_EQ(parse_array_options(idle).status().code(), Code::usage) << idle;
  }
  const Status unknown = parse_array_options({{"boundd", "rel=1"}}).status();
  EXPECT_NE(unknown.message().find("unknown option \"boundd\"; allowed are bound, codec"), std::string::npos)
      << unknown.message();
}

// Whatever its value is, a bound that was given is one, by text or before it.
TEST(ArrayOptionTexts, KnowWhetherABoundWasGiven) {
  const auto with_method = [](OptionsSoFar before) {
    return parse_array_options("method=zstd", std::move(before)).status().code();
  };
  EXPECT_EQ(with_method({}), Code::ok) << "integers may come";
  for (const double value : {1e-3, 1e-4}) {
    OptionsSoFar given{{}, {"bound"}, {}};
    given.values.bound = {BoundMode::rel, value};
    EXPECT_EQ(with_method(given), Code::usage) << value;
  }
  EXPECT_EQ(with_method({{}, {}, DType::f32}), Code::usage) << "floating point has the default bound";
  OptionsSoFar integers{{}, {}, DType::i16};
  integers.values.bound = {BoundMode::lossless, 0};
  EXPECT_EQ(with_method(integers), Code::ok);
}

// What was set before a text is refused as the text would be.
TEST(ArrayOptionTexts, RefuseWhatWasSetBefore) {
  OptionsSoFar before{{}, {"codec"}, DType::f32};
  before.values.codec = Codec::context;
  before.values.tuning.block_cells = 4;
  EXPECT_EQ(parse_array_options("", before).status().code(), Code::usage);
  before.values.codec = Codec::lorenzo_regression;
  EXPECT_TRUE(parse_array_options("", before).ok());
}

TEST(SeriesOptionTexts, AreThoseOfAnArrayAndOfItsChoices) {
  const auto said = parse_series_options(
      "lossless;candidates=ACOMPS;speed-weight=1;ratio_weight=0.5;delta=0.1;speeds=measured;effort=max");
  ASSERT_TRUE(said.ok()) << said.status().message();
  EXPECT_EQ(said->array.tuning.candidates, acomps_methods);
  EXPECT_EQ(said->array.encode.effort, Effort::max);
  EXPECT_EQ(said->rules, (ChoiceRules{0.1, Speeds::measured}));
  EXPECT_EQ(choice_text(*said),
            "candidates=acomps;speed_weight=1;ratio_weight=0.5;delta=0.1;speeds=measured");
  OptionsSoFar lossless{{}, {"bound"}, {}};
  lossless.values.bound = {BoundMode::lossless, 0};
  const auto again = parse_series_options(choice_text(*said), lossless);
  ASSERT_TRUE(again.ok()) << again.status().message();
  EXPECT_EQ(again->array.tuning, said->array.tuning);
  EXPECT_EQ(again->rules, said->rules);
  EXPECT_EQ(lossless_methods_text(parse_series_options({{"Bound", "lossless"}, {"candidates", "zstd,b-LZO"}})
                                      ->array.tuning.candidates),
            "B-LZO+zstd");
}

TEST(SeriesOptionTexts, MayHaveBlanksAroundNamesOfCandidates) {
  for (const char* spaced : {"zstd + lz4", " zstd ,lz4", "zstd\t+\tlz4 "}) {
    const auto said = parse_series_options({{"candidates", spaced}});
    ASSERT_TRUE(said.ok()) << said.status().message();
    EXPECT_EQ(lossless_methods_text(said->array.tuning.candidates), "zstd+lz4");
  }
  EXPECT_TRUE(parse_lossless_methods(" all ")->is_all());
  for (const char* nameless : {" ", "zstd + ", "+zstd", "zs td"})
    EXPECT_EQ(parse_lossless_methods(nameless).status().code(), Code::usage) << nameless;
}

TEST(SeriesOptionTexts, RefuseWhatWouldDoNothing) {
  for (const char* idle : {"lossless;method=zstd;candidates=acomps", "lossless;method=zstd;delta=0.1",
                           "rel=1e-3;codec=context;delta=1", "lossless;codec=exact;candidates=zstd",
                           "lossless;speeds=measured", "lossless;speed_weight=1;delta=-1",
                           "lossless;delta=nan", "lossless;delta=inf", "lossless;speeds=guessed",
                           "lossless;candidates=gzip", "lossless;candidates=", "lossless;candidates=zstd+",
                           "lossless;candidates=auto", "lossless;delta=1;delta=2"}) {
    EXPECT_EQ(parse_series_options(idle).status().code(), Code::usage) << idle;
  }
  EXPECT_TRUE(parse_series_options("rel=1e-3;delta=0.2").ok());
  EXPECT_EQ(parse_array_options("lossless;delta=0.1").status().code(), Code::usage) << "it is of series";
  EXPECT_EQ(parse_array_options("lossless;method=zstd;candidates=acomps").status().code(), Code::usage);
  EXPECT_EQ(parse_series_options("lossless;speeds=measured").status().message(),
            "speeds has no meaning: speeds have no weight; allowed with a speed weight above 0");
  EXPECT_EQ(parse_series_options("lossless;codec=lossless;method=zstd;delta=0.1").status().message(),
            "delta has no meaning with codec lossless and method zstd: there is nothing to choose; allowed "
            "with codec auto and lossless, without a method");
  EXPECT_EQ(parse_series_options("lossless;codec=exact;delta=0.1").status().message(),
            "delta has no meaning with codec exact: there is nothing to choose; allowed with codec auto and "
            "lossless, without a method");
}

// A bound needs a codec that makes use of it; a field's codec may do without.
TEST(WriteOptionTexts, RefuseBoundsThatChangeNothing) {
  for (const char* idle : {"rel=1e-3;codec=lossless", "codec=exact;field:u=abs=1",
                           "field:u=abs=1,codec=exact", "rel=1e-3;codec=exact;field:u=abs=1,codec=context"}) {
    EXPECT_EQ(parse_write_options(idle).status().code(), Code::usage) << idle;
  }
  for (const char* allowed : {"codec=lossless", "lossless;codec=exact", "rel=1e-3;field:u=codec=exact",
                              "rel=1e-3;codec=exact;field:u=codec=context"}) {
    EXPECT_TRUE(parse_write_options(allowed).ok()) << allowed;
  }
}

TEST(CheckpointOptionTexts, AreThoseOfVariables) {
  const auto none = parse_checkpoint_options("");
  ASSERT_TRUE(none.ok()) << none.status().message();
  EXPECT_EQ(none->bound.mode, BoundMode::lossless);
  EXPECT_TRUE(none->compress && none->fields.empty());
  const auto said = parse_checkpoint_options(
      "abs=1e-3;field:gas=rel=1e-6,codec=context;field:\"a=b\"=lossless;threads=2;behind=encode;chunk_size="
      "1MiB;"
      "effort=balanced");
  ASSERT_TRUE(said.ok()) << said.status().message();
  EXPECT_EQ(said->bound, (Bound{BoundMode::abs, 1e-3}));
  EXPECT_EQ(said->fields.at("gas").bound, (Bound{BoundMode::rel, 1e-6}));
  EXPECT_EQ(said->fields.at("gas").codec, Codec::context);
  EXPECT_EQ(said->fields.at("a=b").bound->mode, BoundMode::lossless);
  EXPECT_EQ(said->encode.threads, 2);
  EXPECT_FALSE(parse_checkpoint_options("uncompressed")->compress);
  for (const char* wrong :
       {"covered=drop", "cross_level", "ghosts=1", "fill=3", "field:gas=fill=3", "field:gas=unit=8",
        "field:gas=", "uncompressed;abs=1", "uncompressed;behind=copy", "block=4", "abs=1;rel=1", "magic",
        "aggregators=3;strategy=independent"}) {
    EXPECT_EQ(parse_checkpoint_options(wrong).status().code(), Code::usage) << wrong;
  }
}

TEST(NearestName, IsTheOneMeant) {
  const std::vector<std::string> known = {"UNIT", "CODEC", "MIN_BYTES"};
  EXPECT_EQ(options::nearest_name("UNITS", known), "UNIT");
  EXPECT_EQ(options::nearest_name("PARALLELISM", known), "");
}

TEST(RuleTexts, SayWhichSettingIsWrong) {
  const auto message = [](const char* rule) {
    return options::parse_rule(rule, options::field_rule).status().message();
  };
  EXPECT_EQ(message("unit=x"), "unit is x; 0, 8, 16, 32 and 64 are allowed");
  EXPECT_EQ(message("abs=1,rel=1"), "bound is given twice");
  EXPECT_EQ(message("fill=auto"), "fill: in a rule it is a number");
  EXPECT_NE(message("effort=max").find("option \"effort=max\" has no meaning here; allowed are bound, codec"),
            std::string::npos);
  EXPECT_NE(message("efort=max").find("unknown option \"efort=max\"; allowed are bound, codec"),
            std::string::npos);
  EXPECT_EQ(message("merge-units=7"), "merge_units: '7'; true or false is allowed");
  EXPECT_EQ(message("merge-units,merge_units=true"), "merge_units is given twice");
  for (const char* on : {"merge-units", "merge_units=1", "merge-units=true", "merge-units=on"}) {
    EXPECT_TRUE(options::parse_rule(on, options::field_rule)->tuning->merge_units) << on;
  }
}

}  // namespace
}  // namespace neve
