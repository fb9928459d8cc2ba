// SPDX-License-Identifier: Apache-2.0
// Processes that must reach nothing: those of other users, and those without the user's secret.

#include <sched.h>
#include <sys/prctl.h>
#include <sys/stat.h>
#include <sys/un.h>

#include <cstddef>
#include <cstdio>
#include <fstream>
#include <thread>

#include "adxl/engines.h"

namespace transfer {
namespace {

constexpr uid_t kNobody = 65534;

// The names of sockets of engines, which every user of the host sees.
std::vector<std::string> SocketNames() {
    std::vector<std::string> names;
    std::ifstream file("/proc/net/unix");
    for (std::string line; std::getline(file, line);) {
        const size_t at = line.find("@advance_step-transfer.");
        const bool listens = line.find(" 00010000 ") != std::string::npos;
        if (at != std::string::npos && listens) {
            names.push_back(line.substr(at + 1));
        }
    }
    return names;
}

socklen_t Fill(const std::string& name, sockaddr_un* address) {
    address->sun_family = AF_UNIX;
    std::memcpy(address->sun_path + 1, name.data(), name.size());
    return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + name.size());
}

// Connects to the socket text; at[0] becomes how many bytes it says by itself, and at[1] how many
// after an answer of 64 KiB that begins with the four bytes at[2].
void Knock(Words* words) {
    sockaddr_un address{};
    const socklen_t bytes = Fill(words->text, &address);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (connect(socket, reinterpret_cast<sockaddr*>(&address), bytes) != 0) {
        words->code = errno;
        close(socket);
        return;
    }
    std::vector<char> said(1 << 16);
    const ssize_t first = recv(socket, said.data(), said.size(), 0);
    words->at[0] = first > 0 ? static_cast<uint64_t>(first) : 0;
    std::vector<char> junk(1 << 16);
    std::memcpy(junk.data(), &words->at[2], 4);
    (void)!send(socket, junk.data(), junk.size(), MSG_NOSIGNAL);
    const ssize_t second = recv(socket, said.data(), said.size(), 0);
    words->at[1] = second > 0 ? static_cast<uint64_t>(second) : 0;
    close(socket);
}

Words Knocking(const std::string& name, uint64_t first) {
    Words words{0, 0, first};
    std::strncpy(words.text, name.c_str(), sizeof(words.text) - 1);
    return words;
}

void BecomeNobody(Words* words) {
    Keep(words, setresgid(kNobody, kNobody, kNobody));
    Keep(words, setresuid(kNobody, kNobody, kNobody));
    Keep(words, prctl(PR_SET_DUMPABLE, 1));  // for the search for leaks at its end
}

// at[0]: the port of an engine of the user to which text connects.
void ConnectThere(Words* words) {
    AdxlEngine engine;
    Keep(words, static_cast<int>(engine.Initialize("127.0.0.1", {})));
    const std::string name = NameOf(static_cast<int>(words->at[0]));
    Keep(words, static_cast<int>(engine.Connect(name.c_str(), 60000)));
}

class StrangerTest : public support::DeviceTest {
 protected:
    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(support::DeviceTest::SetUp());
        const std::vector<std::string> before = SocketNames();
        port_ = InitializeAnywhere(&engine_);
        ASSERT_NE(port_, 0);
        // Other tests may run beside this one.
        for (const std::string& name : SocketNames()) {
            if (std::find(before.begin(), before.end(), name) == before.end()) {
                sockets_.push_back(name);
            }
        }
        ASSERT_FALSE(sockets_.empty());
    }

    AdxlEngine engine_;
    int port_ = 0;
    std::vector<std::string> sockets_;  // this engine's is one of them
};

TEST_F(StrangerTest, AnotherUserFindsNoEngineAndIsToldNothing) {
    if (geteuid() != 0) {
        GTEST_SKIP() << "a process of another user takes root";
    }
    ChildProcess other;
    ASSERT_EQ(other.Run(&BecomeNobody).code, 0);
    const Words connected = other.Run(&ConnectThere, {static_cast<uint64_t>(port_)});
    EXPECT_EQ(connected.code, kNotConnected) << connected.text;
    for (const std::string& name : sockets_) {
        const Words knocked = other.Run(&Knock, Knocking(name, 0));
        EXPECT_EQ(knocked.at[0], 0u);
        EXPECT_EQ(knocked.at[1], 0u);
    }
    // The user's own processes are served all the same.
    ChildProcess mine;
    const Words served = mine.Run(&ConnectThere, {static_cast<uint64_t>(port_)});
    EXPECT_EQ(served.code, 0) << served.text;
}

