// SPDX-License-Identifier: Apache-2.0
// Creation and destruction of contexts and streams in the model, and of models in it.

#include "stress/program_model.h"

namespace stress {

int ProgramModel::CreateContext(int thread, Slot context, Slot defaultStream) {
    contexts[context].defaultStream = defaultStream;
    threads[static_cast<size_t>(thread)].context = context;
    ModelStream stream;
    stream.slot = defaultStream;
    stream.context = context;
    stream.lane = NewLane();
    streams[defaultStream] = stream;
    return 0;
}

int ProgramModel::SetContext(int thread, Slot context) {
    const auto found = contexts.find(context);
    if (context == kNull) {
        return ACL_ERROR_INVALID_PARAM;
    }
    if (found == contexts.end() || !found->second.alive) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    threads[static_cast<size_t>(thread)].context = context;
    return 0;
}

int ProgramModel::DestroyContext(int thread, Slot context) {
    const auto found = contexts.find(context);
    if (context == kNull) {
        return ACL_ERROR_INVALID_PARAM;
    }
    if (found == contexts.end() || !found->second.alive || context == kPrimary) {
        return ACL_ERROR_RT_CONTEXT_NULL;
    }
    found->second.alive = false;
    for (ModelCapture& capture : captures) {
        if (!capture.over && capture.context == context) {
            capture.over = true;
            graphs.at(capture.model).alive = false;
        }
    }
    for (auto& [slot, graph] : graphs) {
        if (graph.context == context && graph.alive) {
            graph.alive = false;
            Covered(graph.endClock);
        }
    }
    for (auto& [slot, stream] : streams) {
        if (stream.context == context && stream.alive) {
            stream.alive = false;
            Covered(stream.clock);
        }
    }
    ModelThread& caller = threads[static_cast<size_t>(thread)];
    caller.context = caller.context == context ? kNull : caller.context;
    return 0;
}

int ProgramModel::CreateStream(int thread, Slot slot) {
    if (const int code = CheckContext(thread); code != 0) {
        return code;
    }
    ModelStream stream;
    stream.slot = slot;
    stream.context = threads[static_cast<size_t>(thread)].context;
    stream.lane = NewLane();
    streams[slot] = stream;
    return 0;
}

int ProgramModel::DestroyStream(int thread, Slot slot, bool synchronises) {
    if (slot == kNull) {
        return ACL_ERROR_INVALID_PARAM;
    }
    Slot found = kNull;
    if (const int code = FindStream(thread, slot, &found); code != 0) {
        return code;
    }
    if (slot == contexts.at(threads[static_cast<size_t>(thread)].context).defaultStream) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    if (const int code = CheckFree(thread, slot); code != 0) {
        return code;
    }
    ModelStream& stream = streams.at(slot);
    stream.alive = false;
    if (synchronises) {
        Covered(stream.clock);
    }
    return 0;
}

int ProgramModel::SetFailureMode(int thread, Slot slot, uint64_t mode) {
    Slot found = kNull;
    if (const int code = FindStream(thread, slot, &found); code != 0) {
        return code;
    }
    if (mode > ACL_STOP_ON_FAILURE) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    ModelStream* stream = nullptr;
    if (const int code = UseStream(thread, slot, &stream); code != 0) {
        return code;
    }
    if (stream->modeSet) {
        return ACL_ERROR_RT_PARAM_INVALID;
    }
    stream->modeSet = true;
    contexts.at(stream->context).stops = mode == ACL_STOP_ON_FAILURE;
    return 0;
}

int ProgramModel::FindModel(Slot slot) const {
    if (slot == kNull) {
        return ACL_ERROR_INVALID_PARAM;
    }
    const auto found = graphs.find(slot);
    if (found == graphs.end() || !found->second.alive) {
        return ACL_ERROR_RT_INVALID_HANDLE;
    }
    return found->second.captured ? ACL_ERROR_RT_MODEL_CAPTURED : 0;
}

int ProgramModel::DestroyModel(Slot slot) {
    if (const int code = FindModel(slot); code != 0) {
        return code;
    }
    ModelGraph& graph = graphs.at(slot);
    if (!host.Covers(graph.end)) {
        return ACL_ERROR_RT_MODEL_RUNNING;
    }
    graph.alive = false;
    return 0;
}

}  // namespace stress
