// SPDX-License-Identifier: Apache-2.0
/// The tie between a type of graph operators and an aclnn pair. Part of graph_operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_GRAPH_TIE_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_GRAPH_TIE_HPP_

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <limits>
#include <memory>
#include <string_view>
#include <tuple>
#include <type_traits>
#include <utility>

#include "advance_step/operator/attribute.hpp"
#include "advance_step/operator/graph_core.h"
#include "advance_step/operator/phase_one.hpp"
#include "advance_step/operator/status.hpp"
#include "advance_step/operator/tensor_view.hpp"

namespace advance_step::op {

/// The shape and data type of an output, which an operator's function Infer sets.
struct InferredTensor : AdvStepGraphShape {
    /// Sets both. A rank above ADVSTEP_GRAPH_MOST_DIMS is refused afterwards.
    void Set(aclDataType type, const int64_t* from, int64_t axes) {
        dataType = type;
        rank = axes;
        std::copy_n(from, std::clamp<int64_t>(axes, 0, ADVSTEP_GRAPH_MOST_DIMS), dims);
    }
    /// Sets the shape and data type of a tensor of the call.
    void SetLike(const TensorView& view) { Set(view.dataType, view.dims, view.rank); }
};
static_assert(sizeof(InferredTensor) == sizeof(AdvStepGraphShape), "they are passed as arrays");

/// @cond Inner parts.
namespace detail {

struct ArgumentDeleter {
    void operator()(const aclScalar* scalar) const { (void)aclDestroyScalar(scalar); }
    void operator()(const aclIntArray* array) const { (void)aclDestroyIntArray(array); }
    void operator()(const aclFloatArray* array) const { (void)aclDestroyFloatArray(array); }
    void operator()(const aclBoolArray* array) const { (void)aclDestroyBoolArray(array); }
};

// An argument of phase one, made of a value of the graph. Plain numbers first.
template <typename T>
class GraphArgument {
    template <typename U, bool kIsEnum = std::is_enum_v<U>>
    struct Whole {
        using Type = U;
    };
    template <typename U>
    struct Whole<U, true> {
        using Type = std::underlying_type_t<U>;
    };
    using Limits = std::numeric_limits<typename Whole<T>::Type>;

 public:
    static_assert(std::is_arithmetic_v<T> || std::is_enum_v<T>,
                  "an attribute of an operator in graph mode is a number, a bool, an enumeration, "
                  "a const aclScalar*, or a const aclIntArray*, aclFloatArray* or aclBoolArray*");
    static constexpr AdvStepGraphAttribute Row(const char* name) {
        if constexpr (std::is_same_v<T, bool>) {
            return {name, ADVSTEP_GRAPH_BOOL, 0, 1};
        } else if constexpr (std::is_floating_point_v<T>) {
            return {name, ADVSTEP_GRAPH_FLOAT, 0, 0};
        } else {
            constexpr bool kIsWide = sizeof(T) == 8 && !Limits::is_signed;
            return {name, ADVSTEP_GRAPH_INT, static_cast<int64_t>(Limits::min()),
                    kIsWide ? std::numeric_limits<int64_t>::max()
                            : static_cast<int64_t>(Limits::max())};
        }
    }

    explicit GraphArgument(const AdvStepGraphValue& value) {
        if constexpr (std::is_floating_point_v<T>) {
            value_ = static_cast<T>(value.real);
        } else {
            value_ = static_cast<T>(value.integer);
        }
    }
    T get() const { return value_; }

 private:
    T value_;
};

template <typename Object>
class GraphObject {
 public:
    Object* get() const { return object_.get(); }

 protected:
    explicit GraphObject(Object* object) : object_(object) {}

 private:
    std::unique_ptr<Object, ArgumentDeleter> object_;
};

template <>
class GraphArgument<const aclScalar*> : public GraphObject<aclScalar> {
 public:
    static constexpr AdvStepGraphAttribute Row(const char* name) {
        return {name, ADVSTEP_GRAPH_NUMBER, 0, 0};
    }
    explicit GraphArgument(const AdvStepGraphValue& value) : GraphObject(Make(value)) {}

