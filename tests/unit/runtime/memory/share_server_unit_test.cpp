// SPDX-License-Identifier: Apache-2.0
// Exports, and processes that connect to their sockets and do not belong there.

#include <dirent.h>
#include <fcntl.h>
#include <gtest/gtest.h>
#include <sched.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstring>
#include <string>
#include <vector>

#include "acl/acl_base.h"
#include "src/runtime/memory/memory_sharing.h"
#include "src/runtime/memory/share_peer.h"
#include "support/fork.h"
#include "support/host_work.h"
#include "support/sanitizers.h"
#include "support/watchdog.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

constexpr uid_t kOther = 65533;
constexpr uint64_t kExportBytes = 4096;

size_t OpenDescriptors() {
    size_t count = 0;
    DIR* const all = opendir("/proc/self/fd");
    while (readdir(all) != nullptr) {
        ++count;
    }
    EXPECT_EQ(closedir(all), 0);
    return count;
}

// An export of a page.
class ShareServerTest : public testing::Test {
 protected:
    void SetUp() override {
        file_ = Descriptor(memfd_create("shared", MFD_CLOEXEC | MFD_ALLOW_SEALING));
        ASSERT_EQ(ftruncate(file_.Get(), kExportBytes), 0);
        ASSERT_EQ(fcntl(file_.Get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW), 0);
    }
    void TearDown() override {
        for (const ShareKey& key : keys_) {
            TheShareServer().Withdraw(NameOf(key));
        }
    }
    ShareKey Publish(bool brief, bool open = true) {
        ShareOffer offer;
        offer.kind = ShareKind::kBlock;
        offer.file = file_.Get();
        offer.bytes = kExportBytes;
        offer.length = kExportBytes;
        offer.open = open;
        ShareKey key;
        EXPECT_TRUE(unit::Succeeds(TheShareServer().Publish(offer, brief, &key)));
        keys_.push_back(key);
        return key;
    }
    static int Fetch(const ShareKey& key) {
        ShareGrant grant;
        return FetchShared(ShareKind::kBlock, key, "key", &grant).code();
    }
    static Descriptor Connect(const ShareKey& key) {
        Descriptor made(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
        const ShareAddress address(key.place);
        EXPECT_EQ(connect(made.Get(), address.Get(), address.bytes), 0);
        return made;
    }
    // Runs the function in a child, as another user if `user` is not 0, and returns its code.
    template <typename Body>
    static int RunInChild(uid_t user, const Body& body) {
        const pid_t child = support::Fork();
        if (child == 0) {
            const bool became = user == 0 || (setgid(user) == 0 && setuid(user) == 0);
            support::EndChild(became ? body() : 99);
        }
        int status = -1;
        EXPECT_EQ(waitpid(child, &status, 0), child);
        return WIFEXITED(status) ? WEXITSTATUS(status) : -1;
    }

    const support::Watchdog watchdog_{std::chrono::seconds(120)};
    Descriptor file_;
    std::vector<ShareKey> keys_;
};

TEST_F(ShareServerTest, EachKeyOpensItsOwnExport) {
    const ShareKey first = Publish(false);
    const ShareKey second = Publish(false);
    const ShareKey brief = Publish(true);
    EXPECT_EQ(first.place, second.place);
    EXPECT_FALSE(first == second);
    EXPECT_TRUE(brief.IsShort());
    for (const ShareKey& key : {first, second, brief}) {
        EXPECT_EQ(Fetch(key), ACL_SUCCESS);
        EXPECT_EQ(TheShareServer().KeyOf(NameOf(key)).place, key.place);
    }
    ShareKey wrong = first;
    wrong.secret[1] ^= 1;
    EXPECT_EQ(Fetch(wrong), ACL_ERROR_RT_PARAM_INVALID);
    wrong = brief;
    wrong.place ^= 1;
    EXPECT_EQ(Fetch(wrong), ACL_ERROR_RT_PARAM_INVALID);
    ShareGrant grant;
    EXPECT_TRUE(unit::FailsWith(ACL_ERROR_RT_PARAM_INVALID,
                                FetchShared(ShareKind::kNotify, first, "key", &grant), {"key"}));
    TheShareServer().Withdraw(NameOf(first));
    EXPECT_EQ(Fetch(first), ACL_ERROR_RT_PARAM_INVALID);
    EXPECT_EQ(Fetch(second), ACL_SUCCESS);
}

// What every user sees, the sockets' names, does not lead to a place.
TEST_F(ShareServerTest, TheNameOfASocketIsNoPartOfAKey) {
    const ShareKey brief = Publish(true);
    const std::string name(ShareAddress(brief.place).name.sun_path + 1);
    char place[17] = {};
    (void)std::snprintf(place, sizeof(place), "%016lx", static_cast<unsigned long>(brief.place));
    EXPECT_EQ(name.find(place), std::string::npos) << name;
    EXPECT_EQ(name.size(), std::strlen("advance_step.") + 16) << name;
}

TEST_F(ShareServerTest, WhoOnlyConnectsTakesFewDescriptors) {
    const ShareKey key = Publish(false);
    ASSERT_EQ(Fetch(key), ACL_SUCCESS);
    const size_t before = OpenDescriptors();
    constexpr size_t kMany = 3 * ShareServer::kMostConnections;
    {
        std::vector<Descriptor> connections;
        for (size_t i = 0; i < kMany; ++i) {
            connections.push_back(Connect(key));
        }
        // It greets as many as it takes.
        for (size_t i = 0; i < ShareServer::kMostConnections; ++i) {
            char greeting[64];
            ASSERT_GT(recv(connections[i].Get(), greeting, sizeof(greeting), 0), 0);
        }
        EXPECT_LE(OpenDescriptors(), before + kMany + ShareServer::kMostConnections);
    }
    EXPECT_EQ(Fetch(key), ACL_SUCCESS) << "when they have left";
}

TEST_F(ShareServerTest, AMessageThatIsNoneEndsTheConnection) {
    const ShareKey key = Publish(false);
    for (const size_t bytes : {size_t{1}, size_t{40}, size_t{4000}}) {
        const Descriptor connection = Connect(key);
        const std::vector<char> message(bytes, 'x');
        ASSERT_EQ(send(connection.Get(), message.data(), bytes, 0), static_cast<ssize_t>(bytes));
        char greeting[64];
        EXPECT_GT(recv(connection.Get(), greeting, sizeof(greeting), 0), 0);
        EXPECT_LE(recv(connection.Get(), greeting, sizeof(greeting), 0), 0);
    }
    EXPECT_EQ(Fetch(key), ACL_SUCCESS);
}

TEST_F(ShareServerTest, OnlyProcessesThatLiveAreListed) {
    const ShareKey key = Publish(false, false);
    int32_t gone = 0;
    {
        const pid_t child = support::Fork();
        if (child == 0) {
            support::EndChild(0);
        }
        EXPECT_EQ(waitpid(child, nullptr, 0), child);
        gone = child;
    }
    const int32_t pids[] = {getpid(), gone};
    EXPECT_TRUE(unit::FailsWith(ACL_ERROR_RT_PARAM_INVALID,
                                TheShareServer().Allow(key, ShareKind::kBlock, pids, 2, "key"),
                                {"pid[1] is " + std::to_string(gone), "lives"}));
    EXPECT_TRUE(unit::Succeeds(TheShareServer().Allow(key, ShareKind::kBlock, pids, 1, "key")));
    EXPECT_NE(StartOf(getpid()), 0U);
    EXPECT_EQ(StartOf(getpid()), StartOf(getpid()));
    EXPECT_EQ(StartOf(0), 0U);
    EXPECT_EQ(StartOf(-1), 0U);
}

// Strangers, who take a second user.

class StrangerTest : public ShareServerTest {
 protected:
    void SetUp() override {
        if (geteuid() != 0) {
            GTEST_SKIP() << "a process of another user takes root";
        }
        if (support::kThreadSanitizer || support::kAddressSanitizer) {
            GTEST_SKIP() << "the sanitizers take no fork among threads";
        }
        ShareServerTest::SetUp();
    }
};

TEST_F(StrangerTest, IsTurnedAwayAtOnce) {
    const ShareKey key = Publish(false);
    EXPECT_EQ(RunInChild(0, [&] { return Fetch(key) == ACL_SUCCESS ? 0 : 1; }), 0);
    EXPECT_EQ(RunInChild(kOther, [&] { return Fetch(key) == ACL_ERROR_RT_NO_PERMISSION ? 0 : 1; }),
              0);
    // All that a stranger gets is a greeting with a code, and the end.
    EXPECT_EQ(
        RunInChild(kOther,
                   [&] {
                       const Descriptor connection = Connect(key);
                       char message[64];
                       const ssize_t first = recv(connection.Get(), message, sizeof(message), 0);
                       return first > 0 && recv(connection.Get(), message, 64, 0) <= 0 ? 0 : 1;
                   }),
        0);
}

TEST_F(StrangerTest, TakesNoDescriptorsOfTheExporter) {
    const ShareKey key = Publish(false);
    const size_t before = OpenDescriptors();
    int ready[2];
    ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
    const pid_t child = support::Fork();
    if (child == 0) {
        if (setgid(kOther) != 0 || setuid(kOther) != 0) {
            support::EndChild(1);
        }
        std::vector<Descriptor> connections;
        for (int i = 0; i < 200; ++i) {
            connections.push_back(Connect(key));
        }
        (void)!write(ready[1], "x", 1);
        pause();
    }
    char one = 0;
    ASSERT_EQ(read(ready[0], &one, 1), 1);
    EXPECT_EQ(Fetch(key), ACL_SUCCESS) << "in spite of them";
    EXPECT_TRUE(support::Eventually([&] { return OpenDescriptors() <= before + 4; }));
    EXPECT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_EQ(close(ready[0]), 0);
    EXPECT_EQ(close(ready[1]), 0);
}

// Another user has taken the name of an exporter that has ended.
TEST_F(StrangerTest, IsNotBelieved) {
    const ShareKey key{0x1234567, {8, 9}};
    int ready[2];
    ASSERT_EQ(pipe2(ready, O_CLOEXEC), 0);
    const pid_t child = support::Fork();
    if (child == 0) {
        const ShareAddress address(key.place);
        const int listener = socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0);
        if (setgid(kOther) != 0 || setuid(kOther) != 0 ||
            bind(listener, address.Get(), address.bytes) != 0 || listen(listener, 5) != 0) {
            support::EndChild(1);
        }
        (void)!write(ready[1], "x", 1);
        pause();
    }
    char one = 0;
    ASSERT_EQ(read(ready[0], &one, 1), 1);
    EXPECT_EQ(
        RunInChild(kOther - 1, [&] { return Fetch(key) == ACL_ERROR_RT_NO_PERMISSION ? 0 : 1; }),
        0);
    EXPECT_EQ(kill(child, SIGKILL), 0);
    EXPECT_EQ(waitpid(child, nullptr, 0), child);
    EXPECT_EQ(close(ready[0]), 0);
    EXPECT_EQ(close(ready[1]), 0);
}

