// SPDX-License-Identifier: Apache-2.0
// Every rank sends to every other one directly. A reduction divides the elements among the ranks:
// each gets the values of all ranks for its elements, reduces them in the order of the ranks, and
// sends the results on.

#include "src/hccl/collectives.h"

#include <algorithm>
#include <cstring>
#include <memory>

#include "src/hccl/data_type.h"
#include "src/hccl/reduction.h"

namespace advstep::hccl {
namespace {

// The host memory that a reduction takes: the values of all ranks of a block. Both are multiples of
// every size of an element, and the same on all ranks.
constexpr uint64_t kBlockBytes = uint64_t{16} << 20;
// Shorter ones go whole to all ranks, each of which reduces them: one exchange in place of two.
constexpr uint64_t kShortBytes = uint64_t{16} << 10;

// Memory without a value.
std::unique_ptr<char[]> Room(uint64_t bytes) {
    return std::unique_ptr<char[]>(new char[std::max<uint64_t>(bytes, 1)]);
}

void Copy(char* to, const char* from, uint64_t bytes) {
    if (bytes > 0 && to != from) {
        std::memmove(to, from, bytes);
    }
}

// The elements of `bytes` for each rank, as equal as can be.
Parts Divide(uint64_t bytes, uint32_t size, uint32_t ranks) {
    const uint64_t elements = bytes / size;
    Parts parts(ranks);
    uint64_t begin = 0;
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        const uint64_t mine = elements / ranks + (rank < elements % ranks ? 1 : 0);
        parts[rank] = {begin, mine * size};
        begin += mine * size;
    }
    return parts;
}

void ReduceInOrder(const Signature& signature, const std::vector<const char*>& values,
                   uint64_t bytes, char* result) {
    Copy(result, values[0], bytes);
    for (size_t rank = 1; rank < values.size(); ++rank) {
        Reduce(signature.type, signature.op, result, values[rank], bytes / SizeOf(signature.type));
    }
}

// Gives each rank its part of `from`, and reduces this rank's part of all into `result`, which may
// lie in `from`.
Outcome ReduceParts(const Signature& signature, const char* from, const Parts& parts,
                    Exchange* exchange, char* result) {
    const uint32_t own = exchange->rank();
    const uint64_t bytes = parts[own].bytes;
    const std::unique_ptr<char[]> room = Room(bytes * exchange->size());
    std::vector<const char*> values;
    for (uint32_t rank = 0; rank < exchange->size(); ++rank) {
        char* const value = room.get() + rank * bytes;
        values.push_back(value);
        if (rank == own) {
            Copy(value, from + parts[own].begin, bytes);
            continue;
        }
        exchange->Send(rank, from + parts[rank].begin, parts[rank].bytes);
        exchange->Receive(rank, value, bytes);
    }
    ADVSTEP_HCCL_TRY(exchange->Run());
    ReduceInOrder(signature, values, bytes, result);
    return {};
}

// Sends this rank's part to all, and gets theirs.
Outcome GatherParts(char* to, const Parts& parts, Exchange* exchange) {
    const uint32_t own = exchange->rank();
    for (uint32_t rank = 0; rank < exchange->size(); ++rank) {
        if (rank != own) {
            exchange->Send(rank, to + parts[own].begin, parts[own].bytes);
            exchange->Receive(rank, to + parts[rank].begin, parts[rank].bytes);
        }
    }
    return exchange->Run();
}

// All ranks get all values, for few bytes.
Outcome ReduceShort(const Collective& collective, Exchange* exchange, bool keeps) {
    const uint64_t bytes = collective.bytes;
    const std::unique_ptr<char[]> room = Room(bytes * exchange->size());
    std::vector<const char*> values;
    for (uint32_t rank = 0; rank < exchange->size(); ++rank) {
        char* const value = room.get() + rank * bytes;
        values.push_back(value);
        if (rank == exchange->rank()) {
            Copy(value, collective.sendBuf, bytes);
        } else {
            exchange->Send(rank, collective.sendBuf, bytes);
            exchange->Receive(rank, value, bytes);
        }
    }
    ADVSTEP_HCCL_TRY(exchange->Run());
    if (keeps) {
        ReduceInOrder(collective.signature, values, bytes, collective.recvBuf);
    }
    return {};
}

// Sends the reduced parts of a block to the root.
Outcome CollectAtRoot(const char* result, const Parts& parts, uint32_t root, char* to,
                      Exchange* exchange) {
    const uint32_t own = exchange->rank();
    if (own != root) {
        exchange->Send(root, result, parts[own].bytes);
        return exchange->Run();
    }
    for (uint32_t rank = 0; rank < exchange->size(); ++rank) {
        if (rank != root) {
            exchange->Receive(rank, to + parts[rank].begin, parts[rank].bytes);
        }
    }
    ADVSTEP_HCCL_TRY(exchange->Run());
    Copy(to + parts[root].begin, result, parts[root].bytes);
    return {};
}

}  // namespace

