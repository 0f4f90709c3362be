// SPDX-License-Identifier: Apache-2.0
// Runs a GGUF file through ik_llama.cpp for `swift-run bench --against-ik`, by the protocol that
// llama_cpp_bench.py describes. set_up_ik_llama_cpp.sh compiles it with that project's headers.
// Its best form for a processor: weights repacked while loading, flash attention, fused products.
#include <algorithm>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <iostream>
#include <llama.h>
#include <string>
#include <vector>

#ifndef IK_VERSION
#define IK_VERSION "unknown"
#endif

namespace {

using Clock = std::chrono::steady_clock;

double msSince(Clock::time_point start) {
    return std::chrono::duration<double, std::milli>(Clock::now() - start).count();
}

std::vector<llama_token> idsOf(const std::string& text) {
    std::vector<llama_token> ids;
    for (std::size_t at = 0; at < text.size();) {
        ids.push_back(static_cast<llama_token>(std::atoi(text.c_str() + at)));
        const std::size_t comma = text.find(',', at);
        at = comma == std::string::npos ? text.size() : comma + 1;
    }
    return ids;
}

class Rival {
public:
    bool open(const char* path, int threads, int context) {
        llama_log_set([](ggml_log_level, const char*, void*) {}, nullptr);
        llama_backend_init();
        llama_model_params model = llama_model_default_params();
        model.repack_tensors = true;
        model.use_mmap = false; // repacking writes into the weights
        model.flash_attn = true;
        m_model = llama_model_load_from_file(path, model);
        if (m_model == nullptr)
            return false;
        llama_context_params params = llama_context_default_params();
        params.n_ctx = static_cast<std::uint32_t>(context);
        params.n_batch = kBatch;
        params.n_threads = static_cast<std::uint32_t>(threads);
        params.n_threads_batch = params.n_threads;
        params.flash_attn = true;
        m_context = llama_init_from_model(m_model, params);
        if (m_context == nullptr)
            return false;
        m_vocabSize = llama_n_vocab(m_model);
        read({1}); // the first pass pays for starting threads
        return true;
    }

    void clear() {
        llama_kv_cache_clear(m_context);
        m_position = 0;
    }

    /// Runs tokens behind those that are cached; the logits of the last one stay.
    bool read(std::vector<llama_token> tokens) {
        for (std::size_t begin = 0; begin < tokens.size(); begin += kBatch) {
            const auto count =
                static_cast<int>(std::min<std::size_t>(kBatch, tokens.size() - begin));
            if (llama_decode(m_context,
                             llama_batch_get_one(tokens.data() + begin, count, m_position, 0)) != 0)
                return false;
            m_position += count;
        }
        return true;
    }

    /// The most probable id, of equals the lowest.
    llama_token best() const {
        const float* logits = llama_get_logits_ith(m_context, -1);
        return static_cast<llama_token>(std::max_element(logits, logits + m_vocabSize) - logits);
    }

private:
    static constexpr int kBatch = 2048;

    llama_model* m_model = nullptr;
    llama_context* m_context = nullptr;
    int m_vocabSize = 0;
    int m_position = 0;
};

class Commands {
public:
    explicit Commands(Rival& rival)
        : m_rival(rival) {}

    std::string run(const std::string& line) {
        const std::size_t space = line.find(' ');
        const std::string name = line.substr(0, space);
        const std::string rest = space == std::string::npos ? "" : line.substr(space + 1);
        if (name == "prompt") {
            m_prompt = idsOf(rest);
            return R"({"ok":true})";
        }
        if (name == "ends") {
            m_ends = idsOf(rest);
            return R"({"ok":true})";
        }
        if (name == "decode")
            return decode(std::atoi(rest.c_str()));
        if (name == "prefill")
            return prefill();
        return R"({"error":"there is no such command"})";
    }

private:
    std::string decode(int count) {
        m_rival.clear();
        const auto start = Clock::now();
        bool isRead = m_rival.read({m_prompt.begin(), m_prompt.end() - 1});
        const double promptMs = msSince(start);
        const auto middle = Clock::now();
        std::string tokens;
        llama_token last = m_prompt.back();
        for (int made = 0; made < count && isRead; ++made) {
            isRead = m_rival.read({last});
            last = m_rival.best();
            tokens += (made > 0 ? "," : "") + std::to_string(last);
            if (std::find(m_ends.begin(), m_ends.end(), last) != m_ends.end())
                break;
        }
        const double decodeMs = msSince(middle);
        if (!isRead)
            return R"({"error":"a pass failed"})";
        return R"({"tokens":[)" + tokens + R"(],"prompt_ms":)" + std::to_string(promptMs) +
               R"(,"decode_ms":)" + std::to_string(decodeMs) + "}";
    }

    std::string prefill() {
        m_rival.clear();
        const auto start = Clock::now();
        if (!m_rival.read(m_prompt))
            return R"({"error":"a pass failed"})";
        return R"({"ms":)" + std::to_string(msSince(start)) + "}";
    }

    Rival& m_rival;
    std::vector<llama_token> m_prompt;
    std::vector<llama_token> m_ends;
};

} // namespace

int main(int count, char** words) {
    Rival rival;
    if (count != 4 || !rival.open(words[1], std::atoi(words[2]), std::atoi(words[3]))) {
        std::puts(R"({"error":"the model cannot be loaded"})");
        return 0;
    }
    std::cout << R"({"ready":true,"version":")" IK_VERSION R"(","threads":)" << words[2] << "}\n"
              << std::flush;
    Commands commands(rival);
    for (std::string line; std::getline(std::cin, line) && line != "exit";)
        std::cout << commands.run(line) << "\n" << std::flush;
    std::_Exit(0); // nothing is to be saved
}
