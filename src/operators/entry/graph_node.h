// SPDX-License-Identifier: Apache-2.0
// A node of a graph as a call of a function: its tensors and attributes, and the arguments that are
// made of them.

#pragma once

#include <cstdint>
#include <functional>
#include <initializer_list>
#include <string>
#include <utility>
#include <vector>

#include "advance_step/operator/graph_core.h"
#include "src/operators/entry/call.h"

namespace advstep_operators {

/// The values of an attribute that is a list, or the elements of an input.
struct NumberList {
    const int64_t* values;
    uint64_t count;
    const char* name = "axes";  // of the attribute or the input

    const int64_t* begin() const { return values; }
    const int64_t* end() const { return values + count; }
};

/// The element of an input that has one.
struct Number {
    bool isReal = false;
    int64_t integer = 0;
    double real = 0;

    double AsReal() const { return isReal ? real : static_cast<double>(integer); }
};

/// The tensors of a dynamic input or output.
struct TensorRun {
    const aclTensor* const* first;
    uint64_t count;
    const char* name;
};

using PhaseTwoFunction = aclnnStatus (*)(void* workspace, uint64_t workspaceSize,
                                         aclOpExecutor* executor, aclrtStream stream);

class GraphNode;

/// The dtype of an output: that of its result, of a tensor, the value of an attribute, or always
/// the same one. If an attribute is not negative, it may be another.
struct GraphOutput {
    enum Like : uint8_t { kResult, kTensor, kAttribute, kFixed };

    uint32_t tensor;  // its place in the table
    Like like;
    uint32_t place;        // of the tensor or the attribute; or the dtype
    int32_t chooser = -1;  // the place of the attribute that chooses; -1: none
    aclDataType other = ACL_DT_UNDEFINED;
};

/// A type of graph operators. It and all that it points to are static data.
struct GraphType {
    AdvStepOperatorTable table;
    void (*make)(GraphNode& node);
    const GraphOutput* outputs;
    uint32_t outputCount;
    const AdvStepGraphAttribute* attributes;
    uint32_t attributeCount;
};

/// Throws std::invalid_argument.
[[noreturn]] void RefuseNode(const std::string& message);

AdvStepTensorView ViewOf(const aclTensor* tensor);

/// Returns numbers as messages spell them.
std::string TextOf(const NumberList& list);

/// A node while it is planned. It owns the objects that it makes, which live as long as it. The
/// member functions throw std::invalid_argument for a node that the function cannot serve.
class GraphNode {
 public:
    /// Borrows all: the tensors of the type's table in order, null where the node leaves one out,
    /// and a value for each attribute.
    GraphNode(const GraphType& type, const aclTensor* const* tensors,
              const AdvStepGraphValue* values);
    GraphNode(const GraphNode&) = delete;
    GraphNode& operator=(const GraphNode&) = delete;
    ~GraphNode();

    /// The tensors of a place in the table.
    const aclTensor* Tensor(size_t place) const { return tensors_[firsts_[place]]; }
    TensorRun Run(size_t place) const {
        return {tensors_ + firsts_[place], firsts_[place + 1] - firsts_[place],
                type_.table.tensors[place].name};
    }
    size_t First(size_t place) const { return firsts_[place]; }

    /// The values of attributes, and elements of inputs that are read.
    int64_t Int(size_t place) const { return values_[place].integer; }
    bool Flag(size_t place) const { return values_[place].integer != 0; }
    double Real(size_t place) const { return values_[place].real; }
    NumberList List(size_t place) const {
        return {static_cast<const int64_t*>(values_[place].list), values_[place].count,
                type_.attributes[place].name};
    }
    const char* Text(size_t place) const { return static_cast<const char*>(values_[place].list); }
    /// Refuses an input that has several elements. One that is left out is the whole number 0.
    Number NumberOf(size_t place) const;

