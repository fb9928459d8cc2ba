// SPDX-License-Identifier: Apache-2.0
// The standard streams of a program whose files must never be taken for one of them.

#pragma once

#include <string>

namespace serve {

/// Before anything is opened: a standard stream that is closed becomes one on which every transfer
/// fails, so that no file gets its number; a reader that goes away, or a limit of the sizes of
/// files, is an error of the write, and ends nothing by itself.
/// @param program  the name before messages, "serve"; must outlive the process
void PrepareStandardStreams(const char* program);

/// Writes "PROGRAM: TEXT" to standard error. There is nobody to tell that it cannot be written.
void Tell(const std::string& text) noexcept;

/// Writes what standard output still holds.
/// @throws std::runtime_error  not all that was printed has been written
void FlushStandardOutput();

}  // namespace serve
