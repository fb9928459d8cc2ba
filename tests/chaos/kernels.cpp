// SPDX-License-Identifier: Apache-2.0
// Kernels of a binary that threads load and unload, on buffers that no other thread touches.
#include <cstring>
#include <string>
#include <vector>

#include "chaos/actions.h"
#include "chaos/buffers.h"
#include "chaos/disturb.h"
#include "support/kernel_arguments.h"

namespace chaos {
namespace {

void LoadOrUnload(Worker& worker) {
    std::atomic<void*>& slot = worker.OneOf(worker.world.binaries);
    aclrtBinHandle binary = nullptr;
    if (slot == nullptr || worker.random.OneIn(2)) {
        if (CHAOS_CALL(aclrtBinaryLoadFromFile, ADVANCE_STEP_TEST_KERNELS, nullptr, &binary) == 0) {
            void* const before = slot.exchange(binary);
            if (before != nullptr) {
                (void)CHAOS_CALL(aclrtBinaryUnLoad, before);
            }
        }
    } else {
        (void)CHAOS_CALL(aclrtBinaryUnLoad, slot.exchange(nullptr));
    }
}

}  // namespace

void LaunchKernels(Worker& worker) {
    if (worker.random.OneIn(4)) {
        LoadOrUnload(worker);
        return;
    }
    const Quiet quiet(worker.world);
    if (!worker.MakeOwnIdle()) {
        return;
    }
    aclrtFuncHandle function = nullptr;
    if (CHAOS_CALL(aclrtBinaryGetFunction, worker.OneOf(worker.world.binaries), "add_rows",
                   &function) != 0) {
        return;
    }
    std::vector<int64_t> values(static_cast<size_t>(worker.random.Size(20000)));
    for (size_t i = 0; i < values.size(); ++i) {
        values[i] = static_cast<int64_t>(i);
    }
    Buffers buffers(&worker);
    auto* const rows =
        static_cast<int64_t*>(buffers.Add(values.data(), values.size() * sizeof(int64_t)));
    if (rows == nullptr) {
        return;
    }
    const int64_t number = worker.random.Between(1, 1000);
    int64_t launched = 0;
    for (int64_t count = worker.random.Between(1, 3); count > 0; --count) {
        RowArguments arguments = {rows, static_cast<int64_t>(values.size()), number};
        const auto blocks = static_cast<uint32_t>(worker.random.Between(1, 50));
        if (CHAOS_CALL(aclrtLaunchKernelWithHostArgs, function, blocks, worker.ownStream, nullptr,
                       &arguments, sizeof(arguments), nullptr, 0) == 0) {
            ++launched;
        }
    }
    const int code = CHAOS_CALL(aclrtSynchronizeStream, worker.ownStream);
    if (!buffers.Release()) {
        return;
    }
    const bool isQuiet = quiet.Lasts();
    int64_t first = 0;
    std::memcpy(&first, buffers.At(0), sizeof(first));
    const int64_t runs = first / number;
    for (size_t i = 0; i < values.size(); ++i) {
        int64_t value = 0;
        std::memcpy(&value, buffers.At(0) + i * sizeof(value), sizeof(value));
        if (value != values[i] + runs * number || runs > launched ||
            (isQuiet && code == 0 && runs != launched)) {
            Fail(worker.world, "row " + std::to_string(i) + " is " + std::to_string(value) +
                                   " after " + std::to_string(launched) + " kernels that add " +
                                   std::to_string(number));
        }
    }
    worker.world.verified += 1;
}

}  // namespace chaos
