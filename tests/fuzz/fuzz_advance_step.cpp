// Both phases of AdvanceStep on any arguments and data: never a crash, and on legal arguments the
// same result, or the same refusal with nothing written, as the plain reference.
#include <cstdlib>
#include <cstring>
#include <string>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_advance_step.h"
#include "fuzz/fuzz_input.h"
#include "reference/advance_step_reference.h"

namespace {

constexpr int64_t kVectorCores = 7;

void Require(bool holds) {
    if (!holds) {
        std::abort();
    }
}

reference::AdvanceStepData MakeData(FuzzInput* input) {
    reference::AdvanceStepData data;
    data.numSeqs = input->In(1, 24);
    data.numQueries = input->In(0, data.numSeqs);
    data.maxBlocks = input->In(1, 5);
    data.blockSize = input->Byte() % 8 == 0 ? input->Value(64) : input->In(1, 16);
    const auto rows = static_cast<size_t>(data.numSeqs);
    data.inputTokens.assign(rows, 5);
    data.inputPositions.assign(rows, 6);
    data.slotMapping.assign(rows, 7);
    const int64_t longest = data.maxBlocks * 8;
    for (size_t row = 0; row < rows; ++row) {
        data.seqLens.push_back(input->Byte() % 4 == 0 ? input->Value(longest)
                                                      : input->In(0, longest));
    }
    for (int64_t query = 0; query < data.numQueries; ++query) {
        data.sampledTokenIds.push_back(input->Value(1000));
    }
    for (int64_t entry = 0; entry < data.numSeqs * data.maxBlocks; ++entry) {
        data.blockTables.push_back(input->Byte() % 8 == 0 ? input->Value(1000) : input->In(0, 99));
    }
    return data;
}

std::vector<int64_t> ShapeOf(const reference::AdvanceStepData& data, size_t index) {
    switch (index) {
        case 1:
            return {data.numQueries, 1};
        case 5:
            return {data.numSeqs, data.maxBlocks};
        default:
            return {data.numSeqs};
    }
}

class DeviceBatch {
 public:
    DeviceBatch(const reference::AdvanceStepData& data, FuzzInput* input) {
        for (size_t index = 0; index < 6; ++index) {
            const std::vector<int64_t>& values = *data.Tensors()[index];
            const size_t bytes = (values.size() + 1) * sizeof(int64_t);
            Require(aclrtMalloc(&memory_[index], bytes, ACL_MEM_MALLOC_NORMAL_ONLY) == 0);
            if (!values.empty()) {
                Require(aclrtMemcpy(memory_[index], bytes, values.data(),
                                    values.size() * sizeof(int64_t),
                                    ACL_MEMCPY_HOST_TO_DEVICE) == 0);
            }
            std::vector<int64_t> shape = ShapeOf(data, index);
            aclDataType type = ACL_INT64;
            int64_t offset = 0;
            legal_ = legal_ && data.numQueries >= 1;
            switch (input->Byte()) {  // break one argument now and then
                case 1:
                    shape.push_back(input->In(0, 2));
                    legal_ = legal_ && index != 1 && index != 5 && shape.back() == 1;
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
        for (size_t index = 0; index < 6; ++index) {
            Require(aclDestroyTensor(tensors_[index]) == 0);
            Require(aclrtFree(memory_[index]) == 0);
        }
    }

    bool legal() const { return legal_; }

    aclnnStatus PhaseOne(const reference::AdvanceStepData& data, aclOpExecutor** executor) const {
        uint64_t workspaceSize = 0;
        return aclnnAdvanceStepGetWorkspaceSize(
            tensors_[0], tensors_[1], tensors_[2], tensors_[3], tensors_[4], tensors_[5],
            data.numSeqs, data.numQueries, data.blockSize, &workspaceSize, executor);
    }

    void RequireEqual(const reference::AdvanceStepData& expected) const {
        for (size_t index = 0; index < 6; ++index) {
            const std::vector<int64_t>& values = *expected.Tensors()[index];
            std::vector<int64_t> actual(values.size() + 1);
            const size_t bytes = actual.size() * sizeof(int64_t);
            Require(aclrtMemcpy(actual.data(), bytes, memory_[index], bytes,
                                ACL_MEMCPY_DEVICE_TO_HOST) == 0);
            Require(std::equal(values.begin(), values.end(), actual.begin()));
        }
    }

 private:
    void* memory_[6] = {};
    aclTensor* tensors_[6] = {};
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
    setenv("ADVANCE_STEP_SOC", ("sim:" + std::to_string(kVectorCores)).c_str(), 1);
    setenv("ADVANCE_STEP_CONFORMANCE", exact ? "exact" : "standard", 1);
    Require(aclInit(nullptr) == 0 && aclrtSetDevice(0) == 0);
    current = static_cast<int>(exact);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const uint8_t* bytes, size_t size) {
    FuzzInput input(bytes, size);
    const bool exact = input.Byte() % 4 == 0;
    UseConformance(exact);
    reference::AdvanceStepData data = MakeData(&input);
    const DeviceBatch batch(data, &input);
    aclOpExecutor* executor = nullptr;
    const aclnnStatus planned = batch.PhaseOne(data, &executor);
    const bool attributesLegal =
        data.numQueries >= 1 && data.numQueries < data.numSeqs && data.blockSize >= 1;
    if (planned != ACLNN_SUCCESS) {
        Require(executor == nullptr && aclGetRecentErrMsg() != nullptr);
        Require(!batch.legal() || !attributesLegal);
        return 0;
    }
    Require(attributesLegal);
    const aclnnStatus launched = aclnnAdvanceStep(nullptr, 0, executor, nullptr);
    if (!batch.legal()) {  // such as an offset that may or may not stay inside the memory
        (void)aclrtSynchronizeStream(nullptr);
        return 0;
    }
    Require(launched == ACLNN_SUCCESS);
    const aclError synchronised = aclrtSynchronizeStream(nullptr);
    const auto error = exact ? reference::AdvanceStepExact(data, kVectorCores)
                             : reference::AdvanceStepStandard(data);
    Require(synchronised == (error ? ACL_ERROR_RT_VECTOR_CORE_EXCEPTION : ACL_SUCCESS));
    if (error) {
        const std::string message = aclGetRecentErrMsg();
        Require(message.find("query " + std::to_string(error->query) + ":") != std::string::npos);
    }
    batch.RequireEqual(data);
    return 0;
}