Outcome AllReduce(const Collective& collective, Exchange* exchange) {
    if (collective.bytes <= kShortBytes) {
        return ReduceShort(collective, exchange, true);
    }
    const uint32_t size = SizeOf(collective.signature.type);
    for (uint64_t begin = 0; begin < collective.bytes; begin += kBlockBytes) {
        const Parts parts =
            Divide(std::min(kBlockBytes, collective.bytes - begin), size, exchange->size());
        char* const to = collective.recvBuf + begin;
        ADVSTEP_HCCL_TRY(ReduceParts(collective.signature, collective.sendBuf + begin, parts,
                                     exchange, to + parts[exchange->rank()].begin));
        ADVSTEP_HCCL_TRY(GatherParts(to, parts, exchange));
    }
    return {};
}

Outcome ReduceToRoot(const Collective& collective, Exchange* exchange) {
    const uint32_t root = collective.signature.root;
    if (collective.bytes <= kShortBytes) {
        return ReduceShort(collective, exchange, exchange->rank() == root);
    }
    const uint32_t size = SizeOf(collective.signature.type);
    for (uint64_t begin = 0; begin < collective.bytes; begin += kBlockBytes) {
        const Parts parts =
            Divide(std::min(kBlockBytes, collective.bytes - begin), size, exchange->size());
        const std::unique_ptr<char[]> result = Room(parts[exchange->rank()].bytes);
        ADVSTEP_HCCL_TRY(ReduceParts(collective.signature, collective.sendBuf + begin, parts,
                                     exchange, result.get()));
        char* const to = exchange->rank() == root ? collective.recvBuf + begin : nullptr;
        ADVSTEP_HCCL_TRY(CollectAtRoot(result.get(), parts, root, to, exchange));
    }
    return {};
}

// In blocks, so that the values of all ranks do not fill the memory of the host. A block is a piece
// of each rank's part; a rank whose part is at its end has an empty piece.
Outcome ReduceScatter(const Collective& collective, Exchange* exchange) {
    const uint64_t piece = std::max(kBlockBytes / exchange->size() / 64 * 64, uint64_t{64});
    uint64_t longest = 0;
    for (const Part& part : collective.sent) {
        longest = std::max(longest, part.bytes);
    }
    const uint64_t own = collective.sent[exchange->rank()].bytes;
    // The result may lie in sendBuf, in this rank's part, of which later pieces are still to be
    // read.
    for (uint64_t begin = 0; begin == 0 || begin < longest; begin += piece) {
        Parts parts = collective.sent;
        for (Part& part : parts) {
            const uint64_t at = std::min(begin, part.bytes);
            part = {part.begin + at, std::min(piece, part.bytes - at)};
        }
        ADVSTEP_HCCL_TRY(ReduceParts(collective.signature, collective.sendBuf, parts, exchange,
                                     collective.recvBuf + std::min(begin, own)));
    }
    return {};
}

Outcome AllGather(const Collective& collective, Exchange* exchange) {
    const Part& own = collective.received[exchange->rank()];
    Copy(collective.recvBuf + own.begin, collective.sendBuf, own.bytes);
    return GatherParts(collective.recvBuf, collective.received, exchange);
}

// Lets the root send to each other rank, and the others receive.
template <typename SendTo>
Outcome FromRoot(const Collective& collective, Exchange* exchange, const SendTo& sendTo) {
    const uint32_t root = collective.signature.root;
    if (exchange->rank() != root) {
        exchange->Receive(root, collective.recvBuf, collective.bytes);
        return exchange->Run();
    }
    for (uint32_t rank = 0; rank < exchange->size(); ++rank) {
        if (rank != root) {
            sendTo(rank);
        }
    }
    return exchange->Run();
}

Outcome Broadcast(const Collective& collective, Exchange* exchange) {
    return FromRoot(collective, exchange, [&](uint32_t rank) {
        exchange->Send(rank, collective.recvBuf, collective.bytes);
    });
}

Outcome Scatter(const Collective& collective, Exchange* exchange) {
    ADVSTEP_HCCL_TRY(FromRoot(collective, exchange, [&](uint32_t rank) {
        exchange->Send(rank, collective.sendBuf + collective.sent[rank].begin,
                       collective.sent[rank].bytes);
    }));
    if (const uint32_t root = collective.signature.root; exchange->rank() == root) {
        const Part& own = collective.sent[root];
        Copy(collective.recvBuf, collective.sendBuf + own.begin, own.bytes);
    }
    return {};
}

Outcome AllToAll(const Collective& collective, Exchange* exchange) {
    const uint32_t own = exchange->rank();
    for (uint32_t rank = 0; rank < exchange->size(); ++rank) {
        if (rank != own) {
            exchange->Send(rank, collective.sendBuf + collective.sent[rank].begin,
                           collective.sent[rank].bytes);
            exchange->Receive(rank, collective.recvBuf + collective.received[rank].begin,
                              collective.received[rank].bytes);
        }
    }
    ADVSTEP_HCCL_TRY(exchange->Run());
    Copy(collective.recvBuf + collective.received[own].begin,
         collective.sendBuf + collective.sent[own].begin, collective.sent[own].bytes);
    return {};
}

Outcome Barrier(const Collective&, Exchange* exchange) {
    for (uint32_t rank = 0; rank < exchange->size(); ++rank) {
        if (rank != exchange->rank()) {
            exchange->Send(rank, nullptr, 0);
            exchange->Receive(rank, nullptr, 0);
        }
    }
    return exchange->Run();
}

}  // namespace advstep::hccl
