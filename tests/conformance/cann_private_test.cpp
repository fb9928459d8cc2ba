// SPDX-License-Identifier: Apache-2.0
// Small functions of the prefix that no public header declares: securec, libmmpa, the log, the
// profiler. tests/lint/check_cann_names.py calls those that only refuse.

#include <gtest/gtest.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <cerrno>
#include <cstdarg>
#include <cstdint>
#include <cstring>
#include <map>
#include <string>

#include "acl/acl.h"
#include "support/runtime_test.h"
#include "support/stderr_capture.h"

extern "C" {
int memcpy_s(void* dest, size_t destMax, const void* src, size_t count);
int memmove_s(void* dest, size_t destMax, const void* src, size_t count);
int memset_s(void* dest, size_t destMax, int c, size_t count);
int strcpy_s(char* dest, size_t destMax, const char* src);
int strncpy_s(char* dest, size_t destMax, const char* src, size_t count);
int strcat_s(char* dest, size_t destMax, const char* src);
int strncat_s(char* dest, size_t destMax, const char* src, size_t count);
char* strtok_s(char* token, const char* delimiters, char** context);
int sprintf_s(char* dest, size_t destMax, const char* format, ...);
int snprintf_s(char* dest, size_t destMax, size_t count, const char* format, ...);
int snprintf_truncated_s(char* dest, size_t destMax, const char* format, ...);
int vsprintf_s(char* dest, size_t destMax, const char* format, std::va_list arguments);
int32_t mmGetTid(void);
int32_t mmGetPid(void);
int32_t mmGetErrorCode(void);
int32_t CheckLogLevel(int32_t module, int32_t level);
void DlogRecord(int32_t module, int32_t level, const char* format, ...);
void* _ZN12ErrorManager11GetInstanceEv(void);
const char* const* _ZN12ErrorManager12GetLogHeaderEv(void* manager);
aclError aclprofInit(const char* path, size_t length);
void* aclprofCreateConfig(uint32_t* devices, uint32_t number, int32_t metrics, const void* events,
                          uint64_t types);
aclError aclprofDestroyConfig(const void* config);
aclError aclprofStart(const void* config);
aclError aclprofStop(const void* config);
aclError aclprofFinalize(void);
aclError aclprofGetSupportedFeatures(size_t* size, void** features);
}

namespace ge {
class StatusFactory {
 public:
    static StatusFactory* Instance();
    std::map<uint32_t, std::string> texts;
};
}  // namespace ge

