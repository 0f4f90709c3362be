// SPDX-License-Identifier: GPL-3.0-only
#include "ui/views/tune/recipe/output_field.h"

#include "ui/theme/tip_text.h"

#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QHBoxLayout>
#include <QLineEdit>
#include <QPushButton>

#include <utility>

namespace ui {

OutputField::OutputField(const Theme& theme, QWidget* parent)
    : QWidget(parent)
    , m_line(new QLineEdit(this)) {
    m_line->setAccessibleName(tr("Folder of the new model"));
    auto* find = new QPushButton(tr("Choose..."), this);
    find->setProperty("form", QStringLiteral("small"));
    find->setToolTip(tr("The folder in which the new model's own folder is made"));
    auto* row = new QHBoxLayout(this);
    row->setContentsMargins(0, 0, 0, 0);
    row->setSpacing(theme.scaled(6));
    row->addWidget(m_line, 1);
    row->addWidget(find);
    connect(m_line, &QLineEdit::textChanged, this, [this](const QString& text) {
        setTip(*m_line, text);
        emit changed();
    });
    connect(find, &QPushButton::clicked, this, &OutputField::askForFolder);
}

/// Without what would be a folder of no name at its end.
QString OutputField::path() const {
    const QString typed = QDir::fromNativeSeparators(m_line->text().trimmed());
    return typed.isEmpty() ? QString() : QDir::cleanPath(typed);
}

void OutputField::setUsual(const QString& path) {
    const QString before = std::exchange(m_usual, path);
    if (m_line->text().isEmpty() || m_line->text() == before)
        setPath(path);
}

void OutputField::setPath(const QString& path) {
    m_line->setText(path);
    m_line->setCursorPosition(static_cast<int>(path.size())); // the name is what differs
}

void OutputField::askForFolder() {
    auto* dialog = new QFileDialog(this, tr("Where the new model's folder is made"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setFileMode(QFileDialog::Directory);
    const QFileInfo now(path());
    dialog->setDirectory(now.path());
    connect(dialog,
            &QFileDialog::fileSelected,
            this,
            [this, name = now.fileName()](const QString& folder) {
                setPath(folder + u'/' + (name.isEmpty() ? QStringLiteral("model") : name));
            });
    dialog->open();
}

} // namespace ui
