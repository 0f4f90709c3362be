// SPDX-License-Identifier: Apache-2.0
#include "app/commands/tune/compare/tune_compare.h"

#include "app/commands/compare/comparison_report.h"
#include "app/commands/options/text_options.h"
#include "app/data/kept_drafts.h"
#include "app/program_paths.h"
#include "app/streams/counted.h"
#include "engine/base/to_size.h"
#include "engine/loading/config/tuned_copy.h"
#include "engine/loading/json/json_document.h"
#include "engine/metrics/sample_statistics.h"
#include "engine/model/model_fingerprint.h"
#include "engine/session/loading/draft_adapter_choice.h"
#include "engine/tuning/rows/answer_rows.h"

#include <array>
#include <filesystem>
#include <functional>
#include <map>
#include <optional>
#include <utility>
#include <vector>

namespace app {

using namespace engine;

namespace {

using CopyJson = nlohmann::ordered_json;

// Who answers, in the order of the lines.
constexpr std::size_t kOriginalSide = 0;
constexpr std::size_t kCopySide = 1;
constexpr std::size_t kTunedSide = 2; ///< the copy with its decoder
constexpr std::size_t kCopySides = 3;

constexpr std::array<const char*, kCopySides> kCopyVariants = {"original", "vanilla", "with"};

/// What a training has said of the copy that it made.
struct CopyFacts {
    std::string fingerprint; ///< of the model that it is a copy of
    std::string decoder;     ///< for which it was trained
    std::int64_t tokens = 0; ///< that both have read
    double perplexityBefore = 0.0;
    double perplexity = 0.0;
    double agreement = 0.0;
    bool isHeldOut = true;
    bool isKept = true;
};

Result<CopyFacts> readCopyFacts(const std::string& folder) {
    const std::filesystem::path path = std::filesystem::path(folder) / kTuningFile;
    const auto document = readJsonFile(path.string(), {.maxBytes = 16'000'000});
    if (!document && document.error().code != ErrorCode::NotFound)
        return document.error();
    if (!document || !document.value().root().contains(kTuningMark))
        return Error{ErrorCode::InvalidInput,
                     fmt::format("{} is no copy of a model that tune has made.", folder),
                     "Name a folder that was made with --recipe layerskip or space; adapters are "
                     "measured by the command compare, with --draft-adapter."};
    const JsonValue root = document.value().root();
    const JsonValue quality = root["quality"];
    const auto fingerprint = root["fingerprint"].asString();
    const auto recipe = recipeNamed(root["recipe"]["name"].asString().value_or(""));
    const auto before = quality["before"]["perplexity"].asNumber();
    const auto after = quality["after"]["perplexity"].asNumber();
    const auto agreement = quality["agreement"].asNumber();
    if (!fingerprint || !recipe || recipe.value() == TuningRecipe::Draft || !before || !after ||
        !agreement)
        return Error{ErrorCode::CorruptFile,
                     fmt::format("{} does not say how the copy was made.", path.string()),
                     "Train the copy anew."};
    return CopyFacts{.fingerprint = std::string(*fingerprint),
                     .decoder = std::string(recipeName(recipe.value())),
                     .tokens = quality["tokens"].asInteger().value_or(0),
                     .perplexityBefore = *before,
                     .perplexity = *after,
                     .agreement = *agreement,
                     .isHeldOut = quality["held_out"].asBool().value_or(true),
                     .isKept = quality["kept"].asBool().value_or(true)};
}

Result<void> checkOriginal(const ModelOptions& options, const CopyFacts& facts) {
    ENGINE_TRY(const ModelFiles files, openModel(options));
    ENGINE_TRY(const ModelConfig config, files.config());
    ENGINE_TRY(const auto weights, files.weights());
    ENGINE_TRY(const std::string fingerprint, modelFingerprint(config, *weights));
    if (fingerprint == facts.fingerprint)
        return {};
    return Error{ErrorCode::InvalidInput,
                 fmt::format("The copy was made of the model {}, and {} is {}.",
                             facts.fingerprint,
                             files.path().string(),
                             fingerprint),
                 "Name the model that it was made of with --model."};
}

Result<PromptSet> readComparedPrompts(const TuneOptions& options, const std::stop_token& stop) {
    DataOptions data = options.data;
    if (options.isHeldOut)
        data.isUsed = [](const DataRecord& record) {
            return isNeverTrainedOn(record.turns.front());
        };
    ENGINE_TRY(PromptSet set, readPrompts(data, stop));
    if (set.prompts.empty())
        return Error{ErrorCode::InvalidInput,
                     "None of these prompts is held out from a training: two of ten are, chosen by "
                     "their texts.",
                     "Give more prompts, or leave out --held-out."};
    return set;
}

/// A model with those of its decoders that are compared, the first of them vanilla.
class CopyContestants {
public:
    CopyContestants(const ModelOptions& options, bool isRaw)
        : m_options(options)
        , m_isRaw(isRaw) {
        m_options.draftAdapter = kNoDraftAdapter;
    }

