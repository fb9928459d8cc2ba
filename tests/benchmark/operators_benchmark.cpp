// SPDX-License-Identifier: Apache-2.0
// CANN's operators beside ATen's own calls, as rows of the dashboard.
//
//   operators_benchmark FILE
#include <ATen/ATen.h>
#include <c10/core/InferenceMode.h>

#include <cstdint>
#include <vector>

#include "acl/acl.h"
#include "aclnnop/aclnn_add.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_mm.h"
#include "tests/benchmark/require.h"
#include "tests/benchmark/series_file.h"

namespace {

constexpr int64_t kFew = 16;
constexpr int64_t kLarge = 1024;
constexpr int64_t kWide = 2048;
constexpr int kChain = 100;

// A tensor of ATen in device memory, and its description.
class DeviceTensor {
 public:
    DeviceTensor(const std::vector<int64_t>& shape, at::ScalarType type, aclDataType dataType) {
        const at::Tensor values = at::randn(shape).to(type);
        Require(aclrtMalloc(&address_, values.nbytes(), ACL_MEM_MALLOC_HUGE_FIRST));
        Require(aclrtMemcpy(address_, values.nbytes(), values.data_ptr(), values.nbytes(),
                            ACL_MEMCPY_HOST_TO_DEVICE));
        handle_ = aclCreateTensor(shape.data(), shape.size(), dataType, nullptr, 0, ACL_FORMAT_ND,
                                  shape.data(), shape.size(), address_);
        tensor_ = at::from_blob(address_, shape, at::TensorOptions(type));
    }
    explicit DeviceTensor(const std::vector<int64_t>& shape)
        : DeviceTensor(shape, at::kFloat, ACL_FLOAT) {}
    ~DeviceTensor() {
        Require(aclDestroyTensor(handle_));
        Require(aclrtFree(address_));
    }
    DeviceTensor(DeviceTensor&&) = delete;

    aclTensor* Handle() const { return handle_; }
    at::Tensor& Tensor() { return tensor_; }

 private:
    void* address_ = nullptr;
    aclTensor* handle_ = nullptr;
    at::Tensor tensor_;
};

class Measured {
 public:
    Measured() {
        Require(aclInit(nullptr));
        Require(aclrtSetDevice(0));
        Require(aclrtCreateStream(&stream_));
        float one = 1;
        alpha_ = aclCreateScalar(&one, ACL_FLOAT);
    }

    void Small(bench::SeriesFile* file) {
        DeviceTensor a({kFew});
        DeviceTensor b({kFew});
        DeviceTensor sum({kFew});
        file->Add("operator_small",
                  {bench::InARow([&] {
                       Add(a, b, sum);
                       Require(aclrtSynchronizeStream(stream_));
                   }),
                   bench::InARow([&] { at::add_out(sum.Tensor(), a.Tensor(), b.Tensor()); })},
                  {});
    }

    void Chain(bench::SeriesFile* file) {
        DeviceTensor a({kFew});
        DeviceTensor b({kFew});
        DeviceTensor sum({kFew});
        const auto calls = [&] {
            for (int call = 0; call < kChain; ++call) {
                Add(a, b, sum);
            }
        };
        aclmdlRI model = nullptr;
        Require(aclmdlRICaptureBegin(stream_, ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL));
        calls();
        Require(aclmdlRICaptureEnd(stream_, &model));
        file->Add("operator_graph",
                  {bench::InARow([&] {
                       Require(aclmdlRIExecuteAsync(model, stream_));
                       Require(aclrtSynchronizeStream(stream_));
                   }),
                   bench::InARow([&] {
                       calls();
                       Require(aclrtSynchronizeStream(stream_));
                   })},
                  {});
        Require(aclmdlRIDestroy(model));
    }

    void Product(bench::SeriesFile* file) {
        DeviceTensor a({kLarge, kLarge});
        DeviceTensor b({kLarge, kLarge});
        DeviceTensor product({kLarge, kLarge});
        file->Add("operator_matmul",
                  {bench::InARow([&] {
                       uint64_t size = 0;
                       aclOpExecutor* executor = nullptr;
                       Require(aclnnMatmulGetWorkspaceSize(a.Handle(), b.Handle(), product.Handle(),
                                                           0, &size, &executor));
                       Require(aclnnMatmul(nullptr, 0, executor, stream_));
                       Require(aclrtSynchronizeStream(stream_));
                   }),
                   bench::InARow([&] { at::mm_out(product.Tensor(), a.Tensor(), b.Tensor()); })},
                  {});
    }

    void Half(bench::SeriesFile* file) {
        DeviceTensor row({1, kWide}, at::kHalf, ACL_FLOAT16);
        DeviceTensor matrix({kWide, kWide}, at::kHalf, ACL_FLOAT16);
        DeviceTensor product({1, kWide}, at::kHalf, ACL_FLOAT16);
        const at::Tensor wideRow = row.Tensor().to(at::kFloat);
        const at::Tensor wideMatrix = matrix.Tensor().to(at::kFloat);
        at::Tensor wideProduct = at::empty({1, kWide});
        file->Add("operator_half",
                  {bench::InARow([&] {
                       uint64_t size = 0;
                       aclOpExecutor* executor = nullptr;
                       Require(aclnnMmGetWorkspaceSize(row.Handle(), matrix.Handle(),
                                                       product.Handle(), 0, &size, &executor));
                       Require(aclnnMm(nullptr, 0, executor, stream_));
                       Require(aclrtSynchronizeStream(stream_));
                   }),
                   bench::InARow([&] { at::mm_out(wideProduct, wideRow, wideMatrix); })},
                  {});
    }

 private:
    void Add(const DeviceTensor& a, const DeviceTensor& b, const DeviceTensor& sum) {
        uint64_t size = 0;
        aclOpExecutor* executor = nullptr;
        Require(aclnnAddGetWorkspaceSize(a.Handle(), b.Handle(), alpha_, sum.Handle(), &size,
                                         &executor));
        Require(aclnnAdd(nullptr, 0, executor, stream_));
    }

    aclrtStream stream_ = nullptr;
    aclScalar* alpha_ = nullptr;
};

}  // namespace

int main(int argc, char** argv) {
    if (argc != 2) {
        return 2;
    }
    const c10::InferenceMode mode;
    bench::SeriesFile file(argv[1]);
    Measured measured;
    measured.Small(&file);
    measured.Chain(&file);
    measured.Product(&file);
    measured.Half(&file);
    return file.Close() ? 0 : 1;
}
