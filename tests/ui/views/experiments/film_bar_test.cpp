// SPDX-License-Identifier: GPL-3.0-only
#include "engine/experiments/report/film/set_film.h"
#include "tests/support/file_content.h"
#include "tests/ui/support/accessible_names.h"
#include "tests/ui/support/view_stage.h"
#include "ui/export/film_dialog.h"
#include "ui/shell/bars/message_bar.h"
#include "ui/views/experiments/report/film/film_bar.h"
#include "ui/views/experiments/report/film/result_film.h"
#include "ui/views/experiments/report/report_page.h"
#include "ui/views/layer_map/history/column_slider.h"

#include <QFileInfo>
#include <QImage>
#include <QMenu>
#include <QPushButton>
#include <QTemporaryDir>
#include <QTest>

#include <algorithm>
#include <memory>

using namespace engine;
using namespace support;
using namespace ui;

namespace {

constexpr int kChanges = 15;

std::vector<ShardPlan> somePlans(int count = kChanges) {
    std::vector<ShardPlan> plans;
    for (int i = 0; i < count; ++i) {
        ShardPlan plan;
        plan.variant = "swift";
        plan.task = "code";
        plan.attention = {1 + i % 4};
        plan.mlp = {2};
        plan.score = 0.5 + 0.01 * i;
        plan.at = 2.0 * i;
        plans.push_back(plan);
    }
    return plans;
}

RunPicturePtr finishedPicture(int count = kChanges) {
    const std::vector<ShardPlan> plans = somePlans(count);
    std::vector<FilmChange> changes;
    for (const ShardPlan& plan : plans)
        changes.push_back({"Code, SWIFT", 0, &plan, 6});
    ExperimentResult result;
    result.figures.resize(1);
    result.figures[0].id = "film";
    result.figures[0].title = "The set at each change";
    fillFilm(result.figures[0], changes);
    auto picture = std::make_shared<RunPicture>();
    picture->folder = QStringLiteral("/nowhere");
    picture->facts = std::make_shared<RunFacts>();
    picture->result = std::make_shared<ExperimentResult>(result);
    return picture;
}

/// Of a run that has finished no part yet.
RunPicturePtr runningPicture(int sets) {
    auto facts = std::make_shared<RunFacts>();
    facts->recipe.figures.push_back(
        {"film", "The set at each change", "layer_grids", "time", {"set"}});
    facts->layers = 6;
    auto picture = std::make_shared<RunPicture>();
    picture->folder = QStringLiteral("/nowhere");
    picture->facts = std::move(facts);
    picture->progress.plans = somePlans(sets);
    return picture;
}

/// The same at its first set, by three variants in turn; the film is about two of them, of which
/// the second runs on a smaller model.
RunPicturePtr pictureOfThree() {
    auto picture = std::make_shared<RunPicture>(*runningPicture(0));
    auto facts = std::make_shared<RunFacts>(*picture->facts);
    facts->subject = "swift";
    facts->recipe.figures.front().variants = {"swift", "auto"};
    facts->plan.models.resize(2);
    facts->plan.models[0].layers = 6;
    facts->plan.models[1].layers = 4;
    for (const char* name : {"swift", "auto", "lookup"}) {
        RunVariant variant;
        variant.name = variant.base = variant.decoder = name;
        variant.model = variant.name == "auto" ? 1 : 0;
        facts->plan.variants.push_back(variant);
        ShardPlan plan = somePlans(1).front();
        plan.variant = name;
        picture->progress.plans.push_back(plan);
    }
    picture->facts = std::move(facts);
    return picture;
}

} // namespace

/// The sets of a search, one after the other, on the screen.
class FilmBarTest : public QObject {
    Q_OBJECT

    QTemporaryDir m_folder;
    std::unique_ptr<ViewStage> m_stage;
    std::unique_ptr<MessageBar> m_messages;
    std::unique_ptr<ViewMenu> m_menu;
    std::unique_ptr<ReportPage> m_page;

    FilmBar& bar() { return *m_page->findChild<FilmBar*>(); }

    FigureView& figure() { return *m_page->figures().front(); }

    QString path(const char* name) const { return m_folder.filePath(QLatin1String(name)); }

private slots:

    void init() {
        m_stage = std::make_unique<ViewStage>();
        m_messages = std::make_unique<MessageBar>(m_stage->theme);
        m_menu = std::make_unique<ViewMenu>(m_stage->theme, *m_messages, nullptr);
        m_page = std::make_unique<ReportPage>(m_stage->context(), *m_menu);
        m_page->resize(900, 700);
        m_page->setPicture(finishedPicture());
        m_page->show();
        m_stage->settle();
    }

