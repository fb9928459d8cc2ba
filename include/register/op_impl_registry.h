// SPDX-License-Identifier: Apache-2.0
/// IMPL_OP, for programs that register the host side of their operators.
#ifndef ADVSTEP_REGISTER_OP_IMPL_REGISTRY_H_
#define ADVSTEP_REGISTER_OP_IMPL_REGISTRY_H_

#include <cstdint>
#include <initializer_list>

namespace advstep {
namespace graph {

/// Takes the calls of a registration and keeps nothing: graph mode runs only the operators that it
/// has kernels for, and these need no functions of a program.
class IgnoredImpl {
 public:
    /// @cond Every call takes any arguments and returns the object.
    explicit IgnoredImpl(const char* /*type*/) {}

#define ADVSTEP_GRAPH_IGNORED_CALL(name)                   \
    template <class... Arguments>                          \
    IgnoredImpl& name(const Arguments&... /*arguments*/) { \
        return *this;                                      \
    }                                                      \
    IgnoredImpl& name(std::initializer_list<int32_t> /*indices*/) { return *this; }
    ADVSTEP_GRAPH_IGNORED_CALL(InferShape)
    ADVSTEP_GRAPH_IGNORED_CALL(InferShapeRange)
    ADVSTEP_GRAPH_IGNORED_CALL(InferDataType)
    ADVSTEP_GRAPH_IGNORED_CALL(InferFormat)
    ADVSTEP_GRAPH_IGNORED_CALL(Tiling)
    ADVSTEP_GRAPH_IGNORED_CALL(GenSimplifiedKey)
    ADVSTEP_GRAPH_IGNORED_CALL(InputsDataDependency)
    ADVSTEP_GRAPH_IGNORED_CALL(TilingInputsDataDependency)
    ADVSTEP_GRAPH_IGNORED_CALL(HostInputs)
    ADVSTEP_GRAPH_IGNORED_CALL(OutputShapeDependOnCompute)
    ADVSTEP_GRAPH_IGNORED_CALL(PrivateAttr)
#undef ADVSTEP_GRAPH_IGNORED_CALL

    template <class CompileInfo, class... Arguments>
    IgnoredImpl& TilingParse(const Arguments&... /*arguments*/) {
        return *this;
    }
    /// @endcond
};

}  // namespace graph
}  // namespace advstep

/// @cond
#define ADVSTEP_GRAPH_IMPL_NAME(type, number) ADVSTEP_GRAPH_IMPL_PASTE(type, number)
#define ADVSTEP_GRAPH_IMPL_PASTE(type, number) advstepImplOf##type##_##number
/// @endcond

/// Registers the functions of an operator. Any calls of IgnoredImpl may follow:
/// IMPL_OP(Add).InferShape(function).Tiling(function);
#define IMPL_OP(type)                                                              \
    [[maybe_unused]] static ::advstep::graph::IgnoredImpl ADVSTEP_GRAPH_IMPL_NAME( \
        type, __COUNTER__) = ::advstep::graph::IgnoredImpl(#type)
/// IMPL_OP under the name for the inference of shapes.
#define IMPL_OP_INFERSHAPE(type) IMPL_OP(type)
/// IMPL_OP under the name for tiling.
#define IMPL_OP_OPTILING(type) IMPL_OP(type)

#endif  // ADVSTEP_REGISTER_OP_IMPL_REGISTRY_H_
