// SPDX-License-Identifier: GPL-3.0-only
#include "ui/export/film_target.h"

#include "ui/plots/picture_file.h"

#include <QBuffer>
#include <QCoreApplication>
#include <QDir>
#include <QFileInfo>

namespace ui {

namespace {

QString say(const char* text) { return QCoreApplication::translate("FilmTarget", text); }

/// Beyond this, programs that show such files fail.
constexpr qint64 kMostBytes = 512LL * 1024 * 1024;

} // namespace

FilmTarget::FilmTarget(FilmForm form, QString path, bool mayReplace)
    : m_form(form)
    , m_path(std::move(path))
    , m_mayReplace(mayReplace && form == FilmForm::AnimatedPng) {}

FilmTarget::~FilmTarget() {
    if (m_hasFolder)
        QDir(unfinishedPath()).removeRecursively();
}

/// Asked at the start and once more at the end: a film takes a while.
QString FilmTarget::obstacle() const {
    const QFileInfo target(m_path);
    const QString shown = QDir::toNativeSeparators(m_path);
    if (m_path.isEmpty())
        return say("No file was named. Choose one.");
    if (target.exists() && !m_mayReplace)
        return say("%1 exists already, and nothing is replaced. Choose another name.").arg(shown);
    if (!QFileInfo(target.absolutePath()).isDir())
        return say("The folder %1 does not exist. Choose another one.")
            .arg(QDir::toNativeSeparators(target.absolutePath()));
    return {};
}

QString FilmTarget::begin() {
    if (const QString problem = obstacle(); !problem.isEmpty())
        return problem;
    if (m_form == FilmForm::AnimatedPng)
        return {};
    if (QFileInfo::exists(unfinishedPath()))
        return say("%1 is left from an export that did not end. Remove it, or choose another name.")
            .arg(QDir::toNativeSeparators(unfinishedPath()));
    m_hasFolder = QDir().mkpath(unfinishedPath());
    return m_hasFolder ? QString()
                       : say("The folder %1 could not be created. Choose a place where you may "
                             "write.")
                             .arg(QDir::toNativeSeparators(unfinishedPath()));
}

QString FilmTarget::add(const QImage& picture, int milliseconds) {
    if (m_form == FilmForm::AnimatedPng) {
        if (!m_writer.add(picture, milliseconds))
            return say("A picture of %1 x %2 pixels could not be compressed. Choose a smaller "
                       "size.")
                .arg(picture.width())
                .arg(picture.height());
        if (m_writer.byteCount() > kMostBytes)
            return say("The film has become larger than 512 MB. Choose a smaller size.");
        return {};
    }
    QBuffer buffer;
    buffer.open(QIODevice::WriteOnly);
    if (!picture.save(&buffer, "PNG"))
        return say("A picture of %1 x %2 pixels could not be compressed. Choose a smaller size.")
            .arg(picture.width())
            .arg(picture.height());
    const QString name = QStringLiteral("%1.png").arg(++m_frames, 4, 10, QLatin1Char('0'));
    return saveBytes(buffer.data(), QDir(unfinishedPath()).filePath(name)).value_or(QString());
}

QString FilmTarget::finish() {
    if (const QString problem = obstacle(); !problem.isEmpty())
        return problem;
    if (m_form == FilmForm::AnimatedPng)
        return saveBytes(m_writer.finish(), m_path).value_or(QString());
    if (!QDir().rename(unfinishedPath(), m_path))
        return say("The folder %1 could not get its name. Choose another one.")
            .arg(QDir::toNativeSeparators(m_path));
    m_hasFolder = false;
    return {};
}

} // namespace ui
