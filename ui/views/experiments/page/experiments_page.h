// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/experiments/queue/experiment_job.h"
#include "ui/experiments/runs/run_picture.h"
#include "ui/shell/docks/view_menu.h"

#include <QWidget>

class QPushButton;
class QStackedWidget;
class QVBoxLayout;

namespace ui {

class AnswerPage;
class ColumnScroll;
class DataPage;
class EmptyExperiments;
class PageHeader;
class RecipePage;
class ReportPage;
class StreamPage;

/// The centre of the workspace Experiments: what is chosen, with a bar of actions above it. Thread:
/// UI.
class ExperimentsPage : public QWidget {
    Q_OBJECT

public:
    enum class Action { RunOrPause, Stop, RunAgain, Turn, OpenReport, FindModel };

    ExperimentsPage(const ViewContext& context, ViewMenu& menu, QWidget* parent = nullptr);

    void showEmpty();
    void showRecipe(const engine::Recipe& recipe);
    void showData();

    /// A run; the picture is null until its folder was read.
    void showJob(const ExperimentJob& job, const RunPicturePtr& picture);

    /// The answers to a prompt of the run that is shown, from now on; they are set when they are
    /// read.
    void showAnswer(int prompt);

    AnswerPage& answerPage() { return *m_answer; }

    /// Shows a stream's report instead of its course, or the other way round.
    void turn();

    RecipePage& recipePage() { return *m_recipe; }

    DataPage& dataPage() { return *m_data; }

    StreamPage& streamPage() { return *m_stream; }

    ReportPage& reportPage() { return *m_report; }

    EmptyExperiments& emptyPage() { return *m_empty; }

    QPushButton& button(Action action) const;

signals:
    void actionAsked(ui::ExperimentsPage::Action action);
    void filesDropped(const QStringList& paths);

    /// The workspace has come into sight.
    void appeared();

protected:
    void showEvent(QShowEvent* event) override;
    void dragEnterEvent(QDragEnterEvent* event) override;
    void dropEvent(QDropEvent* event) override;

private:
    void build();
    void showPage(QWidget* page);
    void showButtons(const ExperimentJob& job, bool isStream, bool hasReport);
    void showFailure(const QString& sentence, bool canResume, bool isModelLost = false);
    void hideHead();

    const Theme& m_theme;
    PageHeader* m_header;
    std::vector<std::pair<Action, QPushButton*>> m_buttons;
    QVBoxLayout* m_noticePlace;
    QWidget* m_notice = nullptr;
    std::pair<QString, bool> m_noticeText; ///< and whether the model is missing
    QStackedWidget* m_body;
    EmptyExperiments* m_empty;
    RecipePage* m_recipe;
    DataPage* m_data;
    StreamPage* m_stream;
    ColumnScroll* m_streamScroll = nullptr;
    ReportPage* m_report;
    AnswerPage* m_answer;
    QString m_jobId;
    bool m_isReport = false; ///< of a stream
    bool m_isAnswer = false; ///< of one of its prompts
    bool m_isStream = false;
};

} // namespace ui
