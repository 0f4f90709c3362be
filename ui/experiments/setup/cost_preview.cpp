// SPDX-License-Identifier: GPL-3.0-only
#include "ui/experiments/setup/cost_preview.h"

#include "ui/experiments/queue/experiment_process.h"

#include <utility>

namespace ui {

namespace {

constexpr int kDelayMs = 300; ///< the user may be choosing still

} // namespace

CostPreview::CostPreview(QString program, QObject* parent)
    : QObject(parent)
    , m_program(std::move(program)) {
    m_delay.setSingleShot(true);
    m_delay.setInterval(kDelayMs);
    connect(&m_delay, &QTimer::timeout, this, &CostPreview::begin);
}

CostPreview::~CostPreview() { drop(); }

/// A QProcess would wait for its process; this one is told to end and let go.
void CostPreview::drop() {
    if (m_process == nullptr)
        return;
    m_process->disconnect(this);
    if (m_process->state() == QProcess::NotRunning) {
        m_process->deleteLater();
    } else {
        m_process->setParent(nullptr);
        connect(m_process, &QProcess::finished, m_process, &QObject::deleteLater);
        m_process->kill();
    }
    m_process.clear();
}

void CostPreview::ask(const QStringList& arguments) {
    drop();
    m_arguments = arguments;
    if (arguments.isEmpty() || m_program.isEmpty())
        m_delay.stop();
    else
        m_delay.start();
}

void CostPreview::begin() {
    m_process = new QProcess(this);
    connect(m_process, &QProcess::finished, this, [this](int code, QProcess::ExitStatus status) {
        const QString said = QString::fromUtf8(m_process->readAllStandardOutput()).trimmed();
        const QByteArray errors = m_process->readAllStandardError();
        drop();
        const bool isError = code != 0 || status != QProcess::NormalExit;
        emit answered(isError ? errorSentence(errors) : said, isError);
    });
    connect(m_process, &QProcess::errorOccurred, this, [this](QProcess::ProcessError error) {
        if (error != QProcess::FailedToStart)
            return;
        const QString reason = m_process->errorString();
        drop();
        emit answered(
            tr("%1 cannot be started (%2). Install SWIFT Studio again.").arg(m_program, reason),
            true);
    });
    m_process->start(m_program,
                     QStringList{QStringLiteral("experiment")} + m_arguments +
                         QStringList{QStringLiteral("--preview")});
    if (m_process != nullptr) // it may have failed by now
        m_process->closeWriteChannel();
}

} // namespace ui
