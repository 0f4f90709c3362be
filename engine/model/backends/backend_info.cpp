// SPDX-License-Identifier: Apache-2.0
#include "engine/model/backends/backend_info.h"

#include "engine/base/setting_makers.h"
#include "engine/base/system_memory.h"
#include "engine/kernels/processor.h"

#include <limits>

namespace engine {

namespace {

constexpr double kMostThreads = 1024;

} // namespace

SettingInfo loadChoice(std::string name,
                       std::string title,
                       std::vector<std::string> choices,
                       std::vector<std::string> titles,
                       std::string meaning) {
    SettingInfo setting =
        describedSetting(choiceSetting(std::move(name), std::move(title), std::move(choices)),
                         "",
                         SettingEffect::NextLoad,
                         std::move(meaning));
    setting.choiceTitles = std::move(titles);
    return setting;
}

SettingInfo precisionSetting(std::initializer_list<Precision> precisions) {
    std::vector<std::string> names;
    for (const Precision precision : precisions)
        names.emplace_back(precisionName(precision));
    return loadChoice("precision",
                      "Precision",
                      std::move(names),
                      {},
                      "The arithmetic; all weights are widened or rounded to it.");
}

SettingInfo kvSetting(bool hasInt8) {
    std::vector<std::string> words = {"auto", "f16", "bf16", "f32"};
    std::vector<std::string> titles = {"Automatic", "float16", "bfloat16", "float32"};
    if (hasInt8) {
        words.emplace_back("int8");
        titles.emplace_back("8-bit");
    }
    return loadChoice("kv",
                      "Keys and values",
                      std::move(words),
                      std::move(titles),
                      fmt::format("How keys and values are held: f16, bf16{} auto is f32 beside "
                                  "float32 weights, else f16.",
                                  hasInt8 ? ", f32 or int8 (.56 of f16's memory, a little rounded);"
                                          : " or f32;"));
}

SettingInfo threadsSetting() {
    return describedSetting(integerSetting("threads", "Threads", 0, {0, kMostThreads}),
                            "threads",
                            SettingEffect::NextLoad,
                            "Compute threads; 0 lets the backend choose.");
}

Result<std::vector<BackendDevice>> processorDevice() {
    const double bytes = availableMemoryBytes();
    const bool isKnown = bytes < std::numeric_limits<double>::max();
    return std::vector<BackendDevice>{
        {processorName(), isKnown ? static_cast<std::uint64_t>(bytes) : 0}};
}

} // namespace engine
