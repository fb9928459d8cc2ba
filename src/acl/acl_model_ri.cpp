// SPDX-License-Identifier: Apache-2.0
// Models: their capture with its conditional tasks, their replay and their prints.

#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/base/live_objects.h"
#include "src/base/log.h"
#include "src/base/no_cancellation.h"
#include "src/base/no_file_signals.h"
#include "src/base/open_file.h"
#include "src/base/status.h"
#include "src/runtime/capture/capture.h"
#include "src/runtime/capture/model.h"
#include "src/runtime/stream/current.h"
#include "src/runtime/stream/stream.h"
#include "src/runtime/task/ticket.h"

using namespace advstep;

namespace {

// 107000: `mode` is none of aclmdlRICaptureMode.
Status CheckCaptureMode(aclmdlRICaptureMode mode, const char* argument) {
    const auto number = static_cast<int>(mode);
    return number >= ACL_MODEL_RI_CAPTURE_MODE_GLOBAL && number <= ACL_MODEL_RI_CAPTURE_MODE_RELAXED
               ? Status()
               : Error(ACL_ERROR_RT_PARAM_INVALID,
                       "{} is {}; expected ACL_MODEL_RI_CAPTURE_MODE_GLOBAL 0, THREAD_LOCAL 1 or "
                       "RELAXED 2",
                       argument, number);
}

// The capture calls refuse a null stream; it does not denote the default stream.
Status FindNamedStream(aclrtStream stream, StreamRef* found) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
    return FindStream(stream, found);
}

Status RequireModel(aclmdlRI modelRI, Model** model) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(modelRI, "modelRI"));
    return FindModel(modelRI, model);
}

Status CheckTask(const aclmdlRICondTaskParams& params, uint32_t flags) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(params.handle, "params.handle"));
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(params.modelRIArray, "params.modelRIArray"));
    constexpr uint32_t kMostSubGraphs = 65536;
    const auto type = static_cast<uint32_t>(params.type);
    if (type > ACL_MODEL_RI_COND_TYPE_SWITCH) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "params.type is {}; expected ACL_MODEL_RI_COND_TYPE_IF 0, WHILE 1 or SWITCH 2",
                     type);
    }
    const uint32_t most = type == ACL_MODEL_RI_COND_TYPE_IF      ? 2
                          : type == ACL_MODEL_RI_COND_TYPE_WHILE ? 1
                                                                 : kMostSubGraphs;
    if (params.size == 0 || params.size > most) {
        return Error(ACL_ERROR_RT_PARAM_INVALID,
                     "params.size is {}; expected 1 to {} sub-graphs for type {}", params.size,
                     most, type);
    }
    return flags == 0 ? Status()
                      : Error(ACL_ERROR_RT_PARAM_INVALID, "flags is {:#x}; expected 0", flags);
}

Status WriteFile(const char* path, const std::string& text) {
    const NoCancellation noCancellation;
    const NoFileSignals noSignals;
    const int descriptor = OpenFile(path, O_WRONLY | O_CREAT | O_TRUNC);
    std::FILE* const file = descriptor >= 0 ? fdopen(descriptor, "w") : nullptr;
    int wrong = file != nullptr ? 0 : errno;
    if (file == nullptr && descriptor >= 0) {
        (void)close(descriptor);
    }
    if (file != nullptr && std::fwrite(text.data(), 1, text.size(), file) != text.size()) {
        wrong = errno;
    }
    if (file != nullptr && std::fclose(file) != 0 && wrong == 0) {  // it writes what is left
        wrong = errno;
    }
    if (wrong == 0) {
        return {};
    }
    return Error(ACL_ERROR_RT_PARAM_INVALID,
                 "path is {}, which cannot be written ({}); expected a file that can", path,
                 FileErrorText(wrong));
}

}  // namespace

