// SPDX-License-Identifier: Apache-2.0
/// The tie between a type of graph operators and two aclnn calls. Part of graph_operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_GRAPH_TIE_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_GRAPH_TIE_HPP_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "advance_step/operator/attribute.hpp"
#include "advance_step/operator/graph_argument.hpp"
#include "advance_step/operator/graph_core.h"
#include "advance_step/operator/phase_one.hpp"
#include "advance_step/operator/status.hpp"
#include "advance_step/operator/tensor_view.hpp"

namespace advance_step::op {

/// The shape and data type of an output. An operator's function Infer sets them.
struct InferredTensor : AdvStepGraphShape {
    /// Sets the shape and the data type. Graph mode refuses a rank above ADVSTEP_GRAPH_MOST_DIMS
    /// afterwards.
    void Set(aclDataType type, const int64_t* from, int64_t axes) {
        dataType = type;
        rank = axes;
        std::copy_n(from, std::clamp<int64_t>(axes, 0, ADVSTEP_GRAPH_MOST_DIMS), dims);
    }
    /// Sets the shape and data type of a tensor of the call.
    void SetLike(const TensorView& view) { Set(view.dataType, view.dims, view.rank); }
};
static_assert(sizeof(InferredTensor) == sizeof(AdvStepGraphShape), "they are passed as arrays");

/// The two calls that run a node. An operator's function Choose may take others.
struct ChosenCalls : AdvStepGraphCalls {
    /// Takes the two calls of an operator of the same attributes whose tensors are the first ones
    /// of the tied operator's.
    template <typename Operator, auto kPhaseOne, auto kPhaseTwo>
    void Take();
};
static_assert(sizeof(ChosenCalls) == sizeof(AdvStepGraphCalls), "it is passed as its base");

/// @cond Inner parts.
namespace detail {

template <typename T>
struct WithConst {
    using Type = T;
};
template <typename T>
struct WithConst<T*> {
    using Type = const T*;
};

template <typename Operator, typename = void>
inline constexpr bool kHasInfer = false;
template <typename Operator>
inline constexpr bool kHasInfer<Operator, std::void_t<decltype(&Operator::Infer)>> = true;

template <typename Operator, typename = void>
inline constexpr bool kHasChoose = false;
template <typename Operator>
inline constexpr bool kHasChoose<Operator, std::void_t<decltype(&Operator::Choose)>> = true;

template <typename Operator, typename = void>
inline constexpr bool kIsTolerant = false;
template <typename Operator>
inline constexpr bool kIsTolerant<Operator, std::void_t<decltype(Operator::kIsTolerant)>> =
    Operator::kIsTolerant;

// The functions of a tie, for a phase one with these parameters. The last two parameters are the
// outputs of phase one.
template <typename Operator, auto kPhaseOne, typename... Parameters>
struct [[gnu::visibility("hidden")]] GraphCalls {
    static constexpr size_t kCount = sizeof...(Parameters) - 2;
    static constexpr std::array<bool, kCount + 2> kTensor = {kIsTensor<Parameters>...};
    using Places = std::make_index_sequence<kCount>;
    template <size_t kPlace>
    using Parameter =
        typename WithConst<std::tuple_element_t<kPlace, std::tuple<Parameters...>>>::Type;

    static constexpr size_t TensorsBefore(size_t place) {
        size_t count = 0;
        for (size_t before = 0; before < place; ++before) {
            count += kTensor[before] ? 1 : 0;
        }
        return count;
    }
    static constexpr size_t kAttributes = kCount - TensorsBefore(kCount);
    static_assert(TensorsBefore(kCount) == Operator::kTensors.size(),
                  "the tied calls have the tensors of the operator's kTensors");

