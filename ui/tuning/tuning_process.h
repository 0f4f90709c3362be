// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QByteArray>
#include <QObject>
#include <QProcess>
#include <QStringList>

namespace ui {

/// `swift-run tune --json` in a process of its own, at the lowest priority. When the window ends,
/// in whatever way, the process stops as well, and its run can be resumed. Thread: UI; nothing
/// waits.
class TuningProcess : public QObject {
    Q_OBJECT

public:
    enum class End {
        Done,
        Interrupted, ///< by Ctrl+C or a request to end
        Killed,      ///< by another signal
        Failed,
        NotStarted,
    };

    explicit TuningProcess(QObject* parent = nullptr);

    /// A process that still runs is interrupted.
    ~TuningProcess() override;

    void start(const QString& program, const QStringList& arguments);

    /// The system takes it off the processor until it is let go.
    void setHeld(bool isHeld);

    /// It saves what it has and ends. Only the first call counts: a program that is told so twice
    /// ends without saving.
    void interrupt();

    /// At once, without saving.
    void kill();

    /// 0 = none.
    qint64 id() const { return m_process->processId(); }

signals:
    /// A line of standard output, without its end.
    void lineCame(const QByteArray& line);

    /// Emitted once. `words`: the last line on standard error, or why it could not be started.
    void ended(ui::TuningProcess::End end, const QString& words);

private:
    void signal(int number);
    void readLines();
    void onFinished(int exitCode, QProcess::ExitStatus status);

    QProcess* m_process;
    QByteArray m_unread; ///< the begin of a line
    QByteArray m_errors; ///< the newest bytes of standard error
    bool m_isInterrupted = false;
    bool m_hasEnded = false;
};

} // namespace ui
