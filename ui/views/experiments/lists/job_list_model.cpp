// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/lists/job_list_model.h"

#include "engine/experiments/run/progress/duration_words.h"
#include "ui/shell/figure_text.h"

#include <QLocale>
#include <QRegularExpression>

#include <algorithm>

namespace ui {

namespace {

enum class Section { Running, Waiting, Finished };

Section sectionOf(const ExperimentJob& job) {
    return job.isAtWork() ? Section::Running : job.isOver() ? Section::Finished : Section::Waiting;
}

QString sectionName(Section section) {
    switch (section) {
    case Section::Running:
        return JobListModel::tr("Running");
    case Section::Waiting:
        return JobListModel::tr("Waiting");
    case Section::Finished:
        break;
    }
    return JobListModel::tr("Finished");
}

/// All that is counted: answers, samples that are drawn for a test, and sets that searches try.
qint64 stepsOf(const engine::RunProgress& progress) {
    return progress.answers + progress.draws + progress.trials;
}

qint64 plannedStepsOf(const engine::RunProgress& progress) {
    return progress.planned + progress.plannedDraws + progress.plannedTrials;
}

} // namespace

QString durationText(double seconds) {
    return QString::fromStdString(engine::durationWords(seconds));
}

std::optional<double> progressShare(const RunPicture& picture) {
    const qint64 planned = plannedStepsOf(picture.progress);
    if (picture.facts == nullptr || planned <= 0)
        return std::nullopt;
    return std::min(1.0,
                    static_cast<double>(stepsOf(picture.progress)) / static_cast<double>(planned));
}

QString progressText(const RunPicture& picture) {
    if (picture.facts == nullptr)
        return {};
    const engine::RunProgress& progress = picture.progress;
    const qint64 steps = stepsOf(progress);
    const qint64 planned = plannedStepsOf(progress);
    if (steps == 0)
        return JobListModel::tr("reading the model");
    const qint64 prompts = static_cast<qint64>(picture.facts->tasks.size());
    QString text =
        picture.facts->recipe.isStream
            ? JobListModel::tr("prompt %1 of %2")
                  .arg(numberText(static_cast<qint64>(picture.rows.size())), numberText(prompts))
            : (planned > progress.planned ? JobListModel::tr("step %1 of %2")
                                          : JobListModel::tr("answer %1 of %2"))
                  .arg(numberText(steps), numberText(planned));
    if (progress.secondsLeft && *progress.secondsLeft > 0.0)
        text = JobListModel::tr("%1 · %2 left").arg(text, durationText(*progress.secondsLeft));
    return text;
}

QString outcomeText(const RunPicture& picture) {
    static const QRegularExpression kFactor(QStringLiteral("\\d+\\.\\d+\\s?\u00D7"));
    const engine::ExperimentVerdict& verdict = picture.result->verdict;
    // Of an audit the question is not whether anything is gained.
    const bool isAudit = picture.facts != nullptr && picture.facts->recipe.verdict.kind == "equal";
    if (verdict.kind == engine::VerdictKind::NoGain)
        return isAudit ? JobListModel::tr("not equal") : JobListModel::tr("no gain");
    if (verdict.kind == engine::VerdictKind::Refused)
        return JobListModel::tr("not steady");
    return kFactor.match(QString::fromStdString(verdict.headline)).captured();
}

QString jobText(const ExperimentJob& job, const RunPicture* picture) {
    if (job.isStopping)
        return JobListModel::tr("stops after its current pass");
    const QString progress = picture != nullptr ? progressText(*picture) : QString();
    switch (job.state) {
    case JobState::Waiting:
        return JobListModel::tr("waits for its turn");
    case JobState::Running:
        return (job.isOnCluster() ? JobListModel::tr("Slurm · ") : QString()) +
               (progress.isEmpty() ? JobListModel::tr("starting") : progress);
    case JobState::Paused:
        return progress.isEmpty() ? JobListModel::tr("paused")
                                  : JobListModel::tr("paused at %1")
                                        .arg(progress.section(u'\u00B7', 0, 0).trimmed());
    case JobState::Stopped:
        return JobListModel::tr("stopped · can be resumed");
    case JobState::Failed:
        return JobListModel::tr("failed");
    case JobState::Finished:
        break;
    }
    return JobListModel::tr("finished");
}

JobListModel::JobListModel(const ExperimentQueue& queue, const RunWatcher& watcher, QObject* parent)
    : QAbstractListModel(parent)
    , m_queue(queue)
    , m_watcher(watcher) {
    connect(&queue, &ExperimentQueue::changed, this, &JobListModel::update);
    connect(&watcher, &RunWatcher::pictureCame, this, [this](const RunPicturePtr& picture) {
        for (std::size_t row = 0; row < m_rows.size(); ++row)
            if (m_rows[row].folder == picture->folder) {
                const QModelIndex changed = index(static_cast<int>(row));
                emit dataChanged(changed, changed);
            }
    });
    update();
}

/// Sections in their order; what is over, newest first.
void JobListModel::update() {
    std::vector<ExperimentJob> rows = m_queue.jobs();
    std::ranges::stable_sort(rows, [](const ExperimentJob& a, const ExperimentJob& b) {
        const Section first = sectionOf(a);
        const Section second = sectionOf(b);
        return first != second ? first < second
                               : first == Section::Finished && a.endedAt > b.endedAt;
    });
    const bool isSameOrder = std::ranges::equal(rows, m_rows, [](const auto& a, const auto& b) {
        return a.id == b.id && sectionOf(a) == sectionOf(b);
    });
    if (isSameOrder) {
        m_rows = std::move(rows);
        if (!m_rows.empty())
            emit dataChanged(index(0), index(static_cast<int>(m_rows.size()) - 1));
        return;
    }
    beginResetModel();
    m_rows = std::move(rows);
    endResetModel();
}

int JobListModel::rowCount(const QModelIndex& parent) const {
    return parent.isValid() ? 0 : static_cast<int>(m_rows.size());
}

QString JobListModel::subtitleOf(const ExperimentJob& job) const {
    if (job.state == JobState::Failed)
        return job.sentence;
    if (job.state != JobState::Finished)
        return jobText(job, m_watcher.picture(job.folder).get());
    const QDateTime ended = job.endedAt.toLocalTime();
    return ended.date() == QDate::currentDate()
               ? ended.time().toString(QStringLiteral("HH:mm"))
               : QLocale().toString(ended.date(), QLocale::ShortFormat);
}

std::pair<QString, JobListModel::Tone> JobListModel::outcomeOf(const ExperimentJob& job) const {
    const RunPicturePtr picture = m_watcher.picture(job.folder);
    if (job.isAtWork()) {
        const auto share = picture != nullptr ? progressShare(*picture) : std::nullopt;
        return {share ? tr("%1 %").arg(static_cast<int>(*share * 100.0)) : QString(), Tone::Accent};
    }
    if (job.state == JobState::Failed)
        return {tr("failed"), Tone::Error};
    if (job.state == JobState::Stopped)
        return {tr("resume"), Tone::Accent};
    return {job.outcome, job.isGain ? Tone::Plain : Tone::Warning};
}

QVariant JobListModel::data(const QModelIndex& index, int role) const {
    if (!checkIndex(index, CheckIndexOption::IndexIsValid))
        return {};
    const auto row = static_cast<std::size_t>(index.row());
    const ExperimentJob& job = m_rows[row];
    switch (role) {
    case Qt::DisplayRole:
        return job.title;
    case Qt::ToolTipRole:
        return tr("<b>%1</b><br>%2<br>%3")
            .arg(job.title.toHtmlEscaped(),
                 subtitleOf(job).toHtmlEscaped(),
                 job.folder.toHtmlEscaped());
    case Qt::AccessibleTextRole: {
        QStringList words{
            sectionName(sectionOf(job)), job.title, subtitleOf(job), outcomeOf(job).first};
        words.removeAll(QString());
        return words.join(QStringLiteral(", "));
    }
    case IdRole:
        return job.id;
    case SubtitleRole:
        return subtitleOf(job);
    case SectionRole:
        return sectionName(sectionOf(job));
    case IsFirstOfSectionRole:
        return row == 0 || sectionOf(m_rows[row - 1]) != sectionOf(job);
    case OutcomeRole:
        return outcomeOf(job).first;
    case ToneRole:
        return static_cast<int>(outcomeOf(job).second);
    case ShareRole:
        if (job.isAtWork()) {
            const RunPicturePtr picture = m_watcher.picture(job.folder);
            return picture != nullptr ? progressShare(*picture).value_or(0.0) : 0.0;
        }
        return {};
    default:
        return {};
    }
}

QModelIndex JobListModel::indexOf(const QString& id) const {
    const auto found = std::ranges::find(m_rows, id, &ExperimentJob::id);
    return found == m_rows.end() ? QModelIndex() : index(static_cast<int>(found - m_rows.begin()));
}

} // namespace ui
