// SPDX-License-Identifier: Apache-2.0
/// Operators of a graph. operator_reg.h defines a class for each type of operators.
#ifndef ADVSTEP_GRAPH_OPERATOR_H_
#define ADVSTEP_GRAPH_OPERATOR_H_

#include <cstddef>
#include <cstdint>
#include <string>
#include <vector>

#include "ascend_string.h"
#include "error_codes.h"
#include "tensor.h"
#include "types.h"

namespace advstep {
namespace graph {
struct OperatorNode;
class OperatorAccess;
}  // namespace graph
}  // namespace advstep

namespace ge {

/// A handle to an operator. Copies of it denote the same operator, also copies of an object of a
/// derived class. Linked operators live as long as there is a handle to one of them.
///
/// Two threads must not change the same operator or linked operators at the same time. The child of
/// a fork may use its parent's operators. It never frees them, nor operators that it links with
/// them. Those that another thread was changing at the fork it may only copy and drop.
class ADVSTEP_GRAPH_API ADVSTEP_GRAPH_OWN_LAYOUT Operator {
 public:
    using OpInt = int64_t;
    using OpFloat = float;
    using OpBool = bool;
    using OpString = std::string;
    using OpAscendString = AscendString;
    using OpTensor = Tensor;
    using OpType = DataType;
    using OpListInt = std::vector<int64_t>;
    using OpListFloat = std::vector<float>;
    using OpListBool = std::vector<bool>;
    using OpListString = std::vector<std::string>;
    using OpListAscendString = std::vector<AscendString>;
    using OpListType = std::vector<DataType>;
    using OpListTensor = std::vector<Tensor>;
    using OpListListInt = std::vector<std::vector<int64_t>>;

    /// An empty handle.
    Operator();
    /// Makes a new operator without inputs and outputs. Its name is type + "_" + a number.
    explicit Operator(const char* type);
    Operator(const char* name, const char* type);
    Operator(const AscendString& name, const AscendString& type);
    Operator(const Operator& other);
    Operator(Operator&& other) noexcept;
    Operator& operator=(const Operator& other);
    Operator& operator=(Operator&& other) noexcept;
    virtual ~Operator();

    bool IsEmpty() const;
    graphStatus GetName(AscendString& name) const;
    graphStatus GetOpType(AscendString& type) const;
    /// Returns the number of declared inputs, optional ones included.
    size_t GetInputsSize() const;
    size_t GetOutputsSize() const;

    /// Links an output of src with the input dst, and copies the output's description to the input.
    /// src must have exactly one output if neither srcOutput nor srcIndex is given. An unknown name
    /// or index, an empty src or a second link of one input is a fault, which Session::RunGraph
    /// reports.
    Operator& SetInput(const char* dst, const Operator& src);
    Operator& SetInput(const char* dst, const Operator& src, const char* srcOutput);
    Operator& SetInput(const char* dst, const Operator& src, uint32_t srcIndex);
    /// Makes this operator run after src.
    Operator& AddControlInput(const Operator& src);

    /// Returns a default description for an unknown name.
    TensorDesc GetInputDescByName(const char* name) const;
    TensorDesc GetOutputDescByName(const char* name) const;
    /// Returns GRAPH_FAILED for an unknown name.
    graphStatus UpdateInputDesc(const char* name, const TensorDesc& desc);
    graphStatus UpdateOutputDesc(const char* name, const TensorDesc& desc);
    /// Sets the description of one input of a dynamic input. Returns GRAPH_FAILED if the dynamic
    /// input was not created or has fewer inputs.
    graphStatus UpdateDynamicInputDesc(const char* name, uint32_t index, const TensorDesc& desc);

    Operator& SetAttr(const char* name, int64_t value);
    Operator& SetAttr(const char* name, int32_t value);
    Operator& SetAttr(const char* name, uint32_t value);
    Operator& SetAttr(const char* name, float value);
    Operator& SetAttr(const char* name, bool value);
    Operator& SetAttr(const char* name, const char* value);
    Operator& SetAttr(const char* name, const AscendString& value);
    Operator& SetAttr(const char* name, const std::string& value);
    Operator& SetAttr(const char* name, const Tensor& value);
    Operator& SetAttr(const char* name, const DataType& value);
    Operator& SetAttr(const char* name, const std::vector<int64_t>& value);
    Operator& SetAttr(const char* name, const std::vector<float>& value);
    Operator& SetAttr(const char* name, const std::vector<bool>& value);
    Operator& SetAttr(const char* name, const std::vector<AscendString>& value);
    Operator& SetAttr(const char* name, const std::vector<std::string>& value);
    Operator& SetAttr(const char* name, const std::vector<Tensor>& value);
    Operator& SetAttr(const char* name, const std::vector<DataType>& value);
    Operator& SetAttr(const char* name, const std::vector<std::vector<int64_t>>& value);

    /// Reads an attribute. Returns GRAPH_FAILED, and does not change value, if the attribute is
    /// missing or of another type, or if an integer does not fit. All integer types count as one
    /// type, and so do all string types. If a required attribute was never set, GEGetErrorMsgV2
    /// also returns a message.
    graphStatus GetAttr(const char* name, int64_t& value) const;
    graphStatus GetAttr(const char* name, int32_t& value) const;
    graphStatus GetAttr(const char* name, uint32_t& value) const;
    graphStatus GetAttr(const char* name, float& value) const;
    graphStatus GetAttr(const char* name, bool& value) const;
    graphStatus GetAttr(const char* name, AscendString& value) const;
    graphStatus GetAttr(const char* name, std::string& value) const;
    graphStatus GetAttr(const char* name, Tensor& value) const;
    graphStatus GetAttr(const char* name, DataType& value) const;
    graphStatus GetAttr(const char* name, std::vector<int64_t>& value) const;
    graphStatus GetAttr(const char* name, std::vector<float>& value) const;
    graphStatus GetAttr(const char* name, std::vector<bool>& value) const;
    graphStatus GetAttr(const char* name, std::vector<AscendString>& value) const;
    graphStatus GetAttr(const char* name, std::vector<std::string>& value) const;
    graphStatus GetAttr(const char* name, std::vector<Tensor>& value) const;
    graphStatus GetAttr(const char* name, std::vector<DataType>& value) const;
    graphStatus GetAttr(const char* name, std::vector<std::vector<int64_t>>& value) const;

 protected:
    /* The macros of operator_reg.h call these while an operator is constructed. */
    void DeclareInput(const char* name);
    void DeclareOptionalInput(const char* name);
    void DeclareOutput(const char* name);
    void DeclareRequiredAttr(const char* name);
    /* Declares count inputs: name0, name1, ... If isPushBack is false they come before all other
     * inputs. */
    void DeclareDynamicInputs(const char* name, uint32_t count, bool isPushBack);
    void DeclareDynamicOutputs(const char* name, uint32_t count);
    /* Links one input of a dynamic input; srcOutput is null if src has only one output. */
    void SetDynamicInput(const char* name, uint32_t index, const Operator& src,
                         const char* srcOutput);

 private:
    friend class advstep::graph::OperatorAccess;

    advstep::graph::OperatorNode* node_;
};

}  // namespace ge

#endif  // ADVSTEP_GRAPH_OPERATOR_H_
