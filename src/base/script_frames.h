// SPDX-License-Identifier: Apache-2.0
// The lines of a program in a language with an interpreter, as Python, for call stacks.

#pragma once

#include <cstddef>

namespace advstep {

/// Writes the frames of the interpreter that the calling thread is in, innermost first, as lines
/// without the end of the last one: "train.py:12 in step". Returns how many characters of `text`
/// it has written, at most `room`; 0: the thread is in no frame.
using ScriptFrames = size_t (*)(char* text, size_t room);

/// Sets the function that call stacks ask from now on; null: none.
void SetScriptFrames(ScriptFrames frames) noexcept;

/// Returns the lines for the calling thread, or null. The text lives for as long as the process,
/// and equal texts are one: equal addresses mean equal lines. It takes no lock.
const char* ScriptFramesHere() noexcept;

}  // namespace advstep
