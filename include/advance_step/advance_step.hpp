/// The library for C++17: objects that clean up after themselves, and operators that can be called.
/// Header-only, on the C interface; docs/cpp.md has a tour.
///
/// Everything that can fail has two forms. TryX() returns a Result<T>, in the manner of
/// std::expected. X() returns T, and throws the same Error; it is there where exceptions are on.
/// An Error has the code that the C call returned and the library's message.
///
/// Objects own one handle each. They can be moved, not copied; an empty one, made by its default
/// constructor or moved from, may be destroyed or assigned to. What a destructor's call returns
/// is dropped. Objects of a device must go before the last Device of it.
///
/// No call is made beyond those that a C program would make, and nothing is allocated on the host
/// unless a call fails, but for the vectors that Tensor::Download returns.
#ifndef ADVSTEP_ADVANCE_STEP_ADVANCE_STEP_HPP_
#define ADVSTEP_ADVANCE_STEP_ADVANCE_STEP_HPP_

#if !defined(__cplusplus) || __cplusplus < 201703L
#error "advance_step/advance_step.hpp needs C++17 or later; C and older C++ have the other headers"
#endif

#include "advance_step/cpp/memory.hpp"
#include "advance_step/cpp/operators.hpp"
#include "advance_step/cpp/result.hpp"
#include "advance_step/cpp/runtime.hpp"

#endif  /* ADVSTEP_ADVANCE_STEP_ADVANCE_STEP_HPP_ */
