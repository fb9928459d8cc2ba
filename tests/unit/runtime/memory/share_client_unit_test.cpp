// SPDX-License-Identifier: Apache-2.0
// Tests of imports from a process that does not answer, or is not the one that made the key.

#include <fcntl.h>
#include <gtest/gtest.h>
#include <sys/mman.h>
#include <sys/time.h>
#include <unistd.h>

#include <chrono>
#include <csignal>
#include <cstring>
#include <string>
#include <thread>

#include "acl/acl_base.h"
#include "src/runtime/memory/fork_records.h"
#include "src/runtime/memory/memory_sharing.h"
#include "src/runtime/memory/share_key.h"
#include "support/watchdog.h"
#include "unit/status_check.h"

namespace advstep {
namespace {

constexpr ShareKey kKey{0x5eed0001, {0x1122334455667788, 0x99aabbccddeeff00}};
constexpr uint32_t kMagic = 0x41535332;
constexpr uint64_t kFile = 8192;  // bytes of the file that an answer brings

// The messages, as they are on the way.
struct Greeting {
    uint32_t magic;
    int32_t code;
    uint64_t nonce[2];
};
struct Request {
    uint32_t magic;
    uint32_t kind;
    uint64_t name;
    uint64_t nonce[2];
    uint64_t proof;
};
struct Answer {
    uint32_t magic;
    int32_t code;
    uint64_t bytes, inner, length;
    int32_t device;
    uint32_t reserved;
    uint64_t proof;
};

// A signal that interrupts calls of this process every 10 ms. Its handler stays, because the last
// signal may still be on its way.
class Interruptions {
 public:
    Interruptions() {
        struct sigaction action = {};
        action.sa_handler = [](int) {};  // without SA_RESTART
        EXPECT_EQ(sigaction(SIGALRM, &action, nullptr), 0);
        const itimerval every{{0, 10000}, {0, 10000}};
        EXPECT_EQ(setitimer(ITIMER_REAL, &every, nullptr), 0);
    }
    ~Interruptions() {
        const itimerval never{};
        (void)setitimer(ITIMER_REAL, &never, nullptr);
    }
    Interruptions(const Interruptions&) = delete;
    Interruptions& operator=(const Interruptions&) = delete;
};

// A socket at the place of the key.
Descriptor ListenAt(const ShareKey& key) {
    Descriptor listener(socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0));
    const ShareAddress address(key.place);
    EXPECT_EQ(bind(listener.Get(), address.Get(), address.bytes), 0);
    EXPECT_EQ(listen(listener.Get(), 1), 0);
    return listener;
}

// An answer of a process at the place of the key, and the file that comes with it.
struct Rogue {
    const char* name;
    const char* words;  // of the refusal
    Answer answer;
    bool knowsKey = true;
    int seals = F_SEAL_SHRINK | F_SEAL_GROW;
    bool isFile = true;
    size_t files = 1;
};

Answer AnswerOf(uint64_t bytes, uint64_t inner, uint64_t length) {
    return {kMagic, 0, bytes, inner, length, 0, 0, 0};
}

int MakeFile(const Rogue& rogue) {
    if (!rogue.isFile) {
        return socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0);
    }
    const int file = memfd_create("rogue", MFD_CLOEXEC | MFD_ALLOW_SEALING);
    EXPECT_EQ(ftruncate(file, kFile), 0);
    EXPECT_EQ(fcntl(file, F_ADD_SEALS, rogue.seals), 0);
    return file;
}

void SendAnswer(int socket, const Answer& answer, const Rogue& rogue) {
    iovec part{const_cast<Answer*>(&answer), sizeof(answer)};
    alignas(cmsghdr) char control[CMSG_SPACE(2 * sizeof(int))] = {};
    msghdr message{};
    message.msg_iov = &part;
    message.msg_iovlen = 1;
    const int files[] = {MakeFile(rogue), MakeFile(rogue)};
    if (rogue.files > 0) {
        message.msg_control = control;
        message.msg_controllen = CMSG_SPACE(rogue.files * sizeof(int));
        cmsghdr* const header = CMSG_FIRSTHDR(&message);
        header->cmsg_level = SOL_SOCKET;
        header->cmsg_type = SCM_RIGHTS;
        header->cmsg_len = CMSG_LEN(rogue.files * sizeof(int));
        std::memcpy(CMSG_DATA(header), files, rogue.files * sizeof(int));
    }
    EXPECT_EQ(sendmsg(socket, &message, 0), static_cast<ssize_t>(sizeof(answer)));
    EXPECT_EQ(close(files[0]), 0);
    EXPECT_EQ(close(files[1]), 0);
}

