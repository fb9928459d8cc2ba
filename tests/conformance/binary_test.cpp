// SPDX-License-Identifier: Apache-2.0
// Device binaries: what can be loaded, and what cannot.
#include <elf.h>
#include <sys/resource.h>
#include <unistd.h>

#include <algorithm>
#include <cstring>
#include <fstream>
#include <string>
#include <thread>
#include <vector>

#include "conformance/binary_fixture.h"
#include "support/sanitizers.h"
#include "support/table.h"
#include "support/temp_pipe.h"

namespace conformance {
namespace {

TEST_F(BinaryTest, AFileAndItsBytesAreBinaries) {
    EXPECT_EQ(AddOneBy(binary_), 42);
    std::vector<char> bytes = BytesOf(kBinaryFile);
    aclrtBinHandle loaded = nullptr;
    ASSERT_TRUE(IsOk(LoadBytes(bytes, &loaded)));
    const aclrtBinary data = aclrtCreateBinary(bytes.data(), bytes.size());
    ASSERT_NE(data, nullptr);
    aclrtBinHandle described = nullptr;
    ASSERT_TRUE(IsOk(aclrtBinaryLoad(data, &described)));
    ASSERT_TRUE(IsOk(aclrtDestroyBinary(data)));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE, aclrtDestroyBinary(data), {"binary"}));
    std::fill(bytes.begin(), bytes.end(), 'x');
    EXPECT_EQ(AddOneBy(loaded), 42);
    EXPECT_EQ(AddOneBy(described), 42);
    EXPECT_TRUE(IsOk(aclrtBinaryUnLoad(loaded)));
    EXPECT_EQ(AddOneBy(described), 42);
}

// A download that was not finished: the dynamic linker would crash over most of these.
TEST_F(BinaryTest, ATailOfZerosIsRefusedOrDoesNoHarm) {
    if (support::kAddressSanitizer) {
        GTEST_SKIP() << "the sanitizer's constructor in the binary trusts its tables, which are "
                        "data that may be zeros";
    }
    const std::vector<char> whole = BytesOf(kBinaryFile);
    size_t refused = 0, loads = 0;
    for (size_t begin = 64; begin < whole.size(); begin += 24) {
        std::vector<char> bytes = whole;
        std::fill(bytes.begin() + static_cast<ptrdiff_t>(begin), bytes.end(), '\0');
        aclrtBinHandle loaded = nullptr;
        const aclError code = LoadBytes(bytes, &loaded);
        if (code == ACL_SUCCESS) {
            ++loads;  // the tail is of the symbols of a debugger
            ASSERT_TRUE(IsOk(aclrtBinaryUnLoad(loaded)));
        } else {
            ++refused;
            ASSERT_TRUE(IsError(kInvalid, code, {"aclrtBinaryLoadFromData: data"})) << begin;
        }
    }
    EXPECT_GT(refused, 50U);
    EXPECT_GT(loads, 0U);
}

// The dynamic linker knows objects by their paths, and memory files use descriptors again.
TEST_F(BinaryTest, EachLoadOfDataIsAnObjectOfItsOwn) {
    const std::vector<char> bytes = BytesOf(kBinaryFile);
    std::vector<void*> addresses;
    for (int i = 0; i < 5; ++i) {
        aclrtBinHandle loaded = nullptr;
        ASSERT_TRUE(IsOk(LoadBytes(bytes, &loaded)));
        addresses.push_back(AddressIn(loaded));
    }
    std::sort(addresses.begin(), addresses.end());
    EXPECT_EQ(std::unique(addresses.begin(), addresses.end()), addresses.end());
}

// The dynamic linker would take the name of an open object for that object.
TEST_F(BinaryTest, AFileThatReplacesALoadedOneIsAnotherObject) {
    const BinaryBuild build;
    const aclrtBinHandle first = Load(build);
    build.Replace('2');
    const aclrtBinHandle second = Load(build);
    EXPECT_EQ(BuildOf(second), 2);
    EXPECT_EQ(BuildOf(first), 1);
    EXPECT_EQ(AddressIn(Load(build)), AddressIn(second)) << "the same file again";
    build.Replace('3');
    EXPECT_EQ(BuildOf(Load(build)), 3);
    EXPECT_EQ(BuildOf(second), 2);
}

