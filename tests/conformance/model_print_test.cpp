// SPDX-License-Identifier: Apache-2.0
// The numbers of models, and their tasks in the log and as JSON.
#include <unistd.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <string>

#include "conformance/capture_fixture.h"
#include "support/full_disk.h"
#include "support/stderr_capture.h"
#include "support/temp_pipe.h"

namespace conformance {
namespace {

using support::IsCode;
using support::IsError;
using support::IsOk;

class ModelPrintTest : public support::DeviceTest {
 protected:
    // Two branches: a fill, a fork, a fill there, a join, a notify.
    aclmdlRI Capture() {
        EXPECT_TRUE(
            IsOk(aclmdlRICaptureBegin(main_.Get(), ACL_MODEL_RI_CAPTURE_MODE_THREAD_LOCAL)));
        EXPECT_TRUE(IsOk(aclrtMemsetAsync(memory_.Get(), 64, 1, 48, main_.Get())));
        EXPECT_TRUE(IsOk(aclrtRecordEvent(fork_.Get(), main_.Get())));
        EXPECT_TRUE(IsOk(aclrtStreamWaitEvent(side_.Get(), fork_.Get())));
        EXPECT_TRUE(IsOk(aclrtMemsetAsync(memory_.Get(), 64, 2, 16, side_.Get())));
        EXPECT_TRUE(IsOk(aclrtRecordEvent(join_.Get(), side_.Get())));
        EXPECT_TRUE(IsOk(aclrtStreamWaitEvent(main_.Get(), join_.Get())));
        aclmdlRI model = nullptr;
        aclmdlRICaptureStatus status{};
        EXPECT_TRUE(IsOk(aclmdlRICaptureGetInfo(main_.Get(), &status, &model)));
        uint32_t id = 0;
        EXPECT_TRUE(IsOk(aclmdlRIGetId(model, &id))) << "also during the capture";
        EXPECT_TRUE(IsCode(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIDebugPrint(model)));
        EXPECT_TRUE(
            IsCode(ACL_ERROR_RT_MODEL_CAPTURED, aclmdlRIDebugJsonPrint(model, path_.c_str(), 0)));
        EXPECT_TRUE(IsOk(aclmdlRICaptureEnd(main_.Get(), &model)));
        return model;
    }
    ~ModelPrintTest() override { (void)unlink(path_.c_str()); }

    nlohmann::json Events(aclmdlRI model, uint32_t flags) const {
        EXPECT_TRUE(IsOk(aclmdlRIDebugJsonPrint(model, path_.c_str(), flags)));
        std::ifstream file(path_);
        return nlohmann::json::parse(file);
    }

    void SetUp() override {
        ASSERT_NO_FATAL_FAILURE(DeviceTest::SetUp());
        main_ = support::MakeStream();
        side_ = support::MakeStream();
        fork_ = support::MakeEventExWithFlag(ACL_EVENT_SYNC);
        join_ = support::MakeEventExWithFlag(ACL_EVENT_SYNC);
        memory_ = support::DeviceBuffer(64);
    }

