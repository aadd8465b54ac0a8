// SPDX-License-Identifier: BSD-3-Clause
// A C++ program writes and reads through the operator, f32 and f64, as an application would.
#include <gtest/gtest.h>

#include <adios2.h>

#include <cmath>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <vector>

namespace {

constexpr size_t rows = 60, columns = 80;

class Adios2Operator : public testing::Test {
 protected:
  Adios2Operator() {
    setenv("ADIOS2_PLUGIN_PATH", NEVE_ADIOS2_PLUGIN_DIR, 1);
    path_ = std::filesystem::temp_directory_path() / ("neve_adios2_" + std::to_string(getpid()) + ".bp");
  }
  ~Adios2Operator() override { std::filesystem::remove_all(path_); }

  template <class T>
  static std::vector<T> field() {
    std::vector<T> values;
    for (size_t i = 0; i < rows * columns; ++i) values.push_back(static_cast<T>(std::sin(0.001 * double(i))));
    return values;
  }

  template <class T>
  std::vector<T> write_and_read(const std::vector<T>& values, adios2::Params parameters) {
    parameters["PluginName"] = "neve";
    parameters["PluginLibrary"] = "adios2neve";
    adios2::ADIOS context;
    adios2::IO out = context.DeclareIO("out");
    auto variable =
        out.DefineVariable<T>("field", {rows, columns}, {0, 0}, {rows, columns}, adios2::ConstantDims);
    variable.AddOperation(context.DefineOperator("neve", "Plugin", parameters));
    adios2::Engine writer = out.Open(path_.string(), adios2::Mode::Write);
    writer.BeginStep();
    writer.Put(variable, values.data());
    writer.EndStep();
    writer.Close();
    adios2::IO in = context.DeclareIO("in");
    adios2::Engine reader = in.Open(path_.string(), adios2::Mode::ReadRandomAccess);
    std::vector<T> read;
    reader.Get(in.InquireVariable<T>("field"), read, adios2::Mode::Sync);
    reader.Close();
    return read;
  }

  std::filesystem::path path_;
};

TEST_F(Adios2Operator, KeepsTheBoundOfFloats) {
  const std::vector<float> values = field<float>();
  const std::vector<float> read = write_and_read(values, {{"bound", "abs=1e-4"}, {"effort", "balanced"}});
  ASSERT_EQ(read.size(), values.size());
  for (size_t i = 0; i < values.size(); ++i) ASSERT_LE(std::abs(read[i] - values[i]), 1e-4F);
}

TEST_F(Adios2Operator, KeepsEveryBitOfDoubles) {
  const std::vector<double> values = field<double>();
  EXPECT_EQ(write_and_read(values, {{"bound", "lossless"}}), values);
}

TEST_F(Adios2Operator, RefusesWhatItDoesNotKnowByName) {
  try {
    write_and_read(field<float>(), {{"tolerance", "0.1"}});
    FAIL() << "nothing was refused";
  } catch (const std::exception& error) {
    EXPECT_NE(std::string(error.what()).find("unknown option \"tolerance\""), std::string::npos)
        << error.what();
  }
}

}  // namespace
