// SPDX-License-Identifier: BSD-3-Clause
#include "core/stages/lossless/byte_coder.hpp"

#include <dlfcn.h>
#include <fmt/format.h>
#include <lz4.h>
#include <zlib.h>
#include <zstd.h>

#include <algorithm>
#include <limits>
#include <memory>
#include <span>
#include <utility>

#include "core/stages/lossless/zstd_context.hpp"
#include "core/threads/scratch.hpp"

namespace neve {

namespace {

constexpr int zlib_level = 6;
constexpr int bzip2_block = 9;  // times 100 kB

// The two functions of libbz2 that are needed, as its header bzlib.h declares them. Opened and not linked:
// its static library cannot become part of the plugin, which brings along all that it links.
struct Bzip2 {
  using Compress = int (*)(char*, unsigned*, char*, unsigned, int, int, int);
  using Decompress = int (*)(char*, unsigned*, char*, unsigned, int, int);
  static constexpr int ok = 0;
  Compress compress = nullptr;
  Decompress decompress = nullptr;

  // Null members where the library is not installed. Stays open: threads may use it until the end.
  static const Bzip2& get() {
    static const Bzip2 bzip2 = [] {
      Bzip2 found;
      void* const library = dlopen("libbz2.so.1.0", RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) return found;
      found.compress = reinterpret_cast<Compress>(dlsym(library, "BZ2_bzBuffToBuffCompress"));
      found.decompress = reinterpret_cast<Decompress>(dlsym(library, "BZ2_bzBuffToBuffDecompress"));
      return found;
    }();
    return bzip2;
  }
  bool is_there() const { return compress != nullptr && decompress != nullptr; }
};

// The three functions of liblzo2 that are needed, as its header lzo1x.h declares them. Opened and not linked:
// it is under the GPL, and would bring all of Neve under it.
struct Lzo {
  using Init = int (*)(unsigned, int, int, int, int, int, int, int, int, int);
  using Code = int (*)(const unsigned char*, unsigned long, unsigned char*, unsigned long*, void*);
  Code compress = nullptr;
  Code decompress_safe = nullptr;
  static constexpr size_t work_bytes = 16384 * sizeof(void*);

