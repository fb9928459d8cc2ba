// SPDX-License-Identifier: Apache-2.0
// Ranks as processes.
#ifndef ADVANCE_STEP_TESTS_HCCL_PROCESSES_H_
#define ADVANCE_STEP_TESTS_HCCL_PROCESSES_H_

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>
#include <list>
#include <memory>
#include <string>
#include <vector>

#include "hccl/rank.h"
#include "support/child_process.h"

namespace hccl_test {

inline constexpr const char* kRootFile = "HCCL_TEST_ROOT_FILE";

// A variable of the environment of processes that start later.
class Variable {
 public:
    Variable(const char* name, const std::string& value) : name_(name) {
        setenv(name, value.c_str(), 1);
    }
    ~Variable() { unsetenv(name_); }
    Variable(const Variable&) = delete;
    Variable& operator=(const Variable&) = delete;

 private:
    const char* const name_;
};

// The root info goes to the ranks by a file, as it would go by any way of a program.
class RootFile {
 public:
    RootFile() : path_(testing::TempDir() + "hccl_root_" + std::to_string(getpid())) {
        HcclRootInfo root;
        EXPECT_EQ(HcclGetRootInfo(&root), HCCL_SUCCESS);
        std::ofstream(path_, std::ios::binary).write(root.internal, sizeof root.internal);
    }
    ~RootFile() { (void)std::remove(path_.c_str()); }
    RootFile(const RootFile&) = delete;
    RootFile& operator=(const RootFile&) = delete;

    static HcclRootInfo Read() {
        HcclRootInfo root;
        std::ifstream(getenv(kRootFile), std::ios::binary)
            .read(root.internal, sizeof root.internal);
        return root;
    }

 private:
    const std::string path_;
    const Variable variable_{kRootFile, path_};
};

// In a rank's process: keeps what went wrong.
template <typename Body>
void Guarded(support::Words* words, const Body& body) {
    try {
        body();
    } catch (const std::exception& error) {
        words->code = -2;
        std::strncpy(words->text, error.what(), sizeof words->text - 1);
    }
}

// In a rank's process: words 0 and 1 are rank and ranks. The communicator stays for later
// functions.
inline HcclComm theComm = nullptr;

inline void InitByRoot(support::Words* words) {
    Guarded(words, [&] {
        HCCL_TEST_CHECK(aclInit(nullptr));
        HCCL_TEST_CHECK(aclrtSetDevice(0));
        const HcclRootInfo root = RootFile::Read();
        HCCL_TEST_CHECK(HcclCommInitRootInfo(static_cast<uint32_t>(words->at[1]), &root,
                                             static_cast<uint32_t>(words->at[0]), &theComm));
    });
}

// Processes that run the same functions.
class Processes {
 public:
    explicit Processes(uint32_t ranks) {
        for (uint32_t rank = 0; rank < ranks; ++rank) {
            all_.push_back(std::make_unique<support::ChildProcess>());
        }
    }

    support::ChildProcess& operator[](uint32_t rank) { return *all_[rank]; }
    uint32_t size() const { return static_cast<uint32_t>(all_.size()); }

    void Start(support::Remote function, uint64_t argument = 0) {
        for (uint32_t rank = 0; rank < size(); ++rank) {
            all_[rank]->Start(function, {rank, size(), argument});
        }
    }
    void ExpectGood() {
        for (uint32_t rank = 0; rank < size(); ++rank) {
            const support::Words words = all_[rank]->Result();
            EXPECT_EQ(words.code, 0) << "rank " << rank << ": " << words.text;
        }
    }
    void Run(support::Remote function, uint64_t argument = 0) {
        Start(function, argument);
        ExpectGood();
    }

 private:
    std::vector<std::unique_ptr<support::ChildProcess>> all_;
};

}  // namespace hccl_test

#endif  // ADVANCE_STEP_TESTS_HCCL_PROCESSES_H_
