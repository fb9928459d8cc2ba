// SPDX-License-Identifier: Apache-2.0
// The messages of two engines that are connected.

#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "src/adxl/channel.h"
#include "src/adxl/registered_memory.h"

namespace advstep::transfer {

// The protocol: the client sends a request and what belongs to it. The server answers with a code
// and, unless that is SUCCESS, words.
//   - kWrite: the ranges follow. After the answer the client sends all bytes, and the server
//     answers once more when they are in its memory, or as soon as they cannot be.
//   - kRead: the ranges follow. The server sends answers of SUCCESS, each with a piece of the
//     bytes, until all are sent, or one with another code.
//   - kNotify: name and message follow.
// The server closes the connection after any code other than SUCCESS that it sends when it has
// checked the ranges. Numbers are those of the host: both ends are on one.

enum class RequestKind : uint32_t { kWrite = 1, kRead = 2, kNotify = 3 };

struct Request {
    RequestKind kind;
    uint32_t count;  // of ranges; of bytes of a notify's name
    uint64_t bytes;  // of all ranges; of a notify's message
};

struct Answer {
    adxl::Status status;
    uint32_t bytes;  // that follow: a piece of a read, or words
};

constexpr size_t kMostRanges = 1 << 20;
constexpr size_t kMostNotifyBytes = 4096;  // of a name, and of a message
constexpr size_t kMostNotifies = 4096;     // that nobody has taken
constexpr size_t kMostWords = 1024;        // bytes of the words of an answer

struct Notify {
    std::string name;
    std::string message;
};

Io SendAnswer(const Channel& channel, const Outcome& outcome);
/// Receives an answer, and its words if its code is not SUCCESS.
Io ReceiveAnswer(const Channel& channel, Deadline until, Outcome* outcome, uint32_t* bytes);

}  // namespace advstep::transfer
