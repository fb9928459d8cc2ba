// SPDX-License-Identifier: Apache-2.0
/// REG_OP, which defines a class for a type of operators.
///
///     namespace ge {
///     REG_OP(Type)
///         .INPUT(name, types)
///         .OPTIONAL_INPUT(name, types)
///         .OUTPUT(name, types)
///         .ATTR(name, Kind, default)
///         .REQUIRED_ATTR(name, Kind)
///         .OP_END_FACTORY_REG(Type)
///     }
///
/// The text above defines ge::op::Type, with ge::Operator as its public base, and registers it. Its
/// constructors take a name as const char*, std::string or ge::AscendString, or no name; they
/// declare the inputs, outputs and attributes in the order written. `types` is never evaluated.
/// Kind is one of Int, Float, Bool, String, AscendString, Tensor, Type and their lists ListInt,
/// ListFloat, ListBool, ListString, ListAscendString, ListType, ListTensor, ListListInt.
///
/// The class has these functions, where NAME is the name of an input, output or attribute:
///   - for an input: set_input_NAME, set_input_NAME_by_name, get_input_desc_NAME,
///     update_input_desc_NAME and name_in_NAME
///   - for an output: get_output_desc_NAME, update_output_desc_NAME and name_out_NAME
///   - for an attribute: set_attr_NAME, get_attr_NAME and name_attr_NAME
///
/// If a required attribute is not set, its getter returns zero or an empty value, and
/// GEGetErrorMsgV2 returns a message. Setters return the operator.
///
/// DATATYPE compiles too, without an effect. A DYNAMIC_OUTPUT has create_dynamic_output_NAME(num). A
/// DYNAMIC_INPUT has create_dynamic_input_NAME(num, isPushBack), which appends num inputs or puts
/// them before all others, and set_dynamic_input_NAME(index, source). A link without
/// create_dynamic_input_NAME, or beyond its number, is a fault, which Session::AddGraph reports.
#ifndef ADVSTEP_GRAPH_OPERATOR_REG_H_
#define ADVSTEP_GRAPH_OPERATOR_REG_H_

#include <cstdint>
#include <string>
#include <type_traits>
#include <vector>

#include "ascend_string.h"
#include "error_codes.h"
#include "operator.h"
#include "operator_factory.h"
#include "tensor.h"
#include "types.h"

/* A chain has a dot before each macro except the first. So every macro ends inside a function of
 * the class, after `(*this)`, and the next macro begins with a call of the function that it defines
 * next. Each of these functions declares one input, output or attribute and calls the next
 * function; the constructors call the first. No macro may contain names that programs define as
 * macros, such as SUCCESS (ge_api_error_codes.h). */

