// SPDX-License-Identifier: Apache-2.0
// The serving loop: admission, prefill and decode, block housekeeping, retirement.

#pragma once

#include <cstdint>
#include <optional>
#include <stdexcept>
#include <string>
#include <unordered_set>
#include <vector>

#include "advance_call.h"
#include "batch_rows.h"
#include "cell_reader.h"
#include "device_array.h"
#include "device_session.h"
#include "memory_needs.h"
#include "paged_model.h"
#include "progress_bar.h"
#include "request_check.h"
#include "request_source.h"
#include "run_record.h"
#include "run_summary.h"
#include "scheduler.h"
#include "server_observer.h"
#include "slot_state.h"
#include "speculation.h"
#include "step_call.h"
#include "virtual_clock.h"

namespace serve {

/// Every sequence is preempted and none recovers, to which standard conformance never comes; or the
/// time model leaves no virtual time.
class Stuck : public std::runtime_error {
 public:
    using std::runtime_error::runtime_error;
};

/// The device, once it is known to have room for a server.
class CheckedSession {
 public:
    /// @throws std::runtime_error  names the options of the largest part
    CheckedSession(const Options& options, const RequestLimits& limits) {
        ExpectDeviceMemory(options, limits);
    }

 private:
    DeviceSession session_;
};

class Server {
 public:
    /// source, options and observer must outlive the server.
    /// @throws AclError  a call failed
    Server(RequestSource& source, const Options& options, ServerObserver* observer = nullptr);

    /// Serves every request, or until an interrupt.
    /// @throws AclError, Stuck  Result() then has what was done before
    void Run();

    Statistics Result() const;
    const RunRecord& Record() const { return record_; }

 private:
    /// A slot with a sequence, as the plan of an iteration has it.
    struct LiveSlot {
        int64_t slot;
        int64_t prefillTokens = 0;  // of the pass
        int64_t query = -1;         // -1: it does not decode
        int64_t read = -1;          // -1: it does not end in the pass

        bool Runs() const { return prefillTokens > 0 || query >= 0; }
    };

    /// Which sequence each slot and query is, to go with a message of the device.
    std::string DescribeSlots() const;
    void Admit();
    /// One pass of the model over all sequences that are not preempted, and the Step that prepares
    /// the next pass, with one synchronisation at the end.
    void Iterate();
    void PlanPass();
    /// Grants the sequences that want a prefill their tokens of the pass.
    void SharePrefill();
    void EnqueuePass();
    /// Moves the sequences that decode, and runs the model over their rows.
    void EnqueueDecode();
    /// Sheds and repeats while there are too few blocks.
    void RunStep();
    bool ShedYoungest();
    /// Tokens that the pass samples for a live slot.
    int64_t SampledTokens(const LiveSlot& live) const;
    void TakeTokens();
    void TakeToken(Sequence& sequence, int64_t token);
    void RetireEnded();
    /// Learns what Step has preempted and recovered.
    void UpdatePhases();
    void UpdatePhase(const LiveSlot& live, Sequence& sequence, const SlotReport& report);
    void CountIteration();
    void TellObserver();

    const Options& options_;
    RequestSource& source_;
    ServerObserver* observer_;  // or NULL
    Scheduler scheduler_;
    VirtualClock clock_;
    ProgressBar progress_;
    RequestCheck check_;
    Statistics statistics_;
    std::unordered_set<int64_t> shedLines_;  // of requests that have been shed
    RunRecord record_;
    int64_t usedBlocksSum_ = 0;  // over iterations
    int64_t runningSum_ = 0;     // the same of sequences

    // Of the running iteration.
    std::vector<LiveSlot> live_;  // ascending
    std::vector<PrefillShare> prefills_;
    std::vector<PassSlot> passSlots_;   // the same for the model
    std::vector<int32_t> decodeSlots_;  // by query
    int64_t runningSlots_ = 0;
    // Cells of those that may end, by LiveSlot::read.
    std::vector<CellReader::Range> ending_;
    IterationWork work_;
    std::vector<int64_t> shedAdmissions_;  // times of those that the iteration sheds
    std::vector<int64_t> slotTokens_;      // for the observer
    LoadSample sample_;

    CheckedSession session_;
    SlotState slots_;
    BatchRows batch_;
    PagedModel model_;
    CellReader reader_;
    AdvanceCall advance_;
    std::optional<Speculation> speculation_;  // takes the place of advance_
    StepCall step_;
    std::vector<DeviceArray> arrays_;
    // Last, so that it goes first: it waits for work that an error left pending, and that work
    // needs the members above.
    Stream stream_;
};

}  // namespace serve
