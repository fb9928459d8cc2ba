// SPDX-License-Identifier: Apache-2.0
// Implements the status word: success, a bare code, or a code with a message.

#include "src/base/status.h"

#include <memory>

namespace advstep {
namespace {

// The texts are allocated when the library is loaded, because they are needed if memory is short.
const std::string* const none = new std::string;
const std::string* const wordless = new std::string("no memory was left to say more");

}  // namespace

struct Status::Failure {
    int32_t code;
    std::string message;
};

Status::Status(int32_t code, std::string message) {
    if (code != 0) {
        word_ = reinterpret_cast<uintptr_t>(new Failure{code, std::move(message)});
    }
}

void Status::Forget() noexcept {
    if ((word_ & 1) == 0) {
        delete reinterpret_cast<Failure*>(word_);
    }
}

int32_t Status::code() const {
    if (word_ == 0) {
        return 0;
    }
    return (word_ & 1) != 0 ? static_cast<int32_t>(static_cast<uint32_t>(word_ >> 1))
                            : reinterpret_cast<const Failure*>(word_)->code;
}

const std::string& Status::message() const {
    if (word_ == 0) {
        return *none;
    }
    return (word_ & 1) != 0 ? *wordless : reinterpret_cast<const Failure*>(word_)->message;
}

}  // namespace advstep
