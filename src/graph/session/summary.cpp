// SPDX-License-Identifier: Apache-2.0
// Compiles graphs, and keeps the facts that compilation finds.

#include "src/graph/session/summary.h"

#include <utility>

#include "src/graph/ir/graph_model.h"
#include "src/graph/ir/messages.h"
#include "src/graph/ir/tensor.h"
#include "src/graph/run/aclnn_call.h"
#include "src/graph/run/device.h"
#include "src/graph/run/run_plan.h"

namespace advstep::graph {

/// The sizes of a run whose shapes are all known.
struct StreamSizes {
    size_t constants = 0;
    size_t features = 0;  // intermediate values and workspaces
};

struct SummaryState {
    std::string graph;
    bool isStatic = false;
    StreamSizes sizes;
    std::vector<ge::Shape> shapes;
    std::vector<ge::DataType> dataTypes;
    std::vector<std::pair<uint32_t, uint32_t>> sameAddresses;

    // The body of a call that needs shapes.
    template <class Value>
    ge::Status Answer(const char* call, Value& value, const Value& known) const {
        return Boundary(call, [&] {
            if (!isStatic) {
                return Fail(kInnerError,
                            "graph {} is not static: a Data has no description or an unknown "
                            "dimension, or shapes depend on its elements",
                            graph);
            }
            value = known;
            return Outcome();
        });
    }
};

class SummaryAccess {
 public:
    static Summary Make(SummaryState state) {
        return Summary(
            new ge::CompiledGraphSummary(std::make_shared<const SummaryState>(std::move(state))));
    }
};

namespace {

// Returns the description that a Data declares: that of its output, or of its input.
ge::TensorDesc DeclaredBy(const ModelNode& data) {
    if (!data.outputDescs.front().GetShape().GetDims().empty() || data.inputs.empty()) {
        return data.outputDescs.front();
    }
    return data.inputs.front().desc;
}

// Plans a run without memory, and asks phase one of every operator. Needs a current context.
Outcome MeasureStreamRun(const GraphModel& model, const RunPlan& plan, StreamSizes* sizes) {
    // The addresses are all different, which is all that the planner compares. No memory is there.
    uintptr_t next = 64;
    const auto pretend = [&] {
        auto* const address = reinterpret_cast<uint8_t*>(next);
        next += 64;
        return address;
    };
    const auto add = [&](size_t bytes) {
        return __builtin_add_overflow(sizes->features, bytes, &sizes->features)
                   ? Fail(kBadTensor,
                          "graph {} needs 2^64 bytes or more for intermediate values and "
                          "workspaces; expected fewer",
                          model.name)
                   : Outcome();
    };
    StreamMemory memory;
    for (const PlannedSource& source : plan.sources) {
        const size_t bytes = plan.values[source.value].desc.bytes;
        sizes->constants += model.nodes[source.node].IsConst() ? bytes : 0;
        memory.sources.push_back(pretend());
    }
    for (size_t output = 0; output < plan.outputs.size(); ++output) {
        memory.outputs.push_back(pretend());
    }
    memory.allocate = [&](size_t bytes, uint8_t** address) {
        *address = pretend();
        return add(bytes);
    };
    std::vector<StreamStep> steps;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(PlanStream(model, plan, memory, &steps));
    for (const PlannedCall& call : plan.calls) {
        PlannedExecutor planned;
        const std::vector<void*> unknown(call.inputs.size() + call.outputs.size());
        ADVSTEP_GRAPH_RETURN_IF_ERROR(
            PlanAclnn(plan, call, model.nodes[call.node].name, unknown, &planned));
        aclDestroyAclOpExecutor(planned.executor);
        ADVSTEP_GRAPH_RETURN_IF_ERROR(add(planned.workspaceSize));
    }
    return {};
}

}  // namespace

Outcome Compile(const GraphModel& model, std::optional<int32_t> deviceId, Summary* summary) {
    SummaryState state;
    state.graph = model.name;
    state.isStatic = true;
    std::vector<ge::Tensor> inputs;
    for (const size_t node : OrderData(model)) {
        const ge::TensorDesc desc = model.nodes[node].outputDescs.empty()
                                        ? ge::TensorDesc()
                                        : DeclaredBy(model.nodes[node]);
        const std::vector<int64_t> dims = desc.GetShape().GetDims();
        if (dims.empty() || !ByteSize(dims, desc.GetDataType())) {
            state.isStatic = false;
        }
        inputs.emplace_back(
            state.isStatic ? desc
                           : ge::TensorDesc(ge::Shape({0}), ge::FORMAT_ND, desc.GetDataType()));
    }
    RunPlan plan;
    if (!state.isStatic) {
        // Checks the links and attributes with empty tensors in the place of the unknown ones.
        for (ge::Tensor& input : inputs) {
            input.SetTensorDesc(ge::TensorDesc(ge::Shape({0}), ge::FORMAT_ND, ge::DT_INT64));
        }
    }
    ADVSTEP_GRAPH_RETURN_IF_ERROR(MakePlan(
        model, inputs, state.isStatic ? PlanFor::kShapes : PlanFor::kLinks, deviceId, &plan));
    state.isStatic = state.isStatic && plan.hasShapes;
    if (state.isStatic) {
        DeviceContext context;
        ADVSTEP_GRAPH_RETURN_IF_ERROR(context.Open(deviceId));
        ADVSTEP_GRAPH_RETURN_IF_ERROR(MeasureStreamRun(model, plan, &state.sizes));
    }
    for (const PlannedSource& source : plan.sources) {
        const bool isConst = model.nodes[source.node].IsConst();
        state.sizes.constants +=
            isConst && !state.isStatic ? plan.values[source.value].desc.bytes : 0;
    }
    for (size_t output = 0; output < plan.outputs.size(); ++output) {
        const PlannedValue& value = plan.values[plan.outputs[output]];
        state.shapes.emplace_back(value.desc.dims);
        state.dataTypes.push_back(value.desc.dataType);
        const PlannedSource* source = value.source ? &plan.sources[*value.source] : nullptr;
        if (source != nullptr && model.nodes[source->node].IsRefData() &&
            source->last == plan.outputs[output]) {
            state.sameAddresses.emplace_back(static_cast<uint32_t>(*source->input),
                                             static_cast<uint32_t>(output));
        }
    }
    *summary = SummaryAccess::Make(std::move(state));
    return {};
}

}  // namespace advstep::graph

