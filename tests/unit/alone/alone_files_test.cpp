// SPDX-License-Identifier: BSD-3-Clause
// Files of the MPI of one process: views, scattered memory, errors in the system's words.
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <algorithm>
#include <csignal>
#include <filesystem>
#include <fstream>
#include <random>
#include <string>
#include <vector>

#include "alone/mpi.h"
#include "tests/support/temp_dir.hpp"

namespace {

std::string words_of(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  EXPECT_EQ(MPI_Error_string(code, text, &length), MPI_SUCCESS);
  return text;
}

std::string content(const std::string& path) {
  std::string text(std::filesystem::file_size(path), '\0');
  std::ifstream(path, std::ios::binary).read(text.data(), static_cast<std::streamsize>(text.size()));
  return text;
}

class AloneFiles : public testing::Test {
 protected:
  void SetUp() override {
    ASSERT_EQ(MPI_File_open(MPI_COMM_SELF, path_.c_str(), MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY,
                            MPI_INFO_NULL, &file_),
              MPI_SUCCESS);
  }
  void TearDown() override {
    if (file_ != MPI_FILE_NULL) {
      EXPECT_EQ(MPI_File_close(&file_), MPI_SUCCESS);
    }
  }

  neve::test::TempDir folder_;
  std::string path_ = folder_ / "file";
  MPI_File file_ = MPI_FILE_NULL;
};

TEST_F(AloneFiles, ScatteredMemoryGoesToScatteredPlaces) {
  std::mt19937 random(3);
  std::string wanted(40000, '.');
  std::vector<char> memory(wanted.size());
  for (char& c : memory) c = static_cast<char>('a' + random() % 26);
  ASSERT_EQ(MPI_File_write_at(file_, 0, wanted.data(), static_cast<int>(wanted.size()), MPI_BYTE,
                              MPI_STATUS_IGNORE),
            MPI_SUCCESS);
  // Pieces of other lengths in memory and in the file, which add up to as much.
  std::vector<int> lengths, memory_lengths;
  std::vector<MPI_Aint> places, memory_places;
  MPI_Aint at = 0;
  int total = 0;
  while (at < 30000) {
    at += static_cast<MPI_Aint>(random() % 50);
    lengths.push_back(static_cast<int>(1 + random() % 70));
    places.push_back(at);
    at += lengths.back();
    total += lengths.back();
  }
  std::string stream;
  for (MPI_Aint from = 0; total > 0; from += memory_lengths.back() + 3) {
    memory_lengths.push_back(std::min(total, static_cast<int>(1 + random() % 200)));
    memory_places.push_back(reinterpret_cast<MPI_Aint>(memory.data()) + from);
    stream.append(memory.data() + from, static_cast<size_t>(memory_lengths.back()));
    total -= memory_lengths.back();
  }
  MPI_Datatype in_file = MPI_DATATYPE_NULL, in_memory = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_create_hindexed(static_cast<int>(places.size()), lengths.data(), places.data(), MPI_BYTE,
                                     &in_file),
            MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_create_hindexed(static_cast<int>(memory_places.size()), memory_lengths.data(),
                                     memory_places.data(), MPI_BYTE, &in_memory),
            MPI_SUCCESS);
  ASSERT_EQ(MPI_File_set_view(file_, 100, MPI_BYTE, in_file, "native", MPI_INFO_NULL), MPI_SUCCESS);
  MPI_Status status;
  ASSERT_EQ(MPI_File_write_at_all(file_, 0, MPI_BOTTOM, 1, in_memory, &status), MPI_SUCCESS);
  MPI_Count bytes = 0;
  ASSERT_EQ(MPI_Get_elements_x(&status, MPI_BYTE, &bytes), MPI_SUCCESS);
  EXPECT_EQ(static_cast<size_t>(bytes), stream.size());
  size_t taken = 0;
  for (size_t i = 0; i < places.size(); ++i) {
    const auto length = static_cast<size_t>(lengths[i]);
    wanted.replace(static_cast<size_t>(100 + places[i]), length, stream, taken, length);
    taken += length;
  }
  EXPECT_TRUE(content(path_) == wanted);
  MPI_Type_free(&in_file);
  MPI_Type_free(&in_memory);
}