    void cleanup() {
        m_page.reset();
        m_menu.reset();
        m_messages.reset();
        m_stage.reset();
    }

    void theArrowsMoveByOneChangeAndWithShiftByTen() {
        ColumnSlider& slider = bar().slider();
        QCOMPARE(bar().sentence(),
                 QStringLiteral("Change 15 of 15 · 28.0 s · Code, SWIFT: matchness 0.640, 2 of 12 "
                                "sublayers skipped"));
        const QImage last = figure().grab().toImage();
        QTest::keyClick(&slider, Qt::Key_Left);
        QVERIFY(bar().sentence().startsWith(QStringLiteral("Change 14 of 15 · 26.0 s")));
        QCOMPARE(figure().accessibleDescription(), bar().sentence());
        QVERIFY(figure().grab().toImage() != last);
        QTest::keyClick(&slider, Qt::Key_Left, Qt::ShiftModifier);
        QVERIFY(bar().sentence().startsWith(QStringLiteral("Change 4 of 15")));
        QTest::keyClick(&slider, Qt::Key_Home);
        QVERIFY(bar().sentence().startsWith(QStringLiteral("Change 1 of 15 · 0.0 s")));
        QTest::keyClick(&slider, Qt::Key_End);
        QVERIFY(bar().sentence().startsWith(QStringLiteral("Change 15 of 15")));
    }

    void spacePlaysTheFilmAndPausesIt() {
        QTest::keyClick(&bar().slider(), Qt::Key_Space);
        QVERIFY(bar().isPlaying());
        QCOMPARE(bar().slider().value(), 0);
        for (int i = 0; i < FilmBar::kTicksPerChange; ++i)
            m_stage->bridge.tick();
        QCOMPARE(bar().slider().value(), 1);
        QTest::keyClick(&bar().slider(), Qt::Key_Space);
        QVERIFY(!bar().isPlaying());
        for (int i = 0; i < FilmBar::kTicksPerChange; ++i)
            m_stage->bridge.tick();
        QCOMPARE(bar().slider().value(), 1);
        bar().setPlaying(true);
        for (int i = 0; i < FilmBar::kTicksPerChange * kChanges; ++i)
            m_stage->bridge.tick();
        QCOMPARE(bar().slider().value(), kChanges - 1);
        QVERIFY(!bar().isPlaying());
    }

    void withReducedMotionAChangeStaysLonger() {
        m_stage->theme.setReducedMotion(true);
        bar().setPlaying(true);
        for (int i = 0; i < FilmBar::kTicksWithoutMotion - 1; ++i)
            m_stage->bridge.tick();
        QCOMPARE(bar().slider().value(), 0);
        m_stage->bridge.tick();
        QCOMPARE(bar().slider().value(), 1);
    }

    void theTableHasEveryChangeWhicheverIsShown() {
        QTest::keyClick(&bar().slider(), Qt::Key_Home);
        const FigureTable table = figure().table();
        QCOMPARE(table.rows.size(), std::size_t{kChanges});
        QCOMPARE(table.rows[3][2], QStringLiteral("6"));
    }

    void bothWaysToSaveItStandInTheMenuOfTheFigureAndOfTheButton() {
        QMenu menu;
        m_menu->fill(menu, &figure());
        for (const char* text : {"Save as PNG strip...", "Save as animation..."}) {
            const auto has = [text](const QMenu& one) {
                return std::ranges::any_of(one.actions(), [text](const QAction* action) {
                    return action->text() == QLatin1String(text);
                });
            };
            QVERIFY(has(menu));
            QVERIFY(has(*bar().saveButton().menu()));
        }
    }

    void theStripHasAllChangesInOnePicture() {
        bar().saveStrip(path("strip.png"));
        QVERIFY2(bar().outcome().contains(QStringLiteral("strip.png")),
                 qPrintable(bar().outcome()));
        const QImage all(path("strip.png"));
        QVERIFY(!all.isNull());
        m_page->setPicture(finishedPicture(2));
        bar().saveStrip(path("short.png"));
        QVERIFY(all.height() > QImage(path("short.png")).height());
    }

    void aStripThatCannotBeWrittenIsToldInASentence() {
        bar().saveStrip(path("missing/strip.png"));
        QVERIFY2(bar().outcome().contains(QStringLiteral("could not be written")),
                 qPrintable(bar().outcome()));
        QVERIFY(!QFileInfo::exists(path("missing")));
    }

