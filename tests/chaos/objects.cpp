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
    void* const before = code == 0 ? worker.OneOf(worker.world.streams).exchange(made) : nullptr;
    if (before != nullptr) {
        (void)CHAOS_CALL(aclrtDestroyStream, before);
    }
}

void DestroyStreams(Worker& worker) {
    std::atomic<void*>& slot = worker.OneOf(worker.world.streams);
    void* const stream = worker.random.OneIn(4) ? slot.load() : slot.exchange(nullptr);
    worker.RunOneOf(
        {CHAOS_CHOICE(aclrtDestroyStreamForce, stream), CHAOS_CHOICE(aclrtDestroyStream, stream)});
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
    worker.RunOneOf({CHAOS_CHOICE(aclrtStreamGetId, stream, &id),
                     CHAOS_CHOICE(aclrtStreamGetPriority, stream, &word),
                     CHAOS_CHOICE(aclrtStreamGetFlags, stream, &word),
                     [&] {
                         value.failureMode = number % 3;
                         (void)CHAOS_CALL(aclrtSetStreamAttribute, stream, attribute, &value);
                     },
                     CHAOS_CHOICE(aclrtGetStreamAttribute, stream, attribute, &value),
                     CHAOS_CHOICE(aclrtSetStreamFailureMode, stream, number % 3),
                     CHAOS_CHOICE(aclrtGetStreamAvailableNum, &word),
                     CHAOS_CHOICE(aclrtSetStreamResLimit, stream, type, number),
                     [&] {
                         (void)CHAOS_CALL(aclrtGetStreamResLimit, stream, type, &word);
                         (void)CHAOS_CALL(aclrtResetStreamResLimit, stream);
                     },
                     [&] {
                         (void)CHAOS_CALL(aclrtUseStreamResInCurrentThread, stream);
                         (void)CHAOS_CALL(aclrtUnuseStreamResInCurrentThread, stream);
                     },
                     CHAOS_CHOICE(aclrtStreamQuery, stream, &status)},
                    2);
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
    void* const before = code == 0 ? worker.OneOf(worker.world.events).exchange(made) : nullptr;
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
    worker.RunOneOf(
        {CHAOS_CHOICE(aclrtQueryEventStatus, event, &recorded),
         CHAOS_CHOICE(aclrtQueryEvent, event, &status),
         CHAOS_CHOICE(aclrtQueryEventWaitStatus, event, &waited),
         CHAOS_CHOICE(aclrtEventGetTimestamp, event, &stamp),
         CHAOS_CHOICE(aclrtEventElapsedTime, &time, event, other),
         CHAOS_CHOICE(aclrtResetEvent, event, stream), CHAOS_CHOICE(aclrtGetEventId, event, &id),
         CHAOS_CHOICE(aclrtSynchronizeEvent, event),
         CHAOS_CHOICE(aclrtStreamWaitEventWithTimeout, stream, event,
                      static_cast<int32_t>(worker.random.Between(0, 1))),
         CHAOS_CHOICE(aclrtStreamWaitEvent, stream, event),
         CHAOS_CHOICE(aclrtStreamWaitEvent, stream, event),
         CHAOS_CHOICE(aclrtRecordEvent, event, stream)},
        3);
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
