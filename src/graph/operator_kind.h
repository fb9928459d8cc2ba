#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "graph/types.h"
#include "src/graph/outcome.h"

namespace advstep::graph {

/// Shape and data type of a value; its format is always ND.
struct ValueDesc {
    std::vector<int64_t> dims;
    ge::DataType dataType = ge::DT_FLOAT;
    size_t bytes = 0;
};

/// What an operator is called with; everything in the order of its kind.
struct OperatorArguments {
    std::vector<const ValueDesc*> descs;  // of the inputs; null: absent
    std::vector<aclTensor*> tensors;      // the inputs on the device; null: absent
    std::vector<int64_t> attrs;
};

/// The two aclnn calls of an operator.
struct AclnnCalls {
    aclnnStatus (*plan)(const OperatorArguments& arguments, uint64_t* workspaceSize,
                        aclOpExecutor** executor);
    aclnnStatus (*run)(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                       aclrtStream stream);
};

struct InputRule {
    const char* name;
    bool isOptional;
};

struct OutputRule {
    const char* name;
    size_t input;  // it starts as a copy of this one, and the operator updates the copy
    size_t like;   // it takes the shape and data type of this one
};

/// A type of operators that runs here.
struct OperatorKind {
    const char* type;
    std::vector<InputRule> inputs;
    std::vector<OutputRule> outputs;
    std::vector<const char*> attrs;  // required integers
    /// Chooses the calls by the inputs that are there; checks what the calls do not see.
    Outcome (*choose)(const OperatorArguments& arguments, AclnnCalls* calls);
};

/// Null for a type that does not run here.
const OperatorKind* FindOperatorKind(const std::string& type);

const OperatorKind& AdvanceStepKind();
const OperatorKind& StepKind();

}  // namespace advstep::graph
