// SPDX-License-Identifier: Apache-2.0
// The functions of ties: plans of nodes, and the shapes of their outputs, which the kernels tell on
// tensors without data.

#include <algorithm>
#include <cstdio>
#include <memory>
#include <stdexcept>
#include <string>

#include "src/operators/entry/call_reader.h"
#include "src/operators/entry/graph_node.h"
#include "src/operators/entry/kernel_module.h"

namespace advstep_operators {
namespace {

struct DestroyTensor {
    void operator()(const aclTensor* tensor) const { (void)aclDestroyTensor(tensor); }
};
using OwnTensor = std::unique_ptr<aclTensor, DestroyTensor>;

aclDataType TypeOf(const GraphNode& node, const GraphOutput& output, aclDataType ofResult,
                   const AdvStepTensorView* views) {
    if (output.chooser >= 0 && node.Int(static_cast<size_t>(output.chooser)) >= 0) {
        return output.other;
    }
    switch (output.like) {
        case GraphOutput::kTensor:
            return views[node.First(output.place)].dataType;
        case GraphOutput::kAttribute:
            return static_cast<aclDataType>(node.Int(output.place));
        case GraphOutput::kFixed:
            return static_cast<aclDataType>(output.place);
        default:
            return ofResult;
    }
}

// Tensors without memory: the inputs of a node, and in the place of each output one of its dtype,
// or if only the result tells it, of that of the first input.
class Placeholders {
 public:
    Placeholders(const GraphType& type, const AdvStepTensorView* views,
                 const AdvStepGraphValue* values) {
        const GraphNode counted(type, nullptr, values);
        const size_t all = counted.First(type.table.tensorCount);
        aclDataType first = ACL_FLOAT;
        for (size_t place = all; place > 0; --place) {
            const AdvStepTensorView& view = views[place - 1];
            first = view.dataType != ACL_DT_UNDEFINED ? view.dataType : first;
        }
        std::vector<aclDataType> ofOutputs(type.table.tensorCount, ACL_DT_UNDEFINED);
        for (uint32_t place = 0; place < type.outputCount; ++place) {
            const GraphOutput& output = type.outputs[place];
            ofOutputs[output.tensor] = TypeOf(counted, output, first, views);
        }
        for (uint32_t place = 0; place < type.table.tensorCount; ++place) {
            const bool isOutput = type.table.tensors[place].isWritten != 0;
            for (size_t tensor = counted.First(place); tensor < counted.First(place + 1);
                 ++tensor) {
                Add(views[tensor], isOutput, ofOutputs[place]);
            }
        }
    }
    const aclTensor* const* data() const { return tensors_.data(); }

 private:
    void Add(const AdvStepTensorView& view, bool isOutput, aclDataType type) {
        const bool isInput = view.dataType != ACL_DT_UNDEFINED;
        owned_.emplace_back(isInput    ? Made(view)
                            : isOutput ? aclCreateTensor(nullptr, 0, type, nullptr, 0,
                                                         ACL_FORMAT_ND, nullptr, 0, nullptr)
                                       : nullptr);
        if (owned_.back() == nullptr && (isInput || isOutput)) {
            throw std::bad_alloc();
        }
        tensors_.push_back(owned_.back().get());
    }

    static aclTensor* Made(const AdvStepTensorView& view) {
        const auto rank = static_cast<uint64_t>(view.rank);
        return aclCreateTensor(view.dims, rank, view.dataType, view.strides, 0, ACL_FORMAT_ND,
                               view.dims, rank, nullptr);
    }

