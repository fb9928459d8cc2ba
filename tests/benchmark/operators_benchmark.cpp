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
#include "aclnnop/aclnn_incre_flash_attention_v4.h"
#include "aclnnop/aclnn_matmul.h"
#include "aclnnop/aclnn_mm.h"
#include "tests/benchmark/require.h"
#include "tests/benchmark/series_file.h"

namespace {

constexpr int64_t kFew = 16;
constexpr int64_t kLarge = 1024;
constexpr int64_t kWide = 2048;
constexpr int kChain = 100;
// A step of decoding: requests of so many tokens, in a cache of blocks.
constexpr int64_t kRequests = 32;
constexpr int64_t kTokens = 1024;
constexpr int64_t kBlockTokens = 128;
constexpr int64_t kHeads = 8;
constexpr int64_t kHeadSize = 128;
constexpr double kScale = 0.0883883476;  // 1 / sqrt(kHeadSize)

// A tensor of ATen in device memory, and its description.
class DeviceTensor {
 public:
    DeviceTensor(const std::vector<int64_t>& shape, at::ScalarType type, aclDataType dataType)
        : DeviceTensor(at::randn(shape).to(type), dataType) {}
    DeviceTensor(const at::Tensor& values, aclDataType dataType) {
        const at::IntArrayRef shape = values.sizes();
        Require(aclrtMalloc(&address_, values.nbytes(), ACL_MEM_MALLOC_HUGE_FIRST));
        Require(aclrtMemcpy(address_, values.nbytes(), values.data_ptr(), values.nbytes(),
                            ACL_MEMCPY_HOST_TO_DEVICE));
        handle_ = aclCreateTensor(shape.data(), shape.size(), dataType, nullptr, 0, ACL_FORMAT_ND,
                                  shape.data(), shape.size(), address_);
        tensor_ = at::from_blob(address_, shape, values.options());
    }
    explicit DeviceTensor(std::initializer_list<int64_t> shape)
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

    // The blocks of the requests lie in another order in the cache. ATen has keys and values that
    // somebody has gathered before.
    void PagedDecode(bench::SeriesFile* file, const char* row, at::ScalarType type,
                     aclDataType dataType) {
        constexpr int64_t kBlocks = kRequests * kTokens / kBlockTokens;
        DeviceTensor query({kRequests, 1, kHeads * kHeadSize}, type, dataType);
        DeviceTensor key({kBlocks, kBlockTokens, kHeads * kHeadSize}, type, dataType);
        DeviceTensor value({kBlocks, kBlockTokens, kHeads * kHeadSize}, type, dataType);
        DeviceTensor out({kRequests, 1, kHeads * kHeadSize}, type, dataType);
        DeviceTensor table(at::randperm(kBlocks).to(at::kInt).reshape({kRequests, -1}), ACL_INT32);
        const auto gathered = [&](const at::Tensor& cache) {
            return at::index_select(cache, 0, table.Tensor().flatten())
                .reshape({kRequests, kTokens, kHeads, kHeadSize})
                .transpose(1, 2)
                .contiguous();
        };
        const at::Tensor keys = gathered(key.Tensor());
        const at::Tensor values = gathered(value.Tensor());
        const at::Tensor queries = query.Tensor().reshape({kRequests, kHeads, 1, kHeadSize});
        const Decode decode(&query, &key, &value, &table, &out);
        at::Tensor wanted;
        file->Add(row,
                  {bench::InARow([&] {
                       decode.Call(stream_);
                       Require(aclrtSynchronizeStream(stream_));
                   }),
                   bench::InARow(
                       [&] { wanted = at::scaled_dot_product_attention(queries, keys, values); })},
                  {});
        const at::Tensor difference = at::sub(out.Tensor().flatten(), wanted.flatten());
        if (at::abs(difference).max().item<double>() > 1e-2) {
            Require(ACL_ERROR_FAILURE);
        }
    }

 private:
    // The arguments of a call of decode attention.
    class Decode {
     public:
        Decode(const DeviceTensor* query, const DeviceTensor* key, const DeviceTensor* value,
               const DeviceTensor* table, const DeviceTensor* out)
            : query_(query), table_(table), out_(out) {
            aclTensor* const keys[] = {key->Handle()};
            aclTensor* const values[] = {value->Handle()};
            keys_ = aclCreateTensorList(keys, 1);
            values_ = aclCreateTensorList(values, 1);
            const std::vector<int64_t> lengths(kRequests, kTokens);
            lengths_ = aclCreateIntArray(lengths.data(), lengths.size());
        }
        void Call(aclrtStream stream) const {
            uint64_t size = 0;
            aclOpExecutor* executor = nullptr;
            char layout[] = "BSH";
            Require(aclnnIncreFlashAttentionV4GetWorkspaceSize(
                query_->Handle(), keys_, values_, nullptr, nullptr, lengths_, nullptr, nullptr,
                nullptr, nullptr, nullptr, nullptr, nullptr, table_->Handle(), nullptr, kHeads,
                kScale, layout, kHeads, kBlockTokens, 0, out_->Handle(), &size, &executor));
            Require(aclnnIncreFlashAttentionV4(nullptr, 0, executor, stream));
        }

     private:
        const DeviceTensor* query_;
        const DeviceTensor* table_;
        const DeviceTensor* out_;
        aclTensorList* keys_ = nullptr;  // with the tensors of their caller
        aclTensorList* values_ = nullptr;
        aclIntArray* lengths_ = nullptr;
    };

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
    measured.PagedDecode(&file, "operator_paged_decode", at::kFloat, ACL_FLOAT);
    measured.PagedDecode(&file, "operator_paged_decode_half", at::kHalf, ACL_FLOAT16);
    return file.Close() ? 0 : 1;
}
