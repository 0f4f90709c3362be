// SPDX-License-Identifier: GPL-3.0-only
#include "ui/export/film_dialog.h"

#include <QComboBox>
#include <QDir>
#include <QFileDialog>
#include <QFileInfo>
#include <QFormLayout>
#include <QLabel>
#include <QMessageBox>
#include <QProgressBar>
#include <QPushButton>
#include <QVBoxLayout>

#include <array>

namespace ui {

namespace {

/// Pixels of width that are offered.
constexpr std::array kWidths = {960, 1280, 1920};

} // namespace

FilmDialog::FilmDialog(const Theme& theme, EngineBridge& bridge, FilmMaker make, QWidget* window)
    : QDialog(window)
    , m_bridge(bridge)
    , m_make(std::move(make)) {
    setAttribute(Qt::WA_DeleteOnClose);
    setWindowTitle(tr("Export %1 as an animation").arg(m_make(kWidths[0])->title()));
    build(theme);
    connect(&bridge, &EngineBridge::tickFinished, this, [this] {
        if (isRunning())
            m_job->step();
    });
    connect(this, &QDialog::finished, this, [this] { m_job.reset(); });
}

void FilmDialog::build(const Theme& theme) {
    m_form = new QComboBox(this);
    m_form->addItem(tr("One animated PNG"), static_cast<int>(FilmForm::AnimatedPng));
    m_form->addItem(tr("A folder of PNG pictures"), static_cast<int>(FilmForm::PngFolder));
    m_form->setAccessibleName(tr("Form of the animation"));
    m_size = new QComboBox(this);
    for (const int width : kWidths)
        m_size->addItem(tr("%1 pixels wide").arg(width), width);
    m_size->setCurrentIndex(1);
    m_size->setAccessibleName(tr("Size of the pictures"));
    m_progress = new QProgressBar(this);
    m_progress->setAccessibleName(tr("Progress of the export"));
    m_sentence = plainLabel(this, true);
    m_sentence->setText(tr("It has the colours of the present theme. Browsers and presentations "
                           "show an animated PNG as a film that repeats."));
    m_sentence->setMinimumWidth(theme.scaled(380));
    m_start = new QPushButton(tr("Choose a place..."), this);
    m_start->setProperty("kind", "primary");
    m_start->setDefault(true);
    m_close = new QPushButton(tr("Cancel"), this);
    connect(m_start, &QPushButton::clicked, this, &FilmDialog::askForPlace);
    connect(m_close, &QPushButton::clicked, this, &QDialog::reject);
    auto* form = new QFormLayout;
    form->addRow(tr("Form"), m_form);
    form->addRow(tr("Size"), m_size);
    auto* buttons = new QHBoxLayout;
    buttons->addStretch(1);
    buttons->addWidget(m_close);
    buttons->addWidget(m_start);
    auto* rows = new QVBoxLayout(this);
    const int gap = theme.scaled(16);
    rows->setContentsMargins(gap, gap, gap, gap);
    rows->setSpacing(theme.scaled(12));
    rows->addLayout(form);
    rows->addWidget(m_sentence);
    rows->addWidget(m_progress);
    rows->addLayout(buttons);
    m_progress->hide();
}

QString FilmDialog::sentence() const { return m_sentence->text(); }

void FilmDialog::askForPlace() {
    const auto form = static_cast<FilmForm>(m_form->currentData().toInt());
    const int width = m_size->currentData().toInt();
    const QString name = m_make(width)->fileName();
    auto* dialog = new QFileDialog(this, windowTitle());
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    // choose() asks: it knows the whole name, which the dialog may complete after a question.
    dialog->setOption(QFileDialog::DontConfirmOverwrite);
    const bool isFile = form == FilmForm::AnimatedPng;
    if (isFile) {
        dialog->setDefaultSuffix(QStringLiteral("png"));
        dialog->setNameFilter(tr("Animated PNG (*.png)"));
    } else {
        dialog->setLabelText(QFileDialog::FileName, tr("New folder"));
    }
    dialog->selectFile(isFile ? name + QStringLiteral(".png") : name);
    connect(dialog, &QFileDialog::fileSelected, this, [this, form, width](const QString& path) {
        choose(form, path, width);
    });
    dialog->open();
}

/// A folder is never replaced.
void FilmDialog::choose(FilmForm form, const QString& path, int width) {
    if (form != FilmForm::AnimatedPng || !QFileInfo(path).isFile()) {
        begin(form, path, width, false);
        return;
    }
    auto* box = new QMessageBox(
        QMessageBox::NoIcon,
        tr("Replace the file?"),
        tr("%1 exists already and would be replaced.").arg(QDir::toNativeSeparators(path)),
        QMessageBox::Cancel,
        this);
    box->setAttribute(Qt::WA_DeleteOnClose);
    box->setTextFormat(Qt::PlainText);
    const QPushButton* replace = box->addButton(tr("Replace"), QMessageBox::DestructiveRole);
    connect(replace, &QPushButton::clicked, this, [this, form, path, width] {
        begin(form, path, width, true);
    });
    box->open();
}

void FilmDialog::begin(FilmForm form, const QString& path, int width, bool mayReplace) {
    m_path = path;
    m_job = std::make_unique<FilmJob>(m_make(width),
                                      std::make_unique<FilmTarget>(form, path, mayReplace));
    connect(m_job.get(), &FilmJob::progressed, this, [this](int done, int count) {
        m_progress->setRange(0, count);
        m_progress->setValue(done);
        m_sentence->setText(tr("Picture %1 of %2 is drawn.").arg(done).arg(count));
    });
    connect(m_job.get(), &FilmJob::finished, this, &FilmDialog::onFinished);
    m_progress->setRange(0, m_job->frameCount());
    m_progress->setValue(0);
    m_progress->show();
    for (QWidget* choice : {static_cast<QWidget*>(m_form),
                            static_cast<QWidget*>(m_size),
                            static_cast<QWidget*>(m_start)})
        choice->setEnabled(false);
    m_close->setText(tr("Cancel"));
    m_close->setFocus();
}

void FilmDialog::onFinished(const QString& problem) {
    for (QWidget* choice : {static_cast<QWidget*>(m_form),
                            static_cast<QWidget*>(m_size),
                            static_cast<QWidget*>(m_start)})
        choice->setEnabled(true);
    m_progress->hide();
    m_close->setText(tr("Close"));
    if (!problem.isEmpty()) {
        m_sentence->setText(problem);
        return;
    }
    m_sentence->setText(tr("Saved as %1.").arg(QDir::toNativeSeparators(m_path)));
    emit saved(m_path);
}

} // namespace ui
