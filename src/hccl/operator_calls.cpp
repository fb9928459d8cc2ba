// SPDX-License-Identifier: Apache-2.0
// The calls of hccl.h: each checks its arguments, says what is to be exchanged, and queues it.

#include <algorithm>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "hccl/hccl.h"
#include "src/hccl/communicators.h"
#include "src/hccl/data_type.h"
#include "src/hccl/operation.h"
#include "src/hccl/operation_group.h"

using namespace advstep::hccl;

namespace {

constexpr uint64_t kMostBytes = uint64_t{1} << 46;  // more than any device has

Outcome BytesOf(const std::string& argument, uint64_t count, HcclDataType type, uint64_t* bytes) {
    const uint32_t size = SizeOf(type);
    if (count > kMostBytes / size) {
        return Error(HCCL_E_PARA, argument, " is ", count, "; expected at most ",
                     kMostBytes / size);
    }
    *bytes = count * size;
    return {};
}

Outcome CheckRank(const char* argument, uint32_t rank, const Communicator& communicator) {
    return rank < communicator.size() ? Outcome{}
                                      : Error(HCCL_E_PARA, argument, " is ", rank,
                                              "; expected a rank less than ", communicator.size());
}

// Queues an operator, or leaves that to the end of the thread's group.
Outcome QueueOrHold(std::unique_ptr<Operation> operation, aclrtStream stream) {
    if (!OperationGroup::IsOpen()) {
        return Operation::Launch(std::move(operation), stream);
    }
    ADVSTEP_HCCL_TRY(operation->CheckLaunch(stream));
    OperationGroup::Hold(std::move(operation), stream);
    return {};
}

// Refuses ranges that overlap, unless it is the overlap that the call allows.
Outcome CheckApart(const void* send, uint64_t sendBytes, const void* recv, uint64_t recvBytes,
                   bool allowed) {
    const auto one = reinterpret_cast<uintptr_t>(send);
    const auto other = reinterpret_cast<uintptr_t>(recv);
    if (allowed || sendBytes == 0 || recvBytes == 0 || one + sendBytes <= other ||
        other + recvBytes <= one) {
        return {};
    }
    return {HCCL_E_PARA, "sendBuf and recvBuf overlap; expected memory of their own"};
}

// Returns whether a buffer is the part of another one that begins there.
bool IsAt(const void* buffer, const void* other, uint64_t begin) {
    return reinterpret_cast<uintptr_t>(buffer) == reinterpret_cast<uintptr_t>(other) + begin;
}

// Equal parts, one behind another.
Parts EqualParts(uint64_t bytes, uint32_t ranks) {
    Parts parts(ranks);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        parts[rank] = {rank * bytes, bytes};
    }
    return parts;
}

uint64_t EndOf(const Parts& parts) {
    uint64_t end = 0;
    for (const Part& part : parts) {
        end = part.bytes > 0 ? std::max(end, part.begin + part.bytes) : end;
    }
    return end;
}

// Returns whether there are bytes between the parts.
bool HasGaps(const Parts& parts) {
    uint64_t bytes = 0;
    for (const Part& part : parts) {
        bytes += part.bytes;
    }
    return bytes < EndOf(parts);
}

// A list of the caller with an entry for each rank: where the parts begin (null: one behind
// another) and how long they are.
struct PartLists {
    const char* counts;
    const void* countList;
    const char* displs;
    const void* displList;
};

Outcome ReadParts(const PartLists& lists, HcclDataType type, uint32_t ranks, Parts* parts) {
    if (lists.countList == nullptr) {
        return Null(lists.counts);
    }
    if (lists.displList == nullptr) {
        return Null(lists.displs);
    }
    parts->resize(ranks);
    for (uint32_t rank = 0; rank < ranks; ++rank) {
        Part& part = (*parts)[rank];
        ADVSTEP_HCCL_TRY(BytesOf(Text(lists.counts, "[", rank, "]"),
                                 static_cast<const uint64_t*>(lists.countList)[rank], type,
                                 &part.bytes));
        ADVSTEP_HCCL_TRY(BytesOf(Text(lists.displs, "[", rank, "]"),
                                 static_cast<const uint64_t*>(lists.displList)[rank], type,
                                 &part.begin));
    }
    return {};
}

