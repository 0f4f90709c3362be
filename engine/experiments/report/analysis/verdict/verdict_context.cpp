// SPDX-License-Identifier: Apache-2.0
#include "engine/experiments/report/analysis/verdict/verdict_context.h"

#include <fmt/format.h>

#include <algorithm>

namespace engine {

bool isNamed(const ReportVariant& variant, const std::string& name) {
    return variant.name == name || (variant.planned && variant.planned->base == name);
}

const ReportVariant* VerdictContext::bestNamed(const std::string& name) const {
    for (const Measurement& one : ranked(wish.measure)) {
        if (isNamed(*one.variant, name))
            return one.variant;
    }
    return data.variant(name);
}

Selection VerdictContext::of(const ReportVariant& variant, const std::string& task) const {
    std::vector<Filter> filters = {{"variant", variant.name}};
    if (!task.empty())
        filters.emplace_back("task", task);
    // A variant belongs to one stage; vanilla to all of them.
    return data.select(variant.planned ? std::string() : stage, filters);
}

std::vector<Measurement> VerdictContext::ranked(const std::string& measure) const {
    std::vector<Measurement> found;
    for (const auto& variant : data.variants()) {
        if (variant->isVanilla || (variant->planned && variant->planned->stage != stage))
            continue;
        if (const auto value = measured(measure, of(*variant)))
            found.push_back({variant.get(), *value});
    }
    std::stable_sort(found.begin(), found.end(), [](const auto& a, const auto& b) {
        return a.value.value > b.value.value;
    });
    return found;
}

std::string VerdictContext::comparedWords(bool isHigher) const {
    const bool isMany = wish.measure.starts_with("tokens");
    const char* const article = isHigher ? (isMany ? "" : "a ") : "no ";
    return fmt::format("{}{} {}", article, isMany ? "more" : "higher", measureWords());
}

std::string VerdictContext::measureWords() const {
    std::string words = wish.measure;
    std::replace(words.begin(), words.end(), '_', ' ');
    return words;
}

std::string measureText(const std::string& measure, const Estimate& value) {
    return numberText(measureInfo(measure).form, value);
}

} // namespace engine
