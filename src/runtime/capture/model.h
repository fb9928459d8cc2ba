// SPDX-License-Identifier: Apache-2.0
// A captured model (aclmdlRI), from the beginning of its capture on.

#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/capture/capture_session.h"
#include "src/runtime/capture/model_body.h"
#include "src/runtime/capture/model_replay.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/task/handle_table.h"

namespace advstep {

struct SubGraphPlace;

/// A captured model (aclmdlRI), from the beginning of its capture on.
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

    // The sub-graphs of conditional tasks are models without replays of their own.

    void OpenSubGraph(Handle handle, const ContextRef& context, Condition* owner, int depth);
    /// Connects the sub-graph with its capture. 107000: it is no sub-graph, or has been captured.
    /// 107017: the model is not alive. 107003: it is of another context.
    Status BeginSubGraph(Handle handle, const std::shared_ptr<CaptureSession>& session);
    /// Forgets a capture that ended without a result. False: the model is no sub-graph of that
    /// handle.
    bool ForgetCapture(Handle handle);
    /// Finds the capture that the model is in, and the number of conditional tasks around it.
    /// 107000: there is no capture.
    Status FindCapture(Handle handle, std::shared_ptr<CaptureSession>* session, int* depth);
    /// Returns whether the handle is of a sub-graph.
    bool IsSubGraph(Handle handle);
    /// Codes as Check, and those of CheckUse for all that the sub-graph uses.
    Status CheckSubGraph(Handle handle);
    /// Queues a run of the sub-graph on its own streams, as a part of the task that `parent` runs,
    /// with the tail of its condition as the last task. Only the condition calls this. *place is
    /// not touched on an error.
    Status QueueSubGraph(Handle handle, const SubGraphRun& run, Stream* parent,
                         SubGraphPlace* place);
    /// Ends a sub-graph without queued work. True: it was alive and had that handle.
    bool CloseSubGraph(Handle handle) noexcept;

    // Codes of the next four as Check.
    Status SetName(Handle handle, const char* name);
    Status ReadName(Handle handle, std::string* name);
    /// 107000: the function is registered.
    Status AddEndCallback(Handle handle, const ModelEndCallback& callback);
    /// 107000: the function is not registered.
    Status RemoveEndCallback(Handle handle, aclrtCallback function);

    /// Lists the tasks, as lines of text, or as JSON events of the Trace Event Format. Codes as
    /// Check.
    Status Print(Handle handle, std::vector<std::string>* lines);
    Status PrintEvents(Handle handle, bool verbose, std::string* json);

    /// 107037: a replay is running. Codes also as Check.
    Status Close(Handle handle);

    /// Closes the model if it is alive, of that context, and has that handle (0: any), after its
    /// replays have ended; a sub-graph only if `subGraphs`, because it runs in replays of its
    /// model. True: it was closed. The end of the context ends the model's streams.
    bool CloseIfOf(Handle context, Handle handle = 0, bool subGraphs = true);

    // These belong to the HandleTable.
    uint32_t tableIndex = 0;
    uint32_t generation = 0;

 private:
    /// A stream of the model's own for calls of Execute. A replay has it alone until the replay has
    /// ended and its call has returned. So a failure neither stops another call's replay nor hides
    /// its failures. Very many replays share streams with those whose calls have returned.
    struct Execution {
        Stream* stream = nullptr;
        Handle streamHandle = 0;
        Ticket end;            // of the latest replay there
        bool awaited = false;  // the call of that replay has not returned
    };
    struct Executing;
    class ExecutionEnds;

    Status CheckUsable(Handle handle) const;
    Status CheckContext(Handle caller) const;
    Status CheckWhole(Handle handle, const char* call) const;
    Status CheckUses();
    /// Checks the variables and the sub-graphs of the model's conditions. The caller has a
    /// Pin of the kernel binaries, of the notifies and of the external events.
    Status CheckConditions(Handle handle);
    /// 207000: a callback of the model waits for the calling thread.
    Status CheckCallbacks() const;
    void NoteUses();

    /// Whether a replay on that stream only copies the records of one branch, and waits for
    /// nothing.
    bool ReplaysPlainly(const StreamRef& stream) const;
    Status ReplayPlainly(const StreamRef& stream);
    /// Replays once. kCheckIsOld: as ModelReplay::Queue.
    Status ReplayChecked(Handle handle, const StreamRef& stream);
    Status QueueExecution(Handle handle, Handle caller, Executing* run);
    /// Completes the setup and queues the replay.
    Status ReplayLocked(ModelReplay::Setup* setup, Ticket* end);
    /// Forgets the replays that have ended. Returns the ends of the others that the order of the
    /// stream does not cover.
    std::vector<Ticket> EarlierReplays(const Stream* stream);
    void NoteReplay(const Ticket& end);
    /// Finds or makes a stream for a call of Execute, and logs the failures of replays for which
    /// nobody waits any more.
    Status FindExecution(size_t* index);
    bool Awaited() const;

    /// Returns the end of a replay that has not come, or null.
    const Ticket* Pending() const;
    void DestroyOwn(Stream* stream, Handle streamHandle) const;
    void DestroyStreams(const std::vector<ModelBranch>& branches) const;
    /// Ends the life of the model and returns its body. The caller releases the groups and the
    /// conditions of the body without the lock, because a condition's lock, and that of another
    /// model, is never taken under a model's.
    ModelBody CloseLocked();

    std::mutex mutex_;
    Handle handle_ = 0;
    ContextRef context_;
    std::shared_ptr<CaptureSession> session_;  // while it is being captured
    ModelBody body_;
    std::vector<ModelBranch> branches_;
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
HandleTable<Model>& TheModels();

/// Finds the model of a handle. 107017: the handle can be no model. Each call of Model checks
/// whether the model is alive.
Status FindModel(const void* handle, Model** model);

/// Ends a sub-graph, and releases its place.
void CloseSubGraph(Model* model, Handle handle) noexcept;

/// Ends the task groups and the variables of a model, or of a capture without a result, and calls
/// its functions of the program. No lock is held.
void ReleaseBody(const ModelBody& body) noexcept;

}  // namespace advstep
