// SPDX-License-Identifier: Apache-2.0
// The options of an operator compiler, which are kept and can be read. Nothing is compiled.

#include <pthread.h>

#include <array>
#include <atomic>
#include <cstdlib>
#include <cstring>
#include <mutex>

#include "acl/acl_op_compiler.h"
#include "src/cann/boundary.h"

using namespace advstep::cann;

namespace {

constexpr int kOptions = ACL_OP_DEBUG_OPTION + 1;

// The options of the process. The mutex guards the texts, and no other lock is taken while it is
// held. The object is never destroyed, so that threads may still read options at the end of the
// process.
struct Options {
    std::mutex mutex;
    std::array<std::string, kOptions> texts;
    Options* const before;  // of the parent of a fork, which is kept

    explicit Options(Options* parents) : before(parents) { texts[ACL_OP_JIT_COMPILE] = "disable"; }
};

std::atomic<Options*> theOptions{nullptr};

// Makes options while the library is loaded, and others in the child of a fork: a thread of the
// parent may have held the mutex.
void MakeOptions() {
    auto* const made = new (std::nothrow) Options(theOptions.load(std::memory_order_relaxed));
    if (made == nullptr) {
        std::abort();  // neither a program nor a child can continue without memory at its start
    }
    theOptions.store(made, std::memory_order_release);
}

[[maybe_unused]] const int atFork = (MakeOptions(), pthread_atfork(nullptr, nullptr, &MakeOptions));

Options& AllOptions() { return *theOptions.load(std::memory_order_acquire); }

bool Known(aclCompileOpt opt) {
    const int number = static_cast<int>(opt);
    return number >= 0 && number < kOptions;
}

Outcome Unknown(aclCompileOpt opt) {
    return {ACL_ERROR_INVALID_PARAM, "opt is " + std::to_string(static_cast<int>(opt)) +
                                         "; expected 0 <= opt < " + std::to_string(kOptions)};
}

}  // namespace

struct aclGraphDumpOption {};

aclError aclSetCompileopt(aclCompileOpt opt, const char* value) {
    return Boundary("aclSetCompileopt", [&]() -> Outcome {
        if (!Known(opt)) {
            return Unknown(opt);
        }
        if (value == nullptr) {
            return Null("value");
        }
        std::string text = value;
        Options& options = AllOptions();
        const std::lock_guard<std::mutex> lock(options.mutex);
        options.texts[opt].swap(text);
        return {};
    });
}

size_t aclGetCompileoptSize(aclCompileOpt opt) {
    size_t size = 0;
    Boundary("aclGetCompileoptSize", [&]() -> Outcome {
        if (!Known(opt)) {
            return Unknown(opt);
        }
        Options& options = AllOptions();
        const std::lock_guard<std::mutex> lock(options.mutex);
        size = options.texts[opt].size() + 1;
        return {};
    });
    return size;
}

aclError aclGetCompileopt(aclCompileOpt opt, char* value, size_t length) {
    return Boundary("aclGetCompileopt", [&]() -> Outcome {
        if (!Known(opt)) {
            return Unknown(opt);
        }
        if (value == nullptr) {
            return Null("value");
        }
        Options& options = AllOptions();
        const std::lock_guard<std::mutex> lock(options.mutex);
        const size_t size = options.texts[opt].size() + 1;
        if (length < size) {
            return {ACL_ERROR_INVALID_PARAM,
                    "length is " + std::to_string(length) +
                        "; expected at least aclGetCompileoptSize(opt) = " + std::to_string(size)};
        }
        std::memcpy(value, options.texts[opt].c_str(), size);
        return {};
    });
}

aclError aclopSetCompileFlag(aclOpCompileFlag flag) {
    return Boundary("aclopSetCompileFlag", [&]() -> Outcome {
        if (flag != ACL_OP_COMPILE_DEFAULT && flag != ACL_OP_COMPILE_FUZZ) {
            return {ACL_ERROR_INVALID_PARAM,
                    "flag is " + std::to_string(static_cast<int>(flag)) +
                        "; expected ACL_OP_COMPILE_DEFAULT = 0 or ACL_OP_COMPILE_FUZZ = 1"};
        }
        return {};
    });
}

aclGraphDumpOption* aclCreateGraphDumpOpt(void) {
    aclGraphDumpOption* const options = new (std::nothrow) aclGraphDumpOption;
    if (options == nullptr) {
        advstepRecordFailure("aclCreateGraphDumpOpt", ACL_ERROR_BAD_ALLOC,
                             "the host is out of memory");
    }
    return options;
}

aclError aclDestroyGraphDumpOpt(const aclGraphDumpOption* graphDumpOpt) {
    return Boundary("aclDestroyGraphDumpOpt", [&]() -> Outcome {
        if (graphDumpOpt == nullptr) {
            return Null("graphDumpOpt");
        }
        delete graphDumpOpt;
        return {};
    });
}