aclError aclmdlRICaptureBegin(aclrtStream stream, aclmdlRICaptureMode mode) {
    return AclBoundary("aclmdlRICaptureBegin", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
        ADVSTEP_RETURN_IF_ERROR(CheckCaptureMode(mode, "mode"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return BeginCapture(found, mode);
    });
}

aclError aclmdlRICaptureEnd(aclrtStream stream, aclmdlRI* modelRI) {
    return AclBoundary("aclmdlRICaptureEnd", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(modelRI, "modelRI"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        Handle model = 0;
        ADVSTEP_RETURN_IF_ERROR(EndCapture(found, &model));
        *modelRI = ToPointer(model);
        // A sub-graph is destroyed with its model.
        return TheModels().Find(model)->IsSubGraph(model)
                   ? Status()
                   : NoteIfMade({}, ObjectKind::kModel, "aclmdlRICaptureEnd", modelRI);
    });
}

aclError aclmdlRICaptureGetInfo(aclrtStream stream, aclmdlRICaptureStatus* status,
                                aclmdlRI* modelRI) {
    return AclBoundary("aclmdlRICaptureGetInfo", [&]() -> Status {
        StreamRef found;
        if (status == nullptr && modelRI == nullptr) {
            return Error(ACL_ERROR_INVALID_PARAM,
                         "status and modelRI are null; expected a pointer for one of them");
        }
        ADVSTEP_RETURN_IF_ERROR(FindNamedStream(stream, &found));
        aclmdlRICaptureStatus now = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
        Handle model = 0;
        ADVSTEP_RETURN_IF_ERROR(ReadCapture(found, &now, &model));
        if (status != nullptr) {
            *status = now;
        }
        if (modelRI != nullptr) {
            *modelRI = ToPointer(model);
        }
        return {};
    });
}

aclError aclmdlRICaptureThreadExchangeMode(aclmdlRICaptureMode* mode) {
    return AclBoundary("aclmdlRICaptureThreadExchangeMode", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(mode, "mode"));
        ADVSTEP_RETURN_IF_ERROR(CheckCaptureMode(*mode, "*mode"));
        *mode = ExchangeThreadCaptureMode(*mode);
        return {};
    });
}

aclError aclmdlRICaptureTaskGrpBegin(aclrtStream stream) {
    return AclBoundary("aclmdlRICaptureTaskGrpBegin", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindNamedStream(stream, &found));
        return BeginTaskGroup(found);
    });
}

aclError aclmdlRICaptureTaskGrpEnd(aclrtStream stream, aclrtTaskGrp* handle) {
    return AclBoundary("aclmdlRICaptureTaskGrpEnd", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        Handle group = 0;
        ADVSTEP_RETURN_IF_ERROR(EndTaskGroup(found, &group));
        *handle = ToPointer(group);
        return {};
    });
}

aclError aclmdlRICaptureTaskUpdateBegin(aclrtStream stream, aclrtTaskGrp handle) {
    return AclBoundary("aclmdlRICaptureTaskUpdateBegin", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        ADVSTEP_RETURN_IF_ERROR(found.CheckFree());
        return BeginTaskUpdate(found, handle);
    });
}

aclError aclmdlRICaptureTaskUpdateEnd(aclrtStream stream) {
    return AclBoundary("aclmdlRICaptureTaskUpdateEnd", [&]() -> Status {
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindNamedStream(stream, &found));
        return EndTaskUpdate(found);
    });
}

aclError aclmdlRIExecuteAsync(aclmdlRI modelRI, aclrtStream stream) {
    return AclBoundary("aclmdlRIExecuteAsync", [&]() -> Status {
        Model* model = nullptr;
        ADVSTEP_RETURN_IF_ERROR(RequireModel(modelRI, &model));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return model->Replay(ToHandle(modelRI), found);
    });
}

aclError aclmdlRIExecute(aclmdlRI modelRI, int32_t timeout) {
    return AclBoundary("aclmdlRIExecute", [&]() -> Status {
        Model* model = nullptr;
        ADVSTEP_RETURN_IF_ERROR(RequireModel(modelRI, &model));
        WaitLimit limit{"modelRI", modelRI};
        ADVSTEP_RETURN_IF_ERROR(MakeWaitLimit(timeout, ACL_ERROR_RT_STREAM_SYNC_TIMEOUT, &limit));
        ADVSTEP_RETURN_IF_ERROR(RefuseInsideTask());
        ContextRef current;
        ADVSTEP_RETURN_IF_ERROR(CurrentContext(&current));
        return model->Execute(ToHandle(modelRI), current.handle, limit);
    });
}

aclError aclmdlRIDestroy(aclmdlRI modelRI) {
    return AclBoundary("aclmdlRIDestroy", [&]() -> Status {
        Model* model = nullptr;
        ADVSTEP_RETURN_IF_ERROR(RequireModel(modelRI, &model));
        ADVSTEP_RETURN_IF_ERROR(
            Freeing(ObjectKind::kModel, modelRI, [&] { return model->Close(ToHandle(modelRI)); }));
        TheModels().Release(model);
        return {};
    });
}

aclError aclmdlRICondHandleCreate(aclmdlRI modelRI, uint32_t defaultLaunchValue,
                                  aclmdlRICondHandleFlag flag, aclmdlRICondHandle* handle) {
    return AclBoundary("aclmdlRICondHandleCreate", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(modelRI, "modelRI"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        const auto number = static_cast<uint32_t>(flag);
        if (number > ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "flag is {}; expected 0 or ACL_MODEL_RI_COND_HANDLE_ASSIGN_DEFAULT 1",
                         number);
        }
        Handle made = 0;
        ADVSTEP_RETURN_IF_ERROR(
            CreateCondition(ToHandle(modelRI), defaultLaunchValue, number != 0, &made));
        *handle = ToPointer(made);
        return {};
    });
}

