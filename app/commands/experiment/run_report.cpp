// SPDX-License-Identifier: Apache-2.0
#include "app/commands/experiment/run_report.h"

#include "engine/experiments/report/analysis/analyse.h"
#include "engine/experiments/report/compare_results.h"
#include "engine/experiments/report/found_sets.h"
#include "engine/experiments/report/result_json.h"
#include "engine/experiments/report/write_report.h"
#include "engine/loading/files/atomic_file.h"

#include <nlohmann/json.hpp>

namespace app {

using namespace engine;

namespace {

constexpr const char* kResultName = "result.json";

Result<ExperimentResult> readResult(const std::string& place) {
    std::filesystem::path path(place);
    std::error_code ignored;
    if (std::filesystem::is_directory(path, ignored))
        path /= kResultName;
    return readResultFile(path);
}

void tellVerdict(const ExperimentResult& result, const Console& console) {
    if (!console.isJson())
        console.line(
            fmt::format("{}: {} {}", result.title, result.verdict.headline, result.verdict.cause));
    console.jsonLine({{"event", "verdict"},
                      {"headline", result.verdict.headline},
                      {"cause", result.verdict.cause},
                      {"complete", result.isComplete}});
}

void tellTokens(const TokenComparison& tokens, const Console& console) {
    nlohmann::ordered_json equal; // null: not compared
    if (tokens.isEqual)
        equal = *tokens.isEqual;
    console.jsonLine(
        {{"event", "tokens"}, {"equal", std::move(equal)}, {"sentences", tokens.sentences}});
    if (!console.isJson())
        for (const std::string& sentence : tokens.sentences)
            console.line(sentence);
}

} // namespace

Result<ExperimentResult> mergeRun(const RunFolder& folder) {
    std::vector<ShardResult> shards;
    for (const PlannedShard& shard : folder.plan().shards)
        if (folder.state(shard.index).phase == ShardPhase::Finished) {
            ENGINE_TRY(ShardResult result, folder.result(shard.index));
            shards.push_back(std::move(result));
        } else if (folder.recipe().isStream) {
            ENGINE_TRY(ShardResult result, folder.resultSoFar(shard.index));
            if (!result.answers.empty())
                shards.push_back(std::move(result));
        }
    ExperimentResult merged = analyse(folder.recipe(), folder.plan(), std::move(shards));
    ENGINE_TRY_DO(writeFileAtomically(folder.path() / kResultName, resultJson(merged)));
    return merged;
}

Result<void> reportRun(const RunFolder& folder, const Console& console) {
    ENGINE_TRY(const ExperimentResult result, mergeRun(folder));
    const std::filesystem::path place = folder.path() / "report";
    ENGINE_TRY(const std::vector<FoundSkipSet> sets, foundSets(folder));
    ENGINE_TRY_DO(writeReport(place, result, recipeJson(folder.recipe()), sets));
    ENGINE_TRY_DO(removeOutdated(place, folder.recipe(), result, sets));
    tellVerdict(result, console);
    if (!console.isJson())
        console.line(fmt::format("The report is {}.", (place / "report.html").string()));
    return {};
}

Result<void>
compareRuns(const std::string& before, const std::string& after, const Console& console) {
    ENGINE_TRY(const ExperimentResult first, readResult(before));
    ENGINE_TRY(const ExperimentResult second, readResult(after));
    ENGINE_TRY(const ExperimentResult both, compareResults(first, second));
    tellVerdict(both, console);
    tellTokens(compareTokens(before, after), console);
    for (const ResultTable& table : both.tables) {
        if (!console.isJson())
            console.text(tableCsv(table));
        for (const std::vector<ResultCell>& row : table.rows) {
            nlohmann::ordered_json line = {{"event", "row"}, {"table", table.id}};
            for (std::size_t i = 0; i < row.size() && i < table.columns.size(); ++i)
                line[table.columns[i]] = row[i].text;
            console.jsonLine(line);
        }
    }
    return {};
}

} // namespace app
