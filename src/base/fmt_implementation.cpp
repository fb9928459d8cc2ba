// SPDX-License-Identifier: Apache-2.0
// Compiles {fmt} into the library. So the library needs no libfmt at run time, and the other files
// include only the small fmt/core.h.
#ifndef FMT_HEADER_ONLY
#define FMT_HEADER_ONLY
#endif
#include <fmt/format.h>

namespace advstep {

// The addresses put the inline functions into this object file, so that all others can link to
// them, also those that include fmt/format.h.
struct FmtFunctions {
    std::string (*vformat)(fmt::string_view, fmt::format_args);
    fmt::detail::thousands_sep_result<char> (*thousandsSep)(fmt::detail::locale_ref);
    char (*decimalPoint)(fmt::detail::locale_ref);
    bool (*isPrintable)(uint32_t);
};
extern const FmtFunctions fmtInThisObject;
const FmtFunctions fmtInThisObject = {&fmt::vformat, &fmt::detail::thousands_sep_impl<char>,
                                      &fmt::detail::decimal_point_impl<char>,
                                      &fmt::detail::is_printable};

}  // namespace advstep
