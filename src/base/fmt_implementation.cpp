// SPDX-License-Identifier: Apache-2.0
// Compiles {fmt} into the library. So the library needs no libfmt at run time, and the other files
// include only the small fmt/core.h.
#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/format.h>

namespace advstep {

// The address puts the inline function into this object file, so that all others can link to it.
extern std::string (*const vformatInThisObject)(fmt::string_view, fmt::format_args);
std::string (*const vformatInThisObject)(fmt::string_view, fmt::format_args) = &fmt::vformat;

}  // namespace advstep