    Result<void> load(DecoderRegistry& registry,
                      const std::vector<Variant>& variants,
                      int maxTokens,
                      const std::stop_token& stop) {
        ENGINE_TRY(DataModel model, loadDataModel(m_options, m_isRaw, stop));
        m_model.emplace(std::move(model));
        ENGINE_TRY(const SamplingOptions sampling,
                   resolveSampling(TypedSampling(), m_model->tokenizer.get()));
        std::vector<Contestant> contestants;
        for (const Variant& variant : variants) {
            Contestant contestant{.variant = variant, .halves = {}};
            for (auto& half : contestant.halves) {
                ENGINE_TRY(half,
                           registry.make(variant.decoder,
                                         {.transformer = *m_model->loaded.transformer,
                                          .sampling = sampling,
                                          .contextLength = m_model->contextLength,
                                          .settings = variant.settings}));
            }
            contestants.push_back(std::move(contestant));
        }
        const AnswerRequest request = {.model = *m_model, .maxTokens = maxTokens, .stop = stop};
        m_comparison.emplace(request, std::move(contestants));
        return {};
    }

    std::size_t weightBytes() const { return m_model->loaded.transformer->weightBytes(); }

    /// Errors: those of Comparison::run, and that of a decoder that has failed.
    Result<std::optional<PromptOutcomes>>
    run(const DataRecord& record, const std::function<void(std::string_view decoder)>& onTurn) {
        ENGINE_TRY(auto outcomes, m_comparison->run(record, onTurn));
        for (const Contestant& contestant : m_comparison->contestants())
            if (contestant.failure)
                return *contestant.failure;
        return outcomes;
    }

private:
    ModelOptions m_options;
    bool m_isRaw;
    std::optional<DataModel> m_model;
    std::optional<Comparison> m_comparison; // refers to m_model
};

/// All three on the prompts of a task, or on all.
using SideSums = std::array<DecoderSums, kCopySides>;

/// Times for equally many tokens of each prompt.
struct PairedTimes {
    std::vector<double> slower;
    std::vector<double> faster;

    void add(const PromptOutcome& base, const PromptOutcome& tuned) {
        if (base.tokensPerSecond() <= 0.0)
            return;
        slower.push_back(static_cast<double>(tuned.tally.tokens()) / base.tokensPerSecond());
        faster.push_back(tuned.decodeSeconds());
    }

    RatioEstimate ratio() const { return ratioOfSums(slower, faster); }
};

CopyJson timesJson(const PairedTimes& times) {
    if (times.faster.empty())
        return nullptr;
    const RatioEstimate ratio = times.ratio();
    return {{"ratio", ratio.ratio}, {"low", ratio.low}, {"high", ratio.high}};
}

std::string ratioWords(const PairedTimes& times) {
    const RatioEstimate ratio = times.ratio();
    return fmt::format(
        "{:.2f} (95 % interval {:.2f} to {:.2f})", ratio.ratio, ratio.low, ratio.high);
}

double overSide(const DecoderSums& one, const DecoderSums& other) {
    return other.tokensPerSecond() > 0.0 ? one.tokensPerSecond() / other.tokensPerSecond() : 0.0;
}

/// "rougeL .212, before .220"; empty where the answers have no score.
std::string scoreWords(const SideSums& sums) {
    std::string words;
    for (std::size_t i = 0; i < AnswerQuality::kNames.size(); ++i) {
        const auto before = sums[kOriginalSide].quality.at(i).mean();
        const auto after = sums[kTunedSide].quality.at(i).mean();
        if (before && after)
            words += fmt::format("{}{} {:.3f}, before {:.3f}",
                                 words.empty() ? "" : "; ",
                                 AnswerQuality::kNames.at(i),
                                 *after,
                                 *before);
    }
    return words;
}

class CopyComparison {
public:
    CopyComparison(const CopyFacts& facts,
                   const TuneOptions& options,
                   const Console& console,
                   const PromptSet& prompts,
                   std::array<CopyContestants*, 2> models,
                   std::vector<Variant> variants)
        : m_facts(facts)
        , m_options(options)
        , m_console(console)
        , m_prompts(prompts.prompts)
        , m_data(summaryOf(prompts))
        , m_models(models)
        , m_report(std::move(variants), kCopySide) {}

