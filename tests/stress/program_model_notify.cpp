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

// Into a capture, or to the queue and then `queued` with the stream.
int ProgramModel::EnterWithNotify(int thread, Slot slot, Slot streamSlot,
                                  const std::function<void(ModelStream*)>& queued) {
    if (const int code = FindWithStream(thread, slot, streamSlot, &ProgramModel::FindNotify);
        code != 0) {
        return code;
    }
    ModelStream* stream = nullptr;
    ModelCapture* capture = nullptr;
    if (const int code = Enter(thread, streamSlot, 0, false, &stream, &capture); code != 0) {
        return code;
    }
    if (capture != nullptr) {
        capture->notifies.push_back(slot);
        return RecordInCapture(capture, stream->branch, Effect{});
    }
    queued(stream);
    return 0;
}

int ProgramModel::RecordNotify(int thread, Slot slot, Slot streamSlot) {
    return EnterWithNotify(thread, slot, streamSlot, [&](ModelStream* stream) {
        // Who is let go by the flag knows of what was before; the record itself may not have ended.
        const Clock before = Now(*stream);
        (void)Queue(stream);
        if (!stream->skips) {
            notifies.at(slot).set = true;
            notifies.at(slot).clock = before;
        }
    });
}

int ProgramModel::WaitNotify(int thread, Slot slot, Slot streamSlot) {
    return EnterWithNotify(thread, slot, streamSlot, [&](ModelStream* stream) {
        const Place place = Queue(stream);
        if (stream->skips) {
            return;
        }
        ModelNotify& notify = notifies.at(slot);
        notify.taken = place;
        if (notify.set) {
            notify.set = false;
            stream->clock.Join(notify.clock);
        }
    });
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
