// SPDX-License-Identifier: Apache-2.0
// Reads the settings file, which is JSON.

#include <fcntl.h>
#include <unistd.h>

#include <cstdio>
#include <memory>
#include <nlohmann/json.hpp>

#include "acl/acl_base.h"
#include "src/base/no_cancellation.h"
#include "src/base/open_file.h"
#include "src/base/settings.h"

namespace advstep {
namespace {

// Describes a value for a message. Lists and objects are described only by their kind, because
// their text would need stack in proportion to their depth.
std::string Describe(const nlohmann::json& value) {
    return value.is_array() ? "a list" : value.is_object() ? "an object" : value.dump();
}

// Reads {"defaultDevice": {"default_device": "0"}}, where "0" may also be the number 0. 500000: it
// is something else.
Status ReadDefaultDevice(const nlohmann::json& root, const std::string& path,
                         std::optional<std::string>* device) {
    const auto section = root.find("defaultDevice");
    if (section == root.end()) {
        return {};
    }
    if (!section->is_object()) {
        return Error(ACL_ERROR_INTERNAL_ERROR,
                     "\"defaultDevice\" in the file {} is {}; expected an object with "
                     "\"default_device\"",
                     path, Describe(*section));
    }
    const auto entry = section->find("default_device");
    if (entry == section->end() || (!entry->is_string() && !entry->is_number_integer())) {
        return Error(ACL_ERROR_INTERNAL_ERROR,
                     "\"default_device\" in the file {} is {}; expected a device number", path,
                     entry == section->end() ? "missing" : Describe(*entry));
    }
    *device = entry->is_string() ? entry->get<std::string>() : entry->dump();
    return {};
}

// Reads a file. 100003: the file cannot be read. 100006: it is no JSON object.
Status ReadJson(const char* argument, const std::string& path, nlohmann::json* root) {
    const auto unreadable = [&] {
        return Error(ACL_ERROR_INVALID_FILE,
                     "{} is \"{}\", which cannot be read; expected a JSON file", argument, path);
    };
    const NoCancellation noCancellation;
    const int descriptor = OpenFile(path.c_str(), O_RDONLY);
    const std::unique_ptr<std::FILE, int (*)(std::FILE*)> file(
        descriptor >= 0 ? fdopen(descriptor, "r") : nullptr, &std::fclose);
    if (file == nullptr) {
        if (descriptor >= 0) {
            (void)close(descriptor);
        }
        return unreadable();
    }
    *root = nlohmann::json::parse(file.get(), nullptr, false);
    if (std::ferror(file.get()) != 0) {  // a directory can be opened, but not read
        return unreadable();
    }
    return root->is_object()
               ? Status()
               : Error(ACL_ERROR_PARSE_FILE, "the file \"{}\" is {}; expected a JSON object", path,
                       root->is_discarded() ? "not JSON" : Describe(*root));
}

}  // namespace

Status CheckDumpFile(const std::string& path) {
    nlohmann::json root;
    ADVSTEP_RETURN_IF_ERROR(ReadJson("dumpCfgPath", path, &root));
    const auto section = root.find("dump");
    if (section == root.end() || !section->is_object()) {
        return Error(ACL_ERROR_INVALID_DUMP_CONFIG,
                     "\"dump\" in the file {} is {}; expected an object", path,
                     section == root.end() ? "missing" : Describe(*section));
    }
    return {};
}

Status ReadSettingsFile(const std::string& path, SettingsFile* contents) {
    nlohmann::json root;
    ADVSTEP_RETURN_IF_ERROR(ReadJson("configPath", path, &root));
    ADVSTEP_RETURN_IF_ERROR(ReadDefaultDevice(root, path, &contents->defaultDevice));
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
        contents->texts[name] = value.is_string() ? value.get<std::string>() : value.dump();
    }
    return {};
}

}  // namespace advstep
