// SPDX-License-Identifier: Apache-2.0
// What the calls of CANN's operators and the kernels that compute them know of each other: plain
// data, because two libraries share it.

#pragma once

#include <cstddef>
#include <cstdint>

#include "advance_step/host_call.h"

namespace advstep_operators {

/// The type of an argument in the header of its function.
enum class Kind : uint8_t {
    kTensor,
    kTensorList,
    kScalar,
    kScalarList,
    kIntArray,
    kFloatArray,
    kBoolArray,
    kInt,       // an integer of any width
    kReal,      // float or double
    kFlag,      // bool
    kDataType,  // aclDataType
    kText,      // a text that ends with 0
    kResult,    // a pointer through which the function returns a number
};

struct ArgumentSpec {
    const char* name;  // as the header spells it
    Kind kind;
    bool optional;  // a call may pass null
    AdvStepTensorAccess access;
};

/// A function of two phases.
struct FunctionSpec {
    const char* call;  // the name of phase two
    const ArgumentSpec* arguments;
    uint32_t argumentCount;
    int32_t kernel;  // its number among the kernels; -1: this device does not compute it
};

/// The value of an argument. Pointers point into the memory of the plan.
struct Value {
    bool isNull = true;
    uint32_t count = 0;  // of an array's values, a list's members or a text's characters
    union {
        int64_t integer = 0;
        double real;
        const int64_t* integers;
        const float* reals;
        const bool* flags;
        const char* text;
        const AdvStepScalarValue* scalars;  // of a scalar one
        const int32_t* tensors;  // the place of each member among the tensors of the call, -1: null
    };
};

/// The values of one call.
struct CallValues {
    const FunctionSpec* function;
    const Value* values;  // an entry for each argument
};

/// The dtype and shape of a result.
struct ResultShape {
    static constexpr int64_t kMostDims = 8;

    aclDataType dataType = ACL_DT_UNDEFINED;  // still: there is no result
    int64_t rank = 0;
    int64_t dims[kMostDims] = {};
};

/// The kernels of the module that computes. All functions may be called from several threads.
struct Kernels {
    static constexpr uint32_t kVersion = 2;
    static constexpr char kSymbol[] = "advstepOperatorKernels";  // of a function that returns them

    uint32_t version;
    uint32_t count;
    /// Checks a call. *prepared is what the runs need. A failure returns the code of phase one.
    /// `tensors` have no addresses, and they and the values stay until release.
    int32_t (*prepare)(const CallValues* call, const AdvStepTensorView* tensors,
                       uint32_t tensorCount, void** prepared, char* message, size_t messageSize);
    /// Sets the entries of `results` that are outputs of the call, whose own shapes do not count.
    /// `results` has an entry for each argument. A failure returns the code of phase one.
    int32_t (*infer)(const CallValues* call, const AdvStepTensorView* tensors, ResultShape* results,
                     char* message, size_t messageSize);
    /// Computes. A failure returns the code of the task, and no tensor has been written.
    int32_t (*run)(const void* prepared, const AdvStepHostRun* run);
    void (*release)(void* prepared);
};

}  // namespace advstep_operators
