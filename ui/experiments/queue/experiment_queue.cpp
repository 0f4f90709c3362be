// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/queue/experiment_queue.h"

#include <QDir>
#include <QFile>
#include <QFileInfo>
#include <QJsonDocument>
#include <QJsonValue>
#include <QUuid>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

constexpr int kLongestName = 40;

QString queuePath(const ExperimentPlaces& places) {
    return places.folder.isEmpty() ? QString() : places.folder + QStringLiteral("/queue.json");
}

/// Where the run in this folder has its first model; a file that was not its own it has never
/// taken.
QString modelOfRun(const QString& folder) {
    QFile plan(folder + QStringLiteral("/plan.json"));
    if (!plan.open(QIODevice::ReadOnly))
        return {};
    const QJsonDocument json = QJsonDocument::fromJson(plan.readAll());
    return json[QLatin1String("models")][0][QLatin1String("path")].toString();
}

/// What every file system accepts: letters and digits with single dashes between them.
QString folderName(const QString& name) {
    QString clean;
    for (const QChar letter : name.toLower().left(kLongestName)) {
        const bool isPlain = letter.isLetterOrNumber() && letter.unicode() < 128;
        if (isPlain)
            clean += letter;
        else if (!clean.isEmpty() && !clean.endsWith(u'-'))
            clean += u'-';
    }
    if (clean.endsWith(u'-'))
        clean.chop(1);
    return clean.isEmpty() ? QStringLiteral("experiment") : clean;
}

/// Those of a job's arguments that say where its parts run. All others are in the folder of a run
/// that has begun.
QStringList executorOf(const QStringList& arguments) {
    QStringList chosen;
    bool isValue = false; // of the option before
    for (const QString& word : arguments) {
        const bool isOption =
            word == QLatin1String("--executor") || word.startsWith(QLatin1String("--slurm-"));
        if (isOption || isValue)
            chosen << word;
        isValue = isOption && !word.contains(u'=');
    }
    return chosen;
}

} // namespace

ExperimentQueue::ExperimentQueue(const ExperimentPlaces& places, QObject* parent)
    : QObject(parent)
    , m_places(places)
    , m_file(queuePath(places)) {
    QueueFile::Content content = m_file.read();
    m_jobs = std::move(content.jobs);
    m_isGoing = content.isGoing;
    for (ExperimentJob& job : m_jobs)
        if (job.state == JobState::Paused || (job.state == JobState::Running && !m_isGoing))
            job.state = JobState::Stopped;
    connect(&m_file, &QueueFile::failed, this, &ExperimentQueue::faulted);
}

ExperimentQueue::~ExperimentQueue() {
    if (m_process != nullptr)
        m_process->disconnect(this);
}

void ExperimentQueue::begin() {
    // What was at work goes on first.
    const auto atWork = std::ranges::find(m_jobs, JobState::Running, &ExperimentJob::state);
    if (atWork != m_jobs.end() && m_process == nullptr) {
        start(*atWork);
    } else if (m_isGoing) {
        startNext();
    }
}

const ExperimentJob* ExperimentQueue::interrupted() const {
    if (m_process != nullptr)
        return nullptr;
    const auto found = std::ranges::find(m_jobs, JobState::Running, &ExperimentJob::state);
    return found == m_jobs.end() ? nullptr : &*found;
}

const ExperimentJob* ExperimentQueue::job(const QString& id) const {
    const auto found = std::ranges::find(m_jobs, id, &ExperimentJob::id);
    return found == m_jobs.end() ? nullptr : &*found;
}

ExperimentJob* ExperimentQueue::find(const QString& id) {
    return const_cast<ExperimentJob*>(std::as_const(*this).job(id));
}

const ExperimentJob* ExperimentQueue::current() const {
    return m_currentId.isEmpty() ? nullptr : job(m_currentId);
}

QString ExperimentQueue::folderFor(const QString& name) const {
    const QString wanted = m_places.folder + u'/' + folderName(name) + u'-' +
                           QDateTime::currentDateTime().toString(QStringLiteral("yyyyMMdd-HHmm"));
    const auto isTaken = [this](const QString& folder) {
        return QFileInfo::exists(folder) ||
               std::ranges::find(m_jobs, folder, &ExperimentJob::folder) != m_jobs.end();
    };
    QString folder = wanted;
    for (int number = 2; isTaken(folder); ++number)
        folder = wanted + u'-' + QString::number(number);
    return folder;
}

QString ExperimentQueue::add(ExperimentJob job) {
    job.id = QUuid::createUuid().toString(QUuid::WithoutBraces);
    if (job.folder.isEmpty())
        job.folder = folderFor(job.title);
    m_jobs.push_back(std::move(job));
    keep();
    return m_jobs.back().id;
}

void ExperimentQueue::run(const QString& id) {
    ExperimentJob* job = find(id);
    if (job == nullptr || job->isStopping || job->state == JobState::Finished ||
        m_places.folder.isEmpty())
        return;
    m_isGoing = true;
    if (id == m_currentId) {
        if (std::exchange(job->state, JobState::Running) == JobState::Paused)
            m_process->resume();
        keep();
        return;
    }
    if (m_process == nullptr) {
        for (ExperimentJob& other : m_jobs) // begin() has not been called yet
            if (other.state == JobState::Running)
                other.state = JobState::Waiting;
        start(*job);
        return;
    }
    // The next one: in front of all that wait.
    job->state = JobState::Waiting;
    const auto place = m_jobs.begin() + (job - m_jobs.data());
    const auto first = std::ranges::find(m_jobs, JobState::Waiting, &ExperimentJob::state);
    std::rotate(first, place, place + 1);
    keep();
}

