// SPDX-License-Identifier: Apache-2.0
// A value of JSON that somebody else wrote, as text.

#pragma once

#include <string>

namespace serve {

/// The text of a number, a string, true, false or null; of an array or an object only what it is:
/// the library writes them by recursion, for which no stack is deep enough.
template <typename Json>
std::string ScalarText(const Json& json) {
    return json.is_structured()
               ? std::string(json.is_array() ? "an array" : "an object")
               : std::string(json.dump(-1, ' ', true, Json::error_handler_t::replace));
}

}  // namespace serve
