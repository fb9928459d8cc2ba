// SPDX-License-Identifier: Apache-2.0
// Prepares runs on streams, checks their tensors, and queues them.

#include "src/graph/run/stream_run.h"

#include <algorithm>
#include <map>
#include <utility>

#include "src/graph/ir/tensor.h"
#include "src/graph/run/device.h"

namespace advstep::graph {
namespace {

// The most prepared runs of a graph. A program that gives new memory in every step would otherwise
// keep a run for each.
constexpr size_t kMostBindings = 16;

bool IsDeviceMemory(const uint8_t* address) {
    aclrtPtrAttributes attributes{};
    return aclrtPointerGetAttributes(address, &attributes) == ACL_SUCCESS &&
           attributes.location.type != ACL_MEM_LOCATION_TYPE_UNREGISTERED;
}

// Looks at the first and the last of the bytes.
bool AreDeviceMemory(const uint8_t* address, size_t bytes) {
    uintptr_t last = 0;
    return !__builtin_add_overflow(reinterpret_cast<uintptr_t>(address), bytes - 1, &last) &&
           IsDeviceMemory(address) && IsDeviceMemory(reinterpret_cast<const uint8_t*>(last));
}

}  // namespace

Outcome StreamBinding::Make(const GraphModel& model, const RunStream& stream,
                            const std::vector<ge::Tensor>& inputs,
                            const std::vector<ge::Tensor>& read,
                            const std::vector<ge::Tensor>& outputs, VariableStore* variables,
                            RunMemory* memory, std::unique_ptr<StreamBinding>* made) {
    made->reset(new StreamBinding(memory));
    StreamBinding* const binding = made->get();
    int32_t device = 0;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckAcl("aclrtGetDevice", aclrtGetDevice(&device)));
    ADVSTEP_GRAPH_RETURN_IF_ERROR(
        MakePlan(model, inputs, PlanFor::kRun, device, &binding->plan_, &read));
    binding->read_ = read;
    binding->stream_ = stream;
    const RunPlan& plan = binding->plan_;
    if (outputs.size() != plan.outputs.size()) {
        return Fail(kBadTensor,
                    "outputs has {} tensors; expected one for each of the {} outputs of "
                    "graph {}",
                    outputs.size(), plan.outputs.size(), model.name);
    }
    for (const ge::Tensor& input : inputs) {
        binding->inputs_.push_back({input.GetData(), input.GetSize()});
    }
    for (size_t output = 0; output < outputs.size(); ++output) {
        const size_t bytes = plan.values[plan.outputs[output]].desc.bytes;
        if (outputs[output].GetSize() < bytes) {
            return WrongTensor("outputs", output,
                               fmt::format("has {} bytes; expected at least {}",
                                           outputs[output].GetSize(), bytes));
        }
        binding->outputs_.push_back({outputs[output].GetData(), outputs[output].GetSize()});
    }
    ADVSTEP_GRAPH_RETURN_IF_ERROR(binding->CheckMemory());
    ADVSTEP_GRAPH_RETURN_IF_ERROR(binding->CheckOverlaps());
    StreamMemory places;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(binding->FindSources(model, variables, &places.sources));
    for (size_t output = 0; output < outputs.size(); ++output) {
        places.outputs.push_back(const_cast<uint8_t*>(binding->outputs_[output].address));
    }
    places.allocate = [&](size_t bytes, uint8_t** address) {
        return binding->Allocate(bytes, address);
    };
    ADVSTEP_GRAPH_RETURN_IF_ERROR(PlanStream(model, plan, places, &binding->steps_));
    return binding->MakeExecutors(model);
}

StreamBinding::~StreamBinding() {
    for (const PlannedExecutor& planned : executors_) {
        if (planned.executor != nullptr) {
            aclDestroyAclOpExecutor(planned.executor);
        }
    }
    memory_.GiveBack(&blocks_);
}