void ExperimentQueue::runWithModel(const QString& id, const QString& path) {
    ExperimentJob* job = find(id);
    if (job == nullptr)
        return;
    job->movedModel = path;
    run(id);
}

void ExperimentQueue::pause(const QString& id) {
    ExperimentJob* job = find(id);
    if (job == nullptr || id != m_currentId || job->isStopping || job->state != JobState::Running)
        return;
    job->state = JobState::Paused;
    m_isGoing = false;
    m_process->pause();
    keep();
}

void ExperimentQueue::stop(const QString& id) {
    ExperimentJob* job = find(id);
    if (job == nullptr || id != m_currentId || m_process == nullptr)
        return;
    m_isGoing = false;
    job->isStopping = true;
    m_process->stop();
    keep();
}

std::optional<RemovedJob> ExperimentQueue::remove(const QString& id) {
    const auto found = std::ranges::find(m_jobs, id, &ExperimentJob::id);
    if (found == m_jobs.end())
        return std::nullopt;
    RemovedJob removed{*found, found - m_jobs.begin()};
    removed.job.isStopping = false;
    if (removed.job.isAtWork())
        removed.job.state = JobState::Stopped;
    if (id == m_currentId && m_process != nullptr) {
        m_process->disconnect(this);
        m_process->stop();
        connect(m_process, &ExperimentProcess::ended, m_process, &QObject::deleteLater);
        // The next one begins when this one has freed the machine.
        connect(m_process, &QObject::destroyed, this, [this] {
            if (m_isGoing)
                startNext();
        });
        m_currentId.clear();
    }
    m_jobs.erase(found);
    keep();
    return removed;
}

void ExperimentQueue::restore(const RemovedJob& removed) {
    if (job(removed.job.id) != nullptr)
        return;
    const auto place = std::min(removed.place, std::ssize(m_jobs));
    m_jobs.insert(m_jobs.begin() + place, removed.job);
    keep();
}

QString ExperimentQueue::runAgain(const QString& id) {
    const ExperimentJob* old = job(id);
    if (old == nullptr)
        return {};
    ExperimentJob copy;
    copy.title = old->title;
    copy.recipe = old->recipe;
    copy.source = old->source;
    copy.arguments = old->arguments;
    const qsizetype option = copy.arguments.indexOf(QStringLiteral("--model"));
    const QString model = modelOfRun(old->folder);
    if (!model.isEmpty() && option >= 0 && option + 1 < copy.arguments.size())
        copy.arguments[option + 1] = model;
    const QString added = add(std::move(copy));
    run(added);
    return added;
}

void ExperimentQueue::setOutcome(const QString& id, const QString& outcome, bool isGain) {
    ExperimentJob* job = find(id);
    if (job == nullptr || (job->outcome == outcome && job->isGain == isGain))
        return;
    job->outcome = outcome;
    job->isGain = isGain;
    keep();
}

void ExperimentQueue::startNext() {
    if (m_process != nullptr)
        return;
    const auto next = std::ranges::find(m_jobs, JobState::Waiting, &ExperimentJob::state);
    if (next != m_jobs.end())
        start(*next);
}

void ExperimentQueue::start(ExperimentJob& job) {
    // A run that has begun has recipe and prompts of its own; the user's may have been moved.
    const bool hasBegun = QFileInfo::exists(job.folder + QStringLiteral("/plan.json"));
    QStringList arguments{QStringLiteral("experiment"),
                          hasBegun ? QStringLiteral("--resume") : job.recipe,
                          QStringLiteral("--out"),
                          job.folder};
    arguments += hasBegun ? executorOf(job.arguments) : job.arguments;
    if (const QString moved = std::exchange(job.movedModel, {}); hasBegun && !moved.isEmpty())
        arguments << QStringLiteral("--model") << moved;
    arguments << QStringLiteral("--control") << QStringLiteral("stdin");
    arguments << QStringLiteral("--turns") << turnsFile();
    job.state = JobState::Running;
    job.sentence.clear();
    job.notes = {};
    m_currentId = job.id;
    m_process = new ExperimentProcess(this);
    connect(m_process, &ExperimentProcess::noted, this, &ExperimentQueue::onNoted);
    connect(m_process, &ExperimentProcess::ended, this, &ExperimentQueue::onEnded);
    m_process->start(m_places.program, arguments);
    keep();
}

void ExperimentQueue::onNoted(const QStringList& sentences) {
    ExperimentJob* job = find(m_currentId);
    if (job == nullptr)
        return;
    job->notes.newest = sentences.back();
    job->notes.count += static_cast<int>(sentences.size());
    emit changed();
}

void ExperimentQueue::onEnded(ExperimentProcess::End end, const QString& sentence) {
    m_process->deleteLater();
    m_process.clear();
    if (ExperimentJob* job = find(std::exchange(m_currentId, QString()))) {
        using End = ExperimentProcess::End;
        job->state = end == End::Done      ? JobState::Finished
                     : end == End::Stopped ? JobState::Stopped
                                           : JobState::Failed;
        job->isStopping = false;
        job->sentence = sentence;
        job->endedAt = QDateTime::currentDateTimeUtc();
    }
    keep();
    if (m_isGoing)
        startNext();
}

void ExperimentQueue::keep() {
    m_file.write({m_jobs, m_isGoing});
    emit changed();
}

} // namespace ui
