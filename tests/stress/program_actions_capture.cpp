// SPDX-License-Identifier: Apache-2.0
// Choices of a program's next action: captures and the models that they give.
#include <fmt/core.h>

#include <algorithm>
#include <cstddef>

#include "stress/program_generator.h"

namespace stress {
namespace {

constexpr size_t kMostCaptures = 2;
constexpr std::ptrdiff_t kMostModels = 4;

}  // namespace

Slot ProgramGenerator::JoinAll(int thread, int index) {
    ModelCapture& capture = model_.captures[static_cast<size_t>(index)];
    const Slot main = capture.stream;
    const int ender = capture.mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED ? thread : capture.thread;
    EnterContextOf(ender, main);
    for (size_t branch = 0; branch < capture.streams.size() && !capture.invalidated; ++branch) {
        if (capture.groupOpen[branch]) {
            EndGroup(ender, capture.streams[branch]);
        }
    }
    for (size_t branch = 1; branch < capture.streams.size() && !capture.invalidated; ++branch) {
        if (capture.clocks[0].At(static_cast<int>(branch)) < capture.lengths[branch]) {
            (void)Order(ender, main, {static_cast<int>(branch), capture.lengths[branch]});
        }
    }
    End(ender, main);
    return capture.model;
}

void ProgramGenerator::ActOnCapture() {
    const int thread = AnyThread();
    std::vector<int> open;
    for (size_t index = 0; index < model_.captures.size(); ++index) {
        if (!model_.captures[index].over) {
            open.push_back(static_cast<int>(index));
        }
    }
    const auto models = std::count_if(model_.graphs.begin(), model_.graphs.end(),
                                      [](const auto& entry) { return entry.second.alive; });
    if (open.size() < kMostCaptures && models < kMostModels && Chance(40)) {
        const Slot slot = AnyStream();  // perhaps a default or a captured one
        EnterContextOf(thread, slot, false);
        Begin(thread, slot, Random(3));
        return;
    }
    if (open.empty()) {
        return;
    }
    const int index = open[static_cast<size_t>(Random(static_cast<int>(open.size())))];
    ModelCapture& capture = model_.captures[static_cast<size_t>(index)];
    const Slot member =
        capture.streams[static_cast<size_t>(Random(static_cast<int>(capture.streams.size())))];
    const int choice = Random(12);
    if (choice == 0) {
        (void)JoinAll(thread, index);
    } else if (choice == 1) {
        EnterContextOf(thread, member, false);
        End(thread, member);  // perhaps too early, on a wrong stream, from a wrong thread
    } else if (choice == 2) {
        EnterContextOf(thread, member);
        BeginGroup(thread, member);
    } else if (choice == 3 || choice == 4) {
        EnterContextOf(thread, member);
        EndGroup(thread, member);
    } else if (choice < 8) {
        // Fork: perhaps onto the default stream, or a stream of another capture or context.
        const Slot event = Pick(model_.events, [](const ModelEvent& entry) {
            return entry.alive && entry.kind == EventKind::kExWithFlag;
        });
        const Slot other = AnyStream();
        if (event != kNull) {
            EnterContextOf(thread, member);
            Record(thread, event, member);
            EnterContextOf(thread, other, false);
            Wait(thread, other, event);
        }
    } else {
        const Effect effect = AnyEffect();
        EnterContextOf(thread, member);
        if (OrderFor(thread, member, effect)) {
            EnterContextOf(thread, member);
            effect.kind == Effect::Kind::kMix    ? Launch(thread, member, effect)
            : effect.kind == Effect::Kind::kFill ? Fill(thread, member, effect)
                                                 : Copy(thread, member, effect);
        }
    }
}

void ProgramGenerator::ActOnModel() {
    const int thread = AnyThread();
    const Slot model = Pick(model_.graphs, [](const ModelGraph& entry) { return entry.alive; });
    if (model == kNull) {
        return;
    }
    const int choice = Random(10);
    ModelGraph& graph = model_.graphs.at(model);
    if (choice == 0) {
        if (graph.captured || model_.host.Covers(graph.end) || model_.Blocked(graph.endClock)) {
            DestroyModel(thread, model);
        }
        return;
    }
    if (choice < 3) {
        SetContext(thread, Chance(90) ? graph.context : kPrimary);
        Clock clock = model_.host;
        clock.Join(graph.endClock);
        if (model_.ConflictOfReplay(graph, clock).lane < 0) {
            Release(clock);
            SetContext(thread, Chance(90) ? graph.context : kPrimary);
            Execute(thread, model);
        }
        return;
    }
    const Slot slot = Pick(model_.streams, [&](const ModelStream& stream) {
        return stream.alive && (stream.context == graph.context || Chance(10));
    });
    if (slot == kNull) {
        return;
    }
    ModelStream& stream = model_.streams.at(slot);
    const bool waits = model_.CaptureOf(stream) == nullptr;
    for (int attempt = 0; waits && attempt < 12; ++attempt) {
        const Place place = model_.ConflictOfReplay(graph, model_.Now(stream));
        if (place.lane < 0) {
            break;
        }
        if (!Order(thread, slot, place)) {
            return;
        }
    }
    if (waits && model_.ConflictOfReplay(graph, model_.Now(stream)).lane >= 0) {
        return;
    }
    const auto failing =
        std::count_if(graph.effects.begin(), graph.effects.end(),
                      [](const Effect& effect) { return effect.kind == Effect::Kind::kThrow; });
    if (stream.failures.size() + static_cast<size_t>(failing) > 12) {
        return;  // a stream keeps no more than 16
    }
    EnterContextOf(thread, slot, false);
    Replay(thread, model, slot);
}

void ProgramGenerator::UpdateEmptyGroup() {
    if (model_.groups.empty()) {
        return;
    }
    const int thread = AnyThread();
    const Slot group = Pick(model_.groups, [](const ModelGroup&) { return true; });
    const Slot slot = Pick(model_.streams, [&](const ModelStream& stream) {
        return stream.alive && model_.CaptureOf(stream) == nullptr &&
               model_.contexts.at(stream.context).defaultStream != stream.slot;
    });
    if (slot == kNull) {
        return;
    }
    EnterContextOf(thread, slot);
    const ModelGraph& graph = model_.graphs.at(model_.groups.at(group).model);
    const int code = !graph.alive     ? ACL_ERROR_RT_INVALID_HANDLE
                     : graph.captured ? ACL_ERROR_RT_MODEL_CAPTURED
                                      : 0;
    const auto begin = [=](World& world) {
        return aclmdlRICaptureTaskUpdateBegin(world[slot], world[group]);
    };
    const auto end = [=](World& world) { return aclmdlRICaptureTaskUpdateEnd(world[slot]); };
    Emit(thread, {code}, fmt::format("aclmdlRICaptureTaskUpdateBegin(#{}, #{})", slot, group),
         begin);
    if (code != 0) {
        return;
    }
    Emit(thread, {ACL_ERROR_STREAM_TASK_GROUP_STATUS}, "the same again", begin);
    Emit(thread, {ACL_ERROR_STREAM_TASK_GROUP_INTR},
         fmt::format("aclrtMemsetAsync(cell 0, #{})", slot),
         [=](World& world) { return aclrtMemsetAsync(world.Cell(0), 8, 0, 8, world[slot]); });
    Emit(thread, {ACL_ERROR_STREAM_TASK_GROUP_STATUS},
         fmt::format("aclmdlRICaptureBegin(#{})", slot), [=](World& world) {
             return aclmdlRICaptureBegin(world[slot], ACL_MODEL_RI_CAPTURE_MODE_RELAXED);
         });
    Emit(thread, {0}, fmt::format("aclmdlRICaptureTaskUpdateEnd(#{})", slot), end);
    Emit(thread, {ACL_ERROR_STREAM_TASK_GROUP_STATUS}, "the same again", end);
}

// A replay needs the memory and the notifies that were captured.
void ProgramGenerator::LoseWhatWasCaptured() {
    const int thread = AnyThread();
    EnterContextOf(thread, AnyStream());
    const Slot slot = CreateStream(thread);
    const Slot thing = NewSlot();
    const bool notify = Chance(50);
    Emit(thread, {0}, fmt::format("{}(#{})", notify ? "aclrtCreateNotify" : "aclrtMalloc", thing),
         [=](World& world) {
             return notify ? aclrtCreateNotify(&world[thing], ACL_NOTIFY_DEVICE_USE_ONLY)
                           : aclrtMalloc(&world[thing], 64, ACL_MEM_MALLOC_NORMAL_ONLY);
         });
    Begin(thread, slot, Random(3));
    const Slot model = model_.captures.back().model;
    if (notify) {
        model_.notifies[thing].reserved = true;
        RecordNotify(thread, thing, slot);
        WaitNotify(thread, thing, slot);
    } else {
        model_.blocks[thing] = true;
        const int code = model_.Work(thread, slot, Effect{});
        model_.captures.back().blocks.push_back(thing);
        Emit(thread, {code}, fmt::format("aclrtMemsetAsync(#{}, #{})", thing, slot),
             [=](World& world) { return aclrtMemsetAsync(world[thing], 64, 1, 64, world[slot]); });
    }
    End(thread, slot);
    for (int count = Random(3); count > 0; --count) {
        Replay(thread, model, slot);
    }
    if (notify) {
        DestroyNotify(thread, thing);
    } else {
        model_.blocks[thing] = false;
        Emit(thread, {0}, fmt::format("aclrtFree(#{})", thing),
             [=](World& world) { return aclrtFree(world[thing]); });
    }
    Replay(thread, model, slot);
    if (Chance(50)) {
        SynchronizeStream(thread, slot);
        DestroyModel(thread, model);
        DestroyStream(thread, slot);
    }
}

}  // namespace stress
