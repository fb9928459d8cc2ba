// Both phases of AdvanceStepV2 on any arguments and data: never a crash, and on legal arguments the
// same result, or the same refusal with nothing written, as the plain reference.
#include <algorithm>
#include <cstdlib>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step_v2.h"
#include "fuzz/fuzz_input.h"
#include "reference/advance_step_v2_reference.h"

namespace {

constexpr size_t kTensors = 8;
constexpr size_t kTables = 5;

void Require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

reference::AdvanceStepV2Data MakeData(FuzzInput* input) {
    reference::AdvanceStepV2Data data;
    data.numSeqs = input->In(1, 12);
    data.specNum = input->In(1, 5);
    data.maxBlocks = input->In(1, 5);
    data.blockSize =
        input->Byte() % 8 == 0 ? std::max<int64_t>(input->Value(64), 1) : input->In(1, 16);
    const int64_t longest = data.maxBlocks * 8;
    const auto odd = [input](int64_t usual) {
        return input->Byte() % 8 == 0 ? input->Value(usual) : input->In(0, usual);
    };
    for (int64_t query = 0; query < data.numSeqs; ++query) {
        data.acceptedNum.push_back(odd(data.specNum));
        for (int64_t j = 0; j <= data.specNum; ++j) {
            data.inputTokens.push_back(5);
            data.sampledTokenIds.push_back(odd(1000));
            data.inputPositions.push_back(odd(longest));
            data.seqLens.push_back(6);
            data.slotMapping.push_back(7);
        }
        for (int64_t j = 0; j < data.specNum; ++j) {
            data.specToken.push_back(odd(1000));
        }
        for (int64_t column = 0; column < data.maxBlocks; ++column) {
            data.blockTables.push_back(odd(1000));
        }
    }
    return data;
}

std::vector<int64_t> ShapeOf(const reference::AdvanceStepV2Data& data, size_t index) {
    switch (index) {
        case 1:
            return {data.numSeqs, data.RowsPerQuery()};
        case kTables:
            return {data.numSeqs, data.maxBlocks};
        case 6:
            return {data.numSeqs, data.specNum};
        case 7:
            return {data.numSeqs};
        default:
            return {data.numSeqs * data.RowsPerQuery()};
    }
}

class DeviceBatch {
 public:
    DeviceBatch(const reference::AdvanceStepV2Data& data, FuzzInput* input) {
        for (size_t index = 0; index < kTensors; ++index) {
            const std::vector<int64_t>& values = *data.Tensors()[index];
            const size_t bytes = values.size() * sizeof(int64_t);
            Require(aclrtMalloc(&memory_[index], bytes, ACL_MEM_MALLOC_NORMAL_ONLY) == 0);
            Require(aclrtMemcpy(memory_[index], bytes, values.data(), bytes,
                                ACL_MEMCPY_HOST_TO_DEVICE) == 0);
            std::vector<int64_t> shape = ShapeOf(data, index);
            aclDataType type = ACL_INT64;
            int64_t offset = 0;
            const bool perRow = index == 0 || index == 2 || index == 3 || index == 4;
            switch (input->Byte()) {  // break one argument now and then
                case 1:
                    shape = {data.numSeqs, data.RowsPerQuery()};
                    legal_ = legal_ && (perRow || index == 1);
                    break;
                case 2:
                    type = static_cast<aclDataType>(input->In(-1, 45));
                    legal_ = legal_ && type == ACL_INT64;
                    break;
                case 3:
                    offset = input->Value(3);
                    legal_ = legal_ && offset == 0;
                    break;
                case 4:
                    shape[0] = input->Value(30);
                    legal_ = legal_ && shape[0] == ShapeOf(data, index)[0];
                    break;
                case 5:
                    shape.back() = input->Value(8);
                    legal_ = legal_ && shape.back() == ShapeOf(data, index).back();
                    break;
                case 6:
                    null_[index] = true;
                    legal_ = false;
                    break;
                default:
                    break;
            }
            tensors_[index] =
                aclCreateTensor(shape.data(), shape.size(), type, nullptr, offset, ACL_FORMAT_ND,
                                shape.data(), shape.size(), memory_[index]);
            Require(tensors_[index] != nullptr);
        }
    }
    ~DeviceBatch() {
        for (size_t index = 0; index < kTensors; ++index) {
            Require(aclDestroyTensor(tensors_[index]) == 0);
            Require(aclrtFree(memory_[index]) == 0);
        }
    }

