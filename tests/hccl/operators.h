// SPDX-License-Identifier: Apache-2.0
// Every operator once, compared with plain loops. Each rank calls the same functions.
#ifndef ADVANCE_STEP_TESTS_HCCL_OPERATORS_H_
#define ADVANCE_STEP_TESTS_HCCL_OPERATORS_H_

#include "hccl/rank.h"

namespace hccl_test {

inline std::string Name(const char* call, HcclDataType type, uint64_t count) {
    return std::string(call) + " of type " + std::to_string(type) + ", count " +
           std::to_string(count);
}

inline Bytes Joined(const std::vector<Bytes>& parts) {
    Bytes all;
    for (const Bytes& part : parts) {
        all.insert(all.end(), part.begin(), part.end());
    }
    return all;
}

// AllReduce, also in place, and Reduce.
inline void CheckReductions(Rank* rank, HcclDataType type, HcclReduceOp op, uint64_t count) {
    const std::vector<Bytes> values = ValuesOfAll(type, rank->size, count, op);
    const Bytes expected = Reduced(type, op, values);
    const uint32_t root = static_cast<uint32_t>(count) % rank->size;
    void* const own = rank->Device(values[rank->rank]);
    void* const out = rank->Room(expected.size());
    void* const toRoot = rank->Room(expected.size());
    HCCL_TEST_CHECK(HcclAllReduce(own, out, count, type, op, rank->comm(), rank->stream()));
    HCCL_TEST_CHECK(HcclReduce(own, toRoot, count, type, op, root, rank->comm(), rank->stream()));
    HCCL_TEST_CHECK(HcclAllReduce(own, own, count, type, op, rank->comm(), rank->stream()));
    rank->Synchronize();
    rank->Expect(out, expected, Name("AllReduce", type, count));
    rank->Expect(own, expected, Name("AllReduce in place", type, count));
    rank->Expect(toRoot, rank->rank == root ? expected : Bytes(expected.size(), 0xab),
                 Name("Reduce", type, count));
    rank->Forget();
}

// `count` elements for each rank; also in place.
inline void CheckReduceScatter(Rank* rank, HcclDataType type, HcclReduceOp op, uint64_t count) {
    const std::vector<Bytes> values = ValuesOfAll(type, rank->size, count * rank->size, op);
    const size_t bytes = count * SizeOf(type);
    const Bytes expected = Slice(Reduced(type, op, values), rank->rank * bytes, bytes);
    auto* const own = static_cast<char*>(rank->Device(values[rank->rank]));
    void* const out = rank->Room(bytes);
    HCCL_TEST_CHECK(HcclReduceScatter(own, out, count, type, op, rank->comm(), rank->stream()));
    HCCL_TEST_CHECK(HcclReduceScatter(own, own + rank->rank * bytes, count, type, op, rank->comm(),
                                      rank->stream()));
    rank->Synchronize();
    rank->Expect(out, expected, Name("ReduceScatter", type, count));
    rank->Expect(own + rank->rank * bytes, expected, Name("ReduceScatter in place", type, count));
    rank->Forget();
}

// Rank r has r + 1 parts of `count` elements, in an order of their own, with gaps.
struct Uneven {
    std::vector<uint64_t> counts, begins;
    uint64_t all = 0;

