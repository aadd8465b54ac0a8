// SPDX-License-Identifier: BSD-3-Clause
// A run's input file says how its plotfiles are written, and what is told of them.
#include <AMReX_ParallelDescriptor.H>
#include <AMReX_ParmParse.H>
#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>
#include <string>
#include <vector>

#include "fields.hpp"
#include "neve/amrex.hpp"

namespace {

using amrex::MultiFab;
using amrex::Vector;
using neve::test::Directory;
using neve::test::make_mesh;
using neve::test::Mesh;

const Vector<std::string> names{"density", "speed"};

// Entries of the input file for as long as this lives.
class Inputs : public testing::Test {
 protected:
  Inputs() : mesh_(make_mesh()) {
    for (int l = 0; l < mesh_.nlevels; ++l)
      levels_.push_back(neve::test::make_field(mesh_, l, amrex::IndexType::TheCellType(), 2, 0));
  }
  ~Inputs() override {
    for (const std::string& entry : entries_) amrex::ParmParse().remove(entry.c_str());
  }

  void say(const std::string& entry, const std::vector<std::string>& words) {
    amrex::ParmParse().addarr(entry.c_str(), words);
    entries_.push_back(entry);
  }
  neve::Result<neve::WriteReport> write(const std::string& name, int step = 7,
                                        const neve::amrex::CallOptions& options = {}) {
    return neve::amrex::TryWriteMultiLevelPlotfile(directory_ / name, mesh_.nlevels,
                                                   neve::test::const_pointers(levels_), names, mesh_.geom,
                                                   mesh_.time, {step, 2 * step}, mesh_.ref_ratio, options);
  }
  static std::string bound_of(const neve::Result<neve::WriteReport>& report, size_t field) {
    EXPECT_TRUE(report.ok()) << report.status().message();
    return report.ok() ? neve::to_string(report->levels.at(0).fields.at(field).asked) : "";
  }
  bool is_there(const std::string& name) const {
    const bool is = std::filesystem::exists(directory_ / name);
    amrex::ParallelDescriptor::Barrier();
    return is;
  }

