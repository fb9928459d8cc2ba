// SPDX-License-Identifier: Apache-2.0
// Tests of trace files: complete JSON at any time, errors, pipes.

#include "src/base/trace_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include <csignal>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>

#include "acl/acl_base.h"
#include "support/settings.h"
#include "support/temp_pipe.h"
#include "support/watchdog.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

using nlohmann::json;

constexpr char kEvent[] = R"({"name":"x"})";

json Read(const char* path) {
    std::ifstream file(path);
    return json::parse(file, nullptr, false);
}

size_t EventsIn(const json& root) {
    if (!root.is_object()) {
        ADD_FAILURE() << "not a whole JSON object";
        return 0;
    }
    return root.at("traceEvents").size();
}

class TraceFileUnitTest : public testing::Test {
 protected:
    // Until more than a buffer has been given.
    static size_t Fill(TraceFile* file) {
        size_t count = 0;
        for (size_t bytes = 0; bytes < 3 * TraceFile::kBufferBytes; bytes += sizeof(kEvent)) {
            EXPECT_TRUE(unit::Succeeds(file->Append(kEvent)));
            ++count;
        }
        return count;
    }

    support::Watchdog watchdog_{std::chrono::seconds(60)};
    support::TempFile path_{"something longer than an empty trace, that was there before it"};
};

TEST_F(TraceFileUnitTest, IsCompleteFromTheBeginning) {
    TraceFile file;
    ASSERT_TRUE(unit::Succeeds(file.Open(path_.Path())));
    EXPECT_EQ(EventsIn(Read(path_.Path())), 0U);
    ASSERT_TRUE(unit::Succeeds(file.Append(kEvent)));
    ASSERT_TRUE(unit::Succeeds(file.Append(kEvent)));
    EXPECT_EQ(EventsIn(Read(path_.Path())), 0U) << "few events are kept";
    ASSERT_TRUE(unit::Succeeds(file.Close()));
    EXPECT_EQ(EventsIn(Read(path_.Path())), 2U);
    EXPECT_TRUE(unit::Succeeds(file.Close())) << "nothing is open";
    EXPECT_TRUE(unit::Succeeds(file.Append(kEvent)));
    EXPECT_EQ(EventsIn(Read(path_.Path())), 2U);
}

TEST_F(TraceFileUnitTest, IsCompleteWhileItGrows) {
    TraceFile file;
    ASSERT_TRUE(unit::Succeeds(file.Open(path_.Path())));
    const size_t given = Fill(&file);
    const size_t written = EventsIn(Read(path_.Path()));
    EXPECT_GT(written, given / 2);
    EXPECT_LE(written, given);
    ASSERT_TRUE(unit::Succeeds(file.Close()));
    EXPECT_EQ(EventsIn(Read(path_.Path())), given);
}

TEST_F(TraceFileUnitTest, OpeningAgainBeginsAnew) {
    TraceFile file;
    ASSERT_TRUE(unit::Succeeds(file.Open(path_.Path())));
    (void)Fill(&file);
    ASSERT_TRUE(unit::Succeeds(file.Open(path_.Path())));
    ASSERT_TRUE(unit::Succeeds(file.Append(kEvent)));
    ASSERT_TRUE(unit::Succeeds(file.Close()));
    EXPECT_EQ(EventsIn(Read(path_.Path())), 1U);
}

TEST_F(TraceFileUnitTest, SaysWhyItCannotBeOpened) {
    TraceFile file;
    EXPECT_TRUE(unit::FailsWith(ACL_ERROR_FILE_ATTR_INVALID, file.Open("/no-such-folder/x"),
                                {"/no-such-folder/x", "No such file or directory"}));
    EXPECT_FALSE(file.IsOpen());
    EXPECT_TRUE(unit::FailsWith(ACL_ERROR_FILE_ATTR_INVALID, file.Open("/dev/full"),
                                {"/dev/full", "No space left on device"}));
    EXPECT_FALSE(file.IsOpen());
}

// As on a full disk, in the middle of a write.
TEST_F(TraceFileUnitTest, EndsWithWhatFits) {
    TraceFile file;
    ASSERT_TRUE(unit::Succeeds(file.Open(path_.Path())));
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_IGN);
    rlimit limit = before;
    limit.rlim_cur = TraceFile::kBufferBytes * 5 / 2;
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &limit), 0);
    Status status;
    for (int i = 0; i < 100000 && status.ok(); ++i) {
        status = file.Append(kEvent);
    }
    setrlimit(RLIMIT_FSIZE, &before);
    (void)std::signal(SIGXFSZ, handler);
    EXPECT_TRUE(
        unit::FailsWith(ACL_ERROR_FAILURE, std::move(status), {path_.Path(), "File too large"}));
    EXPECT_FALSE(file.IsOpen());
    const size_t kept = EventsIn(Read(path_.Path()));
    EXPECT_GT(kept, TraceFile::kBufferBytes / sizeof(kEvent));
    EXPECT_LT(kept, 100000U);
    EXPECT_TRUE(unit::Succeeds(file.Append(kEvent)));
    EXPECT_TRUE(unit::Succeeds(file.Close()));
    EXPECT_EQ(EventsIn(Read(path_.Path())), kept);
}

TEST_F(TraceFileUnitTest, APipeWithoutAReaderIsRefused) {
    const support::TempPipe pipe;
    TraceFile file;
    EXPECT_TRUE(unit::FailsWith(ACL_ERROR_FILE_ATTR_INVALID, file.Open(pipe.Path()),
                                {pipe.Path(), "a pipe without a reader"}));
}

TEST_F(TraceFileUnitTest, APipeGetsEachByteOnce) {
    const support::TempPipe pipe;
    const int reader = open(pipe.Path(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    TraceFile file;
    ASSERT_TRUE(unit::Succeeds(file.Open(pipe.Path())));
    std::future<json> read = std::async(std::launch::async, [&] { return Read(pipe.Path()); });
    const size_t given = Fill(&file);  // more than a pipe holds, so it waits for the reader
    ASSERT_TRUE(unit::Succeeds(file.Close()));
    EXPECT_EQ(EventsIn(read.get()), given);
    close(reader);
}

}  // namespace
}  // namespace advstep