// Parts that are written.
Outcome CheckPartsApart(const PartLists& lists, Parts parts) {
    std::sort(parts.begin(), parts.end(), [](const Part& one, const Part& other) {
        return one.begin != other.begin ? one.begin < other.begin : one.bytes < other.bytes;
    });
    for (size_t i = 1; i < parts.size(); ++i) {
        if (parts[i].bytes > 0 && parts[i - 1].begin + parts[i - 1].bytes > parts[i].begin) {
            return Error(HCCL_E_PARA, "parts of ", lists.counts, " and ", lists.displs,
                         " overlap; expected each part of recvBuf for itself");
        }
    }
    return {};
}

using Shared = std::shared_ptr<Communicator>;

// Begins a collective: finds the communicator, and checks type and operation.
Outcome BeginCollective(const char* call, Algorithm algorithm, HcclComm comm, HcclDataType type,
                        Handling handling, std::unique_ptr<CollectiveOperation>* operation) {
    Shared communicator;
    ADVSTEP_HCCL_TRY(FindCommunicator(comm, &communicator));
    ADVSTEP_HCCL_TRY(CheckType("dataType", type, handling));
    *operation = std::make_unique<CollectiveOperation>(std::move(communicator), call, algorithm);
    (*operation)->collective.signature.type = type;
    return {};
}

void SetBuffers(CollectiveOperation* operation, const void* sendBuf, const void* recvBuf) {
    operation->collective.sendBuf = const_cast<char*>(static_cast<const char*>(sendBuf));
    operation->collective.recvBuf = const_cast<char*>(static_cast<const char*>(recvBuf));
}

// The end of every call of a collective that reads sendBuf and writes recvBuf.
Outcome LaunchBetween(std::unique_ptr<CollectiveOperation> operation, uint64_t sendBytes,
                      uint64_t recvBytes, aclrtStream stream) {
    const Collective& collective = operation->collective;
    ADVSTEP_HCCL_TRY(
        operation->Reads("sendBuf", collective.sendBuf, sendBytes, HasGaps(collective.sent)));
    ADVSTEP_HCCL_TRY(
        operation->Writes("recvBuf", collective.recvBuf, recvBytes, HasGaps(collective.received)));
    return QueueOrHold(std::move(operation), stream);
}

Outcome LaunchAllToAll(std::unique_ptr<CollectiveOperation> operation, aclrtStream stream) {
    Collective& collective = operation->collective;
    const uint64_t sendBytes = EndOf(collective.sent);
    const uint64_t recvBytes = EndOf(collective.received);
    const uint32_t own = operation->communicator().rank();
    if (collective.sent[own].bytes != collective.received[own].bytes) {
        return Error(HCCL_E_PARA, "this rank ", own, " sends ", collective.sent[own].bytes,
                     " bytes to itself and receives ", collective.received[own].bytes,
                     "; expected the same");
    }
    ADVSTEP_HCCL_TRY(
        CheckApart(collective.sendBuf, sendBytes, collective.recvBuf, recvBytes, false));
    return LaunchBetween(std::move(operation), sendBytes, recvBytes, stream);
}

Outcome LaunchReduceScatter(std::unique_ptr<CollectiveOperation> operation, aclrtStream stream) {
    Collective& collective = operation->collective;
    const Part& own = collective.sent[operation->communicator().rank()];
    const uint64_t sendBytes = EndOf(collective.sent);
    ADVSTEP_HCCL_TRY(CheckApart(collective.sendBuf, sendBytes, collective.recvBuf, own.bytes,
                                IsAt(collective.recvBuf, collective.sendBuf, own.begin)));
    return LaunchBetween(std::move(operation), sendBytes, own.bytes, stream);
}

