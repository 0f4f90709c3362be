// SPDX-License-Identifier: Apache-2.0
// Shards of rows: what is written is read bit for bit, and nothing that is damaged is read at all.
#include "engine/loading/gguf/quantized_blocks.h"
#include "engine/tuning/rows/row_store.h"
#include "tests/engine/tuning/tuning_rows.h"
#include "tests/support/programs/damaged_bytes.h"
#include "tests/support/temporary_folder.h"

#include <QTest>

#include <cstring>
#include <limits>

using namespace engine;
using tuning_rows::kHidden;
using tuning_rows::kRun;
using tuning_rows::openStore;
using tuning_rows::someRows;
using tuning_rows::StoredText;
using tuning_rows::writeShard;

namespace {

constexpr const char* kShardMagic = "SWTROWS1";

/// Two texts of a few rows; the second has no answer row.
std::vector<StoredText> twoTexts() {
    AnswerRows first = someRows(5, 2, 1);
    first.teacher[1].logProbabilities[3] = -0.0F;
    first.teacher[2].logProbabilities[0] = std::numeric_limits<float>::denorm_min();
    AnswerRows second = someRows(3, 3, 2);
    second.last = kNoToken;
    return {{first, RowSplit::Training, "code"}, {second, RowSplit::Validation, "Grüße \"x\"\n"}};
}

template <typename T> bool areSameBits(const std::vector<T>& one, const std::vector<T>& two) {
    return one.size() == two.size() &&
           std::memcmp(one.data(), two.data(), one.size() * sizeof(T)) == 0;
}

bool areSameBits(const AnswerRows& one, const AnswerRows& two) {
    return areSameBits(one.streams, two.streams) && areSameBits(one.tokens, two.tokens) &&
           areSameBits(one.teacher, two.teacher) && one.promptRows == two.promptRows &&
           one.last == two.last;
}

/// A file with the right hash and this description behind 64 bytes.
void writeDescribed(const std::filesystem::path& path, const std::string& description) {
    auto begun = HashedFileWriter::begin(path, kShardMagic);
    ENGINE_CHECK(begun.hasValue(), "{}", begun.error().message);
    HashedFileWriter writer = std::move(begun).value();
    const std::vector<std::uint8_t> numbers(64, 1);
    ENGINE_CHECK(writer.writeAll(std::span<const std::uint8_t>(numbers)).hasValue(), "no numbers");
    ENGINE_CHECK(writer.finish(description).hasValue(), "no description");
}

} // namespace

class RowStoreTest : public QObject {
    Q_OBJECT

private slots:
    void init();
    void whatIsWrittenIsReadBitForBit();
    void equalShardsHaveEqualHashes();
    void shardsFollowEachOther();
    void shardsThatDoNotFollowAreRefused_data();
    void shardsThatDoNotFollowAreRefused();
    void everyCutIsRefused();
    void everyFlippedByteIsRefused();
    void descriptionsThatDoNotFitAreRefused_data();
    void descriptionsThatDoNotFitAreRefused();
    void aTextBeyondTheFileIsRefusedWhenItIsRead();
    void filesOfAnotherKindAreRefused();
    void aShardThatIsNotFinishedLeavesNothing();
    void hashesAreThoseOfXxh3();
    void theSplitOfATextNeverChanges();
    void textsThatDifferInTheBlanksBehindThemAreOfOneSplit();
    void byTheirBytesTextsAreOfTheSplitThatTheyWereOf();
    void whatIsNeverTrainedOnIsSoByBothRules();
    void ofTenTextsAboutEightOneAndOneAreForEachSplit();
    void aTrainerSeesPromptAnswerAndTheLastToken();

private:
    std::filesystem::path shard(int index = 0) const {
        return RowStore::shardFile(m_folder->path(), index);
    }

    std::optional<test_support::TemporaryFolder> m_folder;
};

void RowStoreTest::init() { m_folder.emplace(); }