    /// The arguments of a function, by their kinds.
    const aclScalar* Scalar(double value);
    const aclScalar* Scalar(int64_t value);
    const aclScalar* Scalar(int value) { return Scalar(int64_t{value}); }
    const aclScalar* Scalar(const Number& number) {
        return number.isReal ? Scalar(number.real) : Scalar(number.integer);
    }
    const aclIntArray* Array(const NumberList& list);
    const aclIntArray* Array(const std::vector<int64_t>& list) {
        return Array(NumberList{list.data(), list.size()});
    }
    const aclIntArray* Array(std::nullptr_t) const { return nullptr; }
    const aclIntArray* Array(const aclIntArray* array) const { return array; }
    /// Null for an input that is left out.
    const aclIntArray* Given(const NumberList& list) {
        return list.values == nullptr ? nullptr : Array(list);
    }
    /// The list's tensors have the memory and the views of the given ones. Null for a list that is
    /// left out.
    const aclTensorList* Tensors(const TensorRun& run);
    const aclTensorList* Tensors(const std::vector<const aclTensor*>& tensors);
    const aclTensorList* Tensors(std::nullptr_t) const { return nullptr; }
    int64_t Integer(int64_t value) const { return value; }
    int64_t Integer(int value) const { return value; }
    /// Refuses a list that has not one number.
    int64_t Integer(const NumberList& list) const;
    NumberList One(const NumberList& list) const {
        (void)Integer(list);
        return list;
    }
    aclDataType Type(int64_t value) const { return static_cast<aclDataType>(value); }
    aclDataType Type(const aclTensor* tensor) const;

    /// Returns the tensors. Refuses a number of them that the attribute does not name, unless it
    /// has its default.
    TensorRun Counted(const TensorRun& run, const char* attribute, int64_t number,
                      int64_t byDefault = -1) const;
    /// Returns a view of the tensor's memory. Offset and strides count elements.
    const aclTensor* View(const aclTensor* tensor, const std::vector<int64_t>& dims,
                          const std::vector<int64_t>& strides, int64_t offset);
    /// Returns an output whose shape is not that of the function's result, and sets its shape.
    const aclTensor* Sized(const aclTensor* output, std::vector<int64_t> dims);
    /// Returns the output if the node computes it. Another has no elements, and null stands for it.
    const aclTensor* Wanted(const aclTensor* output, bool isWanted) {
        return isWanted ? output : (Sized(output, {0}), nullptr);
    }
    /// Returns the shape that Sized has set, or null.
    const std::vector<int64_t>* SizeOf(const aclTensor* output) const;

    /// Returns the tensor, or if it is to be turned, a view of it with its last two dims swapped.
    const aclTensor* Turned(const aclTensor* tensor, bool isTurned);
    /// Returns the dims of a tensor from an axis on. Refuses other axes of the parameters.
    NumberList DimsFrom(const aclTensor* tensor, int64_t axis, int64_t ofParameters);
    /// Refuses an empty list.
    NumberList Some(const NumberList& list) const;
    /// Returns true. Refuses a tensor that is not left out.
    bool Without(const aclTensor* tensor, const char* name = "offset_w") const;
    bool Without(const TensorRun& run) const {
        return Without(run.count > 0 ? run.first[0] : nullptr, run.name);
    }
    /// Returns true. Refuses a tensor of whole numbers.
    bool IsFloating(const aclTensor* tensor, const char* name) const;
    /// Returns whether the tensor's elements are integers.
    bool IsWhole(const aclTensor* tensor) const;

    /// Refuses an attribute that has not its default.
    void Default(const char* name, double value, double expected) const;
    void Default(const char* name, const char* value, const char* expected) const;

    /// Returns the place of an attribute's value among words. Refuses others.
    int64_t WordOf(const char* name, const char* value,
                   std::initializer_list<const char*> words) const;

    /// Sets the call.
    void Call(const FunctionSpec& called, PhaseTwoFunction run,
              std::initializer_list<Argument> given);

    const FunctionSpec* function = nullptr;
    PhaseTwoFunction phaseTwo = nullptr;
    std::vector<Argument> arguments;

 private:
    template <typename Object>
    Object* Keep(Object* made, aclnnStatus (*destroy)(const Object*));

    const GraphType& type_;
    const aclTensor* const* tensors_;
    const AdvStepGraphValue* values_;
    std::vector<size_t> firsts_;  // the place of the first tensor of each place in the table
    std::vector<std::vector<int64_t>> dims_;
    std::vector<std::pair<const aclTensor*, std::vector<int64_t>>> sized_;
    std::vector<std::function<void()>> ends_;
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