namespace ge {

CompiledGraphSummary::CompiledGraphSummary(
    std::shared_ptr<const advstep::graph::SummaryState> state)
    : state_(std::move(state)) {}

bool CompiledGraphSummary::IsStatic() const { return state_->isStatic; }

Status CompiledGraphSummary::GetConstMemorySize(size_t& size) const {
    size = state_->sizes.constants;
    return SUCCESS;
}

Status CompiledGraphSummary::GetFeatureMemorySize(size_t& size) const {
    return state_->Answer("CompiledGraphSummary::GetFeatureMemorySize", size,
                          state_->sizes.features);
}

Status CompiledGraphSummary::GetFixedFeatureMemorySize(size_t& size) const {
    return state_->Answer("CompiledGraphSummary::GetFixedFeatureMemorySize", size,
                          state_->sizes.features);
}

Status CompiledGraphSummary::GetRefreshableFeatureMemorySize(size_t& size) const {
    size = 0;
    return SUCCESS;
}

Status CompiledGraphSummary::GetFeatureMemoryBaseRefreshable(bool& isRefreshable) const {
    isRefreshable = false;
    return SUCCESS;
}

Status CompiledGraphSummary::GetStreamNum(size_t& count) const {
    count = 1;
    return SUCCESS;
}

Status CompiledGraphSummary::GetEventNum(size_t& count) const {
    count = 0;
    return SUCCESS;
}

Status CompiledGraphSummary::GetOutputShapes(std::vector<Shape>& shapes) const {
    return state_->Answer("CompiledGraphSummary::GetOutputShapes", shapes, state_->shapes);
}

Status CompiledGraphSummary::GetOutputDtypes(std::vector<DataType>& dataTypes) const {
    return state_->Answer("CompiledGraphSummary::GetOutputDtypes", dataTypes, state_->dataTypes);
}

Status CompiledGraphSummary::GetIOIndexesWithSameAddr(
    std::vector<std::pair<uint32_t, uint32_t>>& pairs) const {
    pairs = state_->sameAddresses;
    return SUCCESS;
}

}  // namespace ge
