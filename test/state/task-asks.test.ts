// Tasks that need a person: a capability that asks is withheld, the task is parked with its request, and the answer re-opens it.
// The agents' client is a program of the machine, which is given the words of the task.
import { afterAll, beforeAll, describe, expect, test } from "vitest";
import { ALLOW, ASK, DENY, Walk } from "../seeds/walk.ts";

const walk = new Walk();

interface ShownTask {
  readonly id: string;
  readonly state: string;
  readonly attempts: number;
  readonly reason: string;
  readonly waitsFor: { readonly approval: string; readonly capabilities: readonly string[] } | null;
}

function taskIn(text: string): ShownTask {
  const { task } = JSON.parse(text) as { task?: ShownTask };
  if (task === undefined) throw new Error(text);
  return task;
}
const add = (...words: readonly string[]): string => taskIn(walk.ambit("tasks", "add", "--json", ...words).out).id;
const show = (id: string): ShownTask => taskIn(walk.ambit("tasks", "show", id, "--json").out);
const work = (): void => void walk.ambit("tasks", "work", "--once");
const output = (id: string): string => walk.ambit("tasks", "log", id).out;

beforeAll(() => {
  walk.write({
    ".ambit/org.yml": [
      "name: Org",
      "defaults: { client: sh }",
      "agents:",
      "  lead: { role: Lead }",
      "  asker: { role: Asker, capabilities: { code: ask } }",
      "  later: { role: Later, capabilities: { code: ask } }",
      "  reader: { role: Reader, client: echo, capabilities: { code: ask } }",
      "  boss: { role: Boss }",
      "  researcher: { role: Researcher, reportsTo: boss, capabilities: { code: deny, web: allow } }",
      "  junior: { role: Junior, capabilities: { hire: deny, delegate: deny } }",
      "  owner: { role: Owner, capabilities: { crm: allow } }",
      "  open: { role: Open, client: opencode, model: anthropic/claude-sonnet-4-5 }",
      "",
    ].join("\n"),
    "write.sh": "echo looked around\necho made > made.txt && echo wrote made.txt\n",
    "find.sh": "echo found: three larks\necho stolen > stolen.txt || echo could not write\n",
    "leave.sh": [
      'echo \'{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"store_put","arguments":',
      '{"store":"artifacts","key":"researcher/larks","value":{"title":"Larks","body":"three"}}}}\' | ambit mcp serve',
      "",
    ].join(""),
    "look.sh": "cat $AMBIT_STORES/crm/crm.json; echo x > $AMBIT_STORES/crm/crm.json || echo not written; echo looked\n",
    "note.txt": "a note\n",
  });
  walk.trust();
});
afterAll(() => {
  walk.ambit("daemon", "stop");
});

describe("a capability that asks", () => {
  test("parks the task with a request; one approval is one run with it", () => {
    const id = add("asker", "write.sh");
    work();
    const parked = show(id);
    expect(parked).toMatchObject({ state: "parked", attempts: 0, waitsFor: { capabilities: ["code"] } });
    expect(parked.reason).toContain("REQUEST[capability:code]");
    expect(walk.exists("made.txt")).toBe(false);
    work();
    expect(show(id)).toMatchObject({ state: "parked", attempts: 0 });
    expect(walk.ambit("approve", parked.waitsFor?.approval ?? "", "--yes").status).toBe(0);
    expect(show(id)).toMatchObject({ state: "queued", reason: "approved" });
    work();
    const done = show(id);
    expect(done).toMatchObject({ state: "done", attempts: 1 });
    expect(output(id)).toContain("wrote made.txt");
    // Writing asks as well: the approval of the run lets nothing land.
    expect(walk.exists("made.txt")).toBe(false);
    const [draft = ""] = /d-\S+/.exec(done.reason) ?? [];
    expect(walk.ambit("changes", "land", draft, "--yes").status).toBe(0);
    expect(walk.read("made.txt")).toBe("made\n");
    // The grant is used up: the same task asks again.
    walk.ambit("tasks", "retry", id);
    work();
    expect(show(id)).toMatchObject({ state: "parked", attempts: 0 });
    expect(show(id).waitsFor?.approval).not.toBe(parked.waitsFor?.approval);
    walk.ambit("tasks", "cancel", id);
  });
  test("is granted for a time to the runs of the same task", () => {
    const id = add("asker", "write.sh");
    work();
    const { waitsFor } = show(id);
    expect(walk.ambit("approve", waitsFor?.approval ?? "", "--uses", "2", "--for", "1h", "--yes").status).toBe(0);
    work();
    expect(show(id).state).toBe("done");
    walk.ambit("tasks", "retry", id);
    work();
    expect(show(id).state).toBe("done");
    walk.ambit("tasks", "retry", id);
    work();
    expect(show(id).state).toBe("parked");
    walk.ambit("tasks", "cancel", id);
  });
  test("that is refused re-opens the task with the reason as words for the agent, and without the capability", () => {
    const id = add("reader", "look");
    work();
    const { waitsFor } = show(id);
    walk.ambit("approvals", "refuse", waitsFor?.approval ?? "", "--reason", "not today");
    expect(show(id)).toMatchObject({ state: "queued", reason: "refused: not today" });
    work();
    expect(show(id)).toMatchObject({ state: "done", attempts: 1 });
    expect(output(id)).toContain("The capability code was refused for this task: not today. Work without it.");
  });
  test("that was refused for the same words before is refused for the next task, which works without it", () => {
    const id = add("reader", "look");
    work();
    expect(show(id)).toMatchObject({ state: "done", attempts: 1 });
    expect(output(id)).toContain("The capability code was refused for this task: not today. Work without it.");
    // A person who opens the request again is asked again, by a retry, too.
    const all = JSON.parse(walk.ambit("approvals", "list", "--all", "--json").out) as {
      approvals: readonly { id: string; state: string; agent: string }[];
    };
    const refused = all.approvals.find((one) => one.state === "refused");
    expect(walk.ambit("approvals", "reopen", refused?.id ?? "").status).toBe(0);
    walk.ambit("tasks", "retry", id);
    work();
    expect(show(id)).toMatchObject({ state: "parked", waitsFor: { approval: refused?.id, capabilities: ["code"] } });
    walk.ambit("tasks", "cancel", id);
  });
  test("that the org file allows from now on is in hand after a retry", () => {
    const id = add("later", "write.sh");
    work();
    expect(show(id).state).toBe("parked");
    const file = walk.read(".ambit/org.yml");
    walk.write({
      ".ambit/org.yml": file.replace(
        "role: Later, capabilities: { code: ask }",
        "role: Later, capabilities: { code: allow }",
      ),
    });
    // Nothing widens before a person has read the difference.
    walk.ambit("tasks", "retry", id);
    work();
    expect(["failed", "parked"]).toContain(show(id).state);
    walk.trust();
    walk.ambit("tasks", "retry", id);
    work();
    expect(show(id)).toMatchObject({ state: "done", reason: "" });
  });
  test("stays asked for after the daemon was killed", () => {
    const id = add("asker", "note.txt");
    work();
    const { waitsFor } = show(id);
    const { pid } = JSON.parse(walk.ambit("daemon", "status", "--json").out) as { pid: number };
    process.kill(pid, "SIGKILL");
    expect(show(id)).toMatchObject({ state: "parked", waitsFor });
    walk.ambit("tasks", "cancel", id);
    work();
    expect(show(id)).toMatchObject({ state: "cancelled", attempts: 0 });
  });
});