Outcome LaunchAllGather(std::unique_ptr<CollectiveOperation> operation, aclrtStream stream) {
    Collective& collective = operation->collective;
    const Part& own = collective.received[operation->communicator().rank()];
    const uint64_t recvBytes = EndOf(collective.received);
    ADVSTEP_HCCL_TRY(CheckApart(collective.sendBuf, own.bytes, collective.recvBuf, recvBytes,
                                IsAt(collective.sendBuf, collective.recvBuf, own.begin)));
    return LaunchBetween(std::move(operation), own.bytes, recvBytes, stream);
}

// A single message.
Outcome LaunchMessage(const char* call, const char* buffer, const char* peer,
                      const MessageOperation::Item& item, HcclComm comm, aclrtStream stream) {
    Shared communicator;
    ADVSTEP_HCCL_TRY(FindCommunicator(comm, &communicator));
    ADVSTEP_HCCL_TRY(CheckType("dataType", item.type, Handling::kCopies));
    ADVSTEP_HCCL_TRY(CheckRank(peer, item.rank, *communicator));
    if (item.rank == communicator->rank()) {
        return Error(HCCL_E_PARA, peer, " is ", item.rank,
                     ", this rank; expected another one, or HcclBatchSendRecv");
    }
    uint64_t bytes = 0;
    ADVSTEP_HCCL_TRY(BytesOf("count", item.count, item.type, &bytes));
    auto operation = std::make_unique<MessageOperation>(communicator, call);
    operation->items.push_back(item);
    ADVSTEP_HCCL_TRY(item.sends ? operation->Reads(buffer, item.buffer, bytes)
                                : operation->Writes(buffer, item.buffer, bytes));
    return QueueOrHold(std::move(operation), stream);
}

Outcome AddItem(const HcclSendRecvItem& given, uint32_t index, MessageOperation* operation) {
    const std::string name = Text("sendRecvInfo[", index, "].");
    const int direction = static_cast<int>(given.sendRecvType);
    if (direction != HCCL_SEND && direction != HCCL_RECV) {
        return Error(HCCL_E_PARA, name, "sendRecvType is ", direction,
                     "; expected HCCL_SEND 0 or HCCL_RECV 1");
    }
    ADVSTEP_HCCL_TRY(CheckType((name + "dataType").c_str(), given.dataType, Handling::kCopies));
    ADVSTEP_HCCL_TRY(
        CheckRank((name + "remoteRank").c_str(), given.remoteRank, operation->communicator()));
    uint64_t bytes = 0;
    ADVSTEP_HCCL_TRY(BytesOf(name + "count", given.count, given.dataType, &bytes));
    const bool sends = direction == HCCL_SEND;
    const std::string buffer = name + "buf";
    ADVSTEP_HCCL_TRY(sends ? operation->Reads(buffer.c_str(), given.buf, bytes)
                           : operation->Writes(buffer.c_str(), given.buf, bytes));
    operation->items.push_back(
        {sends, static_cast<char*>(given.buf), given.count, given.dataType, given.remoteRank});
    return {};
}

// What a rank sends to itself, it receives in the same call.
Outcome CheckOwnItems(const MessageOperation& operation) {
    std::vector<uint64_t> sent;
    std::vector<uint64_t> received;
    for (const MessageOperation::Item& item : operation.items) {
        if (item.rank == operation.communicator().rank()) {
            (item.sends ? sent : received).push_back(item.bytes());
        }
    }
    return sent == received
               ? Outcome{}
               : Outcome{HCCL_E_PARA,
                         "what this rank sends to itself is not what it receives from itself; "
                         "expected as many items of the same bytes"};
}

}  // namespace

HcclResult HcclAllReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType,
                         HcclReduceOp op, HcclComm comm, aclrtStream stream) {
    return Boundary("HcclAllReduce", [&]() -> Outcome {
        std::unique_ptr<CollectiveOperation> operation;
        ADVSTEP_HCCL_TRY(BeginCollective("HcclAllReduce", &AllReduce, comm, dataType,
                                         Handling::kReduces, &operation));
        ADVSTEP_HCCL_TRY(CheckOp(op));
        Collective& collective = operation->collective;
        ADVSTEP_HCCL_TRY(BytesOf("count", count, dataType, &collective.bytes));
        ADVSTEP_HCCL_TRY(
            CheckApart(sendBuf, collective.bytes, recvBuf, collective.bytes, sendBuf == recvBuf));
        collective.signature.op = op;
        collective.signature.count = count;
        SetBuffers(operation.get(), sendBuf, recvBuf);
        const uint64_t bytes = collective.bytes;
        return LaunchBetween(std::move(operation), bytes, bytes, stream);
    });
}

