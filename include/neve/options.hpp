// SPDX-License-Identifier: BSD-3-Clause
// Options by name, as people write them in job scripts, input files and parameter lists. Names and meanings
// are those of the `neve` command, where `neve convert --help` and `neve compress --help` tell them; capitals
// do not matter, and - and _ are one. An option that can have no effect beside the others is refused.
#pragma once

#include <map>
#include <string>
#include <string_view>

#include "neve/frame.hpp"
#include "neve/status.hpp"
#include "neve/types.hpp"
#include "neve/write_options.hpp"

#pragma GCC visibility push(default)
namespace neve {

// What `neve compress` takes of an array: {{"bound", "rel=1e-3"}, {"effort", "max"}}. A `fill` that is a
// whole number is both `fill` and `integer_fill`: options_for settles which. Errors: usage, naming the
// option, the value found and what is allowed.
// `before`: what was said by other means; these come on top.
Result<ArrayOptions> parse_array_options(const std::map<std::string, std::string>& options,
                                         ArrayOptions before = {});

// The same as one text: "rel=1e-3;effort=max", where a bound needs no name.
Result<ArrayOptions> parse_array_options(std::string_view text, ArrayOptions before = {});

// The same for values of `dtype`, whose fill value is either a number or a whole one. encode_array refuses
// one that is no value of the type.
ArrayOptions options_for(DType dtype, ArrayOptions options);

// What `neve convert` takes of a plotfile, and rules of fields:
// "rel=1e-3;field:density=abs=1e-6;covered=keep". A rule is what the command's --field takes behind its
// colon: "abs=1e-6,codec=context". The name of a field may stand in double quotes, where \" and \\ stand for
// '"' and '\'. `ghosts` counts for all three directions: who knows the dimension clears the others. Two
// options that settle the same are a usage error.
Result<WriteOptions> parse_write_options(std::string_view text);

}  // namespace neve
#pragma GCC visibility pop
