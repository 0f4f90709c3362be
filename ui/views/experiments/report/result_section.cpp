// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/experiments/report/result_section.h"

#include "ui/icons/icons.h"
#include "ui/shell/docks/dock_title.h"
#include "ui/views/experiments/page/plain_table.h"
#include "ui/views/experiments/report/result_table_model.h"

#include <QApplication>
#include <QClipboard>
#include <QHeaderView>
#include <QKeyEvent>
#include <QLabel>
#include <QScrollBar>
#include <QTableView>
#include <QToolButton>
#include <QVBoxLayout>

namespace ui {

ResultSection::ResultSection(const Theme& theme, engine::ResultTable table, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_model(new ResultTableModel(this))
    , m_view(new PlainTable(theme, TextRole::Figure))
    , m_note(plainLabel(this, true)) {
    const QString name = QString::fromStdString(table.title);
    m_note->setProperty("tone", "small");
    auto* title = new DockTitle(theme, name, nullptr, this);
    auto* button = new QToolButton(title);
    button->setText(tr("Copy"));
    button->setAccessibleName(tr("Copy the table %1").arg(name));
    button->setToolTip(tr("Copy the table, or the selected cells of it"));
    title->addButton(button);
    connect(button, &QToolButton::clicked, this, &ResultSection::copy);
    m_view->setModel(m_model);
    m_view->setAccessibleName(name);
    m_view->setProperty("form", QStringLiteral("figures"));
    m_view->setSelectionBehavior(QAbstractItemView::SelectItems); // cells are copied
    m_view->setHorizontalScrollMode(QAbstractItemView::ScrollPerPixel);
    m_view->setVerticalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_view->installEventFilter(this);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->setSpacing(0);
    column->addWidget(title);
    column->addWidget(m_view);
    column->addWidget(m_note);
    connect(&theme, &Theme::changed, this, &ResultSection::restyle);
    setTable(std::move(table));
}

void ResultSection::setTable(engine::ResultTable table) {
    m_note->setText(QString::fromStdString(table.note));
    m_note->setVisible(!table.note.empty());
    m_model->setTable(std::move(table));
    restyle();
}

const std::string& ResultSection::id() const { return m_model->table().id; }

void ResultSection::restyle() {
    m_view->resizeColumnsToContents();
    const int columns = m_model->columnCount();
    if (columns > 0)
        m_view->horizontalHeader()->setSectionResizeMode(0, QHeaderView::Stretch);
    m_view->horizontalHeader()->setMinimumSectionSize(m_theme.scaled(56));
    m_view->setFixedHeight(m_view->horizontalHeader()->sizeHint().height() +
                           m_model->rowCount() * m_theme.scaled(24) +
                           m_view->horizontalScrollBar()->sizeHint().height());
    m_note->setContentsMargins(m_theme.scaled(12), 0, m_theme.scaled(12), m_theme.scaled(8));
}

void ResultSection::copy() { QApplication::clipboard()->setText(copiedCells(*m_view)); }

bool ResultSection::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress &&
        static_cast<QKeyEvent*>(event)->matches(QKeySequence::Copy)) {
        copy();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

} // namespace ui