    Result<void> run() {
        tellStart();
        const auto visited =
            forEachPrompt(m_prompts, [this](const DataPrompt& prompt) { return visit(prompt); });
        m_status.clear();
        tellEnd(m_isCancelled || !visited);
        if (m_isCancelled)
            return cancelledError();
        ENGINE_TRY_DO(visited);
        return m_report.prompts() == 0 ? noAnswerError() : Result<void>();
    }

private:
    std::string perplexityWords() const {
        return fmt::format("perplexity {:.3f}, before {:.3f}, agreement {:.3f} of {} {} tokens",
                           m_facts.perplexity,
                           m_facts.perplexityBefore,
                           m_facts.agreement,
                           m_facts.tokens,
                           m_facts.isHeldOut ? "held-out" : "trained");
    }

    void tellStart() const {
        const std::size_t model = m_models[kOriginalSide]->weightBytes();
        const std::size_t copy = m_models[kCopySide]->weightBytes();
        m_console.jsonLine({{"event", "copy"},
                            {"path", m_options.compare},
                            {"decoder", m_facts.decoder},
                            {"perplexity_before", m_facts.perplexityBefore},
                            {"perplexity", m_facts.perplexity},
                            {"agreement", m_facts.agreement},
                            {"tokens", m_facts.tokens},
                            {"held_out", m_facts.isHeldOut},
                            {"kept", m_facts.isKept},
                            {"weight_bytes", copy},
                            {"weight_bytes_before", model}});
        if (model == copy)
            return;
        const std::string sentence = fmt::format(
            "The model's weights take {:.1f} MB and the copy's {:.1f} MB as they are computed, so "
            "speeds over the model are of other weights as well; those over the copy's own vanilla "
            "are not.",
            static_cast<double>(model) / 1e6,
            static_cast<double>(copy) / 1e6);
        Console::note(fmt::format("[{}]", sentence));
        m_console.jsonLine({{"event", "remark"}, {"text", sentence}});
    }

    Result<bool> visit(const DataPrompt& prompt) {
        ++m_seen;
        std::array<PromptOutcomes, 2> made;
        for (std::size_t i = 0; i < made.size(); ++i) {
            // Neither model is always the one that comes first.
            const std::size_t which = (toSize(m_seen) + i) % made.size();
            auto outcomes = m_models.at(which)->run(prompt.record, [&](std::string_view decoder) {
                m_status.show(fmt::format("{} of {}: {} {}, {} of the {}",
                                          m_seen,
                                          m_data.prompts,
                                          prompt.record.task,
                                          prompt.record.id,
                                          decoder,
                                          which == kOriginalSide ? "model" : "copy"));
            });
            m_status.clear();
            if (!outcomes)
                return leaveOut(prompt, outcomes.error());
            if (!outcomes.value()) {
                m_isCancelled = true;
                return false;
            }
            made.at(which) = std::move(*outcomes.value());
        }
        PromptOutcomes all = std::move(made[kOriginalSide]);
        for (auto& outcome : made[kCopySide])
            all.push_back(std::move(outcome));
        return add(prompt, all);
    }

    Result<bool> add(const DataPrompt& prompt, PromptOutcomes& outcomes) {
        const QualityJudge judge(std::nullopt);
        SideSums& ofTask = m_byTask[prompt.record.task];
        for (std::size_t side = 0; side < kCopySides; ++side) {
            PromptOutcome& outcome = *outcomes.at(side);
            for (std::size_t half = 0; half < outcome.texts.size(); ++half) {
                ENGINE_TRY(outcome.quality.at(half),
                           judge.score(prompt.record, outcome.texts.at(half)));
            }
            ofTask.at(side).add(outcome);
            m_all.at(side).add(outcome);
            auto line = m_report.promptLine(prompt, side, outcome);
            line["of"] = m_data.prompts;
            m_console.jsonLine(line);
        }
        m_report.add(prompt.record.task, outcomes);
        m_overCopy.add(*outcomes[kCopySide], *outcomes[kTunedSide]);
        m_overModel.add(*outcomes[kOriginalSide], *outcomes[kTunedSide]);
        return true;
    }

    /// A prompt that cannot be answered is told; any other error ends the run.
    Result<bool> leaveOut(const DataPrompt& prompt, const Error& error) {
        if (error.code == ErrorCode::Cancelled) {
            m_isCancelled = true;
            return false;
        }
        ENGINE_TRY_DO(m_report.leaveOut(m_console, prompt, error));
        return true;
    }

