// SPDX-License-Identifier: Apache-2.0
/// The two calls of an operator, made from its table and its function Plan. Part of operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_PHASE_ONE_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_PHASE_ONE_HPP_

#include <pthread.h>

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
#include "advance_step/operator/plan.hpp"
#include "advance_step/operator/rules.hpp"
#include "advance_step/operator/signature.hpp"
#include "advance_step/operator/status.hpp"
#include "advance_step/operator/tensor_view.hpp"

namespace advance_step::op {

/// @cond Inner parts.
// Two libraries may have operators of classes with the same name. So everything that belongs to one
// of them is hidden from the other.
namespace detail {

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

// The table of an operator, and the operator that its registration has returned.
template <typename Operator>
struct [[gnu::visibility("hidden")]] Record {
    static_assert(Rules<Operator>::kHold);
    static constexpr auto kTensors = PlainTensors<Operator>();
    static constexpr AdvStepOperatorTable kTable = {sizeof(AdvStepOperatorTable),
                                                    ADVSTEP_OPERATOR_INTERFACE,
                                                    Operator::kName,
                                                    kTensors.data(),
                                                    static_cast<uint32_t>(kTensors.size()),
                                                    sizeof(PayloadOf<Operator>),
                                                    kChecksDims<Operator> ? 1 : 0};

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

// Returns room for the numbers of all attributes: a std::array if their count is known when this is
// compiled, or else a std::vector.
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

// Writes the numbers of all attributes. 161001: an attribute is null. 161002: it was destroyed.
template <typename Operator, typename... Attributes, typename Numbers>
Status WriteNumbers(const std::tuple<Attributes...>& attributes, Numbers* numbers) {
    static_assert(HasAttributeNames<Operator, Attributes...>(),
                  "kAttributes: one name for each attribute of the call");
    if constexpr (sizeof...(Attributes) > 0) {
        const char* missing = nullptr;
        const char* expected = nullptr;
        aclnnStatus code = ACLNN_SUCCESS;
        const char* const* name = std::data(Operator::kAttributes);
        int64_t* at = numbers->data();
        std::apply(
            [&](const auto&... attribute) {
                ((expected = missing == nullptr ? attribute.kExpected : expected,
                  code = missing == nullptr ? attribute.code() : code,
                  missing = missing == nullptr && !attribute.isPresent() ? *name : missing, ++name,
                  at = attribute.Write(at)),
                 ...);
            },
            attributes);
        if (missing != nullptr) {
            return Error(code, missing,
                         code == ACLNN_ERR_PARAM_NULLPTR ? " is null; expected "
                                                         : " has been destroyed; expected ",
                         expected);
        }
    }
    return {};
}

// Holds back a cancellation of the thread, which would unwind the operator's function Plan.
class [[gnu::visibility("hidden")]] CancelLater {
 public:
    CancelLater() noexcept { (void)pthread_setcancelstate(PTHREAD_CANCEL_DISABLE, &before_); }
    ~CancelLater() { (void)pthread_setcancelstate(before_, nullptr); }
    CancelLater(const CancelLater&) = delete;
    CancelLater& operator=(const CancelLater&) = delete;

