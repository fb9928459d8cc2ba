// SPDX-License-Identifier: Apache-2.0
// The names of engines: an address and a port.

#pragma once

#include <netinet/in.h>
#include <sys/socket.h>

#include <cstdint>
#include <string>

#include "src/adxl/outcome.h"

namespace advstep::transfer {

/// An engine's name, which is the same for all spellings of an address.
struct EngineName {
    std::string text;         // as programs write it
    uint64_t words[3] = {};   // the address as IPv6 has it, and the port
    sockaddr_storage socket;  // address and port
    socklen_t bytes = 0;      // of `socket`

    bool HasPort() const { return words[2] != 0; }

    /// Reads "ip:port" or "ip"; IPv6 in brackets. `argument` is what messages call the text.
    static Outcome Read(const char* argument, const std::string& text, EngineName* name);
};

}  // namespace advstep::transfer