#define REG_OP(x)                                                                              \
    namespace op {                                                                             \
    class x : public ::ge::Operator {                                                          \
        using AdvstepSelf = x;                                                                 \
                                                                                               \
     public:                                                                                   \
        x() : ::ge::Operator(#x) { advstepDeclare(); }                                         \
        explicit x(const char* name) : ::ge::Operator(name, #x) { advstepDeclare(); }          \
        explicit x(const std::string& name) : ::ge::Operator(name.c_str(), #x) {               \
            advstepDeclare();                                                                  \
        }                                                                                      \
        explicit x(const ::ge::AscendString& name) : ::ge::Operator(name, #x) {                \
            advstepDeclare();                                                                  \
        }                                                                                      \
                                                                                               \
     private:                                                                                  \
        void advstepDeclare() {                                                                \
            (*this)

#define INPUT(n, ...) ADVSTEP_GRAPH_INPUT(n, DeclareInput)

#define OPTIONAL_INPUT(n, ...) ADVSTEP_GRAPH_INPUT(n, DeclareOptionalInput)

#define ADVSTEP_GRAPH_INPUT(n, declare)                                                        \
            advstepDeclareInput_##n();                                                         \
        }                                                                                      \
                                                                                               \
     public:                                                                                   \
        static std::string name_in_##n() { return #n; }                                        \
        static void name_in_##n(::ge::AscendString& name) { name = ::ge::AscendString(#n); }   \
        AdvstepSelf& set_input_##n(::ge::Operator& src) {                                      \
            SetInput(#n, src);                                                                 \
            return *this;                                                                      \
        }                                                                                      \
        AdvstepSelf& set_input_##n(::ge::Operator& src, uint32_t index) {                      \
            SetInput(#n, src, index);                                                          \
            return *this;                                                                      \
        }                                                                                      \
        AdvstepSelf& set_input_##n(::ge::Operator& src, const std::string& output) {           \
            SetInput(#n, src, output.c_str());                                                 \
            return *this;                                                                      \
        }                                                                                      \
        AdvstepSelf& set_input_##n##_by_name(::ge::Operator& src, const char* output) {        \
            SetInput(#n, src, output);                                                         \
            return *this;                                                                      \
        }                                                                                      \
        ::ge::TensorDesc get_input_desc_##n() const { return GetInputDescByName(#n); }         \
        ::ge::graphStatus update_input_desc_##n(const ::ge::TensorDesc& desc) {                \
            return UpdateInputDesc(#n, desc);                                                  \
        }                                                                                      \
                                                                                               \
     private:                                                                                  \
        void advstepDeclareInput_##n() {                                                       \
            declare(#n);                                                                       \
            (*this)

#define OUTPUT(n, ...)                                                                         \
            advstepDeclareOutput_##n();                                                        \
        }                                                                                      \
                                                                                               \
     public:                                                                                   \
        static std::string name_out_##n() { return #n; }                                       \
        static void name_out_##n(::ge::AscendString& name) { name = ::ge::AscendString(#n); }  \
        ::ge::TensorDesc get_output_desc_##n() const { return GetOutputDescByName(#n); }       \
        ::ge::graphStatus update_output_desc_##n(const ::ge::TensorDesc& desc) {               \
            return UpdateOutputDesc(#n, desc);                                                 \
        }                                                                                      \
                                                                                               \
     private:                                                                                  \
        void advstepDeclareOutput_##n() {                                                      \
            DeclareOutput(#n);                                                                 \
            (*this)

/* The default is variadic because it may contain commas. */
#define ATTR(n, Kind, ...)                                                                     \
            advstepDeclareAttr_##n();                                                          \
        }                                                                                      \
        ADVSTEP_GRAPH_ATTR_CALLS(n, Kind)                                                      \
        void advstepDeclareAttr_##n() {                                                        \
            const Op##Kind advstepDefault = __VA_ARGS__;                                       \
            SetAttr(#n, advstepDefault);                                                       \
            (*this)

#define REQUIRED_ATTR(n, Kind)                                                                 \
            advstepDeclareAttr_##n();                                                          \
        }                                                                                      \
        ADVSTEP_GRAPH_ATTR_CALLS(n, Kind)                                                      \
        void advstepDeclareAttr_##n() {                                                        \
            DeclareRequiredAttr(#n);                                                           \
            (*this)

#define ADVSTEP_GRAPH_ATTR_CALLS(n, Kind)                                                      \
                                                                                               \
     public:                                                                                   \
        static std::string name_attr_##n() { return #n; }                                      \
        static void name_attr_##n(::ge::AscendString& name) { name = ::ge::AscendString(#n); } \
        AdvstepSelf& set_attr_##n(const Op##Kind& value) {                                     \
            SetAttr(#n, value);                                                                \
            return *this;                                                                      \
        }                                                                                      \
        Op##Kind get_attr_##n() const {                                                        \
            Op##Kind value{};                                                                  \
            GetAttr(#n, value);                                                                \
            return value;                                                                      \
        }                                                                                      \
                                                                                               \
     private:

#define DATATYPE(t, ...)                                                                       \
            advstepDeclareDataType_##t();                                                      \
        }                                                                                      \
        void advstepDeclareDataType_##t() {                                                    \
            (*this)

#define DYNAMIC_INPUT(n, ...)                                                                  \
            advstepDeclareInput_##n();                                                         \
        }                                                                                      \
                                                                                               \
     public:                                                                                   \
        AdvstepSelf& create_dynamic_input_##n(uint32_t num, bool isPushBack = true) {          \
            DeclareDynamicInputs(#n, num, isPushBack);                                         \
            return *this;                                                                      \
        }                                                                                      \
        AdvstepSelf& set_dynamic_input_##n(uint32_t dstIndex, ::ge::Operator& src) {           \
            SetDynamicInput(#n, dstIndex, src, nullptr);                                       \
            return *this;                                                                      \
        }                                                                                      \
        AdvstepSelf& set_dynamic_input_##n(uint32_t dstIndex, ::ge::Operator& src,             \
                                           const char* output) {                               \
            SetDynamicInput(#n, dstIndex, src, output == nullptr ? "" : output);               \
            return *this;                                                                      \
        }                                                                                      \
                                                                                               \
     private:                                                                                  \
        void advstepDeclareInput_##n() {                                                       \
            (*this)

#define DYNAMIC_OUTPUT(n, ...)                                                                 \
            advstepDeclareOutput_##n();                                                        \
        }                                                                                      \
                                                                                               \
     public:                                                                                   \
        AdvstepSelf& create_dynamic_output_##n(uint32_t count) {                               \
            DeclareDynamicOutputs(#n, count);                                                  \
            return *this;                                                                      \
        }                                                                                      \
        ::ge::graphStatus update_dynamic_output_desc_##n(uint32_t index,                       \
                                                         const ::ge::TensorDesc& desc) {       \
            return UpdateOutputDesc((#n + std::to_string(index)).c_str(), desc);               \
        }                                                                                      \
                                                                                               \
     private:                                                                                  \
        void advstepDeclareOutput_##n() {                                                      \
            (*this)

#define OP_END_FACTORY_REG(x)                                                                  \
            advstepDeclareEnd();                                                               \
        }                                                                                      \
        void advstepDeclareEnd() {}                                                            \
        static_assert(std::is_same<AdvstepSelf, x>::value,                                     \
                      "REG_OP and OP_END_FACTORY_REG name different types");                   \
    };                                                                                         \
    }                                                                                          \
    static const ::ge::OperatorCreatorRegister advstepRegister##x(                             \
        #x, [](const ::ge::AscendString& name) -> ::ge::Operator { return op::x(name); });

#endif  // ADVSTEP_GRAPH_OPERATOR_REG_H_
