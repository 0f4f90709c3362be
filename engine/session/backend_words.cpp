// SPDX-License-Identifier: Apache-2.0
#include "engine/session/backend_words.h"

#include <optional>
#include <string_view>
#include <utility>

namespace engine {

namespace {

constexpr std::string_view kDefaultBackend = "cpu";

Result<Precision> precisionNamed(const std::string& name) {
    for (const Precision precision : {Precision::F32, Precision::F64, Precision::BF16})
        if (name == precisionName(precision))
            return precision;
    return Error{ErrorCode::InvalidInput,
                 fmt::format("The precision \"{}\" is not known.", name),
                 "Choose float32, float64 or bfloat16."};
}

Result<WeightForm> weightFormNamed(const std::string& name) {
    for (const auto& [form, known] : {std::pair(WeightForm::Auto, std::string_view("")),
                                      {WeightForm::Auto, "auto"},
                                      {WeightForm::File, "file"},
                                      {WeightForm::F32, "f32"},
                                      {WeightForm::Int8, "int8"},
                                      {WeightForm::Bf16, "bf16"}})
        if (name == known)
            return form;
    return Error{ErrorCode::InvalidInput,
                 fmt::format("Weights cannot be held as \"{}\".", name),
                 "Choose auto, file, f32, int8 or bf16."};
}

Result<std::optional<KvType>> kvTypeNamed(const std::string& name) {
    if (name.empty())
        return std::optional<KvType>();
    for (const auto& [type, known] : {std::pair(KvType::F16, std::string_view("f16")),
                                      {KvType::BF16, "bf16"},
                                      {KvType::F32, "f32"}})
        if (name == known)
            return std::optional(type);
    return Error{ErrorCode::InvalidInput,
                 fmt::format("Keys and values cannot be held as \"{}\".", name),
                 "Choose f16, bf16 or f32."};
}

/// The first word that only the cpu backend takes, as its option is called.
std::string_view cpuOption(const BackendWords& words) {
    if (!words.weights.empty())
        return "--weights";
    if (!words.kvType.empty())
        return "--kv";
    return words.instructionSet.empty() ? "" : "--isa";
}

} // namespace

std::string chosenBackend(const std::string& asked) {
    return asked.empty() ? std::string(kDefaultBackend) : asked;
}

Result<TransformerOptions> transformerOptions(const BackendWords& words) {
    TransformerOptions options;
    ENGINE_TRY(options.precision, precisionNamed(words.precision));
    ENGINE_TRY(options.weights, weightFormNamed(words.weights));
    ENGINE_TRY(options.kvType, kvTypeNamed(words.kvType));
    options.instructionSet = words.instructionSet;
    const std::string backend = chosenBackend(words.backend);
    const std::string_view option = cpuOption(words);
    if (backend != kDefaultBackend && !option.empty())
        return Error{
            ErrorCode::InvalidInput,
            fmt::format("The backend {} takes no {}: it is the cpu backend's.", backend, option),
            "Leave it out, or name --backend cpu."};
    return options;
}

} // namespace engine
