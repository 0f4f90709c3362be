// SPDX-License-Identifier: Apache-2.0
#include "app/commands/tune/tune_report.h"

#include "app/streams/counted.h"

#include <fmt/ranges.h>

#include <vector>

namespace app {

using namespace engine;

namespace {

using TuneJson = nlohmann::ordered_json;

constexpr std::int64_t kReportedSteps = 10;

/// "1 h 20 min", "3 min", "40 s".
std::string durationText(double seconds) {
    const auto whole = static_cast<std::int64_t>(seconds);
    if (whole >= 3600)
        return fmt::format("{} h {} min", whole / 3600, whole % 3600 / 60);
    return whole >= 60 ? fmt::format("{} min", whole / 60) : fmt::format("{} s", whole);
}

/// Without the depths that no draft has reached.
std::string scoresText(const Evaluation& evaluation) {
    constexpr std::size_t kShownDepths = 3;
    const auto shares = acceptanceOf(evaluation.all);
    std::vector<std::string> texts;
    for (std::size_t depth = 0; depth < kShownDepths; ++depth)
        if (depth == 0 || evaluation.all.tried[depth] > 0)
            texts.push_back(fmt::format("a{} {:.3f}", depth + 1, shares[depth]));
    return fmt::format(
        "{}; {:.2f} tokens a round", fmt::join(texts, ", "), evaluation.tokensPerRound());
}

TuneJson tasksJson(const Evaluation& evaluation) {
    TuneJson tasks = TuneJson::object();
    for (const auto& [task, hits] : evaluation.byTask)
        tasks[task] = {{"acceptance", acceptanceOf(hits)},
                       {"tokens_per_round", tokensPerRound(hits)}};
    return tasks;
}

TuneJson partsJson(const StepLosses& losses, bool changesModel) {
    if (changesModel)
        return {{"likelihood", losses.likelihood},
                {"drafting", losses.drafting},
                {"gradient", losses.gradientNorm}};
    return {{"likelihood", losses.likelihood},
            {"stream", losses.stream},
            {"overlap", losses.overlap},
            {"gradient", losses.gradientNorm}};
}

std::string qualityText(const ModelQuality& quality) {
    return fmt::format("perplexity {:.3f}, before {:.3f}, agreement {:.3f}; ",
                       quality.perplexityAfter,
                       quality.perplexityBefore,
                       quality.agreement);
}

/// Adds what there is only of a new model.
void addQuality(TuneJson& json, const TuneDone& done) {
    json["mask_token"] = done.maskToken == kNoToken ? TuneJson(nullptr) : TuneJson(done.maskToken);
    json["quality"] = {{"tokens", done.quality->tokens},
                       {"perplexity_before", done.quality->perplexityBefore},
                       {"perplexity", done.quality->perplexityAfter},
                       {"most_perplexity", kMostPerplexity * done.quality->perplexityBefore},
                       {"agreement", done.quality->agreement},
                       {"least_agreement", kLeastAgreement},
                       {"kept", done.quality->isKept()}};
}

/// Adds what there is only of a model with exits.
void addExits(TuneJson& json, const Evaluation& evaluation) {
    if (!evaluation.all.exits.empty())
        json["exits"] = exitShares(evaluation.all);
}

TuneJson knownOrNull(double value) { return value > 0.0 ? TuneJson(value) : TuneJson(nullptr); }

TuneJson bytesOrNull(double bytes) {
    return bytes > 0.0 ? TuneJson(static_cast<std::int64_t>(bytes)) : TuneJson(nullptr);
}

/// "0.35 GB", "250 GB".
std::string gigabyteWords(double bytes) {
    const double count = bytes / 1e9;
    return count < 10.0 ? fmt::format("{:.2g} GB", count) : fmt::format("{:.0f} GB", count);
}

} // namespace

bool TuneReport::isTimeFor(double& lastMs) {
    constexpr double kBetweenMs = 1000.0;
    const double now = m_nowMs();
    if (now - lastMs < kBetweenMs)
        return false;
    lastMs = now;
    return true;
}

void TuneReport::start(const TuneStart& start) {
    const TuningPlan& plan = start.plan;
    m_changesModel = plan.changesModel();
    m_console.jsonLine({{"event", "start"},
                        {"recipe", recipeName(plan.recipe)},
                        {"model", start.model},
                        {"fingerprint", start.fingerprint},
                        {"profile", plan.profile},
                        {"seed", plan.seed},
                        {"threads", plan.threads},
                        {"precision", plan.usesBfloat16 ? "bfloat16" : "float32"},
                        {"trained_weights", start.trainedWeights},
                        {"answer_tokens", plan.answerTokens},
                        {"epochs", plan.epochs},
                        {"steps", plan.steps > 0 ? TuneJson(plan.steps) : TuneJson(nullptr)},
                        {"minutes", knownOrNull(plan.minutes)},
                        {"memory_bytes", bytesOrNull(start.estimate.memory)},
                        {"disk_bytes", bytesOrNull(start.estimate.disk)}});
    if (!m_console.isJson())
        Console::note(fmt::format(
            "[{}: {} weights are trained on {} answer tokens, with {}{} on the disk{}]",
            start.model,
            start.trainedWeights,
            plan.answerTokens,
            start.estimate.memory > 0.0
                ? fmt::format("about {} of memory and ", gigabyteWords(start.estimate.memory))
                : "",
            gigabyteWords(start.estimate.disk),
            plan.minutes > 0.0
                ? fmt::format(", or on fewer if these would take more than about {:g} min",
                              plan.minutes)
                : "; its first steps will tell how long that takes"));
}

void TuneReport::prices(const char* when, const DraftPrices& prices) {
    const auto even = breakEvenOf(prices);
    TuneJson rows = TuneJson::object();
    for (std::size_t i = 0; i < prices.rows.size(); ++i)
        rows[std::to_string(i + 2)] = prices.rows.at(i);
    m_console.jsonLine({{"event", "prices"},
                        {"when", when},
                        {"plain_ms", prices.plainMs},
                        {"c", prices.draft},
                        {"v", std::move(rows)},
                        {"rounds", prices.rounds},
                        {"break_even", even ? TuneJson(even->acceptance) : TuneJson(nullptr)},
                        {"drafted", even ? TuneJson(even->drafted) : TuneJson(nullptr)}});
    if (!m_console.isJson())
        Console::note(fmt::format(
            "[a draft token costs {:.3f} of a plain step here, and checking 2, 3 and 4 tokens "
            "{:.2f}, {:.2f} and {:.2f}: drafting {}]",
            prices.draft,
            prices.rows[0],
            prices.rows[1],
            prices.rows[2],
            even ? fmt::format("pays from an acceptance of {:.2f} on", even->acceptance)
                 : "cannot pay"));
}

void TuneReport::selfPrompts(int written, int planned) {
    if (!isTimeFor(m_selfPromptsMs) && written < planned)
        return;
    m_status.show(fmt::format("the model writes prompts: {} of {}", written, planned));
    m_console.jsonLine({{"event", "self_prompts"}, {"written", written}, {"planned", planned}});
}

void TuneReport::collected(const CollectProgress& progress) {
    if (!isTimeFor(m_collectMs) && progress.answerTokens < progress.plannedTokens)
        return;
    m_status.show(fmt::format("collecting: {} of {} answer tokens, {:.0f} tokens/s{}",
                              progress.answerTokens,
                              progress.plannedTokens,
                              progress.tokensPerSecond,
                              progress.secondsLeft > 0.0
                                  ? ", about " + durationText(progress.secondsLeft) + " left"
                                  : ""));
    m_console.jsonLine({{"event", "collect"},
                        {"prompts", progress.prompts},
                        {"answer_tokens", progress.answerTokens},
                        {"planned", progress.plannedTokens},
                        {"tokens_per_s", progress.tokensPerSecond},
                        {"eta_s", knownOrNull(progress.secondsLeft)}});
}

void TuneReport::stepped(const TrainingProgress& progress) {
    if (isTimeFor(m_stepMs))
        m_status.show(fmt::format("training: step {} of {}, loss {:.3f}, about {} left{}",
                                  progress.step,
                                  progress.steps,
                                  progress.losses.likelihood,
                                  durationText(progress.secondsLeft),
                                  m_scores.empty() ? "" : "; " + m_scores));
    if (progress.step % kReportedSteps != 0 && progress.step != progress.steps)
        return;
    m_console.jsonLine({{"event", "step"},
                        {"step", progress.step},
                        {"steps", progress.steps},
                        {"loss", progress.losses.likelihood},
                        {"parts", partsJson(progress.losses, m_changesModel)},
                        {"rate", progress.rate},
                        {"tokens_per_s", progress.tokensPerSecond},
                        {"eta_s", progress.secondsLeft}});
}

void TuneReport::evaluated(const Evaluation& evaluation, bool isBest) {
    m_scores = scoresText(evaluation);
    m_status.clear();
    if (!m_console.isJson())
        Console::note(fmt::format(
            "step {}: {}{}", evaluation.step, m_scores, isBest ? "" : " (an earlier one is kept)"));
    TuneJson line = {{"event", "eval"},
                     {"step", evaluation.step},
                     {"acceptance", acceptanceOf(evaluation.all)},
                     {"tokens_per_round", evaluation.tokensPerRound()},
                     {"best", isBest},
                     {"tasks", tasksJson(evaluation)}};
    addExits(line, evaluation);
    m_console.jsonLine(line);
}

void TuneReport::checkpointed(const std::filesystem::path& path) {
    m_console.jsonLine({{"event", "checkpoint"}, {"path", path.string()}});
}

void TuneReport::keptBest(const std::filesystem::path& path,
                          const Evaluation& best,
                          bool isHeldOut) {
    m_console.jsonLine({{"event", "best"},
                        {"path", path.string()},
                        {"step", best.step},
                        {"acceptance", acceptanceOf(best.all)},
                        {"tokens_per_round", best.tokensPerRound()},
                        {"held_out", isHeldOut}});
}

void TuneReport::note(const std::string& sentence) {
    m_status.clear();
    Console::note(fmt::format("[{}]", sentence));
    m_console.jsonLine({{"event", "remark"}, {"text", sentence}});
}

void TuneReport::collectingDone(const std::filesystem::path& folder, std::int64_t answerTokens) {
    m_status.clear();
    if (!m_console.isJson())
        m_console.line(fmt::format("{}: {} answer tokens; go on with --resume without "
                                   "--collect-only",
                                   folder.string(),
                                   answerTokens));
    m_console.jsonLine(
        {{"event", "done"}, {"path", folder.string()}, {"answer_tokens", answerTokens}});
}

void TuneReport::done(const TuneDone& done, const TrainingResult& result) {
    m_status.clear();
    if (!m_console.isJson()) {
        const std::string collecting =
            done.collectSeconds ? durationText(*done.collectSeconds) + " of collecting, " : "";
        m_console.line(fmt::format("{}: {} bytes, {}, {} answer tokens, {}; {}{}{} of training",
                                   done.path,
                                   done.bytes,
                                   scoresText(result.best),
                                   done.answerTokens,
                                   counted(result.steps, "step"),
                                   done.quality ? qualityText(*done.quality) : "",
                                   collecting,
                                   durationText(result.seconds)));
        for (const auto& [task, hits] : result.best.byTask)
            m_console.line(fmt::format("  {:<24} a1 {:.3f}, {:.2f} tokens a round",
                                       task,
                                       acceptanceOf(hits)[0],
                                       tokensPerRound(hits)));
    }
    TuneJson line = {
        {"event", "done"},
        {"path", done.path},
        {"bytes", done.bytes},
        {"acceptance", acceptanceOf(result.best.all)},
        {"tokens_per_round", result.best.tokensPerRound()},
        {"held_out", result.isHeldOut},
        {"tasks", tasksJson(result.best)},
        {"answer_tokens", done.answerTokens},
        {"steps", result.steps},
        {"seconds",
         {{"collect", done.collectSeconds ? TuneJson(*done.collectSeconds) : TuneJson()},
          {"train", result.seconds}}}};
    if (done.quality)
        addQuality(line, done);
    else
        line["head_coverage"] = done.coverage;
    addExits(line, result.best);
    m_console.jsonLine(line);
}

} // namespace app
