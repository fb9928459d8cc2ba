// SPDX-License-Identifier: Apache-2.0
// The two phases of every operator of CANN: the generated functions of the library call them.

#pragma once

#include <cstdint>
#include <type_traits>

#include "acl/acl_base.h"
#include "aclnn/acl_meta.h"
#include "src/operators/entry/values.h"

namespace advstep_operators {

/// An argument of a call, as the caller passes it.
union Argument {
    const void* object;
    int64_t integer;
    double real;

    template <typename T>
    Argument(const T* pointer) : object(pointer) {}
    Argument(double value) : real(value) {}
    Argument(float value) : real(static_cast<double>(value)) {}
    template <typename T, typename = std::enable_if_t<std::is_integral_v<T> || std::is_enum_v<T>>>
    Argument(T value) : integer(static_cast<int64_t>(value)) {}
};

/// Phase one: reads the arguments by value, checks them, and makes an executor. A call equal to an
/// earlier one of the thread, apart from addresses, finds its plan again.
aclnnStatus PhaseOne(const FunctionSpec& function, const Argument* arguments,
                     uint64_t* workspaceSize, aclOpExecutor** executor) noexcept;

/// Phase two: queues the work.
aclnnStatus PhaseTwo(const FunctionSpec& function, void* workspace, uint64_t workspaceSize,
                     aclOpExecutor* executor, aclrtStream stream) noexcept;

}  // namespace advstep_operators