TEST_F(AloneFiles, AViewRepeatsItsTypeAndCountsItsOwnBytes) {
  const int lengths[] = {2};
  const MPI_Aint places[] = {0};
  MPI_Datatype two = MPI_DATATYPE_NULL, spaced = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_create_hindexed(1, lengths, places, MPI_BYTE, &two), MPI_SUCCESS);
  ASSERT_EQ(MPI_Type_create_hvector(2, 1, 5, two, &spaced), MPI_SUCCESS);  // xx...xx, then the next
  ASSERT_EQ(MPI_File_set_view(file_, 1, MPI_BYTE, spaced, "native", MPI_INFO_NULL), MPI_SUCCESS);
  ASSERT_EQ(MPI_File_write_at(file_, 1, "abcdefg", 7, MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS);
  MPI_Type_free(&two);
  MPI_Type_free(&spaced);  // which the view has kept
  ASSERT_EQ(MPI_File_write_at(file_, 0, "A", 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS);
  const std::string found = content(path_);
  EXPECT_EQ(found, std::string("\0Aa\0\0\0bcde\0\0\0fg", 15));
}

TEST_F(AloneFiles, MoreThanABufferArrives) {
  std::vector<char> large((9 << 20) + 17);
  for (size_t i = 0; i < large.size(); i += 1021) large[i] = static_cast<char>(i >> 10);
  const int lengths[] = {5 << 20, 1, 3 << 20};
  const MPI_Aint places[] = {7, (5 << 20) + 7, (5 << 20) + 100};
  MPI_Datatype type = MPI_DATATYPE_NULL;
  ASSERT_EQ(MPI_Type_create_hindexed(3, lengths, places, MPI_BYTE, &type), MPI_SUCCESS);
  ASSERT_EQ(MPI_File_write_at(file_, 3, large.data(), 1, type, MPI_STATUS_IGNORE), MPI_SUCCESS);
  MPI_Type_free(&type);
  std::string wanted(3, '\0');
  for (int i = 0; i < 3; ++i) wanted.append(large.data() + places[i], static_cast<size_t>(lengths[i]));
  EXPECT_TRUE(content(path_) == wanted);
}

TEST_F(AloneFiles, WhatTheSystemRefusesIsSaidInItsWords) {
  ASSERT_EQ(MPI_File_write_at(file_, 0, "abc", 3, MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS);
  rlimit before{};
  ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
  const rlimit small{10, before.rlim_max};
  const auto former = std::signal(SIGXFSZ, SIG_IGN);
  ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &small), 0);
  MPI_Status status;
  const int written = MPI_File_write_at(file_, 4, "0123456789", 10, MPI_BYTE, &status);
  setrlimit(RLIMIT_FSIZE, &before);
  std::signal(SIGXFSZ, former);
  EXPECT_EQ(words_of(written), "File too large");
  EXPECT_EQ(status.bytes, 6);  // as far as it got

  MPI_File other = MPI_FILE_NULL;
  const int exclusive = MPI_MODE_CREATE | MPI_MODE_EXCL | MPI_MODE_WRONLY;
  EXPECT_EQ(words_of(MPI_File_open(MPI_COMM_SELF, path_.c_str(), exclusive, MPI_INFO_NULL, &other)),
            "File exists");
  EXPECT_EQ(words_of(MPI_File_open(MPI_COMM_SELF, (folder_ / "none").c_str(), MPI_MODE_RDWR, MPI_INFO_NULL,
                                   &other)),
            "No such file or directory");
  EXPECT_NE(
      MPI_File_open(MPI_COMM_SELF, path_.c_str(), MPI_MODE_RDWR | MPI_MODE_WRONLY, MPI_INFO_NULL, &other),
      MPI_SUCCESS);
  EXPECT_EQ(other, MPI_FILE_NULL);
}

TEST_F(AloneFiles, ViewsThatItDoesNotHaveAreRefused) {
  EXPECT_NE(MPI_File_set_view(file_, 0, MPI_DOUBLE, MPI_DOUBLE, "native", MPI_INFO_NULL), MPI_SUCCESS);
  EXPECT_NE(MPI_File_set_view(file_, 0, MPI_BYTE, MPI_BYTE, "external32", MPI_INFO_NULL), MPI_SUCCESS);
  EXPECT_NE(MPI_File_set_view(file_, -1, MPI_BYTE, MPI_BYTE, "native", MPI_INFO_NULL), MPI_SUCCESS);
  EXPECT_NE(MPI_File_write_at(file_, -1, "a", 1, MPI_BYTE, MPI_STATUS_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(MPI_File_sync(file_), MPI_SUCCESS);
}

TEST_F(AloneFiles, HintsAreThoseThatTheFileWasOpenedWith) {
  MPI_Info given = MPI_INFO_NULL, found = MPI_INFO_NULL;
  ASSERT_EQ(MPI_Info_create(&given), MPI_SUCCESS);
  ASSERT_EQ(MPI_Info_set(given, "cb_nodes", "2"), MPI_SUCCESS);
  MPI_File file = MPI_FILE_NULL;
  ASSERT_EQ(MPI_File_open(MPI_COMM_WORLD, path_.c_str(), MPI_MODE_RDWR, given, &file), MPI_SUCCESS);
  ASSERT_EQ(MPI_Info_free(&given), MPI_SUCCESS);
  ASSERT_EQ(MPI_File_get_info(file, &found), MPI_SUCCESS);
  char value[8];
  int is_there = 0;
  ASSERT_EQ(MPI_Info_get(found, "cb_nodes", 7, value, &is_there), MPI_SUCCESS);
  EXPECT_EQ(is_there, 1);
  EXPECT_STREQ(value, "2");
  MPI_Info_free(&found);
  EXPECT_EQ(MPI_File_close(&file), MPI_SUCCESS);
}

}  // namespace
