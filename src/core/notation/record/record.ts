// An agent's record, as its frontmatter: what it grants, what it is held to, and every mistake in it.
import { scopeKeys, type VerbEntry, verbEntry } from "../../authority/catalog.ts";
import type { Grant, Span } from "../../authority/grant.ts";
import { agentIdOf } from "../../base/agent-id.ts";
import { type Approvers, readApprovers } from "../config/approvers.ts";
import { readLand } from "../config/land-setting.ts";
import { type Diagnostic, Diagnostics } from "../diagnostic.ts";
import { limitsFor, NO_PLACES, narrowedBy, placesIn } from "../policy/outer-policies.ts";
import {
  CAPABILITIES,
  limitedBy,
  type PolicyTable,
  policyGrants,
  readPolicyTable,
  rulingPlaces,
} from "../policy/policy.ts";
import { compactText } from "../printer.ts";
import { quoteText } from "../quote-text.ts";
import type { Reading } from "../reading.ts";
import { conditionKeys } from "../scope/conditions.ts";
import { readGrant } from "../scope/scope-reader.ts";
import { kindName, textOf } from "../scope/scope-values.ts";
import { entryOf, type Mapping, type TreeNode } from "../tree.ts";
import { type CapabilityList, readCapabilityList } from "./capabilities.ts";
import { readExtends } from "./extends.ts";
import { BROKEN, type Hoist, readSandbox } from "./hoist.ts";
import { reportOmissions } from "./left-out.ts";
import { misspelledKeys, strayKeys } from "./record-keys.ts";
import { failingTest, type RecordTest, readTests } from "./record-tests.ts";
import { ROOM, readRoom } from "./room.ts";

export interface AgentRecord {
  readonly id: string | null;
  readonly recordClass: string | null;
  readonly grants: readonly Grant[];
  readonly sandbox: readonly string[] | null;
  readonly policy: PolicyTable | null;
  /** What its own table and the configuration deny or ask for, whatever else grants it. */
  readonly policyLimits: PolicyTable;
  readonly extends: readonly string[];
  readonly tests: readonly RecordTest[];
  /** As written. */
  readonly mode: string | null;
  /** Who approves its requests; null: one person, anyone. */
  readonly approvers: Approvers | null;
  /** What its programs write waits for a person: `land: ask`. */
  readonly needsReview: boolean;
  readonly diagnostics: readonly Diagnostic[];
}

/** INVARIANT: a key with a mistake in it never leads to more than the same record without that key's grants. */
export function readRecord(node: TreeNode, reading: Reading): AgentRecord {
  const diagnostics = new Diagnostics();
  if (node.kind !== "map") {
    diagnostics.error("wrong_type", node.span, `a record must be a map, not ${kindName(node)}`);
    return {
      id: null,
      recordClass: null,
      grants: [],
      sandbox: null,
      policy: null,
      policyLimits: new Map(),
      extends: [],
      tests: [],
      mode: null,
      approvers: null,
      needsReview: true,
      diagnostics: diagnostics.list,
    };
  }
  return new RecordReader(node, reading, diagnostics).record();
}

/** The verbs `sandbox:` stands for, unless `capabilities` says something about them itself. */
const SANDBOX_VERBS = ["fs.read", "fs.write", "proc.exec"] as const;

/** As in the seed: no shorthand ever includes deleting. */
export const ACCESS_VERBS: ReadonlyMap<unknown, readonly string[]> = new Map([
  ["r", ["records.read"]],
  ["w", ["records.create", "records.update"]],
  ["rw", ["records.read", "records.create", "records.update"]],
]);

/** Another spelling of one of ours; null for anything else. Reading alone may be meant for files. */
function meantAccess(value: unknown): string | null {
  const folded = typeof value === "string" ? value.toLowerCase().replace(/[^a-z]/g, "") : "";
  if (["rw", "wr", "readwrite", "writeread"].includes(folded)) return "rw";
  return ["w", "write"].includes(folded) ? "w" : null;
}

/** How a sandbox is made read-only: a list of `fs.read` alone would leave the other verbs to the shorthand. */
const READ_ONLY = "extends: ambit:reader@1  # instead of `access`: reads files and records, changes none";

interface RecordPolicy {
  readonly table: PolicyTable | null;
  readonly grants: readonly Grant[];
  /** What is denied or asked for, whatever else in the record grants it. */
  readonly limits: PolicyTable;
}

class RecordReader {
  readonly #node: Mapping;
  readonly #reading: Reading;
  readonly #diagnostics: Diagnostics;
  /** Scope keys and conditions that its grants could have and do not. */
  readonly #omitted = new Set<string>();
  #root: readonly string[] | null = null;

  constructor(node: Mapping, reading: Reading, diagnostics: Diagnostics) {
    this.#node = node;
    this.#reading = reading;
    this.#diagnostics = diagnostics;
  }

