// SPDX-License-Identifier: Apache-2.0
// Work in a process of its own.

#pragma once

#include <functional>
#include <string>

namespace bench {

/// Runs `work` in a child process and returns the text that it returns. Rows leave threads, memory
/// in small pieces and habits of streams behind, which would be the next row's. The caller has no
/// threads yet. Ends the program with a message if the child fails.
std::string InOwnProcess(const std::function<std::string()>& work);

}  // namespace bench