    std::vector<OwnTensor> owned_;
    std::vector<const aclTensor*> tensors_;
};

// Calls work, and puts what it throws or returns into the message.
template <typename Work>
aclnnStatus Told(char* message, uint64_t messageBytes, const Work& work) {
    Refusal refusal;
    try {
        refusal = work();
    } catch (const std::invalid_argument& error) {
        refusal = {ACLNN_ERR_PARAM_INVALID, error.what()};
    } catch (const std::exception& error) {
        refusal = {ACLNN_ERR_INNER, error.what()};
    }
    std::snprintf(message, messageBytes, "%s", refusal.message.c_str());
    return refusal.code;
}

// Sets the shape and dtype of the result of each argument of the call that is an output.
Refusal InferResults(const GraphNode& node, std::vector<ResultShape>* results) {
    const std::string* why = nullptr;
    const Kernels* const kernels = LoadKernels(&why);
    if (kernels == nullptr) {
        return {ACLNN_ERR_RUNTIME_ERROR, *why};
    }
    CallKey key;
    if (Refusal refusal = ReadKey(*node.function, node.arguments.data(), &key); !refusal.ok()) {
        return refusal;
    }
    CallPlan plan;
    ReadValues(*node.function, node.arguments.data(), &plan);
    results->resize(node.function->argumentCount);
    char message[1024] = "";
    const int32_t code =
        kernels->infer(&plan.call, plan.views.data(), results->data(), message, sizeof message);
    return {code, message};
}

void SetShape(const ResultShape& result, aclDataType dataType, AdvStepGraphShape* shape) {
    static_assert(ResultShape::kMostDims == ADVSTEP_GRAPH_MOST_DIMS, "results fit shapes");
    shape->dataType = dataType;
    shape->rank = result.rank;
    std::copy_n(result.dims, std::clamp<int64_t>(result.rank, 0, ADVSTEP_GRAPH_MOST_DIMS),
                shape->dims);
}

// Sets the shape of each output that the node has sized itself. Returns whether these are all.
bool SetSizes(const GraphType& type, const GraphNode& node, const AdvStepTensorView* views,
              AdvStepGraphShape* shapes) {
    bool areAll = true;
    for (uint32_t place = 0; place < type.outputCount; ++place) {
        const GraphOutput& output = type.outputs[place];
        const TensorRun run = node.Run(output.tensor);
        for (uint64_t member = 0; member < run.count; ++member) {
            const std::vector<int64_t>* const dims = node.SizeOf(run.first[member]);
            areAll = areAll && dims != nullptr;
            if (dims == nullptr) {
                continue;
            }
            AdvStepGraphShape& shape = shapes[node.First(output.tensor) + member];
            shape.dataType = TypeOf(node, output, ACL_DT_UNDEFINED, views);
            shape.rank = static_cast<int64_t>(dims->size());
            std::copy_n(dims->begin(), std::min<size_t>(dims->size(), ADVSTEP_GRAPH_MOST_DIMS),
                        shape.dims);
        }
    }
    return areAll;
}

}  // namespace

aclnnStatus PlanNode(const GraphType& type, const aclTensor* const* tensors,
                     const AdvStepGraphValue* values, uint64_t* workspaceSize,
                     aclOpExecutor** executor) noexcept {
    try {
        GraphNode node(type, tensors, values);
        type.make(node);
        return PhaseOne(*node.function, node.arguments.data(), workspaceSize, executor);
    } catch (const std::exception& error) {
        return advstepRefuseHostCall(type.table.call, ACLNN_ERR_INNER, error.what());
    }
}

aclnnStatus InferNode(const GraphType& type, const AdvStepTensorView* views,
                      const AdvStepGraphValue* values, AdvStepGraphShape* shapes, char* message,
                      uint64_t messageBytes) noexcept {
    return Told(message, messageBytes, [&]() -> Refusal {
        const Placeholders placeholders(type, views, values);
        GraphNode node(type, placeholders.data(), values);
        type.make(node);
        if (SetSizes(type, node, views, shapes)) {
            return {};  // phase one checks the call
        }
        std::vector<ResultShape> results;
        if (Refusal refusal = InferResults(node, &results); !refusal.ok()) {
            return refusal;
        }
        for (uint32_t place = 0; place < type.outputCount; ++place) {
            const GraphOutput& output = type.outputs[place];
            for (size_t argument = 0; argument < results.size(); ++argument) {
                if (node.arguments[argument].object == node.Tensor(output.tensor)) {
                    const ResultShape& result = results[argument];
                    SetShape(result, TypeOf(node, output, result.dataType, views),
                             &shapes[node.First(output.tensor)]);
                }
            }
        }
        return {};
    });
}

aclnnStatus ChooseCall(const GraphType& type, const AdvStepTensorView* views,
                       const AdvStepGraphValue* values, AdvStepGraphCalls* calls, char* message,
                       uint64_t messageBytes) noexcept {
    return Told(message, messageBytes, [&]() -> Refusal {
        const Placeholders placeholders(type, views, values);
        GraphNode node(type, placeholders.data(), values);
        type.make(node);
        calls->run = node.phaseTwo;
        return {};
    });
}

}  // namespace advstep_operators
