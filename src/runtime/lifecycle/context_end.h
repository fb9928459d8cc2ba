// SPDX-License-Identifier: Apache-2.0
// The end of a context, and of a stream to which a thread may have subscribed.

#pragma once

#include "src/base/status.h"
#include "src/runtime/stream/context.h"
#include "src/runtime/stream/stream.h"

namespace advstep {

/// Waits for the context's streams, also those that another thread is destroying, and destroys them
/// and the context. 107002: the context is not alive. 207000: the calling thread runs a task, for
/// which this might wait, or a stream waits for a callback of this thread. `force` drops such
/// callbacks instead.
Status DestroyContext(const ContextRef& reference, bool force = false);

/// Waits while other threads are in DestroyContext. False: there were none.
bool WaitForContextEnds();

/// Ends a stream and its subscription. Codes as Stream::Close.
Status EndStream(const StreamRef& reference, bool drop);

}  // namespace advstep
