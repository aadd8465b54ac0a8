// SPDX-License-Identifier: BSD-3-Clause
// Communicators, attributes, messages, collective calls and hints of the MPI of one process.
#include <gtest/gtest.h>

#include <cstring>
#include <numeric>
#include <string>
#include <vector>

#include "alone/mpi.h"

namespace {

std::string words_of(int code) {
  char text[MPI_MAX_ERROR_STRING];
  int length = 0;
  EXPECT_EQ(MPI_Error_string(code, text, &length), MPI_SUCCESS);
  EXPECT_EQ(std::strlen(text), static_cast<size_t>(length));
  return text;
}

std::vector<std::string>& dropped() {
  static std::vector<std::string> names;
  return names;
}

int note_drop(MPI_Comm, int, void* value, void* extra) {
  dropped().push_back(static_cast<const char*>(extra) + std::string(static_cast<const char*>(value)));
  return MPI_SUCCESS;
}

int drop_other(MPI_Comm comm, int, void* value, void*) {
  return MPI_Comm_delete_attr(comm, *static_cast<int*>(value));
}

class AloneComm : public testing::Test {
 protected:
  void SetUp() override {
    dropped().clear();
    ASSERT_EQ(MPI_Comm_dup(MPI_COMM_WORLD, &comm_), MPI_SUCCESS);
    ASSERT_EQ(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_drop, &key_, prefix_), MPI_SUCCESS);
  }
  void TearDown() override {
    if (comm_ != MPI_COMM_NULL) {
      EXPECT_EQ(MPI_Comm_free(&comm_), MPI_SUCCESS);
    }
  }

  char prefix_[2] = "-", one_[4] = "one", two_[4] = "two";
  MPI_Comm comm_ = MPI_COMM_NULL;
  int key_ = MPI_KEYVAL_INVALID;
};

TEST_F(AloneComm, AttributesAreFoundOnTheirCommunicatorAlone) {
  ASSERT_EQ(MPI_Comm_set_attr(comm_, key_, one_), MPI_SUCCESS);
  void* value = nullptr;
  int is_there = 0;
  ASSERT_EQ(MPI_Comm_get_attr(comm_, key_, &value, &is_there), MPI_SUCCESS);
  EXPECT_EQ(is_there, 1);
  EXPECT_EQ(value, one_);
  MPI_Comm copy = MPI_COMM_NULL;
  ASSERT_EQ(MPI_Comm_dup(comm_, &copy), MPI_SUCCESS);
  for (const MPI_Comm other : {copy, MPI_COMM_WORLD, MPI_COMM_SELF}) {
    ASSERT_EQ(MPI_Comm_get_attr(other, key_, &value, &is_there), MPI_SUCCESS);
    EXPECT_EQ(is_there, 0);
  }
  EXPECT_EQ(MPI_Comm_free(&copy), MPI_SUCCESS);
  EXPECT_TRUE(dropped().empty());
}

TEST_F(AloneComm, AttributesAreDroppedOnceAndTheLastFirst) {
  int other_key = MPI_KEYVAL_INVALID;
  ASSERT_EQ(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, note_drop, &other_key, prefix_), MPI_SUCCESS);
  ASSERT_EQ(MPI_Comm_set_attr(comm_, key_, one_), MPI_SUCCESS);
  ASSERT_EQ(MPI_Comm_set_attr(comm_, key_, two_), MPI_SUCCESS);  // which replaces it
  EXPECT_EQ(dropped(), std::vector<std::string>{"-one"});
  ASSERT_EQ(MPI_Comm_set_attr(comm_, other_key, one_), MPI_SUCCESS);
  ASSERT_EQ(MPI_Comm_free(&comm_), MPI_SUCCESS);
  EXPECT_EQ(comm_, MPI_COMM_NULL);
  EXPECT_EQ(dropped(), (std::vector<std::string>{"-one", "-one", "-two"}));
}

TEST_F(AloneComm, ADropMayDropOthers) {
  int dropping = MPI_KEYVAL_INVALID;
  ASSERT_EQ(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop_other, &dropping, nullptr), MPI_SUCCESS);
  ASSERT_EQ(MPI_Comm_set_attr(comm_, key_, one_), MPI_SUCCESS);
  ASSERT_EQ(MPI_Comm_set_attr(comm_, dropping, &key_), MPI_SUCCESS);
  ASSERT_EQ(MPI_Comm_free(&comm_), MPI_SUCCESS);
  EXPECT_EQ(dropped(), std::vector<std::string>{"-one"});
}

