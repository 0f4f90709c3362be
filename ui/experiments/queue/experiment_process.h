// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QByteArray>
#include <QObject>
#include <QProcess>
#include <QStringList>

namespace ui {

/// The last error among what swift-run wrote to standard error, with what helps, else its last
/// line.
QString errorSentence(const QByteArray& errors);

/// `swift-run experiment` in a process of its own. When the window ends, in whatever way, the
/// process sees the end of its input and stops after its current pass; its run can be resumed.
/// Thread: UI; nothing waits.
class ExperimentProcess : public QObject {
    Q_OBJECT

public:
    enum class End {
        Done,    ///< the run is complete
        Stopped, ///< can be resumed
        Failed,
    };

    explicit ExperimentProcess(QObject* parent = nullptr);

    /// A process that still runs stops by itself.
    ~ExperimentProcess() override;

    void start(const QString& program, const QStringList& arguments);

    void pause() { tell("pause\n"); }

    void resume() { tell("resume\n"); }

    /// After the current pass; a second call ends the process at once, which costs no finished part
    /// of the run.
    void stop();

signals:
    /// What it has to say on the way, as it is written; errors are told at the end.
    void noted(const QStringList& sentences);

    /// `sentence` is the error that the process wrote, if it failed. Emitted once.
    void ended(ui::ExperimentProcess::End end, const QString& sentence);

private:
    void tell(const char* line);
    void readErrors();
    void onFinished(int exitCode, QProcess::ExitStatus status);

    QProcess* m_process;
    QByteArray m_errors; ///< the newest bytes of standard error
    QByteArray m_unread; ///< of it, a line that is not complete
    bool m_isStopping = false;
    bool m_hasEnded = false;
};

} // namespace ui
