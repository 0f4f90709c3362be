// SPDX-License-Identifier: Apache-2.0
#include "app/commands/compare/expected_speed.h"

namespace app {

using namespace engine;

namespace {

using EquationJson = nlohmann::ordered_json;

void addEquation(EquationJson& object,
                 const std::string& cost,
                 const std::string& name,
                 const std::optional<EquationSix>& found) {
    object[cost] = found ? EquationJson(found->draftCost) : EquationJson();
    object["expected_" + name] = found ? EquationJson(found->expected) : EquationJson();
    object["error_" + name] = found ? EquationJson(found->error) : EquationJson();
}

std::string equationWords(const std::optional<EquationSix>& found, std::string_view cost) {
    return found ? fmt::format("{:.2f}x with {} = {:.2f} ({:+.0f} %)",
                               found->expected,
                               cost,
                               found->draftCost,
                               found->error * 100.0)
                 : fmt::format("- with {}", cost);
}

} // namespace

/// A vanilla pass reads every layer once.
ExpectedSpeed::ExpectedSpeed(const DecoderSums& own,
                             const DecoderSums& vanilla,
                             std::optional<int> lockedLayers) {
    const DecodeMetrics& reference = vanilla.tally.metrics;
    if (reference.baselineTokens == 0 || vanilla.tokensPerSecond() <= 0.0 ||
        !hasDraftPasses(own.tally.metrics))
        return;
    measured = own.tokensPerSecond() / vanilla.tokensPerSecond();
    const auto passes = static_cast<double>(reference.baselineTokens);
    const DecodeMetrics& sums = own.tally.metrics;
    if (const auto ratio = draftRatio(sums, reference.baselineLayers / passes, lockedLayers))
        byRatio = EquationSix::of(sums, 1.0 - *ratio, measured);
    if (const auto cost = draftCost(sums, vanilla.tally.plainMs / passes))
        byCost = EquationSix::of(sums, *cost, measured);
}

EquationJson ExpectedSpeed::json() const {
    EquationJson made = EquationJson::object();
    addEquation(made, "c_by_ratio", "by_ratio", byRatio);
    addEquation(made, "c_measured", "by_cost", byCost);
    return made;
}

std::string ExpectedSpeed::sentence() const {
    if (!byCost)
        return {};
    return fmt::format("measured {:.2f}x; equation 6 expects {} and {}",
                       measured,
                       equationWords(byRatio, "c = 1 - r"),
                       equationWords(byCost, "measured c"));
}

} // namespace app
