// SPDX-License-Identifier: Apache-2.0
// Keys of exports, and proofs that a process has one.

#pragma once

#include <cstdint>
#include <initializer_list>

namespace advstep {

constexpr int kPlaceBits = 32;  // of a long key

/// A key. A process that has it can find the export and prove that it has the key. Nobody can make
/// it from what the processes send each other or from the names of their sockets. A long key has a
/// place of kPlaceBits that all long keys of its process share, and a secret of 128 bits. A short
/// one, for handles of 64 bits, has a place of its own, which is its secret: `secret` is 0.
struct ShareKey {
    uint64_t place = 0;
    uint64_t secret[2] = {};

    bool IsShort() const { return secret[0] == 0 && secret[1] == 0; }
    bool operator==(const ShareKey& other) const {
        return place == other.place && secret[0] == other.secret[0] && secret[1] == other.secret[1];
    }
};

/// The uses of a key's code, so that one proof is no other one.
enum class ShareProof : uint64_t { kSocket = 1, kName, kImporter, kExporter };

/// Returns a code of the words: SipHash-2-4 under the key. It gives nothing of the key away.
uint64_t ProofOf(const ShareKey& key, ShareProof use, std::initializer_list<uint64_t> words);

/// Returns the number by which processes name the export: not 0, and no secret.
uint64_t NameOf(const ShareKey& key);

/// Fills the words with random bits. False: the host has none.
bool DrawRandom(uint64_t* words, int count);

}  // namespace advstep
