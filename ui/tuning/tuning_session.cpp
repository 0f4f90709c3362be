// SPDX-License-Identifier: GPL-3.0-only
#include "ui/tuning/tuning_session.h"

#include "engine/session/loading/draft_adapter_choice.h"
#include "ui/tuning/compare/comparison_arguments.h"

#include <QDir>
#include <QFileInfo>

#include <utility>

namespace ui {

TuningSession::TuningSession(TuningPlaces places, QObject* parent)
    : QObject(parent)
    , m_places(std::move(places))
    , m_comparison(new AdapterComparison(m_places.program, this))
    , m_use(new AdapterUse(this)) {
    connect(&m_files, &TuningFiles::failed, this, &TuningSession::faulted);
    connect(m_comparison, &AdapterComparison::faulted, this, &TuningSession::faulted);
    connect(m_comparison, &AdapterComparison::changed, this, &TuningSession::onCompared);
    connect(m_use, &AdapterUse::changed, this, &TuningSession::changed);
}

TuningSession::~TuningSession() {
    if (m_process == nullptr)
        return;
    m_process->disconnect(this);
    if (m_earlier) { // the disk has it still
        m_files.endChatPrompts(true);
        return;
    }
    keepProgress();
    m_kept.state = TuningState::Stopped;
    m_files.write(m_kept);
}

/// One of another recipe gives way, once it has ended, to what is known of the result in sight.
void TuningSession::onCompared() {
    if (m_process == nullptr && !m_comparison->isRunning() && !isComparisonOwn())
        openComparison();
    emit changed();
}

void TuningSession::openComparison() {
    m_comparison->open(m_places.folder,
                       m_kept.choice.model,
                       m_recipe,
                       m_recipe == TuningRecipe::Draft ? adapter() : comparedResult());
}

void TuningSession::setModel(const std::optional<TuningModel>& model) {
    m_model = model;
    if (model && m_process == nullptr &&
        (m_kept.state == TuningState::None || !model->isSame(m_kept.choice.model))) {
        open(*model);
    } else {
        followModel();
        lookAtUse(); // it may have changed since
    }
    emit changed();
}

/// The same model may lie elsewhere by now, where it is read from.
void TuningSession::followModel() {
    if (m_process == nullptr && m_model && !m_model->fingerprint.isEmpty() &&
        m_model->isSame(m_kept.choice.model))
        m_kept.choice.model = *m_model;
}

void TuningSession::showLoadedModel() {
    if (m_model && m_process == nullptr && !m_comparison->isRunning() &&
        !m_model->isSame(m_kept.choice.model)) {
        open(*m_model);
        emit changed();
    }
}

void TuningSession::open(const TuningModel& model) {
    const bool isCompared = m_comparison->isRunning() && model.isSame(m_kept.choice.model);
    m_files.setPlace(m_places.folder, model, m_recipe);
    if (!isCompared) // that of a copy once it is known where it lies
        m_comparison->open(m_places.folder,
                           model,
                           m_recipe,
                           m_recipe == TuningRecipe::Draft ? adapter() : QString());
    m_run = {};
    ++m_number;
    m_savedAt = {};
    m_progress.clear();
    m_kept = {};
    m_kept.choice.model = model;
    lookAtUse();
    m_isReading = true;
    m_files.read([this, number = m_number](StoredTuning stored) {
        if (number == m_number)
            show(std::move(stored));
    });
}

/// What was read comes too late once something else is shown.
void TuningSession::show(StoredTuning stored) {
    m_isReading = false;
    if (stored.kept.state != TuningState::None) {
        ++m_number;
        const TuningModel model = m_kept.choice.model; // it may lie elsewhere than then
        m_kept = std::move(stored.kept);
        if (!model.fingerprint.isEmpty())
            m_kept.choice.model = model;
        m_run = std::move(stored.run);
        if (!hasResult()) {
            m_run.done.reset();
            m_run.phase = TuningPhase::Preparing;
        }
        if (m_kept.choice.changesModel() && !m_comparison->isRunning())
            openComparison();
        lookAtUse();
    }
    emit changed();
}

void TuningSession::setRecipe(TuningRecipe recipe) {
    if (m_process != nullptr || recipe == m_recipe)
        return;
    m_recipe = recipe;
    // Without a loaded model, that of before: its results are still there to be seen.
    if (const TuningModel model = m_model.value_or(m_kept.choice.model); !model.path.isEmpty())
        open(model);
    emit changed();
}

TuningObstacle TuningSession::lastingObstacle() const {
    if (m_places.folder.isEmpty() || !QFileInfo(m_places.program).isExecutable())
        return TuningObstacle::NoProgram;
    return m_places.hasTrainer ? TuningObstacle::None : TuningObstacle::NoTrainer;
}

TuningObstacle TuningSession::obstacle() const {
    if (const TuningObstacle lasting = lastingObstacle(); lasting != TuningObstacle::None)
        return lasting;
    if (m_process != nullptr)
        return TuningObstacle::AtWork;
    return m_model ? TuningObstacle::None : TuningObstacle::NoModel;
}

bool TuningSession::canGoOn() const {
    const bool hasEnded =
        m_kept.state == TuningState::Stopped || m_kept.state == TuningState::Failed;
    return hasEnded && lastingObstacle() == TuningObstacle::None && m_process == nullptr &&
           hasWork();
}

bool TuningSession::hasResult() const {
    return m_kept.state == TuningState::Finished ||
           (m_kept.state == TuningState::Failed && m_run.done);
}

bool TuningSession::canCompare() const {
    return hasResult() && hasPromptsToCompare(m_kept.choice) &&
           lastingObstacle() != TuningObstacle::NoProgram && QFileInfo::exists(comparedResult());
}

QString TuningSession::comparedResult() const {
    return m_kept.choice.changesModel() ? newModel() : adapter();
}

void TuningSession::compare() {
    if (canCompare())
        m_comparison->start(m_places.folder, m_kept.choice, comparedResult());
}

void TuningSession::stopComparing() { m_comparison->stop(); }

bool TuningSession::showEarlier(const TuningChoice& choice) {
    const bool isInSight =
        m_kept.choice.model.isSame(choice.model) && m_recipe == choice.recipe && !m_isReading;
    if (m_process != nullptr || isInSight ||
        !TuningFiles::isKept(m_places.folder, choice.model, choice.recipe))
        return false;
    m_recipe = choice.recipe;
    open(choice.model);
    emit changed();
    return true;
}

QString TuningSession::replacedOutput(const TuningModel& model) const {
    const bool isOne = m_kept.state != TuningState::None && m_kept.choice.changesModel();
    return isOne && m_kept.choice.model.isSame(model) ? m_kept.choice.output : QString();
}

void TuningSession::start(const TuningChoice& choice, const QByteArray& chatPrompts) {
    if (obstacle() != TuningObstacle::None || !choice.hasPrompts())
        return;
    const QString around = QFileInfo(choice.output).path();
    if (choice.changesModel() && !QDir().mkpath(around)) {
        emit faulted(tr("The training does not begin: the folder %1 cannot be made.")
                         .arg(QDir::toNativeSeparators(around)));
        return;
    }
    const bool hasEarlier = m_kept.state != TuningState::None &&
                            m_kept.choice.recipe == choice.recipe &&
                            m_kept.choice.model.isSame(choice.model);
    m_recipe = choice.recipe;
    m_files.setPlace(m_places.folder, choice.model, choice.recipe);
    if (!takeFolder(choice.model))
        return;
    if (hasEarlier)
        m_files.keepChatPrompts();
    if (const QString problem =
            m_files.writeChatPrompts(choice.usesChats ? chatPrompts : QByteArray());
        !problem.isEmpty()) {
        if (hasEarlier)
            m_files.endChatPrompts(true);
        m_files.release();
        emit faulted(tr("The training does not begin: the questions of your chats cannot be "
                        "written (%1).")
                         .arg(problem));
        return;
    }
    if (!choice.changesModel() || m_comparison->recipe() == choice.recipe) {
        // What it has measured is replaced.
        m_comparison->open(m_places.folder, choice.model, choice.recipe, {});
    }
    m_earlier.reset();
    if (hasEarlier)
        m_earlier = Earlier{m_kept, std::move(m_run)};
    else
        replaceEarlier();
    m_run = {};
    ++m_number;
    m_isReading = false;
    m_savedAt = {};
    m_kept = {choice, TuningState::None, {}, choice.model.fingerprint};
    lookAtUse();
    launch(false);
}

/// Windows with copies of one model share its training. One at a time is at work there, and none on
/// what another one has changed since it was shown here.
bool TuningSession::takeFolder(const TuningModel& model) {
    const bool isFree = m_files.take();
    if (isFree && !m_files.isOutdated())
        return true;
    m_files.release();
    open(model);
    emit changed();
    emit refused(isFree
                     ? tr("Another window has trained this model since then. What it has kept is "
                          "shown now.")
                     : tr("Another window trains this model at this moment. Stop the training "
                          "there, or wait until it has ended."));
    return false;
}

/// From here on the disk has the new training.
void TuningSession::replaceEarlier() {
    m_earlier.reset();
    m_files.endChatPrompts(false);
    if (m_comparison->recipe() == m_recipe)
        m_comparison->forget();
    m_files.clearEvents();
    for (const QByteArray& line : std::exchange(m_firstLines, {}))
        m_files.appendEvent(line);
}

/// The form still has what was chosen, so it counts as no other training.
void TuningSession::takeEarlierBack(const QString& sentence) {
    m_kept = std::move(m_earlier->kept);
    m_run = std::move(m_earlier->run);
    m_earlier.reset();
    m_firstLines.clear();
    m_progress.clear();
    m_files.endChatPrompts(true);
    openComparison();
    lookAtUse();
    emit changed();
    if (!sentence.isEmpty())
        emit refused(sentence);
}

void TuningSession::goOn() {
    if (m_kept.state == TuningState::Paused) {
        setState(TuningState::Running);
        holdOrLetGo();
        return;
    }
    const bool isOver = m_process == nullptr && m_kept.state != TuningState::None;
    if (!isOver || !takeFolder(m_kept.choice.model))
        return;
    if (!canGoOn()) {
        m_files.release();
    } else {
        followModel();
        m_kept.sentence.clear();
        m_run.error.reset();
        launch(true);
    }
}

void TuningSession::launch(bool isResumed) {
    QStringList arguments = argumentsOf(m_kept.choice, m_files.adapter());
    if (isResumed)
        arguments << QStringLiteral("--resume");
    else if (!m_kept.choice.changesModel())
        arguments << QStringLiteral("--overwrite");
    else if (hasWork()) // a folder is replaced by its like alone
        arguments << QStringLiteral("--anew");
    m_run.phase = TuningPhase::Preparing;
    m_run.notes.clear(); // those of before, such as how to go on
    m_isKilled = false;
    m_process = new TuningProcess(this);
    connect(m_process, &TuningProcess::lineCame, this, &TuningSession::takeLine);
    connect(m_process, &TuningProcess::ended, this, &TuningSession::onEnded);
    setState(TuningState::Running);
    m_comparison->stop(); // two programs would share the processor
    m_process->start(m_places.program, arguments);
    if (m_process != nullptr && m_isHeld)
        holdOrLetGo();
}

void TuningSession::setState(TuningState state) {
    m_kept.state = state;
    if (!m_earlier)
        m_files.write(m_kept);
    emit changed();
}

void TuningSession::pause() {
    if (m_kept.state != TuningState::Running)
        return;
    setState(TuningState::Paused);
    holdOrLetGo();
}

void TuningSession::stop() {
    if (m_process == nullptr)
        return;
    if (m_kept.state == TuningState::Stopping) {
        m_isKilled = true;
        m_process->kill();
        return;
    }
    setState(TuningState::Stopping);
    m_process->interrupt();
}

void TuningSession::setHeld(bool isHeld) {
    m_comparison->setHeld(isHeld);
    if (std::exchange(m_isHeld, isHeld) == isHeld || m_kept.state != TuningState::Running)
        return;
    holdOrLetGo();
    emit changed();
}

/// A process that is told to stop saves what it has even while an answer streams.
void TuningSession::holdOrLetGo() {
    if (m_process != nullptr)
        m_process->setHeld(m_kept.state == TuningState::Paused || isHeld());
}

void TuningSession::keepLine(const QByteArray& line) {
    if (m_earlier)
        m_firstLines << line;
    else
        m_files.appendEvent(line);
}

/// Of the lines of a kind that only tell how far something is, the newest one is kept.
void TuningSession::keepProgress() {
    if (!m_progress.isEmpty())
        keepLine(std::exchange(m_progress, {}));
}

void TuningSession::takeLine(const QByteArray& line) {
    const auto event = tuningEventOf(line);
    if (!event)
        return;
    if (m_earlier && std::holds_alternative<TuningStarted>(*event))
        replaceEarlier();
    m_run.apply(*event);
    const bool isProgress = std::holds_alternative<TuningCollected>(*event) ||
                            std::holds_alternative<TuningSelfPrompts>(*event);
    if (isProgress) {
        if (std::exchange(m_progressKind, event->index()) != event->index())
            keepProgress();
        m_progress = line;
    } else if (!std::holds_alternative<TuningCheckpoint>(*event)) {
        keepProgress();
        keepLine(line);
    }
    if (std::holds_alternative<TuningCheckpoint>(*event))
        m_savedAt = QDateTime::currentDateTime();
    if (const auto* started = std::get_if<TuningStarted>(&*event)) {
        m_kept.fingerprint = started->fingerprint;
        m_kept.choice.model.fingerprint = started->fingerprint;
        m_files.write(m_kept);
        lookAtUse(); // what was trained before may be in use
    }
    if (std::holds_alternative<TuningBest>(*event))
        lookAtUse(); // a state that is in use is no longer the best one
    emit changed();
}

void TuningSession::onEnded(TuningProcess::End end, const QString& words) {
    m_process->deleteLater();
    m_process.clear();
    m_files.release();
    keepProgress();
    if (!m_run.done)
        m_run.phase = TuningPhase::Preparing; // whatever it was at, it is no more
    using End = TuningProcess::End;
    const bool isStopped = end == End::Interrupted || (end == End::Killed && m_isKilled);
    if (m_earlier) {
        takeEarlierBack(isStopped ? QString() : failureOf(end, words));
    } else if (end == End::Done && m_run.done) {
        lookAtUse();
        setState(TuningState::Finished);
    } else if (isStopped) {
        m_run.error.reset(); // it only says that it was stopped
        setState(TuningState::Stopped);
    } else {
        m_kept.sentence = failureOf(end, words);
        setState(TuningState::Failed);
        lookAtUse(); // at its result, if it has one
    }
}

QString TuningSession::failureOf(TuningProcess::End end, const QString& words) const {
    using End = TuningProcess::End;
    if (end == End::NotStarted)
        return tr("%1 cannot be started (%2). Install SWIFT Studio again.")
            .arg(m_places.program, words);
    if (m_run.error)
        return m_run.error->sentence();
    if (end == End::Killed)
        return hasWork() ? tr("The training's process was killed. What it had saved is "
                              "kept: Continue goes on from there.")
                         : tr("The training's process was killed before it had saved "
                              "anything.");
    if (end == End::Done)
        return tr("The training ended without a result.");
    return words.isEmpty() ? tr("The training ended without saying why.") : words;
}

QString TuningSession::newModel() const {
    const bool isMade =
        hasResult() && m_run.done && m_run.done->quality && QFileInfo(m_run.done->path).isDir();
    return isMade ? m_run.done->path : QString();
}

QString TuningSession::usedAdapter() const {
    return m_kept.fingerprint.isEmpty() || m_kept.choice.changesModel()
               ? QString()
               : QString::fromStdString(
                     engine::usersDraftAdapter(m_kept.fingerprint.toStdString()).string());
}

const TuningBest* TuningSession::halfTrained() const {
    const bool hasNone =
        m_kept.state == TuningState::None || hasResult() || m_kept.choice.changesModel();
    return !hasNone && m_run.kept && QFileInfo::exists(m_run.kept->path) ? &*m_run.kept : nullptr;
}

QString TuningSession::usableAdapter() const {
    const TuningBest* half = halfTrained();
    return half != nullptr ? half->path : adapter();
}

void TuningSession::lookAtUse() { m_use->look(usableAdapter(), usedAdapter()); }

bool TuningSession::canUseResult() const {
    const bool isKnown =
        m_use->used() == AdapterUse::Used::None || m_use->used() == AdapterUse::Used::Other;
    const bool isThere = hasResult() ? QFileInfo::exists(adapter()) : halfTrained() != nullptr;
    return isThere && isKnown && !usedAdapter().isEmpty();
}

void TuningSession::useResult() {
    if (canUseResult())
        m_use->use();
}

void TuningSession::removeUsedAdapter() { m_use->remove(); }

} // namespace ui
