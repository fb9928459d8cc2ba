// SPDX-License-Identifier: Apache-2.0
/// The two calls of an operator, made from its table and its function Plan. Part of operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_PHASE_ONE_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_PHASE_ONE_HPP_

#include <array>
#include <cstddef>
#include <cstdint>
#include <exception>
#include <iterator>
#include <tuple>
#include <type_traits>
#include <utility>
#include <vector>

#include "advance_step/operator/attribute.hpp"
#include "advance_step/operator/core.h"
#include "advance_step/operator/kernel.hpp"
#include "advance_step/operator/signature.hpp"
#include "advance_step/operator/status.hpp"
#include "advance_step/operator/tensor_view.hpp"

namespace advance_step::op {

/// A call that is being planned.
struct Request {
    const TensorView* views;                 ///< in signature order
    AdvStepOperatorEnvironment environment;  ///< what the plan may depend on besides the arguments
};

/// The plan of a call, which an operator's function Plan fills. Payload is plain data: it is copied
/// into the launch.
template <typename Payload>
struct Planned {
    Payload payload{};                       ///< tiling; the tensors' addresses are set afterwards
    const KernelProgram* program = nullptr;  ///< required; static data
    int32_t coreCount = 1;                   ///< cores with work, at most environment.vectorCores
    int64_t rows = 0;                        ///< of work: 32768 and more may run on several threads
    uint64_t workspaceBytes = 0;             ///< WorkspaceLayout::bytes()
    int64_t workspaceAt = -1;  ///< offset in the payload of the workspace's address; -1: none
    bool allDistinct = false;  ///< tensors that are only read must not overlap each other either
};

/// Rows that are cut over cores.
struct Cores {
    int32_t count;        ///< cores with work, 0 without rows
    int64_t rowsPerCore;  ///< at least 1; the last core may have fewer
};

/// Cuts rows into even parts for at most `most` cores: the tiling that RowsOf reads.
inline Cores CutRows(int64_t rows, int32_t most) {
    const auto ceilDiv = [](int64_t a, int64_t b) { return a / b + (a % b != 0 ? 1 : 0); };
    const int64_t rowsPerCore = rows > 0 ? ceilDiv(rows, most) : 1;
    return {static_cast<int32_t>(ceilDiv(rows, rowsPerCore)), rowsPerCore};
}

/// @cond Inner parts.
namespace detail {

template <typename Operator>
using PayloadOf = typename Operator::Payload;

// The rules of an operator's table. A row that breaks one does not compile.
template <typename Operator>
struct Rules {
    static constexpr const auto& kTensors = Operator::kTensors;
    static_assert(kTensors.size() >= 1 && kTensors.size() <= ADVSTEP_OPERATOR_MOST_TENSORS,
                  "kTensors: an operator has 1 to 24 tensors");
    static_assert(HasOwnNames(kTensors), "kTensors: every tensor needs a name of its own");
    static_assert(HasDataTypes(kTensors), "kTensors: every tensor needs 1 to 6 data types");
    static_assert(std::is_trivially_copyable_v<PayloadOf<Operator>> &&
                      std::is_standard_layout_v<PayloadOf<Operator>>,
                  "Payload: launches copy it, so it must be plain data");
    static_assert(sizeof(PayloadOf<Operator>) <= ADVSTEP_OPERATOR_MOST_PAYLOAD,
                  "Payload: it has at most 512 bytes; larger data belongs into the workspace");
    static_assert(alignof(PayloadOf<Operator>) <= 16, "Payload: its alignment is at most 16");
    static_assert(HasOwnAddresses(kTensors, sizeof(PayloadOf<Operator>)),
                  "kTensors: every addressAt is the offset of a pointer of its own in Payload");
    static constexpr bool kHold = true;
};

template <typename Operator>
constexpr auto PlainTensors() {
    std::array<AdvStepOperatorTensor, Operator::kTensors.size()> tensors{};
    for (size_t place = 0; place < tensors.size(); ++place) {
        const TensorArgument& argument = Operator::kTensors[place];
        tensors[place].name = argument.name;
        tensors[place].addressAt = argument.addressAt;
        tensors[place].isWritten = argument.access == Access::kWritten ? 1 : 0;
        tensors[place].isOptional = argument.presence == Presence::kOptional ? 1 : 0;
    }
    return tensors;
}

// The library's record of an operator. Hidden: two libraries may have operators of the same class.
template <typename Operator>
struct [[gnu::visibility("hidden")]] Record {
    static_assert(Rules<Operator>::kHold);
    static constexpr auto kTensors = PlainTensors<Operator>();
    static constexpr AdvStepOperatorTable kTable = {sizeof(AdvStepOperatorTable),
                                                    ADVSTEP_OPERATOR_INTERFACE,
                                                    Operator::kName,
                                                    kTensors.data(),
                                                    static_cast<uint32_t>(kTensors.size()),
                                                    sizeof(PayloadOf<Operator>)};

