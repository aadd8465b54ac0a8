// SPDX-License-Identifier: BSD-3-Clause
// Under which headings `neve bench --help` lists the benches.
#pragma once

namespace neve::cli {

constexpr const char* mini_apps = "Mini-apps, which run under mpirun";
constexpr const char* machine_benches = "The machine";
constexpr const char* peer_tables = "Tables against peers, and studies";

}  // namespace neve::cli
