// SPDX-License-Identifier: Apache-2.0
// More streams, events, notifies, models and pinned bytes than a device has, and programs that stay
// below.
#include "corpus.h"
#include "device_program.h"

namespace corpus {

const support::Settings kFew = {
    {"ADVANCE_STEP_LIMITS", "streams=64,events=64,notifies=64,models=16,pinned_bytes=1M"}};

aclmdlRI CaptureWithABranch(void* memory, aclrtStream main, aclrtStream branch) {
    const aclrtEvent forked = NewCaptureEvent();
    const aclrtEvent joined = NewCaptureEvent();
    Must(aclmdlRICaptureBegin(main, ACL_MODEL_RI_CAPTURE_MODE_RELAXED));
    Must(aclrtRecordEvent(forked, main));
    Must(aclrtStreamWaitEvent(branch, forked));
    Fill(memory, branch);
    Must(aclrtRecordEvent(joined, branch));
    Must(aclrtStreamWaitEvent(main, joined));
    aclmdlRI model = nullptr;
    if (aclmdlRICaptureEnd(main, &model) != ACL_SUCCESS) {
        model = nullptr;
    }
    Must(aclrtDestroyEvent(forked));
    Must(aclrtDestroyEvent(joined));
    return model;
}

// ---- bad

// vllm-ascend (ACL graphs, 207008 at the begin of a capture): more streams than an A2 has.
BAD_PROGRAM(MakesTooManyStreams, "limits",
            {{"limits", "streams", {"1984", "MakesTooManyStreams"}}}) {
    // [MakesTooManyStreams]
    aclrtStream stream = nullptr;
    int made = 0;
    while (made < 4000 && aclrtCreateStream(&stream) == ACL_SUCCESS) {
        ++made;
    }
    // [/MakesTooManyStreams]
}

// vllm-ascend: each captured size keeps streams for its branches.
BAD_PROGRAM(CapturesTooManyBranches, "limits",
            {{"limits", "streams|models", {"CaptureWithABranch"}}}, {},
            {{"ADVANCE_STEP_LIMITS", "streams=64"}}) {
    const aclrtStream main = NewStream();
    const aclrtStream branch = NewStream();
    void* const memory = NewMemory();
    int captured = 0;
    while (captured < 400 && CaptureWithABranch(memory, main, branch) != nullptr) {
        ++captured;
    }
}

BAD_PROGRAM(CapturesTooManyModels, "limits", {{"limits", "models", {"16"}}}, {}, kFew) {
    const aclrtStream stream = NewStream();
    void* const memory = NewMemory();
    for (int i = 0; i < 40; ++i) {
        aclmdlRI model = nullptr;
        if (aclmdlRICaptureBegin(stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED) != ACL_SUCCESS) {
            return;
        }
        Fill(memory, stream);
        if (aclmdlRICaptureEnd(stream, &model) != ACL_SUCCESS) {
            return;
        }
    }
}

// torch users: an event per step, none of which is destroyed.
BAD_PROGRAM(KeepsAnEventPerStep, "limits", {{"limits", "events", {"64", "KeepsAnEventPerStep"}}},
            {}, kFew) {
    aclrtEvent event = nullptr;
    int made = 0;
    while (made < 400 && aclrtCreateEvent(&event) == ACL_SUCCESS) {
        ++made;
    }
}

// Mooncake: a notify per connection.
BAD_PROGRAM(KeepsANotifyPerPeer, "limits", {{"limits", "notifies", {"64", "KeepsANotifyPerPeer"}}},
            {}, kFew) {
    aclrtNotify notify = nullptr;
    int made = 0;
    while (made < 400 && aclrtCreateNotify(&notify, ACL_NOTIFY_DEFAULT) == ACL_SUCCESS) {
        ++made;
    }
}

// KV stores: a pinned pool that is larger than what the host can pin.
BAD_PROGRAM(PinsTooMuch, "limits", {{"limits", "pinned_bytes", {"1048576", "PinsTooMuch"}}}, {},
            kFew) {
    void* pinned = nullptr;
    int made = 0;
    while (made < 400 && aclrtMallocHost(&pinned, size_t{64} << 10) == ACL_SUCCESS) {
        ++made;
    }
}

// ---- right

RIGHT_PROGRAM(MakesAndDestroysManyStreams) {
    for (int i = 0; i < 3000; ++i) {
        Must(aclrtDestroyStream(NewStream()));
    }
}

RIGHT_PROGRAM(AsksHowManyStreamsAreLeft) {
    uint32_t left = 0;
    Must(aclrtGetStreamAvailableNum(&left));
    for (uint32_t i = 0; i < left && i < 1900; ++i) {
        NewStream();
    }
}

RIGHT_PROGRAM(CapturesAndDestroysManyModels) {
    const aclrtStream main = NewStream();
    const aclrtStream branch = NewStream();
    void* const memory = NewMemory();
    for (int i = 0; i < 300; ++i) {
        const aclmdlRI model = CaptureWithABranch(memory, main, branch);
        Must(aclmdlRIExecuteAsync(model, main));
        Synchronize(main);
        Must(aclmdlRIDestroy(model));
    }
}

RIGHT_PROGRAM(PinsAndFreesInTurn) {
    for (int i = 0; i < 100; ++i) {
        Must(aclrtFreeHost(NewPinned(size_t{1} << 20)));
    }
}

}  // namespace corpus