namespace {

using namespace support;

constexpr int kNullReset = 150;
constexpr int kRangeReset = 162;
constexpr int kOverlapReset = 182;

TEST(SecureMemory, CopiesAndTheirCodes) {
    char to[8] = "1234567";
    EXPECT_EQ(memcpy_s(to, sizeof to, "ab", 3), 0);
    EXPECT_STREQ(to, "ab");
    EXPECT_EQ(memcpy_s(to, sizeof to, to, 3), 0);
    EXPECT_EQ(memcpy_s(to, 0, "ab", 0), ERANGE);
    EXPECT_EQ(memcpy_s(to, SIZE_MAX, "ab", 1), ERANGE);
    EXPECT_EQ(memcpy_s(nullptr, 8, "ab", 1), EINVAL);
    EXPECT_STREQ(to, "ab");
    EXPECT_EQ(memcpy_s(to, sizeof to, to + 1, 3), kOverlapReset);
    EXPECT_EQ(to[0], '\0');
    std::memcpy(to, "1234567", 8);
    EXPECT_EQ(memcpy_s(to, sizeof to, "123456789", 9), kRangeReset);
    EXPECT_EQ(to[7] + to[0], 0);
    std::memcpy(to, "1234567", 8);
    EXPECT_EQ(memcpy_s(to, sizeof to, nullptr, 1), kNullReset);
    EXPECT_EQ(to[0], '\0');
    std::memcpy(to, "1234567", 8);
    EXPECT_EQ(memmove_s(to, sizeof to, to + 2, 6), 0);
    EXPECT_STREQ(to, "34567");
    EXPECT_EQ(memset_s(to, sizeof to, 'x', 2), 0);
    EXPECT_STREQ(to, "xx567");
    EXPECT_EQ(memset_s(to, 3, 'y', 4), kRangeReset);
    EXPECT_STREQ(to, "yyy67");
    EXPECT_EQ(memset_s(nullptr, 3, 'y', 1), EINVAL);
    EXPECT_EQ(memset_s(to, 0, 'y', 1), ERANGE);
}

TEST(SecureMemory, TextsAndTheirCodes) {
    char to[6] = "";
    EXPECT_EQ(strcpy_s(to, sizeof to, "12345"), 0);
    EXPECT_STREQ(to, "12345");
    EXPECT_EQ(strcpy_s(to, sizeof to, "123456"), kRangeReset);
    EXPECT_STREQ(to, "");
    EXPECT_EQ(strcpy_s(nullptr, sizeof to, "1"), EINVAL);
    EXPECT_EQ(strcpy_s(to, 0, "1"), ERANGE);
    EXPECT_EQ(strncpy_s(to, sizeof to, "123456789", 3), 0);
    EXPECT_STREQ(to, "123");
    EXPECT_EQ(strcpy_s(to, sizeof to, to), 0);
    EXPECT_EQ(strcat_s(to, sizeof to, "45"), 0);
    EXPECT_STREQ(to, "12345");
    EXPECT_EQ(strcpy_s(to, sizeof to, to + 1), kOverlapReset);
    EXPECT_EQ(strncat_s(to, sizeof to, "abc", 2), 0);
    EXPECT_STREQ(to, "ab");
    EXPECT_EQ(strcat_s(to, sizeof to, "cdef"), kRangeReset);
    EXPECT_STREQ(to, "");
    std::memset(to, 'x', sizeof to);
    EXPECT_EQ(strcat_s(to, sizeof to, "1"), kNullReset);
    EXPECT_EQ(strcpy_s(to, sizeof to, nullptr), kNullReset);
    char words[] = "a,b";
    char* rest = nullptr;
    EXPECT_STREQ(strtok_s(words, ",", &rest), "a");
    EXPECT_STREQ(strtok_s(nullptr, ",", &rest), "b");
    EXPECT_EQ(strtok_s(nullptr, ",", &rest), nullptr);
}

TEST(SecureMemory, Formats) {
    char to[6] = "";
    EXPECT_EQ(sprintf_s(to, sizeof to, "%d", 12345), 5);
    EXPECT_EQ(sprintf_s(to, sizeof to, "%d", 123456), -1);
    EXPECT_STREQ(to, "");
    EXPECT_EQ(snprintf_s(to, sizeof to, 3, "%d", 12345), -1);
    EXPECT_STREQ(to, "123");
    EXPECT_EQ(snprintf_s(to, sizeof to, 5, "%d", 123456), -1);
    EXPECT_EQ(snprintf_truncated_s(to, sizeof to, "%d", 1234567), 5);
    EXPECT_STREQ(to, "12345");
    EXPECT_EQ(sprintf_s(nullptr, sizeof to, "%d", 1), -1);
    EXPECT_EQ(sprintf_s(to, 0, "%d", 1), -1);
    EXPECT_EQ(sprintf_s(to, sizeof to, nullptr), -1);
    EXPECT_STREQ(to, "");
}

TEST(PrivateSystem, TheProcess) {
    EXPECT_EQ(mmGetTid(), static_cast<int32_t>(syscall(SYS_gettid)));
    EXPECT_EQ(mmGetPid(), static_cast<int32_t>(getpid()));
    errno = ENOENT;
    EXPECT_EQ(mmGetErrorCode(), ENOENT);
}

TEST(PrivateSystem, ObjectsThatClientsAskFor) {
    void* const manager = _ZN12ErrorManager11GetInstanceEv();
    ASSERT_NE(manager, nullptr);
    // A std::string of programs with _GLIBCXX_USE_CXX11_ABI=0: its length is in front of its bytes.
    const char* const header = *_ZN12ErrorManager12GetLogHeaderEv(manager);
    EXPECT_STREQ(header, "");
    EXPECT_EQ(reinterpret_cast<const size_t*>(header)[-3], 0U);
    ge::StatusFactory* const factory = ge::StatusFactory::Instance();
    factory->texts[7] = "seven";
    EXPECT_EQ(ge::StatusFactory::Instance()->texts.at(7), "seven");
    factory->texts.clear();
}

class PrivateLog : public EndedRuntimeTest {
 protected:
    ~PrivateLog() override {
        unsetenv("ADVANCE_STEP_LOG");
        EndRuntime();
    }
};

TEST_F(PrivateLog, LinesFollowTheSetting) {
    setenv("ADVANCE_STEP_LOG", "warn", 1);
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    const StderrCapture capture;
    EXPECT_EQ(CheckLogLevel(3, ACL_ERROR), 1);
    EXPECT_EQ(CheckLogLevel(3, ACL_WARNING), 1);
    EXPECT_EQ(CheckLogLevel(3, ACL_INFO), 0);
    EXPECT_EQ(CheckLogLevel(3, 16), 0);
    DlogRecord(3, ACL_ERROR, "a line with %d", 42);
    DlogRecord(3, ACL_INFO, "another line");
    DlogRecord(3, ACL_ERROR, nullptr);
    EXPECT_NE(capture.Text().find("module:3: DlogRecord: a line with 42"), std::string::npos);
    EXPECT_EQ(capture.Text().find("another line"), std::string::npos);
}

TEST_F(PrivateLog, AProfilerSaysOnceThatItRecordsNothing) {
    setenv("ADVANCE_STEP_LOG", "warn", 1);
    ASSERT_TRUE(IsOk(aclrtSetDevice(0)));
    const StderrCapture capture;
    EXPECT_TRUE(IsOk(aclprofInit("folder", 6)));
    uint32_t device = 0;
    void* const config = aclprofCreateConfig(&device, 1, 0, nullptr, 0);
    ASSERT_NE(config, nullptr);
    EXPECT_TRUE(IsOk(aclprofStart(config)));
    EXPECT_TRUE(IsOk(aclprofStop(config)));
    EXPECT_TRUE(IsOk(aclprofDestroyConfig(config)));
    EXPECT_TRUE(IsOk(aclprofFinalize()));
    const std::string text = capture.Text();
    const size_t line = text.find("aclprofInit: profiling is accepted and records nothing");
    ASSERT_NE(line, std::string::npos);
    EXPECT_EQ(text.find("records nothing", line + 40), std::string::npos);
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, aclprofStart(nullptr),
                        {"aclprofStart: profilerConfig is null"}));
    EXPECT_EQ(aclprofCreateConfig(nullptr, 1, 0, nullptr, 0), nullptr);
    EXPECT_TRUE(IsError(ACL_ERROR_API_NOT_SUPPORT, aclprofGetSupportedFeatures(nullptr, nullptr),
                        {"aclprofGetSupportedFeatures: there is no profiler"}));
}

}  // namespace
