// The serving loop: admission, prefill, decode, retirement.
#pragma once

#include <cstdint>
#include <vector>

#include "advance_call.h"
#include "batch_state.h"
#include "device_session.h"
#include "paged_model.h"
#include "progress_bar.h"
#include "request_check.h"
#include "request_trace.h"
#include "run_summary.h"
#include "scheduler.h"
#include "virtual_clock.h"

namespace serve {

class Server {
 public:
    /// requests and options must outlive the server.
    /// @throws NeverFits  as Scheduler
    /// @throws AclError   a call failed
    Server(const std::vector<Request>& requests, const Options& options);

    /// Serves every request.
    /// @throws AclError  a call failed; Result() then has what was done before
    void Run();

    Statistics Result() const;

 private:
    /// Enqueues the prefill of newly admitted requests; returns the number of prompt tokens.
    int64_t Admit();
    /// Moves every sequence one token forward and waits for it.
    void Step();
    void TakeTokens();
    void RetireEnding();

    Scheduler scheduler_;
    VirtualClock clock_;
    ProgressBar progress_;
    RequestCheck check_;
    Statistics statistics_;
    std::vector<int64_t> endingRows_;  // of the running step, ascending

    DeviceSession session_;
    BatchState batch_;
    PagedModel model_;
    AdvanceCall advance_;
    // Last, so that it goes first: it waits for work that an error left pending, and that work
    // needs the members above.
    Stream stream_;
};

}  // namespace serve
