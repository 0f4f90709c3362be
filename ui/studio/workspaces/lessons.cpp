// SPDX-License-Identifier: GPL-3.0-only
#include "ui/learn/learn_page.h"
#include "ui/learn/lessons/lesson_panel.h"
#include "ui/studio/studio.h"
#include "ui/studio/workspaces/lesson_hand.h"
#include "ui/views/chat/chat_view.h"
#include "ui/views/chat/panels/start_panel.h"
#include "ui/views/learn/lens/lens_view.h"
#include "ui/views/learn/sides/sides_view.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"

#include <QDockWidget>
#include <QFileDialog>
#include <QFileInfo>
#include <QMenu>

// The lessons: what leads through them, and the panel beside the workspaces.

namespace ui {

namespace {

/// Where the view of this id stands, for a lesson: a workspace, and a dock or a stage of it.
struct LessonPlace {
    const char* view;
    const char* workspace;
    const char* part;
};

constexpr std::array kLessonPlaces = {
    LessonPlace{"chat", "chat_workspace", ""},
    LessonPlace{"parameters", "chat_workspace", "chat.parameters"},
    LessonPlace{"slow_motion", "learn_workspace", "slow_motion"},
    LessonPlace{"lens", "learn_workspace", "lens"},
    LessonPlace{"lossless", "learn_workspace", "lossless"},
    LessonPlace{"layer_map", "inspect_workspace", ""},
    LessonPlace{"history", "inspect_workspace", ""},
    LessonPlace{"matchness", "inspect_workspace", "inspect.matchness"},
    LessonPlace{"draft_tree", "inspect_workspace", "inspect.draft_tree"},
    LessonPlace{"verification_mask", "inspect_workspace", "inspect.verification_mask"},
    LessonPlace{"round", "inspect_workspace", "inspect.round"},
    LessonPlace{"speed", "inspect_workspace", "inspect.speed"},
    LessonPlace{"latency", "inspect_workspace", "inspect.latency"},
};

} // namespace

void Studio::makeLessons() {
    m_lessons = std::make_unique<LessonCatalog>(LessonCatalog::of(m_options.lessonsFolder));
    m_lessonHand = std::make_unique<StudioHand>(
        LessonParts{context(),
                    *m_session,
                    *m_finder,
                    *m_learnPage->findChild<SlowMotionView*>(),
                    *m_learnPage->findChild<LensView*>(),
                    *sides(QStringLiteral("lossless")),
                    m_options.defaultModelPath,
                    [this](bool isPlanted) { loadModel(m_options.defaultModelPath, isPlanted); },
                    [this](const QString& view) { showLessonView(view); }});
    m_lessonPlayer = new LessonPlayer(*m_lessonHand, m_settings, this);
    m_lessonPanel = new LessonPanel(m_theme, *m_lessons, *m_lessonPlayer);
    m_lessonPanel->hide();
    m_window->setCompanion(m_lessonPanel);
    connect(m_bridge.get(), &EngineBridge::tickFinished, m_lessonPlayer, &LessonPlayer::follow);
    connect(m_lessonPanel, &LessonPanel::closeAsked, this, [this] {
        m_lessonPlayer->leave();
        m_lessonPanel->hide();
        m_window->currentWorkspace()->focusHome();
    });
    connect(m_lessonPlayer, &LessonPlayer::moved, this, [this] {
        if (m_run.model() != nullptr)
            explainLesson(*m_run.model()); // while a lesson runs, it does so itself
        offerFormerModel();
    });
    StartPanel& start = m_chatView->startPanel();
    start.setHasLessons(!m_lessons->lessons.empty() && !m_bridge->isReplay());
    connect(&start, &StartPanel::firstLessonAsked, this, [this] {
        showLessons();
        m_lessonPanel->begin(m_lessons->lessons.front());
    });
    connect(m_lessonPanel, &LessonPanel::fileAsked, this, &Studio::askForLesson);
    m_window->menu(MainWindow::tr("&Help"))
        ->addAction(m_window->actionCatalog().add(QStringLiteral("learn.lessons"),
                                                  tr("Learn"),
                                                  tr("&Lessons"),
                                                  {QKeySequence(Qt::SHIFT | Qt::Key_F1)},
                                                  [this] { showLessons(); }));
}

/// The user's model behind a lesson that has loaded another one. Not loaded by itself: the next
/// lesson may need the same one.
void Studio::offerFormerModel() {
    const QString id = QStringLiteral("former_model");
    const engine::LoadModel* former = m_lessonHand->formerModel();
    if (former == nullptr || m_run.model() == nullptr || m_lessonPlayer->lesson() != nullptr) {
        m_window->messages().withdraw(id);
        return;
    }
    const QString path = QString::fromStdString(former->path);
    m_window->messages().show(
        {Notice::Kind::Info,
         id,
         tr("The lesson's model is still loaded."),
         tr("%1, which you used before, comes again at the next start.")
             .arg(QFileInfo(path).fileName()),
         {},
         {{tr("Load it now"),
           [this, path, isPlanted = former->isPlanted] { loadModel(path, isPlanted); },
           true}}});
}

void Studio::showLessons() {
    m_lessonPanel->show();
    m_lessonPanel->setFocus();
}

void Studio::openLessonFile(const QString& path) {
    showLessons();
    QString problem;
    if (const auto lesson = openLesson(path, problem))
        m_lessonPanel->begin(*lesson);
    else
        m_window->messages().show({Notice::Kind::Warning, QStringLiteral("lesson_file"), problem});
}

void Studio::askForLesson() {
    auto* dialog = new QFileDialog(m_window.get(), tr("Open a lesson"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::ExistingFile);
    dialog->setNameFilters({tr("Lessons (*.json)"), tr("All files (*)")});
    connect(dialog, &QFileDialog::fileSelected, this, &Studio::openLessonFile);
    dialog->open();
}

/// A view that the user has closed or that stands behind another one comes back.
void Studio::showLessonView(const QString& view) {
    const auto place = std::ranges::find_if(
        kLessonPlaces, [&](const LessonPlace& each) { return view == QLatin1String(each.view); });
    if (place == kLessonPlaces.end())
        return;
    m_window->showWorkspace(QString::fromLatin1(place->workspace));
    const QString part = QString::fromLatin1(place->part);
    m_learnPage->showStage(part);
    if (QDockWidget* dock = m_window->currentWorkspace()->dock(part)) {
        dock->show();
        dock->raise();
    }
    if (m_lessonPlayer != nullptr)
        m_lessonPanel->setFocus();
}

} // namespace ui
