// SPDX-License-Identifier: Apache-2.0
// Describes an access to a guarded block from within the signal handler.

#include "src/runtime/memory/guard_signal.h"

#include <signal.h>
#include <ucontext.h>

#include <cstdlib>

#include "src/base/crash_signal.h"
#include "src/base/signal_line.h"
#include "src/runtime/memory/guarded_memory.h"

namespace advstep {
namespace {

// "offset 24 of the 24 bytes at 0x7f.. of aclrtMalloc on device 0"
void Describe(SignalLine& line, const GuardRecord& record, uintptr_t address) {
    const uintptr_t begin = record.begin.load(std::memory_order_relaxed);
    const int32_t device = record.device.load(std::memory_order_relaxed);
    line << "offset ";
    line.Offset(static_cast<int64_t>(address - begin));
    line << " of the ";
    line.Number(record.bytes.load(std::memory_order_relaxed)) << " bytes at ";
    line.Address(begin) << (device == GuardRecord::kPinned ? " of aclrtMallocHost"
                                                           : " of aclrtMalloc on device ");
    if (device != GuardRecord::kPinned) {
        line.Number(static_cast<uint64_t>(device));
    }
}

void Expect(SignalLine& line, const GuardRecord& record) {
    line << "; expected an offset from 0 to ";
    line.Number(record.bytes.load(std::memory_order_relaxed) - 1);
}

const char* AccessOf(const void* context) {
#ifdef __x86_64__
    constexpr greg_t kWriteBit = 2;  // of the page fault's error code
    const auto* const user = static_cast<const ucontext_t*>(context);
    return (user->uc_mcontext.gregs[REG_ERR] & kWriteBit) != 0 ? "write" : "read";
#else
    (void)context;
    return "access";
#endif
}

void DescribeAccess(int, const siginfo_t& info, const void* context) {
    const auto address = reinterpret_cast<uintptr_t>(info.si_addr);
    const GuardRecord* const record =
        info.si_code > 0 ? GuardedMemory::Instance().Find(address) : nullptr;
    if (record == nullptr) {
        return;
    }
    const bool freed = record->freed.load(std::memory_order_relaxed);
    SignalLine line;
    line << "advance_step error: guard: " << AccessOf(context) << " at ";
    line.Address(address) << ", " << (freed ? "in freed memory: " : "");
    Describe(line, *record, address);
    if (freed) {
        line << "; expected memory that has not been freed";
    } else {
        Expect(line, *record);
    }
    line.Write();
}

}  // namespace

void InstallGuardHandler() { DescribeCrashes({SIGSEGV, SIGBUS}, &DescribeAccess); }

void DieOfWrittenEdge(const GuardRecord& record, uintptr_t address) {
    SignalLine line;
    line << "advance_step error: guard: ";
    line.Address(address) << " has been written before the free, ";
    Describe(line, record, address);
    Expect(line, record);
    line.Write();
    std::abort();
}

}  // namespace advstep
