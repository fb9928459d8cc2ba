// SPDX-License-Identifier: Apache-2.0
// What --help and --version of the tools print.

#pragma once

#include <string>

namespace CLI {
class App;
}

namespace serve {

/// Lets --help wrap what it says of each option, so that no line has more than 80 columns, and adds
/// --version, which prints the tool's name and the versions of the tool and of the library.
void AddHelpAndVersion(CLI::App& app, const std::string& name);

/// "serve 0.2.0 (libadvance_step 0.2.0)"
std::string VersionText(const std::string& name);

}  // namespace serve