    template <size_t kPlace>
    static auto Hold([[maybe_unused]] const aclTensor* const* tensors,
                     [[maybe_unused]] const AdvStepGraphValue* values) {
        if constexpr (kTensor[kPlace]) {
            return GraphTensor(tensors[TensorsBefore(kPlace)]);
        } else {
            return GraphArgument<Parameter<kPlace>>(values[kPlace - TensorsBefore(kPlace)]);
        }
    }
    template <size_t... kPlaces>
    static aclnnStatus PlanWith(const aclTensor* const* tensors, const AdvStepGraphValue* values,
                                uint64_t* workspaceSize, aclOpExecutor** executor,
                                std::index_sequence<kPlaces...>) {
        const auto held = std::make_tuple(Hold<kPlaces>(tensors, values)...);
        return kPhaseOne(std::get<kPlaces>(held).get()..., workspaceSize, executor);
    }
    static aclnnStatus Plan(const aclTensor* const* tensors, const AdvStepGraphValue* values,
                            uint64_t* workspaceSize, aclOpExecutor** executor) {
        return PlanWith(tensors, values, workspaceSize, executor, Places());
    }

    template <size_t... kPlaces>
    static constexpr auto MakeRows(std::index_sequence<kPlaces...>) {
        std::array<AdvStepGraphAttribute, kAttributes + 1> rows{};
        (
            [&] {
                if constexpr (!kTensor[kPlaces]) {
                    constexpr size_t kRow = kPlaces - TensorsBefore(kPlaces);
                    rows[kRow] = GraphArgument<Parameter<kPlaces>>::Row(
                        std::data(Operator::kAttributes)[kRow]);
                }
            }(),
            ...);
        return rows;
    }
    static constexpr auto kRows = MakeRows(Places());

    template <size_t kPlace>
    static auto Read([[maybe_unused]] const AdvStepGraphValue* values) {
        if constexpr (kTensor[kPlace]) {
            return std::tuple<>();
        } else {
            return std::make_tuple(
                GraphArgument<Parameter<kPlace>>(values[kPlace - TensorsBefore(kPlace)]));
        }
    }
    // Calls a function with the values of the attributes.
    template <typename Function, size_t... kPlaces>
    static Status WithAttributes(const AdvStepGraphValue* values, const Function& function,
                                 std::index_sequence<kPlaces...>) {
        const auto held = std::tuple_cat(Read<kPlaces>(values)...);
        return std::apply(
            [&](const auto&... argument) -> Status {
                const auto read =
                    std::make_tuple(Attribute<decltype(Const(argument.get()))>(argument.get())...);
                return std::apply(
                    [&](const auto&... attribute) -> Status {
                        if (!(attribute.isPresent() && ...)) {
                            return Error(ACLNN_ERR_INNER, "no memory for the attributes");
                        }
                        return function(attribute.value()...);
                    },
                    read);
            },
            held);
    }
    template <typename T>
    static typename WithConst<T>::Type Const(T value);

