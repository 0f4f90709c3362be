// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include <QObject>
#include <QPointer>
#include <QProcess>
#include <QStringList>
#include <QTimer>

namespace ui {

/// Asks swift-run what an experiment would cost, without running it. Thread: UI; nothing waits.
class CostPreview : public QObject {
    Q_OBJECT

public:
    explicit CostPreview(QString program, QObject* parent = nullptr);

    /// A process that still runs is ended.
    ~CostPreview() override;

    /// The arguments of `swift-run experiment`; a question that is still open is dropped. Empty: no
    /// question.
    void ask(const QStringList& arguments);

signals:
    /// What the program says, or its error if `isError`.
    void answered(const QString& text, bool isError);

private:
    void begin();
    void drop();

    QString m_program;
    QStringList m_arguments;
    QTimer m_delay;
    QPointer<QProcess> m_process;
};

} // namespace ui
