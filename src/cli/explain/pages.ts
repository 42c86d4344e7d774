// A page for every code: what it means, why it happens, what to do. The reference is generated from here.
import type { DenialCode } from "../../core/authority/decision.ts";
import type { DiagnosticCode } from "../../core/notation/diagnostic.ts";

export interface Page {
  readonly means: string;
  readonly doThis: string;
  readonly example: string;
}

export const DENIALS: Readonly<Record<DenialCode, Page>> = {
  invalid_input: {
    means:
      "The arguments do not match the tool's schema, or the request cannot be parsed: invalid characters in a host, a NUL in a path, a method without a verb.",
    doThis: "Correct the arguments. No budget was charged.",
    example: "ambit can scout net.get http://0x7f.1/",
  },
  unknown_tool: {
    means: "No tool has this name, or the agent may not know of it; the answer is the same in both cases.",
    doThis: "Check the name. A third-party tool must be registered and granted with tool.invoke.",
    example: "ambit can scout tool.invoke send_money '{}'",
  },
  frozen: {
    means: "A person ran `ambit freeze`: every call of every agent is denied, and running programs were ended.",
    doThis: "`ambit thaw` ends the freeze. Nothing else does.",
    example: "ambit thaw",
  },
  not_found: {
    means: "A tool was asked for a file or folder that does not exist. The call was allowed.",
    doThis: "Check the path; paths are relative to the folder of the session.",
    example: `ambit call scout fs_list '{"path": "."}'`,
  },
  capability_absent: {
    means: "No grant names this verb.",
    doThis: "If the agent should be allowed to do this, add the smallest grant, which the decision shows.",
    example: "ambit can scout net.post https://api.github.com/x",
  },
  scope_violation: {
    means: "A grant names this verb, but its scope does not cover the request.",
    doThis:
      "Look at the nearest grant and the axis on which it does not match. Widen that axis, or add the smallest grant.",
    example: "ambit can scout fs.read /etc/passwd",
  },
  self_modification: {
    means:
      "An agent tried to change its own grants, to delete itself, or to change a protected path: policy files of agents, and files that make git, shells and editors run programs. No grant allows that.",
    doThis:
      "Edit the record or the file yourself, or let another agent that has agent.grant for this one edit the record.",
    example: "ambit can scout agent.grant scout records.read",
  },
  exceeds_grantor_authority: {
    means:
      "An agent tried to delegate more than it may delegate. The decision shows a request that the receiver could make and the giver could not.",
    doThis: "Delegate less: every pattern, root and port must be within the grants that the giver may pass on.",
    example: "ambit can scout agent.grant aide 'net.get{hosts=[*]}'",
  },
  expired: {
    means: "A grant covers the request, but it has expired, or its delegation is not valid now.",
    doThis: "Renew the grant with a new `expires`.",
    example: "expires: 2026-12-01T00:00:00Z",
  },
  revoked: {
    means: "The grant, or a grant it was delegated from, was revoked.",
    doThis: "Ask the agent or person who delegated it. Revoking a delegation also revokes those derived from it.",
    example: "ambit explain generation_stale",
  },
  generation_stale: {
    means: "The grant was issued for another generation; starting a new generation ends all grants issued before it.",
    doThis: "Have the grant issued again.",
    example: "valid_for_generation = { only = [7] }",
  },
  approval_required: {
    means:
      "The grant covers the request but requires approval. For a change written by a program: the file is one that needs approval, the record or configuration has `land: ask`, or the command ran with `--review`.",
    doThis:
      "Approve it with `ambit approve`. The same call then succeeds once. Changes of programs are listed by `ambit changes list`.",
    example: "net.post{hosts=[api.github.com],ask}",
  },
  approval_refused: {
    means: "A person refused this call.",
    doThis: "Do not retry the call; see the reason of the refusal. `ambit approvals reopen` withdraws a refusal.",
    example: "ambit explain approval_required",
  },
  budget_exhausted: {
    means:
      "A grant covers the request, but its budget, or the budget of a grant it was delegated from, is used up; or a limit of ambit is reached, such as requests at once or the size of a message.",
    doThis: "Wait until the rate limit or the running requests allow it, or raise the budget in the record.",
    example: "net.get{hosts=[*],calls=5,rate=10/min}",
  },
  address_refused: {
    means:
      "The host is granted, but it resolves to a private or special address, or is such an address; or ambit itself listens there; or it is the host of a model that `ambit run` reaches through its relay alone.",
    doThis:
      "If a private address is intended, allow this host for this range only: `private: [db.internal=10.1.0.0/16]`. A model is used through the relay, by `model.use`.",
    example: "ambit can scout net.get http://169.254.169.254/",
  },
  secret_refused: {
    means:
      "The secret cannot be used here: it is not granted, not bound to this tool and host, locked, or used up. Or a write would replace a secret in a file by its redaction mark.",
    doThis:
      "Grant secret.use for the name, and bind the secret to the tool and the host. Edit a file with a secret by `fs_edit`, or yourself.",
    example: "secret.use{names=[github],hosts=[api.github.com]}",
  },
  sandbox_unavailable: {
    means: "The kernel lacks a feature that the sandbox needs, so the program was not run.",
    doThis:
      "Run `ambit doctor` and install what is missing. Programs run without a sandbox only if the user's own configuration has `bare: true`.",
    example: "apt-get install bubblewrap",
  },
  not_available: {
    means:
      "Something is missing that no grant can provide: a tool is not configured, a host name cannot be resolved, a server does not respond, a file does not exist.",
    doThis: "Read the message beside the code. Configure what is missing, or try again later.",
    example: "ambit explain unknown_tool",
  },
  audit_unavailable: {
    means: "The decision could not be logged, so the call was not executed.",
    doThis: "Run `ambit daemon status`. Free disk space, or repair the store or its second copy.",
    example: "ambit explain budget_exhausted",
  },
  pin_changed: {
    means:
      "A tool of an MCP server, or the package that its server is from, differs from what was pinned. It was not run.",
    doThis:
      "`ambit mcp show NAME` shows what changed and `ambit mcp pin NAME` accepts it. For a package, `ambit mcp fetch NAME` stores the pinned version again and `ambit mcp update NAME` pins another one.",
    example: "ambit mcp list",
  },
  unsupported_command: {
    means:
      "The command uses syntax that cannot be checked before it runs: substitutions, background jobs, here-documents.",
    doThis: "Use plain commands with literal arguments.",
    example: "ambit can scout proc.exec -- git status",
  },
  untrusted_policy: {
    means: "The grants come from a project that is not trusted.",
    doThis: "Review the project's agents and trust it with `ambit trust`.",
    example: "ambit trust",
  },
  draft_conflict: {
    means:
      "A program changed a file that was also changed in the project while the program ran. Nothing was overwritten: the program's changes stay a draft.",
    doThis:
      "Compare both with `ambit changes show`, then copy what you want and discard the draft, or let the agent run the command again.",
    example: "ambit changes list",
  },
  not_landed: {
    means:
      "The changes of a program could not be applied to the project: a special file, a git state that is not imported, too many drafts, or a file system error. They stay in a draft; the project is unchanged.",
    doThis: "Read the reason with `ambit changes show`, then land or discard the draft.",
    example: "ambit changes list",
  },
  untrusted_content: {
    means:
      "A grant with `clean` covers the request, but only in sessions that have read nothing untrusted. This session has read untrusted content: a network response, a result of a third-party tool, output of a program, or a file.",
    doThis:
      "Open a new session and make the call before it reads anything untrusted. `ambit why` names what was read. No grant is proposed, because it would remove this safeguard.",
    example: "net.post{hosts=[api.github.com],clean}",
  },
  unknown_user: {
    means:
      "The session's user is not known here: the user's record was deleted, its `workspaces` do not name this workspace, or the configuration has `users: required` and no user, or no user with a record, was named.",
    doThis:
      "Create the user's record, users/NAME.md beside your own config.yml, and open a session for that name; if the record has `workspaces`, add the folder to it. A session continues once a deleted user record is restored.",
    example: "users: required",
  },
  approval_unavailable: {
    means:
      "The grant covers the request and requires approval, but no approval was requested: too many approvals of this agent are pending, the arguments are too long to show to a person, or the store of approvals did not respond. No approval is pending.",
    doThis: "Answer the pending approvals or shorten the arguments, then call again.",
    example: "ambit approvals list",
  },
};