HcclResult HcclBroadcast(void* buf, uint64_t count, HcclDataType dataType, uint32_t root,
                         HcclComm comm, aclrtStream stream) {
    return Boundary("HcclBroadcast", [&]() -> Outcome {
        std::unique_ptr<CollectiveOperation> operation;
        ADVSTEP_HCCL_TRY(BeginCollective("HcclBroadcast", &Broadcast, comm, dataType,
                                         Handling::kCopies, &operation));
        const Communicator& communicator = operation->communicator();
        ADVSTEP_HCCL_TRY(CheckRank("root", root, communicator));
        Collective& collective = operation->collective;
        ADVSTEP_HCCL_TRY(BytesOf("count", count, dataType, &collective.bytes));
        collective.signature.root = root;
        collective.signature.count = count;
        SetBuffers(operation.get(), buf, buf);
        ADVSTEP_HCCL_TRY(communicator.rank() == root
                             ? operation->Reads("buf", buf, collective.bytes)
                             : operation->Writes("buf", buf, collective.bytes));
        return QueueOrHold(std::move(operation), stream);
    });
}

HcclResult HcclReduceScatter(void* sendBuf, void* recvBuf, uint64_t recvCount,
                             HcclDataType dataType, HcclReduceOp op, HcclComm comm,
                             aclrtStream stream) {
    return Boundary("HcclReduceScatter", [&]() -> Outcome {
        std::unique_ptr<CollectiveOperation> operation;
        ADVSTEP_HCCL_TRY(BeginCollective("HcclReduceScatter", &ReduceScatter, comm, dataType,
                                         Handling::kReduces, &operation));
        ADVSTEP_HCCL_TRY(CheckOp(op));
        Collective& collective = operation->collective;
        uint64_t bytes = 0;
        ADVSTEP_HCCL_TRY(BytesOf("recvCount", recvCount, dataType, &bytes));
        collective.signature.op = op;
        collective.signature.count = recvCount;
        collective.sent = EqualParts(bytes, operation->communicator().size());
        SetBuffers(operation.get(), sendBuf, recvBuf);
        return LaunchReduceScatter(std::move(operation), stream);
    });
}

HcclResult HcclReduceScatterV(void* sendBuf, const void* sendCounts, const void* sendDispls,
                              void* recvBuf, uint64_t recvCount, HcclDataType dataType,
                              HcclReduceOp op, HcclComm comm, aclrtStream stream) {
    return Boundary("HcclReduceScatterV", [&]() -> Outcome {
        std::unique_ptr<CollectiveOperation> operation;
        ADVSTEP_HCCL_TRY(BeginCollective("HcclReduceScatterV", &ReduceScatter, comm, dataType,
                                         Handling::kReducesV, &operation));
        ADVSTEP_HCCL_TRY(CheckOp(op));
        Collective& collective = operation->collective;
        const Communicator& communicator = operation->communicator();
        ADVSTEP_HCCL_TRY(ReadParts({"sendCounts", sendCounts, "sendDispls", sendDispls}, dataType,
                                   communicator.size(), &collective.sent));
        const uint64_t own = static_cast<const uint64_t*>(sendCounts)[communicator.rank()];
        if (recvCount != own) {
            return Error(HCCL_E_PARA, "recvCount is ", recvCount, "; expected sendCounts[",
                         communicator.rank(), "] = ", own);
        }
        collective.signature.op = op;
        SetBuffers(operation.get(), sendBuf, recvBuf);
        return LaunchReduceScatter(std::move(operation), stream);
    });
}

