// SPDX-License-Identifier: Apache-2.0
// Reads the settings file, which is JSON.

#include <fstream>
#include <nlohmann/json.hpp>

#include "acl/acl_base.h"
#include "src/base/settings.h"

namespace advstep {
namespace {

// Describes a value for a message. Lists and objects appear only by their kind, because printing
// them would use stack in proportion to their depth.
std::string Describe(const nlohmann::json& value) {
    return value.is_array() ? "a list" : value.is_object() ? "an object" : value.dump();
}

}  // namespace

Status ReadSettingsFile(const std::string& path, SettingTexts* texts) {
    std::ifstream file(path);
    // A directory can be opened but not read.
    if (!file || (file.peek() == std::ifstream::traits_type::eof() && file.bad())) {
        return Error(ACL_ERROR_INVALID_FILE,
                     "configPath is \"{}\", which cannot be read; expected a JSON file", path);
    }
    const nlohmann::json root = nlohmann::json::parse(file, nullptr, false);
    if (file.bad()) {
        return Error(ACL_ERROR_INVALID_FILE,
                     "configPath is \"{}\", which cannot be read; expected a JSON file", path);
    }
    if (root.is_discarded() || !root.is_object()) {
        return Error(ACL_ERROR_PARSE_FILE, "the file \"{}\" is not JSON; expected a JSON object",
                     path);
    }
    const auto section = root.find("advance_step");
    if (section == root.end()) {
        return {};
    }
    if (!section->is_object()) {
        return Error(ACL_ERROR_FILE_ATTR_INVALID,
                     "\"advance_step\" in the file {} is {}; expected an object", path,
                     Describe(*section));
    }
    for (const auto& [name, value] : section->items()) {
        if (!IsSettingName(name)) {
            return Error(ACL_ERROR_FILE_ATTR_INVALID,
                         "\"{}\" in the file {} is no setting; expected the name of an "
                         "ADVANCE_STEP_ variable",
                         name, path);
        }
        if (!value.is_string() && !value.is_number_integer()) {
            return Error(ACL_ERROR_FILE_ATTR_INVALID,
                         "{} in the file {} is {}; expected a string or a whole number", name, path,
                         Describe(value));
        }
        (*texts)[name] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    return {};
}

}  // namespace advstep