  record(): AgentRecord {
    const misspelled = misspelledKeys(this.#node, this.#diagnostics);
    const keysEnd = this.#diagnostics.list.length;
    const written = readSandbox(entryOf(this.#node, "sandbox"), this.#reading, this.#diagnostics);
    const hoist = misspelled.has("sandbox") ? BROKEN : written;
    this.#root = hoist.root;
    const listStart = this.#diagnostics.list.length;
    const list = this.#capabilities(misspelled.has("capabilities"));
    const listEnd = this.#diagnostics.list.length;
    const extended = this.#extended();
    const policy = this.#policy(misspelled.has("policy"));
    const spoken = misspelled.has("extends") || policy.table !== null ? [] : this.#sandboxVerbs(hoist, list);
    const isUnclear = list.mentioned === null || list.strange;
    const beside = [
      ...list.grants,
      ...this.#access(isUnclear ? [] : spoken).filter((grant) => !isWrittenOut(grant, list)),
      ...(isUnclear ? [] : this.#sandboxGrants(spoken)),
      ...this.#room(),
      ...extended.grants,
    ];
    const explicit = [...limitedBy(policy.limits, beside, this.#diagnostics), ...policy.grants];
    const isBare =
      policy.table === null &&
      misspelled.size === 0 &&
      ["capabilities", "access", "policy", "extends"].every((key) => entryOf(this.#node, key) === null);
    for (const { verb } of policy.grants)
      for (const key of [...scopeKeys(verb), ...conditionKeys(verb)]) this.#omitted.add(key);
    // Before the default is added: it was not written, so no key was meant for it.
    const stray = strayKeys(this.#node, this.#omitted, this.#diagnostics);
    const byDefault = isBare ? [this.#implied("records.read", "default", this.#node.span)] : [];
    const given = [...limitedBy(policy.limits, byDefault, this.#diagnostics), ...explicit];
    if (isUnclear) {
      const isToolless = !(list.mentioned?.has(TOOL) ?? false) && !given.some(({ verb }) => verb.verb === TOOL);
      const leftOut = { sandbox: spoken, tools: isToolless && given.length + spoken.length > 0 };
      // Its own first mistake, or the key that was meant to be it.
      reportOmissions(leftOut, this.#diagnostics, ({ suggestion }, at) =>
        at < keysEnd ? suggestion === "capabilities" : at >= listStart && at < listEnd,
      );
    }
    const approvers = readApprovers(this.#node, this.#diagnostics);
    const isUnusable = approvers === "refused" || misspelled.has("approvers") || stray;
    // What a broken `sandbox` would have limited cannot be known; a yes of too few people would count for too much.
    const kept = hoist.isBroken ? given.filter((grant) => !scopeKeys(grant.verb).includes("in")) : given;
    return {
      id: this.#id(),
      recordClass: this.#text("class"),
      grants: isUnusable ? [] : this.#withTools(kept, list),
      sandbox: hoist.sandbox,
      policy: policy.table,
      policyLimits: policy.limits,
      extends: extended.names,
      tests: this.#tests(misspelled.has("tests")),
      mode: this.#text("mode"),
      approvers: approvers === "refused" ? null : approvers,
      needsReview: this.#needsReview(misspelled.has("land")),
      // Of a record that grants nothing only the errors are reported: that a part of it would cover nothing is noise.
      diagnostics: stray
        ? this.#diagnostics.list.filter(({ severity }) => severity === "error")
        : this.#diagnostics.list,
    };
  }

  #needsReview(isMisspelled: boolean): boolean {
    const entry = entryOf(this.#node, "land");
    const isAsking = entry !== null && readLand(entry, this.#diagnostics) === "ask";
    return isAsking || isMisspelled;
  }

  #capabilities(isMisspelled: boolean): CapabilityList {
    const entry = entryOf(this.#node, "capabilities");
    const list = entry === null ? EMPTY : readCapabilityList(entry.value, this.#context());
    return isMisspelled ? { ...list, mentioned: null } : list;
  }

  /** `spoken`: what `sandbox` grants beside it; to many, access is about that. */
  #access(spoken: readonly string[]): readonly Grant[] {
    const entry = entryOf(this.#node, "access");
    if (entry === null) return [];
    const verbs = entry.value.kind === "scalar" ? ACCESS_VERBS.get(entry.value.value) : undefined;
    if (verbs !== undefined) return verbs.map((verb) => this.#implied(verb, "access", entry.value.span));
    const files = spoken.length === 0 ? "" : `; it limits no files: \`sandbox\` still grants ${spoken.join(", ")}`;
    const message = `\`access\` is about records, and is r, w or rw${files}`;
    const meant = entry.value.kind === "scalar" ? meantAccess(entry.value.value) : null;
    const fix = meant !== null ? `access: ${meant}` : spoken.length === 0 ? "access: r" : READ_ONLY;
    this.#diagnostics.error("bad_value", entry.value.span, message, { fix });
    return [];
  }

  /** Beside a preset or a policy the sandbox is only their root: a reader with a root is still a reader. */
  #sandboxVerbs({ sandbox }: Hoist, { mentioned }: CapabilityList): readonly string[] {
    if (entryOf(this.#node, "sandbox") === null || sandbox === null) return [];
    if (entryOf(this.#node, "extends") !== null || entryOf(this.#node, "policy") !== null) return [];
    return SANDBOX_VERBS.filter((verb) => mentioned?.has(verb) !== true);
  }

  #sandboxGrants(verbs: readonly string[]): readonly Grant[] {
    const span = entryOf(this.#node, "sandbox")?.value.span ?? this.#node.span;
    return verbs.map((verb) => this.#implied(verb, "sandbox", span));
  }

  #room(): readonly Grant[] {
    const entry = entryOf(this.#node, ROOM);
    return entry === null ? [] : readRoom(entry, this.#reading, this.#diagnostics);
  }

  #extended(): ReturnType<typeof readExtends> {
    const entry = entryOf(this.#node, "extends");
    return entry === null ? { names: [], grants: [] } : readExtends(entry, this.#context());
  }

  /**
   * A table that was not understood denies everything: without it an outer table would speak in its place. The defaults
   * of an organisation grant only beside a table of the record; naming the agent in a configuration only narrows it, and
   * the base is for agents that have no record.
   */
  #policy(isMisspelled: boolean): RecordPolicy {
    const entry = entryOf(this.#node, "policy");
    const own = entry === null ? null : readPolicyTable(entry.value, this.#diagnostics);
    if (isMisspelled || (entry !== null && own === null)) return { table: DENY_ALL, grants: [], limits: DENY_ALL };
    const { policies, name, fileId } = this.#reading;
    const id = fileId ?? this.#writtenId() ?? name ?? "";
    const named = policies?.agents.get(id) ?? null;
    const org = policies?.org ?? null;
    const limits = limitsFor(own, policies, id);
    if (own === null) return { table: null, grants: [], limits };
    const [table, defaults] = [narrowedBy(own, named), narrowedBy(org, named)];
    const { span } = entry?.value ?? this.#node;
    const spans = placesIn(table, [{ table: own, places: rulingPlaces(entry?.value) }]);
    const places = policies?.places ?? NO_PLACES;
    const byName = { table: named, places: places.agents.get(id) };
    const outer = {
      agent: placesIn(table, [byName]),
      org: placesIn(defaults, [{ table: org, places: places.org }, byName]),
    };
    const context = { ...this.#context(), span, spans, outer, base: NO_BASE };
    return { table, grants: policyGrants(table, defaults, context), limits };
  }

  /** An agent of a workspace is called as its file is: another id in the text would be a second name. */
  #id(): string | null {
    const [id, entry] = [this.#text("id"), entryOf(this.#node, "id")];
    const { fileId } = this.#reading;
    if (id !== null && entry !== null && fileId !== undefined && agentIdOf(id) !== fileId) {
      const message = `\`id: ${id.slice(0, 80)}\` has no effect: the file name makes the agent's id ${quoteText(fileId)}`;
      this.#diagnostics.warning("bad_value", entry.value.span, message, { fix: `id: ${fileId}` });
    }
    return fileId ?? (id === null ? null : agentIdOf(id));
  }

  /** Without a diagnostic: `id` is read, and complained of, elsewhere. */
  #writtenId(): string | null {
    const value = entryOf(this.#node, "id")?.value;
    return value?.kind === "scalar" && typeof value.value === "string" ? agentIdOf(value.value) : null;
  }

  #tests(isMisspelled: boolean): readonly RecordTest[] {
    const entry = entryOf(this.#node, "tests");
    const tests = entry === null ? [] : readTests(entry, this.#diagnostics);
    return isMisspelled ? [...tests, failingTest(this.#node.span)] : tests;
  }

  /** Every call needs `tool.invoke`, so a record that never speaks of it gets the built-in tools, visibly. */
  #withTools(grants: readonly Grant[], { mentioned, strange }: CapabilityList): readonly Grant[] {
    const isMentioned =
      mentioned === null || strange || mentioned.has(TOOL) || grants.some((grant) => grant.verb.verb === TOOL);
    return grants.length === 0 || isMentioned ? grants : [...grants, this.#implied(TOOL, "default", this.#node.span)];
  }

  #implied(verb: string, why: string, span: Span): Grant {
    const grant = readGrant(verbEntry(verb) as VerbEntry, null, { ...this.#context(), span, implied: why });
    if (grant === null) throw new Error(`${verb} without a scope is always a grant`);
    return grant;
  }

  #text(key: string): string | null {
    const entry = entryOf(this.#node, key);
    return entry === null ? null : (textOf(entry, this.#diagnostics)?.text ?? null);
  }

  #context(): {
    readonly reading: Reading;
    readonly diagnostics: Diagnostics;
    readonly root: readonly string[] | null;
    readonly omitted: Set<string>;
  } {
    return { reading: this.#reading, diagnostics: this.#diagnostics, root: this.#root, omitted: this.#omitted };
  }
}

/** A grant that the list has in the same words: a shorthand adds nothing to it. */
function isWrittenOut(grant: Grant, { grants }: CapabilityList): boolean {
  return grants.some((one) => compactText(one) === compactText(grant));
}

const TOOL = "tool.invoke";
const DENY_ALL: PolicyTable = new Map(CAPABILITIES.map((capability) => [capability, "deny"]));
const NO_BASE: PolicyTable = new Map();
const EMPTY: CapabilityList = { grants: [], mentioned: new Set(), strange: false };
