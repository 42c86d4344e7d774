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
      "The arguments of the call do not fit the tool, or the request cannot be read: a host with odd characters, a path with a NUL, a method with no verb.",
    doThis: "Correct the arguments. Nothing was decided, nothing was spent.",
    example: "ambit can scout net.get http://0x7f.1/",
  },
  unknown_tool: {
    means: "There is no tool of that name, or none that this agent may know of: both answer alike.",
    doThis: "Check the name. A tool from elsewhere must be registered and granted with tool.invoke.",
    example: "ambit can scout tool.invoke send_money '{}'",
  },
  capability_absent: {
    means: "No grant names this verb.",
    doThis: "If the agent should be able to do this at all, add the smallest grant, which the verdict shows.",
    example: "ambit can scout net.post https://api.github.com/x",
  },
  scope_violation: {
    means: "A grant names this verb, but the request lies outside its scope.",
    doThis: "Look at the nearest grant and the axis it does not match on. Widen that axis, or add the smallest grant.",
    example: "ambit can scout fs.read /etc/passwd",
  },
  self_modification: {
    means:
      "An agent tried to change its own authority or to delete itself, or a protected name: what decides about agents, and what makes git, shells and editors run programs. No grant allows that.",
    doThis:
      "A person edits the record or the file, or another agent that holds agent.grant for this one edits the record.",
    example: "ambit can scout agent.grant scout records.read",
  },
  exceeds_grantor_authority: {
    means:
      "An agent tried to pass on more than it may pass on. The verdict shows a request that the receiver could then make and the giver could not.",
    doThis: "Propose less: every pattern must lie within what the giver holds with pass-on, roots and ports included.",
    example: "ambit can scout agent.grant aide 'net.get{hosts=[*]}'",
  },
  expired: {
    means: "A grant covers the request, but its time is over, or its link is not valid at this moment.",
    doThis: "A person renews it with a new `expires`.",
    example: "expires: 2026-12-01T00:00:00Z",
  },
  revoked: {
    means: "The authority, or something it was passed on from, was taken back.",
    doThis: "Ask whoever passed it on. Nothing below a revoked link is left.",
    example: "ambit explain generation_stale",
  },
  generation_stale: {
    means: "The authority was given for another generation; a bump ends everything given before it.",
    doThis: "Get the authority anew.",
    example: "valid_for_generation = { only = [7] }",
  },
  approval_required: {
    means:
      "The grant covers the request, and says that a person must approve it. For a change that a program wrote: its name asks, the record or configuration says `land: ask`, or the command ran with `--review`.",
    doThis:
      "Wait for the approval that was raised, or ask a person. The same call succeeds once when it is approved. A change waits in `ambit changes list`.",
    example: "net.post{hosts=[api.github.com],ask}",
  },
  approval_refused: {
    means: "A person refused this call.",
    doThis: "Do not retry it. The refusal carries a reason.",
    example: "ambit explain approval_required",
  },
  budget_exhausted: {
    means:
      "A grant covers the request, but an account on the way (of the grant, its link, or whoever passed it on) has nothing left.",
    doThis: "Wait for the rate to recover, or ask a person for more.",
    example: "net.get{hosts=[*],calls=5,rate=10/min}",
  },
  address_refused: {
    means: "The name is granted, but it leads to a private or special address; or the address itself is special.",
    doThis: "If that is meant, open exactly that name for exactly that range: `private: [db.internal=10.1.0.0/16]`.",
    example: "ambit can scout net.get http://169.254.169.254/",
  },
  secret_refused: {
    means: "The secret may not be used here: not granted, not bound to this tool and host, locked, or used up.",
    doThis: "Grant secret.use for the name, and bind the secret to the tool and the host.",
    example: "secret.use{names=[github],hosts=[api.github.com]}",
  },
  sandbox_unavailable: {
    means: "What the plan needs from the kernel is not there, so nothing was run.",
    doThis: "Install what is missing; a process is never run bare unless the user's own configuration names that.",
    example: "apt-get install bubblewrap",
  },
  not_available: {
    means:
      "Something is missing here, and it is nothing a grant could give: what a tool declares is not configured, a name could not be resolved, nobody answers, a file is not there.",
    doThis: "Look at what is said beside the code. Configure it, try it again later, or do without it.",
    example: "ambit explain unknown_tool",
  },
  audit_unavailable: {
    means: "The decision could not be written down, so nothing was done.",
    doThis:
      "Make room on the disk, or mend the store or its second copy: ambit daemon status. Nothing runs unrecorded.",
    example: "ambit explain budget_exhausted",
  },
  pin_changed: {
    means: "The definition of a tool changed since it was approved.",
    doThis: "A person looks at the change and pins it again.",
    example: "ambit explain unknown_tool",
  },
  unsupported_command: {
    means:
      "The command uses something that cannot be decided before it runs: substitutions, background jobs, here-documents.",
    doThis: "Write it as plain commands with plain arguments.",
    example: "ambit can scout proc.exec -- git status",
  },
  untrusted_policy: {
    means: "The authority came with a project and nobody has trusted it yet.",
    doThis: "A person reads it and trusts it.",
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
      "What a program wrote could not be carried into the project: a special file, a git state that is not imported, too many waiting drafts, or an error of the file system. It stays a draft; the project is unchanged.",
    doThis: "Look at the reason with `ambit changes show`, then land or discard the draft.",
    example: "ambit changes list",
  },
  untrusted_content: {
    means:
      "A grant covers the request, and says `clean`: it is for sessions that have read nothing untrusted. This session has: network bodies, results of tools of others, output of programs, files that no person committed.",
    doThis:
      "Open a new session, and do this before anything untrusted is read. `ambit why` names what was read. No grant is proposed, because it would take that safeguard away.",
    example: "net.post{hosts=[api.github.com],clean}",
  },
  unknown_user: {
    means:
      "The session's user has no record: the record that was its ceiling is gone, or the configuration says `users: required` and there is none of that name, or no user was named.",
    doThis:
      "Write the user's record, users/NAME.md beside your own config.yml, and open a session for that name. A session whose user's record is gone goes on once it is back.",
    example: "users: required",
  },
  approval_unavailable: {
    means:
      "The grant covers the request and asks for approval, but no question was raised: too many questions of this agent are open, the arguments are too long to be read by a person, or the store of approvals did not answer. There is nothing to wait for.",
    doThis: "Answer the open questions, or shorten the arguments, and make the call again.",
    example: "ambit approvals",
  },
};