void RowStoreTest::whatIsWrittenIsReadBitForBit() {
    const auto texts = twoTexts();
    const std::string hash = writeShard(m_folder->path(), texts, {.next = {1, 7}, .seconds = 2.5});
    const RowStore store = openStore(m_folder->path());
    QCOMPARE(store.shardCount(), 1);
    QCOMPARE(store.hashes(), std::vector<std::string>{hash});
    QCOMPARE(hash.size(), std::size_t{32});
    QVERIFY(store.next() == (CollectPlace{1, 7}));
    QVERIFY(store.isComplete());
    QCOMPARE(store.seconds(), 2.5);
    QCOMPARE(store.hiddenSize(), kHidden);
    QCOMPARE(store.trainingTokens(), std::int64_t{3});
    QCOMPARE(store.answerTokens(), std::int64_t{3});
    QCOMPARE(store.texts(RowSplit::Training).size(), std::size_t{1});
    QCOMPARE(store.texts(RowSplit::Validation).size(), std::size_t{1});
    QVERIFY(store.texts(RowSplit::Test).empty());
    for (const StoredText& text : texts) {
        const TextPlace place = store.texts(text.split).front();
        QCOMPARE(store.facts(place).task, text.task);
        QCOMPARE(store.facts(place).answerRows(), text.rows.answerRows());
        const auto read = store.read(place);
        QVERIFY2(read.hasValue(), read ? "" : read.error().message.c_str());
        QVERIFY(areSameBits(read.value(), text.rows));
        QCOMPARE(store.readTokens(place).value(), text.rows.tokens);
    }
}

void RowStoreTest::equalShardsHaveEqualHashes() {
    const test_support::TemporaryFolder other;
    auto texts = twoTexts();
    const std::string hash = writeShard(m_folder->path(), texts);
    QCOMPARE(writeShard(other.path(), texts), hash);
    QCOMPARE(openStore(other.path()).hash(), openStore(m_folder->path()).hash());
    ++texts[1].rows.streams[4];
    QVERIFY(writeShard(other.path(), texts) != hash);
    QVERIFY(openStore(other.path()).hash() != openStore(m_folder->path()).hash());
}

void RowStoreTest::shardsFollowEachOther() {
    const auto path = m_folder->path();
    const RowStore empty = openStore(path);
    QCOMPARE(empty.shardCount(), 0);
    QVERIFY(empty.next() == CollectPlace());
    QVERIFY(!empty.isComplete());
    writeShard(path, twoTexts(), {.next = {0, 2}, .isLast = false, .seconds = 1.0});
    RowStore store = openStore(path);
    QVERIFY(!store.isComplete());
    writeShard(path, twoTexts(), {.index = 1, .from = {0, 2}, .next = {3, 0}, .seconds = 2.0});
    QVERIFY(store.addNext().hasValue());
    QVERIFY(store.isComplete());
    QCOMPARE(store.seconds(), 3.0);
    QCOMPARE(store.trainingTokens(), std::int64_t{6});
    const auto training = store.texts(RowSplit::Training);
    QCOMPARE(training.size(), std::size_t{2});
    QCOMPARE(training[1].shard, 1);
    m_folder->write(shard(2).filename().string(), "behind the last one nothing is looked at");
    QCOMPARE(openStore(path).shardCount(), 2);
    QCOMPARE(openStore(path).hash(), store.hash());
}

void RowStoreTest::shardsThatDoNotFollowAreRefused_data() {
    QTest::addColumn<int>("prompt");
    QTest::addColumn<int>("hidden");
    QTest::addColumn<std::string>("run");
    QTest::newRow("of another run") << 2 << kHidden << std::string("another run");
    QTest::newRow("from another place") << 3 << kHidden << std::string(kRun);
    QTest::newRow("from the beginning") << 0 << kHidden << std::string(kRun);
    QTest::newRow("of another width") << 2 << kHidden + 1 << std::string(kRun);
}

void RowStoreTest::shardsThatDoNotFollowAreRefused() {
    QFETCH(const int, prompt);
    QFETCH(const int, hidden);
    QFETCH(const std::string, run);
    writeShard(m_folder->path(), twoTexts(), {.next = {0, 2}, .isLast = false});
    writeShard(m_folder->path(),
               {{someRows(4, 1, 3, hidden), RowSplit::Training, ""}},
               {.index = 1, .from = {0, prompt}, .hidden = hidden, .run = run});
    const auto refused = RowStore::open(m_folder->path(), kRun);
    QVERIFY(!refused.hasValue());
    QCOMPARE(refused.error().code, ErrorCode::CorruptFile);
    QVERIFY(refused.error().message.find(shard(1).string()) != std::string::npos);
    QVERIFY(!refused.error().hint.empty());
}

