// SPDX-License-Identifier: Apache-2.0
// The join of the library's own operators to the phases one and two, in code that compilers put in
// line.
//
// Operators of other libraries call the C functions of advance_step/operator/core.h, which do the
// same work. Without those functions, a call that finds an equal plan executes a quarter fewer
// instructions. An operator does not know which join it has. The build includes this file before
// the files with ADVSTEP_OPERATOR (op_host/CMakeLists.txt), so that these include only public
// headers.

#pragma once

#define ADVSTEP_OPERATOR_JOIN ::advstep::built_in

#include <array>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "advance_step/operator/phase_one.hpp"
#include "src/aclnn/executor.h"
#include "src/aclnn/run.h"
#include "src/aclnn/tensor.h"
#include "src/base/boundary.h"
#include "src/runtime/device/device.h"

namespace advstep::built_in {

namespace op = ::advance_step::op;

// Makes the part of a signature that executors point to. Each operator has one such array.
template <typename Operator>
constexpr auto MakeSlots() {
    std::array<TensorSlot, Operator::kTensors.size()> slots{};
    for (size_t place = 0; place < slots.size(); ++place) {
        const op::TensorArgument& argument = Operator::kTensors[place];
        slots[place] = {argument.name, argument.access == op::Access::kWritten, argument.addressAt};
    }
    return slots;
}
template <typename Operator>
inline constexpr auto kSlotsOf = MakeSlots<Operator>();

// Returns a bit for each tensor for which a call may pass null.
template <typename Operator>
constexpr uint32_t OptionalOf() {
    uint32_t optional = 0;
    for (size_t place = 0; place < Operator::kTensors.size(); ++place) {
        if (Operator::kTensors[place].presence == op::Presence::kOptional) {
            optional |= uint32_t{1} << place;
        }
    }
    return optional;
}

// Makes the name of phase one.
template <typename Operator>
constexpr auto MakePhaseOneName() {
    constexpr std::string_view kParts[] = {Operator::kName, "GetWorkspaceSize"};
    std::array<char, kParts[0].size() + kParts[1].size() + 1> name{};
    size_t at = 0;
    for (const std::string_view part : kParts) {
        for (const char letter : part) {
            name[at++] = letter;
        }
    }
    return name;
}
template <typename Operator>
inline constexpr auto kPhaseOneOf = MakePhaseOneName<Operator>();

// Finds Operator::kIsGauged: all programs of the operator are GaugedPrograms.
template <typename Operator, typename = void>
inline constexpr bool kIsGauged = false;
template <typename Operator>
inline constexpr bool kIsGauged<Operator, std::void_t<decltype(Operator::kIsGauged)>> =
    Operator::kIsGauged;

// Finds Operator::WorkOf, which returns the rows of work that a launch may take as long as.
template <typename Operator, typename = void>
inline constexpr bool kTellsWork = false;
template <typename Operator>
inline constexpr bool kTellsWork<Operator, std::void_t<decltype(&Operator::WorkOf)>> = true;

template <typename Operator>
TaskLength LengthOfPlan(const op::Planned<typename Operator::Payload>& planned) {
    int64_t rows = planned.rows;
    if constexpr (kTellsWork<Operator>) {
        rows = Operator::WorkOf(planned);
    }
    return LengthOf(*planned.program, rows, kIsGauged<Operator>);
}

template <typename Operator>
Status ViewsOf(const aclTensor* const* tensors, TensorView* views) {
    for (size_t place = 0; place < Operator::kTensors.size(); ++place) {
        if (tensors[place] == nullptr && (OptionalOf<Operator>() >> place & 1) != 0) {
            views[place] = AbsentView();
        } else {
            ADVSTEP_RETURN_IF_ERROR(
                ViewOf(tensors[place], Operator::kTensors[place].name, &views[place]));
        }
    }
    return {};
}

/// The places for the results of phase one.
struct PhaseOneOutputs {
    uint64_t* workspaceSize;
    aclOpExecutor** executor;
};

// The last part of phase one: makes the executor and sets both outputs.
template <typename Operator>
Status Finish(const op::Planned<typename Operator::Payload>& planned, const Device& device,
              const TensorView* views, const PlanKey& key, const void* owner,
              const PhaseOneOutputs& outputs) {
    constexpr size_t kCount = Operator::kTensors.size();
    static_assert(sizeof(typename Operator::Payload) <= aclOpExecutor::kMostPayload);
    static_assert(kCount <= size_t{aclOpExecutor::kMostTensors});
    const TensorView* pointers[kCount];
    for (size_t place = 0; place < kCount; ++place) {
        pointers[place] = &views[place];
    }
    Plan plan;
    plan.launch.program = planned.program;
    plan.launch.device = &device;
    plan.launch.coreCount = planned.coreCount;
    plan.launch.rows = planned.rows;
    plan.launch.length = LengthOfPlan<Operator>(planned);
    plan.launch.payloadBytes = sizeof(typename Operator::Payload);
    plan.payload = &planned.payload;
    plan.workspaceBytes = planned.workspaceBytes;
    plan.workspaceAt = planned.workspaceAt;
    plan.allDistinct = planned.allDistinct;
    plan.slots = kSlotsOf<Operator>.data();
    plan.views = pointers;
    plan.tensorCount = static_cast<int32_t>(kCount);
    plan.key = &key;
    plan.owner = owner;
    ADVSTEP_RETURN_IF_ERROR(MakeExecutor(plan, outputs.executor));
    *outputs.workspaceSize = planned.workspaceBytes;
    return {};
}

// Phase one if there is no equal plan: plans by the form of the operator that fits the call. All
// forms of the operator have the same `owner`.
template <typename Operator, typename... Attributes>
Status PlanAnew(const aclTensor* const* tensors, const std::tuple<Attributes...>& attributes,
                const PlanKey& key, const void* owner, const PhaseOneOutputs& outputs) {
    if constexpr (op::detail::kHasShorter<Operator>) {
        if (op::detail::IsShorter<Operator>(tensors)) {
            return PlanAnew<typename Operator::Shorter>(tensors, attributes, key, owner, outputs);
        }
    }
    static_assert(op::detail::Rules<Operator>::kHold);
    static_assert(op::detail::HasAttributeNames<Operator, Attributes...>());
    TensorView views[Operator::kTensors.size()];
    ADVSTEP_RETURN_IF_ERROR(ViewsOf<Operator>(tensors, views));
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(outputs.workspaceSize, "workspaceSize"));
    ADVSTEP_RETURN_IF_ERROR(RequireOutput(outputs.executor, "executor"));
    const Device* device = nullptr;
    ADVSTEP_RETURN_IF_ERROR(PlanningDevice(&device));
    op::Planned<typename Operator::Payload> planned;
    ADVSTEP_RETURN_IF_ERROR(op::detail::PlanBy<Operator>(op::Request{views, EnvironmentOf(*device)},
                                                         attributes, &planned));
    return Finish<Operator>(planned, *device, views, key, owner, outputs);
}

