// SPDX-License-Identifier: Apache-2.0
// The kinds of operators that graph mode runs: inputs, outputs, attributes and calls.

#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "aclnn/acl_meta.h"
#include "advance_step/operator/graph_core.h"
#include "graph/types.h"
#include "src/graph/ir/graph_model.h"
#include "src/graph/ir/outcome.h"
#include "src/graph/ir/tensor.h"

namespace advstep::graph {

/// The arguments of an operator's call, in the order that its kind declares.
struct OperatorArguments {
    std::vector<const ValueDesc*> descs;  // descriptions of the inputs; null: absent
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
    std::string name;
    bool isOptional;
};

struct OutputRule {
    static constexpr size_t kNew = SIZE_MAX;

    std::string name;
    size_t input;  // the output starts as a copy of this input, and the operator updates the copy
    size_t like;   // the output has the shape and data type of this input

    /// Returns whether the output is no update: both numbers are kNew then.
    bool isNew() const { return input == kNew; }
};

/// An operator type that graph mode can run.
struct OperatorKind {
    /// The place of a tensor of a tied call among the inputs and outputs of the node. It has
    /// neither if the node leaves the tensor out.
    struct TiedPlace {
        std::optional<size_t> input;
        std::optional<size_t> output;
    };

    std::string type;
    std::vector<InputRule> inputs;
    std::vector<OutputRule> outputs;
    std::vector<const char*> attrs;  // required integers
    /// Chooses the calls by the inputs that are present, and makes the checks that the calls do not
    /// make.
    Outcome (*choose)(const OperatorArguments& arguments, AclnnCalls* calls) = nullptr;
    /// The tie to an operator of another library, which has no attrs and no function choose.
    const AdvStepGraphOperator* tie = nullptr;
    std::vector<TiedPlace> places{};  // one for each tensor of the tied call
};

/// Returns null for a type that is not built in.
const OperatorKind* FindOperatorKind(const std::string& type);

const OperatorKind& AdvanceStepKind();
const OperatorKind& StepKind();

/// The attributes of a node, with the values of its lists.
struct TiedValues {
    std::vector<AdvStepGraphValue> values;  // in the order of the tie
    std::vector<std::vector<int64_t>> integers;
    std::vector<std::vector<float>> reals;
    std::vector<std::unique_ptr<bool[]>> truths;
};

/// Finds the tie of a node's type. *kind is null afterwards if there is none. The kind is that of
/// the node: an output is an update if its node has an input of the same name.
Outcome FindTiedKind(const ModelNode& node, std::shared_ptr<const OperatorKind>* kind);

/// Checks links and attributes, and finds the kind of the node, which is null for a source.
Outcome CheckNode(const ModelNode& node, std::shared_ptr<const OperatorKind>* made);

/// Reads the attributes that the tied call takes.
Outcome ReadTiedValues(const ModelNode& node, const OperatorKind& kind,
                       std::shared_ptr<const TiedValues>* values);

/// Asks the operator for the shapes of its outputs that are no updates.
/// @param[in]  inputs   of the kind; null: absent
/// @param[out] outputs  those of the kind; entries of updates are not changed
Outcome InferTied(const ModelNode& node, const OperatorKind& kind, const TiedValues& values,
                  const std::vector<const ValueDesc*>& inputs,
                  const std::vector<ValueDesc*>& outputs);

}  // namespace advstep::graph