 private:
    int before_ = PTHREAD_CANCEL_ENABLE;
};

template <typename Operator, typename... Attributes>
Status PlanBy(const Request& request, const std::tuple<Attributes...>& attributes,
              Planned<PayloadOf<Operator>>* planned) {
    const CancelLater cancelLater;
    return std::apply(
        [&](const auto&... attribute) {
            return Operator::Plan(request, attribute.value()..., planned);
        },
        attributes);
}

template <typename Operator>
[[gnu::visibility("hidden")]] aclnnStatus Refuse(const Status& status) {
    return advstepRefuseCall(Record<Operator>::Get(), status.code(), status.message());
}

template <typename Operator, typename... Attributes>
[[gnu::visibility("hidden")]] aclnnStatus PlanCall(const aclTensor* const* tensors,
                                                   const std::tuple<Attributes...>& attributes,
                                                   uint64_t* workspaceSize,
                                                   aclOpExecutor** executor) {
    if constexpr (kHasFewerTensors<Operator>) {
        if (LeavesOutLast<Operator>(tensors)) {
            return PlanCall<typename Operator::WithFewerTensors>(tensors, attributes, workspaceSize,
                                                                 executor);
        }
    }
    auto numbers = NumbersOf(attributes);
    AdvStepOperatorCall call;
    call.structBytes = sizeof(call);
    call.op = Record<Operator>::Get();
    call.tensors = tensors;
    call.workspaceSize = workspaceSize;
    call.executor = executor;
    if (const Status status = WriteNumbers<Operator>(attributes, &numbers); !status.ok()) {
        return Refuse<Operator>(status);
    }
    call.attributes = numbers.data();
    call.attributeCount = static_cast<uint32_t>(numbers.size());
    // They are set only if a plan has to be made, which is seldom.
    AdvStepTensorView views[Operator::kTensors.size()];
    Request request;
    request.views = static_cast<const TensorView*>(&views[0]);
    request.environment.structBytes = sizeof(request.environment);
    int32_t isPlanned = 0;
    if (const aclnnStatus code = advstepBeginPlan(&call, views, &request.environment, &isPlanned);
        code != ACLNN_SUCCESS || isPlanned != 0) {
        return code;
    }
    Planned<PayloadOf<Operator>> planned;
    if (const Status status = PlanBy<Operator>(request, attributes, &planned); !status.ok()) {
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
    plan.work = planned.work;
    return advstepFinishPlan(&call, views, &plan);
}

// The tensors of a call, in order.
template <typename Operator, typename... Arguments>
auto TensorsOf(Arguments... arguments) {
    constexpr size_t kCount = (size_t{kIsTensor<Arguments>} + ... + 0);
    static_assert(kCount == Operator::kTensors.size(),
                  "kTensors: one row for each tensor of the call, in its order");
    return std::apply(
        [](auto... tensor) { return std::array<const aclTensor*, kCount>{tensor...}; },
        std::tuple_cat(TensorPart(arguments)...));
}

// Registers the tables of an operator: its own, and those with fewer tensors.
template <typename Operator>
[[gnu::visibility("hidden")]] void RegisterTables() {
    (void)Record<Operator>::Get();
    if constexpr (kHasFewerTensors<Operator>) {
        static_assert(FewerTensorsRules<Operator>::kHold);
        RegisterTables<typename Operator::WithFewerTensors>();
    }
}

template <typename Operator>
[[gnu::visibility("hidden")]] void Load() {
    PrepareOperator<Operator>();
    RegisterTables<Operator>();
}

}  // namespace detail
/// @endcond

/// Registers an operator when it is constructed: ADVSTEP_OPERATOR defines one as a static object.
template <typename Operator>
struct [[gnu::visibility("hidden")]] Registration {
    static_assert(detail::Rules<Operator>::kHold);
    Registration() { detail::Load<Operator>(); }
};

/// Phase one of an operator. The arguments are those of the operator's call, in order.
/// Operator::Plan gets the tensors as views and the attributes as values: an aclScalar as a
/// ScalarValue, and an array as an ArrayValue.
template <typename Operator, typename... Arguments>
[[gnu::visibility("hidden")]] aclnnStatus PhaseOne(uint64_t* workspaceSize,
                                                   aclOpExecutor** executor,
                                                   Arguments... arguments) noexcept {
    const auto plan = [&] {
        const auto tensors = detail::TensorsOf<Operator>(arguments...);
        return detail::PlanCall<Operator>(tensors.data(),
                                          std::tuple_cat(detail::AttributePart(arguments)...),
                                          workspaceSize, executor);
    };
#if defined(__cpp_exceptions)
    try {
        return plan();
    } catch (const std::exception& error) {
        return advstepRefuseCall(detail::Record<Operator>::Get(), ACLNN_ERR_INNER, error.what());
    } catch (...) {
        return advstepRefuseCall(detail::Record<Operator>::Get(), ACLNN_ERR_INNER, nullptr);
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
