// SPDX-License-Identifier: Apache-2.0
// Choices of a program's next action: single calls.
#include <fmt/core.h>

#include <algorithm>

#include "stress/program_generator.h"

namespace stress {
namespace {

constexpr size_t kMostStreams = 7, kMostEvents = 8, kMostNotifies = 4, kMostContexts = 3;
constexpr size_t kMostHolds = 2;

template <typename Table>
size_t CountAlive(const Table& table) {
    return static_cast<size_t>(std::count_if(table.begin(), table.end(),
                                             [](const auto& entry) { return entry.second.alive; }));
}

}  // namespace

Effect ProgramGenerator::AnyEffect(bool pageable) {
    Effect effect;
    const int kind = pageable ? 5 : Random(10);
    effect.cell = Random(kCells);
    effect.kind = kind < 5   ? Effect::Kind::kMix
                  : kind < 6 ? Effect::Kind::kFill
                             : Effect::Kind::kCopy;
    effect.value =
        effect.kind == Effect::Kind::kFill ? static_cast<uint64_t>(Random(256)) : nextId_++;
    if (pageable) {
        effect.cell = Random(kDeviceCells);
    }
    if (effect.kind == Effect::Kind::kCopy) {
        effect.source = (effect.cell + 1 + Random(kCells - 1)) % kCells;
        if (effect.cell >= kDeviceCells && effect.source >= kDeviceCells && !Chance(10)) {
            effect.source = Random(kDeviceCells);
        }
    }
    return effect;
}

void ProgramGenerator::ActOnNotify() {
    const int thread = AnyThread();
    if (CountAlive(model_.notifies) < kMostNotifies) {
        const Slot notify = NewSlot();
        const int code = model_.CheckContext(thread);
        if (code == 0) {
            model_.notifies[notify] = ModelNotify{};
        }
        Emit(thread, {code}, fmt::format("aclrtCreateNotify(#{})", notify),
             [=](World& world) { return aclrtCreateNotify(&world[notify], ACL_NOTIFY_DEFAULT); });
        return;
    }
    const Slot notify = Pick(
        model_.notifies, [](const ModelNotify& entry) { return entry.alive && !entry.reserved; });
    if (notify == kNull) {
        return;
    }
    const ModelNotify& entry = model_.notifies.at(notify);
    if (Chance(10)) {
        DestroyNotify(thread, notify);  // perhaps with records queued
        return;
    }
    const Slot slot = AnyFreeStream();
    EnterContextOf(thread, slot);
    if (!model_.Now(model_.streams.at(slot)).Covers(entry.taken)) {
        return;  // a record could be lost in the one before, a wait could take another one's
    }
    entry.set ? WaitNotify(thread, notify, slot) : RecordNotify(thread, notify, slot);
}

void ProgramGenerator::ActOnEvent() {
    const int thread = AnyThread();
    const Slot event = AnyEvent();
    if (event == kNull) {
        return;
    }
    const Slot slot = AnyStream();
    EnterContextOf(thread, slot, false);
    const int choice = Random(10);
    if (choice < 5) {
        Record(thread, event, slot);
    } else if (choice < 9) {
        Wait(thread, slot, event);
    } else {
        Reset(thread, event, slot);
    }
}

void ProgramGenerator::MakeEvents() {
    const int thread = AnyThread();
    if (CountAlive(model_.events) >= kMostEvents) {
        DestroyEvent(thread, AnyEvent());
        return;
    }
    static const uint32_t kFlags[] = {ACL_EVENT_SYNC, ACL_EVENT_TIME_LINE,
                                      ACL_EVENT_SYNC | ACL_EVENT_TIME_LINE,
                                      ACL_EVENT_CAPTURE_STREAM_PROGRESS};
    const int kind = Random(6);
    (void)CreateEvent(thread,
                      kind == 0   ? EventKind::kPlain
                      : kind == 1 ? EventKind::kWithFlag
                                  : EventKind::kExWithFlag,
                      kFlags[Random(4)]);
}

void ProgramGenerator::MakeStreams() {
    const int thread = AnyThread();
    if (CountAlive(model_.streams) >= kMostStreams || Chance(20)) {
        const Slot slot =
            AnyStream();  // perhaps a default one, perhaps captured, with work pending
        EnterContextOf(thread, slot, false);
        DestroyStream(thread, slot);
        return;
    }
    (void)CreateStream(thread);
}

void ProgramGenerator::MakeContexts() {
    const int thread = AnyThread();
    if (CountAlive(model_.contexts) >= kMostContexts) {
        const Slot context =
            Pick(model_.contexts, [](const ModelContext& entry) { return entry.alive; });
        DestroyContext(thread, context);
        return;
    }
    const Slot context = NewSlot();
    const Slot stream = NewSlot();
    model_.CreateContext(thread, context, stream);
    Emit(thread, {0}, fmt::format("aclrtCreateContext(#{}), default stream #{}", context, stream),
         [=](World& world) {
             const int code = aclrtCreateContext(&world[context], world.device);
             return code != 0 ? code : aclrtCtxGetCurrentDefaultStream(&world[stream]);
         });
    if (Chance(50)) {
        SetFailureMode(thread, stream, ACL_STOP_ON_FAILURE);
    }
}

void ProgramGenerator::ActOnContexts() {
    const int thread = AnyThread();
    const Slot context =
        Pick(model_.contexts, [](const ModelContext& entry) { return entry.alive; });
    if (Chance(60)) {
        SetContext(thread, context);
        return;
    }
    const int code = model_.CheckContext(thread);
    const Slot current = model_.threads[static_cast<size_t>(thread)].context;
    Emit(thread, {code}, "aclrtGetCurrentContext()", [=](World& world) {
        aclrtContext found = nullptr;
        const int got = aclrtGetCurrentContext(&found);
        if (got == 0 && found != world[current]) {
            world.Complain("another context is current");
        }
        return got;
    });
}

void ProgramGenerator::HoldStream() {
    const auto closed = std::count_if(model_.holds.begin(), model_.holds.end(),
                                      [](const ModelHold& hold) { return !hold.open; });
    if (static_cast<size_t>(closed) >= kMostHolds) {
        return;
    }
    const int thread = AnyThread();
    const Slot slot = AnyFreeStream();
    EnterContextOf(thread, slot);
    const Slot notify = Pick(model_.notifies, [&](const ModelNotify& entry) {
        return entry.alive && !entry.reserved && !entry.set && model_.host.Covers(entry.taken);
    });
    ModelStream& stream = model_.streams.at(slot);
    if (notify != kNull && Chance(40)) {
        WaitNotify(thread, notify, slot);
        model_.notifies.at(notify).reserved = true;
        model_.holds.push_back({{stream.lane, stream.issued}, false, notify, 0});
        return;
    }
    const int gate = gates_++;
    const int code = model_.Work(thread, slot, Effect{});
    model_.holds.push_back({{stream.lane, stream.issued}, false, kNull, gate});
    Emit(thread, {code}, fmt::format("aclrtLaunchHostFunc(#{}, gate {})", slot, gate),
         [=](World& world) {
             World::Gate* const entry = &world.GateAt(gate);
             return world.Launch(world[slot], [entry, &world] {
                 entry->entered.Set();
                 if (!entry->opened.Wait()) {
                     world.Complain("nobody opened the gate");
                 }
             });
         });
}

void ProgramGenerator::OpenSomeHold() {
    for (ModelHold& hold : model_.holds) {
        if (!hold.open) {
            OpenHold(&hold);
            return;
        }
    }
}

Slot ProgramGenerator::EnterAnyStream(int thread) {
    const Slot slot = AnyStream();
    EnterContextOf(thread, slot, false);
    return slot;
}

void ProgramGenerator::Synchronize() {
    const int thread = AnyThread();
    const int choice = Random(10);
    if (choice < 6) {
        SynchronizeStream(thread, EnterAnyStream(thread));
    } else if (choice < 9) {
        WithAnyEvent([&](Slot event) { SynchronizeEvent(thread, event); });
    } else {
        SynchronizeDevice(thread);
    }
}

void ProgramGenerator::Ask() {
    const int thread = AnyThread();
    const int choice = Random(10);
    if (choice < 4) {
        QueryStream(thread, EnterAnyStream(thread));
    } else if (choice < 7) {
        WithAnyEvent([&](Slot event) { QueryEvent(thread, event); });
    } else if (choice < 8) {
        const Slot first = AnyEvent();
        const Slot second = AnyEvent();
        if (first != kNull && second != kNull) {
            ElapsedTime(thread, first, second);
        }
    } else if (choice < 9) {
        CaptureInfo(thread, EnterAnyStream(thread));
    } else {
        int& last = model_.threads[static_cast<size_t>(thread)].lastError;
        const bool clears = Chance(50);
        const int expected = last;
        const auto ask = [=](World& world) {
            const int got = clears ? aclrtGetLastError(ACL_RT_THREAD_LEVEL)
                                   : aclrtPeekAtLastError(ACL_RT_THREAD_LEVEL);
            if (expected >= 0 && got != expected) {
                world.Complain(fmt::format("the last error is {}; expected {}", got, expected));
            }
            return 0;
        };
        Emit(thread, {0}, clears ? "aclrtGetLastError()" : "aclrtPeekAtLastError()", ask);
        last = clears ? 0 : last;
    }
}

void ProgramGenerator::FailTask() {
    const int thread = AnyThread();
    const Slot slot = AnyStream();
    if (model_.contexts.at(model_.streams.at(slot).context).stops ||
        model_.streams.at(slot).failures.size() > 10) {
        return;
    }
    EnterContextOf(thread, slot);
    Effect effect;
    effect.kind = Effect::Kind::kThrow;
    Launch(thread, slot, effect);
}

}  // namespace stress
