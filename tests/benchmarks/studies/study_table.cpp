// SPDX-License-Identifier: Apache-2.0
#include "tests/benchmarks/studies/study_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>

namespace study {

using namespace engine;
using Json = nlohmann::ordered_json;

namespace {

struct Sum {
    double ms = 0.0;
    double tokens = 0.0;

    double msPerToken() const { return ms / tokens; }
};

/// Milliseconds and tokens of each that answered a prompt, both halves together.
using PromptSums = std::map<std::string, Sum>;

struct FilePrompts {
    std::string file;
    std::vector<PromptSums> prompts;
};

/// Ratios of times a token: `other`'s over `own`'s, so that more is faster.
FileRatio fileRatio(const std::vector<PromptSums>& prompts,
                    const std::string& own,
                    const std::string& other,
                    SampleGroup& group) {
    FileRatio found;
    Sum mine;
    Sum theirs;
    for (const PromptSums& sums : prompts) {
        if (!sums.contains(own) || !sums.contains(other))
            continue;
        ++found.prompts;
        group.denominators.push_back(sums.at(own).msPerToken());
        group.numerators.push_back(sums.at(other).msPerToken());
        for (const auto& [who, into] : {std::pair{&own, &mine}, std::pair{&other, &theirs}}) {
            into->ms += sums.at(*who).ms;
            into->tokens += sums.at(*who).tokens;
        }
    }
    if (found.prompts == 0)
        return found;
    found.tokensPerSecond = 1e3 / mine.msPerToken();
    found.otherTokensPerSecond = 1e3 / theirs.msPerToken();
    found.ratio = ratioOfSums(group.numerators, group.denominators);
    found.promptMedian = medianRatio(group.numerators, group.denominators);
    return found;
}

StudyRatio
ratioOf(const std::vector<FilePrompts>& files, const std::string& own, const std::string& other) {
    StudyRatio ratio{.own = own, .other = other, .files = {}, .mean = {}};
    std::vector<SampleGroup> groups;
    for (const FilePrompts& file : files) {
        SampleGroup group;
        const FileRatio found = fileRatio(file.prompts, own, other, group);
        if (found.prompts == 0)
            continue;
        ratio.files[file.file] = found;
        groups.push_back(std::move(group));
    }
    ratio.mean = meanRatioOfSums(groups);
    return ratio;
}

Json estimateJson(const RatioEstimate& estimate) {
    return {{"ratio", estimate.ratio}, {"interval", {estimate.low, estimate.high}}};
}

void countAnswers(const Json& prompt, StudyFigures& figures, std::vector<std::string>& names) {
    for (const Json& answer : prompt.at("answers")) {
        const auto who = answer.at("decoder").get<std::string>();
        if (std::find(names.begin(), names.end(), who) == names.end())
            names.push_back(who);
        ++figures.answers[who];
        figures.tokens[who] += answer.at("tokens").get<long>();
        if (answer.at("equal").get<bool>())
            continue;
        ++figures.differences[who];
        if (who != kLlama)
            figures.firstDifferences.push_back(
                fmt::format("{} line {}, {}, from token {} on",
                            prompt.value("data", ""),
                            prompt.value("line", 0),
                            who,
                            answer.at("first_difference").get<long>()));
    }
}

std::string shortName(const std::string& file) {
    return std::filesystem::path(file).stem().string().substr(0, 22);
}

} // namespace

int StudyFigures::ownDifferences() const {
    int count = 0;
    for (const auto& [who, times] : differences)
        count += who == kLlama ? 0 : times;
    return count;
}

StudyFigures figuresOf(const std::vector<Json>& prompts) {
    StudyFigures figures;
    std::vector<std::string> names; // in the order of the answers
    std::vector<FilePrompts> files;
    for (const Json& prompt : prompts) {
        countAnswers(prompt, figures, names);
        PromptSums sums;
        for (const Json& answer : prompt.at("answers")) {
            Sum& sum = sums[answer.at("decoder").get<std::string>()];
            sum.ms += answer.at("ms").get<double>();
            sum.tokens += answer.at("tokens").get<double>();
        }
        const std::string file = shortName(prompt.value("data", ""));
        auto found = std::find_if(
            files.begin(), files.end(), [&](const FilePrompts& each) { return each.file == file; });
        if (found == files.end())
            found = files.insert(files.end(), {file, {}});
        found->prompts.push_back(std::move(sums));
    }
    for (const std::string& other : {std::string("vanilla"), std::string(kLlama)})
        for (const std::string& own : names)
            if (own != other && own != kLlama && figures.answers.contains(other))
                figures.ratios.push_back(ratioOf(files, own, other));
    return figures;
}

std::string tableOf(const StudyFigures& figures) {
    std::string text;
    for (const StudyRatio& ratio : figures.ratios) {
        text += fmt::format("{} over {}\n{:<22} {:>7} {:>9} {:>9} {:>22} {:>27}\n",
                            ratio.own,
                            ratio.other,
                            "file",
                            "prompts",
                            "tokens/s",
                            "other's",
                            "ratio (95 %)",
                            "median of prompts (95 %)");
        for (const auto& [file, own] : ratio.files)
            text +=
                fmt::format("{:<22} {:>7} {:>9.1f} {:>9.1f} {:>6.3f} ({:.3f} to {:.3f}) {:>9.3f} "
                            "({:.3f} to {:.3f})\n",
                            file,
                            own.prompts,
                            own.tokensPerSecond,
                            own.otherTokensPerSecond,
                            own.ratio.ratio,
                            own.ratio.low,
                            own.ratio.high,
                            own.promptMedian.ratio,
                            own.promptMedian.low,
                            own.promptMedian.high);
        text += fmt::format("mean over {} files: {:.3f} ({:.3f} to {:.3f})\n\n",
                            ratio.files.size(),
                            ratio.mean.ratio,
                            ratio.mean.low,
                            ratio.mean.high);
    }
    for (const auto& [who, count] : figures.answers) {
        const auto found = figures.differences.find(who);
        text += fmt::format("{}: {} of {} answers differ from vanilla's, {} tokens\n",
                            who,
                            found == figures.differences.end() ? 0 : found->second,
                            count,
                            figures.tokens.at(who));
    }
    for (const std::string& where : figures.firstDifferences)
        text += fmt::format("DIFFERENCE: {}\n", where);
    return text;
}

Json doneLine(const StudyFigures& figures) {
    Json ratios = Json::array();
    for (const StudyRatio& ratio : figures.ratios) {
        Json files = Json::object();
        for (const auto& [file, own] : ratio.files)
            files[file] = {{"prompts", own.prompts},
                           {"tokens_per_s", own.tokensPerSecond},
                           {"other_tokens_per_s", own.otherTokensPerSecond},
                           {"of_sums", estimateJson(own.ratio)},
                           {"median", estimateJson(own.promptMedian)}};
        ratios.push_back({{"decoder", ratio.own},
                          {"over", ratio.other},
                          {"mean", estimateJson(ratio.mean)},
                          {"files", std::move(files)}});
    }
    return {{"event", "done"},
            {"answers", figures.answers},
            {"tokens", figures.tokens},
            {"differences", figures.differences},
            {"ratios", std::move(ratios)}};
}

} // namespace study
