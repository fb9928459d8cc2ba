// SPDX-License-Identifier: Apache-2.0
// Notifies and words of the model.

#include "stress/program_model.h"

namespace stress {

int ProgramModel::FindNotify(Slot slot) const {
    if (slot == kNull) {
        return ACL_ERROR_INVALID_PARAM;
    }
    const auto found = notifies.find(slot);
    return found != notifies.end() && found->second.alive ? 0 : ACL_ERROR_RT_INVALID_HANDLE;
}

// Up to the queue, or into a capture.
int ProgramModel::EnterWithNotify(int thread, Slot slot, Slot streamSlot, ModelStream** stream,
                                  bool* captured) {
    Slot found = kNull;
    if (slot == kNull) {
        return ACL_ERROR_INVALID_PARAM;
    }
    if (const int code = FindStream(thread, streamSlot, &found); code != 0) {
        return code;
    }
    if (const int code = FindNotify(slot); code != 0) {
        return code;
    }
    ModelCapture* capture = nullptr;
    if (const int code = Enter(thread, streamSlot, 0, false, stream, &capture); code != 0) {
        return code;
    }
    if (capture != nullptr) {
        capture->notifies.push_back(slot);
        *captured = true;
        return RecordInCapture(capture, (*stream)->branch, Effect{});
    }
    return 0;
}

int ProgramModel::RecordNotify(int thread, Slot slot, Slot streamSlot) {
    ModelStream* stream = nullptr;
    bool captured = false;
    if (const int code = EnterWithNotify(thread, slot, streamSlot, &stream, &captured);
        code != 0 || captured) {
        return code;
    }
    // Who is let go by the flag knows of what was before; the record itself may not have ended.
    const Clock before = Now(*stream);
    (void)Queue(stream);
    if (!stream->skips) {
        notifies.at(slot).set = true;
        notifies.at(slot).clock = before;
    }
    return 0;
}

int ProgramModel::WaitNotify(int thread, Slot slot, Slot streamSlot) {
    ModelStream* stream = nullptr;
    bool captured = false;
    if (const int code = EnterWithNotify(thread, slot, streamSlot, &stream, &captured);
        code != 0 || captured) {
        return code;
    }
    const Place place = Queue(stream);
    if (stream->skips) {
        return 0;
    }
    ModelNotify& notify = notifies.at(slot);
    notify.taken = place;
    if (notify.set) {
        notify.set = false;
        stream->clock.Join(notify.clock);
    }
    return 0;
}

int ProgramModel::WriteWord(int thread, int index, uint64_t value, Slot streamSlot) {
    ModelStream* stream = nullptr;
    ModelCapture* capture = nullptr;
    if (const int code = Enter(thread, streamSlot, 0, false, &stream, &capture); code != 0) {
        return code;
    }
    const Clock before = Now(*stream);
    const Place place = Queue(stream);
    ModelWord& word = words[static_cast<size_t>(index)];
    if (!stream->skips) {
        word.value = value;
        word.clock = before;  // as with a notify
        word.accesses.Note(place, true);
    }
    return 0;
}

int ProgramModel::WaitWord(int thread, int index, uint64_t value, uint32_t flag, Slot streamSlot) {
    ModelStream* stream = nullptr;
    ModelCapture* capture = nullptr;
    if (const int code = Enter(thread, streamSlot, 0, false, &stream, &capture); code != 0) {
        return code;
    }
    const Place place = Queue(stream);
    ModelWord& word = words[static_cast<size_t>(index)];
    if (!stream->skips) {
        word.accesses.Note(place, false);
        // Earlier values are smaller, so only the last write can have ended this wait.
        const bool exact = flag == ACL_STREAM_WAIT_VALUE_EQ || flag == ACL_STREAM_WAIT_VALUE_GEQ;
        if (exact && value == word.value) {
            stream->clock.Join(word.clock);
        }
        // The write comes first in any case: nobody else ends the wait.
    }
    return 0;
}

}  // namespace stress
