// SPDX-License-Identifier: Apache-2.0
#pragma once

#include "engine/metrics/decode_metrics_members.h"
#include "engine/session/engine_event.h"

// The members of every record by their names in JSON. visitFields(visit, record) calls
// visit(name, member) for each; writing and reading are two kinds of `visit`.

namespace engine {

template <typename V> void visitFields(V& visit, Error& r) {
    visit("code", r.code);
    visit("message", r.message);
    visit("hint", r.hint);
}

template <typename V> void visitFields(V& visit, SkipSet& r) {
    visit("attention", r.attention);
    visit("mlp", r.mlp);
}

template <typename V> void visitFields(V& visit, PlanOutline& r) {
    visit("layers", r.layerCount);
    visit("skipped", r.skipped);
    visit("exit_after", r.exitAfterLayer);
}

template <typename V> void visitFields(V& visit, ModelFacts& r) {
    visit("name", r.name);
    visit("architecture", r.architecture);
    visit("layers", r.layerCount);
    visit("silent_copies", r.silentCopies);
    visit("hidden_size", r.hiddenSize);
    visit("mlp_size", r.mlpSize);
    visit("heads", r.headCount);
    visit("kv_heads", r.kvHeadCount);
    visit("head_size", r.headDim);
    visit("vocab_size", r.vocabSize);
    visit("model_context_length", r.modelContextLength);
    visit("context_length", r.contextLength);
    visit("backend", r.backend);
    visit("precision", r.precision);
    visit("arithmetic", r.arithmetic);
    visit("instruction_set", r.instructionSet);
    visit("device", r.device);
    visit("kv_type", r.kvType);
    visit("weight_types", r.weightTypes);
    visit("parameters", r.parameterCount);
    visit("file_bytes", r.fileBytes);
    visit("weight_bytes", r.weightBytes);
    visit("tokenizer", r.tokenizer);
    visit("chat_template", r.chatTemplate);
    visit("licence", r.licence);
    visit("tuned_exit", r.tunedExit);
    visit("tuned_masks", r.tunedMasks);
}

template <typename V> void visitFields(V& visit, MemoryFacts& r) {
    visit("weight_bytes", r.weightBytes);
    visit("cache_bytes", r.cacheBytes);
    visit("scratch_bytes", r.scratchBytes);
    visit("pass_bytes", r.passBytes);
    visit("total_bytes", r.totalBytes);
    visit("free_bytes", r.freeBytes);
    visit("of_device", r.isOfDevice);
    visit("copy_bytes", r.copyBytes);
}

template <typename V> void visitFields(V& visit, SettingNeed& r) {
    visit("setting", r.setting);
    visit("value", r.value);
}

template <typename V> void visitFields(V& visit, SettingInfo& r) {
    visit("name", r.name);
    visit("title", r.title);
    visit("kind", r.kind);
    visit("initial", r.initial);
    visit("minimum", r.minimum);
    visit("maximum", r.maximum);
    visit("choices", r.choices);
    visit("unit", r.unit);
    visit("meaning", r.meaning);
    visit("effect", r.effect);
    visit("group", r.group);
    visit("needs", r.needs);
}

template <typename V> void visitFields(V& visit, SettingProfile& r) {
    visit("name", r.name);
    visit("meaning", r.meaning);
    visit("values", r.values);
}

template <typename V> void visitFields(V& visit, DecoderInfo& r) {
    visit("name", r.name);
    visit("title", r.title);
    visit("summary", r.summary);
    visit("source", r.source);
    visit("settings", r.settings);
    visit("profiles", r.profiles);
    visit("locked_layers", r.lockedLayers);
    visit("explanation", r.explanation);
    visit("has_draft_ratio", r.hasDraftRatio);
}

template <typename V> void visitFields(V& visit, Grammar& r) {
    visit("kind", r.kind);
    visit("text", r.text);
}

template <typename V> void visitFields(V& visit, LogitBias& r) {
    visit("token", r.token);
    visit("value", r.value);
}

template <typename V> void visitFields(V& visit, SamplingOptions& r) {
    visit("temperature", r.temperature);
    visit("top_k", r.topK);
    visit("top_p", r.topP);
    visit("min_p", r.minP);
    visit("typical_p", r.typicalP);
    visit("seed", r.seed);
    visit("repetition_penalty", r.repetitionPenalty);
    visit("repetition_window", r.repetitionWindow);
    visit("presence_penalty", r.presencePenalty);
    visit("frequency_penalty", r.frequencyPenalty);
    visit("logit_bias", r.logitBias);
    visit("grammar", r.grammar);
}

template <typename V> void visitFields(V& visit, TokenFact& r) {
    visit("origin", r.origin);
    visit("rank", r.rank);
    visit("draft_probability", r.draftProbability);
    visit("target_probability", r.targetProbability);
}

template <typename V> void visitFields(V& visit, TokenChoice& r) {
    visit("id", r.id);
    visit("text", r.text);
    visit("probability", r.probability);
}

template <typename V> void visitFields(V& visit, EmittedToken& r) {
    visit("id", r.id);
    visit("text", r.text);
    visitFields(visit, r.fact);
    visit("choices", r.choices);
}

template <typename V> void visitFields(V& visit, DraftNode& r) {
    visit("token", r.token);
    visit("parent", r.parent);
    visit("rank", r.rank);
    visit("probability", r.probability);
}

template <typename V> void visitFields(V& visit, DraftEnd& r) {
    visit("reason", r.reason);
    visit("value", r.value);
    visit("limit", r.limit);
}

template <typename V> void visitFields(V& visit, SideRow& r) {
    visit("token", r.token);
    visit("parent", r.parent);
}

template <typename V> void visitFields(V& visit, ShownToken& r) {
    visit("token", r.id);
    visit("text", r.text);
}

template <typename V> void visitFields(V& visit, ShownTable& r) {
    visit("name", r.name);
    visit("title", r.title);
    visit("columns", r.columns);
    visit("rows", r.rows);
    visit("chosen_row", r.chosenRow);
}

template <typename V> void visitFields(V& visit, GenerationMetrics& r) {
    visit("prompt_tokens", r.promptTokens);
    visit("output_tokens", r.outputTokens);
    visit("steps", r.steps);
    visit("prompt_ms", r.promptMs);
    visit("first_token_ms", r.firstTokenMs);
    visit("decode_ms", r.decodeMs);
}

template <typename V> void visitFields(V& visit, DecodeMetrics& r) { visitMembers(visit, r); }

template <typename V> void visitFields(V& visit, ModelLoadProgress& r) {
    visit("path", r.path);
    visit("stage", r.stage);
    visit("part", r.part);
}

template <typename V> void visitFields(V& visit, ModelLoaded& r) {
    visit("path", r.path);
    visit("model", r.model);
    visit("remarks", r.notes);
    visit("decoders", r.decoders);
    visit("refused_modules", r.refusedModules);
    visit("fingerprint", r.fingerprint);
}

template <typename V> void visitFields(V&, ModelUnloaded&) {}

template <typename V> void visitFields(V& visit, ModelInspected& r) {
    visit("request_id", r.requestId);
    visit("path", r.path);
    visit("model", r.model);
    visit("memory", r.memory);
    visit("remarks", r.notes);
}

template <typename V> void visitFields(V& visit, TokensCounted& r) {
    visit("request_id", r.requestId);
    visit("total", r.total);
    visit("per_message", r.perMessage);
    visit("context_length", r.contextLength);
}

template <typename V> void visitFields(V& visit, TaskSummary& r) {
    visit("name", r.name);
    visit("prompts", r.prompts);
    visit("met_at", r.metAt);
}

template <typename V> void visitFields(V& visit, TasksListed& r) {
    visit("request_id", r.requestId);
    visit("tasks", r.tasks);
    visit("note", r.note);
}

template <typename V> void visitFields(V& visit, NamedSkipSet& r) {
    visit("task", r.task);
    visit("set", r.stored.set);
    visit("score", r.stored.score);
    visit("skip_ratio", r.stored.skipRatio);
    visit("decoder", r.stored.decoder);
    visit("saved_at", r.stored.savedAt);
    visit("trials", r.stored.trials);
}

template <typename V> void visitFields(V& visit, ModelSkipSets& r) {
    visit("fingerprint", r.fingerprint);
    visit("model", r.model);
    visit("layers", r.layerCount);
    visit("sets", r.sets);
}

template <typename V> void visitFields(V& visit, SkipSetsListed& r) {
    visit("request_id", r.requestId);
    visit("own", r.own);
    visit("others", r.others);
    visit("problems", r.problems);
    visit("taken", r.taken);
    visit("lost", r.lost);
    visit("left_out", r.leftOut);
    visit("kept", r.kept);
    visit("note", r.note);
}

template <typename V> void visitFields(V& visit, LensCell& r) {
    visit("ids", r.ids);
    visit("probabilities", r.probabilities);
    visit("rank", r.rank);
    visit("probability", r.probability);
}

template <typename V> void visitFields(V& visit, LensToken& r) {
    visit("token", r.token);
    visit("cells", r.cells);
}

template <typename V> void visitFields(V& visit, LensTokensRead& r) {
    visit("request_id", r.requestId);
    visit("prompt_id", r.promptId);
    visit("first", r.first);
    visit("tokens", r.tokens);
    visit("texts", r.texts);
}

template <typename V> void visitFields(V& visit, LensProgress& r) {
    visit("request_id", r.requestId);
    visit("part", r.part);
}

template <typename V> void visitFields(V& visit, LensFinished& r) {
    visit("request_id", r.requestId);
    visit("stopped", r.isStopped);
    visit("influence", r.influence);
    visit("seconds", r.seconds);
}

template <typename V> void visitFields(V& visit, HeadAttention& r) {
    visit("weights", r.weights);
    visit("entropy", r.entropy);
}

template <typename V> void visitFields(V& visit, AttentionRead& r) {
    visit("request_id", r.requestId);
    visit("prompt_id", r.promptId);
    visit("token", r.token);
    visit("layer", r.layer);
    visit("heads", r.heads);
    visit("texts", r.texts);
    visit("prompt_tokens", r.promptTokens);
}

template <typename V> void visitFields(V& visit, DecoderChosen& r) {
    visit("info", r.info);
    visit("settings", r.settings);
}

template <typename V> void visitFields(V& visit, SettingsChanged& r) {
    visit("settings", r.settings);
}

template <typename V> void visitFields(V& visit, SamplingChanged& r) {
    visit("sampling", r.sampling);
}

template <typename V> void visitFields(V& visit, PromptStarted& r) {
    visit("prompt_id", r.promptId);
    visit("task", r.task);
    visit("prompt_tokens", r.promptTokens);
    visit("reused_tokens", r.reusedTokens);
    visit("question", r.question);
    visit("continues_last", r.continuesLast);
    visit("first_step", r.firstStep);
    visit("begun_text", r.begunText);
}

template <typename V> void visitFields(V& visit, TaskRecognised& r) {
    visit("prompt_id", r.promptId);
    visit("task", r.task);
    visit("is_new", r.isNew);
    visit("likeness", r.likeness);
    visit("other_task", r.otherTask);
    visit("other_likeness", r.otherLikeness);
}

template <typename V> void visitFields(V& visit, SpanStarted& r) {
    visit("span", r.span);
    visit("cause", r.cause);
}

template <typename V> void visitFields(V& visit, PromptProgress& r) {
    visit("prompt_id", r.promptId);
    visit("part", r.part);
}

template <typename V> void visitFields(V& visit, StepFinished& r) {
    visit("prompt_id", r.promptId);
    visit("step", r.step);
    visit("text", r.text);
    visit("tokens", r.tokens);
    visit("draft", r.draft);
    visit("draft_texts", r.draftTexts);
    visit("row_choices", r.rowChoices);
    visit("path", r.path);
    visit("draft_end", r.draftEnd);
    visit("confidences", r.confidences);
    visit("sides", r.sides);
    visit("side_texts", r.sideTexts);
    visit("tables", r.tables);
    visit("plan_id", r.planId);
    visit("is_baseline", r.isBaseline);
    visit("verified_rows", r.verifiedRows);
    visit("draft_layers", r.draftLayers);
    visit("verify_layers", r.verifyLayers);
    visit("drafter", r.drafter);
    visit("expected_tokens", r.expectedTokens);
    visit("expected_cost", r.expectedCost);
    visit("refused_drafter", r.refusedDrafter);
    visit("refused_tokens", r.refusedTokens);
    visit("refused_cost", r.refusedCost);
    visit("plain_ms", r.plainMs);
    visit("is_probe", r.isProbe);
    visit("draft_ms", r.draftMs);
    visit("verify_ms", r.verifyMs);
    visit("search_ms", r.searchMs);
    visit("other_ms", r.otherMs);
    visit("tokens_per_second", r.tokensPerSecond);
}

template <typename V> void visitFields(V& visit, TextReleased& r) {
    visit("prompt_id", r.promptId);
    visit("text", r.text);
}

template <typename V> void visitFields(V& visit, TrialFinished& r) {
    visit("kind", r.trialKind);
    visit("counts", r.counts);
    visit("index", r.index);
    visit("score", r.score);
    visit("best", r.best);
    visit("is_best", r.isBest);
    visit("plan", r.plan);
    visit("ticks", r.ticks);
    visit("window", r.window);
    visit("guesses", r.guesses);
    visit("suggest_ms", r.suggestMs);
    visit("score_ms", r.scoreMs);
    visit("task", r.task);
    visit("beside", r.isBeside);
}

template <typename V> void visitFields(V& visit, PlanChanged& r) {
    visit("plan_id", r.planId);
    visit("plan", r.plan);
    visit("skip_ratio", r.skipRatio);
    visit("reason", r.reason);
    visit("asked_ratio", r.askedRatio);
    visit("ratio_reason", r.ratioReason);
    visit("task", r.task);
    visit("beside", r.isBeside);
}

template <typename V> void visitFields(V& visit, DraftForecast& r) {
    visit("matchness", r.matchness);
    visit("draft_cost", r.draftCost);
    visit("verify_cost", r.verifyCost);
    visit("draft_steps", r.draftSteps);
    visit("tokens_per_round", r.tokensPerRound);
    visit("tokens", r.tokens);
    visit("search_share", r.searchShare);
}

template <typename V> void visitFields(V& visit, ForecastMade& r) { visit("forecast", r.forecast); }

template <typename V> void visitFields(V& visit, PhaseChanged& r) {
    visit("phase", r.phase);
    visit("task", r.task);
}

template <typename V> void visitFields(V& visit, Note& r) { visit("text", r.text); }

template <typename V> void visitFields(V& visit, Statistics& r) {
    visit("context_used", r.contextUsed);
    visit("context_length", r.contextLength);
    visit("prompts_finished", r.promptsFinished);
    visit("baseline_step_ms", r.baselineStepMs);
    visit("total", r.total);
}

template <typename V> void visitFields(V& visit, PromptFinished& r) {
    visit("prompt_id", r.promptId);
    visit("tokens", r.tokens);
    visit("text", r.text);
    visit("finish_reason", r.reason);
    visit("inside_grammar", r.isInsideGrammar);
    visit("generation", r.generation);
    visit("decoding", r.decoding);
}

template <typename V> void visitFields(V& visit, EngineFailed& r) {
    visit("error", r.error);
    visit("task", r.task);
    visit("prompt_id", r.promptId);
    visit("request_id", r.requestId);
    visit("prompt_tokens", r.promptTokens);
    visit("context_length", r.contextLength);
    visit("per_message", r.perMessage);
}

template <typename V> void visitFields(V& visit, RecordingStarted& r) { visit("path", r.path); }

template <typename V> void visitFields(V& visit, RecordingStopped& r) {
    visit("path", r.path);
    visit("error", r.error);
}

} // namespace engine
