// SPDX-License-Identifier: Apache-2.0
// A node of a graph as a call of a function: its tensors and attributes, and the arguments that are
// made of them.

#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <vector>

#include "advance_step/operator/graph_core.h"
#include "src/operators/entry/call.h"

namespace advstep_operators {

/// The values of an attribute that is a list.
struct NumberList {
    const int64_t* values;
    uint64_t count;
};

using PhaseTwoFunction = aclnnStatus (*)(void* workspace, uint64_t workspaceSize,
                                         aclOpExecutor* executor, aclrtStream stream);

/// A node while it is planned. It owns the objects that it makes, which live as long as it. The
/// member functions throw std::invalid_argument for a node that the function cannot serve.
class GraphNode {
 public:
    /// Borrows both: the tensors of the type's table in order, null where the node leaves one out,
    /// and a value for each attribute.
    GraphNode(const aclTensor* const* tensors, const AdvStepGraphValue* values)
        : tensors_(tensors), values_(values) {}
    GraphNode(const GraphNode&) = delete;
    GraphNode& operator=(const GraphNode&) = delete;
    ~GraphNode();

    const aclTensor* Tensor(size_t place) const { return tensors_[place]; }
    int64_t Int(size_t place) const { return values_[place].integer; }
    bool Flag(size_t place) const { return values_[place].integer != 0; }
    double Real(size_t place) const { return values_[place].real; }
    NumberList List(size_t place) const {
        return {static_cast<const int64_t*>(values_[place].list), values_[place].count};
    }

    /// The arguments of a function, by their kinds.
    const aclScalar* Scalar(double value);
    const aclScalar* Scalar(int64_t value);
    const aclScalar* Scalar(int value) { return Scalar(int64_t{value}); }
    const aclIntArray* Array(const NumberList& list);
    int64_t Integer(int64_t value) const { return value; }
    int64_t Integer(int value) const { return value; }
    /// Refuses a list that has not one number.
    int64_t Integer(const NumberList& list) const;
    aclDataType Type(int64_t value) const { return static_cast<aclDataType>(value); }
    aclDataType Type(const aclTensor* tensor) const;

    /// Returns the tensor, or if it is to be turned, a view of it with its last two dims swapped.
    const aclTensor* Turned(const aclTensor* tensor, bool isTurned);
    /// Returns the dims of a tensor from an axis on. Refuses other axes of the parameters.
    NumberList DimsFrom(const aclTensor* tensor, int64_t axis, int64_t ofParameters);
    /// Refuses an empty list.
    NumberList Some(const NumberList& list) const;
    /// Returns true. Refuses a tensor that is not left out.
    bool Without(const aclTensor* tensor) const;
    /// Returns whether the tensor's elements are integers.
    bool IsWhole(const aclTensor* tensor) const;

    /// Refuses an attribute that has not its default.
    void Default(const char* name, double value, double expected) const;

    /// Sets the call.
    void Call(const FunctionSpec& called, PhaseTwoFunction run,
              std::initializer_list<Argument> given);

    const FunctionSpec* function = nullptr;
    PhaseTwoFunction phaseTwo = nullptr;
    std::vector<Argument> arguments;

 private:
    template <typename Object>
    Object* Keep(Object* made, aclnnStatus (*destroy)(const Object*));

    const aclTensor* const* tensors_;
    const AdvStepGraphValue* values_;
    std::vector<std::vector<int64_t>> dims_;
    std::vector<std::function<void()>> ends_;
};

/// The dtype of an output: that of its result, of an input, or the value of an attribute.
struct GraphOutput {
    enum Like : uint8_t { kResult, kTensor, kAttribute };

    uint32_t tensor;  // its place in the table
    Like like;
    uint32_t place;  // of the tensor or the attribute
};

/// A type of graph operators. It and all that it points to are static data.
struct GraphType {
    AdvStepOperatorTable table;
    void (*make)(GraphNode& node);
    const GraphOutput* outputs;
    uint32_t outputCount;
};

/// The functions of a tie.
aclnnStatus PlanNode(const GraphType& type, const aclTensor* const* tensors,
                     const AdvStepGraphValue* values, uint64_t* workspaceSize,
                     aclOpExecutor** executor) noexcept;
aclnnStatus InferNode(const GraphType& type, const AdvStepTensorView* views,
                      const AdvStepGraphValue* values, AdvStepGraphShape* shapes, char* message,
                      uint64_t messageBytes) noexcept;
aclnnStatus ChooseCall(const GraphType& type, const AdvStepTensorView* views,
                       const AdvStepGraphValue* values, AdvStepGraphCalls* calls, char* message,
                       uint64_t messageBytes) noexcept;

}  // namespace advstep_operators
