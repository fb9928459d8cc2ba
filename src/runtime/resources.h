#pragma once

#include <atomic>
#include <vector>

#include "src/base/status.h"
#include "src/runtime/context.h"
#include "src/runtime/device_memory.h"
#include "src/runtime/event.h"
#include "src/runtime/graph.h"
#include "src/runtime/handle_table.h"
#include "src/runtime/notify.h"
#include "src/runtime/stream.h"
#include "src/runtime/stream_workers.h"
#include "src/runtime/task_group.h"
#include "src/runtime/virtual_memory.h"

namespace advstep {

/// Where the streams with work under way stand now.
std::vector<Ticket> PendingPlaces();

/// Everything behind handles and addresses, for all devices. Never destroyed: threads and queued
/// work may outlive main().
struct Resources {
    HandleTable<Context> contexts{HandleKind::kContext};
    HandleTable<Stream> streams{HandleKind::kStream};
    HandleTable<Stream> branchStreams{HandleKind::kBranchStream};  // of graphs
    HandleTable<Event> events{HandleKind::kEvent};
    HandleTable<Graph> graphs{HandleKind::kGraph};
    HandleTable<TaskGroup> taskGroups{HandleKind::kTaskGroup};
    NotifyTable notifies{&PendingPlaces};
    DeviceMemory memory{&PendingPlaces};
    VirtualMemory virtualMemory{memory, &PendingPlaces};
    StreamWorkers workers{streams, &branchStreams};
    std::atomic<uint32_t> opWaitTimeout{0};  // seconds, of later event waits; 0: for ever
};

Resources& TheResources();

struct StreamRef {
    Stream* stream = nullptr;
    Handle handle = 0;
    Handle caller = 0;  // the current context, which every stream call compares
};

/// A context with its default stream.
ContextRef CreateContext(Device* device, bool primary);

/// Waits for the context's streams, also those that another thread is destroying, and destroys them
/// and it. 107002: not alive; 207000: called from inside a task, for which it might wait, or a
/// stream waits for a callback of the calling thread; with `force` such callbacks are dropped
/// instead.
Status DestroyContext(const ContextRef& reference, bool force = false);

/// A stream of the context. 107002: the context is not alive.
Status CreateStream(const ContextRef& context, uint32_t priority, uint32_t flags, Handle* handle);
Status DestroyStream(const StreamRef& reference, bool drop);

/// Streams that no caller knows of: to run a graph on, and for its further branches. 107002.
Status CreateHiddenStream(const ContextRef& context, Stream** stream, Handle* handle);
Status CreateBranchStream(const ContextRef& context, Stream** stream, Handle* handle);

/// Waits for everything queued on the device now, also on streams that another thread is
/// destroying.
Status DrainDevice(const Device* device, const WaitLimit& limit = {});

/// As DrainDevice, and an abort does not end it. 207000: a stream waits for a callback of the
/// calling thread.
Status DrainForTeardown(const Device* device);

/// 207000 in the middle of a task.
Status RefuseInsideTask();

/// The first unreported failure of the device's streams, in the order of their creation; it is
/// reported with this.
Status TakeDeviceFailure(const Device* device);

}  // namespace advstep