  // As with Bzip2.
  static const Lzo& get() {
    static const Lzo lzo = [] {
      Lzo found;
      void* const library = dlopen("liblzo2.so.2", RTLD_NOW | RTLD_LOCAL);
      if (library == nullptr) return found;
      const auto init = reinterpret_cast<Init>(dlsym(library, "__lzo_init_v2"));
      // Its version, then the sizes it was compiled with, which it checks; -1 is "as the caller's".
      if (init == nullptr ||
          init(0x2000, sizeof(short), sizeof(int), sizeof(long), sizeof(uint32_t), sizeof(unsigned long),
               sizeof(char*), sizeof(char*), sizeof(void*), -1) != 0) {
        return found;
      }
      found.compress = reinterpret_cast<Code>(dlsym(library, "lzo1x_1_compress"));
      found.decompress_safe = reinterpret_cast<Code>(dlsym(library, "lzo1x_decompress_safe"));
      return found;
    }();
    return lzo;
  }
  bool is_there() const { return compress != nullptr && decompress_safe != nullptr; }
};

Status missing(ByteCoder coder) {
  return failure(fmt::format("{} is needed, but its library ({}) is not installed", byte_coder_name(coder),
                             coder == ByteCoder::lzo ? "liblzo2.so.2" : "libbz2.so.1.0"));
}

constexpr uint64_t max_bytes = std::numeric_limits<int>::max() / 2;  // what all the libraries' counts hold

size_t bound_of(ByteCoder coder, size_t bytes) {
  switch (coder) {
    case ByteCoder::zstd:
      return ZSTD_compressBound(bytes);
    case ByteCoder::lz4:
      return static_cast<size_t>(LZ4_compressBound(static_cast<int>(bytes)));
    case ByteCoder::zlib:
      return compressBound(static_cast<uLong>(bytes));
    case ByteCoder::bzip2:
      return bytes + bytes / 100 + 600;  // bzip2's manual
    case ByteCoder::lzo:
      return bytes + bytes / 16 + 67;  // LZO's FAQ
  }
  return 0;
}

// Bytes written to `out`, 0 when the library refuses.
size_t compress_into(ByteCoder coder, const CoderLevels& levels, ByteSpan bytes, Symbols& out) {
  auto* const to = reinterpret_cast<char*>(out.data());
  const auto* const from = reinterpret_cast<const char*>(bytes.data());
  switch (coder) {
    case ByteCoder::zstd: {
      const size_t size = ZSTD_compressCCtx(zstd_context(), to, out.size(), from, bytes.size(), levels.zstd);
      return ZSTD_isError(size) != 0U ? 0 : size;
    }
    case ByteCoder::lz4:
      return static_cast<size_t>(LZ4_compress_fast(from, to, static_cast<int>(bytes.size()),
                                                   static_cast<int>(out.size()), levels.lz4_acceleration));
    case ByteCoder::zlib: {
      uLongf size = out.size();
      const int code = compress2(reinterpret_cast<Bytef*>(to), &size, reinterpret_cast<const Bytef*>(from),
                                 static_cast<uLong>(bytes.size()), zlib_level);
      return code == Z_OK ? size : 0;
    }
    case ByteCoder::bzip2: {
      auto size = static_cast<unsigned>(out.size());
      const int code = Bzip2::get().compress(to, &size, const_cast<char*>(from),
                                             static_cast<unsigned>(bytes.size()), bzip2_block, 0, 0);
      return code == Bzip2::ok ? size : 0;
    }
    case ByteCoder::lzo: {
      thread_local Bytes work(Lzo::work_bytes);
      unsigned long size = 0;
      const int code = Lzo::get().compress(reinterpret_cast<const unsigned char*>(from), bytes.size(),
                                           reinterpret_cast<unsigned char*>(to), &size, work.data());
      return code == 0 ? size : 0;
    }
  }
  return 0;
}

// Whether `coded` gives exactly out.size() bytes.
bool decompress_into(ByteCoder coder, ByteSpan coded, std::span<std::byte> out) {
  auto* const to = reinterpret_cast<char*>(out.data());
  const auto* const from = reinterpret_cast<const char*>(coded.data());
  switch (coder) {
    case ByteCoder::zstd:
      return ZSTD_decompress(to, out.size(), from, coded.size()) == out.size();
    case ByteCoder::lz4:
      return LZ4_decompress_safe(from, to, static_cast<int>(coded.size()), static_cast<int>(out.size())) ==
             static_cast<int>(out.size());
    case ByteCoder::zlib: {
      uLongf size = out.size();
      return uncompress(reinterpret_cast<Bytef*>(to), &size, reinterpret_cast<const Bytef*>(from),
                        static_cast<uLong>(coded.size())) == Z_OK &&
             size == out.size();
    }
    case ByteCoder::bzip2: {
      auto size = static_cast<unsigned>(out.size());
      return Bzip2::get().decompress(to, &size, const_cast<char*>(from), static_cast<unsigned>(coded.size()),
                                     0, 0) == Bzip2::ok &&
             size == out.size();
    }
    case ByteCoder::lzo: {
      unsigned long size = out.size();
      return Lzo::get().decompress_safe(reinterpret_cast<const unsigned char*>(from), coded.size(),
                                        reinterpret_cast<unsigned char*>(to), &size, nullptr) == 0 &&
             size == out.size();
    }
  }
  return false;
}

}  // namespace

std::string_view byte_coder_name(ByteCoder coder) {
  switch (coder) {
    case ByteCoder::zstd:
      return "zstd";
    case ByteCoder::lz4:
      return "lz4";
    case ByteCoder::zlib:
      return "zlib";
    case ByteCoder::bzip2:
      return "bzip2";
    case ByteCoder::lzo:
      return "LZO";
  }
  return "unknown";
}

bool has_byte_coder(ByteCoder coder) {
  if (coder == ByteCoder::lzo) return Lzo::get().is_there();
  if (coder == ByteCoder::bzip2) return Bzip2::get().is_there();
  return true;
}

Status write_coded(ByteCoder coder, ByteSpan bytes, ByteWriter& out, const CoderLevels& levels) {
  if (!has_byte_coder(coder)) return missing(coder);
  if (bytes.size() > max_bytes) {
    return usage_error(fmt::format("{}: {} bytes at once; at most {} are allowed", byte_coder_name(coder),
                                   bytes.size(), max_bytes));
  }
  Symbols coded = take_symbols(bound_of(coder, bytes.size()));
  const size_t size = bytes.empty() ? 0 : compress_into(coder, levels, bytes, coded);
  const bool pays = size > 0 && size < bytes.size();
  out.put_varint(pays ? size : bytes.size());
  out.put_bytes(pays ? std::as_bytes(std::span(coded)).first(size) : bytes);
  recycle_symbols(std::move(coded));
  return {};
}

namespace {

Result<ByteSpan> take_coded(ByteCoder coder, ByteReader& in, uint64_t size) {
  const ByteSpan coded = in.get_bytes(in.get_varint());
  if (in.failed() || coded.size() > size) {
    return corrupt(
        fmt::format("{} bytes: run past the end of their section, or are more than the {} they stand for",
                    byte_coder_name(coder), size));
  }
  return coded;
}

Status expand(ByteCoder coder, ByteSpan coded, std::span<std::byte> out) {
  if (coded.size() == out.size()) {
    std::copy(coded.begin(), coded.end(), out.begin());
    return {};
  }
  if (!has_byte_coder(coder)) return missing(coder);
  if (!decompress_into(coder, coded, out)) {
    return corrupt(
        fmt::format("{} bytes: do not give the {} bytes they stand for", byte_coder_name(coder), out.size()));
  }
  return {};
}

}  // namespace

Status read_coded(ByteCoder coder, ByteReader& in, std::span<std::byte> out) {
  NEVE_ASSIGN(const ByteSpan coded, take_coded(coder, in, out.size()));
  return expand(coder, coded, out);
}

Result<Bytes> read_coded(ByteCoder coder, ByteReader& in, uint64_t size) {
  NEVE_ASSIGN(const ByteSpan coded, take_coded(coder, in, size));
  Bytes out(size);
  NEVE_TRY(expand(coder, coded, out));
  return out;
}

}  // namespace neve
