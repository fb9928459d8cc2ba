// SPDX-License-Identifier: Apache-2.0
// Captures, graphs and task groups of the model.
#include <algorithm>

#include "stress/program_model.h"

namespace stress {

ModelCapture* ProgramModel::CaptureOf(const ModelStream& stream) {
    if (stream.capture < 0 || captures[static_cast<size_t>(stream.capture)].over) {
        return nullptr;
    }
    return &captures[static_cast<size_t>(stream.capture)];
}

int ProgramModel::Begin(int thread, Slot slot, int mode, Slot model) {
    if (slot == kNull) {
        return ACL_ERROR_INVALID_PARAM;
    }
    if (mode < ACL_MODEL_RI_CAPTURE_MODE_GLOBAL || mode > ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    ModelStream* stream = nullptr;
    if (const int code = UseStream(thread, slot, &stream); code != 0) {
        return code;
    }
    if (slot == contexts.at(stream->context).defaultStream) {
        return ACL_ERROR_RT_FEATURE_NOT_SUPPORT;
    }
    if (const ModelCapture* const other = CaptureOf(*stream); other != nullptr) {
        return other->Refusal();
    }
    ModelCapture capture;
    capture.stream = slot;
    capture.context = stream->context;
    capture.model = model;
    capture.thread = thread;
    capture.mode = mode;
    capture.lengths = {0};
    capture.clocks.resize(1);
    capture.groupOpen = {false};
    capture.streams = {slot};
    stream->capture = static_cast<int>(captures.size());
    stream->branch = 0;
    captures.push_back(capture);
    ModelGraph graph;
    graph.context = stream->context;
    graphs[model] = graph;
    return 0;
}

int ProgramModel::RecordInCapture(ModelCapture* capture, int branch, const Effect& effect) {
    const auto index = static_cast<size_t>(branch);
    const Place place{branch, ++capture->lengths[index]};
    capture->clocks[index].Advance(place);
    if (effect.Reads()) {
        capture->cells[static_cast<size_t>(effect.source)].Note(place, false);
    }
    if (effect.Writes()) {
        capture->cells[static_cast<size_t>(effect.cell)].Note(place, true);
    }
    capture->effects.push_back(effect);
    return 0;
}

int ProgramModel::UseCapture(int thread, Slot slot, ModelStream** stream, ModelCapture** capture) {
    if (slot == kNull) {
        return ACL_ERROR_INVALID_PARAM;
    }
    if (const int code = UseStream(thread, slot, stream); code != 0) {
        return code;
    }
    *capture = CaptureOf(**stream);
    return *capture != nullptr ? 0 : ACL_ERROR_RT_STREAM_NOT_CAPTURED;
}

int ProgramModel::End(int thread, Slot slot) {
    ModelStream* stream = nullptr;
    ModelCapture* capture = nullptr;
    if (const int code = UseCapture(thread, slot, &stream, &capture); code != 0) {
        return code;
    }
    if (capture->stream != slot) {
        return ACL_ERROR_RT_STREAM_CAPTURE_UNMATCHED;
    }
    if (capture->mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED && capture->thread != thread) {
        return ACL_ERROR_RT_STREAM_CAPTURE_WRONG_THREAD;
    }
    ModelGraph& graph = graphs.at(capture->model);
    if (capture->invalidated) {
        capture->over = true;
        graph.alive = false;
        return ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED;
    }
    if (std::find(capture->groupOpen.begin(), capture->groupOpen.end(), true) !=
        capture->groupOpen.end()) {
        return ACL_ERROR_STREAM_TASK_GROUP_STATUS;
    }
    for (size_t branch = 1; branch < capture->lengths.size(); ++branch) {
        if (capture->clocks[0].At(static_cast<int>(branch)) < capture->lengths[branch]) {
            return ACL_ERROR_RT_STREAM_UNJOINED;
        }
    }
    capture->over = true;
    graph.captured = false;
    graph.effects = capture->effects;
    graph.notifies = capture->notifies;
    graph.blocks = capture->blocks;
    return 0;
}

int ProgramModel::UseGroup(int thread, Slot slot, bool open, ModelCapture** capture,
                           size_t* branch) {
    ModelStream* stream = nullptr;
    if (const int code = UseCapture(thread, slot, &stream, capture); code != 0) {
        return code;
    }
    if ((*capture)->invalidated) {
        return ACL_ERROR_RT_STREAM_CAPTURE_INVALIDATED;
    }
    *branch = static_cast<size_t>(stream->branch);
    return (*capture)->groupOpen[*branch] == open ? 0 : ACL_ERROR_STREAM_TASK_GROUP_STATUS;
}

int ProgramModel::BeginGroup(int thread, Slot slot) {
    ModelCapture* capture = nullptr;
    size_t branch = 0;
    if (const int code = UseGroup(thread, slot, false, &capture, &branch); code != 0) {
        return code;
    }
    capture->groupOpen[branch] = true;
    return 0;
}

int ProgramModel::EndGroup(int thread, Slot slot, Slot group) {
    ModelCapture* capture = nullptr;
    size_t branch = 0;
    if (const int code = UseGroup(thread, slot, true, &capture, &branch); code != 0) {
        return code;
    }
    capture->groupOpen[branch] = false;
    groups[group] = {capture->model};
    return 0;
}

int ProgramModel::Forbidden(int thread, int code) const {
    const ModelThread& caller = threads[static_cast<size_t>(thread)];
    if (caller.mode == ACL_MODEL_RI_CAPTURE_MODE_RELAXED) {
        return 0;
    }
    for (const ModelCapture& capture : captures) {
        if (capture.over || capture.context != caller.context) {
            continue;
        }
        const bool own = capture.thread == thread;
        if (own ? capture.mode != ACL_MODEL_RI_CAPTURE_MODE_RELAXED
                : caller.mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL &&
                      capture.mode == ACL_MODEL_RI_CAPTURE_MODE_GLOBAL) {
            return code;
        }
    }
    return 0;
}

namespace {

int CheckUses(const ProgramModel& model, const ModelGraph& graph) {
    // In the order in which it was captured; a program lets only one of the two kinds go.
    for (const Slot block : graph.blocks) {
        if (!model.blocks.at(block)) {
            return ACL_ERROR_RT_PARAM_INVALID;
        }
    }
    for (const Slot notify : graph.notifies) {
        if (!model.notifies.at(notify).alive) {
            return ACL_ERROR_RT_INVALID_HANDLE;
        }
    }
    return 0;
}

}  // namespace

int ProgramModel::Replay(int thread, Slot slot, Slot streamSlot) {
    if (slot != kNull && graphs.count(slot) == 0) {
        return ACL_ERROR_RT_INVALID_HANDLE;
    }
    if (const int code = FindWithStream(thread, slot, streamSlot, &ProgramModel::FindModel);
        code != 0) {
        return code;
    }
    ModelStream* stream = nullptr;
    if (const int code = UseStream(thread, streamSlot, &stream); code != 0) {
        return code;
    }
    ModelGraph& graph = graphs.at(slot);
    if (graph.context != stream->context) {
        return ACL_ERROR_RT_STREAM_CONTEXT;
    }
    if (const int code = CheckUses(*this, graph); code != 0) {
        return code;
    }
    if (const ModelCapture* const other = CaptureOf(*stream); other != nullptr) {
        return other->Refusal();
    }
    if (stream->refuses) {
        return ACL_ERROR_FAILURE;
    }
    const Place place = Queue(stream);
    if (stream->skips) {
        return 0;
    }
    stream->clock.Join(graph.endClock);  // replays run one after another
    for (const Effect& effect : graph.effects) {
        if (effect.kind == Effect::Kind::kThrow) {
            stream->failures.push_back(place.count);
        }
        Apply(effect, place);
    }
    graph.end = place;
    graph.endClock = stream->clock;
    return 0;
}

int ProgramModel::Execute(int thread, Slot slot) {
    if (slot == kNull) {
        return ACL_ERROR_INVALID_PARAM;
    }
    if (graphs.count(slot) == 0) {
        return ACL_ERROR_RT_INVALID_HANDLE;
    }
    if (const int code = CheckContext(thread); code != 0) {
        return code;
    }
    if (const int code = FindModel(slot); code != 0) {
        return code;
    }
    ModelGraph& graph = graphs.at(slot);
    if (graph.context != threads[static_cast<size_t>(thread)].context) {
        return ACL_ERROR_RT_STREAM_CONTEXT;
    }
    if (const int code = CheckUses(*this, graph); code != 0) {
        return code;
    }
    if (graph.lane < 0) {
        graph.lane = NewLane();
    }
    const Place place{graph.lane, ++graph.executed};
    Clock clock = host;
    clock.Join(graph.endClock);
    clock.Advance(place);
    bool failed = false;
    for (const Effect& effect : graph.effects) {
        failed = failed || effect.kind == Effect::Kind::kThrow;
        Apply(effect, place);
    }
    graph.end = place;
    graph.endClock = clock;
    Covered(clock);
    return failed ? ACL_ERROR_FAILURE : 0;
}

Place ProgramModel::ConflictOfReplay(const ModelGraph& graph, const Clock& before) const {
    Clock clock = before;
    clock.Join(graph.endClock);
    for (const Effect& effect : graph.effects) {
        if (effect.Reads()) {
            const Place place = accesses[static_cast<size_t>(effect.source)].Conflict(clock, false);
            if (place.lane >= 0) {
                return place;
            }
        }
        if (effect.Writes()) {
            const Place place = accesses[static_cast<size_t>(effect.cell)].Conflict(clock, true);
            if (place.lane >= 0) {
                return place;
            }
        }
    }
    return {};
}

}  // namespace stress
