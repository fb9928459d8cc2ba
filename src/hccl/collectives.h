// SPDX-License-Identifier: Apache-2.0
// The algorithms of collectives. Each reduces in the order of the ranks.

#pragma once

#include <cstdint>
#include <vector>

#include "src/hccl/exchange.h"

namespace advstep::hccl {

/// A part of a buffer that belongs to one rank.
struct Part {
    uint64_t begin = 0;  // bytes from the start of the buffer
    uint64_t bytes = 0;
};
using Parts = std::vector<Part>;

/// A collective of this rank. Which of the members an algorithm uses is its own matter; `sent` and
/// `received` have a part for each rank.
struct Collective {
    Signature signature;
    char* sendBuf = nullptr;
    char* recvBuf = nullptr;
    uint64_t bytes = 0;  // of the whole, if there are no parts
    Parts sent;
    Parts received;
};

/// Runs a collective on this rank, with the exchange of an operator that has begun.
using Algorithm = Outcome (*)(const Collective& collective, Exchange* exchange);

/// recvBuf of all ranks = the reduction of bytes of sendBuf.
Outcome AllReduce(const Collective& collective, Exchange* exchange);
/// The same for the root only.
Outcome ReduceToRoot(const Collective& collective, Exchange* exchange);
/// recvBuf = the reduction of the rank's own one of the parts `sent`.
Outcome ReduceScatter(const Collective& collective, Exchange* exchange);
/// The parts `received` of recvBuf = sendBuf of all ranks.
Outcome AllGather(const Collective& collective, Exchange* exchange);
/// bytes of recvBuf = those of the root.
Outcome Broadcast(const Collective& collective, Exchange* exchange);
/// recvBuf = the part `sent` of the root's sendBuf, bytes of it.
Outcome Scatter(const Collective& collective, Exchange* exchange);
/// The part `sent` for each rank goes to its part `received` for this one.
Outcome AllToAll(const Collective& collective, Exchange* exchange);
/// Ends when all ranks have begun.
Outcome Barrier(const Collective& collective, Exchange* exchange);

}  // namespace advstep::hccl
