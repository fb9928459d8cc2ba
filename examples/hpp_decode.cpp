// SPDX-License-Identifier: Apache-2.0
// decode_loop.cpp in C++: ten decode steps of three sequences, with the objects of
// advance_step.hpp. First with exceptions, then an error as a result.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include "advance_step/advance_step.hpp"

namespace {

using advance_step::AdvanceStep;
using advance_step::AdvanceStepArguments;
using advance_step::Device;
using advance_step::Executor;
using advance_step::Stream;
using advance_step::Tensor;
using Values = std::vector<int64_t>;

constexpr int64_t kNumQueries = 3;
constexpr int64_t kNumSeqs = kNumQueries + 1;  // standard conformance wants a padding row
constexpr int64_t kMaxBlocks = 5;
constexpr int kSteps = 10;

struct Batch {
    Tensor inputTokens = Tensor::From({kNumSeqs}, Values{0, 0, 0, 0});
    Tensor sampledTokenIds = Tensor::From({kNumQueries, 1}, Values{0, 0, 0});
    Tensor inputPositions = Tensor::From({kNumSeqs}, Values{0, 0, 0, 0});
    Tensor seqLens = Tensor::From({kNumSeqs}, Values{6, 3, 9, 0});  // prompts in the KV cache
    Tensor slotMapping = Tensor::From({kNumSeqs}, Values{-1, -1, -1, -1});
    Tensor blockTables = Tensor::From({kNumSeqs, kMaxBlocks}, Values{4,  0,  9,  12, -1,  //
                                                                     7,  2,  5,  13, -1,  //
                                                                     1,  3,  8,  10, 11,  //
                                                                     -1, -1, -1, -1, -1});

    AdvanceStepArguments Arguments() const {
        AdvanceStepArguments arguments;
        arguments.inputTokens = inputTokens;
        arguments.sampledTokenIds = sampledTokenIds;
        arguments.inputPositions = inputPositions;
        arguments.seqLens = seqLens;
        arguments.slotMapping = slotMapping;
        arguments.blockTables = blockTables;
        arguments.numSeqs = kNumSeqs;
        arguments.numQueries = kNumQueries;
        arguments.blockSize = 4;
        return arguments;
    }
};

void Print(int step, const Values& positions, const Values& slots) {
    std::printf("%4d", step);
    for (size_t row = 0; row < kNumQueries; ++row) {
        std::printf("   %3lld -> %2lld", static_cast<long long>(positions[row]),
                    static_cast<long long>(slots[row]));
    }
    std::puts("");
}

// [loop]
void DecodeLoop(const Batch& batch, const Stream& stream) {
    const Executor plan = AdvanceStep::Plan(batch.Arguments());
    for (int step = 0; step < kSteps; ++step) {
        batch.sampledTokenIds.Upload(Values{100 + step, 200 + step, 300 + step});
        plan.Run(stream);
        stream.Synchronize();
        Print(step, batch.inputPositions.Download<int64_t>(),
              batch.slotMapping.Download<int64_t>());
    }
}
// [/loop]

// The sequences have filled their blocks: the next steps find no place.
void RunOutOfBlocks(const Batch& batch, const Stream& stream) {
    AdvanceStep advance;
    for (int step = kSteps;; ++step) {
        advance(batch.Arguments(), stream);
        if (const auto ended = stream.TrySynchronize(); !ended) {
            std::printf("step %d: error %d: %s\n", step, ended.error().Code(),
                        ended.error().what());
            return;
        }
    }
}

}  // namespace

int main() {
    try {
        const Device device = Device::Open(0);
        const Stream stream = Stream::Create();
        const Batch batch;
        std::puts("        position -> slot of each sequence\nstep");
        DecodeLoop(batch, stream);
        RunOutOfBlocks(batch, stream);
        const AdvStepCounters counters = device.Counters();
        std::printf("%llu launches, %llu tokens\n",
                    static_cast<unsigned long long>(counters.launches),
                    static_cast<unsigned long long>(counters.advanced));
    } catch (const advance_step::Error& error) {
        std::fprintf(stderr, "error %d: %s\n", error.Code(), error.what());
        return EXIT_FAILURE;
    }
    return EXIT_SUCCESS;
}
