// SPDX-License-Identifier: Apache-2.0
// Computes SipHash-2-4 and draws random bits.

#include "src/runtime/memory/share_key.h"

#include <sys/random.h>

#include <cerrno>
#include <cstddef>

#include "src/base/no_cancellation.h"

namespace advstep {
namespace {

// SipHash-2-4 of Aumasson and Bernstein, for messages of whole words.
class SipHash {
 public:
    SipHash(uint64_t first, uint64_t second)
        : v_{first ^ 0x736f6d6570736575, second ^ 0x646f72616e646f6d, first ^ 0x6c7967656e657261,
             second ^ 0x7465646279746573} {}

    void Add(uint64_t word) {
        v_[3] ^= word;
        Mix(2);
        v_[0] ^= word;
        bytes_ += sizeof(word);
    }
    uint64_t End() {
        Add(bytes_ << 56);
        v_[2] ^= 0xff;
        Mix(4);
        return v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
    }

 private:
    static uint64_t Turned(uint64_t value, int bits) {
        return value << bits | value >> (64 - bits);
    }
    void Mix(int rounds) {
        for (int i = 0; i < rounds; ++i) {
            v_[0] += v_[1];
            v_[2] += v_[3];
            v_[1] = Turned(v_[1], 13) ^ v_[0];
            v_[3] = Turned(v_[3], 16) ^ v_[2];
            v_[0] = Turned(v_[0], 32);
            v_[2] += v_[1];
            v_[0] += v_[3];
            v_[1] = Turned(v_[1], 17) ^ v_[2];
            v_[3] = Turned(v_[3], 21) ^ v_[0];
            v_[2] = Turned(v_[2], 32);
        }
    }

    uint64_t v_[4];
    uint64_t bytes_ = 0;
};

}  // namespace

uint64_t ProofOf(const ShareKey& key, ShareProof use, std::initializer_list<uint64_t> words) {
    SipHash hash(key.secret[0] ^ key.place, key.secret[1]);
    hash.Add(static_cast<uint64_t>(use));
    for (const uint64_t word : words) {
        hash.Add(word);
    }
    return hash.End();
}

uint64_t NameOf(const ShareKey& key) {
    const uint64_t name = ProofOf(key, ShareProof::kName, {});
    return name != 0 ? name : 1;
}

bool DrawRandom(uint64_t* words, int count) {
    const NoCancellation noCancellation;
    const size_t bytes = static_cast<size_t>(count) * sizeof(*words);
    ssize_t got = 0;
    do {
        got = getrandom(words, bytes, 0);
    } while (got < 0 && errno == EINTR);
    return got == static_cast<ssize_t>(bytes);
}

}  // namespace advstep
