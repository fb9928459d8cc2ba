// SPDX-License-Identifier: Apache-2.0
// Tables of calls that are refused because of one argument.
#ifndef ADVANCE_STEP_TESTS_CONFORMANCE_REFUSED_CALLS_H_
#define ADVANCE_STEP_TESTS_CONFORMANCE_REFUSED_CALLS_H_

#include <array>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "support/runtime_test.h"

namespace conformance {

// Values for the other arguments. A call that refuses null neither reads nor writes what they lead
// to.
struct Given {
    alignas(64) std::array<uint8_t, 256> bytes{};

    void* At() { return bytes.data(); }
    template <typename T>
    T* Of() {
        return reinterpret_cast<T*>(bytes.data());
    }
};

struct RefusedCall {
    std::string name;      // of the call and the argument
    std::string argument;  // as the message has it
    std::function<int(Given&)> call;
};

using RefusedCalls = std::vector<RefusedCall>;

// Makes the call: it is refused with the code and the text, and nothing is written.
inline void ExpectRefused(const RefusedCall& row, int code, const std::string& text) {
    Given given;
    given.bytes.fill(0x5a);
    const auto before = given.bytes;
    const std::string function = row.name.substr(0, row.name.find('_'));
    EXPECT_TRUE(support::IsError(code, row.call(given), {function + ": ", text}));
    EXPECT_EQ(given.bytes, before);
}

inline void ExpectNullRefused(const RefusedCall& row) {
    ExpectRefused(row, ACL_ERROR_INVALID_PARAM, row.argument + " is null");
}

}  // namespace conformance

#endif  // ADVANCE_STEP_TESTS_CONFORMANCE_REFUSED_CALLS_H_
