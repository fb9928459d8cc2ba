// SPDX-License-Identifier: Apache-2.0
// Initialisation and finalisation of the operator layer.

#include "aclnn/aclnn_base.h"
#include "src/base/boundary.h"
#include "src/base/settings.h"

using namespace advstep;

aclnnStatus aclnnInit(const char* configPath) {
    return AclnnBoundary("aclnnInit", ACLNN_ERR_INNER, [&]() -> Status {
        Settings checked;
        const Status loaded = LoadSettings(configPath, &checked);
        return loaded.ok()
                   ? Status()
                   : Error(ACLNN_ERR_PARAM_INVALID, "{} ({})", loaded.message(), loaded.code());
    });
}

aclnnStatus aclnnFinalize(void) { return ACLNN_SUCCESS; }
