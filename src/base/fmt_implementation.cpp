// SPDX-License-Identifier: Apache-2.0
// This file alone compiles {fmt} into the library. So the library needs no libfmt at run time, and
// the other files include only the small declarations of fmt/core.h.
#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/format.h>

namespace advstep {

// Taking its address puts the inline function into this object, so that all others can link to it.
extern std::string (*const vformatInThisObject)(fmt::string_view, fmt::format_args);
std::string (*const vformatInThisObject)(fmt::string_view, fmt::format_args) = &fmt::vformat;

}  // namespace advstep
