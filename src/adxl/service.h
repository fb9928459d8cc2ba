// SPDX-License-Identifier: Apache-2.0
// The server's side of a connection.

#pragma once

#include <mutex>
#include <vector>

#include "src/adxl/wire.h"

namespace advstep::transfer {

/// Messages that other engines have sent, until they are taken.
class Inbox {
 public:
    /// False: it is full.
    bool Put(Notify notify);
    std::vector<Notify> Take();

 private:
    std::mutex mutex_;  // guards the messages; no lock is taken under it
    std::vector<Notify> notifies_;
};

/// Serves the requests of one client until the connection ends.
class Service {
 public:
    Service(const Channel& channel, RegisteredMemory& memory, Inbox& inbox)
        : channel_(channel), memory_(memory), inbox_(inbox) {}

    void Run();

 private:
    // Each returns whether the connection goes on.
    bool ServeTransfer(const Request& request);
    bool ServeNotify(const Request& request);

    bool ReceiveRanges(const Request& request);
    Outcome CheckRanges(const Request& request);
    bool TakeBytes(uint64_t bytes);
    bool GiveBytes(uint64_t bytes);

    const Channel& channel_;
    RegisteredMemory& memory_;
    Inbox& inbox_;
    std::vector<Range> ranges_;  // of the current request
    std::vector<char> piece_;
};

}  // namespace advstep::transfer
