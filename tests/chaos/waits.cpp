// SPDX-License-Identifier: Apache-2.0
// Synchronisations, notifies, value waits, aborts and holds. Each wait ends: by a timeout, by the
// word that the ticker counts up, or by the ticker's release of holds.
#include "chaos/actions.h"

#include "advance_step/fault_injection.h"
#include "chaos/disturb.h"

namespace chaos {

void Synchronize(Worker& worker) {
    const aclrtStream stream = worker.AnyStream();
    const auto timeout = static_cast<int32_t>(worker.random.Between(-2, 20));
    worker.RunOneOf(
        {CHAOS_CHOICE(aclrtSynchronizeDevice, ),
         CHAOS_CHOICE(aclrtSynchronizeDeviceWithTimeout, timeout),
         CHAOS_CHOICE(aclrtSynchronizeStreamWithTimeout, stream, timeout),
         CHAOS_CHOICE(aclrtSynchronizeEventWithTimeout, worker.OneOf(worker.world.events), timeout),
         CHAOS_CHOICE(aclrtSynchronizeStream, stream)},
        2);
}

void UseNotifies(Worker& worker) {
    std::atomic<void*>& slot = worker.OneOf(worker.world.notifies);
    const aclrtStream stream = worker.AnyStream();
    aclrtNotify notify = slot;
    uint32_t id = 0;
    worker.RunOneOf({[&] {
                         if (CHAOS_CALL(aclrtCreateNotify, &notify, ACL_NOTIFY_DEFAULT) == 0) {
                             void* const before = slot.exchange(notify);
                             if (before != nullptr) {
                                 (void)CHAOS_CALL(aclrtDestroyNotify, before);
                             }
                         }
                     },
                     CHAOS_CHOICE(aclrtGetNotifyId, notify, &id),
                     CHAOS_CHOICE(aclrtNotifyBatchReset, &notify, 1),
                     CHAOS_CHOICE(aclrtWaitAndResetNotify, notify, stream, 1),
                     [&] {
                         // The record is queued first, mostly of another stream.
                         if (CHAOS_CALL(aclrtRecordNotify, notify, worker.AnyStream()) == 0) {
                             (void)CHAOS_CALL(aclrtWaitAndResetNotify, notify, stream, 1);
                         }
                     },
                     CHAOS_CHOICE(aclrtRecordNotify, notify, stream)},
                    3);
}

void UseWords(Worker& worker) {
    const aclrtStream stream = worker.AnyStream();
    void* const word = &worker.world.tick;
    const uint64_t next = worker.world.tick + static_cast<uint64_t>(worker.random.Between(0, 3));
    if (worker.random.OneIn(8)) {
        void* mapped = nullptr;
        (void)CHAOS_CALL(aclrtHostRegister, word, sizeof(uint64_t), ACL_HOST_REGISTER_MAPPED,
                         &mapped);
    } else {
        (void)CHAOS_CALL(aclrtValueWait, word, next, ACL_STREAM_WAIT_VALUE_GEQ, stream);
    }
}

void Abort(Worker& worker) {
    const aclrtStream stream = worker.AnyStream();
    if (worker.random.OneIn(12)) {
        const Disturbs disturbs(&worker.world);
        (void)CHAOS_CALL(aclrtDeviceTaskAbort,
                         static_cast<int32_t>(worker.random.Between(-1, worker.world.threads)),
                         static_cast<uint32_t>(worker.random.Between(0, 2000)));
    } else if (worker.random.OneIn(2)) {
        (void)CHAOS_CALL(aclrtStreamStop, stream);
    } else {
        (void)CHAOS_CALL(aclrtStreamAbort, stream);
    }
}

void Hold(Worker& worker) {
    const aclrtStream stream = worker.AnyStream();
    uint64_t hold = 0;
    switch (worker.random.Between(0, 3)) {
        case 0:
            if (CHAOS_CALL(advstepHoldStream, stream, &hold) == 0 && worker.random.OneIn(2)) {
                (void)CHAOS_CALL(advstepReleaseHold, hold);
            }
            break;
        case 1:
            (void)CHAOS_CALL(advstepFailStream, stream, ACL_ERROR_RT_AICORE_EXCEPTION);
            break;
        default:
            (void)CHAOS_CALL(advstepDelayStream, stream,
                             static_cast<uint64_t>(worker.random.Between(0, 2000)));
    }
}

}  // namespace chaos