describe("a pattern of the seed", () => {
  test("a read-only researcher leaves its findings, and writes nothing", () => {
    const id = add("researcher", "find.sh");
    work();
    expect(output(id)).toContain("found: three larks");
    expect(output(id)).toContain("could not write");
    expect(walk.exists("stolen.txt")).toBe(false);
    expect(walk.can("researcher", "net.get https://example.com/")).toBe(ALLOW);
    expect(walk.can("researcher", "fs.write ./stolen.txt")).toBe(DENY);
  });
  test("the researcher leaves an artifact from inside its client, which it and its managers read, and no other agent", () => {
    const id = add("researcher", "leave.sh");
    work();
    expect(show(id).state).toBe("done");
    const item = { store: "artifacts", key: "researcher/larks" };
    const kept = JSON.parse(walk.ambit("store", "get", "artifacts", "researcher/larks", "--json").out) as {
      item: { writer: string; value: unknown };
    };
    expect(kept.item).toMatchObject({ writer: "researcher", value: { title: "Larks", body: "three" } });
    expect(walk.call("researcher", "store_get", item).code).toBe(null);
    expect(walk.call("boss", "store_get", item).result).toMatchObject({ value: { body: "three" } });
    expect(walk.call("junior", "store_get", item).code).toBe("scope_violation");
    const forged = { store: "artifacts", key: "junior/larks", value: { title: "x", body: "x" } };
    expect(walk.call("researcher", "store_put", forged).code).toBe("scope_violation");
    expect(walk.call("boss", "store_put", { ...forged, key: "researcher/other" }).code).toBe("scope_violation");
  });
  test("a locked-down junior does its work, and nothing that grows the team", () => {
    const id = add("junior", "write.sh");
    work();
    expect(show(id).state).toBe("done");
    expect(output(id)).toContain("wrote made.txt");
    expect(walk.can("junior", "agent.create helper")).toBe(DENY);
    expect(walk.can("junior", "agent.delegate lead")).toBe(DENY);
    expect(walk.can("lead", "agent.create helper")).toBe(ALLOW);
  });
  test("a gated owner of contacts: one agent may, the others ask", () => {
    const request = "records.update id=a class=contact";
    expect(walk.can("owner", request)).toBe(ALLOW);
    expect(walk.can("lead", request)).toBe(ASK);
    const contact = { store: "crm", key: "acme", value: { name: "Acme" } };
    expect(walk.call("lead", "store_put", contact).code).toBe("approval_required");
    expect(walk.call("owner", "store_put", contact).code).toBe(null);
    const look = (agent: string): string => {
      const id = add(agent, "look.sh");
      work();
      return output(id);
    };
    expect(look("owner")).toContain("Acme");
    const seen = look("lead");
    expect(seen).toContain("looked");
    expect(seen).not.toContain("Acme");
    expect(look("owner")).toContain("not written");
  });
});

test("a model that is named with its provider is that model of that provider", () => {
  expect(walk.can("open", "model.use anthropic claude-sonnet-4-5")).toBe(ALLOW);
  expect(walk.can("open", "model.use openai claude-sonnet-4-5")).toBe(DENY);
  expect(walk.can("open", "model.use anthropic other")).toBe(DENY);
});