export const DIAGNOSTICS: Readonly<Record<DiagnosticCode, Page>> = {
  syntax: {
    means:
      "The text is not YAML, JSON or TOML as we read it. Anchors, aliases, tags, several documents and duplicate keys are refused: two readers could see two meanings. Nothing of the text counts.",
    doThis: "Mend the text at the caret. Quote what begins with a star.",
    example: 'hosts: ["*.github.com"]',
  },
  too_large: {
    means: "The text, its depth or its number of entries is past a limit.",
    doThis: "Split it.",
    example: "capabilities: [records.read]",
  },
  unknown_verb: {
    means: "There is no such verb in the catalog. The entry grants nothing.",
    doThis: "Write one of the catalog's verbs; the nearest is suggested.",
    example: "ambit explain net.get",
  },
  unknown_key: {
    means:
      "The key does not exist here. Inside a grant the whole grant is dropped, because the key was meant to limit it.",
    doThis: "Write the suggested key, or one the verb has.",
    example: "fs.read: { in: ~/project, paths: [src/**] }",
  },
  wrong_type: {
    means: "The value is of another type than the key takes. The entry grants nothing.",
    doThis: "Write the value as in the example.",
    example: "hosts: [api.github.com]",
  },
  bad_pattern: {
    means: "The pattern uses something outside the language: `?`, `[...]`, `!`, a star in the middle of a host.",
    doThis: "Use `*` for one segment and `**` for any number. Hosts take `*.x`, `+.x` and `*`.",
    example: "paths: [src/**/*.ts]",
  },
  bad_value: {
    means:
      "The value is not what the key needs: an odd host, a port out of range, an address with bits below its prefix.",
    doThis: "Write it as the fix shows.",
    example: "ports: [443, 8000-8100]",
  },
  escapes_root: {
    means: "An entry of `paths` leaves its root. It is refused, never trimmed.",
    doThis: "Write it relative to `in`, or write another grant.",
    example: "fs.read: { in: ~/project, paths: [docs/**] }",
  },
  not_absolute: {
    means: "A relative path with nothing to be relative to.",
    doThis: "Write it from `/` or `~`.",
    example: "in: ~/project",
  },
  inert: {
    means:
      "The grant covers nothing: an external verb without its first scope, a root that is missing or outside, ports that are missing.",
    doThis: "Write what it is for; wide is possible, but it has to be written.",
    example: "net.get: { hosts: [api.github.com] }",
  },
  clamped: {
    means: "The sandbox lay outside the ceiling and became the ceiling.",
    doThis: "Write a root inside the ceiling.",
    example: "sandbox: ~/work/project",
  },
  wide: {
    means: "The grant is as wide as the machine: a process with `/` for its root.",
    doThis: "Write the folder the work is in.",
    example: "proc.exec: { in: ~/project }",
  },
  bare_token: {
    means: "A bare token means everything in its own notation, and was imported as that.",
    doThis: "Write the scope you mean.",
    example: "fs.read:/home/agent/**",
  },
  narrowed: {
    means: "Something in the text cannot be represented exactly. Less was granted than it says, never more.",
    doThis: "Write it in the record notation, if you mean it.",
    example: "ambit explain inert",
  },
  deprecated: {
    means: "An old spelling. It still counts.",
    doThis: "Write the new one.",
    example: "proc.exec: { cmds: [rg] }",
  },
  unknown_preset: {
    means: "There is no preset of that name and version. It grants nothing.",
    doThis: "Write one that exists, with its version.",
    example: "extends: ambit:reader@1",
  },
  failed_test: {
    means: "A test of the record does not hold, so the record grants nothing.",
    doThis: "Mend the record or the test; one of them is wrong.",
    example: "tests: [{ deny: fs.read /etc/passwd }]",
  },
  missing_field: {
    means: "A field that must be there is not.",
    doThis: "Add it.",
    example: 'fs_read = { only = ["/srv"] }',
  },
  not_understood: {
    means: "The text is not any of the notations, or a part of it is not.",
    doThis: "Begin with `ambit --help`, or with the grammar in spec/notation.md.",
    example: "capabilities: [records.read]",
  },
};
