// SPDX-License-Identifier: BSD-3-Clause
// Files and folders appear whole, keep their modes, and leave nothing else behind.
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <optional>

#include <gtest/gtest.h>

#include "io/files/copy_in_folder.hpp"
#include "io/files/process.hpp"
#include "io/files/scratch_file.hpp"
#include "io/files/stage_file.hpp"
#include "io/files/stamped_name.hpp"
#include "io/files/temporary_file.hpp"
#include "io/files/temporary_folder.hpp"
#include "io/files/write.hpp"
#include "tests/support/temp_dir.hpp"

namespace neve::files {
namespace {

namespace fs = std::filesystem;

mode_t mode_of(const std::string& path) {
  struct stat found = {};
  EXPECT_EQ(::lstat(path.c_str(), &found), 0) << path;
  return found.st_mode & 07777;
}

std::vector<std::string> names_in(const std::string& folder) {
  std::vector<std::string> names;
  for (const auto& entry : fs::directory_iterator(folder)) names.push_back(entry.path().filename().string());
  std::sort(names.begin(), names.end());
  return names;
}

Status write_text(const std::string& path, const std::string& text) {
  return write_file(path, std::as_bytes(std::span(text)));
}

class Umask {
 public:
  explicit Umask(mode_t mask) : before_(::umask(mask)) {}
  ~Umask() { ::umask(before_); }

 private:
  mode_t before_;
};

class TemporaryName : public testing::Test {
 protected:
  // The private folder's name without its random part, with the process: ".NAME.neve-tmp-SPACE-",
  // "PID-START".
  void learn_names(const std::string& target) {
    auto temporary = TemporaryFile::beside(directory_ / target);
    ASSERT_TRUE(temporary.ok()) << temporary.status().message();
    const std::string name = fs::path(temporary->path()).parent_path().filename().string();
    ASSERT_TRUE(name.starts_with("." + target + ".neve-tmp-")) << name;
    const size_t space = target.size() + 11;
    const size_t process = name.find('-', space) + 1;
    stem_ = name.substr(0, process);
    alive_ = name.substr(process, name.rfind('-') - process);
  }