    void tellEnd(bool isIncomplete) const {
        CopyJson line = m_report.doneLine(m_data, isIncomplete);
        line["over_copy"] = timesJson(m_overCopy);
        line["over_model"] = timesJson(m_overModel);
        line["perplexity_before"] = m_facts.perplexityBefore;
        line["perplexity"] = m_facts.perplexity;
        m_console.jsonLine(line);
        if (!m_console.isJson() && m_report.prompts() > 0)
            m_console.text(table(isIncomplete));
    }

    std::string row(const std::string& task, const SideSums& sums) const {
        const DecoderSums& tuned = sums[kTunedSide];
        return fmt::format("{:<22.22} {:>7} {:>6} {:>9.1f} {:>9.1f} {:>9.1f} {:>9.2f} {:>10.2f} "
                           "{:>6.2f} {:>20}  {}\n",
                           task,
                           tuned.prompts,
                           tuned.equal,
                           sums[kOriginalSide].tokensPerSecond(),
                           sums[kCopySide].tokensPerSecond(),
                           tuned.tokensPerSecond(),
                           overSide(tuned, sums[kCopySide]),
                           overSide(tuned, sums[kOriginalSide]),
                           tuned.tally.tokensPerRound(),
                           keptDrafts(tuned.tally.metrics),
                           scoreWords(sums));
    }

    std::string table(bool isIncomplete) const {
        std::string text = fmt::format("{:<22} {:>7} {:>6} {:>9} {:>9} {:>9} {:>9} {:>10} {:>6} "
                                       "{:>20}  {}\n",
                                       "task",
                                       "prompts",
                                       "equal",
                                       "model",
                                       "copy",
                                       m_facts.decoder,
                                       "over copy",
                                       "over model",
                                       "M",
                                       "accepted/drafted",
                                       "quality");
        if (m_byTask.size() > 1)
            for (const auto& [task, sums] : m_byTask)
                text += row(task, sums);
        text += row(m_byTask.size() == 1 ? m_byTask.begin()->first : "all", m_all);
        text += fmt::format("{} on the copy is {} times as fast as the copy's vanilla, and {} "
                            "times as fast as the model's; {}.\n",
                            m_facts.decoder,
                            ratioWords(m_overCopy),
                            ratioWords(m_overModel),
                            perplexityWords());
        text += fmt::format("{} of {}, both halves; model, copy and {} in tokens/s.{}\n",
                            m_report.prompts(),
                            counted(m_data.prompts, "prompt"),
                            m_facts.decoder,
                            isIncomplete ? " INCOMPLETE: the run was stopped." : "");
        return text;
    }

    const CopyFacts& m_facts;
    const TuneOptions& m_options;
    const Console& m_console;
    const std::vector<DataPrompt>& m_prompts;
    DataSummary m_data;
    std::array<CopyContestants*, 2> m_models; // [Original, Copy]
    ComparisonReport m_report;                // [kCopySides]
    StatusLine m_status;
    std::map<std::string, SideSums> m_byTask;
    SideSums m_all = {};
    PairedTimes m_overCopy;
    PairedTimes m_overModel;
    std::int64_t m_seen = 0;
    bool m_isCancelled = false;
};

} // namespace

Result<void>
compareCopy(const TuneOptions& options, const Console& console, const std::stop_token& stop) {
    ENGINE_TRY(const CopyFacts facts, readCopyFacts(options.compare));
    ENGINE_TRY_DO(checkOriginal(options.model, facts));
    DecoderRegistry registry(moduleFolder());
    ENGINE_TRY(const auto variants, readVariants(registry, {facts.decoder}, {}));
    ENGINE_TRY(const PromptSet prompts, readComparedPrompts(options, stop));
    CopyContestants original(options.model, options.isRaw);
    ENGINE_TRY_DO(original.load(registry, {variants.front()}, options.maxTokens, stop));
    ModelOptions copyOptions = options.model;
    copyOptions.model = options.compare;
    copyOptions.isPlanted = false;
    CopyContestants copy(copyOptions, options.isRaw);
    ENGINE_TRY_DO(copy.load(registry, variants, options.maxTokens, stop));
    std::vector<Variant> told = {variants.front(), variants.front(), variants.back()};
    for (std::size_t side = 0; side < kCopySides; ++side)
        told[side].name = kCopyVariants.at(side);
    return CopyComparison(facts, options, console, prompts, {&original, &copy}, std::move(told))
        .run();
}

} // namespace app
