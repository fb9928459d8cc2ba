// SPDX-License-Identifier: Apache-2.0
// Settings of the emulated machine for the length of one scope.
#ifndef ADVANCE_STEP_TESTS_SUPPORT_SETTINGS_H_
#define ADVANCE_STEP_TESTS_SUPPORT_SETTINGS_H_

#include <stdlib.h>
#include <unistd.h>

#include <fstream>
#include <map>
#include <string>

#include "acl/acl.h"

namespace support {

using Settings = std::map<std::string, std::string>;

// Every ADVANCE_STEP_* variable of the environment.
inline Settings ReadEnvironment() {
    Settings found;
    const std::string prefix = "ADVANCE_STEP_";
    for (char** entry = environ; *entry != nullptr; ++entry) {
        const std::string text = *entry;
        const size_t equals = text.find('=');
        if (text.compare(0, prefix.size(), prefix) == 0 && equals != std::string::npos) {
            found[text.substr(0, equals)] = text.substr(equals + 1);
        }
    }
    return found;
}

// ADVANCE_STEP_TEST_GUARD of the test's own environment: every runtime of the test is guarded so,
// unless the test says otherwise.
inline const std::string& TestGuard() {
    static const std::string guard = [] {
        const char* text = getenv("ADVANCE_STEP_TEST_GUARD");
        return std::string(text != nullptr ? text : "");
    }();
    return guard;
}

// Settings of the sanitizer for every runtime of the test, unless the test says otherwise:
// ADVANCE_STEP_TEST_SANITIZE has the checks; _FILE and _ACTION behind it are the other settings.
inline const Settings& TestSanitizer() {
    static const Settings settings = [] {
        Settings read;
        for (const char* name : {"SANITIZE", "SANITIZE_FILE", "SANITIZE_ACTION"}) {
            const char* const text = getenv((std::string("ADVANCE_STEP_TEST_") + name).c_str());
            if (text != nullptr) {
                read[std::string("ADVANCE_STEP_") + name] = text;
            }
        }
        return read;
    }();
    return settings;
}

// Makes settings the only ADVANCE_STEP_* variables; the runtime reads them when it starts next.
inline void WriteEnvironment(const Settings& settings) {
    const std::string& guard = TestGuard();  // read before it is unset
    const Settings& sanitizer = TestSanitizer();
    for (const auto& [name, value] : ReadEnvironment()) {
        unsetenv(name.c_str());
    }
    for (const auto& [name, value] : settings) {
        setenv(name.c_str(), value.c_str(), 1);
    }
    if (!guard.empty()) {
        setenv("ADVANCE_STEP_GUARD", guard.c_str(), 0);
    }
    for (const auto& [name, value] : sanitizer) {
        setenv(name.c_str(), value.c_str(), 0);
    }
}

// Ends the runtime however it was started; needs an environment without bad values.
inline void EndRuntime() {
    if (aclFinalize() == ACL_ERROR_REPEAT_FINALIZE) {  // perhaps started by a device call
        aclInit(nullptr);
        aclFinalize();
    }
    aclGetRecentErrMsg();
    aclrtGetLastError(ACL_RT_THREAD_LEVEL);
}

// Ends the runtime and keeps exactly these variables set, until the end of the scope.
class EnvironmentGuard {
 public:
    explicit EnvironmentGuard(const Settings& settings) : before_(ReadEnvironment()) {
        WriteEnvironment({});
        EndRuntime();
        WriteEnvironment(settings);
    }
    EnvironmentGuard(const EnvironmentGuard&) = delete;
    EnvironmentGuard& operator=(const EnvironmentGuard&) = delete;
    ~EnvironmentGuard() {
        WriteEnvironment({});
        EndRuntime();
        WriteEnvironment(before_);
    }

 private:
    Settings before_;
};

// As EnvironmentGuard, and starts the runtime. Afterwards the runtime is ended.
class SettingsGuard {
 public:
    explicit SettingsGuard(const Settings& settings, const char* configPath = nullptr)
        : environment_(settings), status_(aclInit(configPath)) {}
    aclError Status() const { return status_; }

 private:
    EnvironmentGuard environment_;
    aclError status_;
};

// A file with the given text that goes with the scope.
class TempFile {
 public:
    explicit TempFile(const std::string& text) {
        char path[] = "/tmp/advance_step_test_XXXXXX";
        const int file = mkstemp(path);
        path_ = path;
        std::ofstream(path_) << text;
        close(file);
    }
    TempFile(const TempFile&) = delete;
    TempFile& operator=(const TempFile&) = delete;
    ~TempFile() { unlink(path_.c_str()); }
    const char* Path() const { return path_.c_str(); }

 private:
    std::string path_;
};

}  // namespace support

#endif  // ADVANCE_STEP_TESTS_SUPPORT_SETTINGS_H_
