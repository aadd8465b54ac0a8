// SPDX-License-Identifier: BSD-3-Clause
// Bytes into open files, and onto the device.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include "io/files/descriptor.hpp"
#include "io/files/target.hpp"
#include "neve/status.hpp"

namespace neve::files {

// Makes a file that is not there yet, for writing; a link in its place is not followed but an error.
Result<Descriptor> create_file(const std::string& path);

// Writes all of `bytes` at `offset` of an open file; `name` is for the message.
Status write_fully(int fd, int64_t offset, std::span<const std::byte> bytes, const std::string& name);

// The same of two that follow each other in the file, in one call where the system takes it.
Status write_fully(int fd, int64_t offset, std::span<const std::byte> first,
                   std::span<const std::byte> second, const std::string& name);

// Makes what an open file holds durable.
Status sync_file(int fd, const std::string& name);

// Makes a file or folder durable; a link is followed.
Status sync_path(const std::string& path);

// Makes durable that the target, which is written, has its name.
Status sync_name(const Target& target);

// Makes a folder and all that is below it durable.
Status sync_tree(const std::string& folder);

}  // namespace neve::files
