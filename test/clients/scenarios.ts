// The official suite's scenarios, classified: those that a server with tools, prompts and resources of other servers, over its
// standard input, must pass, and those that are about features it does not have. An unlisted scenario fails the test.

export type Revision = "2025-11-25" | "2026-07-28";

export interface Absent {
  readonly why: string;
  /** The message of every failed check of the scenario, if that shows the reason. */
  readonly says?: RegExp;
}

const TOOL: Absent = {
  why: "it calls a tool of the suite's own example server, and is denied as `unknown_tool`",
  says: /not found|Missing .* content|No .* (?:content found|notifications received)/,
};
const ASKED: Absent = {
  why: "the client is asked only on behalf of an MCP server, and the suite's own example tools are not there",
  says: /did not request|InputRequiredResult|input_required/,
};
const TASK: Absent = { why: "the extension for tasks is not served, nor its example's tools" };
const LISTS: Absent = { why: "resources are those of other servers, and there are none here" };
const RESOURCE: Absent = {
  why: "resources are those of other servers, by SERVER+URI: the suite's own example resources are not there",
  says: /no such resource/,
};
const PROMPT: Absent = { why: "prompts are the agent's skills: the suite's own example prompts are not there" };
const HTTP: Absent = { why: "it is about HTTP, which is the bridge's here and not the server's" };
const HEADER: Absent = { why: "no tool needs its arguments in HTTP headers", says: /x-mcp-header/ };

/** Every check of these passes. */
export const PASSED: Readonly<Record<Revision, readonly string[]>> = {
  "2025-11-25": [
    "server-initialize",
    "ping",
    "completion-complete",
    "logging-set-level",
    "tools-list",
    "tools-call-error",
    "server-sse-multiple-streams",
    "server-session-lifecycle",
    "dns-rebinding-protection",
  ],
  "2026-07-28": [
    "server-stateless",
    "completion-complete",
    "tools-list",
    "tools-call-error",
    "caching",
    "server-sse-multiple-streams",
    "dns-rebinding-protection",
    "input-required-result-unsupported-methods",
    "input-required-result-ignore-extra-params",
  ],
};

/** Checks inside of those, for the same reasons. */
export const ABSENT_CHECKS: Readonly<Record<string, Absent>> = {
  // There is no `test_missing_capability` to call, and no `test_trigger_tool_change`.
  "sep-2575-server-rejects-undeclared-capability": ASKED,
  "sep-2575-missing-capability-http-400": ASKED,
  "sep-2575-server-sends-tools-list-changed-on-subscription": TOOL,
  "sep-2575-server-sends-prompts-list-changed-on-subscription": PROMPT,
  "sep-2575-http-server-header-mismatch-400": HTTP,
  "sep-2549-prompts-list-caching-hints": PROMPT,
  "sep-2549-resources-list-caching-hints": LISTS,
  "sep-2549-resources-templates-list-caching-hints": LISTS,
  "sep-2549-resources-read-caching-hints": LISTS,
};

const ABSENT_IN_BOTH: Readonly<Record<string, Absent>> = {
  "prompts-get-embedded-resource": PROMPT,
  "prompts-get-simple": PROMPT,
  "prompts-get-with-args": PROMPT,
  "prompts-get-with-image": PROMPT,
  "prompts-list": PROMPT,
  "resources-list": LISTS,
  "resources-read-binary": RESOURCE,
  "resources-read-text": RESOURCE,
  "resources-templates-read": RESOURCE,
  "json-schema-2020-12": TOOL,
  "tools-call-audio": TOOL,
  "tools-call-embedded-resource": TOOL,
  "tools-call-image": TOOL,
  "tools-call-mixed-content": TOOL,
  // Its checks pass, since a denial is a text, too: that shows nothing.
  "tools-call-simple-text": TOOL,
  "tools-call-with-progress": TOOL,
};

export const ABSENT: Readonly<Record<Revision, Readonly<Record<string, Absent>>>> = {
  "2025-11-25": {
    ...ABSENT_IN_BOTH,
    "elicitation-sep1034-defaults": ASKED,
    "elicitation-sep1330-enums": ASKED,
    "resources-subscribe": RESOURCE,
    "resources-unsubscribe": RESOURCE,
    "server-sse-polling": HTTP,
    "tools-call-elicitation": ASKED,
    "tools-call-sampling": ASKED,
    "tools-call-with-logging": { ...TOOL, says: /No log notifications received/ },
  },
  "2026-07-28": {
    ...ABSENT_IN_BOTH,
    "http-custom-header-server-validation": HEADER,
    "http-header-validation": HTTP,
    "input-required-result-basic-elicitation": ASKED,
    "input-required-result-basic-list-roots": ASKED,
    "input-required-result-basic-sampling": ASKED,
    "input-required-result-capability-check": ASKED,
    "input-required-result-missing-input-response": ASKED,
    "input-required-result-multi-round": ASKED,
    "input-required-result-multiple-input-requests": ASKED,
    "input-required-result-non-tool-request": { ...PROMPT, says: /no prompt of this name/ },
    "input-required-result-request-state": ASKED,
    "input-required-result-result-type": ASKED,
    "input-required-result-tampered-state": ASKED,
    "input-required-result-validate-input": ASKED,
    "sep-2164-resource-not-found": LISTS,
    "tasks-capability-negotiation": TASK,
    "tasks-dispatch-and-envelope": TASK,
    "tasks-lifecycle": TASK,
    "tasks-mrtr-composition": TASK,
    "tasks-mrtr-input": TASK,
    "tasks-request-headers": TASK,
    "tasks-request-state-removal": TASK,
    "tasks-required-task-error": TASK,
    "tasks-status-notifications": TASK,
    "tasks-wire-fields": TASK,
  },
};
