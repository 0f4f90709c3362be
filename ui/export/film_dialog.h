// SPDX-License-Identifier: GPL-3.0-only
#pragma once

#include "ui/bridge/engine_bridge.h"
#include "ui/export/film_job.h"
#include "ui/theme/theme.h"

#include <QDialog>

#include <functional>

class QComboBox;
class QLabel;
class QProgressBar;
class QPushButton;

namespace ui {

/// Makes a film of pixels of this width.
using FilmMaker = std::function<std::unique_ptr<Film>(int width)>;

/// Asks where a film goes and how large it becomes, then shows its progress. Closing it, or Esc,
/// cancels the film and leaves nothing behind. With open(), answers and searches in the window go
/// on, and only its keys and clicks wait. Thread: UI.
class FilmDialog : public QDialog {
    Q_OBJECT

public:
    FilmDialog(const Theme& theme, EngineBridge& bridge, FilmMaker make, QWidget* window);

    /// A place was chosen: begins, or first asks whether a file that exists may be replaced.
    void choose(FilmForm form, const QString& path, int width);

    /// Begins. `mayReplace`: the user has agreed to replace the file.
    void begin(FilmForm form, const QString& path, int width, bool mayReplace);

    bool isRunning() const { return m_job != nullptr && !m_job->isOver(); }

    /// What it says at present.
    QString sentence() const;

signals:
    /// The film is there.
    void saved(const QString& path);

private:
    void build(const Theme& theme);
    void askForPlace();
    void onFinished(const QString& problem);

    EngineBridge& m_bridge;
    FilmMaker m_make;
    std::unique_ptr<FilmJob> m_job;
    QString m_path;
    QComboBox* m_form = nullptr;
    QComboBox* m_size = nullptr;
    QProgressBar* m_progress = nullptr;
    QLabel* m_sentence = nullptr;
    QPushButton* m_start = nullptr;
    QPushButton* m_close = nullptr;
};

} // namespace ui
