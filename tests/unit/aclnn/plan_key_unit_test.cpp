// SPDX-License-Identifier: Apache-2.0
// Tests of the keys of plans, whatever was in their memory before.

#include "src/aclnn/plan_key.h"

#include <gtest/gtest.h>

#include <cstdint>
#include <cstring>
#include <new>
#include <vector>

#include "support/runtime_test.h"

namespace advstep {
namespace {

constexpr int kTable = 0;

// A key in memory that is full of other bytes.
class KeyInUsedMemory {
 public:
    KeyInUsedMemory(int bytes, const std::vector<int64_t>& attributes) : KeyInUsedMemory(bytes) {
        key_ = new (memory_) PlanKey(&kTable, nullptr, 0, attributes.data(), attributes.size(), 0);
    }
    KeyInUsedMemory(int bytes, const PlanKey& other) : KeyInUsedMemory(bytes) {
        key_ = new (memory_) PlanKey(other);
    }
    const PlanKey& operator*() const { return *key_; }

 private:
    explicit KeyInUsedMemory(int bytes) { std::memset(memory_, bytes, sizeof(memory_)); }

    alignas(PlanKey) unsigned char memory_[sizeof(PlanKey)];
    PlanKey* key_ = nullptr;
};

class PlanKeyTest : public support::DeviceTest {};

TEST_F(PlanKeyTest, EqualNumbersMakeEqualKeys) {
    std::vector<int64_t> attributes;
    for (int64_t count = 0; count < 9; ++count) {
        SCOPED_TRACE(count);
        const KeyInUsedMemory one(0x11, attributes);
        const KeyInUsedMemory other(0xEE, attributes);
        EXPECT_TRUE((*one).useful());
        EXPECT_TRUE(*one == *other);
        EXPECT_TRUE(*KeyInUsedMemory(0x77, *one) == *other);
        attributes.push_back(100 + count);
    }
}

TEST_F(PlanKeyTest, EachNumberCounts) {
    const std::vector<int64_t> attributes = {1, 2, 3, 4, 5, 6};
    const KeyInUsedMemory key(0x11, attributes);
    for (size_t place = 0; place < attributes.size(); ++place) {
        SCOPED_TRACE(place);
        std::vector<int64_t> changed = attributes;
        changed[place] ^= int64_t{1} << 62;
        EXPECT_FALSE(*key == *KeyInUsedMemory(0x11, changed));
    }
    EXPECT_FALSE(*key == *KeyInUsedMemory(0x11, {1, 2, 3, 4, 5}));
    EXPECT_FALSE(*key == *KeyInUsedMemory(0x11, {1, 2, 3, 4, 5, 6, 0}));
    EXPECT_FALSE(PlanKey() == PlanKey());
}

}  // namespace
}  // namespace advstep
