// SPDX-License-Identifier: Apache-2.0
// The number of a model, and its tasks in the log or in a file.
#include <fcntl.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <string>
#include <vector>

#include "acl/acl_rt.h"
#include "src/base/boundary.h"
#include "src/base/log.h"
#include "src/base/no_cancellation.h"
#include "src/base/open_file.h"
#include "src/runtime/capture/capture.h"
#include "src/runtime/capture/model.h"

using namespace advstep;

namespace {

Status FindNamedModel(aclmdlRI modelRI, Model** model) {
    ADVSTEP_RETURN_IF_ERROR(RequireNotNull(modelRI, "modelRI"));
    return FindModel(modelRI, model);
}

Status WriteFile(const char* path, const std::string& text) {
    const NoCancellation noCancellation;
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

aclError aclmdlRIGetId(aclmdlRI modelRI, uint32_t* modelRIId) {
    return AclBoundary("aclmdlRIGetId", [&]() -> Status {
        ADVSTEP_RETURN_IF_ERROR(RequireNotNull(modelRIId, "modelRIId"));
        Model* model = nullptr;
        ADVSTEP_RETURN_IF_ERROR(FindNamedModel(modelRI, &model));
        Status usable = model->Check(ToHandle(modelRI));
        if (!usable.ok() && usable.code() != ACL_ERROR_RT_MODEL_CAPTURED) {
            return usable;
        }
        *modelRIId = IndexOf(ToHandle(modelRI));
        return {};
    });
}

aclError aclmdlRIDebugPrint(aclmdlRI modelRI) {
    return AclBoundary("aclmdlRIDebugPrint", [&]() -> Status {
        Model* model = nullptr;
        ADVSTEP_RETURN_IF_ERROR(FindNamedModel(modelRI, &model));
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
        ADVSTEP_RETURN_IF_ERROR(FindNamedModel(modelRI, &model));
        std::string json;
        ADVSTEP_RETURN_IF_ERROR(model->PrintEvents(
            ToHandle(modelRI), flags == ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE, &json));
        return WriteFile(path, json);
    });
}
