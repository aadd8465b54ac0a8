// SPDX-License-Identifier: BSD-3-Clause
#include "io/hdf5/skip_driver.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <iterator>
#include <map>
#include <new>
#include <type_traits>
#include <vector>

#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>  // the driver's class moved out of the public headers
#endif

#include "io/hdf5/errors.hpp"

namespace neve::hdf5 {
namespace {

// What HDF5 has written and the file has not got yet. HDF5 writes its metadata in hundreds of little pieces,
// most of which touch each other: on a parallel file system each one costs as much as a megabyte.
class HeldWrites {
 public:
  uint64_t bytes() const { return bytes_; }

  void put(haddr_t address, const char* data, size_t size) {
    cut_out(address, address + size);
    pieces_.emplace(address, std::vector<char>(data, data + size));
    bytes_ += size;
  }

  // Lays what is held of [address, address + size) over `out`.
  void overlay(haddr_t address, char* out, size_t size) const {
    const haddr_t end = address + size;
    for (auto at = first_ending_behind(address); at != pieces_.end() && at->first < end; ++at) {
      const haddr_t from = std::max(address, at->first);
      const haddr_t to = std::min(end, end_of(*at));
      std::memcpy(out + (from - address), at->second.data() + (from - at->first), to - from);
    }
  }

  // Gives out everything as runs that do not touch, by rising address, and holds nothing any more.
  // write(address, data, size) returns false to stop.
  template <class Write>
  bool flush(const Write& write) {
    std::vector<char> run;
    haddr_t begin = 0;
    bool ok = true;
    for (const Piece& piece : pieces_) {
      if (!run.empty() && (begin + run.size() != piece.first || run.size() >= longest_run)) {
        ok = ok && write(begin, run.data(), run.size());
        run.clear();
      }
      if (run.empty()) begin = piece.first;
      run.insert(run.end(), piece.second.begin(), piece.second.end());
    }
    if (!run.empty()) ok = ok && write(begin, run.data(), run.size());
    pieces_.clear();
    bytes_ = 0;
    return ok;
  }

 private:
  using Pieces = std::map<haddr_t, std::vector<char>>;  // by address, disjoint
  using Piece = Pieces::value_type;
  static constexpr size_t longest_run = size_t{4} << 20;

  static haddr_t end_of(const Piece& piece) { return piece.first + piece.second.size(); }

  Pieces::const_iterator first_ending_behind(haddr_t address) const {
    auto at = pieces_.upper_bound(address);
    if (at != pieces_.begin() && end_of(*std::prev(at)) > address) --at;
    return at;
  }

  void cut_out(haddr_t begin, haddr_t end) {
    for (auto at = first_ending_behind(begin); at != pieces_.end() && at->first < end;) {
      const haddr_t first = at->first;
      const std::vector<char> old = at->second;
      bytes_ -= old.size();
      at = pieces_.erase(at);
      const auto keep = [&](haddr_t from, haddr_t to) {
        pieces_.emplace(from, std::vector<char>(old.begin() + static_cast<ptrdiff_t>(from - first),
                                                old.begin() + static_cast<ptrdiff_t>(to - first)));
        bytes_ += to - from;
      };
      if (first < begin) keep(first, begin);
      if (first + old.size() > end) keep(end, first + old.size());
    }
  }

