// SPDX-License-Identifier: Apache-2.0
/// The library for C++17: objects that own their handles, and operators as function objects. The
/// interface is header-only, on top of the C interface; docs/cpp.md has a tour.
///
/// Every function that can fail has two forms. TryX() returns a Result<T>, which resembles
/// std::expected. X() returns T, or throws the same Error; it exists if exceptions are enabled. An
/// Error has the code that the C call returned and the library's message.
///
/// An object owns one handle. It can be moved, but not copied. A default-constructed or moved-from
/// object is empty; it may be destroyed or assigned to. A destructor ignores the code that its call
/// returns. The objects of a device must be destroyed before its last Device.
///
/// The interface makes the same calls as a C program. It allocates host memory only for the vectors
/// that Tensor::Download returns, for the copies of StepState, and when a call fails.
#ifndef ADVSTEP_ADVANCE_STEP_ADVANCE_STEP_HPP_
#define ADVSTEP_ADVANCE_STEP_ADVANCE_STEP_HPP_

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "advance_step/advance_step.hpp needs C++17 or later; C and older C++ have the other headers"
#endif

#include "advance_step/cpp/memory.hpp"
#include "advance_step/cpp/operators.hpp"
#include "advance_step/cpp/result.hpp"
#include "advance_step/cpp/runtime.hpp"
#include "advance_step/cpp/step_state.hpp"

#endif /* ADVSTEP_ADVANCE_STEP_ADVANCE_STEP_HPP_ */