void RowStoreTest::everyCutIsRefused() {
    writeShard(m_folder->path(), twoTexts());
    const std::string whole = tuning_rows::bytesOf(shard());
    test_support::forEachCut(whole, [&](const std::string& cut, std::size_t length) {
        const auto path = m_folder->write("cut.bin", cut);
        const auto refused = RowShard::open(path);
        QVERIFY2(!refused.hasValue(), qPrintable(QString::number(length)));
        QCOMPARE(refused.error().code, ErrorCode::CorruptFile);
        QVERIFY(refused.error().message.find(path.string()) != std::string::npos);
    });
    QVERIFY(RowShard::open(m_folder->write("cut.bin", whole)).hasValue());
    QVERIFY(!RowShard::open(m_folder->write("cut.bin", whole + " ")).hasValue());
}

void RowStoreTest::everyFlippedByteIsRefused() {
    writeShard(m_folder->path(), twoTexts());
    const std::string whole = tuning_rows::bytesOf(shard());
    for (std::size_t byte = 0; byte < whole.size(); ++byte) {
        std::string damaged = whole;
        damaged[byte] = static_cast<char>(damaged[byte] ^ (1 << (byte % 8)));
        m_folder->write(shard().filename().string(), damaged);
        const auto refused = RowStore::open(m_folder->path(), kRun);
        QVERIFY2(!refused.hasValue(), qPrintable(QString::number(byte)));
        QCOMPARE(refused.error().code, ErrorCode::CorruptFile);
        QVERIFY(refused.error().message.find(shard().string()) != std::string::npos);
    }
}

void RowStoreTest::descriptionsThatDoNotFitAreRefused_data() {
    QTest::addColumn<std::string>("description");
    QTest::addColumn<bool>("isGood");
    const auto row = [](const char* name, const std::string& text, bool isGood = false) {
        QTest::newRow(name) << text << isGood;
    };
    const auto described = [](const std::string& text, const std::string& hidden = "3") {
        return R"({"run":"a run","hidden":)" + hidden +
               R"(,"from":[0,0],"next":[0,1],"last":true)" + R"(,"seconds":0,"texts":[)" + text +
               "]}";
    };
    const auto text = [&](const char* offset, const char* rows, const char* prompt) {
        return described(std::string(R"({"offset":)") + offset + R"(,"rows":)" + rows +
                         R"(,"prompt_rows":)" + prompt + R"(,"last":1,"split":0,"task":""})");
    };
    row("good without texts", described(""), true);
    row("good with a text", text("8", "2", "1"), true);
    row("no JSON", "{");
    row("nothing", "");
    row("a list", "[]");
    row("an empty object", "{}");
    row("no width", described("", "0"));
    row("a huge width", described("", "99999999999"));
    row("half a width", described("", "2.5"));
    row("a text elsewhere", text("9", "2", "1"));
    row("a negative place", text("-8", "2", "1"));
    row("no rows", text("8", "0", "0"));
    row("too many rows", text("8", "65537", "1"));
    row("more prompt than rows", text("8", "2", "3"));
    row("no prompt", text("8", "2", "0"));
    row("a text that is a number", described("7"));
    row("another split",
        described(R"({"offset":8,"rows":2,"prompt_rows":1,"last":1,"split":3,"task":""})"));
    row("another token",
        described(R"({"offset":8,"rows":2,"prompt_rows":1,"last":-7,"split":0,"task":""})"));
    row("no places", R"({"run":"a run","hidden":3,"last":true,"seconds":0,"texts":[]})");
    const auto followed = [](const std::string& next) {
        return R"({"run":"a run","hidden":3,"from":[0,0,-1],"next":)" + next +
               R"(,"last":true,"seconds":0,"texts":[]})";
    };
    row("good with a pass that gave rows", followed("[2,1,0]"), true);
    row("a pass before the first one", followed("[2,1,-2]"));
    row("a place of one number", followed("[2]"));
}

