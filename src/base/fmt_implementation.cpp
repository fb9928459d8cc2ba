// The one place where {fmt} is compiled into the library, so that it needs no libfmt at run time
// and the other files only read the light declarations of fmt/core.h.
#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/format.h>

namespace advstep {

// Having its address taken makes the inline function part of this object, for all others to link
// to.
extern std::string (*const vformatInThisObject)(fmt::string_view, fmt::format_args);
std::string (*const vformatInThisObject)(fmt::string_view, fmt::format_args) = &fmt::vformat;

}  // namespace advstep
