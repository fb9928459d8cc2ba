// SPDX-License-Identifier: Apache-2.0
// Calls of clients about graphs with conditional tasks: captures, bodies, variables, replays.

#pragma once

#include <cstdint>

#include "fuzz/client_handles.h"

inline constexpr uint32_t kMostParts = 3;

class ClientGraphs : protected ClientHandles {
 protected:
    using ClientHandles::ClientHandles;

    /// A graph with a conditional task, which the other calls then use, replay and spoil.
    void Graph() {
        void* const stream = streams_[in_.Byte() % 2];
        void* const body = streams_[2 + in_.Byte() % 2];
        aclmdlRICaptureStatus status{};
        aclmdlRI model = nullptr;
        aclmdlRICondHandle condition = nullptr;
        uint64_t* variable = nullptr;
        aclmdlRI parts[kMostParts] = {};
        const auto type = static_cast<aclmdlRICondTaskType>(in_.Byte() % 3);
        const uint32_t size = type == ACL_MODEL_RI_COND_TYPE_WHILE ? 1 : 1U + in_.Byte() % 2;
        if (CALL(aclmdlRICaptureBegin, stream, ACL_MODEL_RI_CAPTURE_MODE_RELAXED) != 0) {
            return;
        }
        FUZZ_REQUIRE(CALL(aclmdlRICaptureGetInfo, stream, &status, &model) == 0);
        FUZZ_REQUIRE(CALL(aclmdlRICondHandleCreate, model, in_.Byte() % 3,
                          static_cast<aclmdlRICondHandleFlag>(in_.Byte() % 2), &condition) == 0);
        FUZZ_REQUIRE(CALL(aclmdlRICondHandleGetCondPtr, condition, &variable) == 0);
        Slot(conditions_) = condition;
        (void)CALL(aclrtRecordEventWithFlag, Pick(events_), stream, in_.Byte() % 2);
        const aclmdlRICondTaskParams params{condition, type, size, parts};
        FUZZ_REQUIRE(CALL(aclmdlRIAddCondTask, params, stream, 0) == 0);
        for (uint32_t part = 0; part < size; ++part) {
            Slot(models_) = parts[part];
            if (in_.Byte() % 16 == 0 || CALL(aclmdlRICaptureToModelRIBegin, body, parts[part],
                                             ACL_MODEL_RI_CAPTURE_MODE_RELAXED) != 0) {
                continue;  // the parent cannot end
            }
            (void)CALL(aclrtStreamWaitEventWithFlag, body, Pick(events_), 1, in_.Byte() % 2);
            (void)CALL(aclrtMemsetAsync, variable, 8, in_.Byte() % 8 == 0 ? 1 : 0, 8, body);
            (void)CALL(aclmdlRICaptureEnd, body, &model);
        }
        (void)CALL(aclrtStreamWaitEventWithFlag, stream, Pick(events_), 1, in_.Byte() % 2);
        if (in_.Byte() % 8 != 0 && CALL(aclmdlRICaptureEnd, stream, &model) == 0) {
            Slot(models_) = model;
        }
    }

    void BeginCapture() {
        (void)CALL(aclmdlRICaptureBegin, Pick(streams_),
                   static_cast<aclmdlRICaptureMode>(in_.Value(2)));
    }
    void EndCapture() {
        void* model = Fresh();
        Keep(CALL(aclmdlRICaptureEnd, Pick(streams_), &model), model, models_);
    }
    void BeginPart() {
        (void)CALL(aclmdlRICaptureToModelRIBegin, Pick(streams_), Pick(models_),
                   static_cast<aclmdlRICaptureMode>(in_.Value(2)));
    }
    void MakeVariable() {
        aclmdlRICaptureStatus status{};
        void* model = Pick(models_);
        (void)CALL(aclmdlRICaptureGetInfo, Slot(streams_), &status, &model);
        void* made = Fresh();
        Keep(CALL(aclmdlRICondHandleCreate, model, static_cast<uint32_t>(in_.Value(3)),
                  static_cast<aclmdlRICondHandleFlag>(in_.Value(1)), &made),
             made, conditions_);
    }
    void AddTask() {
        aclmdlRI parts[kMostParts] = {Fresh(), Fresh(), Fresh()};
        // No more than there is room for: the call cannot know that.
        const auto size = static_cast<uint32_t>(in_.In(0, kMostParts));
        const aclmdlRICondTaskParams params{Pick(conditions_),
                                            static_cast<aclmdlRICondTaskType>(in_.Value(2)), size,
                                            in_.Byte() == 0 ? nullptr : parts};
        const int code = CALL(aclmdlRIAddCondTask, params, Pick(streams_),
                              static_cast<uint32_t>(in_.Byte() == 0));
        for (uint32_t part = 0; part < kMostParts; ++part) {
            if (code == ACL_SUCCESS && part < size) {
                models_[part] = parts[part];
            } else {
                FUZZ_REQUIRE(parts[part] == kUntouched);
            }
        }
    }
    void ReadVariable() {
        auto* variable = static_cast<uint64_t*>(Fresh());
        if (CALL(aclmdlRICondHandleGetCondPtr, Pick(conditions_), &variable) == ACL_SUCCESS) {
            // A task that ends a loop or chooses, in a body or beside it.
            (void)CALL(aclrtMemsetAsync, variable, sizeof(*variable), in_.Byte() % 8 == 0 ? 1 : 0,
                       in_.Byte() % 8 == 0 ? 1 : sizeof(*variable), Slot(streams_));
        } else {
            FUZZ_REQUIRE(variable == kUntouched);
        }
    }
    void Replay() { (void)CALL(aclmdlRIExecuteAsync, Pick(models_), Pick(streams_)); }
    void Execute() { (void)CALL(aclmdlRIExecute, Pick(models_), 1); }
    void DestroyModel() { (void)CALL(aclmdlRIDestroy, Pick(models_)); }
};