    std::string path_ = testing::TempDir() + "model_print_" + std::to_string(getpid()) + ".json";
    support::Stream main_;
    support::Stream side_;
    support::Event fork_;
    support::Event join_;
    support::DeviceBuffer memory_;
};

TEST_F(ModelPrintTest, TasksOfAllBranchesInOrder) {
    aclmdlRI model = Capture();
    struct Task {
        int branch;
        std::string name;
        std::string waitsFor;
    };
    const std::vector<Task> wanted = {{0, "fill", ""},
                                      {0, "event wait", "branch 1 position 2"},
                                      {1, "event wait", "branch 0 position 1"},
                                      {1, "fill", ""}};
    for (const uint32_t flags :
         {ACL_MDLRI_DEBUG_JSON_PRINT_SUMMARY, ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE}) {
        std::vector<Task> got;
        double last = -1;
        for (const nlohmann::json& event : Events(model, flags)) {
            // torch_npu's reader wants both times in each event, and lanes with such names.
            EXPECT_GT(event.at("dur").get<double>(), 0);
            const nlohmann::json& args = event.at("args");
            const std::string lane = event.at("tid");
            ASSERT_EQ(lane.rfind("stream", 0), 0U) << lane;
            const int branch = std::stoi(lane.substr(6));
            last = got.empty() || got.back().branch != branch ? -1 : last;
            EXPECT_GT(event.at("ts").get<double>(), last);
            last = event.at("ts");
            got.push_back({branch, event.at("name"), args.value("waits for", "")});
            EXPECT_EQ(args.contains("bytes"),
                      flags == ACL_MDLRI_DEBUG_JSON_PRINT_VERBOSE && got.back().name == "fill");
        }
        ASSERT_EQ(got.size(), wanted.size());
        for (size_t i = 0; i < wanted.size(); ++i) {
            EXPECT_EQ(got[i].branch, wanted[i].branch) << i;
            EXPECT_EQ(got[i].name, wanted[i].name) << i;
            EXPECT_EQ(got[i].waitsFor, wanted[i].waitsFor) << i;
        }
    }
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model)));
}

TEST_F(ModelPrintTest, LinesInTheLog) {
    aclmdlRI model = Capture();
    uint32_t id = 0;
    ASSERT_TRUE(IsOk(aclmdlRIGetId(model, &id)));
    const support::StderrCapture log;
    EXPECT_TRUE(IsOk(aclmdlRIDebugPrint(model)));
    const std::string text = log.Text();
    const std::string name = "model " + std::to_string(id);
    EXPECT_NE(text.find(name + ": 2 branches, 0 task groups"), std::string::npos) << text;
    EXPECT_NE(text.find(name + " branch 1 position 1: fill"), std::string::npos) << text;
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(model)));
}

TEST_F(ModelPrintTest, NumbersAndRefusals) {
    aclmdlRI first = Capture();
    aclmdlRI second = Capture();
    uint32_t ids[2] = {};
    ASSERT_TRUE(IsOk(aclmdlRIGetId(first, &ids[0])));
    ASSERT_TRUE(IsOk(aclmdlRIGetId(second, &ids[1])));
    EXPECT_NE(ids[0], ids[1]);
    constexpr int kRange = ACL_ERROR_RT_PARAM_INVALID;
    EXPECT_TRUE(IsError(kRange, aclmdlRIDebugJsonPrint(first, path_.c_str(), 2), {"flags"}));
    EXPECT_TRUE(IsError(kRange, aclmdlRIDebugJsonPrint(first, "/no/such/folder/file", 0),
                        {"path", "/no/such/folder/file"}));
    EXPECT_TRUE(IsError(kRange, aclmdlRIDebugJsonPrint(first, "/dev/full", 0),
                        {"/dev/full", "No space left on device"}));
    const support::TempPipe pipe;
    EXPECT_TRUE(IsError(kRange, aclmdlRIDebugJsonPrint(first, pipe.Path(), 0),
                        {pipe.Path(), "a pipe without a reader"}));
    {
        const support::FullDisk disk(10);
        EXPECT_TRUE(IsError(kRange, aclmdlRIDebugJsonPrint(first, path_.c_str(), 0),
                            {path_.c_str(), "File too large"}));
    }
    EXPECT_TRUE(IsCode(ACL_ERROR_INVALID_PARAM, aclmdlRIDebugJsonPrint(first, nullptr, 0)));
    EXPECT_TRUE(IsCode(ACL_ERROR_INVALID_PARAM, aclmdlRIDebugPrint(nullptr)));
    EXPECT_TRUE(IsCode(ACL_ERROR_INVALID_PARAM, aclmdlRIGetId(first, nullptr)));
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(first)));
    EXPECT_TRUE(IsOk(aclmdlRIDestroy(second)));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIGetId(first, ids)));
    EXPECT_TRUE(IsCode(ACL_ERROR_RT_INVALID_HANDLE, aclmdlRIDebugPrint(first)));
}

}  // namespace
}  // namespace conformance