aclError aclmdlRICondHandleGetCondPtr(aclmdlRICondHandle handle, uint64_t** ptr) {
    return AclBoundary("aclmdlRICondHandleGetCondPtr", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(handle, "handle"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(ptr, "ptr"));
        return FindConditionVariable(handle, ptr);
    });
}

aclError aclmdlRIAddCondTask(aclmdlRICondTaskParams params, aclrtStream stream, uint32_t flags) {
    return AclBoundary("aclmdlRIAddCondTask", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
        ADVSTEP_RETURN_IF_ERROR(CheckTask(params, flags));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return AddConditionalTask(params, found);
    });
}

aclError aclmdlRICaptureToModelRIBegin(aclrtStream stream, aclmdlRI modelRI,
                                       aclmdlRICaptureMode mode) {
    return AclBoundary("aclmdlRICaptureToModelRIBegin", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(stream, "stream"));
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(modelRI, "modelRI"));
        ADVSTEP_RETURN_IF_ERROR(CheckCaptureMode(mode, "mode"));
        StreamRef found;
        ADVSTEP_RETURN_IF_ERROR(FindStream(stream, &found));
        return BeginSubGraphCapture(found, modelRI, mode);
    });
}

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId) {
    return AclBoundary("aclmdlRIGetId", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(modelRIId, "modelRIId"));
        Model* model = nullptr;
        ADVSTEP_RETURN_IF_ERROR(RequireModel(modelRI, &model));
        Status usable = model->Check(ToHandle(modelRI));
        if (!usable.ok() && usable.code() != ACL_ERROR_RT_MODEL_CAPTURED) {
            return usable;
        }
        *modelRIId = IndexOf(ToHandle(modelRI));
        return {};
    });
}

aclError aclmdlRISetName(aclmdlRI modelRI, const char* name) {
    return AclBoundary("aclmdlRISetName", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(name, "name"));
        Model* model = nullptr;
        ADVSTEP_RETURN_IF_ERROR(RequireModel(modelRI, &model));
        return model->SetName(ToHandle(modelRI), name);
    });
}

aclError aclmdlRIGetName(aclmdlRI modelRI, uint32_t maxLen, char* name) {
    return AclBoundary("aclmdlRIGetName", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(name, "name"));
        Model* model = nullptr;
        ADVSTEP_RETURN_IF_ERROR(RequireModel(modelRI, &model));
        std::string found;
        ADVSTEP_RETURN_IF_ERROR(model->ReadName(ToHandle(modelRI), &found));
        if (found.size() >= maxLen) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "maxLen is {}; expected at least {} for the name and its NUL", maxLen,
                         found.size() + 1);
        }
        std::memcpy(name, found.c_str(), found.size() + 1);
        return {};
    });
}

aclError aclmdlRIDestroyRegisterCallback(aclmdlRI modelRI, aclrtCallback func, void* userData) {
    return AclBoundary("aclmdlRIDestroyRegisterCallback", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(reinterpret_cast<const void*>(func), "func"));
        Model* model = nullptr;
        ADVSTEP_RETURN_IF_ERROR(RequireModel(modelRI, &model));
        return model->AddEndCallback(ToHandle(modelRI), {func, userData});
    });
}

aclError aclmdlRIDestroyUnregisterCallback(aclmdlRI modelRI, aclrtCallback func) {
    return AclBoundary("aclmdlRIDestroyUnregisterCallback", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(reinterpret_cast<const void*>(func), "func"));
        Model* model = nullptr;
        ADVSTEP_RETURN_IF_ERROR(RequireModel(modelRI, &model));
        return model->RemoveEndCallback(ToHandle(modelRI), func);
    });
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
    return AclBoundary("aclmdlRIDebugPrint", [&]() -> Status {
        Model* model = nullptr;
        ADVSTEP_RETURN_IF_ERROR(RequireModel(modelRI, &model));
        std::vector<std::string> lines;
        ADVSTEP_RETURN_IF_ERROR(model->Print(ToHandle(modelRI), &lines));
        for (const std::string& line : lines) {
            LogLine(LogLevel::kInfo, line);
        }
        return {};
    });
}

aclError aclmdlRIDebugJsonPrint(aclmdlRI modelRI, const char* path, uint32_t flags) {
    return AclBoundary("aclmdlRIDebugJsonPrint", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(path, "path"));
        if (flags > ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE) {
            return Error(ACL_ERROR_RT_PARAM_INVALID,
                         "flags is {:#x}; expected SUMMARY 0 or VERBOSE 1", flags);
        }
        Model* model = nullptr;
        ADVSTEP_RETURN_IF_ERROR(RequireModel(modelRI, &model));
        std::string json;
        ADVSTEP_RETURN_IF_ERROR(model->PrintEvents(
            ToHandle(modelRI), flags == ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE, &json));
        return WriteFile(path, json);
    });
}