TEST_F(AloneComm, WhatIsNotThereIsAnError) {
  void* value = nullptr;
  int is_there = 0;
  EXPECT_NE(MPI_Comm_get_attr(comm_, 999, &value, &is_there), MPI_SUCCESS);
  EXPECT_NE(MPI_Comm_set_attr(comm_, MPI_KEYVAL_INVALID, one_), MPI_SUCCESS);
  EXPECT_NE(MPI_Comm_delete_attr(comm_, key_), MPI_SUCCESS);
  for (MPI_Comm kept : {MPI_COMM_WORLD, MPI_COMM_SELF, MPI_COMM_NULL}) {
    EXPECT_NE(MPI_Comm_free(&kept), MPI_SUCCESS);
  }
}

TEST(AloneMessages, ArriveInTheOrderOfTheirTag) {
  const int sent[] = {10, 11, 12};
  int found[3] = {};
  std::vector<MPI_Request> requests(6, MPI_REQUEST_NULL);
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(
        MPI_Isend(&sent[i], 1, MPI_INT, 0, i == 1 ? 5 : 4, MPI_COMM_WORLD, &requests[static_cast<size_t>(i)]),
        MPI_SUCCESS);
  }
  const int tags[] = {4, 4, 5}, wanted[] = {10, 12, 11};
  for (int i = 0; i < 3; ++i) {
    ASSERT_EQ(
        MPI_Irecv(&found[i], 1, MPI_INT, 0, tags[i], MPI_COMM_WORLD, &requests[static_cast<size_t>(3 + i)]),
        MPI_SUCCESS);
  }
  ASSERT_EQ(MPI_Waitall(6, requests.data(), MPI_STATUSES_IGNORE), MPI_SUCCESS);
  for (int i = 0; i < 3; ++i) EXPECT_EQ(found[i], wanted[i]);
}

