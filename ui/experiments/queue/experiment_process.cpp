// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/queue/experiment_process.h"

#include <utility>

namespace ui {

namespace {

constexpr qsizetype kKeptErrors = 16'384; ///< bytes
constexpr int kStoppedByInterrupt = 130;
constexpr int kStoppedByTerminate = 143;
constexpr QLatin1String kErrorMark("swift-run: "); ///< its hint is the next line, behind blanks

/// Whether a line is for the user, and neither a part of an error nor a fact about the model, which
/// stands in brackets.
bool isNote(const QString& line) {
    return !line.trimmed().isEmpty() && !line.startsWith(kErrorMark) && !line.startsWith(u' ') &&
           !line.startsWith(u'[');
}

} // namespace

QString errorSentence(const QByteArray& errors) {
    const QStringList lines = QString::fromUtf8(errors).split(u'\n', Qt::SkipEmptyParts);
    for (qsizetype line = lines.size() - 1; line >= 0; --line) {
        if (!lines[line].startsWith(kErrorMark))
            continue;
        QString sentence = lines[line].mid(kErrorMark.size()).trimmed();
        for (qsizetype hint = line + 1; hint < lines.size() && lines[hint].startsWith(u' '); ++hint)
            sentence += u' ' + lines[hint].trimmed();
        return sentence;
    }
    return lines.isEmpty() ? QString() : lines.back().trimmed();
}

ExperimentProcess::ExperimentProcess(QObject* parent)
    : QObject(parent)
    , m_process(new QProcess(this)) {
    m_process->setStandardOutputFile(QProcess::nullDevice()); // the run folder says everything
    connect(m_process, &QProcess::readyReadStandardError, this, &ExperimentProcess::readErrors);
    connect(m_process, &QProcess::finished, this, &ExperimentProcess::onFinished);
    connect(m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart && !std::exchange(m_hasEnded, true))
            emit ended(End::Failed,
                       tr("%1 cannot be started (%2). Install SWIFT Studio again.")
                           .arg(m_process->program(), m_process->errorString()));
    });
}

/// A QProcess kills its process and waits for it; this one is let go instead.
ExperimentProcess::~ExperimentProcess() {
    m_process->disconnect(this);
    if (m_process->state() == QProcess::NotRunning)
        return;
    m_process->setParent(nullptr);
    connect(m_process, &QProcess::finished, m_process, &QObject::deleteLater);
    m_process->closeWriteChannel();
}

void ExperimentProcess::start(const QString& program, const QStringList& arguments) {
    m_process->start(program, arguments);
}

void ExperimentProcess::tell(const char* line) {
    if (m_process->state() != QProcess::NotRunning)
        m_process->write(line);
}

void ExperimentProcess::stop() {
    if (std::exchange(m_isStopping, true))
        m_process->terminate();
    else
        tell("stop\n");
}

void ExperimentProcess::readErrors() {
    const QByteArray bytes = m_process->readAllStandardError();
    m_errors += bytes;
    if (m_errors.size() > kKeptErrors)
        m_errors.remove(0, m_errors.size() - kKeptErrors);
    m_unread += bytes;
    const qsizetype end = m_unread.lastIndexOf('\n') + 1;
    QStringList notes;
    for (const QString& line : QString::fromUtf8(m_unread.left(end)).split(u'\n'))
        if (isNote(line))
            notes << line.trimmed();
    m_unread.remove(0, end);
    if (m_unread.size() > kKeptErrors) // no sentence is so long
        m_unread.clear();
    if (!notes.isEmpty())
        emit noted(notes);
}

void ExperimentProcess::onFinished(int exitCode, QProcess::ExitStatus status) {
    if (std::exchange(m_hasEnded, true))
        return;
    readErrors();
    const bool isCrash = status == QProcess::CrashExit;
    const bool isInterrupted = exitCode == kStoppedByInterrupt || exitCode == kStoppedByTerminate;
    if (!isCrash && exitCode == 0) {
        emit ended(m_isStopping ? End::Stopped : End::Done, {});
    } else if (m_isStopping || (!isCrash && isInterrupted)) {
        emit ended(End::Stopped, {});
    } else {
        // What was said before it was killed is no reason; an error that it wrote itself is.
        const bool hasReason =
            !isCrash || m_errors.startsWith("swift-run: ") || m_errors.contains("\nswift-run: ");
        const QString sentence = hasReason ? errorSentence(m_errors) : QString();
        emit ended(End::Failed,
                   !sentence.isEmpty() ? sentence
                   : isCrash           ? tr("The experiment's process was killed.")
                             : tr("The experiment ended with exit code %1.").arg(exitCode));
    }
}

} // namespace ui