void RowStoreTest::descriptionsThatDoNotFitAreRefused() {
    QFETCH(const std::string, description);
    QFETCH(const bool, isGood);
    writeDescribed(shard(), description);
    const auto opened = RowShard::open(shard());
    QCOMPARE(opened.hasValue(), isGood);
    if (!isGood)
        QCOMPARE(opened.error().code, ErrorCode::CorruptFile);
}

void RowStoreTest::aTextBeyondTheFileIsRefusedWhenItIsRead() {
    writeDescribed(shard(),
                   R"({"run":"a run","hidden":3,"from":[0,0],"next":[0,1],"last":true,"seconds":0,)"
                   R"("texts":[{"offset":8,"rows":60000,"prompt_rows":1,"last":1,"split":0,)"
                   R"("task":""}]})");
    const RowStore store = openStore(m_folder->path());
    const TextPlace place = store.texts(RowSplit::Training).front();
    QCOMPARE(store.read(place).error().code, ErrorCode::CorruptFile);
    QCOMPARE(store.readTokens(place).error().code, ErrorCode::CorruptFile);
}

void RowStoreTest::filesOfAnotherKindAreRefused() {
    writeDescribed(shard(), "{}");
    const auto opened = HashedFile::open(shard(), kShardMagic);
    QVERIFY(opened.hasValue());
    QCOMPARE(opened.value().description(), std::string("{}"));
    QCOMPARE(HashedFile::open(shard(), "SWTSTAT1").error().code, ErrorCode::CorruptFile);
    QCOMPARE(RowShard::open(m_folder->path() / "none.bin").error().code, ErrorCode::NotFound);
}

void RowStoreTest::aShardThatIsNotFinishedLeavesNothing() {
    {
        auto writer = RowShardWriter::begin(shard(), kRun, kHidden, {});
        QVERIFY(writer.hasValue());
        QVERIFY(writer.value().isEmpty());
        QVERIFY(writer.value().add(someRows(5, 2, 1), RowSplit::Training, "").hasValue());
        QVERIFY(!writer.value().isEmpty());
        QVERIFY(writer.value().hasRoomFor(kShardRows - 5));
        QVERIFY(!writer.value().hasRoomFor(kShardRows - 4));
    }
    QVERIFY(std::filesystem::is_empty(m_folder->path()));
    AnswerRows wrong = someRows(5, 2, 1);
    wrong.teacher.pop_back();
    auto writer = RowShardWriter::begin(shard(), kRun, kHidden, {});
    QVERIFY_THROWS_EXCEPTION(EngineBug, (void)writer.value().add(wrong, RowSplit::Training, ""));
}

/// The numbers are those of xxhsum -H2; a run must find its files under the hashes of other builds.
void RowStoreTest::hashesAreThoseOfXxh3() {
    QCOMPARE(contentSumOf(""), std::string("99aa06d3014798d86001c324468d497f"));
    QCOMPARE(contentSumOf("abc"), std::string("06b05ab6733a618578af5f94892f3950"));
    ContentSum sum;
    sum.add(std::as_bytes(std::span("a", 1)));
    sum.add(std::as_bytes(std::span("bc", 2)));
    QCOMPARE(sum.hexDigits(), contentSumOf("abc"));
}

/// Whatever was held out from a training stays held out from all later ones.
void RowStoreTest::theSplitOfATextNeverChanges() {
    QCOMPARE(splitOf("prompt 0"), RowSplit::Training);
    QCOMPARE(splitOf("Grüße"), RowSplit::Training);
    QCOMPARE(splitOf("gsm8k/17"), RowSplit::Validation);
    QCOMPARE(splitOf("prompt 9"), RowSplit::Validation);
    QCOMPARE(splitOf(""), RowSplit::Validation);
    QCOMPARE(splitOf("prompt 17"), RowSplit::Test);
    QCOMPARE(splitOf("a"), RowSplit::Test);
}

