// SPDX-License-Identifier: Apache-2.0
// Random argument blocks against a layout of plain loops.
#include <algorithm>
#include <cstring>
#include <random>
#include <utility>

#include "conformance/kernel_fixture.h"

namespace conformance {
namespace {

// A block as the header describes it, and the places of its pointers.
struct Expected {
    std::vector<char> bytes;
    std::vector<std::pair<size_t, size_t>> pointers;  // where, and what it points to

    size_t Add(const std::vector<char>& value) {
        bytes.resize((bytes.size() + 7) / 8 * 8);
        bytes.insert(bytes.end(), value.begin(), value.end());
        return bytes.size() - value.size();
    }
};

std::vector<char> RandomBytes(std::mt19937& random, size_t most) {
    std::vector<char> bytes(random() % most + 1);
    for (char& byte : bytes) {
        byte = static_cast<char>(random());
    }
    return bytes;
}

template <class T>
std::vector<char> BytesOfValue(T value) {
    std::vector<char> bytes(sizeof(value));
    std::memcpy(bytes.data(), &value, sizeof(value));
    return bytes;
}

class KernelRandomTest : public KernelTest {
 protected:
    void Append(std::vector<char> value) {
        ASSERT_TRUE(IsOk(aclrtKernelArgsAppend(args_, value.data(), value.size(), &latest_)));
        expected_.Add(value);
    }

    // copy_args takes out and count from places 0 and 16, with any 8 bytes between them.
    void Build(std::mt19937& random, const DeviceBuffer& out) {
        expected_ = Expected{};
        Append(BytesOfValue(out.Get()));
        Append(RandomBytes(random, 8));
        Append(BytesOfValue(int64_t{0}));
        count_ = latest_;
        std::vector<std::pair<aclrtParamHandle, size_t>> places;
        const size_t more = random() % 100;
        for (size_t i = 0; i < more; ++i) {
            if (random() % 4 != 0) {
                Append(RandomBytes(random, 40));
                continue;
            }
            aclrtParamHandle place = nullptr;
            ASSERT_TRUE(IsOk(aclrtKernelArgsAppendPlaceHolder(args_, &place)));
            places.emplace_back(place, expected_.Add(std::vector<char>(8)));
        }
        std::shuffle(places.begin(), places.end(), random);
        for (const auto& [place, at] : places) {
            const std::vector<char> data = RandomBytes(random, 200);
            void* buffer = nullptr;
            ASSERT_TRUE(
                IsOk(aclrtKernelArgsGetPlaceHolderBuffer(args_, place, data.size(), &buffer)));
            std::memcpy(buffer, data.data(), data.size());
            expected_.pointers.emplace_back(at, expected_.Add(data));
        }
    }

    aclrtArgsHandle args_ = nullptr;
    aclrtParamHandle latest_ = nullptr;
    aclrtParamHandle count_ = nullptr;
    Expected expected_;
};

TEST_F(KernelRandomTest, ABlockArrivesAsItWasBuilt) {
    const aclrtFuncHandle function = Function("copy_args");
    const DeviceBuffer out(65536 + 8);
    for (uint32_t seed = 0; seed < 200; ++seed) {
        std::mt19937 random(seed);
        ASSERT_TRUE(IsOk(aclrtKernelArgsInit(function, &args_)));
        ASSERT_NO_FATAL_FAILURE(Build(random, out)) << "seed " << seed;
        ASSERT_TRUE(IsOk(aclrtKernelArgsFinalize(args_)));
        const auto size = static_cast<int64_t>(expected_.bytes.size());
        std::memcpy(expected_.bytes.data() + 16, &size, sizeof(size));
        int64_t value = size;
        ASSERT_TRUE(IsOk(aclrtKernelArgsParaUpdate(args_, count_, &value, sizeof(value))));
        ASSERT_TRUE(IsOk(aclrtKernelArgsFinalize(args_)));
        ASSERT_TRUE(
            IsOk(aclrtLaunchKernelWithConfig(function, 1, nullptr, nullptr, args_, nullptr)));
        ASSERT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        const std::vector<char> got = out.Download<char>();
        int64_t base = 0;
        std::memcpy(&base, got.data(), sizeof(base));
        for (const auto& [at, data] : expected_.pointers) {
            const int64_t address = base + static_cast<int64_t>(data);
            std::memcpy(expected_.bytes.data() + at, &address, sizeof(address));
        }
        ASSERT_EQ(std::memcmp(got.data() + 8, expected_.bytes.data(), expected_.bytes.size()), 0)
            << "seed " << seed;
    }
}

}  // namespace
}  // namespace conformance
