// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/page/experiments_page.h"

#include "ui/experiments/setup/prompt_files.h"
#include "ui/language/engine_words.h"
#include "ui/shell/bars/banner.h"
#include "ui/shell/widgets/column_scroll.h"
#include "ui/views/experiments/data/data_page.h"
#include "ui/views/experiments/lists/job_list_model.h"
#include "ui/views/experiments/page/answer_page.h"
#include "ui/views/experiments/page/empty_experiments.h"
#include "ui/views/experiments/page/page_header.h"
#include "ui/views/experiments/page/recipe_page.h"
#include "ui/views/experiments/report/report_page.h"
#include "ui/views/experiments/stream/prompts_view.h"
#include "ui/views/experiments/stream/stream_page.h"

#include <QDragEnterEvent>
#include <QFileInfo>
#include <QMimeData>
#include <QPushButton>
#include <QStackedWidget>
#include <QVBoxLayout>

#include <algorithm>
#include <utility>

namespace ui {

namespace {

/// Files and folders that may hold prompts or a recipe.
QStringList dataPathsOf(const QMimeData& dragged) {
    QStringList paths = promptPathsOf(dragged);
    for (const QUrl& url : dragged.urls())
        if (url.toLocalFile().endsWith(QLatin1String(".swiftexp"), Qt::CaseInsensitive))
            paths << url.toLocalFile();
    return paths;
}

QString sentenceOf(const ExperimentJob& job, const RunPicture* picture) {
    const bool hasTime = picture != nullptr && picture->progress.seconds > 0.0;
    const QString time = hasTime ? durationText(picture->progress.seconds) : QString();
    if (job.state == JobState::Finished && hasTime && picture->facts != nullptr)
        return ExperimentsPage::tr("%1 · took %2")
            .arg(QString::fromStdString(picture->facts->recipe.source), time);
    const QString state = jobText(job, picture);
    constexpr double kReported = 60.0; // seconds
    return hasTime && picture->progress.seconds >= kReported
               ? ExperimentsPage::tr("%1 · %2 so far").arg(state, time)
               : state;
}

/// Whether the files of a model are no longer where they were.
bool hasLostModel(const engine::RunPlan& plan) {
    return std::ranges::any_of(plan.models, [](const engine::RunModel& model) {
        return !model.path.empty() && !QFileInfo::exists(QString::fromStdString(model.path));
    });
}

} // namespace

ExperimentsPage::ExperimentsPage(const ViewContext& context, ViewMenu& menu, QWidget* parent)
    : QWidget(parent)
    , m_theme(context.theme)
    , m_header(new PageHeader(context.theme))
    , m_noticePlace(new QVBoxLayout)
    , m_body(new QStackedWidget)
    , m_empty(new EmptyExperiments(context.theme))
    , m_recipe(new RecipePage(context.theme))
    , m_data(new DataPage(context.theme))
    , m_stream(new StreamPage(context, menu))
    , m_report(new ReportPage(context, menu))
    , m_answer(new AnswerPage(context.theme)) {
    setAcceptDrops(true);
    build();
    showEmpty();
}

void ExperimentsPage::build() {
    m_streamScroll = new ColumnScroll; // on a low screen, or with large text
    m_streamScroll->setFrameShape(QFrame::NoFrame);
    m_streamScroll->setWidget(m_stream);
    for (QWidget* page : std::initializer_list<QWidget*>{
             m_empty, m_recipe, m_data, m_streamScroll, m_report, m_answer})
        m_body->addWidget(page);
    const auto add = [this](Action action, const QString& text, bool isMain = false) {
        QPushButton* button = m_header->addButton(text, isMain);
        m_buttons.emplace_back(action, button);
        connect(button, &QPushButton::clicked, this, [this, action] { emit actionAsked(action); });
    };
    add(Action::Stop, tr("Stop"));
    add(Action::RunAgain, tr("Run again"));
    add(Action::Turn, tr("Report so far"));
    add(Action::RunOrPause, tr("Pause"), true);
    add(Action::OpenReport, tr("Open report"), true);
    connect(m_answer, &AnswerPage::closed, this, [this] {
        m_isAnswer = false;
        showPage(m_streamScroll);
        m_stream->prompts().showPrompt(m_answer->prompt());
        m_stream->prompts().promptTable().setFocus(Qt::ShortcutFocusReason);
    });
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(m_header);
    column->addLayout(m_noticePlace);
    column->addWidget(m_body, 1);
}

QPushButton& ExperimentsPage::button(Action action) const {
    return *std::ranges::find(m_buttons, action, &std::pair<Action, QPushButton*>::first)->second;
}

void ExperimentsPage::showPage(QWidget* page) { m_body->setCurrentWidget(page); }

void ExperimentsPage::hideHead() {
    for (const auto& [action, button] : m_buttons)
        button->hide();
    m_header->setProgress({});
    m_jobId.clear();
    showFailure({}, false);
}

void ExperimentsPage::showEmpty() {
    hideHead();
    m_header->hide();
    showPage(m_empty);
}

void ExperimentsPage::showRecipe(const engine::Recipe& recipe) {
    hideHead();
    m_header->show();
    m_header->setTitle(engineText(recipe.title));
    m_header->setSentence(tr("not run yet"));
    m_recipe->setRecipe(recipe);
    showPage(m_recipe);
}

void ExperimentsPage::showData() {
    hideHead();
    m_header->show();
    m_header->setTitle(m_data->areExamples() ? tr("Example prompts") : tr("Prompts of your own"));
    m_header->setSentence(tr("which column is what, how many are used, and how they are answered"));
    showPage(m_data);
}

void ExperimentsPage::showJob(const ExperimentJob& job, const RunPicturePtr& picture) {
    const bool isRead = picture != nullptr && picture->facts != nullptr;
    m_isStream = isRead ? picture->facts->recipe.isStream : job.source.isEmpty();
    if (std::exchange(m_jobId, job.id) != job.id)
        m_isReport = m_isAnswer = false;
    m_header->show();
    m_header->setTitle(job.title);
    m_header->setSentence(sentenceOf(job, picture.get()));
    m_header->setProgress(job.isAtWork() && isRead ? progressShare(*picture) : std::nullopt);
    m_header->changeButtons([&] { showButtons(job, m_isStream, isRead && picture->hasReport); });
    const QString unread = picture != nullptr ? picture->problem : QString();
    const bool hasFailed = job.state == JobState::Failed;
    showFailure(hasFailed ? job.sentence : unread,
                hasFailed,
                hasFailed && isRead && hasLostModel(picture->facts->plan));
    const bool isCourse = m_isStream && !m_isReport;
    if (isCourse)
        m_stream->setPicture(picture, job.state == JobState::Running);
    else
        m_report->setPicture(picture);
    showPage(!isCourse    ? static_cast<QWidget*>(m_report)
             : m_isAnswer ? static_cast<QWidget*>(m_answer)
                          : m_streamScroll);
}

void ExperimentsPage::showButtons(const ExperimentJob& job, bool isStream, bool hasReport) {
    button(Action::Stop).setVisible(job.isAtWork());
    button(Action::Stop).setText(job.isStopping ? tr("End at once") : tr("Stop"));
    button(Action::RunAgain).setVisible(job.isOver() || job.state == JobState::Stopped);
    button(Action::Turn).setVisible(isStream);
    button(Action::Turn)
        .setText(m_isReport                        ? tr("Course of the stream")
                 : job.state == JobState::Finished ? tr("Figures and tables")
                                                   : tr("Report so far"));
    button(Action::RunOrPause).setVisible(job.state != JobState::Finished && !job.isStopping);
    button(Action::RunOrPause)
        .setText(job.state == JobState::Running   ? tr("Pause")
                 : job.state == JobState::Waiting ? tr("Run next")
                                                  : tr("Resume"));
    button(Action::OpenReport).setVisible(job.state == JobState::Finished && hasReport);
}

void ExperimentsPage::showAnswer(int prompt) {
    m_isAnswer = true;
    showPage(m_answer);
    m_answer->begin(prompt);
}

void ExperimentsPage::turn() {
    m_isAnswer = false;
    if (m_isStream)
        m_isReport = !m_isReport;
}

void ExperimentsPage::showFailure(const QString& sentence, bool canResume, bool isModelLost) {
    const std::pair<QString, bool> told{sentence, isModelLost};
    if (std::exchange(m_noticeText, told) == told)
        return;
    delete std::exchange(m_notice, nullptr);
    if (sentence.isEmpty())
        return;
    Notice notice{Notice::Kind::Error,
                  {},
                  canResume ? tr("The experiment stopped.") : tr("The run cannot be read."),
                  canResume ? tr("%1 What is finished is kept.").arg(sentence) : sentence};
    if (isModelLost)
        notice.choices.push_back(
            {tr("Find its model..."), [this] { emit actionAsked(Action::FindModel); }, false});
    if (canResume)
        notice.choices.push_back(
            {tr("Resume"), [this] { emit actionAsked(Action::RunOrPause); }, false});
    auto* banner = new Banner(m_theme, std::move(notice));
    connect(banner, &Banner::closed, this, [this] {
        if (m_notice != nullptr)
            std::exchange(m_notice, nullptr)->deleteLater();
    });
    m_noticePlace->addWidget(banner);
    m_notice = banner;
}

void ExperimentsPage::showEvent(QShowEvent* event) {
    QWidget::showEvent(event);
    emit appeared();
}

void ExperimentsPage::dragEnterEvent(QDragEnterEvent* event) {
    if (!dataPathsOf(*event->mimeData()).isEmpty())
        event->acceptProposedAction();
}

void ExperimentsPage::dropEvent(QDropEvent* event) {
    event->acceptProposedAction();
    emit filesDropped(dataPathsOf(*event->mimeData()));
}

} // namespace ui