TEST_F(BinaryTest, AFileThatComesBackIsTheObjectOfBefore) {
    const BinaryBuild build;
    const std::string kept = std::string(build.Path()) + ".kept";
    const aclrtBinHandle first = Load(build);
    ASSERT_EQ(link(build.Path(), kept.c_str()), 0);
    build.Replace('2');
    EXPECT_EQ(BuildOf(Load(build)), 2);
    ASSERT_EQ(std::rename(kept.c_str(), build.Path()), 0);
    EXPECT_EQ(AddressIn(Load(build)), AddressIn(first));
}

TEST_F(BinaryTest, AFileThatReplacesOneOfQueuedLaunchesIsAnotherObject) {
    const BinaryBuild build;
    const Stream stream = MakeStream();
    const PinnedArray<int64_t> number(1);
    const aclrtBinHandle first = Load(build);
    {
        const KernelGate gate(binary_, stream.Get());
        ASSERT_TRUE(IsOk(LaunchWith(FunctionOf(first, "build_number"), 1,
                                    RowArguments{number.Get(), 1, 0}, stream.Get())));
        ASSERT_TRUE(IsOk(aclrtBinaryUnLoad(first)));
    }
    EXPECT_EQ(number[0], 1);
    build.Replace('2');
    EXPECT_EQ(BuildOf(Load(build)), 2);
}

// The path in the message is the caller's.
TEST_F(BinaryTest, AFileThatNeedsASymbolThatIsMissing) {
    const BinaryBuild build;
    const std::vector<char> bytes = BytesOf(kBinaryFile);
    std::string text(bytes.begin(), bytes.end());
    for (size_t at = 0; (at = text.find("pthread_exit", at)) != std::string::npos;) {
        text[at] = 'q';
    }
    build.ReplaceBy(text);
    aclrtBinHandle binary = this;
    EXPECT_TRUE(IsError(kInvalid, aclrtBinaryLoadFromFile(build.Path(), nullptr, &binary),
                        {std::string("binPath ") + build.Path() +
                         " cannot be loaded: undefined symbol: qthread_exit"}));
    EXPECT_EQ(binary, this);
}

TEST_F(BinaryTest, ARelativePathIsOfTheWorkingFolder) {
    const support::TempFile file("");
    const std::vector<char> bytes = BytesOf(kBinaryFile);
    std::ofstream(file.Path(), std::ios::binary)
        .write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
    char before[4096];
    ASSERT_NE(getcwd(before, sizeof(before)), nullptr);
    ASSERT_EQ(chdir("/tmp"), 0);
    aclrtBinHandle loaded = nullptr;
    EXPECT_TRUE(
        IsOk(aclrtBinaryLoadFromFile(std::strrchr(file.Path(), '/') + 1, nullptr, &loaded)));
    ASSERT_EQ(chdir(before), 0);
    EXPECT_EQ(AddOneBy(loaded), 42);
}

TEST_F(BinaryTest, AFileThatIsNoBinary) {
    aclrtBinHandle binary = this;
    const support::TempPipe pipe;
    const support::TempFile empty("");
    const support::TempFile text("int main() { return 0; }");
    const auto load = [&](const char* path) {
        return aclrtBinaryLoadFromFile(path, nullptr, &binary);
    };
    EXPECT_TRUE(IsError(kInvalid, load("/nowhere/kernels.so"),
                        {"aclrtBinaryLoadFromFile: binPath /nowhere/kernels.so", "No such file"}));
    EXPECT_TRUE(IsError(kInvalid, load("/tmp"), {"no regular file"}));
    EXPECT_TRUE(IsError(kInvalid, load(pipe.Path()), {"no regular file"}));
    EXPECT_TRUE(IsError(kInvalid, load(empty.Path()), {"empty"}));
    EXPECT_TRUE(IsError(kInvalid, load(text.Path()), {text.Path(), "no ELF file"}));
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM, load(nullptr), {"binPath"}));
    EXPECT_EQ(binary, this);
}

// Bytes of a binary with one change.
struct SpoiltCase {
    std::string name;
    size_t at;
    char value;
    std::string word;
};

class SpoiltBinaryTest : public BinaryTest, public testing::WithParamInterface<SpoiltCase> {};

TEST_P(SpoiltBinaryTest, IsRefused) {
    std::vector<char> bytes = BytesOf(kBinaryFile);
    bytes[GetParam().at] = GetParam().value;
    aclrtBinHandle binary = this;
    EXPECT_TRUE(IsError(kInvalid, LoadBytes(bytes, &binary),
                        {"aclrtBinaryLoadFromData: data", GetParam().word}));
    EXPECT_EQ(binary, this);
}

