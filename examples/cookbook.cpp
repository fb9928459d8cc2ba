// SPDX-License-Identifier: Apache-2.0
// The recipes of docs/cookbook.md: cookbook runs all of them, cookbook leak the one that leaks.
#include <cstdint>
#include <cstdio>
#include <cstring>
#include <vector>

#include "advance_step/advance_step.hpp"
#include "advance_step/fault_injection.h"
#include "check.h"

namespace {

using namespace advance_step;
using Values = std::vector<int64_t>;

// Two sequences of 5 and 8 tokens and a padding row, on blocks of 4 tokens.
struct Batch {
    Tensor inputTokens = Tensor::From({3}, Values{0, 0, 0});
    Tensor sampledTokenIds = Tensor::From({2, 1}, Values{101, 102});
    Tensor inputPositions = Tensor::From({3}, Values{0, 0, 0});
    Tensor seqLens = Tensor::From({3}, Values{5, 8, 0});
    Tensor slotMapping = Tensor::From({3}, Values{0, 0, 0});
    Tensor blockTables = Tensor::From({3, 6}, Values{1, 2, 3, 4, 5, 6,     //
                                                     7, 8, 9, 10, 11, 12,  //
                                                     0, 0, 0, 0, 0, 0});

    AdvanceStepArguments Arguments() const {
        AdvanceStepArguments arguments;
        arguments.inputTokens = inputTokens;
        arguments.sampledTokenIds = sampledTokenIds;
        arguments.inputPositions = inputPositions;
        arguments.seqLens = seqLens;
        arguments.slotMapping = slotMapping;
        arguments.blockTables = blockTables;
        arguments.numSeqs = 3;
        arguments.numQueries = 2;
        arguments.blockSize = 4;
        return arguments;
    }
    int64_t FirstLength() const { return seqLens.Download<int64_t>()[0]; }
};

// [third]
void MakeTheThirdLaunchFail(const Batch& batch, const Stream& stream) {
    const Executor step = AdvanceStep::Plan(batch.Arguments());
    advstepFailLaunch(3, ACL_ERROR_RT_VECTOR_CORE_EXCEPTION, ADVSTEP_FAULT_IN_STREAM);
    int failed = 0;
    for (int i = 1; i <= 4; ++i) {
        step.Run(stream);
        if (const auto ended = stream.TrySynchronize(); !ended) {
            REQUIRE(ended.error().Code() == ACL_ERROR_RT_VECTOR_CORE_EXCEPTION);
            failed = i;
        }
    }
    advstepClearFaults();
    REQUIRE(failed == 3);
    REQUIRE(batch.FirstLength() == 5 + 3);  // the third has written nothing
}
// [/third]

// [loop]
void ALoopNeverSynchronises(const Batch& batch, const Stream& stream, const Device& device) {
    const Executor step = AdvanceStep::Plan(batch.Arguments());
    const uint64_t before = device.Counter("launches");
    uint64_t hold = 0;
    CHECK(advstepHoldStream(stream.Get(), &hold));  // nothing behind it runs
    for (int i = 0; i < 10; ++i) {
        step.Run(stream);  // the loop under test
    }
    // A wait for the stream would not have ended, and another stream would have run its launches.
    REQUIRE(device.Counter("launches") == before);
    CHECK(advstepReleaseHold(hold));
    stream.Synchronize();
    REQUIRE(device.Counter("launches") == before + 10);
}
// [/loop]

// [leak]
void ForgetAStream() {
    aclrtStream forgotten = nullptr;
    CHECK(aclrtCreateStream(&forgotten));
}
// [/leak]

// [devices]
void SendFromOneDeviceToTheOther() {
    const Device first = Device::Open(0);
    const Tensor sent = Tensor::From({3}, Values{7, 8, 9});
    const Device second = Device::Open(1);  // the current device of the thread from now on
    const Tensor received = Tensor::From({3}, Values{0, 0, 0});
    int32_t canAccess = 0;
    CHECK(aclrtDeviceCanAccessPeer(&canAccess, 1, 0));
    REQUIRE(canAccess == 1);
    CHECK(aclrtDeviceEnablePeerAccess(0, 0));  // device 1 may use memory of device 0
    const Stream stream = Stream::Create();    // of device 1
    CHECK(aclrtMemcpyAsync(received.Memory().Data(), received.Memory().Size(), sent.Memory().Data(),
                           sent.Memory().Size(), ACL_MEMCPY_DEVICE_TO_DEVICE, stream.Get()));
    stream.Synchronize();
    REQUIRE((received.Download<int64_t>() == Values{7, 8, 9}));
}
// [/devices]

// [capture]
void CaptureAStep(const Batch& batch, const Stream& stream) {
    const Executor step = AdvanceStep::Plan(batch.Arguments());
    const int64_t before = batch.FirstLength();
    aclmdlRI model = nullptr;
    CHECK(aclmdlRICaptureBegin(stream.Get(), ACL_MODEL_RI_CAPTURE_MODE_GLOBAL));
    step.Run(stream);  // recorded, and not run
    CHECK(aclmdlRICaptureEnd(stream.Get(), &model));
    REQUIRE(batch.FirstLength() == before);
    for (int replay = 0; replay < 3; ++replay) {
        CHECK(aclmdlRIExecuteAsync(model, stream.Get()));
    }
    stream.Synchronize();
    REQUIRE(batch.FirstLength() == before + 3);
    CHECK(aclmdlRIDestroy(model));
}
// [/capture]

void RunRecipes() {
    {
        const Device device = Device::Open(0);
        const Stream stream = Stream::Create();
        MakeTheThirdLaunchFail(Batch(), stream);
        ALoopNeverSynchronises(Batch(), stream, device);
        CaptureAStep(Batch(), stream);
    }
    SendFromOneDeviceToTheOther();
    std::puts("all recipes work");
}

}  // namespace

int main(int argc, char** argv) {
    CHECK(aclInit(nullptr));
    try {
        if (argc > 1 && std::strcmp(argv[1], "leak") == 0) {
            CHECK(aclrtSetDevice(0));
            ForgetAStream();
        } else {
            RunRecipes();
        }
    } catch (const Error& error) {
        std::fprintf(stderr, "error %d: %s\n", error.Code(), error.what());
        return EXIT_FAILURE;
    }
    CHECK(aclFinalize());
    return EXIT_SUCCESS;
}