HcclResult HcclAllGather(void* sendBuf, void* recvBuf, uint64_t sendCount, HcclDataType dataType,
                         HcclComm comm, aclrtStream stream) {
    return Boundary("HcclAllGather", [&]() -> Outcome {
        std::unique_ptr<CollectiveOperation> operation;
        ADVSTEP_HCCL_TRY(BeginCollective("HcclAllGather", &AllGather, comm, dataType,
                                         Handling::kCopies, &operation));
        uint64_t bytes = 0;
        ADVSTEP_HCCL_TRY(BytesOf("sendCount", sendCount, dataType, &bytes));
        operation->collective.signature.count = sendCount;
        operation->collective.received = EqualParts(bytes, operation->communicator().size());
        SetBuffers(operation.get(), sendBuf, recvBuf);
        return LaunchAllGather(std::move(operation), stream);
    });
}

HcclResult HcclAllGatherV(void* sendBuf, uint64_t sendCount, void* recvBuf, const void* recvCounts,
                          const void* recvDispls, HcclDataType dataType, HcclComm comm,
                          aclrtStream stream) {
    return Boundary("HcclAllGatherV", [&]() -> Outcome {
        std::unique_ptr<CollectiveOperation> operation;
        ADVSTEP_HCCL_TRY(BeginCollective("HcclAllGatherV", &AllGather, comm, dataType,
                                         Handling::kCopies, &operation));
        Collective& collective = operation->collective;
        const Communicator& communicator = operation->communicator();
        const PartLists lists{"recvCounts", recvCounts, "recvDispls", recvDispls};
        ADVSTEP_HCCL_TRY(ReadParts(lists, dataType, communicator.size(), &collective.received));
        ADVSTEP_HCCL_TRY(CheckPartsApart(lists, collective.received));
        const uint64_t own = static_cast<const uint64_t*>(recvCounts)[communicator.rank()];
        if (sendCount != own) {
            return Error(HCCL_E_PARA, "sendCount is ", sendCount, "; expected recvCounts[",
                         communicator.rank(), "] = ", own);
        }
        SetBuffers(operation.get(), sendBuf, recvBuf);
        return LaunchAllGather(std::move(operation), stream);
    });
}

HcclResult HcclReduce(void* sendBuf, void* recvBuf, uint64_t count, HcclDataType dataType,
                      HcclReduceOp op, uint32_t root, HcclComm comm, aclrtStream stream) {
    return Boundary("HcclReduce", [&]() -> Outcome {
        std::unique_ptr<CollectiveOperation> operation;
        ADVSTEP_HCCL_TRY(BeginCollective("HcclReduce", &ReduceToRoot, comm, dataType,
                                         Handling::kReduces, &operation));
        ADVSTEP_HCCL_TRY(CheckOp(op));
        const Communicator& communicator = operation->communicator();
        ADVSTEP_HCCL_TRY(CheckRank("root", root, communicator));
        Collective& collective = operation->collective;
        ADVSTEP_HCCL_TRY(BytesOf("count", count, dataType, &collective.bytes));
        const uint64_t bytes = collective.bytes;
        const uint64_t recvBytes = communicator.rank() == root ? bytes : 0;
        ADVSTEP_HCCL_TRY(CheckApart(sendBuf, bytes, recvBuf, recvBytes, sendBuf == recvBuf));
        collective.signature.op = op;
        collective.signature.root = root;
        collective.signature.count = count;
        SetBuffers(operation.get(), sendBuf, recvBuf);
        return LaunchBetween(std::move(operation), bytes, recvBytes, stream);
    });
}

HcclResult HcclScatter(void* sendBuf, void* recvBuf, uint64_t recvCount, HcclDataType dataType,
                       uint32_t root, HcclComm comm, aclrtStream stream) {
    return Boundary("HcclScatter", [&]() -> Outcome {
        std::unique_ptr<CollectiveOperation> operation;
        ADVSTEP_HCCL_TRY(BeginCollective("HcclScatter", &Scatter, comm, dataType, Handling::kCopies,
                                         &operation));
        const Communicator& communicator = operation->communicator();
        ADVSTEP_HCCL_TRY(CheckRank("root", root, communicator));
        Collective& collective = operation->collective;
        ADVSTEP_HCCL_TRY(BytesOf("recvCount", recvCount, dataType, &collective.bytes));
        const uint64_t bytes = collective.bytes;
        collective.sent = EqualParts(bytes, communicator.size());
        collective.signature.root = root;
        collective.signature.count = recvCount;
        SetBuffers(operation.get(), sendBuf, recvBuf);
        const uint64_t sendBytes = communicator.rank() == root ? EndOf(collective.sent) : 0;
        ADVSTEP_HCCL_TRY(CheckApart(sendBuf, sendBytes, recvBuf, bytes,
                                    IsAt(collective.recvBuf, collective.sendBuf, root * bytes)));
        return LaunchBetween(std::move(operation), sendBytes, bytes, stream);
    });
}

