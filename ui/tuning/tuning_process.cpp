// SPDX-License-Identifier: GPL-3.0-only
#include "ui/tuning/tuning_process.h"

#include "ui/experiments/queue/experiment_process.h"

#include <sys/resource.h>
#include <unistd.h>

#include <csignal>
#include <utility>

namespace ui {

namespace {

constexpr qsizetype kKeptBytes = 16'384;
constexpr qsizetype kLongestLine = 1 << 20;
constexpr int kLowestPriority = 19;
constexpr int kInterruptedCode = 130;
constexpr int kTerminatedCode = 143;

/// In the new process, before its program begins.
void prepareChild() {
    ::setpriority(PRIO_PROCESS, 0, kLowestPriority);
    // In a group of its own, a process that is held is ended by the system when the window is gone.
    ::setpgid(0, 0);
    ::signal(SIGINT, SIG_DFL);
    // Output that nobody reads any more interrupts it, as Ctrl+C does.
    ::signal(SIGPIPE, SIG_IGN);
}

/// Of a process that a signal has ended, the code is the signal's number. One that was interrupted
/// before it could save anything is such a process.
TuningProcess::End endOf(int exitCode, QProcess::ExitStatus status) {
    using End = TuningProcess::End;
    if (status == QProcess::CrashExit)
        return exitCode == SIGINT ? End::Interrupted : End::Killed;
    if (exitCode == kInterruptedCode || exitCode == kTerminatedCode)
        return End::Interrupted;
    return exitCode == 0 ? End::Done : End::Failed;
}

} // namespace

TuningProcess::TuningProcess(QObject* parent)
    : QObject(parent)
    , m_process(new QProcess(this)) {
    m_process->setStandardInputFile(QProcess::nullDevice());
    m_process->setChildProcessModifier(prepareChild);
    connect(m_process, &QProcess::readyReadStandardOutput, this, &TuningProcess::readLines);
    connect(m_process, &QProcess::readyReadStandardError, this, [this] {
        m_errors += m_process->readAllStandardError();
        m_errors = m_errors.last(std::min(kKeptBytes, m_errors.size()));
    });
    connect(m_process, &QProcess::finished, this, &TuningProcess::onFinished);
    connect(m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error == QProcess::FailedToStart && !std::exchange(m_hasEnded, true))
            emit ended(End::NotStarted, m_process->errorString());
    });
}

/// A QProcess kills its process and waits for it; this one is let go instead.
TuningProcess::~TuningProcess() {
    m_process->disconnect(this);
    if (m_process->state() == QProcess::NotRunning)
        return;
    interrupt();
    m_process->setParent(nullptr);
    connect(m_process, &QProcess::finished, m_process, &QObject::deleteLater);
}

void TuningProcess::start(const QString& program, const QStringList& arguments) {
    m_process->start(program, arguments);
}

void TuningProcess::signal(int number) {
    if (m_process->processId() > 0)
        ::kill(static_cast<pid_t>(m_process->processId()), number);
}

void TuningProcess::setHeld(bool isHeld) { signal(isHeld ? SIGSTOP : SIGCONT); }

void TuningProcess::interrupt() {
    if (!std::exchange(m_isInterrupted, true))
        signal(SIGINT);
    signal(SIGCONT);
}

void TuningProcess::kill() { signal(SIGKILL); }

/// A line that is longer than any event is dropped.
void TuningProcess::readLines() {
    m_unread += m_process->readAllStandardOutput();
    qsizetype begin = 0;
    for (qsizetype end = 0; (end = m_unread.indexOf('\n', begin)) >= 0; begin = end + 1)
        emit lineCame(m_unread.mid(begin, end - begin));
    m_unread.remove(0, begin);
    if (m_unread.size() > kLongestLine)
        m_unread.clear();
}

void TuningProcess::onFinished(int exitCode, QProcess::ExitStatus status) {
    if (std::exchange(m_hasEnded, true))
        return;
    readLines();
    m_errors += m_process->readAllStandardError();
    emit ended(endOf(exitCode, status), errorSentence(m_errors));
}

} // namespace ui
