// SPDX-License-Identifier: Apache-2.0
// Captures, replays, task groups and conditional tasks on streams and models that all threads
// share.

#include "chaos/actions.h"

namespace chaos {
namespace {

void PutModel(Worker& worker, aclmdlRI model) {
    void* const before = worker.OneOf(worker.world.models).exchange(model);
    if (before != nullptr) {
        (void)CHAOS_CALL(aclmdlRIDestroy, before);
    }
}

void EndOne(Worker& worker, aclrtStream stream) {
    aclmdlRI model = nullptr;
    if (CHAOS_CALL(aclmdlRICaptureEnd, stream, &model) == 0 && model != nullptr) {
        PutModel(worker, model);
    }
}

void Nothing(void*) {}

}  // namespace

void BeginCaptures(Worker& worker) {
    // A global capture forbids calls to all threads, so it is rare and short.
    const bool isGlobal = worker.random.OneIn(8);
    const aclmdlRICaptureMode mode = isGlobal ? ACL_MODEL_RI_CAPTURE_MODE_GLOBAL
                                     : worker.random.OneIn(2)
                                         ? ACL_MODEL_RI_CAPTURE_MODE_RELAXED
                                         : ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL;
    const aclrtStream stream = worker.AnyStream();
    if (CHAOS_CALL(aclmdlRICaptureBegin, stream, mode) != 0) {
        return;
    }
    for (int64_t count = worker.random.Between(0, 4); count > 0; --count) {
        (void)CHAOS_CALL(aclrtLaunchHostFunc, stream, Nothing, nullptr);
    }
    if (isGlobal || worker.random.OneIn(2)) {
        EndOne(worker, stream);
    }
}

void EndCaptures(Worker& worker) {
    if (worker.random.OneIn(4)) {
        for (const std::atomic<void*>& stream : worker.world.streams) {
            EndOne(worker, stream);
        }
        return;
    }
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    aclmdlRICaptureMode mode = ACL_MODEL_RI_CAPTURE_MODE_RELAXED;
    aclmdlRI model = nullptr;
    const aclrtStream stream = worker.AnyStream();
    switch (worker.random.Between(0, 3)) {
        case 0:
            (void)CHAOS_CALL(aclmdlRICaptureGetInfo, stream, &status, &model);
            break;
        case 1:
            (void)CHAOS_CALL(aclmdlRICaptureThreadExchangeMode, &mode);
            break;
        default:
            EndOne(worker, stream);
    }
}

void Replay(Worker& worker) {
    std::atomic<void*>& slot = worker.OneOf(worker.world.models);
    const aclmdlRI model = slot;
    uint32_t id = 0;
    switch (worker.random.Between(0, 7)) {
        case 0:
            (void)CHAOS_CALL(aclmdlRIDestroy, slot.exchange(nullptr));
            break;
        case 1:
            (void)CHAOS_CALL(aclmdlRIGetId, model, &id);
            break;
        case 2:
        case 3:
            (void)CHAOS_CALL(aclmdlRIExecute, model,
                             static_cast<int32_t>(worker.random.Between(1, 50)));
            break;
        default:
            (void)CHAOS_CALL(aclmdlRIExecuteAsync, model, worker.AnyStream());
    }
}

void UseGroups(Worker& worker) {
    const aclrtStream stream = worker.AnyStream();
    std::atomic<void*>& slot = worker.OneOf(worker.world.groups);
    aclrtTaskGrp group = slot;
    switch (worker.random.Between(0, 4)) {
        case 0:
            if (CHAOS_CALL(aclmdlRICaptureTaskGrpBegin, stream) == 0) {
                LaunchHostOperators(worker);
                LaunchHostExecutors(worker);
            }
            break;
        case 1:
            if (CHAOS_CALL(aclmdlRICaptureTaskGrpEnd, stream, &group) == 0) {
                slot = group;
            }
            break;
        case 2:
            (void)CHAOS_CALL(aclmdlRICaptureTaskUpdateEnd, stream);
            break;
        default:
            if (CHAOS_CALL(aclmdlRICaptureTaskUpdateBegin, stream, group) == 0 &&
                worker.random.OneIn(2)) {
                (void)CHAOS_CALL(aclmdlRICaptureTaskUpdateEnd, stream);
            }
    }
}

void UseConditions(Worker& worker) {
    aclrtStream stream = nullptr;
    aclrtStream inner = nullptr;
    aclmdlRI model = nullptr;
    aclmdlRI part = nullptr;
    aclmdlRICondHandle condition = nullptr;
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    if (CHAOS_CALL(aclrtCreateStream, &stream) != 0) {
        return;
    }
    const bool isLoop = worker.random.OneIn(3);
    const aclmdlRICondTaskType type =
        isLoop ? ACL_MODEL_RI_COND_TYPE_WHILE : ACL_MODEL_RI_COND_TYPE_IF;
    if (CHAOS_CALL(aclmdlRICaptureBegin, stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED) == 0) {
        if (CHAOS_CALL(aclmdlRICaptureGetInfo, stream, &status, &model) == 0 &&
            CHAOS_CALL(aclmdlRICondHandleCreate, model, isLoop ? 0 : 1,
                       ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT, &condition) == 0 &&
            CHAOS_CALL(aclmdlRIAddCondTask, (aclmdlRICondTaskParams{condition, type, 1, &part}),
                       stream, 0) == 0 &&
            CHAOS_CALL(aclrtCreateStream, &inner) == 0) {
            if (CHAOS_CALL(aclmdlRICaptureToModelRIBegin, inner, part,
                           ACL_MODEL_RI_CAPTURE_MODE_RELAXED) == 0) {
                (void)CHAOS_CALL(aclrtLaunchHostFunc, inner, Nothing, nullptr);
                aclmdlRI ended = nullptr;
                (void)CHAOS_CALL(aclmdlRICaptureEnd, inner, &ended);
            }
            (void)CHAOS_CALL(aclrtDestroyStream, inner);
        }
        EndOne(worker, stream);
    }
    (void)CHAOS_CALL(aclrtDestroyStream, stream);
}

}  // namespace chaos
