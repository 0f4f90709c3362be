// SPDX-License-Identifier: Apache-2.0
#include "app/commands/bench/bench_report.h"

#include "app/streams/counted.h"

#include <cmath>

namespace app {

using namespace engine;
using Json = nlohmann::ordered_json;

namespace {

Json number(double value) { return std::isfinite(value) ? Json(value) : Json(); }

Json medianJson(const std::optional<Spread>& spread) {
    return spread ? number(spread->median) : Json();
}

Json spreadJson(const Spread& spread) {
    return {number(spread.lower), number(spread.median), number(spread.upper)};
}

Json spreadJson(const std::optional<Spread>& spread) {
    return spread ? spreadJson(*spread) : Json();
}

Json intervalJson(const RatioEstimate& estimate) {
    return {number(estimate.low), number(estimate.high)};
}

Json factsJson(const BenchFacts& facts) {
    Json json = {{"cpu", facts.cpu},
                 {"isa", facts.isa},
                 {"backend", facts.backend},
                 {"precision", facts.precision},
                 {"kv", facts.kvType},
                 {"model", facts.model},
                 {"threads", facts.threads},
                 {"memory_nodes", facts.memoryNodes},
                 {"weight_bytes", facts.weightBytes},
                 {"bytes_per_step", facts.bytesPerStep},
                 {"roof_bytes", facts.roofBytes},
                 {"cached_tokens", facts.cachedTokens},
                 {"prefill_tokens", facts.prefillTokens},
                 {"prompt_tokens", facts.promptTokens > 0 ? Json(facts.promptTokens) : Json()},
                 {"max_tokens", facts.maxTokens},
                 {"decoder", facts.decoder.empty() ? Json() : Json(facts.decoder)},
                 {"remarks", facts.notes}};
    json["device_us"] = facts.deviceUs;
    for (std::size_t i = 0; i < kRivals.size(); ++i)
        json[fmt::format("{}_version", kRivals[i].key)] =
            facts.rivalVersions[i].empty() ? Json() : Json(facts.rivalVersions[i]);
    return json;
}

Json rowsJson(const BenchFigures& figures, bool hasSpread) {
    Json rows = Json::object();
    for (const auto& [count, cost] : figures.costOfRows)
        rows[std::to_string(count)] = hasSpread ? spreadJson(cost) : number(cost.median);
    return rows;
}

Json skipSetsJson(const BenchResults& results, const BenchFigures& figures) {
    Json sets = Json::array();
    for (std::size_t i = 0; i < results.skipSets.size(); ++i) {
        const SkipSetSamples& set = results.skipSets[i];
        const Spread& cost = figures.costOfSkipSets[i];
        sets.push_back({{"name", set.name},
                        {"c", number(cost.median)},
                        {"c_spread", spreadJson(cost)},
                        {"c_bytes", set.byteShare},
                        {"c_count", set.sublayerShare},
                        {"c_over_bytes", number(cost.median / set.byteShare)}});
    }
    return sets;
}

Json ratioJson(const std::optional<DecodeRatio>& ratio) {
    return ratio ? number(ratio->all.ratio) : Json();
}

/// The details of a ratio of rates.
Json ratioDetails(const std::optional<DecodeRatio>& ratio) {
    if (!ratio)
        return {};
    Json tasks = Json::object();
    for (const auto& [task, estimate] : ratio->tasks)
        tasks[task] = {{"ratio", number(estimate.ratio)},
                       {"interval", intervalJson(estimate)},
                       {"median", number(ratio->medians.at(task))}};
    return {{"interval", intervalJson(ratio->all)},
            {"pairs", ratio->pairs},
            {"equal", ratio->equal},
            {"first_difference", ratio->firstDifference ? Json(*ratio->firstDifference) : Json()},
            {"tasks", std::move(tasks)}};
}

/// First quartile, median and third quartile of the fields that give only the median.
Json spreadsJson(const BenchFigures& figures) {
    Json json = {{"roof_gbps", spreadJson(figures.roofGbps)},
                 {"one_row_ms", spreadJson(figures.oneRowMs)},
                 {"one_row_share", spreadJson(figures.oneRowShare)},
                 {"vanilla_tokens_per_s", spreadJson(figures.vanillaRate)},
                 {"vanilla_share", spreadJson(figures.vanillaShare)},
                 {"v", rowsJson(figures, true)},
                 {"prefill_tokens_per_s", spreadJson(figures.prefillRate)},
                 {"auto_tokens_per_s", spreadJson(figures.draftedRate)}};
    for (std::size_t i = 0; i < kRivals.size(); ++i)
        json[fmt::format("{}_tokens_per_s", kRivals[i].key)] = spreadJson(figures.rivals[i].rate);
    return json;
}

/// What belongs to one other program: its rate, our ratios to it, and their details.
void addRival(const RivalName& rival, const RivalFigures& figures, Json& line, Json& ratios) {
    const std::string vanilla = fmt::format("vanilla_over_{}", rival.key);
    const std::string drafted = fmt::format("auto_over_{}", rival.key);
    const std::string prefill = fmt::format("prefill_over_{}", rival.key);
    line[fmt::format("{}_tokens_per_s", rival.key)] = medianJson(figures.rate);
    line[vanilla] = ratioJson(figures.vanilla);
    line[drafted] = ratioJson(figures.drafted);
    line[prefill] = figures.prefill ? number(figures.prefill->ratio) : Json();
    ratios[vanilla] = ratioDetails(figures.vanilla);
    ratios[drafted] = ratioDetails(figures.drafted);
    ratios[prefill] = figures.prefill ? Json{{"interval", intervalJson(*figures.prefill)}} : Json();
}

std::string spreadText(const std::optional<Spread>& spread, int digits) {
    if (!spread || !std::isfinite(spread->median))
        return "not measured";
    return fmt::format("{:.{}f}  ({:.{}f} to {:.{}f})",
                       spread->median,
                       digits,
                       spread->lower,
                       digits,
                       spread->upper,
                       digits);
}

std::string row(std::string_view name, const std::string& value) {
    return fmt::format("{:<34} {}\n", name, value);
}

std::string ratioRow(std::string_view name, const std::optional<DecodeRatio>& ratio) {
    if (!ratio)
        return {};
    std::string text =
        row(name,
            fmt::format("{:.3f}  [{:.3f} to {:.3f}]  {} of {} equal{}",
                        ratio->all.ratio,
                        ratio->all.low,
                        ratio->all.high,
                        ratio->equal,
                        counted(ratio->pairs, "answer"),
                        ratio->firstDifference ? fmt::format(", the first differs from token {} on",
                                                             *ratio->firstDifference)
                                               : ""));
    if (ratio->tasks.size() < 2)
        return text;
    for (const auto& [task, estimate] : ratio->tasks)
        text += row("  " + task,
                    fmt::format("{:.3f}  [{:.3f} to {:.3f}]  median {:.3f}",
                                estimate.ratio,
                                estimate.low,
                                estimate.high,
                                ratio->medians.at(task)));
    return text;
}

std::string passRows(const BenchResults& results, const BenchFigures& figures) {
    std::string text = row("one row, ms", spreadText(figures.oneRowMs, 2));
    text += row("one row, share of roof", spreadText(figures.oneRowShare, 3));
    for (const auto& [rows, cost] : figures.costOfRows)
        text += row(fmt::format("v({})", rows), spreadText(cost, 3));
    for (std::size_t i = 0; i < results.skipSets.size(); ++i) {
        const SkipSetSamples& set = results.skipSets[i];
        text += row("c of " + set.name,
                    fmt::format("{}  by bytes {:.3f}, by count {:.3f}",
                                spreadText(figures.costOfSkipSets[i], 3),
                                set.byteShare,
                                set.sublayerShare));
    }
    return text;
}

std::string rivalRows(const BenchFacts& facts, std::string_view name, const RivalFigures& figures) {
    std::string text = row(fmt::format("{}, tokens/s", name), spreadText(figures.rate, 1));
    text += ratioRow(fmt::format("vanilla over {}", name), figures.vanilla);
    text += ratioRow(fmt::format("{} over {}", facts.decoder, name), figures.drafted);
    if (figures.prefill)
        text += row(fmt::format("prefill over {}", name),
                    fmt::format("{:.3f}  [{:.3f} to {:.3f}]",
                                figures.prefill->ratio,
                                figures.prefill->low,
                                figures.prefill->high));
    return text;
}

} // namespace

Json benchStartLine(const BenchFacts& facts) {
    Json line = {{"event", "start"}};
    line.update(factsJson(facts));
    return line;
}

Json benchDoneLine(const BenchResults& results) {
    const BenchFigures figures = figuresOf(results);
    Json line = {{"event", "done"}, {"incomplete", results.isIncomplete}};
    line.update(factsJson(results.facts));
    line.update(Json{{"roof_gbps", number(figures.roofGbps.median)},
                     {"vanilla_tokens_per_s", medianJson(figures.vanillaRate)},
                     {"vanilla_share", medianJson(figures.vanillaShare)},
                     {"one_row_ms", medianJson(figures.oneRowMs)},
                     {"one_row_share", medianJson(figures.oneRowShare)},
                     {"v", rowsJson(figures, false)},
                     {"skip_sets", skipSetsJson(results, figures)},
                     {"prefill_tokens_per_s", medianJson(figures.prefillRate)},
                     {"auto_tokens_per_s", medianJson(figures.draftedRate)},
                     {"auto_over_vanilla", ratioJson(figures.draftedOverVanilla)},
                     {"spread", spreadsJson(figures)}});
    Json ratios = {{"auto_over_vanilla", ratioDetails(figures.draftedOverVanilla)}};
    for (std::size_t i = 0; i < kRivals.size(); ++i)
        addRival(kRivals[i], figures.rivals[i], line, ratios);
    line["ratios"] = std::move(ratios);
    return line;
}

std::string benchTable(const BenchResults& results) {
    const BenchFigures figures = figuresOf(results);
    const BenchFacts& facts = results.facts;
    std::string text = row("processor", fmt::format("{} ({})", facts.cpu, facts.isa));
    text += row("model",
                fmt::format("{}, {:.1f} MB as held, {:.1f} MB a step",
                            facts.model,
                            static_cast<double>(facts.weightBytes) * 1e-6,
                            facts.bytesPerStep * 1e-6));
    text += row("backend",
                fmt::format("{}, {}, keys and values {}, {}",
                            facts.backend,
                            facts.precision,
                            facts.kvType,
                            counted(facts.threads, "thread")));
    text += row("roof, GB/s", spreadText(figures.roofGbps, 1));
    text += passRows(results, figures);
    text += row(fmt::format("prefill of {}, tokens/s", facts.prefillTokens),
                spreadText(figures.prefillRate, 1));
    text += row("vanilla, tokens/s", spreadText(figures.vanillaRate, 1));
    text += row("vanilla, share of roof", spreadText(figures.vanillaShare, 3));
    if (!facts.decoder.empty())
        text += row(facts.decoder + ", tokens/s", spreadText(figures.draftedRate, 1));
    text += ratioRow(facts.decoder + " over vanilla", figures.draftedOverVanilla);
    for (std::size_t i = 0; i < kRivals.size(); ++i)
        if (!facts.rivalVersions[i].empty())
            text += rivalRows(facts, kRivals[i].name, figures.rivals[i]);
    text += "Medians (quartiles); ratios [95 % intervals]; the roof is the memory bandwidth, "
            "measured with every sample.";
    text += results.isIncomplete ? " INCOMPLETE: the run was stopped.\n" : "\n";
    return text;
}

} // namespace app