// Plays the exporter for one import.
void Serve(int listener, const Rogue& rogue) {
    const Descriptor connection(accept(listener, nullptr, nullptr));
    const Greeting greeting{kMagic, 0, {3, 4}};
    EXPECT_EQ(send(connection.Get(), &greeting, sizeof(greeting), 0),
              static_cast<ssize_t>(sizeof(greeting)));
    Request request{};
    EXPECT_EQ(recv(connection.Get(), &request, sizeof(request), 0),
              static_cast<ssize_t>(sizeof(request)));
    EXPECT_EQ(request.name, NameOf(kKey));
    EXPECT_EQ(request.proof,
              ProofOf(kKey, ShareProof::kImporter,
                      {3, 4, request.nonce[0], request.nonce[1], uint64_t{request.kind}}));
    Answer answer = rogue.answer;
    if (rogue.knowsKey) {
        answer.proof = ProofOf(kKey, ShareProof::kExporter,
                               {3, 4, request.nonce[0], request.nonce[1], uint64_t{request.kind},
                                static_cast<uint64_t>(answer.code), answer.bytes, answer.inner,
                                answer.length, static_cast<uint64_t>(answer.device)});
    }
    SendAnswer(connection.Get(), answer, rogue);
}

TEST(ShareClientTest, SignalsDoNotProlongTheWaitForAnAnswer) {
    const support::Watchdog watchdog(std::chrono::seconds(60));
    const Descriptor silent = ListenAt(kKey);
    const Interruptions interruptions;
    ShareGrant grant;
    EXPECT_TRUE(unit::FailsWith(
        ACL_ERROR_RT_DRV_INTERNAL_ERROR,
        FetchShared(ShareKind::kBlock, kKey, "key", &grant, std::chrono::milliseconds(300)),
        {"key", "does not answer"}));
}

class RogueTest : public testing::TestWithParam<Rogue> {};

TEST_P(RogueTest, IsRefused) {
    const support::Watchdog watchdog(std::chrono::seconds(60));
    const Descriptor listener = ListenAt(kKey);
    std::thread server([&] { Serve(listener.Get(), GetParam()); });
    ShareGrant grant;
    const Status fetched = FetchShared(ShareKind::kBlock, kKey, "key", &grant);
    server.join();
    if (std::string(GetParam().words).empty()) {
        EXPECT_TRUE(unit::Succeeds(fetched));
        EXPECT_EQ(grant.bytes, kFile);
        EXPECT_TRUE(grant.file.Usable());
        return;
    }
    const int code =
        GetParam().files > 0 ? ACL_ERROR_RT_DRV_INTERNAL_ERROR : ACL_ERROR_RT_MEMORY_ALLOCATION;
    EXPECT_TRUE(unit::FailsWith(code, fetched, {"key", GetParam().words}));
    EXPECT_FALSE(grant.file.Usable());
}

constexpr const char* kNotTheFile = "its file does not hold what it says";
INSTANTIATE_TEST_SUITE_P(
    Table, RogueTest,
    testing::Values(
        Rogue{"TheExporterItself", "", AnswerOf(kFile, 64, kFile - 64)},
        Rogue{"WithAFileTooMany", "", AnswerOf(kFile, 0, kFile), true, F_SEAL_SHRINK | F_SEAL_GROW,
              true, 2},
        Rogue{"WithoutTheKey", "does not prove that it has the key", AnswerOf(kFile, 0, kFile),
              false},
        Rogue{"OfAnotherProtocol", "not this library's", {7, 0, kFile, 0, kFile, 0, 0, 0}},
        Rogue{"WithoutAFile", "no descriptor", AnswerOf(kFile, 0, kFile), true, 0, true, 0},
        Rogue{"WithASocket", kNotTheFile, AnswerOf(kFile, 0, kFile), true, 0, false},
        Rogue{"NotSealed", kNotTheFile, AnswerOf(kFile, 0, kFile), true, 0},
        Rogue{"WithAFileThatShrinks", kNotTheFile, AnswerOf(kFile, 0, kFile), true, F_SEAL_GROW},
        Rogue{"WithAFileThatGrows", kNotTheFile, AnswerOf(kFile, 0, kFile), true, F_SEAL_SHRINK},
        Rogue{"WithALargerFile", kNotTheFile, AnswerOf(2 * kFile, 0, kFile)},
        Rogue{"WithASmallerFile", kNotTheFile, AnswerOf(kFile / 2, 0, kFile / 2)},
        Rogue{"BeyondTheFile", kNotTheFile, AnswerOf(kFile, kFile + 64, 64)},
        Rogue{"AcrossItsEnd", kNotTheFile, AnswerOf(kFile, 64, kFile)},
        Rogue{"AroundTheAddresses", kNotTheFile, AnswerOf(kFile, 64, ~uint64_t{0})},
        Rogue{"OfNothing", kNotTheFile, AnswerOf(kFile, 0, 0)}),
    [](const auto& rogue) { return std::string(rogue.param.name); });

// The values of the authors of SipHash, for a message of one word.
TEST(ShareKeyTest, ProofsAreSipHashOfTheirWords) {
    const ShareKey key{0, {0x0706050403020100, 0x0f0e0d0c0b0a0908}};
    EXPECT_EQ(ProofOf(key, static_cast<ShareProof>(0x0706050403020100), {}), 0x93f5f5799a932462U);
    EXPECT_NE(ProofOf(key, ShareProof::kSocket, {}), ProofOf(key, ShareProof::kName, {}));
    EXPECT_NE(ProofOf(key, ShareProof::kImporter, {1, 2}),
              ProofOf(key, ShareProof::kImporter, {2, 1}));
}

}  // namespace
}  // namespace advstep
