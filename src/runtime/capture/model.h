// SPDX-License-Identifier: Apache-2.0
// A captured model (aclmdlRI), from the beginning of its capture on.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/capture/capture_session.h"
#include "src/runtime/capture/model_body.h"
#include "src/runtime/commands/event.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream_ref.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

/// Returns success if a resource that a task uses still exists. 107000: memory has been freed.
/// 107017: a notify, an event or a function is gone.
Status CheckUse(const Use& use);

struct PartRun;

/// The run of a condition's sub-graph.
struct PartId {
    uint64_t number = 0;  // in the condition
    Handle stream = 0;    // on which the program replays the model around it
};

/// A captured model (aclmdlRI), from the begin of its capture on.
///
/// A replay copies the records of the first branch into the stream on which it is replayed, and
/// those of the other branches into streams of the model's own. A queued replay no longer needs the
/// model, except for the launches of task groups, which it looks up in the groups. Replays run one
/// after another.
///
/// Objects are reused (HandleTable). mutex_ guards everything; streams' locks are taken under it.
class Model {
 public:
    void Open(Handle handle, const ContextRef& context,
              const std::shared_ptr<CaptureSession>& session);

    /// 107017: the model is not alive. 107026: it is still being captured.
    Status Check(Handle handle);

    /// Takes *body, with which the capture has ended, and creates the streams of the other
    /// branches. 107017: the context ended meanwhile, and *body stays.
    Status Finish(Handle handle, ModelBody* body);

    /// Queues one replay. 107003: the stream is of another context. 107000: captured memory is
    /// gone. 107017: a captured notify, external event or function is gone. Codes also as Check and
    /// Stream::EnqueueBatch.
    Status Replay(Handle handle, const StreamRef& stream);

    /// Replays on a stream of the model's own, which the replay has alone, and waits. Codes as
    /// Replay and WaitFor, and the code of the failed task. 207000: the replay waits for the
    /// calling thread, and has not been queued, or is dropped.
    Status Execute(Handle handle, Handle caller, const WaitLimit& limit);

    /// Replaces the launches of a task group, also for queued replays that have not come to them.
    /// 507000: the number of launches differs from the group's, or the operator of one does.
    /// 107000: memory of a launch has been freed. Codes also as Check. An error changes nothing.
    Status Replace(Handle handle, const TaskGroup::Span& span, std::vector<RecordedTask> launches);

    // model_part.cpp: the sub-graphs of conditional tasks, which are models without replays of
    // their own.
    void OpenPart(Handle handle, const ContextRef& context, Condition* owner, int depth);
    /// Connects the sub-graph with its capture. 107000: it is no sub-graph, or has been captured.
    /// 107017: the model is not alive. 107003: it is of another context.
    Status BeginPart(Handle handle, const std::shared_ptr<CaptureSession>& session);
    /// Forgets a capture that ended without a result. False: the model is no sub-graph of that
    /// handle.
    bool ForgetCapture(Handle handle);
    /// Finds the capture that the model is in, and the number of conditional tasks around it.
    /// 107000: there is no capture.
    Status FindCapture(Handle handle, std::shared_ptr<CaptureSession>* session, int* depth);
    /// Returns whether the handle is of a sub-graph.
    bool IsPart(Handle handle);
    /// Codes as Check, and those of CheckUse for all that the sub-graph uses.
    Status CheckPart(Handle handle);
    /// Checks the variables and the sub-graphs of a model likewise. The caller holds the kernel
    /// binaries and the notifies.
    Status CheckParts(Handle handle);
    /// Queues a run of the sub-graph on its own streams, as a part of the task that `parent` runs,
    /// with the tail of its condition as the last task. Only the condition calls this. *run is not
    /// touched on an error.
    Status QueuePart(Handle handle, const PartId& part, Stream* parent, PartRun* run);
    /// Ends a sub-graph without queued work. True: it was alive and had that handle.
    bool ClosePart(Handle handle) noexcept;

    /// Lists the tasks, as lines of text, or as JSON events of the Trace Event Format. Codes as
    /// Check.
    Status Print(Handle handle, std::vector<std::string>* lines);
    Status PrintEvents(Handle handle, bool verbose, std::string* json);

    /// 107037: a replay is running. Codes also as Check.
    Status Close(Handle handle);

    /// Closes the model if it is alive, of that context, and has that handle (0: any), after its
    /// replays have ended; a sub-graph only if `parts`, because it runs in replays of its model.
    /// True: it was closed. The end of the context ends the model's streams.
    bool CloseIfOf(Handle context, Handle handle = 0, bool parts = true);

