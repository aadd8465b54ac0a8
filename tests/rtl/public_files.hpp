// SPDX-License-Identifier: BSD-3-Clause
// Every floating-point field of the public data, file by file, through Neve's readers.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "neve/status.hpp"
#include "tests/rtl/public_fields.hpp"

namespace neve::rtl {

// The kinds of files, a folder each: "amr", "arrays", "chombo", "climate".
std::vector<std::string> public_folders();

// Of a folder, in order of their names: files, plotfile directories, archives of one.
// Errors: failure, naming what is there and is none of these.
Result<std::vector<std::string>> public_files(const std::string& folder);

using VisitField = std::function<void(const PublicField&)>;

// Shows every field of a file, one after the other. Values of f64 are rounded to f32. Of a plotfile or
// checkpoint a field is a component of a level: its boxes of one cross-section stand one behind the other.
// Errors: those of the reader; failure where the file holds no field, or a tool to unpack it fails.
Status visit_fields(const std::string& path, const VisitField& visit);

}  // namespace neve::rtl