 private:
    static aclScalar* Make(const AdvStepGraphValue& value) {
        if (value.kind == ADVSTEP_GRAPH_FLOAT) {
            auto real = static_cast<float>(value.real);
            return aclCreateScalar(&real, ACL_FLOAT);
        }
        int64_t integer = value.integer;
        bool truth = integer != 0;
        return value.kind == ADVSTEP_GRAPH_BOOL ? aclCreateScalar(&truth, ACL_BOOL)
                                                : aclCreateScalar(&integer, ACL_INT64);
    }
};
template <>
class GraphArgument<const aclIntArray*> : public GraphObject<aclIntArray> {
 public:
    static constexpr AdvStepGraphAttribute Row(const char* name) {
        return {name, ADVSTEP_GRAPH_LIST_INT, 0, 0};
    }
    explicit GraphArgument(const AdvStepGraphValue& value)
        : GraphObject(aclCreateIntArray(static_cast<const int64_t*>(value.list), value.count)) {}
};
template <>
class GraphArgument<const aclFloatArray*> : public GraphObject<aclFloatArray> {
 public:
    static constexpr AdvStepGraphAttribute Row(const char* name) {
        return {name, ADVSTEP_GRAPH_LIST_FLOAT, 0, 0};
    }
    explicit GraphArgument(const AdvStepGraphValue& value)
        : GraphObject(aclCreateFloatArray(static_cast<const float*>(value.list), value.count)) {}
};
template <>
class GraphArgument<const aclBoolArray*> : public GraphObject<aclBoolArray> {
 public:
    static constexpr AdvStepGraphAttribute Row(const char* name) {
        return {name, ADVSTEP_GRAPH_LIST_BOOL, 0, 0};
    }
    explicit GraphArgument(const AdvStepGraphValue& value)
        : GraphObject(aclCreateBoolArray(static_cast<const bool*>(value.list), value.count)) {}
};

// A tensor of phase one as it is.
class GraphTensor {
 public:
    explicit GraphTensor(const aclTensor* tensor) : tensor_(const_cast<aclTensor*>(tensor)) {}
    aclTensor* get() const { return tensor_; }

 private:
    aclTensor* tensor_;
};

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

// The functions of a tie, for a phase one with these parameters. The last two are its outputs.
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
    template <size_t... kPlaces>
    static Status InferWith(const TensorView* views, const AdvStepGraphValue* values,
                            InferredTensor* tensors, std::index_sequence<kPlaces...>) {
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
                        return Operator::Infer(views, attribute.value()..., tensors);
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
    static aclnnStatus Infer(const AdvStepTensorView* views, const AdvStepGraphValue* values,
                             AdvStepGraphShape* shapes, char* message, uint64_t messageBytes) {
        const auto infer = [&] {
            const Status status = InferWith(static_cast<const TensorView*>(views), values,
                                            static_cast<InferredTensor*>(shapes), Places());
            return status.ok() ? ACLNN_SUCCESS
                               : Say(status.code(), status.message(), message, messageBytes);
        };
#if defined(__cpp_exceptions)
        try {
            return infer();
        } catch (const std::exception& error) {
            return Say(ACLNN_ERR_INNER, error.what(), message, messageBytes);
        } catch (...) {
            return Say(ACLNN_ERR_INNER, "unknown exception", message, messageBytes);
        }
#else
        return infer();
#endif
    }
};

template <typename Operator, auto kPhaseOne, typename... Parameters>
GraphCalls<Operator, kPhaseOne, Parameters...> CallsOf(aclnnStatus (*)(Parameters...));

}  // namespace detail
/// @endcond

/// The tie of a type to the two calls of an operator. ADVSTEP_GRAPH_OPERATOR has one.
template <typename Operator, auto kPhaseOne, auto kPhaseTwo>
constexpr AdvStepGraphOperator MakeGraphTie(const char* type) {
    using Calls = decltype(detail::CallsOf<Operator, kPhaseOne>(kPhaseOne));
    AdvStepGraphOperator tie{};
    tie.structBytes = sizeof(tie);
    tie.attributeCount = static_cast<uint32_t>(Calls::kAttributes);
    tie.type = type;
    tie.table = &detail::Record<Operator>::kTable;
    tie.attributes = Calls::kRows.data();
    tie.plan = &Calls::Plan;
    tie.run = kPhaseTwo;
    if constexpr (detail::kHasInfer<Operator>) {
        tie.infer = &Calls::Infer;
    }
    return tie;
}

/// Ties a type while its library is loaded. ADVSTEP_GRAPH_OPERATOR has one.
struct [[gnu::visibility("hidden")]] GraphRegistration{
    /// Ties the type.
    explicit GraphRegistration(const AdvStepGraphOperator* tie){(void)advstepTieGraphOperator(tie);
}  // namespace advance_step::op
}
;

}  // namespace advance_step::op

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_GRAPH_TIE_HPP_