    // These belong to the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;

 private:
    struct Branch {
        BranchImage image;
        Stream* stream = nullptr;  // the model's own; only a sub-graph has one for branch 0
        Handle streamHandle = 0;
        Ticket end;  // of the last replay; unused in branch 0

        /// The number of tasks that a replay puts before the captured ones: a wait for the start of
        /// the replay, if the time of the first wait would begin earlier otherwise.
        uint64_t lead() const { return image.startsTimed ? 1 : 0; }
    };
    /// A stream of the model's own for calls of Execute. A replay has it alone until the replay has
    /// ended and its call has returned. So a failure neither stops another call's replay nor hides
    /// its failures. Very many replays share streams with those whose calls have returned.
    struct Execution {
        Stream* stream = nullptr;
        Handle streamHandle = 0;
        Ticket end;            // of the latest replay there
        bool awaited = false;  // the call of that replay has not returned
    };
    /// The places of a replay's captured tasks in queues: the sequence before the first, by branch.
    struct Places {
        std::vector<uint64_t> bases;
        ModelEvents marks;
        uint64_t replay = 0;  // the number of the replay
        Handle stream = 0;    // of the program, or of Execute
    };
    struct CollectTask;
    class ExecutionEnds;
    /// The replay of a whole model has none.
    using OptionalPart = std::optional<PartId>;

    Status CheckUsable(Handle handle) const;
    Status CheckContext(Handle caller) const;
    static Status CheckUsesOf(const RecordedTask& task);
    Status CheckUses();
    void NoteUses();
    Status CheckWhole(Handle handle, const char* call) const;
    /// `wait` is entered for the end of the replay, if that has tasks.
    Status ReplayLocked(const StreamRef& stream, bool evenIfStopped, Ticket* end,
                        const OptionalPart& part = std::nullopt,
                        Stream::WaitInList* wait = nullptr);
    /// Whether a replay on that stream only copies the records of one branch, and waits for
    /// nothing.
    bool ReplaysPlainly(const StreamRef& stream) const;
    Status ReplayPlainly(const StreamRef& stream);
    void ForgetEndedReplays();
    Status QueueBranches(const StreamRef& stream, uint64_t first, Places* places);
    Status QueueBranch(size_t index, const StreamRef& stream, const Places& places);
    void Fill(const BranchImage& image, const StreamRef& stream, const Places& places,
              unsigned char* memory) const;
    Status LockMarks(ModelEvents* marks) const;
    void NoteRecords(const StreamRef& stream, const Places& places) const;
    /// Finds or makes a stream for a call of Execute, and logs the failures of replays for which
    /// nobody waits any more.
    Status FindExecution(size_t* index);
    /// 207000: a callback of the model waits for the calling thread.
    Status CheckCallbacks() const;
    bool Awaited() const;
    void DestroyOwn(Stream* stream, Handle streamHandle) const;
    void DestroyStreams(const std::vector<Branch>& branches) const;
    /// Returns the end of a replay that has not come, or null.
    const Ticket* Pending() const;
    /// Ends the life of the model and returns its body. The caller releases the groups and the
    /// conditions of the body without the lock, because a condition's lock, and that of another
    /// model, is never taken under a model's.
    ModelBody CloseLocked();

    std::mutex mutex_;
    Handle handle_ = 0;
    ContextRef context_;
    std::shared_ptr<CaptureSession> session_;  // while it is being captured
    ModelBody body_;
    std::vector<Branch> branches_;
    std::vector<Execution> executions_;  // grows only
    std::vector<Ticket> replays_;        // the ends, on the streams of the replays
    Condition* owner_ = nullptr;         // of a sub-graph
    int depth_ = 0;              // of a sub-graph: the number of conditional tasks around it
    bool captured_ = false;      // a capture has filled it
    uint64_t replayNumber_ = 0;  // of the last replay; goes on when the object is reused
    bool usesHandles_ = false;   // uses notifies, events or functions: each replay checks them
    bool plain_ = false;         // one branch of records that are copied as they are
    uint64_t checkedEpoch_ = 0;  // DeviceMemory's epoch when all memory was last found
};

/// Never destroyed: queued work may outlive main().
HandleTable<Model>& Models();

/// Ends a sub-graph, and releases its place.
void ClosePart(Model* model, Handle handle) noexcept;

}  // namespace advstep
