// SPDX-License-Identifier: Apache-2.0
// What variables of the environment say.
#include "app/program_paths.h"

#include <QTest>

#include <clocale>

namespace {

constexpr const char* kVariable = "SWIFT_STUDIO_PACKED_CACHE_GB";

} // namespace

class ProgramPathsTest : public QObject {
    Q_OBJECT

private slots:
    void aLimitIsANumberOfGigabytes_data();
    void aLimitIsANumberOfGigabytes();
    void aLimitHasAPointInEveryLanguage();
};

void ProgramPathsTest::aLimitIsANumberOfGigabytes_data() {
    QTest::addColumn<QByteArray>("typed");
    QTest::addColumn<qulonglong>("bytes");
    QTest::newRow("none") << QByteArray("0") << 0ULL;
    QTest::newRow("a part") << QByteArray("0.5") << 500'000'000ULL;
    QTest::newRow("many") << QByteArray("100") << 100'000'000'000ULL;
    const qulonglong usual = engine::PackedCacheOptions().limitBytes;
    for (const char* none : {"", "0x1", " 1", "1 GB", "-1", "nan", "inf", "1e10", "0,5"})
        QTest::addRow("no number: \"%s\"", none) << QByteArray(none) << usual;
}

void ProgramPathsTest::aLimitIsANumberOfGigabytes() {
    QFETCH(QByteArray, typed);
    QFETCH(qulonglong, bytes);
    qputenv(kVariable, typed);
    QCOMPARE(qulonglong{app::packedCacheOptions().limitBytes}, bytes);
}

/// The window speaks the language of the system.
void ProgramPathsTest::aLimitHasAPointInEveryLanguage() {
    for (const char* language : {"de_DE.UTF-8", "fr_FR.UTF-8"}) { // as far as they are there
        std::setlocale(LC_NUMERIC, language);
        qputenv(kVariable, "0.5");
        const auto limit = app::packedCacheOptions().limitBytes;
        std::setlocale(LC_NUMERIC, "C");
        QCOMPARE(qulonglong{limit}, 500'000'000ULL);
    }
}

QTEST_GUILESS_MAIN(ProgramPathsTest)
#include "program_paths_test.moc"
