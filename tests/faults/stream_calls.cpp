// SPDX-License-Identifier: Apache-2.0
// Streams, host functions, callbacks, notifies, words and resource limits.
#include "faults/scene.h"

namespace faults {
namespace {

uint64_t Self() { return static_cast<uint64_t>(pthread_self()); }

int Subscribe(Scene& s) { return aclrtSubscribeReport(Self(), s.stream); }
int Unsubscribe(Scene& s) { return aclrtUnSubscribeReport(Self(), s.stream); }

aclrtStreamAttrValue Priority() {
    aclrtStreamAttrValue value{};
    value.streamPriority = 3;
    return value;
}

constexpr AdvStepHostOperator kHostOperator{
    "nothing", [](void*, char*, size_t) -> int32_t { return 0; }, nullptr, nullptr, nullptr, 0};

}  // namespace

std::vector<Call> StreamCalls() {
    return {
        ADVSTEP_MAKES(aclrtCreateStream, aclrtDestroyStream, &s.made),
        ADVSTEP_MAKES(aclrtCreateStreamWithConfig, aclrtDestroyStream, &s.made, 1,
                      ACL_STREAM_FAST_SYNC),
        {"aclrtDestroyStream",
         [](Scene& s) -> int {
             return First(
                 {aclrtCreateStream(&s.made), aclrtLaunchHostFunc(s.made, &Nothing, nullptr)});
         },
         [](Scene& s) -> int { return aclrtDestroyStream(s.made); }, nullptr},
        {"aclrtDestroyStreamForce",
         [](Scene& s) -> int {
             return First(
                 {aclrtCreateStream(&s.made), aclrtLaunchHostFunc(s.made, &Nothing, nullptr)});
         },
         [](Scene& s) -> int { return aclrtDestroyStreamForce(s.made); }, nullptr},
        ADVSTEP_PLAIN(aclrtSynchronizeStreamWithTimeout, s.stream, 10000),
        ADVSTEP_PLAIN(aclrtLaunchHostFunc, s.stream, &Nothing, nullptr),
        {"aclrtLaunchHostFuncs", nullptr,  // more than a segment of the queue holds
         [](Scene& s) -> int {
             for (int i = 0; i < 1000; ++i) {
                 if (const int code = aclrtLaunchHostFunc(s.stream, &Nothing, nullptr)) {
                     return code;
                 }
             }
             return 0;
         },
         nullptr},
        ADVSTEP_PLAIN(advstepLaunchHostOperator, s.stream, &kHostOperator),
        ADVSTEP_PLAIN(advstepLaunchShortHostOperator, s.stream, &kHostOperator),
        {"aclrtSetStreamFailureMode", nullptr,
         [](Scene& s) -> int {
             return aclrtSetStreamFailureMode(s.stream, ACL_CONTINUE_ON_FAILURE);
         },
         nullptr},
        {"aclrtSetStreamAttribute", nullptr,
         [](Scene& s) -> int {
             aclrtStreamAttrValue value = Priority();
             return aclrtSetStreamAttribute(s.stream, ACL_STREAM_ATTR_PRIORITY, &value);
         },
         nullptr},
        {"aclrtGetStreamAttribute", nullptr,
         [](Scene& s) -> int {
             aclrtStreamAttrValue value{};
             return aclrtGetStreamAttribute(s.stream, ACL_STREAM_ATTR_PRIORITY, &value);
         },
         nullptr},

        {"aclrtSubscribeReport", nullptr, &Subscribe, &Unsubscribe},
        {"aclrtUnSubscribeReport", &Subscribe, &Unsubscribe, nullptr},
        {"aclrtLaunchCallback", &Subscribe,
         [](Scene& s) -> int {
             return aclrtLaunchCallback(&Nothing, nullptr, ACL_CALLBACK_NO_BLOCK, s.stream);
         },
         [](Scene& s) -> int {
             return First({aclrtProcessReport(10000), Unsubscribe(s)});
         }},
        {"aclrtProcessReport",
         [](Scene& s) -> int {
             return First({Subscribe(s),
                           aclrtLaunchCallback(&Nothing, nullptr, ACL_CALLBACK_BLOCK, s.stream)});
         },
         [](Scene&) -> int { return aclrtProcessReport(10000); }, &Unsubscribe},

        {"aclrtCreateNotify", nullptr,
         [](Scene& s) -> int { return aclrtCreateNotify(&s.made, 0); },
         [](Scene& s) -> int { return aclrtDestroyNotify(s.made); }},
        ADVSTEP_TAKES(aclrtDestroyNotify, aclrtCreateNotify(&s.made, 0), s.made),
        {"aclrtWaitAndResetNotify",
         [](Scene& s) -> int {
             return First(
                 {aclrtRecordNotify(s.notify, s.stream), aclrtSynchronizeStream(s.stream)});
         },
         [](Scene& s) -> int { return aclrtWaitAndResetNotify(s.notify, s.stream, 10); }, nullptr},
        ADVSTEP_PLAIN(aclrtValueWrite, s.device, 5, 0, s.stream),
        {"aclrtValueWait",
         [](Scene& s) -> int {
             return First(
                 {aclrtValueWrite(s.device, 5, 0, s.stream), aclrtSynchronizeStream(s.stream)});
         },
         [](Scene& s) -> int {
             return aclrtValueWait(s.device, 5, ACL_STREAM_WAIT_VALUE_EQ, s.stream);
         },
         nullptr},

        ADVSTEP_PLAIN(aclrtSetDeviceResLimit, 0, ACL_RT_DEV_RES_VECTOR_CORE, 3),
        ADVSTEP_PLAIN(aclrtGetDeviceResLimit, 0, ACL_RT_DEV_RES_VECTOR_CORE,
                      reinterpret_cast<uint32_t*>(s.host)),
        ADVSTEP_PLAIN(aclrtSetStreamResLimit, s.stream, ACL_RT_DEV_RES_VECTOR_CORE, 3),
        ADVSTEP_PLAIN(aclrtGetStreamResLimit, s.stream, ACL_RT_DEV_RES_VECTOR_CORE,
                      reinterpret_cast<uint32_t*>(s.host)),
        {"aclrtUseStreamResInCurrentThread", nullptr,
         [](Scene& s) -> int { return aclrtUseStreamResInCurrentThread(s.stream); },
         [](Scene& s) -> int { return aclrtUnuseStreamResInCurrentThread(s.stream); }},
        ADVSTEP_TAKES(aclrtUnuseStreamResInCurrentThread,
                      aclrtUseStreamResInCurrentThread(s.stream), s.stream),
        ADVSTEP_PLAIN(aclrtGetResInCurrentThread, ACL_RT_DEV_RES_VECTOR_CORE,
                      reinterpret_cast<uint32_t*>(s.host)),
    };
}

}  // namespace faults
