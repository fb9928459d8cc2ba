#include "src/base/status.h"

#include <memory>

namespace advstep {

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
    // Never destroyed: calls from global destructors may ask.
    static const std::string* const kNone = new std::string;
    static const std::string* const kWordless = new std::string("no memory was left to say more");
    if (word_ == 0) {
        return *kNone;
    }
    return (word_ & 1) != 0 ? *kWordless : reinterpret_cast<const Failure*>(word_)->message;
}

}  // namespace advstep