// A process of the user that does not have the secret hears the greeting, and nothing after it.
TEST_F(StrangerTest, WithoutTheSecretNothingFollowsTheGreeting) {
    constexpr uint64_t kMagic = 0x41445831;  // of the protocol: what is wrong then is the proof
    ChildProcess other;
    for (const std::string& name : sockets_) {
        for (const uint64_t first : {uint64_t{0}, kMagic}) {
            const Words knocked = other.Run(&Knock, Knocking(name, first));
            if (knocked.code == 0) {  // not the socket of another test that has ended
                EXPECT_EQ(knocked.at[0], 24u);
                EXPECT_EQ(knocked.at[1], 0u);
            }
        }
    }
}

// Listens under the name of an engine that has ended: text. It says 64 KiB whose two messages, of
// 24 and 16 bytes, begin with the four bytes at[2].
void Squat(Words* words) {
    sockaddr_un address{};
    const socklen_t bytes = Fill(words->text, &address);
    const int socket = ::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    if (bind(socket, reinterpret_cast<sockaddr*>(&address), bytes) != 0 || listen(socket, 8) != 0) {
        words->code = errno;
        return;
    }
    static int listening;
    static uint64_t first;
    listening = socket;
    first = words->at[2];
    std::thread([] {
        const int client = accept(listening, nullptr, nullptr);
        std::vector<char> said(1 << 16);
        std::memcpy(said.data(), &first, 4);
        std::memcpy(said.data() + 24, &first, 4);
        (void)!send(client, said.data(), said.size(), MSG_NOSIGNAL);
        char heard = 0;
        while (recv(client, &heard, 1, 0) > 0) {
        }
        close(client);
    }).detach();
}

// A process that takes the name of an engine is not taken for it.
TEST_F(StrangerTest, AnotherProcessUnderTheNameIsNoEngine) {
    engine_.Finalize();
    AdxlEngine client;
    ASSERT_TRUE(IsOk(client.Initialize("127.0.0.1", {})));
    struct Case {
        bool isNobody;
        uint64_t first;
        const char* words;
    } const cases[] = {
        {false, 0x7F7F7F7F, "another protocol"},
        {false, 0x41445831, "does not prove"},
        {true, 0x41445831, "is of another user"},
    };
    for (const Case& squatter : cases) {
        if (squatter.isNobody && geteuid() != 0) {
            continue;
        }
        ChildProcess other;
        if (squatter.isNobody) {
            ASSERT_EQ(other.Run(&BecomeNobody).code, 0);
        }
        for (const std::string& name : sockets_) {
            (void)other.Run(&Squat, Knocking(name, squatter.first));
        }
        EXPECT_TRUE(
            IsError(kFailed, client.Connect(NameOf(port_).c_str(), 60000), {squatter.words}));
        other.Kill();
    }
}

TEST_F(StrangerTest, AUserWithoutANumberHasNoEngine) {
    ChildProcess other;
    const Words words = other.Run([](Words* w) {
        if (unshare(CLONE_NEWUSER) != 0) {
            w->at[0] = 1;
            return;
        }
        AdxlEngine engine;
        Keep(w, static_cast<int>(engine.Initialize("127.0.0.1", {})));
    });
    if (words.at[0] == 1) {
        GTEST_SKIP() << "the host makes no user namespaces";
    }
    EXPECT_EQ(words.code, kFailed);
    EXPECT_NE(std::string(words.text).find("user namespace"), std::string::npos) << words.text;
}

// The file of the secret is what keeps others out, so one that others can read is refused.
TEST_F(StrangerTest, ASecretThatOthersReadIsRefused) {
    const std::string path = "/dev/shm/advance_step-transfer-" + std::to_string(geteuid());
    struct stat about {};
    ASSERT_EQ(stat(path.c_str(), &about), 0);
    EXPECT_EQ(about.st_mode & 07777, 0600u);
    EXPECT_EQ(about.st_size, 16);
    if (geteuid() != 0) {
        GTEST_SKIP() << "a user whose file can be changed takes root";
    }
    // The file of a user that runs no other test.
    ChildProcess other;
    const Words words = other.Run([](Words* w) {
        constexpr uid_t kUser = 54321;
        Keep(w, setresgid(kUser, kUser, kUser));
        Keep(w, setresuid(kUser, kUser, kUser));
        Keep(w, prctl(PR_SET_DUMPABLE, 1));
        const std::string own = "/dev/shm/advance_step-transfer-54321";
        AdxlEngine engine;
        Keep(w, static_cast<int>(engine.Initialize("127.0.0.1", {})));
        engine.Finalize();
        Keep(w, chmod(own.c_str(), 0644));
        w->at[0] = engine.Initialize("127.0.0.1", {});
        std::snprintf(w->text, sizeof(w->text), "%s", support::TakeMessage().c_str());
        Keep(w, unlink(own.c_str()));
    });
    EXPECT_EQ(words.code, 0) << words.text;
    EXPECT_EQ(words.at[0], static_cast<uint64_t>(kFailed));
    EXPECT_NE(std::string(words.text).find("mode 644"), std::string::npos) << words.text;
}

}  // namespace
}  // namespace transfer
