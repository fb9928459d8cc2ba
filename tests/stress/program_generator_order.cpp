// SPDX-License-Identifier: Apache-2.0
// Keeps the order of a program known: what a new action has to wait for.

#include <fmt/core.h>

#include "stress/program_generator.h"

namespace stress {

void ProgramGenerator::OpenHold(ModelHold* hold) {
    const int gate = hold->gate;
    const Slot notify = hold->notify;
    if (notify == kNull) {
        hold->open = true;
        Emit(0, {0}, fmt::format("open gate {}", gate), [gate](World& world) {
            world.GateAt(gate).opened.Set();
            return 0;
        });
        return;
    }
    hold->open = true;
    const Place place = hold->place;
    Slot stream = Pick(model_.streams, [&](const ModelStream& entry) {
        // Not itself either: `open` says already that it goes on.
        const Clock clock = model_.Now(entry);
        return entry.alive && model_.CaptureOf(entry) == nullptr && !model_.Blocked(clock) &&
               clock.At(place.lane) < place.count;
    });
    if (stream == kNull) {
        SetContext(0, kPrimary);
        stream = CreateStream(0);
    }
    EnterContextOf(0, stream);
    RecordNotify(0, notify, stream);
    model_.notifies.at(notify).set = false;  // the queued wait takes it
    model_.notifies.at(notify).reserved = false;
}

void ProgramGenerator::Release(const Clock& clock) {
    while (ModelHold* const hold = model_.HoldOf(clock)) {
        OpenHold(hold);
    }
}

bool ProgramGenerator::Order(int thread, Slot slot, const Place& place) {
    const bool captured = model_.CaptureOf(model_.streams.at(slot)) != nullptr;
    const Slot other =
        captured
            ? model_.CaptureOf(model_.streams.at(slot))->streams[static_cast<size_t>(place.lane)]
            : model_.StreamOfLane(place.lane);
    if (other == kNull || !model_.streams.at(other).alive ||
        (!captured && model_.CaptureOf(model_.streams.at(other)) != nullptr)) {
        return false;
    }
    const int way = captured ? 0 : Random(10);
    if (way == 9) {
        SynchronizeStream(thread, other);
        return true;
    }
    if (way == 8 || way == 7) {
        const Clock clock = model_.Now(model_.streams.at(other));
        // The wait, too, comes after the last one, or it could take what that one waits for.
        const Clock waiting = model_.Now(model_.streams.at(slot));
        const Slot notify = Pick(model_.notifies, [&](const ModelNotify& entry) {
            return entry.alive && !entry.reserved && !entry.set && clock.Covers(entry.taken) &&
                   waiting.Covers(entry.taken);
        });
        if (notify != kNull) {
            EnterContextOf(thread, other);
            RecordNotify(thread, notify, other);
            EnterContextOf(thread, slot);
            WaitNotify(thread, notify, slot);
            return true;
        }
    }
    if (way == 6) {
        const int word = Random(kWords);
        const ModelWord& entry = model_.words[static_cast<size_t>(word)];
        const Clock clock = model_.Now(model_.streams.at(other));
        if (entry.accesses.Conflict(clock, true).lane < 0) {
            const uint64_t value = entry.value + 1 + static_cast<uint64_t>(Random(3));
            EnterContextOf(thread, other);
            WriteWord(thread, word, value, other);
            EnterContextOf(thread, slot);
            WaitWord(thread, word, value,
                     Chance(50) ? ACL_STREAM_WAIT_VALUE_EQ : ACL_STREAM_WAIT_VALUE_GEQ, slot);
            return true;
        }
    }
    Slot event = Pick(model_.events, [&](const ModelEvent& entry) {
        return entry.alive && entry.waitable && (!captured || entry.kind == EventKind::kExWithFlag);
    });
    if (event == kNull) {
        EnterContextOf(thread, slot);
        event = CreateEvent(thread, EventKind::kExWithFlag, ACL_EVENT_SYNC);
    }
    EnterContextOf(thread, other);
    Record(thread, event, other);
    EnterContextOf(thread, slot);
    Wait(thread, slot, event);
    return true;
}

bool ProgramGenerator::OrderFor(int thread, Slot slot, const Effect& effect) {
    for (int attempt = 0; attempt < 8; ++attempt) {
        const Place place = model_.Conflict(model_.streams.at(slot), effect);
        if (place.lane < 0) {
            return true;
        }
        if (!Order(thread, slot, place)) {
            return false;
        }
    }
    return false;
}

}  // namespace stress