  Directory directory_;
  Mesh mesh_;
  Vector<MultiFab> levels_;
  std::vector<std::string> entries_;
};

TEST_F(Inputs, ThatSayNothingLeaveTheUsualOptions) {
  EXPECT_EQ(bound_of(write("plt"), 0), neve::to_string(neve::WriteOptions().bound));
}

TEST_F(Inputs, SetBoundsOfAllFieldsAndOfOne) {
  say("neve.bound", {"rel", "1e-2"});
  say("neve.field.speed", {"abs=0.125,codec=dual_quant"});
  say("neve.effort", {"balanced"});
  const auto report = write("plt");
  EXPECT_EQ(bound_of(report, 0), "rel=0.01");
  EXPECT_EQ(bound_of(report, 1), "abs=0.125");
  EXPECT_EQ(report->levels[0].fields[1].codec, "dual_quant");
  const auto run = neve::amrex::TryReadInputs();
  ASSERT_TRUE(run.ok()) << run.status().message();
  EXPECT_EQ(run->options.encode.effort, neve::Effort::balanced);
}

TEST_F(Inputs, GiveWayToWhatTheCodeSays) {
  say("neve.bound", {"rel", "1e-2"});
  neve::WriteOptions options;
  options.bound = {neve::BoundMode::abs, 0.25};
  EXPECT_EQ(bound_of(write("plt", 7, options), 0), "abs=0.25");
}

TEST_F(Inputs, MayWriteBehindTheRunsBack) {
  say("neve.behind", {"encode"});
  const auto report = write("plt");
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_EQ(report->file_bytes, 0u);
  neve::amrex::WaitForWrites();
  EXPECT_TRUE(is_there("plt.h5"));
}

// Also where AMReX's own are written behind (async_out_ in CMakeLists.txt).
TEST_F(Inputs, SayThatNothingIsWrittenBehindTheRunsBack) {
  say("neve.behind", {"none"});
  const auto report = write("plt");
  ASSERT_TRUE(report.ok()) << report.status().message();
  EXPECT_GT(report->file_bytes, 0u);
}

TEST_F(Inputs, LeaveOutStepsThatAreNotAskedFor) {
  say("neve.every", {"5"});
  for (const int step : {0, 5, 7}) {
    const std::string name = "plt" + std::to_string(step);
    EXPECT_TRUE(write(name, step).ok());
    EXPECT_EQ(is_there(name + ".h5"), step != 7) << step;
    EXPECT_TRUE(is_there(name)) << step;
  }
}

TEST_F(Inputs, MayAskForAmrexOwnPlotfiles) {
  const auto write_as_codes_do = [&](const std::string& name) {
    return neve::amrex::WriteMultiLevelPlotfile(directory_ / name, mesh_.nlevels,
                                                neve::test::const_pointers(levels_), names, mesh_.geom,
                                                mesh_.time, {7, 14}, mesh_.ref_ratio);
  };
  say("neve.plotfiles", {"0"});
  EXPECT_EQ(write_as_codes_do("native").raw_bytes, 0u);
  amrex::ParallelDescriptor::Barrier();  // AMReX's call returns on other ranks before the last file is there
  EXPECT_TRUE(is_there("native/Level_1/Cell_H"));
  EXPECT_FALSE(is_there("native.h5"));
  amrex::ParmParse().remove("neve.plotfiles");
  EXPECT_GT(write_as_codes_do("ours").raw_bytes, 0u);
  EXPECT_TRUE(is_there("ours.h5"));
}

TEST_F(Inputs, SayWhatCheckpointsAreWrittenWith) {
  const std::string log = directory_ / "log.jsonl";
  say("neve.log", {log});
  say("neve.verbose", {"0"});
  say("neve.effort", {"max"});
  say("neve.codec", {"interpolation"});  // of plotfiles; the field is lossless
  const auto reports = neve::amrex::TryWriteCheckpoint(directory_ / "chk", mesh_.nlevels,
                                                       {{"gas", neve::test::const_pointers(levels_)}},
                                                       mesh_.geom, mesh_.time, {7, 14}, mesh_.ref_ratio);
  ASSERT_TRUE(reports.ok()) << reports.status().message();
  EXPECT_EQ(reports->at(0).levels.at(0).fields.at(0).codec, "lossless");
  amrex::ParallelDescriptor::Barrier();
  std::ifstream in(log);
  std::string line;
  std::getline(in, line);
  const std::string begin = "{\"kind\":\"checkpoint\",\"file\":\"" + (directory_ / "chk") + "\",\"step\":7,";
  EXPECT_EQ(line.substr(0, begin.size()), begin);
}

struct Wrong {
  std::string entry;
  std::vector<std::string> words;
  std::vector<std::string> told;
};

// On every rank, before anything is written.
TEST_F(Inputs, ThatAreWrongAreRefusedByName) {
  const std::vector<Wrong> all = {
      {"neve.efort", {"fast"}, {"neve.efort", "effort"}},
      {"neve.chekpoints", {"0"}, {"neve.chekpoints", "checkpoints"}},
      {"neve.bound", {"rel", "1e-2", "3"}, {"neve.bound", "3 values"}},
      {"neve.bound", {"rel"}, {"neve.bound", "rel"}},
      {"neve.field.speed", {"abs=0.1,codec=jpeg"}, {"neve.field.speed", "jpeg", "dual_quant"}},
      {"neve.every", {"0"}, {"neve.every", "'0'", "1 to"}},
      {"neve.verbose", {"x"}, {"neve.verbose", "'x'"}},
      {"neve.bound", {"rel=1e-3;effort=max"}, {"neve.bound", "';'"}},
      {"neve.field", {"abs", "1"}, {"neve.field"}},
      {"neve.checkpoint_bound", {"lossles"}, {"neve.checkpoint_bound", "lossles"}},
      {"neve.plotfiles", {"2"}, {"neve.plotfiles", "'2'", "0 to 1"}},
  };
  for (const Wrong& wrong : all) {
    amrex::ParmParse().addarr(wrong.entry.c_str(), wrong.words);
    const neve::Status read = neve::amrex::TryReadInputs().status();
    const neve::Status written = write("plt").status();
    amrex::ParmParse().remove(wrong.entry.c_str());
    EXPECT_EQ(read.code(), neve::Code::usage) << wrong.entry;
    EXPECT_EQ(written.code(), neve::Code::usage) << wrong.entry;
    for (const std::string& part : wrong.told) {
      EXPECT_NE(read.message().find(part), std::string::npos) << part << ": " << read.message();
      EXPECT_NE(written.message().find(part), std::string::npos) << part << ": " << written.message();
    }
    EXPECT_TRUE(directory_.list().empty());
    amrex::ParallelDescriptor::Barrier();
  }
}

TEST_F(Inputs, NameAFieldThatIsNotThereWhenItIsWritten) {
  say("neve.field.spede", {"abs", "1"});
  const neve::Status written = write("plt").status();
  EXPECT_EQ(written.code(), neve::Code::usage);
  EXPECT_NE(written.message().find("spede"), std::string::npos) << written.message();
}

TEST_F(Inputs, NameALogThatGetsALineForEachFile) {
  const std::string log = directory_ / "log.jsonl";
  say("neve.log", {log});
  say("neve.verbose", {"0"});
  for (const int step : {1, 2}) ASSERT_TRUE(write("plt" + std::to_string(step), step).ok());
  amrex::ParallelDescriptor::Barrier();
  std::ifstream in(log);
  std::vector<std::string> lines;
  for (std::string line; std::getline(in, line);) lines.push_back(line);
  ASSERT_EQ(lines.size(), 2u);
  const std::string begin =
      "{\"kind\":\"plotfile\",\"file\":\"" + (directory_ / "plt2.h5") + "\",\"step\":2,\"time\":0.625,";
  EXPECT_EQ(lines[1].substr(0, begin.size()), begin);
  const auto number_behind = [&](const std::string& name) {
    const size_t at = lines[1].find("\"" + name + "\":");
    return at == std::string::npos ? -1.0 : std::stod(lines[1].substr(at + name.size() + 3));
  };
  EXPECT_EQ(number_behind("file_bytes"),
            static_cast<double>(std::filesystem::file_size(directory_ / "plt2.h5")));
  EXPECT_GT(number_behind("worst_of_bound"), 0.1);
  EXPECT_LE(number_behind("worst_of_bound"), 1);
  EXPECT_GE(number_behind("seconds"), number_behind("encode_seconds"));
  EXPECT_EQ(lines[1].back(), '}');
}

}  // namespace
