// SPDX-License-Identifier: Apache-2.0
// Events of the model.
#include <algorithm>

#include "stress/program_model.h"

namespace stress {

void ProgramModel::CreateEvent(Slot slot, EventKind kind, uint32_t flag) {
    ModelEvent event;
    event.kind = kind;
    if (kind != EventKind::kPlain) {
        event.timing = (flag & ACL_EVENT_TIME_LINE) != 0;
        event.waitable = kind == EventKind::kExWithFlag || (flag & ACL_EVENT_SYNC) != 0;
    }
    events[slot] = event;
}

int ProgramModel::FindEvent(Slot slot) const {
    if (slot == kNull) {
        return ACL_ERROR_INVALID_PARAM;
    }
    const auto found = events.find(slot);
    return found != events.end() && found->second.alive ? 0 : ACL_ERROR_RT_INVALID_HANDLE;
}

int ProgramModel::DestroyEvent(Slot slot) {
    if (const int code = FindEvent(slot); code != 0) {
        return code;
    }
    events.at(slot).alive = false;
    return 0;
}

int ProgramModel::Record(int thread, Slot slot, Slot streamSlot) {
    if (const int code = FindWithStream(thread, slot, streamSlot, &ProgramModel::FindEvent);
        code != 0) {
        return code;
    }
    ModelEvent& event = events.at(slot);
    ModelStream* stream = nullptr;
    ModelCapture* capture = nullptr;
    const int old = event.kind == EventKind::kExWithFlag ? 0 : ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    if (const int code = Enter(thread, streamSlot, old, true, &stream, &capture); code != 0) {
        return code;
    }
    event.reset = false;
    event.capture = -1;
    if (capture != nullptr) {
        event.recorded = false;
        event.capture = stream->capture;
        event.capturePlace = {stream->branch,
                              capture->lengths[static_cast<size_t>(stream->branch)]};
        event.captureClock = capture->clocks[static_cast<size_t>(stream->branch)];
        return 0;
    }
    event.recorded = true;
    event.stream = stream->slot;
    event.place = Queue(stream);
    event.clock = stream->clock;
    return 0;
}

int ProgramModel::Reset(int thread, Slot slot, Slot streamSlot) {
    if (const int code = FindWithStream(thread, slot, streamSlot, &ProgramModel::FindEvent);
        code != 0) {
        return code;
    }
    ModelEvent& event = events.at(slot);
    if (event.kind == EventKind::kExWithFlag || !event.waitable) {
        return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    }
    ModelStream* stream = nullptr;
    ModelCapture* capture = nullptr;
    if (const int code =
            Enter(thread, streamSlot, ACL_ERROR_RT_FEATURE_NOT_SUPPORT, false, &stream, &capture);
        code != 0) {
        return code;
    }
    event.reset = true;
    event.resetPlace = Queue(stream);
    return 0;
}

int ProgramModel::Wait(int thread, Slot streamSlot, Slot slot) {
    if (const int code = FindWithStream(thread, slot, streamSlot, &ProgramModel::FindEvent);
        code != 0) {
        return code;
    }
    const ModelEvent& event = events.at(slot);
    if (!event.waitable) {
        return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    }
    ModelStream* stream = nullptr;
    if (const int code = UseStream(thread, streamSlot, &stream); code != 0) {
        return code;
    }
    ModelCapture* const capture = CaptureOf(*stream);
    const int old = event.kind == EventKind::kExWithFlag ? 0 : ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    if (event.capture >= 0 && !captures[static_cast<size_t>(event.capture)].over) {
        ModelCapture& recorded = captures[static_cast<size_t>(event.capture)];
        if (capture == nullptr) {
            if (stream->slot == contexts.at(stream->context).defaultStream) {
                return ACL_ERROR_RT_STREAM_CAPTURE_IMPLICIT;
            }
            if (recorded.invalidated) {
                return ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED;
            }
            if (stream->context != recorded.context) {
                return ACL_ERROR_RT_STREAM_CONTEXT;
            }
            if (stream->refuses) {
                recorded.invalidated = true;
                return ACL_ERROR_FAILURE;
            }
            stream->capture = event.capture;
            stream->branch = static_cast<int>(recorded.lengths.size());
            recorded.lengths.push_back(0);
            recorded.clocks.emplace_back();
            recorded.groupOpen.push_back(false);
            recorded.streams.push_back(stream->slot);
        } else {
            if (capture->invalidated) {
                return ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED;
            }
            if (capture != &recorded) {
                return ACL_ERROR_RT_CAPTURE_DEPENDENCY;
            }
            if (capture->groupOpen[static_cast<size_t>(stream->branch)]) {
                return ACL_ERROR_STREAM_TASK_GROUP_INTR;
            }
            if (event.capturePlace.lane == stream->branch) {
                return 0;
            }
        }
        const auto branch = static_cast<size_t>(stream->branch);
        recorded.clocks[branch].Join(event.captureClock);
        recorded.clocks[branch].Advance({stream->branch, ++recorded.lengths[branch]});
        return 0;
    }
    if (capture != nullptr && capture->invalidated) {
        return ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED;
    }
    if (!event.recorded || event.reset) {
        if (event.kind == EventKind::kExWithFlag) {
            return 0;
        }
        return capture != nullptr ? old : ACL_ERROR_RT_PARAM_INVALID;
    }
    if (capture != nullptr) {
        return old != 0 ? old : ACL_ERROR_RT_CAPTURE_DEPENDENCY;
    }
    if (stream->refuses) {
        return ACL_ERROR_FAILURE;
    }
    (void)Queue(stream);
    if (!stream->skips) {
        stream->clock.Join(event.clock);
    }
    return 0;
}

int ProgramModel::ReadEvent(Slot slot) const {
    if (const int code = FindEvent(slot); code != 0) {
        return code;
    }
    const ModelEvent& event = events.at(slot);
    const bool captured = event.capture >= 0 && !captures[static_cast<size_t>(event.capture)].over;
    return captured ? ACL_ERROR_RT_EVENT_CAPTURED : 0;
}

bool ProgramModel::CertainlyComplete(const ModelEvent& event) const {
    return host.Covers(event.place);
}

bool ProgramModel::CertainlyPending(const ModelEvent& event) const { return Blocked(event.clock); }

bool ProgramModel::CountsAsRecorded(const ModelEvent& event, bool* certain) const {
    *certain = !event.recorded || !event.reset || host.Covers(event.resetPlace);
    return event.recorded && !(event.reset && host.Covers(event.resetPlace));
}

int ProgramModel::SynchronizeEvent(Slot slot, bool* perhapsTold) {
    *perhapsTold = false;
    if (const int code = ReadEvent(slot); code != 0) {
        return code;
    }
    const ModelEvent& event = events.at(slot);
    bool certain = false;
    if (!CountsAsRecorded(event, &certain)) {
        return 0;
    }
    Covered(event.clock);
    ModelStream& stream = streams.at(event.stream);
    const auto after = std::find_if(stream.failures.begin(), stream.failures.end(),
                                    [&](uint32_t count) { return count > event.place.count; });
    const bool failed = after != stream.failures.begin();
    *perhapsTold = failed && !stream.alive;
    stream.failures.erase(stream.failures.begin(), after);
    stream.refuses = stream.refuses && !stream.failures.empty();
    return failed ? ACL_ERROR_FAILURE : 0;
}

}  // namespace stress
