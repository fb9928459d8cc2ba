// SPDX-License-Identifier: Apache-2.0
// Kernels that the tests launch.
#include <pthread.h>

#include <csignal>
#include <cstdlib>
#include <stdexcept>

#include "advance_step/kernel.h"
#include "support/kernel_arguments.h"

namespace {

// What the binary's end adds 1 to.
int64_t* endedWord = nullptr;

struct AtTheEnd {
    ~AtTheEnd() {
        if (endedWord != nullptr) {
            __atomic_fetch_add(endedWord, 1, __ATOMIC_SEQ_CST);
        }
    }
} atTheEnd;

const RowArguments& Rows(const void* args) { return *static_cast<const RowArguments*>(args); }

int Recurse(volatile char* above, int depth) {
    volatile char frame[4096];
    frame[0] = *above;
    return depth < 0 ? 0 : Recurse(frame, depth + 1) + frame[0];
}

// Tests change the digit in the file, which makes another build of it.
const volatile char build[] = "build 1 of the kernels";

}  // namespace

extern "C" __attribute__((visibility("default"))) const int exportedNumber = 5;

ADVSTEP_KERNEL_ENTRY(7, add_rows);
ADVSTEP_KERNEL_ENTRY(8, not_there);

ADVSTEP_KERNEL(add_rows) {
    for (int64_t row = advstepBlockIndex(context); row < Rows(args).count;
         row += advstepBlockCount(context)) {
        Rows(args).values[row] += Rows(args).number;
    }
}

// value = value * 2 + number: the order of launches shows.
ADVSTEP_KERNEL(double_and_add) {
    for (int64_t row = advstepBlockIndex(context); row < Rows(args).count;
         row += advstepBlockCount(context)) {
        Rows(args).values[row] = Rows(args).values[row] * 2 + Rows(args).number;
    }
}

// values[block] counts the calls; nothing is atomic, for no other block writes it.
ADVSTEP_KERNEL(count_blocks) {
    Rows(args).values[advstepBlockIndex(context)] += advstepBlockCount(context);
}

// values[0] is how many blocks run now, values[1] the most so far.
ADVSTEP_KERNEL(most_at_a_time) {
    int64_t* const values = Rows(args).values;
    const int64_t now = __atomic_add_fetch(&values[0], 1, __ATOMIC_SEQ_CST);
    int64_t most = __atomic_load_n(&values[1], __ATOMIC_SEQ_CST);
    while (most < now && !__atomic_compare_exchange_n(&values[1], &most, now, false,
                                                      __ATOMIC_SEQ_CST, __ATOMIC_SEQ_CST)) {
    }
    for (volatile int spin = 0; spin < 2000; spin = spin + 1) {
    }
    __atomic_sub_fetch(&values[0], 1, __ATOMIC_SEQ_CST);
}

// Negative values are faults of kind 3.
ADVSTEP_KERNEL(check_rows) {
    for (int64_t row = advstepBlockIndex(context); row < Rows(args).count;
         row += advstepBlockCount(context)) {
        if (Rows(args).values[row] < 0) {
            const int64_t values[2] = {Rows(args).values[row], Rows(args).number};
            advstepReportFault(context, row, 3, values, 2);
        }
    }
}

// Every block reports row `number`, twice, with its own number as the kind.
ADVSTEP_KERNEL(same_row) {
    const auto block = static_cast<int32_t>(advstepBlockIndex(context));
    const int64_t values[6] = {1, 2, 3, 4, 5, 6};
    advstepReportFault(context, Rows(args).number, block, values, 6);
    advstepReportFault(context, Rows(args).number, block + 1000, nullptr, 0);
}

ADVSTEP_KERNEL(throws) { throw std::runtime_error("thrown on purpose"); }

ADVSTEP_KERNEL(exits) { pthread_exit(nullptr); }

ADVSTEP_KERNEL(gate) {
    const auto& words = *static_cast<const GateArguments*>(args);
    __atomic_fetch_add(words.entered, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(words.opened, __ATOMIC_SEQ_CST) == 0) {
    }
}

// Calls back, once all blocks run at the same time, each on a thread of its own.
ADVSTEP_KERNEL(calls_together) {
    const auto& call = *static_cast<const CallArguments*>(args);
    __atomic_fetch_add(call.entered, 1, __ATOMIC_SEQ_CST);
    while (__atomic_load_n(call.entered, __ATOMIC_SEQ_CST) < advstepBlockCount(context)) {
    }
    call.function(call.argument, advstepBlockIndex(context));
}

ADVSTEP_KERNEL(at_the_end) { endedWord = Rows(args).values; }

ADVSTEP_KERNEL(sum_data) {
    const auto& a = *static_cast<const PlaceArguments*>(args);
    int64_t sum = 0;
    for (int64_t i = 0; i < a.count; ++i) {
        sum += a.data[i];
    }
    *a.out = sum;
}

// Stores the first of the data, and changes it.
ADVSTEP_KERNEL(use_up) {
    const auto& a = *static_cast<const PlaceArguments*>(args);
    *a.out = *a.data;
    *const_cast<int32_t*>(a.data) += 1;
}

ADVSTEP_KERNEL(build_number) { *Rows(args).values = build[6] - '0'; }

// The address of the arguments, and a copy of `count` bytes of them.
ADVSTEP_KERNEL(copy_args) {
    const auto& a = *static_cast<const PlaceArguments*>(args);
    *a.out = reinterpret_cast<int64_t>(args);
    __builtin_memcpy(a.out + 1, args, static_cast<size_t>(a.count));
}

// The address of the arguments modulo 16.
ADVSTEP_KERNEL(alignment) {
    *static_cast<const PlaceArguments*>(args)->out =
        static_cast<int64_t>(reinterpret_cast<uintptr_t>(args) % 16);
}

ADVSTEP_KERNEL(crash) {
    const int64_t how = Rows(args).number;
    if (static_cast<int64_t>(advstepBlockIndex(context)) != Rows(args).count) {
        return;
    }
    volatile int zero = 0;
    char here = 0;
    switch (how) {
        case kCrashNull:
            *reinterpret_cast<volatile int*>(zero + 16) = 1;
            break;
        case kCrashDivide:
            __asm__ volatile("" : "+m"(zero));
#if defined(__x86_64__)
            __asm__ volatile("xorl %%ecx, %%ecx; movl $1, %%eax; cltd; idivl %%ecx" ::
                                 : "eax", "ecx", "edx");
#else
            raise(SIGFPE);
#endif
            break;
        case kCrashIllegal:
            __builtin_trap();
        case kCrashAbort:
            std::abort();
        case kCrashStack:
            zero = Recurse(&here, 0);
            break;
        default:
            raise(SIGBUS);
    }
}

// A CPU kernel: pointer, then number, packed.
extern "C" __attribute__((visibility("default"))) uint32_t cpu_store(void* args) {
    int32_t* out = nullptr;
    int32_t number = 0;
    __builtin_memcpy(&out, args, sizeof(out));
    __builtin_memcpy(&number, static_cast<char*>(args) + sizeof(out), sizeof(number));
    *out = number;
    return number < 0 ? 17 : 0;
}
