#include "src/base/status.h"

namespace advstep {

Status::Status(int32_t code, std::string message)
    : code_(code), message_(std::make_unique<const std::string>(std::move(message))) {}

const std::string& Status::message() const {
    static const std::string* const kNone = new std::string;
    static const std::string* const kWordless = new std::string("no memory was left to say more");
    return message_ ? *message_ : ok() ? *kNone : *kWordless;
}

}  // namespace advstep
