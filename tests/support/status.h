// SPDX-License-Identifier: Apache-2.0
// Comparison of return codes, with the library's message where they differ.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_STATUS_H_
#define ADVANCE_STEP_TESTS_SUPPORT_STATUS_H_

#include <gtest/gtest.h>

#include <algorithm>
#include <initializer_list>
#include <string>
#include <vector>

#include "acl/acl.h"

namespace support {

// The thread's error message, "" for none; reading clears it.
inline std::string TakeMessage() {
    const char* message = aclGetRecentErrMsg();
    return message == nullptr ? std::string() : std::string(message);
}

// ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
inline testing::AssertionResult IsOk(int status) {
    if (status == ACL_SUCCESS) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure() << "returned " << status << ": " << TakeMessage();
}

// The call returned code and nothing is said about its message.
inline testing::AssertionResult IsCode(int code, int status) {
    if (status == code) {
        return testing::AssertionSuccess();
    }
    return testing::AssertionFailure()
           << "returned " << status << ", expected " << code << ": " << TakeMessage();
}

// The numbers of a text, with their signs: "query 12 holds -1" has "12" and "-1".
inline std::vector<std::string> NumbersIn(const std::string& text) {
    const auto isDigit = [](char c) { return c >= '0' && c <= '9'; };
    std::vector<std::string> numbers;
    for (size_t i = 0; i < text.size(); ++i) {
        if (!isDigit(text[i])) {
            continue;
        }
        const bool isNegative = i > 0 && text[i - 1] == '-' && (i == 1 || !isDigit(text[i - 2]));
        const size_t first = isNegative ? i - 1 : i;
        while (i < text.size() && isDigit(text[i])) {
            ++i;
        }
        numbers.push_back(text.substr(first, i - first));
    }
    return numbers;
}

inline bool HasNumber(const std::string& text, long long number) {
    const std::vector<std::string> numbers = NumbersIn(text);
    return std::find(numbers.begin(), numbers.end(), std::to_string(number)) != numbers.end();
}

// The call returned code and left a message that has every one of parts and numbers; takes the
// message.
inline testing::AssertionResult IsError(int code, int status,
                                        std::initializer_list<std::string> parts = {},
                                        std::initializer_list<long long> numbers = {}) {
    const std::string message = TakeMessage();
    if (status != code) {
        return testing::AssertionFailure()
               << "returned " << status << ", expected " << code << ": " << message;
    }
    if (message.empty()) {
        return testing::AssertionFailure() << "returned " << code << " without a message";
    }
    for (const std::string& part : parts) {
        if (message.find(part) == std::string::npos) {
            return testing::AssertionFailure()
                   << "returned " << code << "; no \"" << part << "\" in: " << message;
        }
    }
    for (const long long number : numbers) {
        if (!HasNumber(message, number)) {
            return testing::AssertionFailure()
                   << "returned " << code << "; no number " << number << " in: " << message;
        }
    }
    return testing::AssertionSuccess();
}

inline testing::AssertionResult NamesQuery(const std::string& message, long long query) {
    const std::string word = "query ";
    for (size_t at = message.find(word); at != std::string::npos; at = message.find(word, at + 1)) {
        const std::vector<std::string> numbers = NumbersIn(message.substr(at + word.size()));
        if (!numbers.empty() && numbers[0] == std::to_string(query) &&
            message.compare(at + word.size(), numbers[0].size(), numbers[0]) == 0) {
            return testing::AssertionSuccess();
        }
    }
    return testing::AssertionFailure() << "no query " << query << " in: " << message;
}

// A data error that names the query and every one of values.
inline testing::AssertionResult IsDataError(int status, long long query,
                                            std::initializer_list<long long> values = {}) {
    const std::string message = TakeMessage();
    if (status != ACL_ERROR_RT_VECTOR_CORE_EXCEPTION) {
        return testing::AssertionFailure() << "returned " << status << ": " << message;
    }
    const testing::AssertionResult named = NamesQuery(message, query);
    if (!named) {
        return named;
    }
    for (const long long value : values) {
        if (!HasNumber(message, value)) {
            return testing::AssertionFailure() << "no value " << value << " in: " << message;
        }
    }
    return testing::AssertionSuccess();
}

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_STATUS_H_
