// SPDX-License-Identifier: BSD-3-Clause
// Seeds: small inputs that are right, made from real data where it is at hand. A part of a target's seeds a
// function.
#pragma once

#include <cstddef>
#include <filesystem>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "io/plotfile/npy.hpp"
#include "neve/hierarchy.hpp"
#include "neve/status.hpp"

namespace neve::fuzz {

// Where data lies and where seeds go: OUT/TARGET/NAME.
class Places {
 public:
  Places(std::filesystem::path checkout, std::filesystem::path out) : checkout_(checkout), out_(out) {}

  std::filesystem::path checkout() const { return checkout_; }
  // Larger data than the checkout's, beside it; may be missing.
  std::filesystem::path shared() const { return checkout_ / ".." / "shared" / "data"; }
  // Larger inputs than a target takes are left out.
  void put(const std::string& target, const std::string& name, std::span<const std::byte> bytes);
  void put(const std::string& target, const std::string& name, std::string_view text) {
    put(target, name, std::as_bytes(std::span(text)));
  }

 private:
  std::filesystem::path checkout_, out_;
};

// Ends the program: a seed that cannot be made is a mistake of this program.
void must(const Status& status, const std::string& what);

template <class T>
T must(Result<T> result, const std::string& what) {
  must(result.status(), what);
  return std::move(*result);
}

std::string read_file(const std::filesystem::path& path);
// .npy arrays: the first values of each dimension.
struct NamedArray {
  std::string name;
  plotfile::NpyArray array;
};
std::vector<NamedArray> real_arrays(const Places& places);

// A hierarchy cut out of a real one, with its values by level, by box, component after component.
struct SmallPlotfile {
  std::string name;
  Hierarchy hierarchy;
  std::vector<std::vector<std::vector<std::byte>>> values;
};
std::vector<SmallPlotfile> small_plotfiles(const Places& places);

void make_frame_seeds(Places& places);
void make_stream_seeds(Places& places);
void make_frame_file_seeds(Places& places);
void make_plotfile_seeds(Places& places);
void make_data_file_seeds(Places& places);
void make_text_seeds(Places& places);
void make_trace_seeds(Places& places);

}  // namespace neve::fuzz
