// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "app/commands/tune/limits/tune_limits.h"
#include "app/commands/tune/tune_options.h"
#include "app/commands/tune/tune_prompts.h"
#include "app/commands/tune/tune_report.h"
#include "engine/tuning/result/run_origin.h"

#include <filesystem>
#include <functional>
#include <memory>
#include <optional>
#include <stop_token>
#include <string>
#include <vector>

namespace app {

/// What all recipes of `tune` do alike: from the options to answers, and from answers to what was
/// trained. Thread: one.
class TuneWork {
public:
    /// The options must outlive it.
    TuneWork(const TuneOptions& options,
             const engine::TuningPlan& plan,
             const Console& console,
             std::stop_token stop);

    const TuneOptions& options() const { return m_options; }

    const engine::TuningPlan& plan() const { return m_plan; }

    const std::stop_token& stop() const { return m_stop; }

    TuneReport& report() { return m_report; }

    /// Opens the files of the model. At most so many tokens of context are used. Errors: those of
    /// opening them and of contextLength().
    engine::Result<void> openFiles(int mostContext);

    /// The prompts of the options; none where the model writes them itself. Errors: those of
    /// readPrompts.
    engine::Result<engine::PromptSet> readData() const;

    /// Makes prompts into tokens. Errors: NotFound for a model without a tokenizer; those of
    /// opening it, and of PromptEncoder::userTurn where the model is to write prompts itself.
    engine::Result<void> encode(const engine::PromptSet& data);

    // Known once the files are open, and the prompts once they are encoded.
    const engine::ModelFiles& files() const { return *m_files; }

    const std::string& name() const { return m_name; }

    const engine::ModelConfig& config() const { return m_config; }

    const engine::WeightSource& weights() const { return *m_weights; }

    const std::string& fingerprint() const { return m_fingerprint; }

    int contextLength() const { return m_contextLength; }

    const engine::Tokenizer& tokenizer() const { return *m_tokenizer; }

    const TunePrompts& prompts() const { return m_prompts; }

    const PromptEncoder& encoder() const { return *m_encoder; }

    const std::vector<engine::TokenId>& endIds() const { return m_endIds; }

    /// Whether this computer has what the training needs, and the user allows it. Where time
    /// decides how many answers there are, no more are planned than --disk-gb has room for.
    /// `trained`: weights. Errors: those of checkTuningFits and checkLimits.
    engine::Result<void> checkFits(std::int64_t trained);

    /// What the training takes; known once that is checked.
    const TuningEstimate& estimate() const { return m_estimate; }

    /// The folder of the run. Errors: those of TuningFolder::open.
    engine::Result<engine::TuningFolder> openFolder() const;

    /// What is done with the model in memory before it answers.
    using ModelTask = std::function<engine::Result<void>(engine::Transformer&)>;

    /// Answers what is missing, without the token `forbidden`, and checks that there is enough. A
    /// folder that no later run can use is deleted. Errors: those of `first`, of writeSelfPrompts
    /// and of collectRows; InvalidInput for too few tokens; those of checkLimits for answers of an
    /// earlier run that take more than this one may.
    engine::Result<void> gather(engine::RowStore& rows,
                                engine::TuningFolder& folder,
                                engine::TokenId forbidden = engine::kNoToken,
                                const ModelTask& first = {});

    /// Told of each evaluation whose state is the best so far, which the trainer still has.
    using BestTask = std::function<void(const engine::Evaluation&)>;

    /// Errors: those of trainDrafts.
    engine::Result<engine::TrainingResult> train(const engine::RowStore& rows,
                                                 const engine::TuningFolder& folder,
                                                 engine::Trainer& trainer,
                                                 const BestTask& onBest = {});

    /// The model in memory, without a draft adapter. Errors: those of loadModel.
    engine::Result<LoadedModel> load(const engine::ModelFiles& files) const;

    /// Time that collecting took; none where an earlier run has collected and not kept it.
    std::optional<double> collectSeconds(const engine::RowStore& rows) const;

    /// What a result that is made now says of where it is from.
    engine::RunOrigin origin(const engine::RowStore& rows) const;

    /// Says how to go on with what was stopped.
    engine::Result<void> told(engine::Result<void> result);

private:
    engine::Result<void> collect(engine::RowStore& rows,
                                 const engine::TuningFolder& folder,
                                 engine::TokenId forbidden,
                                 const ModelTask& first);
    engine::Result<void> addSelfPrompts(engine::Transformer& transformer,
                                        const engine::TuningFolder& folder,
                                        engine::TokenId forbidden);
    TunePrompts encoded(const std::vector<engine::DataPrompt>& prompts);
    void leave(engine::TuningFolder& folder,
               const engine::RowStore& rows,
               const engine::Error& error) const;
    engine::Result<void> checkTokens(std::int64_t tokens);
    engine::Result<void> checkRoomOf(const engine::RowStore& rows) const;
    std::vector<engine::DataOrigin> dataFiles() const;

    const TuneOptions& m_options;
    engine::TuningPlan m_plan;
    std::stop_token m_stop;
    TuneReport m_report;
    std::optional<engine::ModelFiles> m_files;
    std::string m_name;
    engine::ModelConfig m_config;
    std::unique_ptr<engine::WeightSource> m_weights;
    std::string m_fingerprint;
    int m_contextLength = 0;
    TuningEstimate m_estimate;
    std::int64_t m_weightCount = 0; // that are trained, as m_estimate counts them
    // If this run has collected all; the shards know it only with a limit of time.
    std::optional<double> m_collectSeconds;
    std::unique_ptr<engine::Tokenizer> m_tokenizer;
    std::optional<PromptEncoder> m_encoder; // refers to m_tokenizer
    TunePrompts m_prompts;
    std::vector<engine::TokenId> m_endIds;
};

/// The clock of a run, in milliseconds.
double tuneClockMs();

/// --overwrite is said of what is there when a run begins: what comes there in the hours of its
/// work is replaced only where it is an output of the same kind.
engine::OutputPlace placeAsOfNow(engine::OutputPlace place);

} // namespace app
