// SPDX-License-Identifier: GPL-3.0-only
#include "ui/export/film_dialog.h"
#include "ui/learn/learn_page.h"
#include "ui/present/presenter.h"
#include "ui/studio/studio.h"
#include "ui/views/layer_map/history/search_film.h"
#include "ui/views/layer_map/history_view.h"
#include "ui/views/learn/slow_motion/film/walk_film.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"

#include <QApplication>
#include <QClipboard>
#include <QMenu>

#include <memory>

// Showing the window to others: on the whole screen, as pictures, as films.

namespace ui {

namespace {

/// The view that holds this widget; null when none does.
QWidget* viewAround(QWidget* widget) {
    while (widget != nullptr && qobject_cast<View*>(widget) == nullptr)
        widget = widget->parentWidget();
    return widget;
}

void showFilm(Studio& studio, const FilmMaker& make) {
    studio.window().messages().withdraw(QStringLiteral("film"));
    auto* dialog = new FilmDialog(studio.theme(), studio.bridge(), make, &studio.window());
    QObject::connect(dialog, &FilmDialog::saved, &studio, [&studio](const QString& path) {
        studio.window().messages().show({Notice::Kind::Info,
                                         QStringLiteral("film"),
                                         Studio::tr("The animation is saved."),
                                         path});
    });
    dialog->open();
}

} // namespace

void Studio::addPresentActions() {
    ActionCatalog& catalog = m_window->actionCatalog();
    QMenu& view = *m_window->menu(MainWindow::tr("&View"));
    m_presenter = new Presenter(*m_window, m_theme, *m_bridge);
    QAction* present = catalog.add(QStringLiteral("view.present"),
                                   tr("View"),
                                   tr("&Present"),
                                   {QKeySequence(Qt::Key_F11)},
                                   [] {});
    present->setCheckable(true);
    connect(present, &QAction::toggled, m_presenter, &Presenter::setPresenting);
    connect(m_presenter, &Presenter::presentingChanged, present, &QAction::setChecked);
    connect(m_presenter, &Presenter::presentingChanged, this, [this] { updateActions(); });
    view.addAction(present);
    view.addAction(catalog.add(QStringLiteral("view.copy_picture"),
                               tr("View"),
                               tr("Cop&y as picture"),
                               {QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_C)},
                               [this] { copyPicture(); }));
    QAction* round = catalog.add(QStringLiteral("learn.export_round"),
                                 tr("Learn"),
                                 tr("Export the round as an &animation..."),
                                 {QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_R)},
                                 [this] { exportRound(); });
    QAction* search = catalog.add(QStringLiteral("inspect.export_search"),
                                  tr("Inspect"),
                                  tr("Export the search as an a&nimation..."),
                                  {QKeySequence(Qt::CTRL | Qt::ALT | Qt::Key_H)},
                                  [this] { exportSearch(); });
    view.addAction(round);
    view.addAction(search);
    for (View* shown : views()) {
        const QString& id = shown->info().id;
        if (id == u"slow_motion")
            shown->addAction(round);
        else if (id == u"history" || id == u"layer_map")
            shown->addAction(search);
    }
}

void Studio::updatePresentActions() {
    ActionCatalog& catalog = m_window->actionCatalog();
    catalog.find(QStringLiteral("learn.export_round"))
        ->setEnabled(m_run.answers().latestShown() != nullptr);
    catalog.find(QStringLiteral("inspect.export_search"))
        ->setEnabled(!m_run.search().bestSets().empty());
}

/// The view that has the focus, or else the whole workspace, as it is on the screen.
void Studio::copyPicture() {
    QWidget* shown = viewAround(QApplication::focusWidget());
    if (shown == nullptr)
        shown = m_window->currentWorkspace();
    constexpr int kScale = 2;
    QImage picture(shown->size() * kScale, QImage::Format_ARGB32_Premultiplied);
    picture.setDevicePixelRatio(kScale);
    picture.fill(m_theme.colours().panel);
    shown->render(&picture);
    QApplication::clipboard()->setImage(picture);
    m_window->messages().show(
        {Notice::Kind::Info, QStringLiteral("picture"), tr("The picture is in the clipboard.")});
}

/// The round that Slow motion shows, which is brought to the front: it is what one gets.
void Studio::exportRound() {
    m_learnPage->showStage(QStringLiteral("slow_motion"));
    m_window->showWorkspace(QStringLiteral("learn_workspace"));
    m_bridge->refreshPictures();
    const auto* view = m_learnPage->findChild<SlowMotionView*>();
    const WalkScene* scene = view->scene();
    if (scene == nullptr) {
        m_window->messages().show(
            {Notice::Kind::Info,
             QStringLiteral("film"),
             tr("Slow motion shows no round yet."),
             tr("A view that is frozen shows nothing new: click its Freeze button again. Then "
                "export the round once more.")});
        return;
    }
    showFilm(*this, [this, walk = scene->walk, round = view->round()](int width) {
        return std::make_unique<WalkFilm>(m_theme, walk, round, width);
    });
}

void Studio::exportSearch() {
    showFilm(*this,
             [this](int width) { return std::make_unique<SearchFilm>(m_theme, m_run, width); });
}

} // namespace ui
