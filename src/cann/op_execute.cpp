// SPDX-License-Identifier: Apache-2.0
// The calls of acl_op.h that are refused: execution by name, and folders of compiled models.

#include "acl/acl_op.h"
#include "src/cann/boundary.h"
#include "src/cann/refused_operator.h"

using namespace advstep::cann;

aclError aclopSetModelDir(const char* modelDir) {
    return Boundary("aclopSetModelDir", [&]() -> Outcome {
        if (modelDir == nullptr) {
            return Null("modelDir");
        }
        return {ACL_ERROR_API_NOT_SUPPORT, "modelDir is " + std::string(modelDir) +
                                               "; compiled operator models cannot be loaded, "
                                               "expected calls of aclnn functions"};
    });
}

aclError aclopExecuteV2(const char* opType, int numInputs, aclTensorDesc*[], aclDataBuffer*[],
                        int numOutputs, aclTensorDesc*[], aclDataBuffer*[], aclopAttr* attr,
                        aclrtStream) {
    return RefuseOperator("aclopExecuteV2", opType, numInputs, numOutputs, attr);
}