    static aclnnStatus Say(aclnnStatus code, std::string_view words, char* message,
                           uint64_t messageBytes) {
        const size_t length = std::min<size_t>(words.size(), messageBytes - 1);
        std::memcpy(message, words.data(), length);
        message[length] = '\0';
        return code;
    }
    // Calls a function of the operator with the values of the attributes, and puts its failure into
    // words.
    template <typename Function>
    static aclnnStatus Ask(const AdvStepGraphValue* values, char* message, uint64_t messageBytes,
                           const Function& function) {
        const auto ask = [&] {
            const Status status = WithAttributes(values, function, Places());
            return status.ok() ? ACLNN_SUCCESS
                               : Say(status.code(), status.message(), message, messageBytes);
        };
#if defined(__cpp_exceptions)
        // Graph mode catches the rest, because a pthread_exit must not end in a catch block here.
        try {
            return ask();
        } catch (const std::exception& error) {
            return Say(ACLNN_ERR_INNER, error.what(), message, messageBytes);
        }
#else
        return ask();
#endif
    }
    static aclnnStatus Infer(const AdvStepTensorView* views, const AdvStepGraphValue* values,
                             AdvStepGraphShape* shapes, char* message, uint64_t messageBytes) {
        return Ask(values, message, messageBytes, [&](const auto&... attribute) {
            return Operator::Infer(static_cast<const TensorView*>(views), attribute...,
                                   static_cast<InferredTensor*>(shapes));
        });
    }
    static aclnnStatus Choose(const AdvStepTensorView* views, const AdvStepGraphValue* values,
                              AdvStepGraphCalls* calls, char* message, uint64_t messageBytes) {
        return Ask(values, message, messageBytes, [&](const auto&... attribute) {
            return Operator::Choose(static_cast<const TensorView*>(views), attribute...,
                                    static_cast<ChosenCalls*>(calls));
        });
    }
};

template <typename Operator, auto kPhaseOne, typename... Parameters>
GraphCalls<Operator, kPhaseOne, Parameters...> CallsOf(aclnnStatus (*)(Parameters...));

// Returns the number of tensors that every form of an operator has.
template <typename Operator>
constexpr size_t TensorsOfFewest() {
    if constexpr (kHasFewerTensors<Operator>) {
        return TensorsOfFewest<typename Operator::WithFewerTensors>();
    } else {
        return Operator::kTensors.size();
    }
}

template <typename Operator>
constexpr auto TiedTensors() {
    auto tensors = PlainTensors<Operator>();
    for (size_t place = TensorsOfFewest<Operator>(); place < tensors.size(); ++place) {
        tensors[place].isOptional = 1;
    }
    return tensors;
}

template <typename Operator>
constexpr AdvStepOperatorTable TiedTable(const AdvStepOperatorTensor* tensors) {
    AdvStepOperatorTable table = Record<Operator>::kTable;
    table.tensors = tensors;
    return table;
}

// The table of a tie, in which the tensors that some form of the operator lacks are optional.
template <typename Operator>
struct [[gnu::visibility("hidden")]] TiedForms {
    static constexpr auto kTensors = TiedTensors<Operator>();
    static constexpr AdvStepOperatorTable kTable = TiedTable<Operator>(kTensors.data());
};

}  // namespace detail
/// @endcond

template <typename Operator, auto kPhaseOne, auto kPhaseTwo>
void ChosenCalls::Take() {
    plan = &decltype(detail::CallsOf<Operator, kPhaseOne>(kPhaseOne))::Plan;
    run = kPhaseTwo;
}

/// Returns the tie of a type to the two calls of an operator, for ADVSTEP_GRAPH_OPERATOR.
template <typename Operator, auto kPhaseOne, auto kPhaseTwo>
constexpr AdvStepGraphOperator MakeGraphTie(const char* type) {
    using Calls = decltype(detail::CallsOf<Operator, kPhaseOne>(kPhaseOne));
    AdvStepGraphOperator tie{};
    tie.structBytes = sizeof(tie);
    tie.attributeCount = static_cast<uint32_t>(Calls::kAttributes);
    tie.type = type;
    tie.table = &detail::TiedForms<Operator>::kTable;
    tie.attributes = Calls::kRows.data();
    tie.plan = &Calls::Plan;
    tie.run = kPhaseTwo;
    if constexpr (detail::kHasInfer<Operator>) {
        tie.infer = &Calls::Infer;
    }
    if constexpr (detail::kHasChoose<Operator>) {
        tie.choose = &Calls::Choose;
    }
    tie.isTolerant = detail::kIsTolerant<Operator> ? 1 : 0;
    return tie;
}

/// Ties a type when it is constructed: ADVSTEP_GRAPH_OPERATOR defines one as a static object.
// clang-format off
struct [[gnu::visibility("hidden")]] GraphRegistration {
    /// Ties the type.
    explicit GraphRegistration(const AdvStepGraphOperator* tie) {
        (void)advstepTieGraphOperator(tie);
    }
};
// clang-format on

}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_GRAPH_TIE_HPP_
