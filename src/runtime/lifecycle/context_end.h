// How a context ends, and a stream to which a thread may have subscribed.
#pragma once

#include "src/base/status.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream_ref.h"

namespace advstep {

/// Waits for the context's streams, also those that another thread is destroying, and destroys them
/// and it. 107002: not alive; 207000: called from inside a task, for which it might wait, or a
/// stream waits for a callback of the calling thread; with `force` such callbacks are dropped
/// instead.
Status DestroyContext(const ContextRef& reference, bool force = false);

/// Waits while other threads are in DestroyContext. False: there were none.
bool WaitForContextEnds();

/// Ends a stream and its subscription. Codes as Stream::Close.
Status EndStream(const StreamRef& reference, bool drop);

}  // namespace advstep
