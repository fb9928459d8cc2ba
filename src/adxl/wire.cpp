// SPDX-License-Identifier: Apache-2.0
// Sends and receives answers.

#include "src/adxl/wire.h"

#include <algorithm>

namespace advstep::transfer {

Io SendAnswer(const Channel& channel, const Outcome& outcome) {
    const size_t words = std::min(outcome.text.size(), kMostWords);
    const Answer answer{outcome.status, static_cast<uint32_t>(words)};
    const Io io = channel.Send(&answer, sizeof(answer), kNoDeadline);
    return io == Io::kDone ? channel.Send(outcome.text.data(), words, kNoDeadline) : io;
}

Io ReceiveAnswer(const Channel& channel, Deadline until, Outcome* outcome, uint32_t* bytes) {
    Answer answer{};
    Io io = channel.Receive(&answer, sizeof(answer), until);
    if (io != Io::kDone) {
        return io;
    }
    *outcome = {answer.status, {}};
    *bytes = answer.bytes;
    if (answer.status != adxl::SUCCESS) {
        if (answer.bytes > kMostWords) {
            return Io::kEnded;
        }
        outcome->text.resize(answer.bytes);
        io = channel.Receive(outcome->text.data(), answer.bytes, until);
    }
    return io;
}

}  // namespace advstep::transfer
