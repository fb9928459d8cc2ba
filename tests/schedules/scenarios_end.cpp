// SPDX-License-Identifier: Apache-2.0
// Scenarios of ends: aborts, dropped work, destroyed streams and contexts, resets, the runtime's
// end.
#include "src/runtime/stream/streams.h"
#include "tests/schedules/scenario.h"

namespace schedules {
namespace {

// A reset waits for the work of its streams. Work of another context is not its business.
SCENARIO(OneStream, reset, kLarge) {
    aclrtContext own = nullptr;
    Ok(aclrtCreateContext(&own, 0), "aclrtCreateContext");
    aclrtStream const ownStream = NewStream();
    runtime.Use();
    work.Add(stream, 1);
    RunThreads({[&] {
                    runtime.Use();
                    Ok(aclrtResetDevice(0), "aclrtResetDevice");
                    work.ExpectOnce(1);
                    Ok(aclrtSetDevice(0), "aclrtSetDevice");
                },
                [&] {
                    Ok(aclrtSetCurrentContext(own), "aclrtSetCurrentContext");
                    work.Add(ownStream, 2);
                    Ok(aclrtSynchronizeStream(ownStream), "the other context");
                    work.ExpectOnce(2);
                },
                [&] {
                    if (aclrtSetCurrentContext(runtime.context()) != ACL_SUCCESS) {
                        return;  // the reset was faster
                    }
                    // What is queued is run, by this thread or by the reset before it returns.
                    if (work.Launch(stream, 3) == ACL_SUCCESS &&
                        aclrtSynchronizeStream(stream) == ACL_SUCCESS) {
                        work.ExpectOnce(3);
                    }
                }});
}

// Whatever was queued before the end has run, and calls after it are refused.
SCENARIO(OneStream, finalize, kLarge) {
    int queued = 0;
    RunThreads({[&] {
                    if (aclrtSetCurrentContext(runtime.context()) != ACL_SUCCESS) {
                        return;  // the end was faster
                    }
                    for (int mark = 1; mark < 3; ++mark) {
                        if (work.Launch(stream, mark) == ACL_SUCCESS) {
                            queued = mark;
                            if (aclrtSynchronizeStream(stream) == ACL_SUCCESS) {
                                work.ExpectOnce(mark);
                            }
                        }
                    }
                },
                [&] { Ok(aclFinalize(), "aclFinalize"); }});
    for (int mark = 1; mark <= queued; ++mark) {
        work.ExpectOnce(mark);
    }
    runtime.Ended();
}

// The end of the runtime waits for a context that another thread is destroying.
SCENARIO(Scene, finalize_during_destruction, kLarge) {
    aclrtContext own = nullptr;
    Ok(aclrtCreateContext(&own, 0), "aclrtCreateContext");
    aclrtStream const stream = NewStream();
    bool finalized = false;
    work.Add(stream, 1, [&] { Expect(!finalized, "the runtime has not ended yet"); });
    RunThreads({[&] { (void)aclrtDestroyContext(own); },
                [&] {
                    Ok(aclFinalize(), "aclFinalize");
                    finalized = true;
                    Expect(advstep::TheStreams().Empty(), "no stream outlives the runtime");
                    work.ExpectOnce(1);
                }});
    runtime.Ended();
}

// Resets of two devices and the end of the runtime: whoever ends a device first waits for its work.
SCENARIO(Scene, resets_and_finalize, kLarge) {
    const auto reset = [](int32_t device) {
        ExpectOkOr(aclrtResetDevice(device), ACL_ERROR_RT_CONTEXT_RELEASE_ERROR,
                   "aclrtResetDevice");
    };
    Ok(aclrtSetDevice(1), "aclrtSetDevice");
    aclrtStream const stream = NewStream();
    work.Add(stream, 1);
    RunThreads({[&] {
                    reset(1);
                    work.ExpectOnce(1);
                },
                [&] { reset(0); },
                [&] {
                    Ok(aclFinalize(), "aclFinalize");
                    work.ExpectOnce(1);
                    Expect(advstep::TheStreams().Empty(), "no stream outlives the runtime");
                }});
    runtime.Ended();
}

// A reset waits for a callback of a thread that wants to use the device.
SCENARIO(OneStream, reset_waits_for_a_callback, kSmall) {
    static int ran;
    ran = 0;
    runtime.Run({[&] {
        Ok(aclrtSubscribeReport(ThreadId(), stream), "aclrtSubscribeReport");
        Ok(aclrtLaunchCallback([](void*) { ++ran; }, nullptr, ACL_CALLBACK_BLOCK, stream),
           "aclrtLaunchCallback");
        std::thread other([] { Ok(aclrtResetDeviceForce(0), "aclrtResetDeviceForce"); });
        ExpectOkOr(aclrtSetDevice(0), ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclrtSetDevice");
        ExpectCode(aclFinalize(), ACL_ERROR_RT_FEATURE_NOT_SUPPORT, "aclFinalize");
        Ok(aclrtProcessReport(-1), "aclrtProcessReport");
        Expect(ran == 1, "the callback has run");
        other.join();
        Ok(aclrtSetDevice(0), "aclrtSetDevice");
    }});
}

SCENARIO(Scene, context_destruction, kLarge) {
    aclrtContext own = nullptr;
    Ok(aclrtCreateContext(&own, 0), "aclrtCreateContext");
    aclrtStream const stream = NewStream();
    work.Add(stream, 1);
    RunThreads({[&] {
                    Ok(aclrtDestroyContext(own), "aclrtDestroyContext");
                    work.ExpectOnce(1);
                },
                [&] {
                    if (aclrtSetCurrentContext(own) != ACL_SUCCESS) {
                        return;
                    }
                    const bool queued = work.Launch(stream, 2) == ACL_SUCCESS;
                    const aclError code = aclrtSynchronizeStream(stream);
                    if (queued && code == ACL_SUCCESS) {
                        work.ExpectOrder(1, 2);
                    }
                    aclrtStream next = nullptr;
                    if (aclrtCreateStream(&next) == ACL_SUCCESS) {
                        (void)aclrtDestroyStream(next);
                    }
                }});
}

// A thread subscribes to a stream that another thread destroys: no subscription outlives the
// stream, so the wait for callbacks ends.
SCENARIO(OneStream, subscribe_during_destruction, kSmall) {
    runtime.Run({[&] {
                     ExpectOkOr(aclrtSubscribeReport(ThreadId(), stream),
                                ACL_ERROR_RT_INVALID_HANDLE, "aclrtSubscribeReport");
                     ExpectCode(aclrtProcessReport(-1), ACL_ERROR_RT_THREAD_SUBSCRIBE,
                                "the wait for callbacks");
                 },
                 [&] { Ok(aclrtDestroyStream(stream), "aclrtDestroyStream"); }});
}

}  // namespace

}  // namespace schedules
