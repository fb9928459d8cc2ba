// SPDX-License-Identifier: Apache-2.0
// Several calls that only together have one answer.
#include <fmt/core.h>
#include <pthread.h>

#include <algorithm>
#include <utility>

#include "stress/program_generator.h"

namespace stress {

int ProgramGenerator::HoldAtGate(int thread, Slot slot) {
    const int gate = gates_++;
    const int code = model_.Work(thread, slot, Effect{});
    const ModelStream& holder = model_.streams.at(slot);
    model_.holds.push_back({{holder.lane, holder.issued}, false, kNull, gate});
    Emit(thread, {code}, fmt::format("aclrtLaunchHostFunc(#{}, gate {})", slot, gate),
         [=](World& world) {
             World::Gate* const entry = &world.GateAt(gate);
             return world.Launch(world[slot], [entry] { (void)entry->opened.Wait(); });
         });
    return gate;
}

// Work behind a failure is skipped, new work is refused until the failure has been told.
void ProgramGenerator::StopOnFailure() {
    const Slot context =
        Pick(model_.contexts, [](const ModelContext& entry) { return entry.alive && entry.stops; });
    if (context == kNull) {
        return;
    }
    const int thread = AnyThread();
    SetContext(thread, context);
    const Slot slot = CreateStream(thread);
    const int gate = HoldAtGate(thread, slot);
    Effect effect;
    effect.kind = Effect::Kind::kThrow;
    Launch(thread, slot, effect);
    for (int count = Random(5); count > 0; --count) {
        Effect skipped = AnyEffect();
        skipped.kind = Effect::Kind::kMix;
        switch (Random(4)) {
            case 0:
                skipped.kind = Effect::Kind::kFill;
                Fill(thread, slot, skipped);
                break;
            case 1:
                Launch(thread, slot, effect);
                break;
            case 2:
                WaitWord(thread, 0, ~uint64_t{0}, ACL_STREAM_WAIT_VALUE_EQ, slot);
                break;
            default:
                Launch(thread, slot, skipped);
        }
    }
    const Slot event = CreateEvent(thread, EventKind::kExWithFlag, ACL_EVENT_SYNC);
    Record(thread, event, slot);
    OpenHold(&*std::find_if(model_.holds.begin(), model_.holds.end(), [&](const ModelHold& hold) {
        return hold.notify == kNull && hold.gate == gate;
    }));
    Emit(thread, {0}, fmt::format("aclrtStreamQuery(#{}) until it is complete", slot),
         [=](World& world) {
             int code = 0;
             const bool over = support::Eventually([&] {
                 aclrtStreamStatus status = ACL_STREAM_STATUS_NOT_READY;
                 code = aclrtStreamQuery(world[slot], &status);
                 return code != 0 || status == ACL_STREAM_STATUS_COMPLETE;
             });
             if (!over) {
                 world.Complain("the stream does not go on");
             }
             return code;
         });
    ModelStream& stream = model_.streams.at(slot);
    model_.Covered(stream.clock);
    stream.skips = false;
    stream.refuses = true;
    for (int count = 1 + Random(4); count > 0; --count) {
        Effect refused = AnyEffect();
        refused.cell = Random(kDeviceCells);
        switch (Random(4)) {
            case 0:
                refused.kind = Effect::Kind::kMix;
                Launch(thread, slot, refused);
                break;
            case 1:
                refused.kind = Effect::Kind::kFill;
                CopyPageable(thread, slot, refused);
                break;
            case 2:
                Record(thread, event, slot);
                break;
            default:
                RecordNotify(
                    thread,
                    Pick(model_.notifies,
                         [](const ModelNotify& entry) { return entry.alive && !entry.reserved; }),
                    slot);
        }
    }
    const auto capture = std::find_if(
        model_.captures.begin(), model_.captures.end(), [&](const ModelCapture& entry) {
            return !entry.over && !entry.invalidated && entry.context == context;
        });
    if (capture != model_.captures.end()) {  // which a stopped stream cannot join
        const Slot fork = CreateEvent(thread, EventKind::kExWithFlag, ACL_EVENT_SYNC);
        Record(thread, fork, capture->stream);
        Wait(thread, slot, fork);
        DestroyEvent(thread, fork);
    }
    Chance(50) ? SynchronizeStream(thread, slot) : SynchronizeEvent(thread, event);
    DestroyEvent(thread, event);
    if (Chance(50)) {
        DestroyStream(thread, slot);
    }
}

Slot ProgramGenerator::DropBeforeWaiter(int thread, Slot slot, Slot event) {
    Record(thread, event, slot);
    const Slot other = AnyFreeStream();
    EnterContextOf(thread, other);
    Wait(thread, other, event);
    EnterContextOf(thread, slot);
    if (Chance(50)) {
        Emit(thread, {0}, fmt::format("aclrtStreamAbort(#{})", slot),
             [=](World& world) { return aclrtStreamAbort(world[slot]); });
        SynchronizeStream(thread, slot);
    } else {
        const int destroyed = model_.DestroyStream(thread, slot);
        deadSlots_.push_back(slot);
        Emit(thread, {destroyed}, fmt::format("aclrtDestroyStreamForce(#{})", slot),
             [=](World& world) { return aclrtDestroyStreamForce(world[slot]); });
    }
    return other;
}

// Work that cannot have started is dropped for certain; who waits for it goes on at once.
void ProgramGenerator::DropBehindHold() {
    const int thread = AnyThread();
    EnterContextOf(thread, AnyStream());
    const Slot held = CreateStream(thread);
    const Slot slot = CreateStream(thread);
    const Slot event = CreateEvent(thread, EventKind::kExWithFlag, ACL_EVENT_SYNC);
    (void)HoldAtGate(thread, held);
    Record(thread, event, held);
    // The model does not hear of what is dropped, nor of the wait that is over then.
    Emit(thread, {0}, fmt::format("aclrtStreamWaitEvent(#{}, #{})", slot, event),
         [=](World& world) { return aclrtStreamWaitEvent(world[slot], world[event]); });
    for (int count = 1 + Random(3); count > 0; --count) {
        const int cell = Random(kCells);
        Emit(thread, {0}, fmt::format("aclrtMemsetAsync(cell {}, #{}), dropped", cell, slot),
             [=](World& world) {
                 return aclrtMemsetAsync(world.Cell(cell), sizeof(uint64_t), 0xEE, sizeof(uint64_t),
                                         world[slot]);
             });
    }
    const Slot other = DropBeforeWaiter(thread, slot, event);
    if (other != held) {
        EnterContextOf(thread, other);
        SynchronizeStream(thread, other);
    }
    EnterContextOf(thread, held);
    DestroyStream(thread, held);
    DestroyEvent(thread, event);
}

// Of work that may have started some first part has run.
void ProgramGenerator::DropAnywhere() {
    const int thread = AnyThread();
    EnterContextOf(thread, AnyStream());
    const Slot slot = CreateStream(thread);
    const Slot block = NewSlot();
    Emit(thread, {0}, fmt::format("aclrtMallocHost(#{})", block), [=](World& world) {
        const int code = aclrtMallocHost(&world[block], sizeof(uint64_t));
        if (code == 0) {
            *static_cast<uint64_t*>(world[block]) = 0;
        }
        return code;
    });
    std::vector<uint64_t> permitted = {0};
    for (uint64_t id = 1; id <= 8; ++id) {
        permitted.push_back(Mix(permitted.back(), id));
        Emit(thread, {0}, fmt::format("aclrtLaunchHostFunc(#{}, mix #{}, {})", slot, block, id),
             [=](World& world) {
                 auto* const address = static_cast<uint64_t*>(world[block]);
                 return world.Launch(world[slot], [=] { *address = Mix(*address, id); });
             });
    }
    const Slot event = CreateEvent(thread, EventKind::kExWithFlag, ACL_EVENT_SYNC);
    (void)DropBeforeWaiter(thread, slot, event);
    Emit(thread, {0}, fmt::format("aclrtFreeHost(#{})", block), [=](World& world) {
        const uint64_t found = *static_cast<uint64_t*>(world[block]);
        if (std::find(permitted.begin(), permitted.end(), found) == permitted.end()) {
            world.Complain(fmt::format("{:#x} is left by no first part of the work", found));
        }
        return aclrtFreeHost(world[block]);
    });
    DestroyEvent(thread, event);
}

void ProgramGenerator::ReportCallbacks() {
    const int thread = AnyThread();
    const Slot slot = AnyFreeStream();
    EnterContextOf(thread, slot);
    Release(model_.Now(model_.streams.at(slot)));
    EnterContextOf(thread, slot);
    if (!model_.streams.at(slot).failures.empty()) {
        return;
    }
    const auto subscribe = [=](World& world) {
        return aclrtSubscribeReport(world.threadIds[thread], world[slot]);
    };
    const auto unsubscribe = [=](World& world) {
        return aclrtUnSubscribeReport(world.threadIds[thread], world[slot]);
    };
    const auto process = [](int timeout) {
        return [=](World&) { return aclrtProcessReport(timeout); };
    };
    const bool blocks = Chance(50);
    const auto launch = [=](World& world) {
        return aclrtLaunchCallback(
            [](void* args) {
                auto& in = *static_cast<World*>(args);
                const auto self = static_cast<uint64_t>(pthread_self());
                if (std::find(in.threadIds, in.threadIds + kThreads, self) ==
                    in.threadIds + kThreads) {
                    in.Complain("a callback ran on a thread that has not subscribed");
                }
            },
            &world, blocks ? ACL_CALLBACK_BLOCK : ACL_CALLBACK_NO_BLOCK, world[slot]);
    };
    Emit(thread, {0}, fmt::format("aclrtSubscribeReport(#{})", slot), subscribe);
    Emit(thread, {ACL_ERROR_RT_STREAM_SUBSCRIBE}, "the same again", subscribe);
    if (Chance(20)) {
        Emit(thread, {ACL_ERROR_RT_REPORT_TIMEOUT}, "aclrtProcessReport(1)", process(1));
    }
    const int count = 1 + Random(3);
    for (int index = 0; index < count; ++index) {
        const int code = model_.Work(thread, slot, Effect{});
        Emit(thread, {code}, fmt::format("aclrtLaunchCallback(#{}, {})", slot, blocks), launch);
    }
    if (blocks) {
        Emit(thread, {ACL_ERROR_RT_FEATURE_NOT_SUPPORT},
             fmt::format("aclrtSynchronizeStream(#{}), subscribed", slot),
             [=](World& world) { return aclrtSynchronizeStream(world[slot]); });
    }
    for (int index = 0; index < count; ++index) {
        Emit(thread, {0}, "aclrtProcessReport(30000)", process(30000));
    }
    Emit(thread, {0}, fmt::format("aclrtUnSubscribeReport(#{})", slot), unsubscribe);
    Emit(thread, {ACL_ERROR_RT_STREAM_NO_CB_REG}, "the same again", unsubscribe);
    Emit(thread, {ACL_ERROR_RT_STREAM_NO_CB_REG}, "aclrtLaunchCallback, not subscribed", launch);
    Emit(thread, {ACL_ERROR_RT_THREAD_SUBSCRIBE}, "aclrtProcessReport(1)", process(1));
}

}  // namespace stress
