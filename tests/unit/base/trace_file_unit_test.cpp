// SPDX-License-Identifier: Apache-2.0
// Tests of trace files: complete JSON at any time, wherever a write is cut, errors, pipes.

#include "src/base/trace_file.h"

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <unistd.h>

#include <algorithm>
#include <csignal>
#include <fstream>
#include <future>
#include <nlohmann/json.hpp>
#include <string>
#include <string_view>
#include <vector>

#include "acl/acl_base.h"
#include "support/settings.h"
#include "support/temp_pipe.h"
#include "support/watchdog.h"
#include "unit/status_check.h"

namespace {

// The writes to a place of a file, while a test wants them.
struct Written {
    std::string bytes;
    size_t place;
};
std::vector<Written>* writes = nullptr;

}  // namespace

// In place of the one of libc, for this whole program.
extern "C" ssize_t pwrite(int file, const void* bytes, size_t size, off_t place) {
    if (writes != nullptr) {
        writes->push_back(
            {std::string(static_cast<const char*>(bytes), size), static_cast<size_t>(place)});
    }
    return syscall(SYS_pwrite64, file, bytes, size, place);
}

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

// Whether a text is a trace of events that have only names. A parser would take a minute for all
// the texts of a test.
bool IsWhole(std::string_view text) {
    const auto take = [&text](std::string_view part) {
        text.remove_prefix(std::min(text.find_first_not_of(" \n"), text.size()));
        const bool found = text.substr(0, part.size()) == part;
        text.remove_prefix(found ? part.size() : 0);
        return found;
    };
    bool isWhole = take(R"({"displayTimeUnit":"ns","traceEvents":[)");
    if (isWhole && !take("]}")) {
        do {
            isWhole = take(R"({"name":")");
            text.remove_prefix(std::min(text.find('"'), text.size()));
            isWhole = isWhole && take("\"}");
        } while (isWhole && take(","));
        isWhole = isWhole && take("]}");
    }
    return isWhole && text.find_first_not_of(" \n") == text.npos;
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

// The kernel ends the write of a process that is killed before any page of the file.
TEST_F(TraceFileUnitTest, IsCompleteWhereverAWriteIsCut) {
    constexpr size_t kPage = 4096;
    std::vector<Written> seen;
    TraceFile file;
    writes = &seen;
    Status status = file.Open(path_.Path());
    for (size_t bytes = 0, i = 0; bytes < 6 * TraceFile::kBufferBytes && status.ok(); ++i) {
        const std::string event =
            R"({"name":")" + std::string(i * 37 % (kPage - 100), 'x') + R"("})";
        status = file.Append(event);
        bytes += event.size();
    }
    writes = nullptr;
    ASSERT_TRUE(unit::Succeeds(std::move(status)));
    std::string contents;
    size_t whole = 0;
    size_t cut = 0;
    bool wasWhole = false;
    for (const Written& write : seen) {
        for (size_t done = 0; done < write.bytes.size();) {
            const size_t place = write.place + done;
            const size_t size = std::min(write.bytes.size() - done, kPage - place % kPage);
            contents.resize(std::max(contents.size(), place + size), '\0');
            contents.replace(place, size, write.bytes, done, size);
            done += size;
            const bool isWhole = IsWhole(contents);
            EXPECT_TRUE(isWhole || wasWhole) << "no JSON for longer than between two writes";
            ++(isWhole ? whole : cut);
            wasWhole = isWhole;
        }
    }
    EXPECT_EQ(EventsIn(Read(path_.Path())), EventsIn(json::parse(contents, nullptr, false)));
    EXPECT_GT(whole, 6 * TraceFile::kBufferBytes / kPage);
    EXPECT_LE(cut, 3U) << "the tail moves seldom";
}

TEST_F(TraceFileUnitTest, AnEventMayBeLongerThanAPage) {
    TraceFile file;
    ASSERT_TRUE(unit::Succeeds(file.Open(path_.Path())));
    const std::string event = R"({"name":")" + std::string(100'000, 'x') + R"("})";
    for (int i = 0; i < 3; ++i) {
        ASSERT_TRUE(unit::Succeeds(file.Append(event)));
        ASSERT_TRUE(unit::Succeeds(file.Append(kEvent)));
        EXPECT_GT(EventsIn(Read(path_.Path())), static_cast<size_t>(i));
    }
    ASSERT_TRUE(unit::Succeeds(file.Close()));
    EXPECT_EQ(EventsIn(Read(path_.Path())), 6U);
}

TEST_F(TraceFileUnitTest, ThePathMayHaveTheProcessId) {
    const std::string path = std::string(path_.Path()) + ".%p.%p";
    const std::string id = std::to_string(getpid());
    const std::string named = std::string(path_.Path()) + "." + id + "." + id;
    TraceFile file;
    ASSERT_TRUE(unit::Succeeds(file.Open(path)));
    ASSERT_TRUE(unit::Succeeds(file.Close()));
    EXPECT_EQ(EventsIn(Read(named.c_str())), 0U);
    EXPECT_EQ(unlink(named.c_str()), 0);
}

// As on a full disk, in the middle of a write. The default of the signal would end this program.
TEST_F(TraceFileUnitTest, EndsWithWhatFits) {
    TraceFile file;
    ASSERT_TRUE(unit::Succeeds(file.Open(path_.Path())));
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const auto handler = std::signal(SIGXFSZ, SIG_DFL);
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
    EXPECT_GT(kept, 2 * TraceFile::kBufferBytes / (sizeof(kEvent) + 3)) << "blanks took the room";
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

TEST_F(TraceFileUnitTest, EndsWhenTheReaderOfAPipeLeaves) {
    const auto handler = std::signal(SIGPIPE, SIG_DFL);
    const support::TempPipe pipe;
    const int reader = open(pipe.Path(), O_RDONLY | O_NONBLOCK | O_CLOEXEC);
    TraceFile file;
    ASSERT_TRUE(unit::Succeeds(file.Open(pipe.Path())));
    close(reader);
    ASSERT_TRUE(unit::Succeeds(file.Append(kEvent)));
    EXPECT_TRUE(unit::FailsWith(ACL_ERROR_FAILURE, file.Close(), {pipe.Path(), "Broken pipe"}));
    EXPECT_FALSE(file.IsOpen());
    (void)std::signal(SIGPIPE, handler);
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