// The part of a key that depends on the operator's form.
struct Form {
    const void* table;
    size_t tensorCount;
    uint32_t optional;
};
template <typename Operator>
Form FormOf(const aclTensor* const* tensors) {
    if constexpr (op::detail::kHasShorter<Operator>) {
        if (op::detail::IsShorter<Operator>(tensors)) {
            return FormOf<typename Operator::Shorter>(tensors);
        }
    }
    return {kSlotsOf<Operator>.data(), Operator::kTensors.size(), OptionalOf<Operator>()};
}

template <typename Operator, typename... Attributes>
Status PlanCall(const aclTensor* const* tensors, const std::tuple<Attributes...>& attributes,
                const PhaseOneOutputs& outputs) {
    auto numbers = op::detail::NumbersOf(attributes);
    ADVSTEP_RETURN_IF_ERROR(op::detail::WriteNumbers<Operator>(attributes, &numbers));
    const Form form = FormOf<Operator>(tensors);
    const PlanKey key(form.table, tensors, form.tensorCount, numbers.data(), numbers.size(),
                      form.optional);
    if (PlannedBefore(key, outputs.workspaceSize, outputs.executor)) {
        return {};
    }
    return PlanAnew<Operator>(tensors, attributes, key, kSlotsOf<Operator>.data(), outputs);
}

/// Prepares an operator when its static object is constructed, at load. The library's own operators
/// are not registered.
template <typename Operator>
struct Registration {
    static_assert(op::detail::Rules<Operator>::kHold);
    Registration() { op::detail::PrepareOperator<Operator>(); }
};

/// Phase one of an operator. The arguments are those of the operator's call, in order. 161001: a
/// tensor or an output is null. 161002: a tensor has been destroyed. 361001: the thread has no
/// current context. The other codes are those of Operator::Plan.
template <typename Operator, typename... Arguments>
aclnnStatus PhaseOne(uint64_t* workspaceSize, aclOpExecutor** executor,
                     Arguments... arguments) noexcept {
    return AclnnBoundary(kPhaseOneOf<Operator>.data(), ACLNN_ERR_INNER, [&]() -> Status {
        const auto tensors = op::detail::TensorsOf<Operator>(arguments...);
        return PlanCall<Operator>(tensors.data(),
                                  std::tuple_cat(op::detail::AttributePart(arguments)...),
                                  {workspaceSize, executor});
    });
}

/// Phase two of an operator.
template <typename Operator>
aclnnStatus PhaseTwo(void* workspace, uint64_t workspaceSize, aclOpExecutor* executor,
                     aclrtStream stream) noexcept {
    return AclnnBoundary(Operator::kName, ACLNN_ERR_INNER, [&] {
        return RunExecutor(Operator::kName, kSlotsOf<Operator>.data(), workspace, workspaceSize,
                           executor, stream);
    });
}

}  // namespace advstep::built_in
