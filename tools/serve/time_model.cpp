// SPDX-License-Identifier: Apache-2.0
// Derives costs from a deployment, and reads both from JSON.

#include "time_model.h"

#include <fmt/format.h>

#include <cmath>
#include <cstddef>
#include <fstream>
#include <functional>
#include <ios>
#include <map>
#include <nlohmann/json.hpp>

#include "json_scalar.h"

namespace serve {
namespace {

using ModelJson = nlohmann::json;

constexpr double kPicoseconds = 1e12;  // in a second

// An accelerator of 300 Tflop/s in 16 bits, 1.6 TB/s and 64 GB, as several are on the market.
Deployment OnNominalDevices(int64_t layers, int64_t kvHeads, double parameters, int64_t devices) {
    Deployment d;
    d.layers = layers;
    d.kvHeads = kvHeads;
    d.headDim = 128;
    d.parameters = parameters;
    d.peakTflops = 300;
    d.bandwidthGbPerS = 1600;
    d.memoryGb = 64;
    d.devices = devices;
    return d;
}

// Half up, as any reader of the same file can.
int64_t Picoseconds(double seconds) {
    return static_cast<int64_t>(std::floor(seconds * kPicoseconds + 0.5));
}

[[noreturn]] void FailModel(const std::string& file, const std::string& what) {
    throw TimeModelError(fmt::format("{}: {}", file, what));
}

// A table of keys that must all be there, or may be.
class Keys {
 public:
    Keys(const std::string& file, const ModelJson& json) : file_(file), json_(json) {}

    double Number(const char* key, double least, double most, std::optional<double> fallback = {}) {
        const auto found = json_.find(key);
        known_[key] = true;
        if (found == json_.end() && fallback) {
            return *fallback;
        }
        if (found == json_.end()) {
            FailModel(file_, fmt::format("{} is missing; expected a number from {} to {}", key,
                                         least, most));
        }
        if (!found->is_number() ||
            !(found->get<double>() >= least && found->get<double>() <= most)) {
            FailModel(file_, fmt::format("{} is {}; expected a number from {} to {}", key,
                                         ScalarText(*found), least, most));
        }
        return found->get<double>();
    }
    int64_t Whole(const char* key, double most, std::optional<double> fallback = {}) {
        const double value = Number(key, 1, most, fallback);
        if (value != std::floor(value)) {
            FailModel(file_, fmt::format("{} is {}; expected a whole number", key, value));
        }
        return static_cast<int64_t>(value);
    }
    // After all keys have been asked for.
    void ExpectNoOther() const {
        for (const auto& [key, value] : json_.items()) {
            if (known_.count(key) == 0 && key != "fit") {
                FailModel(file_, fmt::format("key \"{}\" is not known", key));
            }
        }
    }

 private:
    const std::string& file_;
    const ModelJson& json_;
    std::map<std::string, bool> known_;
};

IterationCosts ReadCosts(const std::string& file, const ModelJson& json) {
    Keys keys(file, json);
    const auto cost = [&](const char* key) {
        return static_cast<int64_t>(
            std::floor(keys.Number(key, 0, kMostCostMicroseconds) * 1e6 + 0.5));
    };
    const IterationCosts costs{cost("iteration_us"), cost("prefill_token_us"),
                               cost("decode_row_us"), cost("context_token_us")};
    keys.ExpectNoOther();
    return costs;
}

Deployment ReadDeployment(const std::string& file, const ModelJson& json) {
    Keys keys(file, json);
    Deployment d;
    d.layers = keys.Whole("layers", 1e4);
    d.kvHeads = keys.Whole("kv_heads", 1e4);
    d.headDim = keys.Whole("head_dim", 1e5);
    d.parameters = keys.Number("parameters", 1e6, 1e14);
    d.dtypeBytes = keys.Whole("dtype_bytes", 8, 2.0);
    d.peakTflops = keys.Number("peak_tflops", 1e-3, 1e6);
    d.bandwidthGbPerS = keys.Number("bandwidth_gb_per_s", 1e-3, 1e6);
    d.memoryGb = keys.Number("memory_gb", 0, 1e6, 0.0);
    d.devices = keys.Whole("devices", 1e6, 1.0);
    d.efficiency = keys.Number("efficiency", 0.01, 1, 0.5);
    d.overheadMs = keys.Number("overhead_ms", 0, 1e6, 5.0);
    keys.ExpectNoOther();
    return d;
}

// As of those that a file has itself: more would not fit in picoseconds.
void ExpectCosts(const std::string& file, const Deployment& deployment) {
    constexpr std::array<const char*, 4> kCostKeys = {"iteration_us", "prefill_token_us",
                                                      "decode_row_us", "context_token_us"};
    const std::array<double, 4> seconds = deployment.CostSeconds();
    for (size_t i = 0; i < seconds.size(); ++i) {
        if (seconds[i] * 1e6 > kMostCostMicroseconds) {
            FailModel(file, fmt::format("{} comes to {:.3g}; expected at most {}", kCostKeys[i],
                                        seconds[i] * 1e6, kMostCostMicroseconds));
        }
    }
}

const std::map<std::string, Deployment>& Presets() {
    static const std::map<std::string, Deployment> kPresets = {
        {"7b", OnNominalDevices(32, 32, 6.7e9, 1)},
        {"8b", OnNominalDevices(32, 8, 8e9, 1)},
        {"13b", OnNominalDevices(40, 40, 13e9, 1)},
        {"70b", OnNominalDevices(80, 8, 70e9, 8)}};
    return kPresets;
}

}  // namespace

double Deployment::FreeGb() const {
    return 0.9 * memoryGb * static_cast<double>(devices) -
           parameters * static_cast<double>(dtypeBytes) / 1e9;
}

std::array<double, 4> Deployment::CostSeconds() const {
    const double flops = peakTflops * 1e12 * efficiency * static_cast<double>(devices);
    const double bytesPerSecond = bandwidthGbPerS * 1e9 * efficiency * static_cast<double>(devices);
    const double token = 2 * parameters / flops;
    return {overheadMs / 1e3 + parameters * static_cast<double>(dtypeBytes) / bytesPerSecond, token,
            token, static_cast<double>(KvBytes()) / bytesPerSecond};
}

IterationCosts Deployment::Costs() const {
    const std::array<double, 4> seconds = CostSeconds();
    return {Picoseconds(seconds[0]), Picoseconds(seconds[1]), Picoseconds(seconds[2]),
            Picoseconds(seconds[3])};
}

bool IsPreset(const std::string& name) { return name == "default" || Presets().count(name) > 0; }

TimeModel LoadTimeModel(const std::string& name) {
    if (name == "default") {
        return {};
    }
    if (const auto preset = Presets().find(name); preset != Presets().end()) {
        return {preset->second.Costs(), preset->second};
    }
    std::ifstream file(name);
    if (!file) {
        FailModel(name, "cannot be opened; expected default, 7b, 8b, 13b, 70b or a JSON file");
    }
    ModelJson json;
    try {
        json = ModelJson::parse(file, nullptr, false);
    } catch (const std::ios_base::failure& error) {
        FailModel(name, "cannot be read: " + error.code().message());
    }
    if (!json.is_object()) {
        FailModel(
            name,
            "is no JSON object of costs (iteration_us, ...) or of a deployment (layers, ...)");
    }
    if (json.contains("iteration_us")) {
        return {ReadCosts(name, json), std::nullopt};
    }
    const Deployment deployment = ReadDeployment(name, json);
    ExpectCosts(name, deployment);
    return {deployment.Costs(), deployment};
}

}  // namespace serve