  Pieces pieces_;
  uint64_t bytes_ = 0;
};
constexpr uint64_t max_held_bytes = uint64_t{16} << 20;

// The file as HDF5 sees it. `base` comes first: HDF5 holds a pointer to it.
struct OpenFile {
  H5FD_t base;
  int descriptor;
  dev_t device;
  ino_t inode;
  haddr_t end_of_allocation;
  haddr_t end_of_file;
  SkipDriverState* state;
  HeldWrites* held;  // owned; a pointer, so that the layout is C's
};
static_assert(std::is_standard_layout_v<OpenFile>);

constexpr haddr_t largest_address = 0x7fffffffffffffff;  // off_t is signed

OpenFile* as_open_file(H5FD_t* file) { return reinterpret_cast<OpenFile*>(file); }
const OpenFile* as_open_file(const H5FD_t* file) { return reinterpret_cast<const OpenFile*>(file); }

herr_t fail(SkipDriverState* state, const char* operation, int error) {
  if (state->system_error == 0) {
    state->system_error = error;
    state->failed_operation = operation;
  }
  return -1;
}

// For what HDF5 does while it closes a file: told of a failure there, it keeps the file half closed and
// crashes when the process ends. The caller looks at system_error instead.
herr_t fail_silently(SkipDriverState* state, const char* operation, int error) {
  fail(state, operation, error);
  return 0;
}

H5FD_t* open_file(const char* name, unsigned flags, hid_t file_access, haddr_t) {
  const void* info = H5Pget_driver_info(file_access);
  if (info == nullptr) return nullptr;
  SkipDriverState* state = *static_cast<SkipDriverState* const*>(info);

  int mode = (flags & H5F_ACC_RDWR) != 0 ? O_RDWR : O_RDONLY;
  const bool is_emptied = (flags & H5F_ACC_TRUNC) != 0;
  if (is_emptied && state->data_end == 0) mode |= O_TRUNC;
  if (state->held != nullptr) mode = O_RDONLY;
  const int descriptor = ::open(name, mode | O_CLOEXEC);
  if (descriptor < 0) {
    fail(state, "open", errno);
    return nullptr;
  }
  struct stat status {};
  if (::fstat(descriptor, &status) != 0) {
    fail(state, "stat", errno);
    ::close(descriptor);
    return nullptr;
  }
  auto* file = new (std::nothrow) OpenFile{};
  auto* held = new (std::nothrow) HeldWrites;
  if (file == nullptr || held == nullptr) {
    delete file;
    delete held;
    fail(state, "open", ENOMEM);
    ::close(descriptor);
    return nullptr;
  }
  file->descriptor = descriptor;
  file->device = status.st_dev;
  file->inode = status.st_ino;
  file->end_of_file = is_emptied ? 0 : static_cast<haddr_t>(status.st_size);
  file->state = state;
  file->held = held;
  return &file->base;
}

bool write_through(const OpenFile* file, haddr_t address, const char* in, size_t bytes) {
  while (bytes > 0) {
    const ssize_t put = ::pwrite(file->descriptor, in, bytes, static_cast<off_t>(address));
    if (put < 0 && errno == EINTR) continue;
    if (put <= 0) {
      fail(file->state, "write", put < 0 ? errno : ENOSPC);
      return false;
    }
    in += put;
    address += static_cast<haddr_t>(put);
    bytes -= static_cast<size_t>(put);
  }
  return true;
}

// Failures are in the state afterwards.
void write_held(OpenFile* file) {
  HeldFile* const kept = file->state->held;
  try {
    file->held->flush([&](haddr_t address, const char* data, size_t bytes) {
      if (kept == nullptr) return write_through(file, address, data, bytes);
      kept->runs.push_back({address, std::vector<char>(data, data + bytes)});
      return true;
    });
  } catch (const std::bad_alloc&) {
    fail(file->state, "write", ENOMEM);
  }
}

herr_t close_file(H5FD_t* base) {
  OpenFile* file = as_open_file(base);
  SkipDriverState* state = file->state;
  write_held(file);
  const int closed = ::close(file->descriptor);
  const int error = errno;
  delete file->held;
  delete file;
  return closed == 0 ? 0 : fail_silently(state, "close", error);
}

// HDF5 asks so that it notices a file that it has open already.
int compare(const H5FD_t* a, const H5FD_t* b) {
  const OpenFile* x = as_open_file(a);
  const OpenFile* y = as_open_file(b);
  if (x->device != y->device) return x->device < y->device ? -1 : 1;
  if (x->inode != y->inode) return x->inode < y->inode ? -1 : 1;
  return 0;
}

// Neither sieve buffer nor accumulator for raw data: each raw write must arrive here by itself and at
// once, or an address would be recorded for the wrong chunk.
herr_t query(const H5FD_t*, unsigned long* flags) {
  if (flags != nullptr) *flags = H5FD_FEAT_AGGREGATE_METADATA;
  return 0;
}

// Nor blocks for metadata: one would take in the free space beside it, for metadata alone.
herr_t query_reusing(const H5FD_t*, unsigned long* flags) {
  if (flags != nullptr) *flags = 0;
  return 0;
}

haddr_t get_end_of_allocation(const H5FD_t* file, H5FD_mem_t) {
  return as_open_file(file)->end_of_allocation;
}

herr_t set_end_of_allocation(H5FD_t* file, H5FD_mem_t, haddr_t address) {
  as_open_file(file)->end_of_allocation = address;
  return 0;
}

// Behind the head nothing is given out below data_end: nor must HDF5 believe that it could grow its last
// block into there, so that the end of what is allocated leaps over it.
haddr_t allocate(H5FD_t* base, H5FD_mem_t type, hid_t, hsize_t bytes) {
  OpenFile* file = as_open_file(base);
  const SkipDriverState& state = *file->state;
  if (type == H5FD_MEM_DRAW && state.raw_address) return *state.raw_address;
  const haddr_t address = file->end_of_allocation;
  if (state.data_end > 0 && address < data_begin && address + bytes > data_begin) {
    fail(file->state, "lay out the file's head", EFBIG);
    return HADDR_UNDEF;
  }
  file->end_of_allocation = std::max<haddr_t>(address + bytes, state.data_end);
  return address;
}

haddr_t get_end_of_file(const H5FD_t* file, H5FD_mem_t) { return as_open_file(file)->end_of_file; }

herr_t read(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, size_t bytes, void* buffer) {
  const OpenFile* file = as_open_file(base);
  auto* out = static_cast<char*>(buffer);
  char* const begin = out;
  const haddr_t from = address;
  const size_t wanted = bytes;
  while (bytes > 0) {
    const ssize_t got = ::pread(file->descriptor, out, bytes, static_cast<off_t>(address));
    if (got < 0) {
      if (errno == EINTR) continue;
      return fail(file->state, "read", errno);
    }
    if (got == 0) {  // past the end: HDF5 expects zeros there
      std::memset(out, 0, bytes);
      break;
    }
    out += got;
    address += static_cast<haddr_t>(got);
    bytes -= static_cast<size_t>(got);
  }
  file->held->overlay(from, begin, wanted);
  return 0;
}

herr_t write(H5FD_t* base, H5FD_mem_t type, hid_t, haddr_t address, size_t bytes, const void* buffer) {
  OpenFile* file = as_open_file(base);
  file->end_of_file = std::max(file->end_of_file, address + bytes);
  if (type == H5FD_MEM_DRAW && file->state->drop_raw_data) {
    file->state->last_dropped_address = address;
    ++file->state->dropped_writes;
    return 0;
  }
  try {
    file->held->put(address, static_cast<const char*>(buffer), bytes);
  } catch (const std::bad_alloc&) {
    return fail_silently(file->state, "write", ENOMEM);
  }
  if (file->state->held == nullptr && file->held->bytes() > max_held_bytes) write_held(file);
  return 0;
}

herr_t truncate(H5FD_t* base, hid_t, hbool_t) {
  OpenFile* file = as_open_file(base);
  if (HeldFile* const kept = file->state->held; kept != nullptr) {
    kept->file_bytes = file->end_of_allocation;
    file->end_of_file = file->end_of_allocation;
    return 0;
  }
  write_held(file);  // first: a full disk is then what the caller hears of
  while (::ftruncate(file->descriptor, static_cast<off_t>(file->end_of_allocation)) != 0) {
    if (errno != EINTR) return fail_silently(file->state, "truncate", errno);
  }
  file->end_of_file = file->end_of_allocation;
  return 0;
}

void set_free_lists(H5FD_class_t& driver, const H5FD_mem_t (&lists)[H5FD_MEM_NTYPES]) {
  std::copy(std::begin(lists), std::end(lists), std::begin(driver.fl_map));
}

H5FD_class_t make_driver_class(FreedSpace freed) {
  H5FD_class_t driver{};
  const bool reuses = freed == FreedSpace::reused;
#if H5_VERSION_GE(1, 13, 2)
  driver.version = H5FD_CLASS_VERSION;
  constexpr int unregistered_driver_value = 600;  // 512 and above are free for everybody
  driver.value = static_cast<H5FD_class_value_t>(unregistered_driver_value + (reuses ? 1 : 0));
#endif
  driver.name = reuses ? "neve_skip_reusing" : "neve_skip";
  driver.maxaddr = largest_address;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(SkipDriverState*);  // HDF5 copies the pointer with memcpy
  driver.open = open_file;
  driver.close = close_file;
  driver.cmp = compare;
  driver.query = reuses ? query_reusing : query;
  if (!reuses) driver.alloc = allocate;
  driver.get_eoa = get_end_of_allocation;
  driver.set_eoa = set_end_of_allocation;
  driver.get_eof = get_end_of_file;
  driver.read = read;
  driver.write = write;
  driver.truncate = truncate;
  // In one list, chunks and the nodes of their index, which lie in turns, are one piece when they are free.
  constexpr H5FD_mem_t one_list[] = H5FD_FLMAP_SINGLE;
  constexpr H5FD_mem_t raw_apart_from_metadata[] = H5FD_FLMAP_DICHOTOMY;
  set_free_lists(driver, reuses ? one_list : raw_apart_from_metadata);
  return driver;
}

// Registered once, and again after an H5close.
template <FreedSpace freed>
hid_t driver_of() {
  static const H5FD_class_t driver_class = make_driver_class(freed);
  static hid_t driver = H5I_INVALID_HID;
  if (H5Iis_valid(driver) <= 0) driver = H5FDregister(&driver_class);
  return driver;
}

}  // namespace

Status use_skip_driver(hid_t file_access, SkipDriverState* state, FreedSpace freed) {
  const hid_t driver =
      freed == FreedSpace::reused ? driver_of<FreedSpace::reused>() : driver_of<FreedSpace::left>();
  if (driver < 0) return failure("HDF5 refuses to register Neve's file driver: " + last_error());
  if (H5Pset_driver(file_access, driver, &state) < 0) {
    return failure("HDF5 refuses Neve's file driver: " + last_error());
  }
  return {};
}

}  // namespace neve::hdf5