bool StreamBinding::Fits(const RunStream& stream, const std::vector<ge::Tensor>& inputs,
                         const std::vector<ge::Tensor>& read,
                         const std::vector<ge::Tensor>& outputs) const {
    const auto same = [](const std::vector<Place>& places, const std::vector<ge::Tensor>& tensors) {
        return places.size() == tensors.size() &&
               std::equal(places.begin(), places.end(), tensors.begin(),
                          [](const Place& place, const ge::Tensor& tensor) {
                              return place.address == tensor.GetData() &&
                                     place.bytes == tensor.GetSize();
                          });
    };
    if (!stream.IsSame(stream_) || !same(inputs_, inputs) || !same(outputs_, outputs)) {
        return false;
    }
    if (!std::equal(read.begin(), read.end(), read_.begin(), read_.end(),
                    [](const ge::Tensor& now, const ge::Tensor& then) {
                        return now.GetSize() == then.GetSize() &&
                               std::equal(now.GetData(), now.GetData() + now.GetSize(),
                                          then.GetData());
                    })) {
        return false;
    }
    return std::all_of(
        plan_.sources.begin(), plan_.sources.end(), [&](const PlannedSource& source) {
            return !source.input ||
                   TensorAccess::HasShape(inputs[*source.input], plan_.values[source.value].desc);
        });
}

Outcome StreamBinding::Queue(const GraphModel& model, std::vector<ge::Tensor>* outputs) const {
    ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckMemory());
    for (const StreamStep& step : steps_) {
        if (step.to != nullptr) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckAcl(
                "aclrtMemcpyAsync", aclrtMemcpyAsync(step.to, step.bytes, step.from, step.bytes,
                                                     ACL_MEMCPY_DEVICE_TO_DEVICE, stream_.stream)));
            continue;
        }
        const PlannedCall& call = plan_.calls[step.call];
        const PlannedExecutor& planned = executors_[step.call];
        const int32_t code = planned.calls.run(workspaces_[step.call], planned.workspaceSize,
                                               planned.executor, stream_.stream);
        if (code != ACLNN_SUCCESS) {
            return OperatorFailure(call, model.nodes[call.node].name, code);
        }
    }
    for (size_t output = 0; output < outputs->size(); ++output) {
        const ValueDesc& desc = plan_.values[plan_.outputs[output]].desc;
        if (!TensorAccess::HasShape((*outputs)[output], desc)) {
            (*outputs)[output].SetTensorDesc(
                ge::TensorDesc(ge::Shape(desc.dims), ge::FORMAT_ND, desc.dataType));
        }
    }
    return {};
}

Outcome StreamBinding::WrongTensor(const char* kind, size_t index, const std::string& what) {
    return Fail(kBadTensor, "{}[{}] {}", kind, index, what);
}

bool StreamBinding::Overlap(const Place& a, const Place& b) {
    return a.bytes > 0 && b.bytes > 0 && a.address < b.address + b.bytes &&
           b.address < a.address + a.bytes;
}

// Checks the tensors' memory. It does so again before each run, so that no part of a run is queued
// if memory has been freed.
Outcome StreamBinding::CheckMemory() const {
    for (const auto* places : {&inputs_, &outputs_}) {
        for (size_t index = 0; index < places->size(); ++index) {
            const Place& place = (*places)[index];
            if (place.bytes > 0 && !AreDeviceMemory(place.address, place.bytes)) {
                return WrongTensor(
                    places == &inputs_ ? "inputs" : "outputs", index,
                    fmt::format("has {} bytes at {}; expected device memory", place.bytes,
                                static_cast<const void*>(place.address)));
            }
        }
    }
    return {};
}

// Checks that tensors do not overlap. Only an output and the input of which it is an update may
// have the same memory.
Outcome StreamBinding::CheckOverlaps() const {
    for (size_t output = 0; output < outputs_.size(); ++output) {
        for (size_t other = 0; other < output; ++other) {
            if (Overlap(outputs_[output], outputs_[other])) {
                return WrongTensor(
                    "outputs", output,
                    fmt::format("overlaps outputs[{}]; expected memory apart", other));
            }
        }
        const auto source = plan_.values[plan_.outputs[output]].source;
        for (size_t input = 0; input < inputs_.size(); ++input) {
            const bool isSame = inputs_[input].address == outputs_[output].address && source &&
                                plan_.sources[*source].input == input;
            if (!isSame && Overlap(outputs_[output], inputs_[input])) {
                return WrongTensor("outputs", output,
                                   fmt::format("overlaps inputs[{}]; expected memory apart, or the "
                                               "memory of the input that the output updates",
                                               input));
            }
        }
    }
    return CheckUpdatedInputs();
}

