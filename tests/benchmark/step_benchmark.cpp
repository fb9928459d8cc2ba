// Step with a tenth of the batch preempted, and without pressure, at several batch sizes: the cost
// must grow with the batch, not with batch times victims.
#include <benchmark/benchmark.h>

#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <numeric>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_step.h"

namespace {

constexpr int64_t kBlockSize = 4;
constexpr int64_t kWidth = 6;
constexpr int64_t kUsed = 4;  // blocks of every slot, columns 0 to 3
constexpr int64_t kInput = 32;
constexpr int64_t kPre = 16;
constexpr size_t kTensors = 22;

void Require(int status) {
    if (status != 0) {
        const char* const message = aclGetRecentErrMsg();
        std::fprintf(stderr, "%d %s\n", status, message != nullptr ? message : "");
        std::exit(1);
    }
}

struct HostTensor {
    aclDataType type;
    std::vector<int64_t> shape;
    std::vector<unsigned char> bytes;
};

template <typename T>
HostTensor Make(aclDataType type, std::vector<int64_t> shape, T value) {
    const auto count = static_cast<size_t>(
        std::accumulate(shape.begin(), shape.end(), int64_t{1}, std::multiplies<int64_t>()));
    HostTensor tensor{type, std::move(shape), std::vector<unsigned char>(count * sizeof(T))};
    for (size_t index = 0; index < count; ++index) {
        std::memcpy(tensor.bytes.data() + index * sizeof(T), &value, sizeof(T));
    }
    return tensor;
}

int32_t* Ints(HostTensor& tensor) { return reinterpret_cast<int32_t*>(tensor.bytes.data()); }

// All slots run with kUsed blocks and none is free. The last two fifths need one more, so that the
// first tenth is preempted; without pressure nobody needs one.
std::array<HostTensor, kTensors> MakeState(int64_t batch, bool pressure) {
    const std::vector<int64_t> slots = {batch};
    const auto ints = [&](int32_t value) { return Make<int32_t>(ACL_INT32, slots, value); };
    const auto flags = [&] { return Make<uint8_t>(ACL_BOOL, slots, 0); };
    const auto scalar = [] { return Make<int32_t>(ACL_INT32, {1}, 0); };
    const auto longs = [&](std::vector<int64_t> shape) {
        return Make<int64_t>(ACL_INT64, std::move(shape), 1);
    };
    constexpr auto kCached = static_cast<int32_t>(kUsed * kBlockSize);
    std::array<HostTensor, kTensors> state = {flags(),
                                              ints(1),
                                              ints(8),
                                              ints(0),
                                              ints(kCached - 1),
                                              Make<int32_t>(ACL_INT32, {batch, kWidth}, -1),
                                              ints(0),
                                              flags(),
                                              ints(-1),
                                              scalar(),
                                              ints(-1),
                                              scalar(),
                                              ints(-1),
                                              scalar(),
                                              ints(kUsed),
                                              Make<int32_t>(ACL_INT32, {batch * kUsed}, -1),
                                              scalar(),
                                              longs({batch, kInput}),
                                              longs({batch, kPre}),
                                              longs(slots),
                                              longs(slots),
                                              longs(slots)};
    for (int64_t slot = 0; slot < batch; ++slot) {
        for (int64_t column = 0; column < kUsed; ++column) {
            Ints(state[5])[slot * kWidth + column] = static_cast<int32_t>(slot * kUsed + column);
        }
        if (pressure && slot >= batch - batch * 2 / 5) {
            Ints(state[4])[slot] = kCached;
        }
    }
    return state;
}

class DeviceState {
 public:
    DeviceState(int64_t batch, bool pressure) : initial_(MakeState(batch, pressure)) {
        Require(aclrtSetDevice(0));
        for (size_t index = 0; index < kTensors; ++index) {
            const HostTensor& tensor = initial_[index];
            Require(aclrtMalloc(&memory_[index], tensor.bytes.size(), ACL_MEM_MALLOC_HUGE_FIRST));
            tensors_[index] = aclCreateTensor(tensor.shape.data(), tensor.shape.size(), tensor.type,
                                              nullptr, 0, ACL_FORMAT_ND, tensor.shape.data(),
                                              tensor.shape.size(), memory_[index]);
        }
        const auto& t = tensors_;
        Require(aclnnStepGetWorkspaceSize(t[0], t[1], t[2], t[3], t[4], t[5], t[6], t[7], t[8],
                                          t[9], t[10], t[11], t[12], t[13], t[14], t[15], t[16],
                                          t[17], t[18], t[19], t[20], t[21], kBlockSize, 0,
                                          &workspaceSize_, &executor_));
        Require(aclSetAclOpExecutorRepeatable(executor_));
        Require(aclrtMalloc(&workspace_, workspaceSize_, ACL_MEM_MALLOC_HUGE_FIRST));
    }

    ~DeviceState() {
        Require(aclDestroyAclOpExecutor(executor_));
        for (const aclTensor* tensor : tensors_) {
            Require(aclDestroyTensor(tensor));
        }
        Require(aclrtResetDevice(0));
    }

    void Restore() {
        for (size_t index = 0; index < kTensors; ++index) {
            const std::vector<unsigned char>& bytes = initial_[index].bytes;
            Require(aclrtMemcpy(memory_[index], bytes.size(), bytes.data(), bytes.size(),
                                ACL_MEMCPY_HOST_TO_DEVICE));
        }
    }

    void Run() {
        Require(aclnnStep(workspace_, workspaceSize_, executor_, nullptr));
        Require(aclrtSynchronizeStream(nullptr));
    }

    int32_t Preempted() const {
        int32_t depth = 0;
        Require(aclrtMemcpy(&depth, sizeof(depth), memory_[9], sizeof(depth),
                            ACL_MEMCPY_DEVICE_TO_HOST));
        return depth;
    }

 private:
    std::array<HostTensor, kTensors> initial_;
    void* memory_[kTensors] = {};
    aclTensor* tensors_[kTensors] = {};
    void* workspace_ = nullptr;
    uint64_t workspaceSize_ = 0;
    aclOpExecutor* executor_ = nullptr;
};

void RunStep(benchmark::State& state, bool pressure) {
    DeviceState device(state.range(0), pressure);
    for (auto _ : state) {
        device.Restore();
        const auto begin = std::chrono::steady_clock::now();
        device.Run();
        state.SetIterationTime(
            std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count());
    }
    state.counters["preempted"] = device.Preempted();
}

void StepNoPressure(benchmark::State& state) { RunStep(state, false); }
void StepTenthPreempted(benchmark::State& state) { RunStep(state, true); }

BENCHMARK(StepNoPressure)->Arg(256)->Arg(10000)->Arg(100000)->UseManualTime();
BENCHMARK(StepTenthPreempted)->Arg(256)->Arg(1024)->Arg(10000)->Arg(100000)->UseManualTime();

}  // namespace
