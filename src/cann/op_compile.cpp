// SPDX-License-Identifier: Apache-2.0
// The calls of acl_op_compiler.h that are refused: compilation, execution, and dumps.

#include "acl/acl_op_compiler.h"
#include "src/cann/boundary.h"
#include "src/cann/refused_operator.h"

using namespace advstep::cann;

aclError aclopCompile(const char* opType, int numInputs, const aclTensorDesc* const[],
                      int numOutputs, const aclTensorDesc* const[], const aclopAttr* attr,
                      aclopEngineType, aclopCompileType, const char*) {
    return RefuseOperator("aclopCompile", opType, numInputs, numOutputs, attr);
}

aclError aclopCompileAndExecute(const char* opType, int numInputs, const aclTensorDesc* const[],
                                const aclDataBuffer* const[], int numOutputs,
                                const aclTensorDesc* const[], aclDataBuffer* const[],
                                const aclopAttr* attr, aclopEngineType, aclopCompileType,
                                const char*, aclrtStream) {
    return RefuseOperator("aclopCompileAndExecute", opType, numInputs, numOutputs, attr);
}

aclError aclopCompileAndExecuteV2(const char* opType, int numInputs, aclTensorDesc*[],
                                  aclDataBuffer*[], int numOutputs, aclTensorDesc*[],
                                  aclDataBuffer*[], aclopAttr* attr, aclopEngineType,
                                  aclopCompileType, const char*, aclrtStream) {
    return RefuseOperator("aclopCompileAndExecuteV2", opType, numInputs, numOutputs, attr);
}

aclError aclGenGraphAndDumpForOp(const char* opType, int numInputs, const aclTensorDesc* const[],
                                 const aclDataBuffer* const[], int numOutputs,
                                 const aclTensorDesc* const[], aclDataBuffer* const[],
                                 const aclopAttr* attr, aclopEngineType, const char*,
                                 const aclGraphDumpOption*) {
    return RefuseOperator("aclGenGraphAndDumpForOp", opType, numInputs, numOutputs, attr);
}

aclError aclopStartDumpArgs(uint32_t dumpType, const char* path) {
    return Boundary("aclopStartDumpArgs", [&]() -> Outcome {
        if (path == nullptr) {
            return Null("path");
        }
        return {ACL_ERROR_API_NOT_SUPPORT,
                "dumpType is " + std::to_string(dumpType) +
                    "; the arguments of operators cannot be written to files, expected no dump"};
    });
}

aclError aclopStopDumpArgs(uint32_t dumpType) {
    return Boundary("aclopStopDumpArgs", [&]() -> Outcome {
        return {ACL_ERROR_API_NOT_SUPPORT, "dumpType is " + std::to_string(dumpType) +
                                               "; no dump can be under way, expected no call"};
    });
}
