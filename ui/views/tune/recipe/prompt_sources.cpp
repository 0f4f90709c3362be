// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/recipe/prompt_sources.h"

#include "ui/theme/tip_text.h"

#include <QDir>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QKeyEvent>
#include <QLabel>
#include <QListWidget>
#include <QPushButton>
#include <QVBoxLayout>

#include <algorithm>

namespace ui {

PromptSources::PromptSources(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_theme(theme)
    , m_list(new QListWidget(this))
    , m_nothing(plainLabel(m_list->viewport(), true))
    , m_remove(new QPushButton(tr("Remove"), this)) {
    m_list->setAccessibleName(tr("Files and folders with prompts"));
    m_list->setProperty("form", QStringLiteral("field"));
    m_list->setSelectionMode(QAbstractItemView::ExtendedSelection);
    m_list->setTextElideMode(Qt::ElideMiddle);
    m_list->setHorizontalScrollBarPolicy(Qt::ScrollBarAlwaysOff);
    m_list->installEventFilter(this);
    m_nothing->setText(tr("None yet: add files or a folder, or drop them here."));
    m_nothing->setProperty("tone", "small");
    m_nothing->setAttribute(Qt::WA_TransparentForMouseEvents);
    auto* inList = new QVBoxLayout(m_list->viewport());
    inList->addWidget(m_nothing);
    auto* files = new QPushButton(tr("Add files..."), this);
    auto* folder = new QPushButton(tr("Add a folder..."), this);
    m_remove->setToolTip(tr("Take the chosen ones off the list; no file is deleted"));
    auto* row = new QHBoxLayout;
    for (QPushButton* button : {files, folder, m_remove}) {
        button->setProperty("form", QStringLiteral("small"));
        row->addWidget(button);
    }
    row->addStretch(1);
    auto* column = new QVBoxLayout(this);
    column->setContentsMargins(0, 0, 0, 0);
    column->addWidget(m_list);
    column->addLayout(row);
    connect(files, &QPushButton::clicked, this, &PromptSources::filesAsked);
    connect(folder, &QPushButton::clicked, this, &PromptSources::folderAsked);
    connect(m_remove, &QPushButton::clicked, this, &PromptSources::removeChosen);
    connect(m_list, &QListWidget::itemSelectionChanged, this, [this] {
        m_remove->setEnabled(!m_list->selectedItems().isEmpty());
    });
    connect(&theme, &Theme::changed, this, &PromptSources::restyle);
    restyle();
    showPaths();
}

void PromptSources::setPaths(const QStringList& paths) {
    m_paths = paths;
    showPaths();
}

void PromptSources::add(const QStringList& paths) {
    const auto before = m_paths.size();
    for (const QString& path : paths)
        if (!m_paths.contains(path))
            m_paths << path;
    if (m_paths.size() == before)
        return;
    showPaths();
    emit changed();
}

void PromptSources::removeChosen() {
    QStringList left;
    for (int row = 0; row < m_list->count(); ++row)
        if (!m_list->item(row)->isSelected())
            left << m_paths[row];
    if (left.size() == m_paths.size())
        return;
    m_paths = left;
    showPaths();
    m_list->setFocus(); // the button cannot have it any more
    emit changed();
}

bool PromptSources::eventFilter(QObject* watched, QEvent* event) {
    if (event->type() == QEvent::KeyPress &&
        static_cast<QKeyEvent*>(event)->matches(QKeySequence::Delete)) {
        removeChosen();
        return true;
    }
    return QWidget::eventFilter(watched, event);
}

void PromptSources::showPaths() {
    m_list->clear();
    for (const QString& path : m_paths) {
        const QFileInfo info(path);
        auto* item = new QListWidgetItem(
            info.isDir() ? tr("%1 (folder)").arg(info.fileName()) : info.fileName(), m_list);
        item->setToolTip(tipOf(QDir::toNativeSeparators(path)));
    }
    m_nothing->setVisible(m_paths.isEmpty());
    m_remove->setEnabled(false);
    restyle();
}

/// As high as its rows, within bounds.
void PromptSources::restyle() {
    constexpr int kFewest = 2;
    constexpr int kMost = 6;
    layout()->setSpacing(m_theme.scaled(6));
    m_list->viewport()->layout()->setContentsMargins(m_theme.scaled(6), 0, m_theme.scaled(6), 0);
    const int rows = std::clamp(m_list->count(), kFewest, kMost);
    m_list->setFixedHeight(rows * m_theme.scaled(22) + m_theme.scaled(8));
}

} // namespace ui
