// SPDX-License-Identifier: Apache-2.0
// One call each: contexts, streams, captures and models.
#include <fmt/core.h>

#include "stress/program_generator.h"

namespace stress {

void ProgramGenerator::SetContext(int thread, Slot context) {
    const int code = model_.SetContext(thread, context);
    Emit(thread, {code}, fmt::format("aclrtSetCurrentContext(#{})", context),
         [=](World& world) { return aclrtSetCurrentContext(world[context]); });
}

void ProgramGenerator::DestroyContext(int thread, Slot context) {
    const auto found = model_.contexts.find(context);
    if (found != model_.contexts.end() && found->second.alive && context != kPrimary) {
        for (const auto& [slot, stream] : std::map<Slot, ModelStream>(model_.streams)) {
            if (stream.alive && stream.context == context) {
                Release(stream.clock);
                deadSlots_.push_back(slot);
                if (!stream.failures.empty() && model_.CaptureOf(stream) == nullptr) {
                    EnterContextOf(0, slot);
                    SynchronizeStream(0, slot);  // or the failure would be logged
                    Release(model_.streams.at(slot).clock);
                }
            }
        }
        deadSlots_.push_back(context);
    }
    const int code = model_.DestroyContext(thread, context);
    Emit(thread, {code}, fmt::format("aclrtDestroyContext(#{})", context),
         [=](World& world) { return aclrtDestroyContext(world[context]); });
}

Slot ProgramGenerator::CreateStream(int thread) {
    const Slot slot = NewSlot();
    const int code = model_.CreateStream(thread, slot);
    const auto priority = static_cast<uint32_t>(Random(8));
    const bool configured = Chance(30);
    Emit(thread, {code}, fmt::format("aclrtCreateStream(#{})", slot), [=](World& world) {
        return configured
                   ? aclrtCreateStreamWithConfig(&world[slot], priority, ACL_STREAM_FAST_LAUNCH)
                   : aclrtCreateStream(&world[slot]);
    });
    return slot;
}

Slot ProgramGenerator::CreateEvent(int thread, EventKind kind, uint32_t flag) {
    const Slot slot = NewSlot();
    const int code = model_.CheckContext(thread);
    if (code == 0) {
        model_.CreateEvent(slot, kind, flag);
    }
    Emit(thread, {code},
         fmt::format("create event #{} of kind {}, flag {}", slot, static_cast<int>(kind), flag),
         [=](World& world) {
             return kind == EventKind::kPlain      ? aclrtCreateEvent(&world[slot])
                    : kind == EventKind::kWithFlag ? aclrtCreateEventWithFlag(&world[slot], flag)
                                                   : aclrtCreateEventExWithFlag(&world[slot], flag);
         });
    return slot;
}

void ProgramGenerator::DestroyStream(int thread, Slot slot) {
    const auto found = model_.streams.find(slot);
    if (found != model_.streams.end() && found->second.alive) {
        const bool capturing = model_.CaptureOf(found->second) != nullptr;
        if (!found->second.failures.empty() && !capturing) {
            EnterContextOf(thread, slot);
            SynchronizeStream(thread, slot);  // or the failure would be logged
        }
        Release(found->second.clock);
    }
    const int code = model_.DestroyStream(thread, slot);
    Bury(code, slot);
    Emit(thread, {code}, fmt::format("aclrtDestroyStream(#{})", slot),
         [=](World& world) { return aclrtDestroyStream(world[slot]); });
}

void ProgramGenerator::SetFailureMode(int thread, Slot stream, uint64_t mode) {
    const int code = model_.SetFailureMode(thread, stream, mode);
    Emit(thread, {code}, fmt::format("aclrtSetStreamFailureMode(#{}, {})", stream, mode),
         [=](World& world) { return aclrtSetStreamFailureMode(world[stream], mode); });
}

void ProgramGenerator::Begin(int thread, Slot stream, int mode) {
    const Slot model = NewSlot();
    const int code = model_.Begin(thread, stream, mode, model);
    Emit(thread, {code}, fmt::format("aclmdlRICaptureBegin(#{}, {}) for #{}", stream, mode, model),
         [=](World& world) {
             const int got =
                 aclmdlRICaptureBegin(world[stream], static_cast<aclmdlRICaptureMode>(mode));
             aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
             if (got == 0 && aclmdlRICaptureGetInfo(world[stream], &status, &world[model]) != 0) {
                 world.Complain("nothing is known of the new capture");
             }
             return got;
         });
}

void ProgramGenerator::End(int thread, Slot stream) {
    const auto found = model_.streams.find(stream);
    ModelCapture* const capture =
        found == model_.streams.end() ? nullptr : model_.CaptureOf(found->second);
    const Slot model = capture == nullptr ? NewSlot() : capture->model;
    const int code = model_.End(thread, stream);
    Emit(thread, {code}, fmt::format("aclmdlRICaptureEnd(#{})", stream), [=](World& world) {
        aclmdlRI made = nullptr;
        const int got = aclmdlRICaptureEnd(world[stream], &made);
        if (made != (got == 0 ? world[model] : nullptr)) {
            world.Complain("the model is another one than aclmdlRICaptureGetInfo said");
        }
        return got;
    });
}

void ProgramGenerator::CaptureInfo(int thread, Slot slot) {
    ModelStream* stream = nullptr;
    const int code =
        slot == kNull ? ACL_ERROR_INVALID_PARAM : model_.UseStream(thread, slot, &stream);
    int expected = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    Slot model = kNull;
    if (code == 0) {
        if (const ModelCapture* const capture = model_.CaptureOf(*stream)) {
            expected = capture->invalidated ? ACL_MODEL_RI_CAPTURE_STATUS_INVALIDATED
                                            : ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
            model = capture->invalidated ? kNull : capture->model;
        }
    }
    Emit(thread, {code}, fmt::format("aclmdlRICaptureGetInfo(#{})", slot), [=](World& world) {
        aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        aclmdlRI made = nullptr;
        const int got = aclmdlRICaptureGetInfo(world[slot], &status, &made);
        if (got == 0 && (status != expected || made != world[model])) {
            world.Complain(fmt::format("the capture's status is {}; expected {} of model #{}",
                                       static_cast<int>(status), expected, model));
        }
        return got;
    });
}

void ProgramGenerator::BeginGroup(int thread, Slot stream) {
    const int code = model_.BeginGroup(thread, stream);
    Emit(thread, {code}, fmt::format("aclmdlRICaptureTaskGrpBegin(#{})", stream),
         [=](World& world) { return aclmdlRICaptureTaskGrpBegin(world[stream]); });
}

void ProgramGenerator::EndGroup(int thread, Slot stream) {
    const Slot group = NewSlot();
    const int code = model_.EndGroup(thread, stream, group);
    Emit(thread, {code}, fmt::format("aclmdlRICaptureTaskGrpEnd(#{}) for #{}", stream, group),
         [=](World& world) { return aclmdlRICaptureTaskGrpEnd(world[stream], &world[group]); });
}

void ProgramGenerator::Replay(int thread, Slot model, Slot stream) {
    const int code = model_.Replay(thread, model, stream);
    Emit(thread, {code}, fmt::format("aclmdlRIExecuteAsync(#{}, #{})", model, stream),
         [=](World& world) { return aclmdlRIExecuteAsync(world[model], world[stream]); });
}

void ProgramGenerator::Execute(int thread, Slot model) {
    const int code = model_.Execute(thread, model);
    Emit(thread, {code}, fmt::format("aclmdlRIExecute(#{}, -1)", model),
         [=](World& world) { return aclmdlRIExecute(world[model], -1); });
    EmitCheck();
}

void ProgramGenerator::DestroyModel(int thread, Slot model) {
    const int code = model_.DestroyModel(model);
    Bury(code, model);
    Emit(thread, {code}, fmt::format("aclmdlRIDestroy(#{})", model),
         [=](World& world) { return aclmdlRIDestroy(world[model]); });
}

}  // namespace stress