    static const AdvStepOperator* Get() {
        static const AdvStepOperator* const op = [] {
            const AdvStepOperator* registered = nullptr;
            (void)advstepRegisterOperator(&kTable, &registered);
            return registered;
        }();
        return op;
    }
};

template <typename T>
inline constexpr bool kIsTensor =
    std::is_same_v<T, const aclTensor*> || std::is_same_v<T, aclTensor*>;

template <typename T>
auto TensorPart(T argument) {
    if constexpr (kIsTensor<T>) {
        return std::tuple<const aclTensor*>(argument);
    } else {
        return std::tuple<>();
    }
}
template <typename T>
auto AttributePart(T argument) {
    if constexpr (kIsTensor<T>) {
        return std::tuple<>();
    } else {
        return std::tuple<Attribute<T>>(Attribute<T>(argument));
    }
}

template <typename Operator, typename... Attributes>
constexpr bool HasAttributeNames() {
    if constexpr (sizeof...(Attributes) == 0) {
        return true;
    } else {
        return std::size(Operator::kAttributes) == sizeof...(Attributes);
    }
}

// Room for the numbers of all attributes: an array, unless an attribute is an array itself.
template <typename... Attributes>
auto NumbersOf(const std::tuple<Attributes...>& attributes) {
    if constexpr (((Attributes::kNumbers > 0) && ...)) {
        (void)attributes;
        return std::array<int64_t, (Attributes::kNumbers + ... + 0)>{};
    } else {
        return std::vector<int64_t>(std::apply(
            [](const auto&... attribute) { return (attribute.numbers() + ... + 0); }, attributes));
    }
}

template <typename Operator, typename... Attributes, typename Numbers>
Status Prepare(AdvStepOperatorCall* call, const std::tuple<Attributes...>& attributes,
               Numbers* numbers) {
    static_assert(HasAttributeNames<Operator, Attributes...>(),
                  "kAttributes: one name for each attribute of the call");
    if constexpr (sizeof...(Attributes) > 0) {
        const char* missing = nullptr;
        const char* expected = nullptr;
        const char* const* name = std::data(Operator::kAttributes);
        int64_t* at = numbers->data();
        std::apply(
            [&](const auto&... attribute) {
                ((expected = missing == nullptr ? attribute.kExpected : expected,
                  missing = missing == nullptr && !attribute.isPresent() ? *name : missing, ++name,
                  at = attribute.Write(at)),
                 ...);
            },
            attributes);
        if (missing != nullptr) {
            return Error(ACLNN_ERR_PARAM_NULLPTR, missing, " is null; expected ", expected);
        }
    }
    call->attributes = numbers->data();
    call->attributeCount = static_cast<uint32_t>(numbers->size());
    return {};
}

template <typename Operator>
aclnnStatus Refuse(const Status& status) {
    return advstepRefuseCall(Record<Operator>::Get(), status.code(), status.message());
}

template <typename Operator, typename... Attributes, size_t... kTensorPlaces>
aclnnStatus PlanCall(const std::array<const aclTensor*, sizeof...(kTensorPlaces)>& tensors,
                     const std::tuple<Attributes...>& attributes, uint64_t* workspaceSize,
                     aclOpExecutor** executor, std::index_sequence<kTensorPlaces...>) {
    static_assert(sizeof...(kTensorPlaces) == Operator::kTensors.size(),
                  "kTensors: one row for each tensor of the call, in its order");
    auto numbers = NumbersOf(attributes);
    AdvStepOperatorCall call;
    call.structBytes = sizeof(call);
    call.op = Record<Operator>::Get();
    call.tensors = tensors.data();
    call.workspaceSize = workspaceSize;
    call.executor = executor;
    if (const Status status = Prepare<Operator>(&call, attributes, &numbers); !status.ok()) {
        return Refuse<Operator>(status);
    }
    TensorView views[sizeof...(kTensorPlaces)];
    Request request{views, {}};
    request.environment.structBytes = sizeof(request.environment);
    int32_t isPlanned = 0;
    if (const aclnnStatus code = advstepBeginPlan(&call, views, &request.environment, &isPlanned);
        code != ACLNN_SUCCESS || isPlanned != 0) {
        return code;
    }
    Planned<PayloadOf<Operator>> planned;
    const Status status = std::apply(
        [&](const auto&... attribute) {
            return Operator::Plan(request, attribute.value()..., &planned);
        },
        attributes);
    if (!status.ok()) {
        return Refuse<Operator>(status);
    }
    AdvStepOperatorPlan plan{};
    plan.structBytes = sizeof(plan);
    plan.coreCount = planned.coreCount;
    plan.program = planned.program;
    plan.rows = planned.rows;
    plan.payload = &planned.payload;
    plan.workspaceBytes = planned.workspaceBytes;
    plan.workspaceAt = planned.workspaceAt;
    plan.allDistinct = planned.allDistinct ? 1 : 0;
    return advstepFinishPlan(&call, views, &plan);
}

}  // namespace detail
/// @endcond

/// Registers an operator while its library is loaded. ADVSTEP_OPERATOR has one.
template <typename Operator>
struct [[gnu::visibility("hidden")]] Registration{
    Registration(){(void)detail::Record<Operator>::Get();
}  // namespace advance_step::op
}
;

/// Phase one of an operator: its arguments are those of its header, in order. Tensors are views for
/// Operator::Plan; attributes are passed on, an aclScalar as a ScalarValue.
template <typename Operator, typename... Arguments>
[[gnu::visibility("hidden")]] aclnnStatus PhaseOne(uint64_t* workspaceSize,
                                                   aclOpExecutor** executor,
                                                   Arguments... arguments) noexcept {
    constexpr size_t kTensors = (size_t{detail::kIsTensor<Arguments>} + ... + 0);
    const auto plan = [&] {
        const auto tensors = std::apply(
            [](auto... tensor) {
                return std::array<const aclTensor*, sizeof...(tensor)>{tensor...};
            },
            std::tuple_cat(detail::TensorPart(arguments)...));
        return detail::PlanCall<Operator>(
            tensors, std::tuple_cat(detail::AttributePart(arguments)...), workspaceSize, executor,
            std::make_index_sequence<kTensors>());
    };
#if defined(__cpp_exceptions)
    try {
        return plan();
    } catch (const std::exception& error) {
        return advstepRefuseCall(detail::Record<Operator>::Get(), ACLNN_ERR_INNER, error.what());
    } catch (...) {
        return advstepRefuseCall(detail::Record<Operator>::Get(), ACLNN_ERR_INNER,
                                 "unknown exception");
    }
#else
    return plan();
#endif
}

/// Phase two of an operator.
template <typename Operator>
[[gnu::visibility("hidden")]] aclnnStatus PhaseTwo(void* workspace, uint64_t workspaceSize,
                                                   aclOpExecutor* executor,
                                                   aclrtStream stream) noexcept {
    return advstepRunOperator(detail::Record<Operator>::Get(), workspace, workspaceSize, executor,
                              stream);
}

}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_PHASE_ONE_HPP_
