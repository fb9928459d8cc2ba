// SPDX-License-Identifier: Apache-2.0
// Streams, events and contexts that all threads share.
#include "chaos/actions.h"

namespace chaos {

void MakeStreams(Worker& worker) {
    aclrtStream made = nullptr;
    int code = 0;
    if (worker.random.OneIn(3)) {
        const auto priority = static_cast<uint32_t>(worker.random.Between(0, 8));
        const auto flag = static_cast<uint32_t>(worker.random.Between(0, 7));
        code = CHAOS_CALL(aclrtCreateStreamWithConfig, &made, priority, flag);
    } else {
        code = CHAOS_CALL(aclrtCreateStream, &made);
    }
    if (code != 0) {
        return;
    }
    void* const before = worker.OneOf(worker.world.streams).exchange(made);
    if (before != nullptr) {
        (void)CHAOS_CALL(aclrtDestroyStream, before);
    }
}

void DestroyStreams(Worker& worker) {
    std::atomic<void*>& slot = worker.OneOf(worker.world.streams);
    void* const stream = worker.random.OneIn(4) ? slot.load() : slot.exchange(nullptr);
    if (worker.random.OneIn(2)) {
        (void)CHAOS_CALL(aclrtDestroyStreamForce, stream);
    } else {
        (void)CHAOS_CALL(aclrtDestroyStream, stream);
    }
}

void UseStreams(Worker& worker) {
    const aclrtStream stream = worker.AnyStream();
    int32_t id = 0;
    uint32_t word = 0;
    aclrtStreamAttrValue value = {};
    aclrtStreamStatus status = ACL_STREAM_STATUS_RESERVED;
    const auto attribute = static_cast<aclrtStreamAttr>(worker.random.Between(1, 5));
    const auto type = static_cast<aclrtDevResLimitType>(worker.random.Between(0, 1));
    const auto number = static_cast<uint32_t>(worker.random.Between(0, 9));
    switch (worker.random.Between(0, 11)) {
        case 0:
            (void)CHAOS_CALL(aclrtStreamGetId, stream, &id);
            break;
        case 1:
            (void)CHAOS_CALL(aclrtStreamGetPriority, stream, &word);
            break;
        case 2:
            (void)CHAOS_CALL(aclrtStreamGetFlags, stream, &word);
            break;
        case 3:
            value.failureMode = number % 3;
            (void)CHAOS_CALL(aclrtSetStreamAttribute, stream, attribute, &value);
            break;
        case 4:
            (void)CHAOS_CALL(aclrtGetStreamAttribute, stream, attribute, &value);
            break;
        case 5:
            (void)CHAOS_CALL(aclrtSetStreamFailureMode, stream, number % 3);
            break;
        case 6:
            (void)CHAOS_CALL(aclrtGetStreamAvailableNum, &word);
            break;
        case 7:
            (void)CHAOS_CALL(aclrtSetStreamResLimit, stream, type, number);
            break;
        case 8:
            (void)CHAOS_CALL(aclrtGetStreamResLimit, stream, type, &word);
            (void)CHAOS_CALL(aclrtResetStreamResLimit, stream);
            break;
        case 9:
            (void)CHAOS_CALL(aclrtUseStreamResInCurrentThread, stream);
            (void)CHAOS_CALL(aclrtUnuseStreamResInCurrentThread, stream);
            break;
        default:
            (void)CHAOS_CALL(aclrtStreamQuery, stream, &status);
    }
}

void MakeEvents(Worker& worker) {
    aclrtEvent made = nullptr;
    int code = 0;
    const auto flag = static_cast<uint32_t>(worker.random.Between(0, 15));
    switch (worker.random.Between(0, 2)) {
        case 0:
            code = CHAOS_CALL(aclrtCreateEvent, &made);
            break;
        case 1:
            code = CHAOS_CALL(aclrtCreateEventWithFlag, &made, flag);
            break;
        default:
            code = CHAOS_CALL(aclrtCreateEventExWithFlag, &made, flag);
    }
    if (code != 0) {
        return;
    }
    void* const before = worker.OneOf(worker.world.events).exchange(made);
    if (before != nullptr) {
        (void)CHAOS_CALL(aclrtDestroyEvent, before);
    }
}

void UseEvents(Worker& worker) {
    const aclrtEvent event = worker.OneOf(worker.world.events);
    const aclrtEvent other = worker.OneOf(worker.world.events);
    const aclrtStream stream = worker.AnyStream();
    aclrtEventRecordedStatus recorded = ACL_EVENT_RECORDED_STATUS_NOT_READY;
    aclrtEventStatus status = ACL_EVENT_STATUS_RESERVED;
    aclrtEventWaitStatus waited = ACL_EVENT_WAIT_STATUS_RESERVED;
    uint64_t stamp = 0;
    uint32_t id = 0;
    float time = 0;
    switch (worker.random.Between(0, 13)) {
        case 0:
            (void)CHAOS_CALL(aclrtQueryEventStatus, event, &recorded);
            break;
        case 1:
            (void)CHAOS_CALL(aclrtQueryEvent, event, &status);
            break;
        case 2:
            (void)CHAOS_CALL(aclrtQueryEventWaitStatus, event, &waited);
            break;
        case 3:
            (void)CHAOS_CALL(aclrtEventGetTimestamp, event, &stamp);
            break;
        case 4:
            (void)CHAOS_CALL(aclrtEventElapsedTime, &time, event, other);
            break;
        case 5:
            (void)CHAOS_CALL(aclrtResetEvent, event, stream);
            break;
        case 6:
            (void)CHAOS_CALL(aclrtGetEventId, event, &id);
            break;
        case 7:
            (void)CHAOS_CALL(aclrtSynchronizeEvent, event);
            break;
        case 8:
            (void)CHAOS_CALL(aclrtStreamWaitEventWithTimeout, stream, event,
                             static_cast<int32_t>(worker.random.Between(0, 1)));
            break;
        case 9:
        case 10:
            (void)CHAOS_CALL(aclrtStreamWaitEvent, stream, event);
            break;
        default:
            (void)CHAOS_CALL(aclrtRecordEvent, event, stream);
    }
}

void UseContexts(Worker& worker) {
    aclrtContext context = nullptr;
    aclrtStream stream = nullptr;
    const auto device = static_cast<int32_t>(worker.random.Between(0, worker.world.threads - 1));
    switch (worker.random.Between(0, 5)) {
        case 0:
            if (CHAOS_CALL(aclrtCreateContext, &context, device) == 0) {
                void* const before = worker.OneOf(worker.world.contexts).exchange(context);
                if (before != nullptr) {
                    (void)CHAOS_CALL(aclrtDestroyContext, before);
                }
            }
            break;
        case 1:
            (void)CHAOS_CALL(aclrtGetCurrentContext, &context);
            break;
        case 2:
            (void)CHAOS_CALL(aclrtCtxGetCurrentDefaultStream, &stream);
            break;
        default:
            (void)CHAOS_CALL(aclrtSetCurrentContext, worker.OneOf(worker.world.contexts));
    }
}

}  // namespace chaos
