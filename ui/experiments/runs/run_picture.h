// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "engine/experiments/report/experiment_result.h"
#include "engine/experiments/run/progress/prompt_answers.h"
#include "engine/experiments/run/progress/run_progress.h"
#include "ui/experiments/prompt_row.h"

#include <QString>

#include <map>
#include <memory>
#include <optional>
#include <vector>

namespace ui {

/// What of a run does not change.
struct RunFacts {
    engine::Recipe recipe;
    engine::RunPlan plan;
    std::string subject; ///< see engine::RunProgressReader::subject()
    int layers = 0;
    std::vector<QString> tasks; ///< [prompts]
    std::vector<QString> texts; ///< [prompts] the beginning of the first turn, in one line
};

/// Prompts of one task that follow each other.
struct TaskBand {
    int first = 0; ///< prompt, from 0
    int count = 0;
    QString task;

    bool operator==(const TaskBand&) const = default;
};

/// All that the window shows of a run, as its folder had it at one moment. A plain value.
struct RunPicture {
    QString folder;
    QString problem;                       ///< why it cannot be read: a sentence; empty = nothing
    std::shared_ptr<const RunFacts> facts; ///< null: there is no run yet
    engine::RunProgress progress;
    std::vector<PromptRow> rows; ///< the prompts that the subject has answered, in order
    std::shared_ptr<const engine::ExperimentResult> result; ///< null: none yet
    bool hasReport = false;                                 ///< whether the report is written
};

/// What a run has kept of one prompt. A plain value.
struct AnswersPicture {
    QString folder;
    int prompt = 0;           ///< from 1
    QString problem = {};     ///< why it cannot be read: a sentence; empty = nothing
    std::string subject = {}; ///< see RunFacts
    engine::PromptAnswers kept = {};
};

using AnswersPicturePtr = std::shared_ptr<const AnswersPicture>;

using RunPicturePtr = std::shared_ptr<const RunPicture>;

using ResultPtr = std::shared_ptr<const engine::ExperimentResult>;

/// A figure by itself, or of a result that stays as long as this points into it.
using ResultFigurePtr = std::shared_ptr<const engine::ResultFigure>;

/// The tasks along the prompts; none for a run that mixes them.
std::vector<TaskBand> taskBands(const RunFacts& facts);

/// The name of a variant or of a model as people read it, and as reports write it.
QString readableTitle(const QString& name);

/// A task's name, as reports write it: nothing but its underscores and its first letter is changed.
QString readableTaskTitle(const QString& task);

/// What drafted an answer of so many tokens, the most frequent first: "skipped layers, plain steps
/// after token 32". `drafters` and `until` as in engine::ShardAnswer; empty if the run's files do
/// not say it.
QString draftedByText(const std::map<std::string, long>& drafters, long until, long tokens);

/// Reads one run folder, again and again. Reads the disk. Thread: one.
class RunReader {
public:
    explicit RunReader(QString folder)
        : m_folder(std::move(folder)) {}

    RunPicturePtr read();

    /// Of a prompt, from 1.
    AnswersPicturePtr readAnswers(int prompt);

private:
    void readResult(RunPicture& picture);

    QString m_folder;
    std::optional<engine::RunProgressReader> m_reader;
    std::shared_ptr<const RunFacts> m_facts;
    std::shared_ptr<const engine::ExperimentResult> m_result;
    qint64 m_resultStamp = -1;
};

} // namespace ui
