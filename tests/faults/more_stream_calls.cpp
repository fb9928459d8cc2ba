// SPDX-License-Identifier: Apache-2.0
// Configurations of streams, reductions, copies by pointers on the device, prints of models.
#include <pthread.h>
#include <unistd.h>

#include "faults/scene.h"

namespace faults {
namespace {

// The scene's memory with the addresses of two places in it.
int PreparePointers(Scene& s) {
    char* const begin = static_cast<char*>(s.device);
    void* pointers[2] = {begin + 64, begin + 128};
    return aclrtMemcpy(begin, 16, pointers, 16, ACL_MEMCPY_HOST_TO_DEVICE);
}

int MakeModel(Scene& s) {
    return First({aclmdlRICaptureBegin(s.stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED),
                  aclrtMemsetAsync(s.device, kBytes, 1, 64, s.stream),
                  aclmdlRICaptureEnd(s.stream, &s.made)});
}
int DropModel(Scene& s) { return aclmdlRIDestroy(s.made); }

}  // namespace

std::vector<Call> MoreStreamCalls() {
    return {
        {"aclrtCreateStreamConfigHandle", nullptr,
         [](Scene& s) -> int {
             s.made = aclrtCreateStreamConfigHandle();
             return s.made != nullptr ? 0 : ACL_ERROR_BAD_ALLOC;
         },
         [](Scene& s) -> int {
             return aclrtDestroyStreamConfigHandle(static_cast<aclrtStreamConfigHandle*>(s.made));
         }},
        {"aclrtDestroyStreamConfigHandle",
         [](Scene& s) -> int {
             s.made = aclrtCreateStreamConfigHandle();
             return 0;
         },
         [](Scene& s) -> int {
             return aclrtDestroyStreamConfigHandle(static_cast<aclrtStreamConfigHandle*>(s.made));
         },
         nullptr},
        {"aclrtSetStreamConfigOpt", nullptr,
         [](Scene&) -> int {
             aclrtStreamConfigHandle config{};
             const uint32_t priority = 3;
             return aclrtSetStreamConfigOpt(&config, ACL_RT_STREAM_PRIORITY, &priority,
                                            sizeof(priority));
         },
         nullptr},
        ADVSTEP_MAKES(aclrtCreateStreamV2, aclrtDestroyStream, &s.made, nullptr),
        {"aclrtSubscribeHostFunc", nullptr,
         [](Scene& s) -> int {
             return aclrtSubscribeHostFunc(static_cast<uint64_t>(pthread_self()), s.stream);
         },
         [](Scene& s) -> int {
             return aclrtUnSubscribeHostFunc(static_cast<uint64_t>(pthread_self()), s.stream);
         }},
        {"aclrtUnSubscribeHostFunc",
         [](Scene& s) -> int {
             return aclrtSubscribeHostFunc(static_cast<uint64_t>(pthread_self()), s.stream);
         },
         [](Scene& s) -> int {
             return aclrtUnSubscribeHostFunc(static_cast<uint64_t>(pthread_self()), s.stream);
         },
         nullptr},
        {"aclrtProcessHostFunc",
         [](Scene& s) -> int {
             return First(
                 {aclrtSubscribeHostFunc(static_cast<uint64_t>(pthread_self()), s.stream),
                  aclrtLaunchCallback(&Nothing, nullptr, ACL_CALLBACK_NO_BLOCK, s.stream)});
         },
         [](Scene&) -> int { return aclrtProcessHostFunc(10000); },
         [](Scene& s) -> int {
             return aclrtUnSubscribeHostFunc(static_cast<uint64_t>(pthread_self()), s.stream);
         }},
        ADVSTEP_PLAIN(aclrtMemcpyAsyncWithCondition, s.device, kBytes, s.pinned, kBytes,
                      ACL_MEMCPY_HOST_TO_DEVICE, s.stream),
        {"aclrtMemcpyAsyncWithOffset", &PreparePointers,
         [](Scene& s) -> int {
             auto** const dst = static_cast<void**>(s.device);
             return aclrtMemcpyAsyncWithOffset(dst, 64, 0, const_cast<const void**>(dst + 1), 32, 0,
                                               ACL_MEMCPY_INNER_DEVICE_TO_DEVICE, s.stream);
         },
         nullptr},
        {"aclrtReduceAsync", nullptr,
         [](Scene& s) -> int {
             return aclrtReduceAsync(s.device, static_cast<char*>(s.device) + 64, 64,
                                     ACL_RT_MEMCPY_SDMA_AUTOMATIC_SUM, ACL_INT32, s.stream,
                                     nullptr);
         },
         nullptr},
        {"aclmdlRIGetId", &MakeModel,
         [](Scene& s) -> int { return aclmdlRIGetId(s.made, reinterpret_cast<uint32_t*>(s.host)); },
         &DropModel},
        {"aclmdlRIDebugPrint", &MakeModel,
         [](Scene& s) -> int { return aclmdlRIDebugPrint(s.made); }, &DropModel},
        {"aclmdlRIDebugJsonPrint", &MakeModel,
         [](Scene& s) -> int { return aclmdlRIDebugJsonPrint(s.made, "/dev/null", 1); },
         &DropModel},
    };
}

}  // namespace faults