// Checks that a RefData which the graph updates overlaps no other input. One that is not updated
// may begin at the same address, since PlanStream saves its value.
Outcome StreamBinding::CheckUpdatedInputs() const {
    std::vector<bool> isUpdated(inputs_.size());
    for (const PlannedSource& source : plan_.sources) {
        if (source.input) {
            isUpdated[*source.input] = source.last != source.value;
        }
    }
    for (size_t input = 0; input < inputs_.size(); ++input) {
        for (size_t other = 0; other < inputs_.size(); ++other) {
            const bool isSaved =
                !isUpdated[other] && inputs_[input].address == inputs_[other].address;
            if (isUpdated[input] && other != input && !isSaved &&
                Overlap(inputs_[input], inputs_[other])) {
                return WrongTensor(
                    "inputs", input,
                    fmt::format("is updated, and overlaps inputs[{}]; expected memory apart",
                                other));
            }
        }
    }
    return {};
}

Outcome StreamBinding::Allocate(size_t bytes, uint8_t** address) {
    ADVSTEP_GRAPH_RETURN_IF_ERROR(memory_.Take(stream_, bytes, &blocks_));
    *address = blocks_.back().memory->address();
    return {};
}

Outcome StreamBinding::FindSources(const GraphModel& model, VariableStore* variables,
                                   std::vector<uint8_t*>* sources) {
    std::map<size_t, std::shared_ptr<SessionMemory>> shared;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(variables->Share(model, &shared));
    for (const PlannedSource& source : plan_.sources) {
        uint8_t* address = nullptr;
        if (const auto variable = shared.find(source.node); variable != shared.end()) {
            variables_.push_back(variable->second);
            address = variable->second->address();
        } else if (source.input && inputs_[*source.input].bytes > 0) {
            address = const_cast<uint8_t*>(inputs_[*source.input].address);
        } else if (source.input) {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(Allocate(0, &address));
        } else {
            ADVSTEP_GRAPH_RETURN_IF_ERROR(memory_.Constant(source.node, source.tensor, &address));
        }
        sources->push_back(address);
    }
    for (PlannedSource& source : plan_.sources) {
        source.tensor = ge::Tensor();  // the binding keeps no memory of the program alive
    }
    return {};
}

Outcome StreamBinding::MakeExecutors(const GraphModel& model) {
    executors_.resize(plan_.calls.size());
    workspaces_.resize(plan_.calls.size());
    for (const StreamStep& step : steps_) {
        if (step.to != nullptr) {
            continue;
        }
        const PlannedCall& call = plan_.calls[step.call];
        PlannedExecutor& planned = executors_[step.call];
        ADVSTEP_GRAPH_RETURN_IF_ERROR(
            PlanAclnn(plan_, call, model.nodes[call.node].name, step.addresses, &planned));
        ADVSTEP_GRAPH_RETURN_IF_ERROR(CheckAcl("aclSetAclOpExecutorRepeatable",
                                               aclSetAclOpExecutorRepeatable(planned.executor)));
        if (planned.workspaceSize > 0) {
            uint8_t* workspace = nullptr;
            ADVSTEP_GRAPH_RETURN_IF_ERROR(Allocate(planned.workspaceSize, &workspace));
            workspaces_[step.call] = workspace;
        }
    }
    return {};
}

// Finds the inputs on whose elements plans depend. The first run does so by a plan of the links.
Outcome StreamRuns::FindRead(const GraphModel& model, const std::vector<ge::Tensor>& inputs,
                             std::vector<size_t>* indices) {
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        if (readInputs_) {
            *indices = *readInputs_;
            return {};
        }
    }
    RunPlan plan;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(MakePlan(model, inputs, PlanFor::kLinks, {}, &plan));
    *indices = plan.readInputs;
    const std::lock_guard<std::mutex> lock(mutex_);
    readInputs_ = std::move(plan.readInputs);
    return {};
}

