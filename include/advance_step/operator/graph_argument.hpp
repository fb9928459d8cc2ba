// SPDX-License-Identifier: Apache-2.0
/// The arguments of phase one, made from tensors and attributes of a graph. Part of
/// graph_operator.h.
#ifndef ADVSTEP_ADVANCE_STEP_OPERATOR_GRAPH_ARGUMENT_HPP_
#define ADVSTEP_ADVANCE_STEP_OPERATOR_GRAPH_ARGUMENT_HPP_

#include <cstdint>
#include <limits>
#include <memory>
#include <type_traits>

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"
#include "advance_step/operator/graph_core.h"

/// @cond Inner parts.
namespace advance_step::op::detail {

struct ArgumentDeleter {
    void operator()(const aclScalar* scalar) const { (void)aclDestroyScalar(scalar); }
    void operator()(const aclIntArray* array) const { (void)aclDestroyIntArray(array); }
    void operator()(const aclFloatArray* array) const { (void)aclDestroyFloatArray(array); }
    void operator()(const aclBoolArray* array) const { (void)aclDestroyBoolArray(array); }
};

// An argument of phase one, made from an attribute of the graph. This template serves plain
// numbers; the others below make scalars and arrays.
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

// A tensor of phase one, which is passed on unchanged.
class GraphTensor {
 public:
    explicit GraphTensor(const aclTensor* tensor) : tensor_(const_cast<aclTensor*>(tensor)) {}
    aclTensor* get() const { return tensor_; }

 private:
    aclTensor* tensor_;
};

}  // namespace advance_step::op::detail
/// @endcond

#endif  // ADVSTEP_ADVANCE_STEP_OPERATOR_GRAPH_ARGUMENT_HPP_
