// SPDX-License-Identifier: Apache-2.0
/// The rules of an operator's class, and tests for its optional members. Part of operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_RULES_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_RULES_HPP_

#include <cstddef>
#include <string_view>
#include <type_traits>

#include "advance_step/operator/core.h"
#include "advance_step/operator/signature.hpp"

/// @cond Inner parts.
namespace advance_step::op::detail {

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

// Whether an operator has a class WithFewerTensors, for calls without the last tensors
// (operator.h).
template <typename Operator, typename = void>
inline constexpr bool kHasFewerTensors = false;
template <typename Operator>
inline constexpr bool kHasFewerTensors<Operator, std::void_t<typename Operator::WithFewerTensors>> =
    true;

// The rules of Operator::WithFewerTensors.
template <typename Operator>
struct FewerTensorsRules {
    using WithFewerTensors = typename Operator::WithFewerTensors;
    static_assert(std::string_view(WithFewerTensors::kName) == Operator::kName,
                  "WithFewerTensors: its kName is that of the operator");
    static_assert(WithFewerTensors::kTensors.size() < Operator::kTensors.size() &&
                      BeginsWith(Operator::kTensors, WithFewerTensors::kTensors),
                  "WithFewerTensors: its tensors are the first of the operator's, and fewer");
    static constexpr bool kHold = true;
};

// Whether a call leaves out all tensors that Operator::WithFewerTensors does not have.
template <typename Operator>
bool LeavesOutLast(const aclTensor* const* tensors) {
    static_assert(FewerTensorsRules<Operator>::kHold);
    constexpr size_t kFirst = Operator::WithFewerTensors::kTensors.size();
    bool leavesOut = true;
    for (size_t place = kFirst; place < Operator::kTensors.size(); ++place) {
        leavesOut = leavesOut && tensors[place] == nullptr;
    }
    return leavesOut;
}

// Whether an operator's Plan refuses negative dims itself (operator.h).
template <typename Operator, typename = void>
inline constexpr bool kChecksDims = false;
template <typename Operator>
inline constexpr bool kChecksDims<Operator, std::void_t<decltype(Operator::kChecksDims)>> =
    Operator::kChecksDims;

template <typename Operator, typename = void>
inline constexpr bool kHasPrepare = false;
template <typename Operator>
inline constexpr bool kHasPrepare<Operator, std::void_t<decltype(&Operator::Prepare)>> = true;

// Calls Prepare of an operator and of its classes with fewer tensors, if they have it.
template <typename Operator>
[[gnu::visibility("hidden")]] void PrepareOperator() {
    if constexpr (kHasPrepare<Operator>) {
        Operator::Prepare();
    }
    if constexpr (kHasFewerTensors<Operator>) {
        PrepareOperator<typename Operator::WithFewerTensors>();
    }
}

}  // namespace advance_step::op::detail
/// @endcond

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_RULES_HPP_
