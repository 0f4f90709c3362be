// SPDX-License-Identifier: GPL-3.0-only
// Films: the animated PNG's bytes, the one rule for what they replace, and what they show.
#include "tests/support/file_content.h"
#include "tests/ui/support/figures_run.h"
#include "tests/ui/support/run_events.h"
#include "tests/ui/support/view_stage.h"
#include "ui/export/film_dialog.h"
#include "ui/views/layer_map/history/search_film.h"
#include "ui/views/learn/slow_motion/film/walk_film.h"
#include "ui/views/learn/slow_motion/slow_motion_view.h"

#include <QDir>
#include <QFileDialog>
#include <QMessageBox>
#include <QPainter>
#include <QProgressBar>
#include <QPushButton>
#include <QSignalSpy>
#include <QTemporaryDir>
#include <QTest>
#include <QtEndian>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

struct Chunk {
    QByteArray type;
    QByteArray content;
    bool isSound = false; ///< its check sum is right
};

std::uint32_t slowCrc(const QByteArray& bytes) {
    std::uint32_t value = 0xFFFFFFFFU;
    for (const char byte : bytes) {
        value ^= static_cast<unsigned char>(byte);
        for (int bit = 0; bit < 8; ++bit)
            value = (value & 1U) != 0U ? (value >> 1U) ^ 0xEDB88320U : value >> 1U;
    }
    return ~value;
}

std::vector<Chunk> chunksOf(const QByteArray& png) {
    std::vector<Chunk> chunks;
    for (qsizetype at = 8; at + 12 <= png.size();) {
        const auto size =
            static_cast<qsizetype>(qFromBigEndian<std::uint32_t>(png.constData() + at));
        const QByteArray named = png.mid(at + 4, size + 4);
        const auto sum = qFromBigEndian<std::uint32_t>(png.constData() + at + 8 + size);
        chunks.push_back({named.left(4), named.mid(4), slowCrc(named) == sum});
        at += 12 + size;
    }
    return chunks;
}

std::uint32_t number(const QByteArray& bytes, int at) {
    return qFromBigEndian<std::uint32_t>(bytes.constData() + at);
}

QByteArray wrapped(const QByteArray& type, const QByteArray& content) {
    QByteArray made(4, '\0');
    qToBigEndian(static_cast<std::uint32_t>(content.size()), made.data());
    QByteArray sum(4, '\0');
    qToBigEndian(slowCrc(type + content), sum.data());
    return made + type + content + sum;
}

/// What a program that knows animated PNGs shows: each frame with its milliseconds.
std::vector<FilmFrame> played(const QByteArray& png) {
    std::vector<FilmFrame> frames;
    const std::vector<Chunk> chunks = chunksOf(png);
    QByteArray header;
    QRect part;
    int milliseconds = 0;
    QImage canvas;
    for (const Chunk& chunk : chunks) {
        if (chunk.type == "IHDR") {
            header = chunk.content;
            canvas = QImage(static_cast<int>(number(header, 0)),
                            static_cast<int>(number(header, 4)),
                            QImage::Format_RGB888);
        } else if (chunk.type == "fcTL") {
            part = QRect(static_cast<int>(number(chunk.content, 12)),
                         static_cast<int>(number(chunk.content, 16)),
                         static_cast<int>(number(chunk.content, 4)),
                         static_cast<int>(number(chunk.content, 8)));
            milliseconds = qFromBigEndian<std::uint16_t>(chunk.content.constData() + 20);
        } else if (chunk.type == "IDAT" || chunk.type == "fdAT") {
            QByteArray own = header;
            qToBigEndian(static_cast<std::uint32_t>(part.width()), own.data());
            qToBigEndian(static_cast<std::uint32_t>(part.height()), own.data() + 4);
            const QByteArray data = chunk.type == "IDAT" ? chunk.content : chunk.content.mid(4);
            const QImage piece = QImage::fromData(png.left(8) + wrapped("IHDR", own) +
                                                  wrapped("IDAT", data) + wrapped("IEND", {}));
            QPainter(&canvas).drawImage(part.topLeft(), piece);
            frames.push_back({canvas.copy(), milliseconds});
        }
    }
    return frames;
}

QImage dotAt(int x, int y) {
    QImage image(60, 40, QImage::Format_RGB888);
    image.fill(Qt::white);
    QPainter(&image).fillRect(x, y, 5, 5, Qt::red);
    return image;
}

/// Some pictures; `onFrame` is called before each.
class DotFilm : public Film {
public:
    explicit DotFilm(int count, std::function<void(int)> onFrame = {})
        : m_count(count)
        , m_onFrame(std::move(onFrame)) {}

    QString title() const override { return QStringLiteral("dots"); }

