// SPDX-License-Identifier: BSD-3-Clause
#include "parallel/file/hints.hpp"

#include <string>
#include <vector>

#include "core/catalog/file_layout.hpp"
#include "parallel/comm/broadcast.hpp"

namespace neve::mpi {
namespace {

Hints hints_of_layout(const FileLayout& layout) {
  Hints hints;
  // ROMIO fills gaps in what it writes by reading, changing and writing back whole buffers (data sieving).
  // The gaps are other ranks' pieces: that multiplies the bytes written (measured: 4 times) and undoes what
  // others just wrote.
  hints["romio_ds_write"] = "disable";
  if (layout.stripe_count > 0) {
    hints["striping_factor"] = std::to_string(layout.stripe_count);
    hints["stripe_width"] = std::to_string(layout.stripe_count);  // OMPIO's word on Lustre
  }
  if (layout.stripe_bytes > 0) {
    // ROMIO cuts what aggregators write at multiples of it on any file system.
    hints["striping_unit"] = std::to_string(layout.stripe_bytes);
    hints["stripe_size"] = std::to_string(layout.stripe_bytes);  // OMPIO's word on Lustre
  }
  if (layout.aggregators > 0) {
    hints["cb_nodes"] = std::to_string(layout.aggregators);
    // Without it ROMIO takes one rank of each host at most, whatever cb_nodes says.
    hints["cb_config_list"] = "*:" + std::to_string(layout.aggregators);
    // Else ROMIO lets every rank write for itself where the ranks' pieces do not interleave.
    hints["romio_cb_write"] = "enable";
  }
  if (layout.buffer_bytes > 0) hints["cb_buffer_size"] = std::to_string(layout.buffer_bytes);
  return hints;
}

Status collect(MPI_File file, std::string& text) {
  MPI_Info info = MPI_INFO_NULL;
  NEVE_TRY(mpi_status(MPI_File_get_info(file, &info), "MPI_File_get_info"));
  const Status status = guarded("hints", [&]() -> Status {
    int keys = 0;
    NEVE_TRY(mpi_status(MPI_Info_get_nkeys(info, &keys), "MPI_Info_get_nkeys"));
    for (int i = 0; i < keys; ++i) {
      char key[MPI_MAX_INFO_KEY + 1] = {};
      NEVE_TRY(mpi_status(MPI_Info_get_nthkey(info, i, key), "MPI_Info_get_nthkey"));
      int length = 0, found = 0;
      NEVE_TRY(mpi_status(MPI_Info_get_valuelen(info, key, &length, &found), "MPI_Info_get_valuelen"));
      if (found == 0) continue;
      std::vector<char> value(static_cast<size_t>(length) + 1, '\0');
      NEVE_TRY(mpi_status(MPI_Info_get(info, key, length, value.data(), &found), "MPI_Info_get"));
      text += std::string(key) + '\0' + value.data() + '\0';
    }
    return {};
  });
  if (info != MPI_INFO_NULL) MPI_Info_free(&info);
  return status;
}

}  // namespace

Result<Hints> hints_for(const FileLayout& layout, const Hints& given) {
  NEVE_TRY(check_layout(layout));
  Hints hints = hints_of_layout(layout);
  for (const auto& [key, value] : given) hints[key] = value;
  NEVE_ASSIGN(Hints merged, merged_hints(hints));
  NEVE_TRY(check_hints(merged));
  return merged;
}

Result<Hints> hints_of(const Comm& comm, MPI_File file) {
  std::string text;
  NEVE_TRY(agree(comm, comm.rank() == 0 ? collect(file, text) : Status()));
  NEVE_TRY(broadcast(comm, text));
  Hints hints;
  NEVE_TRY(agree(comm, guarded("hints", [&]() -> Status {
                   for (size_t at = 0; at < text.size();) {
                     const std::string key = text.c_str() + at;
                     at += key.size() + 1;
                     const std::string value = text.c_str() + at;
                     at += value.size() + 1;
                     hints[key] = value;
                   }
                   return {};
                 })));
  return hints;
}

}  // namespace neve::mpi
