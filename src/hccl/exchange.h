// SPDX-License-Identifier: Apache-2.0
// Messages of an operator between this rank and others.

#pragma once

#include <cstdint>
#include <deque>
#include <memory>
#include <string>
#include <vector>

#include "src/hccl/communicator.h"

namespace advstep::hccl {

/// What an operator is, as it says to the other ranks with each message. Those compare it with
/// their own, so that operators of different order or size are an error, and not wrong data.
struct Signature {
    const char* call = nullptr;  // static text, which is compared; "": a message between two ranks
    HcclDataType type = HCCL_DATA_TYPE_INT8;
    HcclReduceOp op = HCCL_REDUCE_SUM;
    uint32_t root = 0;
    uint64_t count = 0;  // elements, if it is the same on all ranks; else 0
};

/// The messages of one operator, which has entered its channels. Messages to a rank arrive in the
/// order in which they were added.
class Exchange {
 public:
    Exchange(Communicator* communicator, Line line, const Deadline& deadline)
        : communicator_(*communicator), line_(line), deadline_(deadline) {}

    /// The number of messages that follow: of a collective the same for all.
    void Begin(const Signature& signature);

    void Send(uint32_t rank, const void* data, uint64_t bytes);
    void Receive(uint32_t rank, void* data, uint64_t bytes);

    /// Sends and receives all that was added. HCCL_E_REMOTE: a rank has ended or failed.
    /// HCCL_E_TIMEOUT, HCCL_E_PARA: another rank runs another operator. The first failure of the
    /// communicator: another thread has noticed it.
    Outcome Run();

    uint32_t rank() const { return communicator_.rank(); }
    uint32_t size() const { return communicator_.size(); }

 private:
    struct Head {
        uint32_t magic;
        uint32_t type;
        uint32_t op;
        uint32_t root;
        uint32_t part;
        uint32_t reserved;
        uint64_t number;
        uint64_t count;
        uint64_t bytes;
        char call[24];
    };

    struct Message {
        Head head;  // of what is sent, or what is expected
        Head got;   // what has come
        char* data;
        uint64_t done;  // bytes, with those of the head
    };

    struct Flow {
        uint32_t rank;
        bool sends;
        std::deque<Message> messages;
    };

    Flow& FlowOf(uint32_t rank, bool sends);
    void Add(uint32_t rank, bool sends, char* data, uint64_t bytes);
    Outcome Advance(Flow* flow, bool* moved);
    int64_t MoveHead(const Flow& flow, Message* message) const;
    int64_t MoveData(const Flow& flow, Message* message) const;
    Outcome Compare(const Flow& flow, const Message& message) const;
    Outcome Await();
    Outcome TimedOut() const;

    Communicator& communicator_;
    const Line line_;
    const Deadline deadline_;
    Signature signature_;
    uint64_t number_ = 0;
    uint32_t part_ = 0;
    std::vector<Flow> flows_;
    std::vector<pollfd> waits_;
};

}  // namespace advstep::hccl