    bool legal() const { return legal_; }

    aclnnStatus PhaseOne(int64_t numSeqs, int64_t numQueries, int64_t blockSize,
                         aclOpExecutor** executor) const {
        const auto tensor = [this](size_t index) {
            return null_[index] ? nullptr : tensors_[index];
        };
        uint64_t workspaceSize = 0;
        return aclnnAdvanceStepV2GetWorkspaceSize(
            tensor(0), tensor(1), tensor(2), tensor(3), tensor(4), tensor(5), tensor(6), tensor(7),
            numSeqs, numQueries, blockSize, &workspaceSize, executor);
    }

    void RequireEqual(const reference::AdvanceStepV2Data& expected) const {
        for (size_t index = 0; index < kTensors; ++index) {
            std::vector<int64_t> actual(expected.Tensors()[index]->size());
            const size_t bytes = actual.size() * sizeof(int64_t);
            Require(aclrtMemcpy(actual.data(), bytes, memory_[index], bytes,
                                ACL_MEMCPY_DEVICE_TO_HOST) == 0);
            Require(actual == *expected.Tensors()[index]);
        }
    }

 private:
    void* memory_[kTensors] = {};
    aclTensor* tensors_[kTensors] = {};
    bool null_[kTensors] = {};
    bool legal_ = true;
};

// One machine per conformance, changed only when the input asks for another.
void UseConformance(bool exact) {
    static int current = -1;
    if (current == static_cast<int>(exact)) {
        return;
    }
    if (current >= 0) {
        Require(aclFinalize() == 0);
    }
    setenv("ADVANCE_STEP_SOC", "sim:7", 1);
    setenv("ADVANCE_STEP_CONFORMANCE", exact ? "exact" : "standard", 1);
    Require(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0);
    current = static_cast<int>(exact);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    FuzzInput input(bytes, size);
    const bool exact = input.Byte() % 2 == 0;
    UseConformance(exact);
    reference::AdvanceStepV2Data data = MakeData(&input);
    const DeviceBatch batch(data, &input);
    const bool oddAttributes = input.Byte() == 1;
    const int64_t numSeqs = oddAttributes ? input.Value(12) : data.numSeqs;
    const int64_t numQueries = oddAttributes ? input.Value(12) : data.numSeqs;
    const int64_t blockSize = oddAttributes ? input.Value(12) : data.blockSize;
    const bool legal =
        batch.legal() && numSeqs == data.numSeqs && numQueries == numSeqs && blockSize >= 1;
    aclOpExecutor* executor = nullptr;
    const aclnnStatus planned = batch.PhaseOne(numSeqs, numQueries, blockSize, &executor);
    if (planned != ACLNN_SUCCESS) {
        Require(executor == nullptr && aclGetRecentErrMsg() != nullptr);
        Require(!legal);
        return 0;
    }
    const aclnnStatus launched = aclnnAdvanceStepV2(nullptr, 0, executor, nullptr);
    if (!legal) {  // such as an offset that may or may not stay inside the memory
        (void)aclrtSynchronizeStream(nullptr);
        return 0;
    }
    Require(launched == ACLNN_SUCCESS);
    const aclError synchronised = aclrtSynchronizeStream(nullptr);
    data.blockSize = blockSize;
    const auto error = reference::AdvanceStepV2(data, exact);
    Require(synchronised == (error ? ACL_ERROR_RT_VECTOR_CORE_EXCEPTION : ACL_SUCCESS));
    if (error) {
        const std::string message = aclGetRecentErrMsg();
        Require(message.find("query " + std::to_string(error->query) + " (row " +
                             std::to_string(error->row) + "):") != std::string::npos);
    }
    batch.RequireEqual(data);
    return 0;
}