export const DIAGNOSTICS: Readonly<Record<DiagnosticCode, Page>> = {
  syntax: {
    means:
      "The text is not valid YAML, JSON or TOML. Anchors, aliases, tags, multiple documents and duplicate keys are refused, because parsers interpret them differently. The whole text grants nothing.",
    doThis: "Fix the text at the caret. Quote values that start with a star.",
    example: 'hosts: ["*.github.com"]',
  },
  too_large: {
    means: "The text is too long, nested too deeply, or has too many entries.",
    doThis: "Split it.",
    example: "capabilities: [records.read]",
  },
  unknown_verb: {
    means: "The verb is not in the catalog. The entry grants nothing.",
    doThis: "Use a verb of the catalog; the nearest one is suggested.",
    example: "ambit explain net.get",
  },
  unknown_key: {
    means:
      "The key is unknown here. Inside a grant, the whole grant is ignored, because the key was meant to limit it.",
    doThis: "Use the suggested key, or another key of the verb.",
    example: "fs.read: { in: ~/project, paths: [src/**] }",
  },
  bad_indentation: {
    means:
      "A key is at the wrong level. A scope key or a condition outside its grant would leave a grant unlimited, so nothing is granted that it could have limited: the grant beside it, the list, or the whole record; `capabilities` below another key is not read.",
    doThis: "Indent the key below its verb, or write `capabilities` at the top level.",
    example: "- records.update: { classes: [note] }",
  },
  wrong_type: {
    means: "The value has the wrong type for this key. The entry grants nothing.",
    doThis: "Write the value as in the example.",
    example: "hosts: [api.github.com]",
  },
  bad_pattern: {
    means: "The pattern uses unsupported syntax: `?`, `[...]`, `!`, a star in the middle of a host.",
    doThis: "Use `*` for one segment and `**` for any number. Hosts take `*.x`, `+.x` and `*`.",
    example: "paths: [src/**/*.ts]",
  },
  bad_value: {
    means:
      "The value is not valid for this key: an invalid host, a port out of range, an address with bits set below its prefix.",
    doThis: "Write it as the fix shows.",
    example: "ports: [443, 8000-8100]",
  },
  escapes_root: {
    means: "An entry of `paths` is outside its root. It is refused, not shortened.",
    doThis: "Write it relative to `in`, or write another grant.",
    example: "fs.read: { in: ~/project, paths: [docs/**] }",
  },
  not_absolute: {
    means: "The path is relative, but there is no root.",
    doThis: "Start the path with `/` or `~`.",
    example: "in: ~/project",
  },
  inert: {
    means:
      "The grant covers nothing: an external verb has no scope, the root is missing or outside the ceiling, or ports are missing.",
    doThis: "Add the missing scope; broad scopes are allowed but must be explicit.",
    example: "net.get: { hosts: [api.github.com] }",
  },
  clamped: {
    means: "The sandbox was outside the ceiling; the ceiling is used instead.",
    doThis: "Write a root inside the ceiling.",
    example: "sandbox: ~/work/project",
  },
  wide: {
    means: "The grant covers the whole machine: a process with `/` as its root.",
    doThis: "Use the folder of the project.",
    example: "proc.exec: { in: ~/project }",
  },
  bare_token: {
    means: "A token without a scope means everything in its notation, and was imported as such.",
    doThis: "Write the scope you mean.",
    example: "fs.read:/home/agent/**",
  },
  narrowed: {
    means: "A part of the text cannot be represented exactly. The grant covers less than the text says, never more.",
    doThis: "Write it in the record notation if you need the rest.",
    example: "ambit explain inert",
  },
  deprecated: {
    means: "An outdated notation. It still works.",
    doThis: "Use the new notation.",
    example: "proc.exec: { cmds: [rg] }",
  },
  unknown_preset: {
    means: "No preset has this name and version. It grants nothing.",
    doThis: "Use an existing preset, with its version.",
    example: "extends: ambit:reader@1",
  },
  failed_test: {
    means: "A test of the record fails, so the record grants nothing.",
    doThis: "Fix the record or the test.",
    example: "tests: [{ deny: fs.read /etc/passwd }]",
  },
  missing_field: {
    means: "A required field is missing.",
    doThis: "Add it.",
    example: 'fs_read = { only = ["/srv"] }',
  },
  not_understood: {
    means: "The text, or a part of it, is in none of the supported notations.",
    doThis: "See `ambit --help`, or the grammar in spec/notation.md.",
    example: "capabilities: [records.read]",
  },
};
