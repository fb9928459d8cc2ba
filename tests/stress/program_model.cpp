// SPDX-License-Identifier: Apache-2.0
// Implements the model of contexts, streams, memory and order.

#include "stress/program_model.h"

namespace stress {

ProgramModel::ProgramModel() {
    ModelStream stream;
    stream.slot = kPrimaryDefault;
    stream.context = kPrimary;
    stream.lane = NewLane();
    streams[kPrimaryDefault] = stream;
    contexts[kPrimary].defaultStream = kPrimaryDefault;
    threads[0].context = kPrimary;
}

int ProgramModel::CheckContext(int thread) const {
    const auto context = contexts.find(threads[static_cast<size_t>(thread)].context);
    return context != contexts.end() && context->second.alive ? 0 : ACL_ERROR_RT_CONTEXT_NULL;
}

int ProgramModel::FindStream(int thread, Slot slot, Slot* found) const {
    if (const int code = CheckContext(thread); code != 0) {
        return code;
    }
    if (slot == kNull) {
        *found = contexts.at(threads[static_cast<size_t>(thread)].context).defaultStream;
        return 0;
    }
    *found = slot;
    return streams.count(slot) != 0 ? 0 : ACL_ERROR_RT_INVALID_HANDLE;
}

int ProgramModel::FindWithStream(int thread, Slot slot, Slot streamSlot,
                                 int (ProgramModel::*find)(Slot) const) const {
    if (slot == kNull) {
        return ACL_ERROR_INVALID_PARAM;
    }
    Slot found = kNull;
    if (const int code = FindStream(thread, streamSlot, &found); code != 0) {
        return code;
    }
    return (this->*find)(slot);
}

int ProgramModel::UseStream(int thread, Slot slot, ModelStream** stream) {
    Slot found = kNull;
    if (const int code = FindStream(thread, slot, &found); code != 0) {
        return code;
    }
    *stream = &streams.at(found);
    if (!(*stream)->alive) {
        return ACL_ERROR_RT_INVALID_HANDLE;
    }
    return (*stream)->context == threads[static_cast<size_t>(thread)].context
               ? 0
               : ACL_ERROR_RT_STREAM_CONTEXT;
}

int ProgramModel::CheckFree(int thread, Slot slot) {
    ModelStream* stream = nullptr;
    if (const int code = UseStream(thread, slot, &stream); code != 0) {
        return code;
    }
    const ModelCapture* const capture = CaptureOf(*stream);
    return capture != nullptr ? capture->Refusal() : 0;
}

int ProgramModel::SynchronizeStream(int thread, Slot slot) {
    if (const int code = CheckFree(thread, slot); code != 0) {
        return code;
    }
    ModelStream* stream = nullptr;
    (void)UseStream(thread, slot, &stream);
    Covered(stream->clock);
    const bool failed = !stream->failures.empty();
    stream->failures.clear();
    stream->refuses = false;
    return failed ? ACL_ERROR_FAILURE : 0;
}

int ProgramModel::SynchronizeDevice(int thread) {
    if (const int code = CheckContext(thread); code != 0) {
        return code;
    }
    for (const ModelCapture& capture : captures) {
        if (!capture.over) {
            return ACL_ERROR_RT_STREAM_CAPTURED;
        }
    }
    ModelStream* first = nullptr;
    for (auto& [slot, stream] : streams) {
        if (stream.alive) {
            Covered(stream.clock);
            const bool earlier = first == nullptr || stream.lane < first->lane;
            first = !stream.failures.empty() && earlier ? &stream : first;
        }
    }
    if (first == nullptr) {
        return 0;
    }
    first->failures.clear();
    first->refuses = false;
    return ACL_ERROR_FAILURE;
}

int ProgramModel::Enter(int thread, Slot slot, int refusalInCapture, bool launch,
                        ModelStream** found, ModelCapture** recording) {
    if (const int code = UseStream(thread, slot, found); code != 0) {
        return code;
    }
    ModelStream& stream = **found;
    *recording = CaptureOf(stream);
    if (*recording == nullptr) {
        return stream.refuses ? ACL_ERROR_FAILURE : 0;
    }
    if ((*recording)->invalidated) {
        return ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED;
    }
    if (refusalInCapture != 0) {
        return refusalInCapture;
    }
    return (*recording)->groupOpen[static_cast<size_t>(stream.branch)] && !launch
               ? ACL_ERROR_STREAM_TASK_GROUP_INTR
               : 0;
}

Place ProgramModel::Queue(ModelStream* stream) {
    const Place place{stream->lane, ++stream->issued};
    stream->clock.Join(host);
    stream->clock.Advance(place);
    return place;
}

void ProgramModel::Apply(const Effect& effect, const Place& place) {
    const auto cell = static_cast<size_t>(effect.cell);
    const auto source = static_cast<size_t>(effect.source);
    switch (effect.kind) {
        case Effect::Kind::kMix:
            cells[cell] = Mix(cells[cell], effect.value);
            break;
        case Effect::Kind::kFill:
            cells[cell] = Filled(effect.value);
            break;
        case Effect::Kind::kCopy:
            cells[cell] = cells[source];
            break;
        default:
            break;
    }
    if (effect.Reads()) {
        accesses[source].Note(place, false);
    }
    if (effect.Writes()) {
        accesses[cell].Note(place, true);
    }
}

int ProgramModel::Work(int thread, Slot slot, const Effect& effect, bool pageable) {
    ModelStream* stream = nullptr;
    ModelCapture* capture = nullptr;
    const int refusal = pageable ? ACL_ERROR_RT_PARAM_INVALID : 0;
    if (pageable && CheckFree(thread, slot) == 0) {
        if (const int code = Forbidden(thread, ACL_ERROR_RT_CAPTURE_MODE_BLOCK_ASYNC); code != 0) {
            return code;
        }
    }
    if (const int code = Enter(thread, slot, refusal, false, &stream, &capture); code != 0) {
        return code;
    }
    if (capture != nullptr) {
        return RecordInCapture(capture, stream->branch, effect);
    }
    const Place place = Queue(stream);
    if (stream->skips) {
        return 0;
    }
    if (effect.kind == Effect::Kind::kThrow) {
        stream->failures.push_back(place.count);
        stream->skips = contexts.at(stream->context).stops;
    }
    Apply(effect, place);
    if (pageable) {
        Covered(stream->clock);
    }
    return 0;
}

int ProgramModel::ActNow(int thread) const {
    if (const int code = CheckContext(thread); code != 0) {
        return code;
    }
    return Forbidden(thread, ACL_ERROR_RT_CAPTURE_MODE_NOT_SUPPORT);
}

void ProgramModel::HostWrite(int cell, uint64_t value) {
    cells[static_cast<size_t>(cell)] = value;
    accesses[static_cast<size_t>(cell)].Note({}, true);
}

Clock ProgramModel::Now(const ModelStream& stream) const {
    Clock clock = stream.clock;
    clock.Join(host);
    return clock;
}

ModelHold* ProgramModel::HoldOf(const Clock& clock) {
    for (ModelHold& hold : holds) {
        if (!hold.open && clock.At(hold.place.lane) >= hold.place.count) {
            return &hold;
        }
    }
    return nullptr;
}

bool ProgramModel::Blocked(const Clock& clock) const {
    return const_cast<ProgramModel*>(this)->HoldOf(clock) != nullptr;
}

Place ProgramModel::Conflict(const ModelStream& stream, const Effect& effect) {
    ModelCapture* const capture = CaptureOf(stream);
    const Clock clock =
        capture == nullptr ? Now(stream) : capture->clocks[static_cast<size_t>(stream.branch)];
    const auto& table = capture == nullptr ? accesses : capture->cells;
    if (effect.Reads()) {
        const Place read = table[static_cast<size_t>(effect.source)].Conflict(clock, false);
        if (read.lane >= 0) {
            return read;
        }
    }
    return effect.Writes() ? table[static_cast<size_t>(effect.cell)].Conflict(clock, true)
                           : Place{};
}

Slot ProgramModel::StreamOfLane(int lane) const {
    for (const auto& [slot, stream] : streams) {
        if (stream.lane == lane && stream.alive) {
            return slot;
        }
    }
    return kNull;
}

}  // namespace stress