/// Else what a training is judged by could be what it has learnt.
void RowStoreTest::textsThatDifferInTheBlanksBehindThemAreOfOneSplit() {
    for (int i = 0; i < 100; ++i) {
        const std::string first = "text " + std::to_string(i);
        for (const char* end : {" ", "\n", "\r\n", " \t\n\n ", "\r", "\v\f"})
            QCOMPARE(splitOf(first + end), splitOf(first));
        const RowSplit lines = splitOf(first + "\n\n  and more");
        for (const char* between : {"\r\n\r\n", "\r\r", " \n\t\n", "\n \r\n"})
            QCOMPARE(splitOf(first + between + "  and more"), lines);
    }
    for (const char* blanks : {" ", "\n", "\r\n \r\n"})
        QCOMPARE(splitOf(blanks), splitOf(""));
}

/// A run of an earlier version goes on with the prompts that it had.
void RowStoreTest::byTheirBytesTextsAreOfTheSplitThatTheyWereOf() {
    int moved = 0;
    for (int i = 0; i < 100; ++i) {
        const std::string first = "text " + std::to_string(i);
        QCOMPARE(splitOf(first, SplitRule::ByBytes), splitOf(first));
        moved += splitOf(first + ' ', SplitRule::ByBytes) != splitOf(first) ? 1 : 0;
    }
    QVERIFY(moved > 10);
}

void RowStoreTest::whatIsNeverTrainedOnIsSoByBothRules() {
    int learnt = 0;
    for (int i = 0; i < 1000; ++i) {
        const std::string text = "text " + std::to_string(i) + '\n';
        const bool isLearnt = splitOf(text, SplitRule::ByBytes) == RowSplit::Training ||
                              splitOf(text, SplitRule::ByText) == RowSplit::Training;
        QCOMPARE(isNeverTrainedOn(text), !isLearnt);
        learnt += isLearnt ? 1 : 0;
    }
    QVERIFY(learnt > 900 && learnt < 1000);
}

void RowStoreTest::ofTenTextsAboutEightOneAndOneAreForEachSplit() {
    std::map<RowSplit, int> counts;
    for (int i = 0; i < 10'000; ++i)
        ++counts[splitOf("text " + std::to_string(i))];
    QVERIFY(std::abs(counts[RowSplit::Training] - 8000) < 200);
    QVERIFY(std::abs(counts[RowSplit::Validation] - 1000) < 150);
    QVERIFY(std::abs(counts[RowSplit::Test] - 1000) < 150);
}

void RowStoreTest::aTrainerSeesPromptAnswerAndTheLastToken() {
    AnswerRows rows = someRows(4, 2, 5, 2);
    rows.streams.clear();
    for (const float value : {1.5F, -2.0F, 0.25F, 3.0F, -0.5F, 8.0F, 7.0F, 1.0F})
        rows.streams.push_back(halfFromFloat(value));
    const TrainingRows training(rows, 2);
    const TrainingText text = training.view();
    const std::vector<float> streams(text.streams.begin(), text.streams.end());
    QCOMPARE(streams,
             (std::vector<float>{1.5F, -2.0F, 0.25F, 3.0F, -0.5F, 8.0F, 7.0F, 1.0F, 0, 0}));
    const std::vector<std::uint8_t> answers(text.answers.begin(), text.answers.end());
    QCOMPARE(answers, (std::vector<std::uint8_t>{0, 0, 1, 1, 1}));
    std::vector<TokenId> tokens = rows.tokens;
    tokens.push_back(rows.last);
    QCOMPARE(std::vector<TokenId>(text.tokens.begin(), text.tokens.end()), tokens);
    QCOMPARE(text.teacher.size(), tokens.size());
    // What the model said is known from the last prompt row on, but not behind the last token.
    for (std::size_t row = 1; row < 4; ++row) {
        QVERIFY(text.teacher[row].ids == rows.teacher[row - 1].ids);
        QVERIFY(text.teacher[row].logProbabilities == rows.teacher[row - 1].logProbabilities);
    }
    for (const std::size_t row : {std::size_t{0}, std::size_t{4}}) {
        for (const float logProbability : text.teacher[row].logProbabilities)
            QVERIFY(std::isfinite(logProbability) && teacherPart(logProbability) == 0.0);
    }
}

QTEST_GUILESS_MAIN(RowStoreTest)
#include "row_store_test.moc"
