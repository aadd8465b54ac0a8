// SPDX-License-Identifier: BSD-3-Clause
// Memory that ends at any allocation of a call, on any of its threads, is an error by name; the call before
// and the call after come to what they always do.
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>
#include <thread>
#include <vector>

#include "core/threads/parallel_for.hpp"
#include "neve/frame.hpp"
#include "neve/neve.h"
#include "neve/series.hpp"
#include "neve/stream.hpp"
#include "tests/support/failing_new.hpp"
#include "tests/support/test_fields.hpp"

#include <gtest/gtest.h>

namespace neve {
namespace {

using test::with_memory_for;

bool is_long() { return std::getenv("NEVE_TEST_LONG") != nullptr; }

// Runs call() with memory for 0, 1, 2, ... allocations until it needs no more, skipping ever more of them in
// a short test. It must be ok or a failure; what it allocates is found by the way.
void sweep(const std::string& name, const std::function<Status()>& call) {
  ASSERT_TRUE(call().ok()) << name << ": " << call().message();
  long refused = 0;
  for (const bool once : {true, false}) {
    for (long n = 0;; n += is_long() ? 1 : 1 + n / 5) {
      Status status;
      if (!with_memory_for(n, once, [&] { status = call(); })) break;
      ++refused;
      if (!status.ok()) {
        ASSERT_EQ(status.code(), Code::failure) << name << " " << n << ": " << status.message();
        ASSERT_NE(status.message().find("memory"), std::string::npos)
            << name << " " << n << ": " << status.message();
      }
    }
  }
  EXPECT_GT(refused, 0) << name;
  EXPECT_TRUE(call().ok()) << name;
  std::printf("%s: memory ended %ld times\n", name.c_str(), refused);
}

class OutOfMemory : public testing::Test {
 protected:
  // More than one section, so that threads have work.
  const std::vector<uint64_t> shape_ = {5, 150, 200};
  const std::vector<float> field_ = test::rough_field<float>({200, 150, 5}, 0.02, 3);
};

TEST_F(OutOfMemory, InCompressIsAFailureOnAnyThread) {
  for (const char* codec : {"dual_quant", "exact", "lorenzo_regression", "interpolation", "context",
                            "axis_passes", "lossless", "auto"}) {
    for (const int threads : {1, 4}) {
      sweep(std::string(codec) + " on " + std::to_string(threads), [&]() -> Status {
        neve_compress_options options = NEVE_COMPRESS_OPTIONS_INIT;
        options.codec = codec;
        options.threads = threads;
        void* frame = nullptr;
        size_t bytes = 0;
        const int code = neve_compress(NEVE_F32, 3, shape_.data(), field_.data(), &options, &frame, &bytes);
        neve_free(frame);
        return code == NEVE_OK ? Status() : Status(static_cast<Code>(code), neve_last_error());
      });
    }
  }
}

TEST_F(OutOfMemory, InDecompressIsAFailureOnAnyThread) {
  const auto frame = encode_array(DType::f32, shape_, field_.data(), {});
  ASSERT_TRUE(frame.ok());
  std::vector<float> out(field_.size());
  for (const int threads : {1, 4}) {
    sweep("decompress on " + std::to_string(threads), [&]() -> Status {
      const int code = neve_decompress(frame->data(), frame->size(), threads, out.data(), out.size() * 4);
      return code == NEVE_OK ? Status() : Status(static_cast<Code>(code), neve_last_error());
    });
  }
  const auto parsed = Frame::parse(*frame);
  ASSERT_TRUE(parsed.ok());
  auto* const bytes = reinterpret_cast<std::byte*>(out.data());
  sweep("Frame::parse", [&] { return Frame::parse(*frame).status(); });
  sweep("Frame::decode_box", [&] { return parsed->decode_box(0, 0, bytes, out.size() * 4); });
  sweep("Frame::decode_component", [&] { return parsed->decode_component(0, bytes, out.size() * 4, 3); });
}

TEST_F(OutOfMemory, InStreamsIsAFailureAndNothingGoesOnAfterIt) {
  StreamArrayOptions options;
  options.stream.bound = {BoundMode::abs, 0.01};
  options.stream.chunk_bytes = 1 << 16;
  sweep("encode_stream", [&] { return encode_stream(DType::f32, shape_, field_.data(), options).status(); });
  const auto stream = encode_stream(DType::f32, shape_, field_.data(), options);
  ASSERT_TRUE(stream.ok());
  std::vector<float> out(field_.size());
  sweep("decode_stream",
        [&] { return decode_stream(*stream, reinterpret_cast<std::byte*>(out.data()), out.size() * 4); });
  sweep("describe_stream", [&] { return describe_stream(*stream).status(); });

  StreamOptions one;
  one.shape = shape_;
  one.bound = {BoundMode::abs, 0.01};
  one.chunk_bytes = 1 << 16;
  auto encoder = StreamEncoder::create(one);
  ASSERT_TRUE(encoder.ok());
  Status broken;
  ASSERT_TRUE(with_memory_for(3, true, [&] { broken = encoder->push(field_.data(), field_.size()); }));
  ASSERT_EQ(broken.code(), Code::failure);
  EXPECT_EQ(encoder->push(field_.data(), 1).code(), Code::failure);
  EXPECT_EQ(encoder->finish().code(), Code::failure);
  encoder->reset();
  ASSERT_TRUE(encoder->push(field_.data(), field_.size()).ok());
  ASSERT_TRUE(encoder->finish().ok());
}

TEST_F(OutOfMemory, InAStepOfASeriesIsAFailure) {
  SelectionMemory memory;
  sweep("encode_step", [&] {
    return encode_step(
               DType::f32, shape_, 2, [&](size_t) { return field_.data(); }, {}, memory, "u")
        .status();
  });
}

TEST(ParallelFor, GivesTheCallerWhatAThreadThrew) {
  for (const int threads : {1, 2, 8}) {
    std::atomic<int> done{0};
    EXPECT_THROW(parallel_for(1000, threads,
                              [&](size_t i) {
                                if (i == 40) throw std::bad_alloc();
                                ++done;
                              }),
                 std::bad_alloc);
    EXPECT_LT(done, 1000);
  }
}

#if !defined(__SANITIZE_ADDRESS__)  // whose shadow memory needs all addresses

// In a process of its own: the limit stays.
int exit_code_of(const std::function<int()>& work) {
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) _exit(work());
  int status = 0;
  waitpid(child, &status, 0);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

bool limit_addresses(uint64_t more) {
  // What the process has now, in pages, and so much more.
  FILE* const file = std::fopen("/proc/self/statm", "r");
  unsigned long pages = 0;
  const bool is_read = file != nullptr && std::fscanf(file, "%lu", &pages) == 1;
  if (file != nullptr) std::fclose(file);
  const rlim_t most = pages * static_cast<rlim_t>(sysconf(_SC_PAGESIZE)) + more;
  const rlimit limit{most, most};
  return is_read && setrlimit(RLIMIT_AS, &limit) == 0;
}

TEST_F(OutOfMemory, OfAddressesIsAnErrorAndFewerThreadsDoTheWork) {
  for (const uint64_t mib : {0, 1, 4, 9, 16, 32, 64, 512}) {
    for (const int threads : {1, 8, 1024}) {
      const int code = exit_code_of([&] {
        if (!limit_addresses(mib << 20)) return 77;
        neve_compress_options options = NEVE_COMPRESS_OPTIONS_INIT;
        options.threads = threads;
        void* frame = nullptr;
        size_t bytes = 0;
        return neve_compress(NEVE_F32, 3, shape_.data(), field_.data(), &options, &frame, &bytes);
      });
      EXPECT_TRUE(code == NEVE_OK || code == NEVE_FAILURE)
          << code << " with " << mib << " MiB and " << threads;
      if (mib == 512) {
        EXPECT_EQ(code, NEVE_OK) << threads;
      }
    }
  }
}

TEST_F(OutOfMemory, NoMoreThreadsIsNoError) {
  const int code = exit_code_of([&] {
    const rlimit none{0, 0};
    if (setrlimit(RLIMIT_NPROC, &none) != 0) return 77;
    neve_compress_options options = NEVE_COMPRESS_OPTIONS_INIT;
    options.threads = NEVE_MAX_THREADS;
    void* frame = nullptr;
    size_t bytes = 0;
    return neve_compress(NEVE_F32, 3, shape_.data(), field_.data(), &options, &frame, &bytes);
  });
  EXPECT_EQ(code, NEVE_OK);
}

#endif

}  // namespace
}  // namespace neve
