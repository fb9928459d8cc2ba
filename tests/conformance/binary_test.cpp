// SPDX-License-Identifier: Apache-2.0
// Device binaries: what can be loaded, what cannot, and the look-ups of functions.
#include <elf.h>
#include <sys/resource.h>
#include <unistd.h>

#include <cstring>

#include "conformance/kernel_fixture.h"
#include "support/table.h"

namespace conformance {
namespace {

aclrtBinaryLoadOptions OneOption(aclrtBinaryLoadOption* option) { return {option, 1}; }

aclrtBinaryLoadOption Magic(uint32_t magic) {
    aclrtBinaryLoadOption option{};
    option.type = ACL_RT_BINARY_LOAD_OPT_MAGIC;
    option.value.magic = magic;
    return option;
}
aclrtBinaryLoadOption CpuMode(int32_t mode) {
    aclrtBinaryLoadOption option{};
    option.type = ACL_RT_BINARY_LOAD_OPT_CPU_KERNEL_MODE;
    option.value.cpuKernelMode = mode;
    return option;
}

class BinaryTest : public KernelTest {
 protected:
    static aclError LoadBytes(const std::vector<char>& bytes, aclrtBinHandle* binary) {
        return aclrtBinaryLoadFromData(bytes.data(), bytes.size(), nullptr, binary);
    }
    // Adds 1 to a value by add_rows of the binary.
    static int64_t AddOneBy(aclrtBinHandle binary) {
        const DeviceBuffer values(std::vector<int64_t>{41});
        const RowArguments arguments{static_cast<int64_t*>(values.Get()), 1, 1};
        EXPECT_TRUE(IsOk(LaunchWith(FunctionOf(binary, "add_rows"), 1, arguments, nullptr)));
        EXPECT_TRUE(IsOk(aclrtSynchronizeStream(nullptr)));
        return values.Download<int64_t>()[0];
    }
    static int64_t Attribute(aclrtFuncHandle function, aclrtFuncAttribute type) {
        int64_t value = -1;
        EXPECT_TRUE(IsOk(aclrtGetFunctionAttribute(function, type, &value)));
        return value;
    }
};

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

// The dynamic linker knows objects by their paths, and memory files use descriptors again.
TEST_F(BinaryTest, EachLoadOfDataIsAnObjectOfItsOwn) {
    const std::vector<char> bytes = BytesOf(kBinaryFile);
    std::vector<void*> addresses;
    for (int i = 0; i < 5; ++i) {
        aclrtBinHandle loaded = nullptr;
        ASSERT_TRUE(IsOk(LoadBytes(bytes, &loaded)));
        void* aic = nullptr;
        void* aiv = nullptr;
        ASSERT_TRUE(IsOk(aclrtGetFunctionAddr(FunctionOf(loaded, "add_rows"), &aic, &aiv)));
        addresses.push_back(aic);
    }
    std::sort(addresses.begin(), addresses.end());
    EXPECT_EQ(std::unique(addresses.begin(), addresses.end()), addresses.end());
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
    const support::TempFile empty("");
    const support::TempFile text("int main() { return 0; }");
    const auto load = [&](const char* path) {
        return aclrtBinaryLoadFromFile(path, nullptr, &binary);
    };
    EXPECT_TRUE(IsError(kInvalid, load("/nowhere/kernels.so"),
                        {"aclrtBinaryLoadFromFile: binPath /nowhere/kernels.so", "No such file"}));
    EXPECT_TRUE(IsError(kInvalid, load("/tmp"), {"no regular file"}));
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
    EXPECT_TRUE(
        IsError(ACL_ERROR_RT_RESOURCE_ALLOC_FAIL, refused, {"data of", "File too large"}));
}

TEST_F(BinaryTest, LookUpsFindOwnFunctionsOnly) {
    const aclrtFuncHandle function = Function("add_rows");
    EXPECT_EQ(Function("add_rows"), function) << "the same again";
    aclrtFuncHandle found = nullptr;
    EXPECT_TRUE(IsOk(aclrtBinaryGetFunctionByEntry(binary_, 7, &found)));
    EXPECT_EQ(found, function);
    found = this;
    for (const char* name : {"no_such_kernel", "exportedNumber", "memcpy", "aclrtMalloc"}) {
        EXPECT_TRUE(IsError(kInvalid, aclrtBinaryGetFunction(binary_, name, &found),
                            {"aclrtBinaryGetFunction: kernelName is ", name}));
    }
    EXPECT_TRUE(IsError(kInvalid, aclrtBinaryGetFunctionByEntry(binary_, 9, &found), {"9"}));
    EXPECT_TRUE(
        IsError(kInvalid, aclrtBinaryGetFunctionByEntry(binary_, 8, &found), {"not_there"}));
    EXPECT_TRUE(IsError(ACL_ERROR_RT_INVALID_HANDLE,
                        aclrtBinaryGetFunction(function, "add_rows", &found), {"binHandle"}));
    EXPECT_EQ(found, this);
}

TEST_F(BinaryTest, NameAddressAndAttributesOfAFunction) {
    const aclrtFuncHandle function = Function("add_rows");
    char name[16] = "untouched";
    EXPECT_TRUE(IsError(kInvalid, aclrtGetFunctionName(function, 8, name), {"maxLen is 8"}, {9}));
    EXPECT_STREQ(name, "untouched");
    EXPECT_TRUE(IsOk(aclrtGetFunctionName(function, 9, name)));
    EXPECT_STREQ(name, "add_rows");
    struct {
        uint32_t magic;
        int64_t type;
        uint16_t ratio[2];  // vector, cube
    } const cases[] = {{0, ACL_KERNEL_TYPE_AICORE, {1, 1}},
                       {ACL_RT_BINARY_MAGIC_ELF_AICORE, ACL_KERNEL_TYPE_AICORE, {1, 1}},
                       {ACL_RT_BINARY_MAGIC_ELF_VECTOR_CORE, ACL_KERNEL_TYPE_VECTOR, {1, 0}},
                       {ACL_RT_BINARY_MAGIC_ELF_CUBE_CORE, ACL_KERNEL_TYPE_CUBE, {0, 1}}};
    for (const auto& one : cases) {
        aclrtBinaryLoadOption option = Magic(one.magic);
        aclrtBinaryLoadOptions options = OneOption(&option);
        aclrtBinHandle binary = nullptr;
        ASSERT_TRUE(IsOk(aclrtBinaryLoadFromFile(kBinaryFile, &options, &binary)));
        const aclrtFuncHandle its = FunctionOf(binary, "add_rows");
        EXPECT_EQ(Attribute(its, ACL_FUNC_ATTR_KERNEL_TYPE), one.type);
        EXPECT_EQ(Attribute(its, ACL_FUNC_ATTR_KERNEL_SCHED_MODE), 0);
        int64_t ratio = 0;
        std::memcpy(&ratio, one.ratio, sizeof(one.ratio));
        EXPECT_EQ(Attribute(its, ACL_FUNC_ATTR_KERNEL_RATIO), ratio);
        void* aic = nullptr;
        void* aiv = this;
        EXPECT_TRUE(IsOk(aclrtGetFunctionAddr(its, &aic, &aiv)));
        EXPECT_NE(aic, nullptr);
        EXPECT_EQ(aiv, one.type == ACL_KERNEL_TYPE_VECTOR ? aic : nullptr);
    }
    int64_t value = 77;
    EXPECT_TRUE(IsError(
        kInvalid, aclrtGetFunctionAttribute(function, static_cast<aclrtFuncAttribute>(4), &value),
        {"attrType is 4"}));
    EXPECT_EQ(value, 77);
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

TEST_F(BinaryTest, CpuKernels) {
    const std::vector<char> bytes = BytesOf(kBinaryFile);
    aclrtBinaryLoadOption option = CpuMode(2);
    aclrtBinaryLoadOptions options = OneOption(&option);
    aclrtBinHandle binary = nullptr;
    ASSERT_TRUE(IsOk(aclrtBinaryLoadFromData(bytes.data(), bytes.size(), &options, &binary)));
    aclrtFuncHandle function = nullptr;
    const auto add = [&](aclrtBinHandle to, const char* symbol, const char* name) {
        return aclrtRegisterCpuFunc(to, symbol, name, &function);
    };
    EXPECT_TRUE(IsError(kInvalid, aclrtBinaryGetFunction(binary, "cpu_store", &function)));
    EXPECT_TRUE(IsError(kInvalid, add(binary_, "cpu_store", "Store"), {"handle"}));
    EXPECT_TRUE(IsError(kInvalid, add(binary, "cpu_stor", "Store"), {"funcName is cpu_stor"}));
    EXPECT_EQ(function, nullptr);
    ASSERT_TRUE(IsOk(add(binary, "cpu_store", "Store")));
    const aclrtFuncHandle store = function;
    ASSERT_TRUE(IsOk(add(binary, "cpu_store", "Store")));
    EXPECT_EQ(function, store);
    EXPECT_TRUE(IsError(kInvalid, add(binary, "add_rows", "Store"), {"kernelName is Store"}));
    EXPECT_EQ(Attribute(store, ACL_FUNC_ATTR_KERNEL_TYPE), ACL_KERNEL_TYPE_AICPU);
    void* aic = nullptr;
    void* aiv = nullptr;
    EXPECT_TRUE(IsError(kInvalid, aclrtGetFunctionAddr(store, &aic, &aiv), {"Store"}));

    const DeviceBuffer out(std::vector<int32_t>{0});
    for (const int32_t number : {5, -5}) {
        aclrtArgsHandle args = nullptr;
        aclrtParamHandle parameter = nullptr;
        void* address = out.Get();
        int32_t value = number;
        ASSERT_TRUE(IsOk(aclrtKernelArgsInit(store, &args)));
        ASSERT_TRUE(IsOk(aclrtKernelArgsAppend(args, &address, sizeof(address), &parameter)));
        ASSERT_TRUE(IsOk(aclrtKernelArgsAppend(args, &value, sizeof(value), &parameter)));
        ASSERT_TRUE(IsOk(aclrtKernelArgsFinalize(args)));
        ASSERT_TRUE(IsOk(aclrtLaunchKernelWithConfig(store, 1, nullptr, nullptr, args, nullptr)));
        const aclError ended = aclrtSynchronizeStream(nullptr);
        EXPECT_TRUE(number > 0 ? IsOk(ended)
                               : IsError(ACL_ERROR_RT_AICPU_EXCEPTION, ended,
                                         {"Store: block 0 of 1 returned 17"}));
        EXPECT_EQ(out.Download<int32_t>()[0], number);
    }
}

}  // namespace
}  // namespace conformance
