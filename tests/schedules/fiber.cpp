// SPDX-License-Identifier: Apache-2.0
// Implements fibers: stacks, switches and thread-local variables.
#ifdef _FORTIFY_SOURCE
#undef _FORTIFY_SOURCE  // its longjmp refuses to leave a stack for another one
#endif
#include "tests/schedules/fiber.h"

#include <cxxabi.h>
#include <link.h>
#include <sys/mman.h>

#include <cstdint>
#include <cstdlib>
#include <cstring>

namespace schedules {
namespace {

constexpr size_t kStackBytes = size_t{1} << 20;  // committed as far as it is used
constexpr size_t kGuardBytes = 4096;

// The program's own thread-local block: its place, and what a new thread finds there.
struct ProgramLocals {
    char* place = nullptr;
    const void* image = nullptr;
    size_t imageBytes = 0;
    size_t bytes = 0;
};

int FindLocals(dl_phdr_info* info, size_t, void* result) {
    auto& locals = *static_cast<ProgramLocals*>(result);
    for (int i = 0; i < info->dlpi_phnum; ++i) {
        const ElfW(Phdr)& header = info->dlpi_phdr[i];
        if (header.p_type == PT_TLS) {
            locals.place = static_cast<char*>(info->dlpi_tls_data);
            locals.image = reinterpret_cast<const void*>(info->dlpi_addr + header.p_vaddr);
            locals.imageBytes = header.p_filesz;
            locals.bytes = header.p_memsz;
        }
    }
    return 1;  // the first one is the program
}

const ProgramLocals& Locals() {
    static const ProgramLocals locals = [] {
        ProgramLocals found;
        dl_iterate_phdr(&FindLocals, &found);
        return found;
    }();
    return locals;
}

void* StackOf(size_t number) {
    static std::vector<void*> stacks;
    while (stacks.size() <= number) {
        void* const stack = mmap(nullptr, kStackBytes, PROT_READ | PROT_WRITE,
                                 MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
        if (stack == MAP_FAILED || mprotect(stack, kGuardBytes, PROT_NONE) != 0) {
            std::abort();
        }
        stacks.push_back(stack);
    }
    return stacks[number];
}

Fiber* running = nullptr;

}  // namespace

Fiber::Fiber() : started_(true), locals_(Locals().bytes) { running = this; }

Fiber::Fiber(size_t number, std::function<void()> body)
    : body_(std::move(body)), locals_(Locals().bytes) {
    if (Locals().imageBytes > 0) {
        std::memcpy(locals_.data(), Locals().image, Locals().imageBytes);
    }
    getcontext(&start_);
    start_.uc_stack.ss_sp = StackOf(number);
    start_.uc_stack.ss_size = kStackBytes;
    start_.uc_link = nullptr;
    const auto self = reinterpret_cast<uintptr_t>(this);
    makecontext(&start_, reinterpret_cast<void (*)()>(&Enter), 2,
                static_cast<unsigned int>(self >> 32), static_cast<unsigned int>(self));
}

Fiber::~Fiber() {
    if (running == this) {
        running = nullptr;
    }
}

void Fiber::Enter(unsigned int high, unsigned int low) {
    auto* const self =
        reinterpret_cast<Fiber*>((static_cast<uintptr_t>(high) << 32) | uintptr_t{low});
    self->body_();
    std::abort();  // the body ends by a switch
}

void Fiber::Jump(Fiber* from, Fiber* to) {
    if (_setjmp(from->place_) != 0) {
        return;
    }
    if (to->started_) {
        _longjmp(to->place_, 1);
    }
    to->started_ = true;
    setcontext(&to->start_);
}

void Fiber::Switch(Fiber* from, Fiber* to) {
    const ProgramLocals& locals = Locals();
    auto* const exceptions = reinterpret_cast<Exceptions*>(abi::__cxa_get_globals());
    from->exceptions_ = *exceptions;
    *exceptions = to->exceptions_;
    if (locals.bytes > 0) {
        std::memcpy(from->locals_.data(), locals.place, locals.bytes);
        std::memcpy(locals.place, to->locals_.data(), locals.bytes);
    }
    running = to;
    Jump(from, to);
}

void Fiber::EndThreadLocals() {
    while (!ends_.empty()) {
        const AtEnd last = ends_.back();
        ends_.pop_back();
        last.destroy(last.object);
    }
}

}  // namespace schedules

// The compiler calls this for each thread-local object with a destructor. The definition here comes
// before that of the C++ run-time library, which knows threads of the operating system only.
extern "C" int __cxa_thread_atexit(void (*destroy)(void*), void* object, void*) noexcept {
    if (schedules::running != nullptr) {
        schedules::running->AtThreadEnd(destroy, object);
    }
    return 0;
}
