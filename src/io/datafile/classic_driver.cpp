// SPDX-License-Identifier: BSD-3-Clause
#include "io/datafile/classic_driver.hpp"

#include <hdf5.h>

#include <algorithm>
#include <cstring>
#include <functional>
#include <iterator>
#include <new>
#include <span>
#include <type_traits>

#if H5_VERSION_GE(1, 13, 2)
#include <H5FDdevelop.h>  // the driver's class moved out of the public headers
#endif

#include "io/hdf5/errors.hpp"
#include "io/hdf5/open_to_read.hpp"

namespace neve::datafile {
namespace {

// The file as HDF5 sees it. `base` comes first: HDF5 holds a pointer to it.
struct OpenFile {
  H5FD_t base;
  const std::shared_ptr<const ClassicImage>* image;  // owned; a pointer, so that the layout is C's
  haddr_t end_of_allocation;
};
static_assert(std::is_standard_layout_v<OpenFile>);

constexpr haddr_t largest_address = 0x7fffffffffffffff;

OpenFile* as_open_file(H5FD_t* file) { return reinterpret_cast<OpenFile*>(file); }
const OpenFile* as_open_file(const H5FD_t* file) { return reinterpret_cast<const OpenFile*>(file); }

H5FD_t* open_file(const char*, unsigned flags, hid_t file_access, haddr_t) {
  const void* info = H5Pget_driver_info(file_access);
  if (info == nullptr || (flags & H5F_ACC_RDWR) != 0) return nullptr;
  const auto* image = *static_cast<const std::shared_ptr<const ClassicImage>* const*>(info);
  auto* file = new (std::nothrow) OpenFile{};
  auto* own = new (std::nothrow) std::shared_ptr<const ClassicImage>(*image);
  if (file == nullptr || own == nullptr) {
    delete file;
    delete own;
    return nullptr;
  }
  file->image = own;
  return &file->base;
}

herr_t close_file(H5FD_t* base) {
  OpenFile* file = as_open_file(base);
  delete file->image;
  delete file;
  return 0;
}

// HDF5 asks so that it notices a file that it has open already: each image is a file of its own.
int compare(const H5FD_t* a, const H5FD_t* b) {
  const ClassicImage* x = as_open_file(a)->image->get();
  const ClassicImage* y = as_open_file(b)->image->get();
  return x == y ? 0 : std::less<>()(x, y) ? -1 : 1;
}

herr_t query(const H5FD_t*, unsigned long* flags) {
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

haddr_t get_end_of_file(const H5FD_t* file, H5FD_mem_t) {
  return (*as_open_file(file)->image)->structure.file_bytes;
}

void overlay(const hdf5::HeldFile& held, haddr_t address, std::span<std::byte> out) {
  const haddr_t end = address + out.size();
  auto run = std::upper_bound(held.runs.begin(), held.runs.end(), address,
                              [](haddr_t at, const hdf5::HeldFile::Run& r) { return at < r.address; });
  if (run != held.runs.begin()) --run;
  for (; run != held.runs.end() && run->address < end; ++run) {
    const haddr_t from = std::max<haddr_t>(address, run->address);
    const haddr_t to = std::min<haddr_t>(end, run->address + run->bytes.size());
    if (from < to)
      std::memcpy(out.data() + (from - address), run->bytes.data() + (from - run->address), to - from);
  }
}

herr_t read(H5FD_t* base, H5FD_mem_t, hid_t, haddr_t address, size_t bytes, void* buffer) {
  const ClassicImage& image = **as_open_file(base)->image;
  const std::span out(static_cast<std::byte*>(buffer), bytes);
  try {
    std::fill(out.begin(), out.end(), std::byte{0});
    overlay(image.structure, address, out);
    return image.values.overlay(address, out).ok() ? 0 : -1;
  } catch (const std::bad_alloc&) {
    return -1;
  }
}

herr_t write(H5FD_t*, H5FD_mem_t, hid_t, haddr_t, size_t, const void*) { return -1; }

H5FD_class_t make_driver_class() {
  H5FD_class_t driver{};
#if H5_VERSION_GE(1, 13, 2)
  driver.version = H5FD_CLASS_VERSION;
  constexpr int unregistered_driver_value = 602;  // 512 and above are free for everybody
  driver.value = static_cast<H5FD_class_value_t>(unregistered_driver_value);
#endif
  driver.name = "neve_netcdf_classic";
  driver.maxaddr = largest_address;
  driver.fc_degree = H5F_CLOSE_WEAK;
  driver.fapl_size = sizeof(const std::shared_ptr<const ClassicImage>*);  // copied with memcpy
  driver.open = open_file;
  driver.close = close_file;
  driver.cmp = compare;
  driver.query = query;
  driver.get_eoa = get_end_of_allocation;
  driver.set_eoa = set_end_of_allocation;
  driver.get_eof = get_end_of_file;
  driver.read = read;
  driver.write = write;
  constexpr H5FD_mem_t one_list[H5FD_MEM_NTYPES] = H5FD_FLMAP_SINGLE;
  std::copy(std::begin(one_list), std::end(one_list), std::begin(driver.fl_map));
  return driver;
}

// Registered once, and again after an H5close.
hid_t driver_id() {
  static const H5FD_class_t driver_class = make_driver_class();
  static hid_t driver = H5I_INVALID_HID;
  if (H5Iis_valid(driver) <= 0) driver = H5FDregister(&driver_class);
  return driver;
}

}  // namespace

Result<hdf5::Handle> open_classic_image(const std::string& path, std::shared_ptr<const ClassicImage> image) {
  const hid_t driver = driver_id();
  if (driver < 0) return failure("HDF5 refuses to register Neve's driver for netCDF: " + hdf5::last_error());
  const hdf5::Handle access(H5Pcreate(H5P_FILE_ACCESS), H5Pclose);
  const std::shared_ptr<const ClassicImage>* const shared = &image;  // copied when the file is opened
  if (H5Pset_driver(access.id(), driver, &shared) < 0)
    return failure("HDF5 refuses Neve's driver for netCDF: " + hdf5::last_error());
  hdf5::use_no_chunk_cache(access.id());
  hdf5::Handle file(H5Fopen(path.c_str(), H5F_ACC_RDONLY, access.id()), H5Fclose);
  if (!file.valid()) return failure("HDF5 cannot open the structure made for it: " + hdf5::last_error());
  return file;
}

}  // namespace neve::datafile