    Uneven(uint32_t ranks, uint64_t count) : counts(ranks), begins(ranks) {
        for (uint32_t i = ranks; i-- > 0;) {
            counts[i] = i == 1 ? 0 : (i + 1) * count;
            begins[i] = all;
            all += counts[i] + 3;
        }
    }
};

inline void CheckReduceScatterV(Rank* rank, HcclDataType type, HcclReduceOp op, uint64_t count) {
    const Uneven parts(rank->size, count);
    const std::vector<Bytes> values = ValuesOfAll(type, rank->size, parts.all, op);
    const size_t size = SizeOf(type);
    const Bytes expected = Slice(Reduced(type, op, values), parts.begins[rank->rank] * size,
                                 parts.counts[rank->rank] * size);
    void* const own = rank->Device(values[rank->rank]);
    void* const out = rank->Room(expected.size());
    HCCL_TEST_CHECK(HcclReduceScatterV(own, parts.counts.data(), parts.begins.data(), out,
                                       parts.counts[rank->rank], type, op, rank->comm(),
                                       rank->stream()));
    rank->Synchronize();
    rank->Expect(out, expected, Name("ReduceScatterV", type, count));
    rank->Forget();
}

// AllGather, also in place, AllGatherV, Broadcast, Scatter.
inline void CheckCopies(Rank* rank, HcclDataType type, uint64_t count) {
    const std::vector<Bytes> values = ValuesOfAll(type, rank->size, count);
    const Bytes all = Joined(values);
    const size_t bytes = count * SizeOf(type);
    const uint32_t root = static_cast<uint32_t>(count + 1) % rank->size;
    void* const own = rank->Device(values[rank->rank]);
    void* const gathered = rank->Room(all.size());
    Bytes before(all.size(), 0xab);
    std::copy(values[rank->rank].begin(), values[rank->rank].end(),
              before.begin() + static_cast<ptrdiff_t>(rank->rank * bytes));
    auto* const inPlace = static_cast<char*>(rank->Device(before));
    void* const broadcast = rank->Device(values[rank->rank]);
    void* const whole = rank->Device(all);
    void* const scattered = rank->Room(bytes);
    HCCL_TEST_CHECK(HcclAllGather(own, gathered, count, type, rank->comm(), rank->stream()));
    HCCL_TEST_CHECK(HcclAllGather(inPlace + rank->rank * bytes, inPlace, count, type, rank->comm(),
                                  rank->stream()));
    HCCL_TEST_CHECK(HcclBroadcast(broadcast, count, type, root, rank->comm(), rank->stream()));
    HCCL_TEST_CHECK(HcclScatter(rank->rank == root ? whole : nullptr, scattered, count, type, root,
                                rank->comm(), rank->stream()));
    HCCL_TEST_CHECK(HcclBarrier(rank->comm(), rank->stream()));
    rank->Synchronize();
    rank->Expect(gathered, all, Name("AllGather", type, count));
    rank->Expect(inPlace, all, Name("AllGather in place", type, count));
    rank->Expect(broadcast, values[root], Name("Broadcast", type, count));
    rank->Expect(scattered, values[rank->rank], Name("Scatter", type, count));
    rank->Forget();
}

inline void CheckAllGatherV(Rank* rank, HcclDataType type, uint64_t count) {
    const Uneven parts(rank->size, count);
    const size_t size = SizeOf(type);
    Bytes expected(parts.all * size, 0xab);
    for (uint32_t i = 0; i < rank->size; ++i) {
        const Bytes values = ValuesOf(type, i, parts.counts[i]);
        std::copy(values.begin(), values.end(),
                  expected.begin() + static_cast<ptrdiff_t>(parts.begins[i] * size));
    }
    void* const own = rank->Device(ValuesOf(type, rank->rank, parts.counts[rank->rank]));
    void* const out = rank->Room(expected.size());
    HCCL_TEST_CHECK(HcclAllGatherV(own, parts.counts[rank->rank], out, parts.counts.data(),
                                   parts.begins.data(), type, rank->comm(), rank->stream()));
    rank->Synchronize();
    rank->Expect(out, expected, Name("AllGatherV", type, count));
    rank->Forget();
}

// What rank `from` sends to rank `to`.
inline uint64_t CountBetween(uint32_t from, uint32_t to, uint64_t count) {
    return (from * 3 + to) % 4 * count;
}

inline void CheckAllToAll(Rank* rank, HcclDataType type, uint64_t count) {
    const size_t bytes = count * SizeOf(type);
    Bytes expected;
    for (const Bytes& values : ValuesOfAll(type, rank->size, count * rank->size)) {
        const Bytes part = Slice(values, rank->rank * bytes, bytes);
        expected.insert(expected.end(), part.begin(), part.end());
    }
    void* const own = rank->Device(ValuesOf(type, rank->rank, count * rank->size));
    void* const out = rank->Room(expected.size());
    HCCL_TEST_CHECK(HcclAlltoAll(own, count, type, out, count, type, rank->comm(), rank->stream()));
    rank->Synchronize();
    rank->Expect(out, expected, Name("AlltoAll", type, count));
    rank->Forget();
}

// AlltoAllV with gaps, and AlltoAllVC.
inline void CheckUnevenAllToAll(Rank* rank, HcclDataType type, uint64_t count) {
    const uint32_t ranks = rank->size;
    const size_t size = SizeOf(type);
    std::vector<uint64_t> matrix, sent(ranks), sendBegins(ranks), received(ranks),
        recvBegins(ranks);
    Bytes packed, gapped, expected, expectedPacked;
    for (uint32_t from = 0; from < ranks; ++from) {
        for (uint32_t to = 0; to < ranks; ++to) {
            matrix.push_back(CountBetween(from, to, count));
        }
    }
    for (uint32_t i = 0; i < ranks; ++i) {
        sent[i] = CountBetween(rank->rank, i, count);
        received[i] = CountBetween(i, rank->rank, count);
        const Bytes out = ValuesOf(type, rank->rank * ranks + i, sent[i]);
        const Bytes in = ValuesOf(type, i * ranks + rank->rank, received[i]);
        sendBegins[i] = gapped.size() / size;
        recvBegins[i] = expected.size() / size;
        for (Bytes* const buffer : {&packed, &gapped}) {
            buffer->insert(buffer->end(), out.begin(), out.end());
        }
        for (Bytes* const buffer : {&expectedPacked, &expected}) {
            buffer->insert(buffer->end(), in.begin(), in.end());
        }
        gapped.insert(gapped.end(), size, 0xab);
        expected.insert(expected.end(), size, 0xab);
    }
    void* const out = rank->Room(expected.size());
    void* const outPacked = rank->Room(expectedPacked.size());
    HCCL_TEST_CHECK(HcclAlltoAllV(rank->Device(gapped), sent.data(), sendBegins.data(), type, out,
                                  received.data(), recvBegins.data(), type, rank->comm(),
                                  rank->stream()));
    HCCL_TEST_CHECK(HcclAlltoAllVC(rank->Device(packed), matrix.data(), type, outPacked, type,
                                   rank->comm(), rank->stream()));
    rank->Synchronize();
    rank->Expect(out, expected, Name("AlltoAllV", type, count));
    rank->Expect(outPacked, expectedPacked, Name("AlltoAllVC", type, count));
    rank->Forget();
}

// A ring of Send and Recv, and a BatchSendRecv with all ranks, also this one.
inline void CheckMessages(Rank* rank, HcclDataType type, uint64_t count) {
    const uint32_t next = (rank->rank + 1) % rank->size;
    const uint32_t before = (rank->rank + rank->size - 1) % rank->size;
    const Bytes own = ValuesOf(type, rank->rank, count);
    void* const ring = rank->Room(own.size());
    void* const mine = rank->Device(own);
    if (rank->rank % 2 == 0) {
        HCCL_TEST_CHECK(HcclSend(mine, count, type, next, rank->comm(), rank->stream()));
        HCCL_TEST_CHECK(HcclRecv(ring, count, type, before, rank->comm(), rank->stream()));
    } else {
        HCCL_TEST_CHECK(HcclRecv(ring, count, type, before, rank->comm(), rank->stream()));
        HCCL_TEST_CHECK(HcclSend(mine, count, type, next, rank->comm(), rank->stream()));
    }
    std::vector<HcclSendRecvItem> items;
    std::vector<void*> received;
    for (uint32_t i = 0; i < rank->size; ++i) {
        received.push_back(rank->Room(own.size()));
        items.push_back({HCCL_RECV, received.back(), count, type, i});
        items.push_back({HCCL_SEND, mine, count, type, rank->size - 1 - i});
    }
    HCCL_TEST_CHECK(HcclBatchSendRecv(items.data(), static_cast<uint32_t>(items.size()),
                                      rank->comm(), rank->stream()));
    rank->Synchronize();
    rank->Expect(ring, ValuesOf(type, before, count), Name("Send and Recv", type, count));
    for (uint32_t i = 0; i < rank->size; ++i) {
        rank->Expect(received[i], ValuesOf(type, i, count), Name("BatchSendRecv", type, count));
    }
    rank->Forget();
}

inline bool TakenByV(HcclDataType type) {
    return type != HCCL_DATA_TYPE_UINT64 && type != HCCL_DATA_TYPE_FP64;
}

// All operators, data types and operations.
inline void CheckEverything(Rank* rank) {
    for (const HcclDataType type : kReducedTypes) {
        for (const HcclReduceOp op : kOps) {
            CheckReductions(rank, type, op, 77);
            CheckReduceScatter(rank, type, op, 5);
            if (TakenByV(type)) {
                CheckReduceScatterV(rank, type, op, 3);
            }
        }
    }
    for (const HcclDataType type : kCopiedTypes) {
        CheckCopies(rank, type, 33);
        CheckAllGatherV(rank, type, 3);
        CheckAllToAll(rank, type, 9);
        CheckUnevenAllToAll(rank, type, 2);
        CheckMessages(rank, type, 50);
    }
}

// No elements, one, fewer than ranks, and more than one message at a time takes.
inline void CheckSizes(Rank* rank) {
    for (const uint64_t count : {0, 1, 3, 4096, 30001}) {
        CheckReductions(rank, HCCL_DATA_TYPE_FP32, HCCL_REDUCE_SUM, count);
        CheckReduceScatter(rank, HCCL_DATA_TYPE_BFP16, HCCL_REDUCE_SUM, count);
        CheckCopies(rank, HCCL_DATA_TYPE_INT32, count);
        CheckAllToAll(rank, HCCL_DATA_TYPE_INT16, count);
        CheckUnevenAllToAll(rank, HCCL_DATA_TYPE_INT8, count);
    }
    CheckMessages(rank, HCCL_DATA_TYPE_FP64, 200000);
}

}  // namespace hccl_test

#endif  // ADVANCE_STEP_TESTS_HCCL_OPERATORS_H_
