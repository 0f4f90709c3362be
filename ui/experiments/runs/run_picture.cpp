// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/runs/run_picture.h"

#include "engine/experiments/report/analysis/run_data.h"
#include "engine/experiments/report/result_json.h"

#include <QCoreApplication>
#include <QDateTime>
#include <QFileInfo>
#include <QStringList>

#include <algorithm>
#include <functional>
#include <iterator>
#include <utility>

namespace ui {

namespace {

constexpr qsizetype kTextLength = 240;       ///< letters of a prompt in a table
constexpr std::size_t kMostTextBytes = 4096; ///< of which they are taken
constexpr std::size_t kMostBands = 40;
constexpr long kPlainTail = 8; ///< plain steps at an answer's end that are worth a word

QString beginningOf(const std::string& text) {
    const QString line =
        QString::fromUtf8(text.data(),
                          static_cast<qsizetype>(std::min(text.size(), kMostTextBytes)))
            .simplified();
    return line.size() <= kTextLength ? line : line.left(kTextLength - 1) + u'\u2026';
}

std::shared_ptr<const RunFacts> factsOf(const engine::RunProgressReader& reader) {
    auto facts = std::make_shared<RunFacts>();
    facts->recipe = reader.folder().recipe();
    facts->plan = reader.folder().plan();
    facts->subject = reader.subject();
    facts->layers = reader.layers();
    for (const engine::DataRecord& record : reader.folder().prompts()) {
        facts->tasks.push_back(QString::fromStdString(record.task));
        facts->texts.push_back(record.turns.empty() ? QString()
                                                    : beginningOf(record.turns.front()));
    }
    return facts;
}

std::vector<PromptRow> rowsOf(const RunFacts& facts, const engine::RunProgress& progress) {
    std::vector<PromptRow> rows;
    rows.reserve(progress.prompts.size());
    for (const engine::PromptFigures& prompt : progress.prompts) {
        if (prompt.tokens == 0)
            continue;
        const auto place = static_cast<std::size_t>(prompt.prompt);
        PromptRow row;
        row.prompt = prompt.prompt + 1;
        row.task = facts.tasks[place];
        row.text = facts.texts[place];
        row.tokens = prompt.tokens;
        row.tokensPerRound = prompt.decoding.tokensPerRound();
        row.accepted = static_cast<long>(prompt.decoding.accepted);
        row.drafted = static_cast<long>(prompt.decoding.draftSteps);
        row.tokensPerSecond = prompt.tokensPerSecond();
        row.speed = prompt.speedup();
        row.isUnsteady = prompt.isUnsteady();
        row.draftedBy = draftedByText(prompt.drafters, prompt.draftedUntil, prompt.firstTokens);
        rows.push_back(std::move(row));
    }
    return rows;
}

} // namespace

std::vector<TaskBand> taskBands(const RunFacts& facts) {
    std::vector<TaskBand> bands;
    for (std::size_t i = 0; i < facts.tasks.size(); ++i) {
        if (bands.empty() || bands.back().task != facts.tasks[i])
            bands.push_back({static_cast<int>(i), 0, facts.tasks[i]});
        ++bands.back().count;
        if (bands.size() > kMostBands)
            return {};
    }
    return bands;
}

QString readableTitle(const QString& name) {
    return QString::fromStdString(engine::readableName(name.toStdString()));
}

QString readableTaskTitle(const QString& task) {
    return QString::fromStdString(engine::readableTask(task.toStdString()));
}

QString draftedByText(const std::map<std::string, long>& drafters, long until, long tokens) {
    static const std::pair<const char*, const char*> kNames[] = {
        {"skip", QT_TRANSLATE_NOOP("PromptRow", "skipped layers")},
        {"exit", QT_TRANSLATE_NOOP("PromptRow", "early exit")},
        {"tuned", QT_TRANSLATE_NOOP("PromptRow", "trained layer")},
        {"copy", QT_TRANSLATE_NOOP("PromptRow", "4-bit copy")},
        {"free", QT_TRANSLATE_NOOP("PromptRow", "guesses without layers")}};
    const auto words = [](const char* text) {
        return QCoreApplication::translate("PromptRow", text);
    };
    std::vector<std::pair<long, QString>> drafted;
    for (const auto& [name, count] : drafters) {
        const auto known =
            std::ranges::find(kNames, name, &std::pair<const char*, const char*>::first);
        if (name != "none" && count > 0)
            drafted.emplace_back(count,
                                 known == std::end(kNames) ? QString::fromStdString(name)
                                                           : words(known->second));
    }
    if (drafted.empty())
        return drafters.empty() ? QString() : words(QT_TRANSLATE_NOOP("PromptRow", "plain steps"));
    std::ranges::stable_sort(drafted, std::greater(), &std::pair<long, QString>::first);
    QStringList parts;
    for (const auto& [count, name] : drafted)
        parts << name;
    if (tokens - until >= std::max(kPlainTail, tokens / 4))
        parts << words(QT_TRANSLATE_NOOP("PromptRow", "plain steps after token %1")).arg(until);
    return parts.join(QStringLiteral(", "));
}

RunPicturePtr RunReader::read() {
    auto picture = std::make_shared<RunPicture>();
    picture->folder = m_folder;
    const std::filesystem::path path = m_folder.toStdString();
    const auto fail = [&](const engine::Error& error) {
        picture->problem = QString::fromStdString(error.message);
        return picture;
    };
    if (!m_reader) {
        if (!engine::RunFolder::isRun(path))
            return picture;
        auto reader = engine::RunProgressReader::open(path);
        if (!reader)
            return fail(reader.error());
        m_reader.emplace(std::move(reader).value());
        m_facts = factsOf(*m_reader);
    }
    auto progress = m_reader->read();
    if (!progress)
        return fail(progress.error());
    picture->facts = m_facts;
    picture->progress = std::move(progress).value();
    picture->rows = rowsOf(*m_facts, picture->progress);
    readResult(*picture);
    return picture;
}

AnswersPicturePtr RunReader::readAnswers(int prompt) {
    auto picture = std::make_shared<AnswersPicture>();
    picture->folder = m_folder;
    picture->prompt = prompt;
    if (!m_reader)
        picture->problem = read()->problem;
    if (!m_reader)
        return picture;
    picture->subject = m_reader->subject();
    auto kept = engine::readPromptAnswers(m_reader->folder(), prompt - 1);
    if (kept)
        picture->kept = std::move(kept).value();
    else
        picture->problem = QString::fromStdString(kept.error().message);
    return picture;
}

/// It is replaced as a whole whenever more shards are finished.
void RunReader::readResult(RunPicture& picture) {
    const QFileInfo file(m_folder + QStringLiteral("/result.json"));
    const qint64 stamp = file.exists() ? file.lastModified().toMSecsSinceEpoch() : -1;
    if (stamp >= 0 && stamp != m_resultStamp) {
        auto result = engine::readResultFile(file.filePath().toStdString());
        if (result)
            m_result = std::make_shared<engine::ExperimentResult>(std::move(result).value());
        else
            picture.problem = QString::fromStdString(result.error().message);
        m_resultStamp = result ? stamp : -1;
    }
    picture.result = m_result;
    picture.hasReport = QFileInfo::exists(m_folder + QStringLiteral("/report/report.html"));
}

} // namespace ui
