#include "src/base/status.h"

namespace advstep {
namespace {

// Made when the library is loaded: they are asked for when there is no memory.
const std::string* const none = new std::string;
const std::string* const wordless = new std::string("no memory was left to say more");

}  // namespace

Status::Status(int32_t code, std::string message)
    : code_(code), message_(std::make_unique<const std::string>(std::move(message))) {}

const std::string& Status::message() const {
    return message_ ? *message_ : ok() ? *none : *wordless;
}

}  // namespace advstep