HcclResult HcclAlltoAll(const void* sendBuf, uint64_t sendCount, HcclDataType sendType,
                        const void* recvBuf, uint64_t recvCount, HcclDataType recvType,
                        HcclComm comm, aclrtStream stream) {
    return Boundary("HcclAlltoAll", [&]() -> Outcome {
        std::unique_ptr<CollectiveOperation> operation;
        ADVSTEP_HCCL_TRY(CheckType("sendType", sendType, Handling::kCopies));
        ADVSTEP_HCCL_TRY(CheckType("recvType", recvType, Handling::kCopies));
        ADVSTEP_HCCL_TRY(BeginCollective("HcclAlltoAll", &AllToAll, comm, HCCL_DATA_TYPE_INT8,
                                         Handling::kCopies, &operation));
        uint64_t sendBytes = 0;
        uint64_t recvBytes = 0;
        ADVSTEP_HCCL_TRY(BytesOf("sendCount", sendCount, sendType, &sendBytes));
        ADVSTEP_HCCL_TRY(BytesOf("recvCount", recvCount, recvType, &recvBytes));
        if (sendBytes != recvBytes) {
            return Error(HCCL_E_PARA, "recvCount is ", recvCount, " of ", NameOf(recvType),
                         "; expected the ", sendBytes, " bytes of sendCount");
        }
        const uint32_t ranks = operation->communicator().size();
        operation->collective.signature.count = sendBytes;
        operation->collective.sent = EqualParts(sendBytes, ranks);
        operation->collective.received = EqualParts(recvBytes, ranks);
        SetBuffers(operation.get(), sendBuf, recvBuf);
        return LaunchAllToAll(std::move(operation), stream);
    });
}

HcclResult HcclAlltoAllV(const void* sendBuf, const void* sendCounts, const void* sdispls,
                         HcclDataType sendType, const void* recvBuf, const void* recvCounts,
                         const void* rdispls, HcclDataType recvType, HcclComm comm,
                         aclrtStream stream) {
    return Boundary("HcclAlltoAllV", [&]() -> Outcome {
        std::unique_ptr<CollectiveOperation> operation;
        ADVSTEP_HCCL_TRY(CheckType("sendType", sendType, Handling::kCopies));
        ADVSTEP_HCCL_TRY(CheckType("recvType", recvType, Handling::kCopies));
        ADVSTEP_HCCL_TRY(BeginCollective("HcclAlltoAllV", &AllToAll, comm, HCCL_DATA_TYPE_INT8,
                                         Handling::kCopies, &operation));
        const uint32_t ranks = operation->communicator().size();
        const PartLists received{"recvCounts", recvCounts, "rdispls", rdispls};
        ADVSTEP_HCCL_TRY(ReadParts({"sendCounts", sendCounts, "sdispls", sdispls}, sendType, ranks,
                                   &operation->collective.sent));
        ADVSTEP_HCCL_TRY(ReadParts(received, recvType, ranks, &operation->collective.received));
        ADVSTEP_HCCL_TRY(CheckPartsApart(received, operation->collective.received));
        SetBuffers(operation.get(), sendBuf, recvBuf);
        return LaunchAllToAll(std::move(operation), stream);
    });
}

