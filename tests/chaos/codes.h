// SPDX-License-Identifier: Apache-2.0
// The codes that calls may return.
#ifndef ADVANCE_STEP_TESTS_CHAOS_CODES_H_
#define ADVANCE_STEP_TESTS_CHAOS_CODES_H_

#include <map>
#include <string>

namespace chaos {

// Every code of the public headers, with its name there.
const std::map<int, const char*>& DocumentedCodes();

std::string NameOf(int code);

}  // namespace chaos

#endif  // ADVANCE_STEP_TESTS_CHAOS_CODES_H_