    void theAnimationIsAnAnimatedPng() {
        bar().saveButton().menu()->actions().last()->trigger();
        auto* dialog = m_page->window()->findChild<FilmDialog*>();
        QVERIFY(dialog != nullptr);
        dialog->begin(FilmForm::AnimatedPng, path("film.png"), 960, false);
        for (int i = 0; i < kChanges + 2; ++i)
            m_stage->bridge.tick();
        QVERIFY2(dialog->sentence().contains(QStringLiteral("film.png")),
                 qPrintable(dialog->sentence()));
        QVERIFY(support::fileBytes(path("film.png")).contains("acTL"));
        delete dialog;
    }

    void aFrameOfTheAnimationShowsAnotherSet() {
        ResultFilm film(m_stage->theme, figure().figure(), 960);
        QCOMPARE(film.frameCount(), kChanges);
        const FilmFrame first = film.frame(0);
        const FilmFrame last = film.frame(kChanges - 1);
        QCOMPARE(first.picture.size(), last.picture.size());
        QVERIFY(first.picture != last.picture);
        QVERIFY(last.milliseconds > first.milliseconds);
    }

    void aSearchThatGoesOnIsAFilmThatGrows() {
        m_page->setPicture(runningPicture(2));
        QVERIFY(bar().sentence().startsWith(QStringLiteral("Change 2 of 2 · 2.0 s · Code, SWIFT")));
        const FilmBar* before = &bar();
        m_page->setPicture(runningPicture(5)); // the newest one is seen on
        QVERIFY(&bar() == before);
        QVERIFY(bar().sentence().startsWith(QStringLiteral("Change 5 of 5")));
        QTest::keyClick(&bar().slider(), Qt::Key_Home); // but not by one who looks back
        m_page->setPicture(runningPicture(6));
        QVERIFY(bar().sentence().startsWith(QStringLiteral("Change 1 of 6")));
        m_page->setPicture(finishedPicture());
        QVERIFY(&bar() == before);
        QCOMPARE(bar().slider().maximum(), kChanges - 1);
    }

    void eachVariantThatTheFilmIsAboutIsInItWhileTheRunGoesOn() {
        m_page->setPicture(pictureOfThree());
        const QString words = bar().sentence();
        QVERIFY2(words.contains(QStringLiteral("Code, SWIFT: matchness 0.500, 2 of 12")),
                 qPrintable(words));
        QVERIFY2(words.contains(QStringLiteral("Code, Auto: matchness 0.500, 2 of 8")),
                 qPrintable(words));
        QVERIFY2(!words.contains(QStringLiteral("ook-up")), qPrintable(words));
    }

    /// As in the report, where the recipe names no stage.
    void ofSeveralStagesTheLastOneIsInTheFilm() {
        auto picture = std::make_shared<RunPicture>(*pictureOfThree());
        auto facts = std::make_shared<RunFacts>(*picture->facts);
        facts->recipe.figures.front().variants.clear();
        facts->plan.variants.back().stage = "later";
        picture->facts = std::move(facts);
        m_page->setPicture(picture);
        const QString words = bar().sentence();
        QVERIFY2(words.contains(QStringLiteral("ook-up")), qPrintable(words));
        QVERIFY2(!words.contains(QStringLiteral("SWIFT")), qPrintable(words));
    }

    void aFilmThatGrowsCopiesNoFigureOfTheResult() {
        ExperimentResult known;
        known.isComplete = false;
        known.figures = finishedPicture(2)->result->figures;
        known.figures[0].id = "other";
        auto picture = std::make_shared<RunPicture>(*runningPicture(2));
        picture->result = std::make_shared<ExperimentResult>(known);
        m_page->setPicture(picture);
        const auto isShared = [&] {
            return m_page->figures().size() == 2 &&
                   &m_page->figures()[1]->figure() == picture->result->figures.data();
        };
        QVERIFY(isShared());
        auto more = std::make_shared<RunPicture>(*picture);
        more->progress.plans = somePlans(5);
        m_page->setPicture(more);
        QVERIFY(bar().sentence().startsWith(QStringLiteral("Change 5 of 5")));
        QVERIFY(isShared());
    }

    void everyControlHasAName() { QCOMPARE(namelessWidgets(*m_page), QStringList()); }
};

QTEST_MAIN(FilmBarTest)
#include "film_bar_test.moc"