// In a user namespace, the users that it does not know look like one.
TEST_F(StrangerTest, OfAUserNamespaceIsNotTakenForTheSameUser) {
    int told[2];
    ASSERT_EQ(pipe2(told, O_CLOEXEC), 0);
    const pid_t exporter = support::Fork();
    if (exporter == 0) {
        if (setgid(kOther) != 0 || setuid(kOther) != 0 || unshare(CLONE_NEWUSER) != 0) {
            support::EndChild(1);
        }
        const ShareKey key = Publish(false);
        (void)!write(told[1], &key, sizeof(key));
        pause();
    }
    EXPECT_EQ(close(told[1]), 0);
    ShareKey key;
    const ssize_t got = read(told[0], &key, sizeof(key));
    EXPECT_EQ(close(told[0]), 0);
    if (got == static_cast<ssize_t>(sizeof(key))) {
        // The importer's own check is passed over: the exporter must refuse by itself.
        EXPECT_EQ(RunInChild(kOther - 1,
                             [&] {
                                 const Descriptor connection = Connect(key);
                                 struct {
                                     uint32_t magic;
                                     int32_t code;
                                     uint64_t nonce[2];
                                 } greeting{};
                                 (void)!recv(connection.Get(), &greeting, sizeof(greeting), 0);
                                 return greeting.code == ACL_ERROR_RT_NO_PERMISSION ? 0 : 1;
                             }),
                  0);
    }
    (void)kill(exporter, SIGKILL);
    EXPECT_EQ(waitpid(exporter, nullptr, 0), exporter);
    if (got != static_cast<ssize_t>(sizeof(key))) {
        GTEST_SKIP() << "the host allows no user namespaces";
    }
}

}  // namespace
}  // namespace advstep