HcclResult HcclAlltoAllVC(const void* sendBuf, const void* sendCountMatrix, HcclDataType sendType,
                          const void* recvBuf, HcclDataType recvType, HcclComm comm,
                          aclrtStream stream) {
    return Boundary("HcclAlltoAllVC", [&]() -> Outcome {
        std::unique_ptr<CollectiveOperation> operation;
        ADVSTEP_HCCL_TRY(CheckType("sendType", sendType, Handling::kCopies));
        ADVSTEP_HCCL_TRY(CheckType("recvType", recvType, Handling::kCopies));
        ADVSTEP_HCCL_TRY(BeginCollective("HcclAlltoAllVC", &AllToAll, comm, sendType,
                                         Handling::kCopies, &operation));
        if (sendCountMatrix == nullptr) {
            return Null("sendCountMatrix");
        }
        const auto* const matrix = static_cast<const uint64_t*>(sendCountMatrix);
        const uint64_t ranks = operation->communicator().size();
        const uint64_t own = operation->communicator().rank();
        Collective& collective = operation->collective;
        collective.sent.resize(ranks);
        collective.received.resize(ranks);
        for (uint64_t rank = 0, sent = 0, received = 0; rank < ranks; ++rank) {
            Part& to = collective.sent[rank];
            Part& from = collective.received[rank];
            ADVSTEP_HCCL_TRY(BytesOf(Text("sendCountMatrix[", own * ranks + rank, "]"),
                                     matrix[own * ranks + rank], sendType, &to.bytes));
            ADVSTEP_HCCL_TRY(BytesOf(Text("sendCountMatrix[", rank * ranks + own, "]"),
                                     matrix[rank * ranks + own], sendType, &from.bytes));
            to.begin = std::exchange(sent, sent + to.bytes);
            from.begin = std::exchange(received, received + from.bytes);
        }
        SetBuffers(operation.get(), sendBuf, recvBuf);
        return LaunchAllToAll(std::move(operation), stream);
    });
}

HcclResult HcclSend(void* sendBuf, uint64_t count, HcclDataType dataType, uint32_t destRank,
                    HcclComm comm, aclrtStream stream) {
    return Boundary("HcclSend", [&] {
        return LaunchMessage("HcclSend", "sendBuf", "destRank",
                             {true, static_cast<char*>(sendBuf), count, dataType, destRank}, comm,
                             stream);
    });
}

HcclResult HcclRecv(void* recvBuf, uint64_t count, HcclDataType dataType, uint32_t srcRank,
                    HcclComm comm, aclrtStream stream) {
    return Boundary("HcclRecv", [&] {
        return LaunchMessage("HcclRecv", "recvBuf", "srcRank",
                             {false, static_cast<char*>(recvBuf), count, dataType, srcRank}, comm,
                             stream);
    });
}

HcclResult HcclBatchSendRecv(HcclSendRecvItem* sendRecvInfo, uint32_t itemNum, HcclComm comm,
                             aclrtStream stream) {
    return Boundary("HcclBatchSendRecv", [&]() -> Outcome {
        Shared communicator;
        ADVSTEP_HCCL_TRY(FindCommunicator(comm, &communicator));
        if (sendRecvInfo == nullptr) {
            return Null("sendRecvInfo");
        }
        if (itemNum == 0) {
            return {HCCL_E_PARA, "itemNum is 0; expected at least 1"};
        }
        auto operation =
            std::make_unique<MessageOperation>(std::move(communicator), "HcclBatchSendRecv");
        for (uint32_t i = 0; i < itemNum; ++i) {
            ADVSTEP_HCCL_TRY(AddItem(sendRecvInfo[i], i, operation.get()));
        }
        ADVSTEP_HCCL_TRY(CheckOwnItems(*operation));
        return QueueOrHold(std::move(operation), stream);
    });
}

HcclResult HcclBarrier(HcclComm comm, aclrtStream stream) {
    return Boundary("HcclBarrier", [&]() -> Outcome {
        std::unique_ptr<CollectiveOperation> operation;
        ADVSTEP_HCCL_TRY(BeginCollective("HcclBarrier", &Barrier, comm, HCCL_DATA_TYPE_INT8,
                                         Handling::kCopies, &operation));
        return QueueOrHold(std::move(operation), stream);
    });
}