    QString fileName() const override { return QStringLiteral("dots"); }

    int frameCount() const override { return m_count; }

    FilmFrame frame(int index) override {
        if (m_onFrame)
            m_onFrame(index);
        return {dotAt(index * 3, 10), 50};
    }

private:
    int m_count;
    std::function<void(int)> m_onFrame;
};

/// Runs a film to its end; the sentence that it ends with.
QString run(FilmForm form, const QString& path, bool mayReplace, std::unique_ptr<Film> film) {
    FilmJob job(std::move(film), std::make_unique<FilmTarget>(form, path, mayReplace));
    QSignalSpy finished(&job, &FilmJob::finished);
    while (!job.isOver())
        job.step();
    return finished.value(0).value(0).toString();
}

StepFinished smallRound() {
    StepFinished made = draftStep(1, 1, {" delta", " count"}, 1, " x");
    made.draftTexts = {" delta", " count"};
    made.confidences = {0.98, 0.46};
    made.draftEnd = {DraftEndReason::Unsure, 0.46, 0.8};
    return made;
}

} // namespace

class FilmTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;

    QString path(const char* name) const { return m_folder.filePath(QString::fromLatin1(name)); }

private slots:

    void anAnimatedPngPlaysItsFrames() {
        ApngWriter writer;
        const std::vector<QImage> drawn{dotAt(0, 0), dotAt(30, 20), dotAt(55, 35)};
        for (std::size_t i = 0; i < drawn.size(); ++i)
            QVERIFY(writer.add(drawn[i], 100 + static_cast<int>(i)));
        const QByteArray png = writer.finish();
        for (const Chunk& chunk : chunksOf(png))
            QVERIFY2(chunk.isSound, chunk.type.constData());
        QCOMPARE(chunksOf(png)[1].type, QByteArray("acTL"));
        QCOMPARE(number(chunksOf(png)[1].content, 0), 3U);
        const std::vector<FilmFrame> frames = played(png);
        QCOMPARE(frames.size(), drawn.size());
        for (std::size_t i = 0; i < drawn.size(); ++i) {
            QCOMPARE(frames[i].picture, drawn[i]);
            QCOMPARE(frames[i].milliseconds, 100 + static_cast<int>(i));
        }
        std::uint32_t expected = 0;
        for (const Chunk& chunk : chunksOf(png))
            if (chunk.type == "fcTL" || chunk.type == "fdAT")
                QCOMPARE(number(chunk.content, 0), expected++);
        // A program that does not know films shows the first frame.
        QCOMPARE(QImage::fromData(png).convertToFormat(QImage::Format_RGB888), drawn[0]);
    }

    void aFrameThatStaysMakesTheOneBeforeLast() {
        ApngWriter writer;
        writer.add(dotAt(0, 0), 100);
        writer.add(dotAt(0, 0), 150);
        writer.add(dotAt(9, 0), 100);
        const std::vector<FilmFrame> frames = played(writer.finish());
        QCOMPARE(frames.size(), 2U);
        QCOMPARE(frames[0].milliseconds, 250);
    }

    void onlyWhatChangesIsStored() {
        ApngWriter writer;
        writer.add(dotAt(0, 0), 100);
        writer.add(dotAt(9, 4), 100);
        const QByteArray png = writer.finish();
        for (const Chunk& chunk : chunksOf(png))
            if (chunk.type == "fcTL" && number(chunk.content, 0) > 0)
                QVERIFY(number(chunk.content, 4) * number(chunk.content, 8) < 200);
        QVERIFY(!ApngWriter().add(QImage(), 10));
        ApngWriter other;
        QVERIFY(other.add(dotAt(0, 0), 10));
        QVERIFY(!other.add(QImage(3, 3, QImage::Format_RGB888), 10));
        QVERIFY(ApngWriter().finish().isEmpty());
    }

    void aFilmIsWrittenInBothForms() {
        QCOMPARE(run(FilmForm::AnimatedPng, path("a.png"), false, std::make_unique<DotFilm>(4)),
                 QString());
        QCOMPARE(played(support::fileBytes(path("a.png"))).size(), 4U);
        QCOMPARE(run(FilmForm::PngFolder, path("a"), false, std::make_unique<DotFilm>(3)),
                 QString());
        QCOMPARE(QDir(path("a")).entryList(QDir::Files),
                 QStringList({"0001.png", "0002.png", "0003.png"}));
        QCOMPARE(QImage(path("a") + "/0002.png").convertToFormat(QImage::Format_RGB888),
                 dotAt(3, 10));
        QVERIFY(!QFileInfo::exists(path("a.part")));
    }

    void nothingThatExistsIsReplacedUnasked() {
        support::writeFile(path("old.png"), "mine");
        QVERIFY(QDir().mkpath(path("olddir")));
        const QString refused =
            run(FilmForm::AnimatedPng, path("old.png"), false, std::make_unique<DotFilm>(2));
        QVERIFY2(refused.contains(QStringLiteral("exists already")), qPrintable(refused));
        QCOMPARE(support::fileBytes(path("old.png")), QByteArray("mine"));
        QVERIFY(!run(FilmForm::PngFolder, path("olddir"), true, std::make_unique<DotFilm>(2))
                     .isEmpty());
        QVERIFY(QDir(path("olddir")).isEmpty());
        QCOMPARE(run(FilmForm::AnimatedPng, path("old.png"), true, std::make_unique<DotFilm>(2)),
                 QString());
        QCOMPARE(played(support::fileBytes(path("old.png"))).size(), 2U);
    }

    void whatAppearsMeanwhileIsNotReplacedEither() {
        const auto appear = [this](int index) {
            if (index == 2)
                support::writeFile(path("late.png"), "theirs");
        };
        const QString problem = run(
            FilmForm::AnimatedPng, path("late.png"), false, std::make_unique<DotFilm>(4, appear));
        QVERIFY(!problem.isEmpty());
        QCOMPARE(support::fileBytes(path("late.png")), QByteArray("theirs"));
    }

    void problemsAreOneSentence() {
        for (const auto& [form, place] :
             {std::pair(FilmForm::AnimatedPng, QStringLiteral("/nowhere/at/all.png")),
              std::pair(FilmForm::PngFolder, QStringLiteral("/nowhere/at/all")),
              std::pair(FilmForm::AnimatedPng, QString())}) {
            const QString problem = run(form, place, false, std::make_unique<DotFilm>(2));
            QVERIFY(problem.endsWith(u'.'));
            QVERIFY(!problem.contains(u'\n'));
        }
        QVERIFY(!run(FilmForm::AnimatedPng, path("empty.png"), false, std::make_unique<DotFilm>(0))
                     .isEmpty());
        QVERIFY(!QFileInfo::exists(path("empty.png")));
    }

    void aFilmThatIsGivenUpLeavesNothing() {
        {
            FilmJob job(std::make_unique<DotFilm>(9),
                        std::make_unique<FilmTarget>(FilmForm::PngFolder, path("half"), false));
            for (int i = 0; i < 5; ++i)
                job.step();
            QVERIFY(QFileInfo::exists(path("half.part")));
        }
        QVERIFY(!QFileInfo::exists(path("half.part")));
        QVERIFY(!QFileInfo::exists(path("half")));
    }

    void theDialogShowsProgressAndCancels() {
        ViewStage stage;
        auto* dialog = new FilmDialog(
            stage.theme, stage.bridge, [](int) { return std::make_unique<DotFilm>(6); }, nullptr);
        dialog->open();
        dialog->begin(FilmForm::PngFolder, path("cancelled"), 960, false);
        for (int i = 0; i < 4; ++i)
            stage.bridge.tick();
        QCOMPARE(dialog->findChild<QProgressBar*>()->value(), 3);
        QVERIFY(dialog->isRunning());
        for (const QPushButton* button : dialog->findChildren<QPushButton*>())
            QVERIFY(!button->text().isEmpty());
        QTest::keyClick(dialog, Qt::Key_Escape);
        QVERIFY(!QFileInfo::exists(path("cancelled.part")));
        QVERIFY(!QFileInfo::exists(path("cancelled")));
    }

    void theDialogSaysWhereTheFilmIs() {
        ViewStage stage;
        FilmDialog* dialog = new FilmDialog(
            stage.theme, stage.bridge, [](int) { return std::make_unique<DotFilm>(2); }, nullptr);
        QSignalSpy saved(dialog, &FilmDialog::saved);
        dialog->open();
        dialog->begin(FilmForm::AnimatedPng, path("said.png"), 960, false);
        for (int i = 0; i < 5; ++i)
            stage.bridge.tick();
        QCOMPARE(saved.count(), 1);
        QVERIFY(dialog->sentence().contains(QStringLiteral("said.png")));
        dialog->begin(FilmForm::AnimatedPng, path("said.png"), 960, false);
        stage.bridge.tick();
        QVERIFY(dialog->sentence().contains(QStringLiteral("exists already")));
        delete dialog;
    }

    void theDialogAsksOnceBeforeItReplaces() {
        ViewStage stage;
        const QString name = support::writeFile(path("asked.png"), "mine");
        FilmDialog dialog(
            stage.theme, stage.bridge, [](int) { return std::make_unique<DotFilm>(2); }, nullptr);
        dialog.setAttribute(Qt::WA_DeleteOnClose, false);
        dialog.open();
        for (QPushButton* button : dialog.findChildren<QPushButton*>())
            if (button->isDefault())
                button->click();
        auto* files = dialog.findChild<QFileDialog*>();
        QVERIFY(files != nullptr);
        QVERIFY(files->testOption(QFileDialog::DontConfirmOverwrite));
        emit files->fileSelected(name);
        delete files;
        auto* question = dialog.findChild<QMessageBox*>();
        QVERIFY(question != nullptr);
        QVERIFY(question->text().contains(QStringLiteral("asked.png")));
        QVERIFY(!dialog.isRunning());
        question->button(QMessageBox::Cancel)->click();
        delete question;
        QVERIFY(!dialog.isRunning());
        QCOMPARE(support::fileBytes(name), QByteArray("mine"));

        dialog.choose(FilmForm::AnimatedPng, name, 960);
        question = dialog.findChild<QMessageBox*>();
        QVERIFY(question != nullptr);
        for (QAbstractButton* button : question->buttons())
            if (question->buttonRole(button) == QMessageBox::DestructiveRole)
                button->click();
        delete question;
        QVERIFY(dialog.isRunning());
        for (int i = 0; i < 5; ++i)
            stage.bridge.tick();
        QCOMPARE(played(support::fileBytes(name)).size(), 2U);

        dialog.choose(FilmForm::AnimatedPng, path("new.png"), 960);
        QVERIFY(dialog.findChild<QMessageBox*>() == nullptr);
        QVERIFY(dialog.isRunning());
    }

    void aRoundsFilmEndsEachStopWithWhatSlowMotionShows() {
        ViewStage stage;
        stage.say(loadedModel());
        stage.say(promptStarted(1));
        stage.say(plainStep(1, 0, "one", 20.0));
        stage.say(smallRound());
        SlowMotionView view(stage.context());
        view.showRound(1, 1);
        const WalkScene* scene = view.scene();
        QVERIFY(scene != nullptr);
        WalkFilm film(stage.theme, scene->walk, 1, 960);
        const auto stops = static_cast<int>(scene->walk.stops.size());
        QCOMPARE(film.frameCount() % stops, 0);
        const int each = film.frameCount() / stops;
        QVERIFY(each > 10);
        const QSize size = film.frame(0).picture.size();
        QCOMPARE(size.width(), 960);
        for (int stop = 0; stop < stops; ++stop) {
            QCOMPARE(film.momentOf(stop * each).first, stop);
            QCOMPARE(film.momentOf(stop * each).second, 0.0);
            QCOMPARE(film.momentOf(stop * each + each - 1).second, 1.0);
            const FilmFrame last = film.frame(stop * each + each - 1);
            QCOMPARE(last.picture.size(), size);
            QCOMPARE(last.milliseconds, int(SlowMotionView::kRestMs));
        }
        QVERIFY(film.frame(0).picture != film.frame(each - 1).picture);
        stage.theme.setReducedMotion(true);
        QCOMPARE(WalkFilm(stage.theme, scene->walk, 1, 960).frameCount(), stops);
        QCOMPARE(run(FilmForm::AnimatedPng,
                     path("round.png"),
                     false,
                     std::make_unique<WalkFilm>(stage.theme, scene->walk, 1, 960)),
                 QString());
        QCOMPARE(played(support::fileBytes(path("round.png"))).size(),
                 static_cast<std::size_t>(stops));
    }

    void aSearchsFilmShowsEveryBestSetInTurn() {
        ViewStage stage;
        saySearch(stage);
        SearchFilm film(stage.theme, stage.store, 960);
        QVERIFY(film.frameCount() > 0);
        const auto sets = static_cast<int>(stage.store.search().bestSets().size());
        QCOMPARE(film.columnsAt(film.frameCount() - 1), sets);
        for (int i = 1; i < film.frameCount(); ++i) {
            QVERIFY(film.trialsAt(i) > film.trialsAt(i - 1));
            QVERIFY(film.columnsAt(i) >= film.columnsAt(i - 1));
        }
        const QImage first = film.frame(0).picture;
        const QImage last = film.frame(film.frameCount() - 1).picture;
        QCOMPARE(first.size(), last.size());
        QVERIFY(SearchFilm(stage.theme, RunStore(), 960).frameCount() == 0);
        if (const QString kept = qEnvironmentVariable("FILM_PICTURES"); !kept.isEmpty()) {
            last.save(kept + QStringLiteral("/search.png"));
            run(FilmForm::AnimatedPng,
                kept + QStringLiteral("/search_film.png"),
                true,
                std::make_unique<SearchFilm>(stage.theme, stage.store, 1280));
        }
    }
};

QTEST_MAIN(FilmTest)
#include "film_test.moc"