TEST(AloneMessages, ThatNobodySendsOrThatAreTooLongAreErrors) {
  int value = 0;
  MPI_Request request = MPI_REQUEST_NULL;
  ASSERT_EQ(MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &request), MPI_SUCCESS);
  int are_done = 1;
  ASSERT_EQ(MPI_Testall(1, &request, &are_done, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(are_done, 0);
  EXPECT_EQ(words_of(MPI_Waitall(1, &request, MPI_STATUSES_IGNORE)), "waits for a message that nobody sends");
  EXPECT_EQ(request, MPI_REQUEST_NULL);

  const int sent[] = {1, 2};
  MPI_Request requests[2];
  ASSERT_EQ(MPI_Irecv(&value, 1, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[0]), MPI_SUCCESS);
  ASSERT_EQ(MPI_Isend(sent, 2, MPI_INT, 0, 1, MPI_COMM_WORLD, &requests[1]), MPI_SUCCESS);
  EXPECT_EQ(words_of(MPI_Waitall(2, requests, MPI_STATUSES_IGNORE)),
            "a message is longer than the place for it");
  EXPECT_EQ(value, 0);
  EXPECT_NE(MPI_Isend(sent, 1, MPI_INT, 1, 1, MPI_COMM_WORLD, &requests[0]), MPI_SUCCESS);  // to rank 1
}

TEST(AloneCollectives, OneRankHasWhatItGives) {
  const double own[] = {1.5, -2};
  double all[2] = {};
  EXPECT_EQ(MPI_Allreduce(own, all, 2, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(all[1], -2);
  EXPECT_EQ(MPI_Allreduce(MPI_IN_PLACE, all, 2, MPI_DOUBLE, MPI_MIN, MPI_COMM_WORLD), MPI_SUCCESS);
  EXPECT_EQ(all[0], 1.5);

  const int counts[] = {2}, places[] = {1};
  double gathered[3] = {};
  EXPECT_EQ(MPI_Gatherv(own, 2, MPI_DOUBLE, gathered, counts, places, MPI_DOUBLE, 0, MPI_COMM_WORLD),
            MPI_SUCCESS);
  EXPECT_EQ(gathered[0], 0);
  EXPECT_EQ(gathered[2], -2);
  double swapped[3] = {};
  const int own_places[] = {0};
  EXPECT_EQ(
      MPI_Alltoallv(own, counts, own_places, MPI_DOUBLE, swapped, counts, places, MPI_DOUBLE, MPI_COMM_WORLD),
      MPI_SUCCESS);
  EXPECT_EQ(swapped[1], 1.5);
  EXPECT_NE(MPI_Bcast(all, 2, MPI_DOUBLE, 1, MPI_COMM_WORLD), MPI_SUCCESS);  // there is no rank 1

  double before = 7;
  MPI_Request request = MPI_REQUEST_NULL;
  EXPECT_EQ(MPI_Iexscan(own, &before, 1, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD, &request), MPI_SUCCESS);
  int are_done = 0;
  EXPECT_EQ(MPI_Testall(1, &request, &are_done, MPI_STATUSES_IGNORE), MPI_SUCCESS);
  EXPECT_EQ(are_done, 1);
  EXPECT_EQ(request, MPI_REQUEST_NULL);
  EXPECT_EQ(before, 7);  // the first rank's is not touched
}

TEST(AloneInfo, KeepsWhatItIsTold) {
  MPI_Info info = MPI_INFO_NULL;
  ASSERT_EQ(MPI_Info_create(&info), MPI_SUCCESS);
  ASSERT_EQ(MPI_Info_set(info, "striping_factor", "4"), MPI_SUCCESS);
  ASSERT_EQ(MPI_Info_set(info, "cb_nodes", "twelve"), MPI_SUCCESS);
  EXPECT_NE(MPI_Info_set(info, "", "x"), MPI_SUCCESS);
  EXPECT_NE(MPI_Info_set(info, "k", std::string(MPI_MAX_INFO_VAL, 'x').c_str()), MPI_SUCCESS);
  int count = 0, length = 0, is_there = 0;
  ASSERT_EQ(MPI_Info_get_nkeys(info, &count), MPI_SUCCESS);
  EXPECT_EQ(count, 2);
  char key[MPI_MAX_INFO_KEY + 1];
  ASSERT_EQ(MPI_Info_get_nthkey(info, 0, key), MPI_SUCCESS);
  EXPECT_STREQ(key, "cb_nodes");
  EXPECT_NE(MPI_Info_get_nthkey(info, 2, key), MPI_SUCCESS);
  ASSERT_EQ(MPI_Info_get_valuelen(info, "cb_nodes", &length, &is_there), MPI_SUCCESS);
  EXPECT_EQ(length, 6);
  char value[8];
  ASSERT_EQ(MPI_Info_get(info, "cb_nodes", 3, value, &is_there), MPI_SUCCESS);
  EXPECT_STREQ(value, "twe");
  ASSERT_EQ(MPI_Info_get(info, "none", 7, value, &is_there), MPI_SUCCESS);
  EXPECT_EQ(is_there, 0);
  EXPECT_EQ(MPI_Info_free(&info), MPI_SUCCESS);
}

// Last: a process finalizes MPI once.
TEST(AloneProcess, FinalizingDropsTheAttributesOfSelfWhileMpiStillWorks) {
  int provided = -1, flag = -1;
  ASSERT_EQ(MPI_Initialized(&flag), MPI_SUCCESS);
  ASSERT_EQ(flag, 0);
  ASSERT_EQ(MPI_Init_thread(nullptr, nullptr, MPI_THREAD_MULTIPLE, &provided), MPI_SUCCESS);
  EXPECT_EQ(provided, MPI_THREAD_FUNNELED);
  ASSERT_EQ(MPI_Is_thread_main(&flag), MPI_SUCCESS);
  EXPECT_EQ(flag, 1);
  static bool was_finalized = true;
  int key = MPI_KEYVAL_INVALID;
  const auto drop = [](MPI_Comm, int, void*, void*) {
    int now = 1;
    MPI_Finalized(&now);
    was_finalized = now != 0;
    return MPI_SUCCESS;
  };
  ASSERT_EQ(MPI_Comm_create_keyval(MPI_COMM_NULL_COPY_FN, drop, &key, nullptr), MPI_SUCCESS);
  ASSERT_EQ(MPI_Comm_set_attr(MPI_COMM_SELF, key, nullptr), MPI_SUCCESS);
  ASSERT_EQ(MPI_Finalize(), MPI_SUCCESS);
  EXPECT_FALSE(was_finalized);
  ASSERT_EQ(MPI_Finalized(&flag), MPI_SUCCESS);
  EXPECT_EQ(flag, 1);
}

}  // namespace
