// The two-phase call of aclnnAdvanceStep on a decode batch, timed.
#pragma once

#include <cstdint>
#include <memory>

#include "aclnnop/aclnn_advance_step.h"
#include "batch_state.h"
#include "device_buffer.h"

namespace serve {

/// What an operator's calls have cost.
struct OpTiming {
    int64_t calls = 0;
    double hostSeconds = 0;    // in phase one and phase two
    double deviceSeconds = 0;  // between events right before and right after the launch
};

class AdvanceCall {
 public:
    AdvanceCall(const BatchState& batch, int64_t blockSize);

    /// Moves rows [0, numQueries) one token forward.
    void Enqueue(Stream& stream, int64_t numQueries);
    /// After a synchronisation: adds the device time of the last Enqueue.
    void CountDeviceTime();

    const OpTiming& Timing() const { return timing_; }

 private:
    struct TensorDeleter {
        void operator()(aclTensor* tensor) const noexcept {
            Report(aclDestroyTensor(tensor), "aclDestroyTensor");
        }
    };
    using Tensor = std::unique_ptr<aclTensor, TensorDeleter>;

    static Tensor MakeTensor(int64_t rows, int64_t columns, aclDataType type, void* data);
    void* Workspace(uint64_t size);

    int64_t numSeqs_;
    int64_t blockSize_;
    int64_t* sampledTokenData_;
    Tensor inputTokens_;
    Tensor sampledTokenIds_;  // [numQueries, 1]: made anew when numQueries changes
    Tensor inputPositions_;
    Tensor seqLens_;
    Tensor slotMapping_;
    Tensor blockTables_;
    int64_t sampledRows_ = 0;
    std::unique_ptr<DeviceBuffer<uint8_t>> workspace_;
    Event start_;
    Event end_;
    OpTiming timing_;
};

}  // namespace serve
