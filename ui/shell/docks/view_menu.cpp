// SPDX-License-Identifier: GPL-3.0-only
#include "ui/shell/docks/view_menu.h"

#include "ui/plots/picture_file.h"
#include "ui/shell/docks/dock_title.h"
#include "ui/shell/docks/explanation_card.h"

#include <QApplication>
#include <QClipboard>
#include <QDialog>
#include <QFileDialog>
#include <QFileInfo>
#include <QHeaderView>
#include <QLabel>
#include <QMenu>
#include <QPainter>
#include <QPointer>
#include <QTableView>
#include <QVBoxLayout>

namespace ui {

namespace {

QString endingOf(int format) {
    switch (format) {
    case 0:
        return QStringLiteral("svg");
    case 1:
        return QStringLiteral("png");
    default:
        return QStringLiteral("csv");
    }
}

} // namespace

QString saveView(View& view, const QString& path, const QString& otherwise) {
    const QString ending = QFileInfo(path).suffix().toLower();
    const bool isKnown = ending == endingOf(0) || ending == endingOf(1) || ending == endingOf(2);
    const QString form = isKnown ? ending : otherwise;
    std::optional<QString> error;
    if (form == endingOf(0))
        error = saveSvg(view, path);
    else if (form == endingOf(2))
        error = saveCsv(view.table(), path);
    else
        error = savePng(view, path);
    return error.value_or(QString());
}

ViewMenu::ViewMenu(const Theme& theme, MessageBar& messages, QWidget* window)
    : QObject(window)
    , m_theme(theme)
    , m_messages(messages)
    , m_window(window) {}

void ViewMenu::popup(View* view, const QPoint& place) {
    if (view == nullptr)
        return;
    auto* menu = new QMenu(m_window);
    menu->setAttribute(Qt::WA_DeleteOnClose);
    fill(*menu, view);
    menu->popup(place);
}

QWidget* ViewMenu::titled(View* view, QWidget* parent) {
    auto* part = new QWidget(parent);
    auto* rows = new QVBoxLayout(part);
    rows->setContentsMargins(0, 0, 0, 0);
    rows->setSpacing(0);
    auto* title = new DockTitle(m_theme, view->info().title, view, part);
    rows->addWidget(title);
    rows->addWidget(view, 1);
    connect(
        title, &DockTitle::menuAsked, this, [this, view](const QPoint& at) { popup(view, at); });
    return part;
}

void ViewMenu::fill(QMenu& menu, View* view) {
    if (!view->actions().isEmpty()) {
        menu.addActions(view->actions());
        menu.addSeparator();
    }
    const bool hasTable = !view->table().header.isEmpty();
    menu.addAction(tr("Copy image"), this, [this, view] { copyImage(view); });
    QAction* copyData = menu.addAction(tr("Copy data"), this, [view] {
        QApplication::clipboard()->setText(QString::fromUtf8(toCsv(view->table())));
    });
    QAction* asTable = menu.addAction(tr("Show as table"), this, [this, view] { showTable(view); });
    menu.addSeparator();
    menu.addAction(tr("Save as SVG..."), this, [this, view] { askToSave(view, Format::Svg); });
    menu.addAction(tr("Save as PNG..."), this, [this, view] { askToSave(view, Format::Png); });
    QAction* csv = menu.addAction(
        tr("Save data as CSV..."), this, [this, view] { askToSave(view, Format::Csv); });
    menu.addSeparator();
    menu.addAction(tr("What am I looking at?"), this, [this, view] { explain(view); });
    for (QAction* action : {copyData, asTable, csv})
        action->setEnabled(hasTable);
}

void ViewMenu::copyImage(View* view) {
    QImage image(view->size() * 2, QImage::Format_ARGB32);
    image.fill(m_theme.colours().panel);
    QPainter painter(&image);
    view->drawFigure(painter, image.size());
    painter.end();
    QApplication::clipboard()->setImage(image);
}

void ViewMenu::askToSave(View* view, Format format) {
    const QString ending = endingOf(static_cast<int>(format));
    auto* dialog = new QFileDialog(m_window, tr("Save %1").arg(view->info().title));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(ending);
    dialog->setNameFilter(QStringLiteral("%1 (*.%2)").arg(ending.toUpper(), ending));
    dialog->selectFile(view->info().id + QLatin1Char('.') + ending);
    connect(dialog,
            &QFileDialog::fileSelected,
            this,
            [this, view = QPointer(view), ending](const QString& path) {
                if (!view)
                    return;
                const QString error = saveView(*view, path, ending);
                if (!error.isEmpty())
                    m_messages.show({Notice::Kind::Error,
                                     QStringLiteral("save_view"),
                                     tr("The picture was not saved."),
                                     error});
            });
    dialog->open();
}

void ViewMenu::showTable(View* view) {
    auto* dialog = new QDialog(m_window);
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setWindowTitle(tr("%1 as a table").arg(view->info().title));
    dialog->resize(m_theme.scaledWindow(*dialog, 640, 480));
    auto* model = new FigureTableModel(dialog);
    model->setTable(view->table());
    auto* table = new QTableView(dialog);
    table->setModel(model);
    table->setAccessibleName(dialog->windowTitle());
    table->setFont(m_theme.font(TextRole::Figure));
    table->horizontalHeader()->setDefaultAlignment(Qt::AlignLeft | Qt::AlignVCenter);
    table->resizeColumnsToContents(); // headings are shown in full; a wide table scrolls
    table->verticalHeader()->hide();
    table->setTabKeyNavigation(false);
    (new QVBoxLayout(dialog))->addWidget(table);
    dialog->open();
}

void ViewMenu::explain(View* view) { (new ExplanationCard(m_theme, *view))->showBeside(*view); }

} // namespace ui
