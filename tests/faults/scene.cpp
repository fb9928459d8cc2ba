// SPDX-License-Identifier: Apache-2.0
// Opens and closes the scene: the objects that fault tests call functions on.

#include "faults/scene.h"

namespace faults {

int Scene::Open() {
    constexpr uint32_t kAll = ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE;
    int code = First({aclInit(nullptr), aclrtSetDevice(0), aclrtGetCurrentContext(&context),
                      aclrtCreateStream(&stream), aclrtCreateStream(&other),
                      aclrtCreateEventExWithFlag(&event, kAll), aclrtCreateEvent(&plain),
                      aclrtCreateEventWithFlag(&resettable, kAll), aclrtCreateNotify(&notify, 0),
                      aclrtMalloc(&device, kBytes, ACL_MEM_MALLOC_HUGE_FIRST),
                      aclrtMallocHost(&pinned, kBytes)});
    for (const aclrtEvent each : {event, plain, resettable}) {
        code = First({code, code == 0 ? aclrtRecordEvent(each, other) : 0});
    }
    return First({code, code == 0 ? aclrtSynchronizeStream(other) : 0});
}

int Scene::Close() {
    batch.reset();
    return First({aclrtSynchronizeDevice(), aclrtDestroyNotify(notify), aclrtDestroyEvent(event),
                  aclrtDestroyEvent(plain), aclrtDestroyEvent(resettable), aclrtFree(device),
                  aclrtFreeHost(pinned), aclrtDestroyStream(stream), aclrtDestroyStream(other),
                  aclrtResetDevice(0), aclFinalize()});
}

}  // namespace faults