INSTANTIATE_TEST_SUITE_P(
    Table, SpoiltBinaryTest,
    testing::Values(SpoiltCase{"NoElf", 1, 'X', "no ELF file"},
                    SpoiltCase{"OfThirtyTwoBits", EI_CLASS, ELFCLASS32, "class 1"},
                    SpoiltCase{"OfTheOtherByteOrder", EI_DATA, ELFDATA2MSB, "byte order 2"},
                    SpoiltCase{"OfAnotherMachine", 18, EM_ARM, "machine 40"},
                    SpoiltCase{"AnExecutable", 16, ET_EXEC, "type 2"},
                    SpoiltCase{"HeadersFarAway", 38, 0x7f, "name more"}),
    support::CaseName());

TEST_F(BinaryTest, AnyPartOfABinaryIsCutOff) {
    const std::vector<char> bytes = BytesOf(kBinaryFile);
    aclrtBinHandle binary = this;
    for (const size_t length : {size_t{4}, size_t{63}, size_t{64}, size_t{200}, size_t{4096}}) {
        const std::vector<char> part(bytes.begin(),
                                     bytes.begin() + static_cast<std::ptrdiff_t>(length));
        EXPECT_TRUE(IsError(kInvalid, LoadBytes(part, &binary), {"whole"})) << length;
    }
    EXPECT_TRUE(IsError(kInvalid, aclrtBinaryLoadFromData(bytes.data(), 0, nullptr, &binary),
                        {"length is 0"}));
    EXPECT_EQ(aclrtCreateBinary(bytes.data(), 0), nullptr);
    EXPECT_TRUE(IsError(ACL_ERROR_INVALID_PARAM,
                        aclrtBinaryLoadFromData(nullptr, 1, nullptr, &binary), {"data"}));
    EXPECT_EQ(binary, this);
}

// The library keeps the bytes in a file in memory. Its limit is an error, and not a signal.
TEST_F(BinaryTest, DataBeyondTheLimitOfFiles) {
    const std::vector<char> bytes = BytesOf(kBinaryFile);
    rlimit before{};
    ASSERT_EQ(getrlimit(RLIMIT_FSIZE, &before), 0);
    const rlimit half{bytes.size() / 2, before.rlim_max};
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &half), 0);
    aclrtBinHandle binary = nullptr;
    const aclError refused = LoadBytes(bytes, &binary);
    ASSERT_EQ(setrlimit(RLIMIT_FSIZE, &before), 0);
    EXPECT_TRUE(IsError(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, refused, {"data of", "File too large"}));
}

TEST_F(BinaryTest, WrongOptions) {
    aclrtBinHandle binary = this;
    aclrtBinaryLoadOptions noArray{nullptr, 1};
    EXPECT_TRUE(
        IsError(kInvalid, aclrtBinaryLoadFromFile(kBinaryFile, &noArray, &binary), {"numOpt 1"}));
    for (const int mode : {-2, -1, 0, 2, 3}) {
        aclrtBinaryLoadOption option = CpuMode(mode);
        aclrtBinaryLoadOptions options = OneOption(&option);
        EXPECT_TRUE(IsError(mode == 0 ? ACL_ERROR_RT_FEATURE_NOT_SUPPORT : kInvalid,
                            aclrtBinaryLoadFromFile(kBinaryFile, &options, &binary),
                            {"cpuKernelMode is "}, {mode}));
    }
    aclrtBinaryLoadOption option = CpuMode(1);
    aclrtBinaryLoadOptions options = OneOption(&option);
    EXPECT_TRUE(
        IsError(kInvalid, aclrtBinaryLoadFromFile(kBinaryFile, &options, &binary), {".json"}));
    EXPECT_EQ(binary, this);
}

TEST_F(BinaryTest, NeedsAContextToLoad) {
    aclrtBinHandle binary = this;
    std::thread([&] {
        EXPECT_TRUE(IsError(ACL_ERROR_RT_CONTEXT_NULL,
                            aclrtBinaryLoadFromFile(kBinaryFile, nullptr, &binary)));
    }).join();
    EXPECT_EQ(binary, this);
}

}  // namespace
}  // namespace conformance
