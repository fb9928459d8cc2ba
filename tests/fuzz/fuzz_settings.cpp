// SPDX-License-Identifier: Apache-2.0
// aclInit with any bytes as its configuration file and as settings in the environment: a documented
// code, a message when it fails, and the settings when it does not.
//
// What stands before the first NUL is the file; after it are NAME=value of the environment, a NUL
// between them, NAME without ADVANCE_STEP_.
#include <algorithm>
#include <vector>

#include "fuzz/fuzz_machine.h"
#include "fuzz/temporary_file.h"

extern char** environ;

namespace {

// Sets the variables, and unsets those of the run before.
class Environment {
 public:
    void Set(const std::string& name, const std::string& value) {
        FUZZ_REQUIRE(setenv(name.c_str(), value.c_str(), 1) == 0);
        names_.push_back(name);
    }
    ~Environment() {
        for (const std::string& name : names_) {
            unsetenv(name.c_str());
        }
    }

 private:
    std::vector<std::string> names_;
};

void SetAll(std::string text, Environment* environment) {
    while (!text.empty()) {
        const size_t end = std::min(text.find('\0'), text.size());
        const std::string one = text.substr(0, end);
        text.erase(0, end + 1);
        const size_t equals = one.find('=');
        if (equals != std::string::npos) {
            environment->Set("ADVANCE_STEP_" + one.substr(0, equals), one.substr(equals + 1));
        }
    }
}

}  // namespace

extern "C" int fuzz_settings(const uint8_t* bytes, size_t size) {
    static const TemporaryFile file("fuzz_settings.json");
    static const TemporaryFile trace("fuzz_trace.json");
    const std::string text(reinterpret_cast<const char*>(bytes), size);
    const size_t end = std::min(text.find('\0'), size);
    file.Write(bytes, end);
    Environment environment;
    if (end < size) {
        SetAll(text.substr(end + 1), &environment);
    }
    // The environment wins: no input names the file that is written.
    environment.Set("ADVANCE_STEP_TRACE", trace.Path());
    switch (aclInit(file.Path().c_str())) {
        case ACL_SUCCESS: {
            FUZZ_REQUIRE(aclrtGetSocName() != nullptr);
            if (const char* soc = std::getenv("ADVANCE_STEP_SOC")) {
                FUZZ_REQUIRE(std::string(aclrtGetSocName()) == soc);
            }
            uint32_t devices = 0;
            FUZZ_REQUIRE(aclrtGetDeviceCount(&devices) == ACL_SUCCESS);
            if (const char* wanted = std::getenv("ADVANCE_STEP_DEVICES")) {
                FUZZ_REQUIRE(std::strtoul(wanted, nullptr, 10) == devices);
            }
            FUZZ_REQUIRE(aclFinalize() == ACL_SUCCESS);
            return 0;
        }
        case ACL_ERROR_INTERNAL_ERROR:  // "defaultDevice" names no device
            FUZZ_REQUIRE(std::string(aclGetRecentErrMsg()).find("default") != std::string::npos);
            return 0;
        case ACL_ERROR_PARSE_FILE:
        case ACL_ERROR_FILE_ATTR_INVALID:
            FUZZ_REQUIRE(aclGetRecentErrMsg() != nullptr);
            return 0;
        default:
            FUZZ_REQUIRE(!"a documented code");
            return 0;
    }
}