  test::TempDir directory_;
  std::string stem_, alive_;
};

TEST_F(TemporaryName, LeavesNothingBehindAndReplacesInOneStep) {
  const std::string target = directory_ / "file";
  {
    auto temporary = TemporaryFile::beside(target);
    ASSERT_TRUE(temporary.ok());
    EXPECT_EQ(temporary->path().find((directory_ / ".file.neve-tmp-")), 0u);
    EXPECT_EQ(mode_of(fs::path(temporary->path()).parent_path()), 0700u);
    EXPECT_FALSE(fs::exists(temporary->path()));
    ASSERT_TRUE(create_file(temporary->path()).ok());
    EXPECT_FALSE(create_file(temporary->path()).ok()) << "only what is not there is made";
    EXPECT_EQ(names_in(directory_ / "").size(), 1u);
  }
  EXPECT_TRUE(names_in(directory_ / "").empty());
  ASSERT_TRUE(write_text(target, "one").ok());
  ASSERT_TRUE(write_text(target, "other").ok());
  EXPECT_EQ(test::read_file(target), "other");
  EXPECT_EQ(names_in(directory_ / ""), std::vector<std::string>{"file"});
}

TEST_F(TemporaryName, ClearsAwayWhatDeadProcessesOfThisMachineLeftOfTheSameTarget) {
  learn_names("file");
  const std::string dead = "4194305-77";                         // above Linux's largest process number
  const std::string reborn = std::to_string(::getpid()) + "-1";  // the number, but another process
  const std::string random = "-0123456789abcdef";
  const std::string elsewhere = ".file.neve-tmp-" + std::string(16, '0') + "-";
  const auto make = [&](const std::string& name, const std::string& inside, mode_t mode = 0700) {
    fs::create_directory(directory_ / name);
    if (!inside.empty()) test::write_file(fs::path(directory_ / name) / inside, "x");
    ::chmod((directory_ / name).c_str(), mode);
    return name;
  };
  std::vector<std::string> stay = {
      make(stem_ + alive_ + random, "new"),
      make(elsewhere + dead + random, "new"),
      make(stem_ + dead + "-012345", "new"),
      make("." + stem_ + dead + random, "new"),
      make(stem_ + dead + "-00000000000000aa", "mine"),       // something else lies in it
      make(stem_ + dead + "-00000000000000bb", "new", 0755),  // others could have put that there
      make(".other" + stem_.substr(5) + dead + random, "new")};
  fs::create_directory(directory_ / "kept");
  test::write_file(directory_ / "kept/new", "x");
  stay.push_back(stem_ + dead + "-00000000000000cc");
  fs::create_directory_symlink(directory_ / "kept", directory_ / stay.back());
  stay.push_back(stem_ + dead + "-00000000000000dd");
  test::write_file(directory_ / stay.back(), "a file");
  stay.push_back("kept");
  make(stem_ + dead + random, "new");
  make(stem_ + dead + "-00000000000000ee", "");
  make(stem_ + reborn + random, ".new.shfp.7");
  fs::create_directories(directory_ / make(stem_ + dead + "-00000000000000ff", "") + "/new/Level_0");
  ASSERT_TRUE(write_text(directory_ / "file", "whole").ok());
  stay.emplace_back("file");
  std::sort(stay.begin(), stay.end());
  EXPECT_EQ(names_in(directory_ / ""), stay);
  EXPECT_EQ(test::read_file(directory_ / "kept/new"), "x");
}

TEST_F(TemporaryName, AFolderThatAKilledWriteWasReplacingComesBack) {
  learn_names("plt");
  const std::string left = directory_ / (stem_ + "4194305-77-0123456789abcdef");
  fs::create_directories(left + "/earlier");
  ::chmod(left.c_str(), 0700);
  test::write_file(left + "/earlier/Header", "whole");
  ASSERT_TRUE(write_text(directory_ / "other", "x").ok());
  EXPECT_TRUE(fs::exists(left)) << "of another target";
  ASSERT_TRUE(TemporaryFile::beside(directory_ / "plt").status().code() != Code::corrupt);
  EXPECT_EQ(test::read_file(directory_ / "plt/Header"), "whole");
  EXPECT_FALSE(fs::exists(left));

  // Killed after both had changed places: the number tells that what lies as new is the earlier one.
  fs::create_directories(left + "/new");
  ::chmod(left.c_str(), 0700);
  test::write_file(left + "/new/mine", "whole");
  fs::create_symlink("1", left + "/new.number");
  EXPECT_FALSE(TemporaryFile::beside(directory_ / "plt").ok());  // it is a folder
  EXPECT_TRUE(fs::exists(left)) << "refused before anything";
  const auto refuses = [](const std::string&, const std::string&) -> Result<Parts> {
    return usage_error("no");
  };
  fs::rename(directory_ / "plt", directory_ / "aside");
  ASSERT_TRUE(TemporaryFolder::beside(directory_ / "plt", refuses).ok());
  EXPECT_EQ(test::read_file(directory_ / "plt/mine"), "whole");
  EXPECT_FALSE(fs::exists(left));
}

TEST_F(TemporaryName, TargetsThatCannotBeWrittenAreNamed) {
  EXPECT_NE(TemporaryFile::beside(directory_ / "no/file").status().message().find("no does not exist"),
            std::string::npos);
  fs::create_directory(directory_ / "home");
  test::write_file(directory_ / "home/important", "x");
  for (const std::string& path :
       {directory_ / "home", directory_ / "home/", std::string("/dev/null"), std::string(), std::string("."),
        std::string("/"), directory_ / std::string(256, 'n')}) {
    EXPECT_EQ(TemporaryFile::beside(path).status().code(), Code::usage) << path;
  }
  fs::create_symlink(directory_ / "nowhere", directory_ / "dangling");
  EXPECT_NE(write_text(directory_ / "dangling", "x").message().find("following the symbolic link"),
            std::string::npos);
  EXPECT_EQ(names_in(directory_ / ""), (std::vector<std::string>{"dangling", "home"}));
}

TEST_F(TemporaryName, ASymbolicLinkStaysOne) {
  fs::create_directory(directory_ / "real");
  test::write_file(directory_ / "real/file", "earlier");
  fs::create_symlink(directory_ / "real/file", directory_ / "link");
  ASSERT_TRUE(write_text(directory_ / "link", "new").ok());
  EXPECT_TRUE(fs::is_symlink(directory_ / "link"));
  EXPECT_EQ(test::read_file(directory_ / "real/file"), "new");
  EXPECT_EQ(names_in(directory_ / "real"), std::vector<std::string>{"file"});
}

TEST_F(TemporaryName, IsShortEnoughForEveryLegalName) {
  for (const std::string& name : {std::string(255, 'n'), std::string(254, 'n') + "m", [] {
                                    std::string signs;
                                    for (int i = 0; i < 85; ++i) signs += "\u6c34";
                                    return signs;
                                  }()}) {
    auto temporary = TemporaryFile::beside(directory_ / name);
    ASSERT_TRUE(temporary.ok()) << temporary.status().message();
    EXPECT_LE(fs::path(temporary->path()).parent_path().filename().string().size(), 220u);
    ASSERT_TRUE(write_text(directory_ / name, name).ok());
    EXPECT_EQ(test::read_file(directory_ / name), name);
  }
  EXPECT_EQ(names_in(directory_ / "").size(), 3u);
}

TEST_F(TemporaryName, TakesNoNameThatIsTaken) {
  for (const bool is_there : {false, true}) {
    auto temporary = TemporaryFile::beside(directory_ / "file");
    ASSERT_TRUE(temporary.ok());
    test::write_file(temporary->path(), "second");
    bool is_taken = false;
    EXPECT_EQ(temporary->commit_if_free(is_taken).ok(), !is_there);
    EXPECT_EQ(is_taken, is_there);
    if (!is_there) test::write_file(directory_ / "file", "first");
  }
  EXPECT_EQ(test::read_file(directory_ / "file"), "first");
  EXPECT_EQ(names_in(directory_ / ""), std::vector<std::string>{"file"});
}

TEST_F(TemporaryName, ModesOfFilesAreKeptAndNewOnesFollowTheUmask) {
  const std::string path = directory_ / "file";
  for (const mode_t mask : {022, 077, 002}) {
    const Umask umask(mask);
    fs::remove(path);
    ASSERT_TRUE(write_text(path, "new").ok());
    EXPECT_EQ(mode_of(path), 0666u & ~mask);
    for (const mode_t mode : {0600, 0640, 0444, 0666, 0755}) {
      ASSERT_EQ(::chmod(path.c_str(), mode), 0);
      ASSERT_TRUE(write_text(path, "again").ok());
      EXPECT_EQ(mode_of(path), mode) << mask;
    }
  }
}

class ReplacedFolder : public TemporaryName {
 protected:
  ReplacedFolder() { make(path_, "old"); }
  static void make(const std::string& folder, const std::string& text) {
    fs::create_directories(folder + "/Level_0");
    test::write_file(folder + "/Header", text);
    test::write_file(folder + "/Level_0/data", text);
  }
  // Everything but what is called "mine".
  static Result<Parts> parts_of(const std::string& folder, const std::string& name) {
    Parts parts;
    for (const auto& entry : fs::recursive_directory_iterator(folder)) {
      if (entry.path().filename() == "mine") return usage_error(name + " would lose mine");
      parts.push_back(entry.path().lexically_relative(folder));
    }
    std::sort(parts.rbegin(), parts.rend());
    return parts;
  }
  std::string path_ = directory_ / "plt";
};

TEST_F(ReplacedFolder, IsReplacedWithAllItsParts) {
  ::chmod((path_ + "/Header").c_str(), 0600);
  ::chmod((path_ + "/Level_0").c_str(), 02750);
  ::chmod((path_ + "/Level_0/data").c_str(), 0640);
  ::chmod(path_.c_str(), 0710);
  test::write_file(path_ + "/Level_0/gone", "old");
  ::chmod((path_ + "/Level_0/gone").c_str(), 0660);
  auto temporary = TemporaryFolder::beside(path_ + "//", parts_of);
  ASSERT_TRUE(temporary.ok()) << temporary.status().message();
  make(temporary->path(), "new");
  test::write_file(temporary->path() + "/Level_0/more", "new");
  fs::create_directory(temporary->path() + "/Level_1");
  test::write_file(temporary->path() + "/Level_1/data", "new");
  ASSERT_TRUE(temporary->commit().ok());
  EXPECT_EQ(test::read_file(path_ + "/Level_0/data"), "new");
  EXPECT_FALSE(fs::exists(path_ + "/Level_0/gone"));
  EXPECT_EQ(names_in(directory_ / ""), std::vector<std::string>{"plt"});
  EXPECT_EQ(mode_of(path_), 0710u);
  EXPECT_EQ(mode_of(path_ + "/Header"), 0600u);
  EXPECT_EQ(mode_of(path_ + "/Level_0"), 02750u);
  EXPECT_EQ(mode_of(path_ + "/Level_0/data"), 0640u);
  EXPECT_EQ(mode_of(path_ + "/Level_0/more") & 0037, 0u) << "no wider than what was beside it";
  EXPECT_EQ(mode_of(path_ + "/Level_1") & 0067, 0u);
  EXPECT_EQ(mode_of(path_ + "/Level_1/data") & 0077, 0u);
}

TEST_F(ReplacedFolder, IsRefusedAtOnceAndWhenSomethingAppears) {
  auto temporary = TemporaryFolder::beside(path_, parts_of);
  ASSERT_TRUE(temporary.ok());
  make(temporary->path(), "new");
  test::write_file(path_ + "/Level_0/mine", "precious");
  EXPECT_EQ(temporary->commit().message(), path_ + " would lose mine");
  EXPECT_EQ(TemporaryFolder::beside(path_, parts_of).status().code(), Code::usage);
  EXPECT_EQ(test::read_file(path_ + "/Level_0/mine"), "precious");
  EXPECT_EQ(test::read_file(path_ + "/Header"), "old");
}

TEST_F(ReplacedFolder, ComesBackWhereSomethingAppearsInTheLastMoment) {
  int looks = 0;
  const auto late = [&](const std::string& folder, const std::string& name) -> Result<Parts> {
    // The third look is at the earlier folder, after the two have changed places.
    if (++looks == 3) test::write_file(folder + "/mine", "precious");
    return parts_of(folder, name);
  };
  {
    auto temporary = TemporaryFolder::beside(path_, late);
    ASSERT_TRUE(temporary.ok());
    make(temporary->path(), "new");
    EXPECT_EQ(temporary->commit().message(), path_ + " would lose mine");
  }
  EXPECT_EQ(looks, 3);
  EXPECT_EQ(test::read_file(path_ + "/mine"), "precious");
  EXPECT_EQ(test::read_file(path_ + "/Header"), "old");
  EXPECT_EQ(names_in(directory_ / ""), std::vector<std::string>{"plt"});
}

TEST_F(ReplacedFolder, IsNotReplacedByAFileNorAFileByAFolder) {
  EXPECT_EQ(TemporaryFile::beside(path_).status().code(), Code::usage);
  test::write_file(directory_ / "file", "x");
  EXPECT_EQ(TemporaryFolder::beside(directory_ / "file", parts_of).status().code(), Code::usage);
}

TEST_F(TemporaryName, OneFileUnderSeveralSpellingsIsOnePlace) {
  test::write_file(directory_ / "a", "x");
  fs::create_symlink("a", directory_ / "b");
  fs::create_hard_link(directory_ / "a", directory_ / "c");
  for (const char* other : {"a", "b", "c", "./a", "../"}) {
    const std::string path =
        std::string(other) == "../"
            ? directory_ / ("../" + fs::path(directory_ / "x").parent_path().filename().string() + "/a")
            : directory_ / other;
    EXPECT_EQ(check_is_another(directory_ / "a", path).code(), Code::usage) << path;
  }
  EXPECT_TRUE(check_is_another(directory_ / "a", directory_ / "d").ok());
}

TEST_F(TemporaryName, ACopyInAFolderTakesNoLinksName) {
  test::write_file(directory_ / "a", "x");
  fs::create_symlink("a", directory_ / "to_it");
  fs::create_symlink("b", directory_ / "to_nothing");
  for (const char* name : {"to_it", "to_nothing"}) {
    const Status status = check_is_another_in_folder(directory_ / "a", directory_ / name);
    EXPECT_EQ(status.code(), Code::usage);
    EXPECT_NE(status.message().find("is a symbolic link"), std::string::npos) << status.message();
  }
  EXPECT_EQ(check_is_another_in_folder(directory_ / "a", directory_ / "a").code(), Code::usage);
  EXPECT_TRUE(check_is_another_in_folder(directory_ / "a", directory_ / "b").ok());
}

TEST_F(TemporaryName, OfAScratchFileIsGoneAtOnceAndItGivesBackWhatItHolds) {
  const std::string path = directory_ / "scratch";
  Result<ScratchFile> made = ScratchFile::make(path);
  ASSERT_TRUE(made.ok()) << made.status().message();
  EXPECT_FALSE(fs::exists(path));
  const std::array<std::byte, 3> bytes{std::byte{1}, std::byte{2}, std::byte{3}};
  ASSERT_TRUE(made->write(10, bytes).ok());
  std::array<std::byte, 2> found{};
  ASSERT_TRUE(made->read(11, found).ok());
  EXPECT_EQ(found, (std::array<std::byte, 2>{std::byte{2}, std::byte{3}}));
  EXPECT_FALSE(made->read(12, found).ok());
  ASSERT_TRUE(made->clear().ok());
  EXPECT_FALSE(made->read(0, found).ok());
  test::write_file(path, "taken");
  EXPECT_FALSE(ScratchFile::make(path).ok());
  EXPECT_EQ(test::read_file(path), "taken");
}

TEST(StageFile, HasNoNameAndHoldsWhatIsPutThere) {
  const test::TempDir directory;
  for (const auto make : {make_stage_file, make_stage_file_by_name}) {
    const auto file = make(directory / "");
    ASSERT_TRUE(file.ok()) << file.status().message();
    ASSERT_TRUE(file->has_value());
    EXPECT_TRUE(names_in(directory / "").empty());
    const std::string text = "staged";
    ASSERT_TRUE((*file)->write(3, std::as_bytes(std::span(text))).ok());
    std::string got(text.size(), ' ');
    ASSERT_TRUE((*file)->read(3, std::as_writable_bytes(std::span(got))).ok());
    EXPECT_EQ(got, text);
  }
}

// Killed between making a file and taking its name away.
TEST(StageFile, RemovesWhatProcessesThatHaveEndedLeftAndNothingElse) {
  const test::TempDir directory;
  const std::string own = process_name(), space = own.substr(0, own.find('-') + 1);
  const std::string dead = space + "4194305-77";  // above Linux's largest process number
  const std::string random = "-0123456789abcdef";
  const std::string left = ".neve-stage-" + dead + random;
  std::vector<std::string> stay = {".neve-stage-" + own + random, ".neve-stage-" + dead + "-012345",
                                   ".neve-stage-" + std::string(16, '0') + "-4194305-77" + random,
                                   ".other-" + dead + random, "neve-stage-" + dead + random};
  for (const std::string& name : stay) test::write_file(directory / name, "x");
  test::write_file(directory / left, "x");
  stay.push_back(".neve-stage-" + dead + "-00000000000000aa");
  fs::create_directory(directory / stay.back());
  stay.push_back(".neve-stage-" + dead + "-00000000000000bb");
  fs::create_symlink(directory / stay[0], directory / stay.back());
  ASSERT_TRUE(make_stage_file_by_name(directory / "").ok());
  std::sort(stay.begin(), stay.end());
  EXPECT_EQ(names_in(directory / ""), stay);
}

TEST(StageFile, AFolderThatCannotBeIsNamedWithItsMachine) {
  const test::TempDir directory;
  EXPECT_TRUE(check_stage(directory / "").ok());
  test::write_file(directory / "file", "x");
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  for (const auto& [name, code] : {std::pair("file", Code::usage), std::pair("nowhere", Code::failure)}) {
    const Status status = check_stage(directory / name);
    EXPECT_EQ(status.code(), code);
    EXPECT_NE(status.message().find((directory / name) + " on " + host), std::string::npos)
        << status.message();
    EXPECT_FALSE(make_stage_file(directory / name).ok());
  }
}

TEST(StageFile, AFolderThatTakesNoFilesIsNamedWithItsMachine) {
  char host[256] = {};
  ::gethostname(host, sizeof host - 1);
  for (const auto make : {make_stage_file, make_stage_file_by_name}) {
    const auto file = make("/proc");
    ASSERT_FALSE(file.ok());
    EXPECT_TRUE(
        file.status().message().starts_with(std::string("stage /proc on ") + host + " takes no file: "))
        << file.status().message();
  }
}

}  // namespace
}  // namespace neve::files
