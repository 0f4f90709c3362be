// SPDX-License-Identifier: GPL-3.0-only
#include "ui/files/whole_file.h"
#include "ui/views/experiments/experiments_desk.h"
#include "ui/views/experiments/stream/prompts_view.h"
#include "ui/views/experiments/stream/stream_page.h"

#include <QDir>
#include <QFile>
#include <QFileDialog>
#include <QFileInfo>

// Saving elsewhere what a report consists of, and the prompts of a stream.

namespace ui {

namespace {

/// The files of a run's report in a form.
QStringList reportFiles(const QString& runFolder, ReportForm form) {
    const QDir report(runFolder + QStringLiteral("/report"));
    const auto filesIn = [](const QDir& folder, const char* pattern) {
        QStringList paths;
        for (const QFileInfo& file :
             folder.entryInfoList({QLatin1String(pattern)}, QDir::Files, QDir::Name))
            paths << file.filePath();
        return paths;
    };
    switch (form) {
    case ReportForm::Html:
        return filesIn(report, "report.html");
    case ReportForm::Markdown:
        return filesIn(report, "report.md");
    case ReportForm::Csv:
        return filesIn(report, "*.csv");
    case ReportForm::Latex:
        return filesIn(report, "*.tex");
    case ReportForm::Pdf:
        break;
    }
    return filesIn(QDir(report.filePath(QStringLiteral("figures"))), "*.pdf");
}

/// The reason why a file was not copied; empty = it was.
QString copyWhole(const QString& from, const QString& to) {
    QFile file(from);
    if (!file.open(QIODevice::ReadOnly))
        return file.errorString();
    return saveWhole(file.readAll(), to);
}

} // namespace

/// One file gets a name, several a folder.
void ExperimentsDesk::saveReport(ReportForm form) {
    const ExperimentJob* job = shownJob();
    if (job == nullptr)
        return;
    const QStringList files = reportFiles(job->folder, form);
    if (files.isEmpty()) {
        tell(tr("There is no such file yet."),
             tr("The report is written when a part of the experiment is finished."));
        return;
    }
    const bool isFolder = form != ReportForm::Html && form != ReportForm::Markdown;
    auto* dialog = new QFileDialog(m_page, tr("Save the report"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    if (isFolder) {
        dialog->setFileMode(QFileDialog::Directory);
        dialog->setOption(QFileDialog::ShowDirsOnly);
    } else {
        const QFileInfo file(files.front());
        dialog->setAcceptMode(QFileDialog::AcceptSave);
        dialog->setDefaultSuffix(file.suffix());
        dialog->selectFile(QFileInfo(job->folder).fileName() + u'.' + file.suffix());
    }
    connect(dialog, &QFileDialog::fileSelected, this, [this, files, isFolder](const QString& path) {
        copyReport(files, path, isFolder);
    });
    dialog->open();
}

void ExperimentsDesk::copyReport(const QStringList& files, const QString& target, bool isFolder) {
    m_thread.start([this, files, target, isFolder] {
        QString problem;
        for (const QString& file : files) {
            const QString to =
                isFolder ? QDir(target).filePath(QFileInfo(file).fileName()) : target;
            if (const QString failure = copyWhole(file, to);
                !failure.isEmpty() && problem.isEmpty())
                problem =
                    tr("%1 cannot be written (%2).").arg(QDir::toNativeSeparators(to), failure);
        }
        // The destructor waits for this thread, so `this` is valid.
        QMetaObject::invokeMethod(
            this,
            [this, problem, target] {
                if (problem.isEmpty())
                    tell(tr("The report was saved."), QDir::toNativeSeparators(target), false);
                else
                    tell(tr("The report was not saved."), problem);
            },
            Qt::QueuedConnection);
    });
}

void ExperimentsDesk::exportPrompts() {
    auto* dialog = new QFileDialog(m_page, tr("Export the prompts of the slice"));
    dialog->setAttribute(Qt::WA_DeleteOnClose);
    dialog->setAcceptMode(QFileDialog::AcceptSave);
    dialog->setDefaultSuffix(QStringLiteral("csv"));
    dialog->setNameFilter(tr("CSV (*.csv)"));
    dialog->selectFile(QStringLiteral("prompts.csv"));
    connect(dialog, &QFileDialog::fileSelected, this, [this](const QString& path) {
        if (const auto problem = saveCsv(m_page->streamPage().prompts().table(), path))
            tell(tr("The prompts were not exported."), *problem);
    });
    dialog->open();
}

} // namespace ui
