#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/capture/capture_session.h"
#include "src/runtime/capture/model_body.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream_ref.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// A captured model (aclmdlRI), from the begin of its capture on.
///
/// A replay puts copies of the first branch's records into the stream it is replayed on and those
/// of the other branches into streams of the model's own, so a queued replay needs the model no
/// more: an update of a task group changes later replays only. Replays run one after another.
///
/// Objects are reused (HandleTable). mutex_ guards everything; streams' locks are taken under it.
class Model {
 public:
    void Open(Handle handle, const ContextRef& context,
              const std::shared_ptr<CaptureSession>& session);

    /// 107017; 107026 still being captured.
    Status Check(Handle handle);

    /// The capture has ended with *body, which is taken; creates the streams of the other branches.
    /// 107017 if the context ended meanwhile: *body stays.
    Status Finish(Handle handle, ModelBody* body);

    /// Queues one replay. Codes: 107017; 107026 still being captured; 107003 a stream of another
    /// context; 107000 memory, or 107017 a notify, that was captured is gone; those of
    /// Stream::EnqueueBatch.
    Status Replay(Handle handle, const StreamRef& stream);

    /// Replays on a stream of its own and waits. Codes also of WaitFor, and of the failed task.
    Status Execute(Handle handle, Handle caller, const WaitLimit& limit);

    /// Puts launches in the place of a task group's. 107017; 107026; 507000 another number of
    /// launches, or of another operator: then nothing has changed.
    Status Replace(Handle handle, const TaskGroup::Span& span, std::vector<RecordedTask> launches);

    /// 107017; 107026; 107037 a replay is running.
    Status Close(Handle handle);

    /// Closes it if it is alive and of that context, and has that handle (any: 0); true if so. Its
    /// streams are the context's to end.
    bool CloseIfOf(Handle context, Handle handle = 0);

    // Of the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;

 private:
    struct Branch {
        BranchImage image;
        Stream* stream = nullptr;  // of its own; of branch 0 only for Execute
        Handle streamHandle = 0;
        Ticket end;  // of the last replay; not of branch 0
    };
    struct CollectTask;

    Status CheckUsable(Handle handle) const;
    Status CheckContext(Handle caller) const;
    Status CheckUses();
    void NoteUses();
    Status ReplayLocked(const StreamRef& stream, bool evenIfStopped, Ticket* end);
    void ForgetEndedReplays();
    Status QueueBranches(const StreamRef& stream, uint64_t first, std::vector<uint64_t>* bases);
    Status QueueBranch(size_t index, const StreamRef& stream, const std::vector<uint64_t>& bases);
    void Fill(const BranchImage& image, const StreamRef& stream, const std::vector<uint64_t>& bases,
              unsigned char* memory) const;
    void DestroyStreams(const std::vector<Branch>& branches) const;
    bool Running() const;
    void CloseLocked();

    std::mutex mutex_;
    Handle handle_ = 0;
    ContextRef context_;
    std::shared_ptr<CaptureSession> session_;  // while it is being captured
    ModelBody body_;
    std::vector<Branch> branches_;
    std::vector<Ticket> replays_;  // the ends, on the streams they were replayed on
    int32_t executing_ = 0;        // threads that wait in Execute
    bool usesNotifies_ = false;
    uint64_t checkedEpoch_ = 0;  // of DeviceMemory, when all memory was last found there
};

/// Never destroyed: queued work may outlive main().
HandleTable<Model>& Models();

}  // namespace advstep
