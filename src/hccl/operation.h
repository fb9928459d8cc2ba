// SPDX-License-Identifier: Apache-2.0
// An operator as work of a stream.

#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include "advance_step/host_operator.h"
#include "src/hccl/collectives.h"
#include "src/hccl/communicator.h"

namespace advstep::hccl {

/// An operator of this rank. It belongs to the runtime from the launch on: to the queued task, or
/// to the model that captured it, whose replays run it again and again.
class Operation {
 public:
    Operation(std::shared_ptr<Communicator> communicator, const char* call)
        : communicator_(std::move(communicator)), call_(call) {}
    virtual ~Operation() = default;
    Operation(const Operation&) = delete;
    Operation& operator=(const Operation&) = delete;

    /// Device memory that the operator reads or writes. HCCL_E_PTR: it is null. HCCL_E_PARA: it is
    /// not inside one allocation of device memory. Nothing happens if there are no bytes. `partly`:
    /// the operator leaves some of the bytes alone.
    Outcome Reads(const char* argument, const void* buffer, uint64_t bytes, bool partly = false);
    Outcome Writes(const char* argument, const void* buffer, uint64_t bytes, bool partly = false);

    Communicator& communicator() const { return *communicator_; }

    /// Checks the stream, the device and the communicator.
    Outcome CheckLaunch(aclrtStream stream) const;
    /// Queues an operator in a stream. A failed launch has no effect.
    static Outcome Launch(std::unique_ptr<Operation> operation, aclrtStream stream);

 protected:
    /// Adds the memory that another operator uses.
    void TakeRanges(const Operation& other);

 private:
    virtual Line UsedLine() const = 0;
    virtual std::vector<Turns::Channel> Channels() const = 0;
    virtual Outcome Run(Exchange* exchange) const = 0;

    static Outcome Hand(std::unique_ptr<Operation> operation, aclrtStream stream);
    Outcome AddRange(const char* argument, const void* buffer, uint64_t bytes, uint64_t use);
    Outcome RunInTurn() const;
    static int32_t RunTask(void* args, char* message, size_t size);
    static void ReleaseTask(void* args);

    const std::shared_ptr<Communicator> communicator_;
    const char* const call_;  // static text
    Turns::Place place_;
    std::vector<AdvStepMemoryRange> ranges_;
    bool ran_ = false;  // written by the one task that is not of a replay
};

/// An operator that all ranks run.
class CollectiveOperation final : public Operation {
 public:
    CollectiveOperation(std::shared_ptr<Communicator> communicator, const char* call,
                        Algorithm algorithm)
        : Operation(std::move(communicator), call), algorithm_(algorithm) {
        collective.signature.call = call;
    }

    Collective collective;

 private:
    Line UsedLine() const override { return Line::kCollective; }
    std::vector<Turns::Channel> Channels() const override { return {Turns::kCollectives}; }
    Outcome Run(Exchange* exchange) const override;

    const Algorithm algorithm_;
};

/// Messages to ranks and from ranks.
class MessageOperation final : public Operation {
 public:
    using Operation::Operation;

    struct Item {
        bool sends;
        char* buffer;
        uint64_t count;
        HcclDataType type;
        uint32_t rank;

        uint64_t bytes() const;
    };
    std::vector<Item> items;

    /// Adds the messages of another operator of the communicator.
    void Absorb(MessageOperation* other);

 private:
    Line UsedLine() const override { return Line::kPointToPoint; }
    std::vector<Turns::Channel> Channels() const override;
    Outcome Run(Exchange* exchange) const override;
    void CopyOwn() const;
};

}  // namespace advstep::hccl
