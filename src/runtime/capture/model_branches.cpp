// SPDX-License-Identifier: Apache-2.0
// Queues the branches of a replay on the streams of the model.
#include <cstring>
#include <new>

#include "acl/acl_base.h"
#include "src/runtime/capture/condition.h"
#include "src/runtime/capture/model.h"
#include "src/runtime/capture/replay_wait.h"
#include "src/runtime/commands/callbacks.h"
#include "src/runtime/stream/stream_ref.h"

namespace advstep {

void Model::Fill(const BranchImage& image, const StreamRef& stream, const Places& places,
                 unsigned char* memory) const {
    if (image.count == 0) {
        return;  // nothing was captured, and neither side has an address
    }
    std::memcpy(memory, image.records.data(), image.bytes());
    for (const BranchImage::Wait& wait : image.waits) {
        auto* const task = reinterpret_cast<TicketWaitTask*>(memory + wait.offset);
        const auto branch = static_cast<size_t>(wait.branch);
        task->ticket = {branch == 0 ? stream.stream : branches_[branch].stream,
                        places.bases[branch] + wait.position};
    }
    for (const size_t offset : image.numbered) {
        Condition::Number(reinterpret_cast<Task*>(memory + offset), places.replay, places.stream);
    }
    for (const size_t offset : image.callbacks) {
        Callbacks::SetReplay(reinterpret_cast<Task*>(memory + offset), places.stream);
    }
    for (const BranchImage::Mark& mark : image.marks) {
        auto* const task = reinterpret_cast<Task*>(memory + mark.offset);
        if (mark.records) {
            places.marks.FillRecord(mark.event, task);
        } else {
            places.marks.FillWait(mark.event, stream.stream, static_cast<TicketWaitTask*>(task));
        }
    }
}

Status Model::QueueBranch(size_t index, const StreamRef& stream, const Places& places) {
    Branch& branch = branches_[index];
    const size_t leadBytes = branch.lead() * kReplayWaitBytes;
    Stream::Batch batch{leadBytes + branch.image.bytes(),
                        branch.lead() + branch.image.count,
                        branch.image.heavy,
                        branch.image.foreign,
                        true,
                        false};
    return branch.stream->EnqueueBatch(
        branch.streamHandle, context_.handle, batch, [](uint64_t) { return Status(); },
        [&](void* memory) {
            if (branch.lead() > 0) {
                MakeReplayWait(memory, "wait for start", {stream.stream, places.bases[0]});
            }
            Fill(branch.image, stream, places, static_cast<unsigned char*>(memory) + leadBytes);
        },
        &branch.end);
}

// Queues the branches except the first. If one fails, those queued before it are skipped again,
// because they wait for tasks of the main stream that will not come. It runs under the main
// stream's lock, so the caller wakes the workers after releasing that.
Status Model::QueueBranches(const StreamRef& stream, uint64_t first, Places* places) {
    std::vector<uint64_t>& bases = places->bases;
    bases[0] = first - 1;
    for (size_t index = 1; index < branches_.size(); ++index) {
        bases[index] = branches_[index].stream->Now().sequence + branches_[index].lead();
    }
    Status status;
    size_t queued = 1;
    try {
        while (queued < branches_.size() && status.ok()) {
            status = QueueBranch(queued, stream, *places);
            queued += status.ok() ? 1 : 0;
        }
    } catch (const std::bad_alloc&) {
        status = Status(ACL_ERROR_BAD_ALLOC);
    }
    for (size_t index = 1; index < queued && !status.ok(); ++index) {
        const Branch& branch = branches_[index];
        branch.stream->SkipReplay(bases[index] - branch.lead(), Stream::kNever);
    }
    return status;
}

}  // namespace advstep
