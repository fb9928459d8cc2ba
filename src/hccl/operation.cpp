// SPDX-License-Identifier: Apache-2.0
// Queues operators and runs them in their turn.

#include "src/hccl/operation.h"

#include <algorithm>
#include <cstring>
#include <string>
#include <utility>
#include <vector>

#include "acl/acl.h"
#include "src/hccl/data_type.h"

namespace advstep::hccl {
namespace {

// The code of the task. The HcclResult is in the message, and is that of HcclGetCommAsyncError.
constexpr int32_t kTaskFailed = ACL_ERROR_RT_INTERNAL_ERROR;

std::string RecentMessage() {
    const char* const message = aclGetRecentErrMsg();
    return message == nullptr ? "no message" : message;
}

// A block of device memory. Allocators map memory piece by piece behind what they have, so a tensor
// may lie in several mappings, which are neighbours.
struct Block {
    uint64_t begin = 0;
    uint64_t bytes = 0;
    uint32_t device = 0;

    bool MayBeMapped() const {
        constexpr uint64_t kUnit = uint64_t{2} << 20;  // the granularity of mappings
        return begin % kUnit == 0 && bytes % kUnit == 0;
    }
};

// Returns false for an address that is in no device memory.
bool FindBlock(uint64_t address, Block* block) {
    const auto pointer = reinterpret_cast<void*>(address);
    aclrtPtrAttributes attributes{};
    void* begin = nullptr;
    size_t bytes = 0;
    if (aclrtPointerGetAttributes(pointer, &attributes) != ACL_SUCCESS ||
        attributes.location.type != ACL_MEM_LOCATION_TYPE_DEVICE ||
        aclrtMemGetAddressRange(pointer, &begin, &bytes) != ACL_SUCCESS) {
        return false;
    }
    *block = {reinterpret_cast<uint64_t>(begin), bytes, attributes.location.id};
    return true;
}

// Returns the parts of a buffer in each of its blocks, or none if it leaves device memory.
std::vector<std::pair<uint64_t, uint64_t>> PartsOf(const void* buffer, uint64_t bytes) {
    std::vector<std::pair<uint64_t, uint64_t>> parts;
    Block block, before;
    for (auto at = reinterpret_cast<uint64_t>(buffer); bytes > 0;) {
        const bool isFirst = parts.empty();
        if (!FindBlock(at, &block) || (!isFirst && (!before.MayBeMapped() || !block.MayBeMapped() ||
                                                    block.device != before.device))) {
            return {};
        }
        const uint64_t part = std::min(bytes, block.begin + block.bytes - at);
        parts.emplace_back(at, part);
        at += part;
        bytes -= part;
        before = block;
    }
    return parts;
}

// The launch that this thread is making. The runtime releases the operator during the launch if it
// refuses it.
struct Launching {
    const void* operation = nullptr;
    bool released = false;  // before it has run
};
thread_local Launching launching;

// The failure of an operator that comes after another one's.
Outcome Earlier(const Communicator& communicator) {
    const Outcome failure = communicator.Failure();
    return failure.ok() ? failure : Error(failure.code, "comm has failed: ", failure.message);
}

void FailUnrun(const char* call, Communicator* communicator) {
    communicator->Fail(Error(HCCL_E_SUSPENDING, call,
                             " did not run, because its stream was aborted or had stopped"));
}

}  // namespace

Outcome Operation::Reads(const char* argument, const void* buffer, uint64_t bytes, bool partly) {
    return AddRange(argument, buffer, bytes,
                    ADVSTEP_RANGE_READ | (partly ? ADVSTEP_RANGE_PARTLY : 0));
}

Outcome Operation::Writes(const char* argument, const void* buffer, uint64_t bytes, bool partly) {
    return AddRange(argument, buffer, bytes,
                    ADVSTEP_RANGE_WRITTEN | (partly ? ADVSTEP_RANGE_PARTLY : 0));
}

Outcome Operation::AddRange(const char* argument, const void* buffer, uint64_t bytes,
                            uint64_t use) {
    if (bytes == 0) {
        return {};
    }
    if (buffer == nullptr) {
        return Null(argument);
    }
    const auto parts = PartsOf(buffer, bytes);
    if (parts.empty()) {
        return Error(HCCL_E_PARA, argument, " has ", bytes,
                     " bytes; expected them inside one allocation of device memory");
    }
    for (const auto& [begin, length] : parts) {
        ranges_.push_back({reinterpret_cast<const void*>(begin), length | use});
    }
    return {};
}

void Operation::TakeRanges(const Operation& other) {
    ranges_.insert(ranges_.end(), other.ranges_.begin(), other.ranges_.end());
}

Outcome Operation::CheckLaunch(aclrtStream stream) const {
    if (stream == nullptr) {
        return Null("stream");
    }
    ADVSTEP_HCCL_TRY(Earlier(*communicator_));
    int32_t device = -1;
    if (aclrtGetDevice(&device) != ACL_SUCCESS) {
        return {HCCL_E_RUNTIME, RecentMessage()};
    }
    const int32_t expected = communicator_->origin().device;
    return device == expected ? Outcome{}
                              : Error(HCCL_E_PARA, "the current device is ", device, "; expected ",
                                      expected, ", that of comm");
}

Outcome Operation::Launch(std::unique_ptr<Operation> operation, aclrtStream stream) {
    ADVSTEP_HCCL_TRY(operation->CheckLaunch(stream));
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    if (aclmdlRICaptureGetInfo(stream, &status, nullptr) != ACL_SUCCESS) {
        return {HCCL_E_RUNTIME, RecentMessage()};
    }
    operation->place_.channels = operation->Channels();
    if (status == ACL_MODEL_RI_CAPTURE_STATUS_NONE) {
        operation->communicator_->turns().Number(&operation->place_);
    }
    return Hand(std::move(operation), stream);
}

Outcome Operation::Hand(std::unique_ptr<Operation> operation, aclrtStream stream) {
    const std::shared_ptr<Communicator> communicator = operation->communicator_;
    const char* const call = operation->call_;
    AdvStepHostOperator work{};
    work.name = operation->call_;
    work.run = &RunTask;
    work.release = &ReleaseTask;
    work.args = operation.get();
    work.ranges = operation->ranges_.data();
    work.rangeCount = operation->ranges_.size();
    launching = {operation.release(), false};
    const aclError code = advstepLaunchHostOperator(stream, &work);
    const bool released = std::exchange(launching, {}).released;
    if (code != ACL_SUCCESS) {
        return {HCCL_E_RUNTIME, RecentMessage()};
    }
    if (released) {
        FailUnrun(call, communicator.get());
    }
    return {};
}

Outcome Operation::RunInTurn() const {
    ADVSTEP_HCCL_TRY(Earlier(*communicator_));
    const Deadline deadline(communicator_->origin().executeSeconds);
    if (!communicator_->turns().Enter(place_, deadline)) {
        ADVSTEP_HCCL_TRY(Earlier(*communicator_));
        return Error(HCCL_E_TIMEOUT,
                     "the operators of comm that were queued before it have not run within ",
                     communicator_->origin().executeSeconds, " s (HCCL_EXEC_TIMEOUT)");
    }
    Outcome outcome;
    try {
        Exchange exchange(communicator_.get(), UsedLine(), deadline);
        outcome = Run(&exchange);
    } catch (const std::bad_alloc&) {
        outcome = {HCCL_E_MEMORY, {}};
    }
    communicator_->turns().Leave(place_);
    return outcome;
}

int32_t Operation::RunTask(void* args, char* message, size_t size) {
    auto* const operation = static_cast<Operation*>(args);
    if (!operation->place_.numbers.empty()) {
        operation->ran_ = true;
    }
    Outcome outcome;
    try {
        outcome = operation->RunInTurn();
        if (outcome.ok()) {
            return 0;
        }
        operation->communicator_->Fail(
            {outcome.code, Text(operation->call_, ": ", outcome.message)});
        const std::string text = Text(NameOf(outcome.code), ": ", outcome.message);
        (void)std::strncpy(message, text.c_str(), size - 1);
        message[size - 1] = '\0';
    } catch (const std::exception&) {  // memory is short
        operation->communicator_->Fail({outcome.ok() ? HCCL_E_MEMORY : outcome.code, {}});
    }
    return kTaskFailed;
}

// An operator that other ranks run, and this one does not, leaves the communicator without an
// order.
void Operation::ReleaseTask(void* args) {
    const std::unique_ptr<Operation> operation(static_cast<Operation*>(args));
    if (operation->place_.numbers.empty() || operation->ran_) {
        return;
    }
    operation->communicator_->turns().Skip(operation->place_);
    if (launching.operation == args) {
        launching.released = true;
    } else {
        FailUnrun(operation->call_, operation->communicator_.get());
    }
}

Outcome CollectiveOperation::Run(Exchange* exchange) const {
    exchange->Begin(collective.signature);
    return algorithm_(collective, exchange);
}

uint64_t MessageOperation::Item::bytes() const { return count * SizeOf(type); }

std::vector<Turns::Channel> MessageOperation::Channels() const {
    std::vector<Turns::Channel> channels;
    for (const Item& item : items) {
        channels.push_back(item.sends ? Turns::SendsTo(item.rank) : Turns::ReceivesFrom(item.rank));
    }
    std::sort(channels.begin(), channels.end());
    channels.erase(std::unique(channels.begin(), channels.end()), channels.end());
    return channels;
}

void MessageOperation::Absorb(MessageOperation* other) {
    items.insert(items.end(), other->items.begin(), other->items.end());
    TakeRanges(*other);
}

// The n-th that a rank sends to itself goes to the n-th that it receives from itself. The call has
// checked that they fit.
void MessageOperation::CopyOwn() const {
    const uint32_t own = communicator().rank();
    std::vector<const Item*> received;
    for (const Item& item : items) {
        if (item.rank == own && !item.sends) {
            received.push_back(&item);
        }
    }
    size_t next = 0;
    for (const Item& item : items) {
        if (item.rank == own && item.sends && item.bytes() > 0) {
            std::memmove(received[next]->buffer, item.buffer, item.bytes());
        }
        next += item.rank == own && item.sends ? 1 : 0;
    }
}

Outcome MessageOperation::Run(Exchange* exchange) const {
    for (const Item& item : items) {
        if (item.rank == communicator().rank()) {
            continue;
        }
        Signature signature;
        signature.call = "";
        signature.type = item.type;
        signature.count = item.count;
        exchange->Begin(signature);
        if (item.sends) {
            exchange->Send(item.rank, item.buffer, item.bytes());
        } else {
            exchange->Receive(item.rank, item.buffer, item.bytes());
        }
    }
    CopyOwn();
    return exchange->Run();
}

}  // namespace advstep::hccl