// Copies the inputs on whose elements the plan depends into host memory, after the work that is
// queued in the stream. *read is empty if there are none.
Outcome StreamRuns::Read(const GraphModel& model, const RunStream& stream,
                         const std::vector<ge::Tensor>& inputs, std::vector<ge::Tensor>* read) {
    std::vector<size_t> indices;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(FindRead(model, inputs, &indices));
    if (indices.empty()) {
        return {};
    }
    if (stream.isCaptured) {
        return Fail(
            kInnerError,
            "the shapes of graph {} depend on the elements of inputs[{}], and the stream is "
            "in a capture, which cannot read them; expected a Const in its place",
            model.name, indices.front());
    }
    ADVSTEP_GRAPH_RETURN_IF_ERROR(
        CheckAcl("aclrtSynchronizeStream", aclrtSynchronizeStream(stream.stream)));
    read->resize(inputs.size());
    for (const size_t index : indices) {
        if (index >= inputs.size()) {
            continue;  // the plan refuses it
        }
        const size_t bytes = inputs[index].GetSize();
        std::vector<uint8_t> copy(bytes);
        if (bytes > 0) {
            if (!AreDeviceMemory(inputs[index].GetData(), bytes)) {
                return Fail(kBadTensor, "inputs[{}] has {} bytes at {}; expected device memory",
                            index, bytes, static_cast<const void*>(inputs[index].GetData()));
            }
            ADVSTEP_GRAPH_RETURN_IF_ERROR(
                CheckAcl("aclrtMemcpy", aclrtMemcpy(copy.data(), bytes, inputs[index].GetData(),
                                                    bytes, ACL_MEMCPY_DEVICE_TO_HOST)));
        }
        (*read)[index] = ge::Tensor(inputs[index].GetTensorDesc(), copy);
    }
    return {};
}

Outcome StreamRuns::Run(const GraphModel& model, aclrtStream stream,
                        const std::vector<ge::Tensor>& inputs, VariableStore* variables,
                        std::vector<ge::Tensor>* outputs) {
    RunStream here;
    here.stream = stream;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(
        CheckAcl("aclrtGetCurrentContext", aclrtGetCurrentContext(&here.context)));
    aclmdlRICaptureStatus status = ACL_MODEL_RI_CAPTURE_STATUS_NONE;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(FindCapture(stream, &status));
    here.isCaptured = status == ACL_MODEL_RI_CAPTURE_STATUS_ACTIVE;
    std::vector<ge::Tensor> read;
    ADVSTEP_GRAPH_RETURN_IF_ERROR(Read(model, here, inputs, &read));
    // Both lists are destroyed without the lock, since destructors of the program may run then.
    Bindings dropped;
    Bindings used;
    {
        const std::lock_guard<std::mutex> lock(mutex_);
        const auto found = std::find_if(
            bindings_.begin(), bindings_.end(),
            [&](const auto& binding) { return binding->Fits(here, inputs, read, *outputs); });
        if (found != bindings_.end()) {
            used.splice(used.end(), bindings_, found);
        }
    }
    // Functions of the program's operators may wait for another run of the graph, here and while
    // the run is queued. If that run has the same memory, it is prepared for itself.
    if (used.empty()) {
        std::unique_ptr<StreamBinding> made;
        ADVSTEP_GRAPH_RETURN_IF_ERROR(
            StreamBinding::Make(model, here, inputs, read, *outputs, variables, &memory_, &made));
        used.push_back(std::move(made));
    }
    StreamBinding& binding = *used.back();
    binding.isCaptured = binding.isCaptured || here.isCaptured;
    const Outcome queued = Catch([&] { return binding.Queue(model, outputs); });
    GiveBack(&used, &dropped);
    return queued;
}

void StreamRuns::GiveBack(Bindings* used, Bindings* dropped) noexcept {
    const std::lock_guard<std::mutex> lock(mutex_);
    if (bindings_.size() >= kMostBindings) {
        const auto old = std::find_if(bindings_.begin(), bindings_.end(),
                                      [](const auto& binding) { return !binding->isCaptured; });
        if (old != bindings_.end()) {
            dropped->splice(dropped->end(), bindings_, old);
        }
    }
    bindings_.splice(bindings_.end(), *used);
}

}  // namespace advstep::graph
