// A vault on a real database and every source of its key: a scripted `secret-tool`, age identities, files.
import { mkdirSync, mkdtempSync, readFileSync, writeFileSync } from "node:fs";
import { createServer, type Server } from "node:net";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { KeyInput } from "../../src/core/ports/secret-key.ts";
import type { LogEntry } from "../../src/core/ports/stores/log.ts";
import type { SecretBinding, SecretStore, SettingStore } from "../../src/core/ports/stores/secret-store.ts";
import { notRedactable } from "../../src/log/redaction/known-secret.ts";
import { refusesBoundHosts } from "../../src/sandbox/network/fetch/handles-binding.ts";
import { type KeySourceEnvironment, keySourceEnvironment } from "../../src/secrets/sources.ts";
import { SecretVault } from "../../src/secrets/vault.ts";
import { type TestStore, testStore } from "../../src/store/testing/memory.ts";
import { removeState } from "../house/remove-state.ts";

export const VALUE = "correct-horse-battery";
export const BINDING: SecretBinding = { tools: ["web_fetch"], hosts: ["api.example.com"], uses: null };

/** How the fake secret-tool behaves. `works` is what the real one does, byte for byte. */
export type ToolState =
  | "works"
  | "gone"
  | "locked"
  | "complains"
  | "hangs"
  | "garbage"
  | "other"
  | "floods"
  | "forgets";

/** Output and exit codes of the real secret-tool; its state is in a file beside it, because it gets none of our environment. */
const SECRET_TOOL = `#!/bin/sh
here=\${0%/*}
toolState=$(cat "$here/toolState")
printf '%s\\n' "$*" >> "$here/words"
env >> "$here/environment"
command=$1
shift
for last; do :; done
item="$here/items/$last"
case $toolState in
hangs) sleep 60 & sleep 60 ;;
complains) echo "secret-tool: Could not connect: No such file or directory" >&2; exit 1 ;;
floods) exec head -c 1000000 /dev/zero ;;
esac
case $command in
store) if [ "$toolState" = forgets ]; then cat > /dev/null; else cat > "$item"; fi ;;
lookup)
  case $toolState in
  gone | locked) exit 1 ;;
  garbage) printf 'hello'; exit 0 ;;
  other) printf 'AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA='; exit 0 ;;
  esac
  [ -f "$item" ] && cat "$item" ;;
search) [ "$toolState" = gone ] || if [ -f "$item" ]; then printf '[/1]\\nlabel = ambit\\n'; fi ;;
clear) [ "$toolState" != locked ] && [ "$toolState" != gone ] && [ -f "$item" ] && rm "$item" ;;
esac
`;

export class KeysFixture {
  readonly folder: string = mkdtempSync(join(tmpdir(), "ambit-keys-"));
  readonly place: TestStore = testStore(join(this.folder, "store"));
  readonly tools: string = join(this.folder, "tools");
  now = 1_000_000;
  #entries = 0;
  #bus: Server | null = null;

  async start(): Promise<void> {
    mkdirSync(join(this.tools, "items"), { recursive: true });
    writeFileSync(join(this.tools, "secret-tool"), SECRET_TOOL, { mode: 0o755 });
    this.toolState("works");
    const own = join(this.folder, "run", String(process.getuid?.()));
    mkdirSync(own, { recursive: true });
    this.#bus = createServer();
    await new Promise<void>((done) => this.#bus?.listen(join(own, "bus"), done));
  }

  stop(): void {
    this.#bus?.close();
    this.place.remove();
    removeState(this.folder);
  }

  toolState(toolState: ToolState): void {
    writeFileSync(join(this.tools, "toolState"), toolState);
  }

  /** The arguments of every start of the program. */
  words(): readonly string[] {
    try {
      return readFileSync(join(this.tools, "words"), "utf8").trimEnd().split("\n");
    } catch {
      return [];
    }
  }

  places(more: Partial<KeySourceEnvironment> = {}): KeySourceEnvironment {
    return {
      ...keySourceEnvironment(this.folder),
      programs: [this.tools, "/usr/bin", "/bin"],
      runtime: join(this.folder, "run"),
      millisecondsMax: 20_000,
      cost: { n: 16_384, r: 8, p: 1 },
      ...more,
    };
  }

  vault(
    more: Partial<KeySourceEnvironment> = {},
    parts: { secrets?: SecretStore; settings?: SettingStore } = {},
  ): SecretVault {
    return new SecretVault({
      secrets: parts.secrets ?? this.place.secrets,
      settings: parts.settings ?? this.place.settings,
      state: this.folder,
      now: () => this.now,
      places: this.places(more),
      refusesValue: notRedactable,
      refusesHosts: refusesBoundHosts,
    });
  }

  entry(outcome = "set"): LogEntry {
    this.#entries++;
    return {
      ...{ id: `e${this.#entries}`, kind: "secret", at: this.now, outcome, code: null, of: null, tool: null },
      ...{ verbs: [], more: {}, user: null, agent: null, workspace: null, chain: [], session: null, trace: null },
    };
  }

  async set(vault: SecretVault, name = "token", value: string = VALUE): Promise<boolean> {
    const asked = { name, value, binding: BINDING, username: null, isCanary: false, isRotation: false };
    return (await vault.set(asked, this.entry())).ok;
  }

  /** Below the private folder. */
  file(name: string, text: string, mode = 0o600): string {
    const path = join(this.folder, name);
    writeFileSync(path, text, { mode });
    return path;
  }
}

export const NOTHING: KeyInput = { passphrase: null, identity: null, bus: null };

export function openedValue(vault: SecretVault, name = "token"): string {
  const answer = vault.open(name);
  return answer.ok ? answer.value.value.toString() : `${answer.code}: ${answer.message}`;
}

/** Made by `age-keygen` and `age` 1.1.1: 32 bytes, sealed for the first identity. */
export const AGE = {
  identity: "AGE-SECRET-KEY-1KJMJA73820QNKKPC993639JXZ0DVXAWN563Z5ZKCT7Q9DS3MGEWS89DSSW",
  recipient: "age1wm7tdux82jay96pxphyf4r60dmhkyhrrtlf4x6m3haycuaexg3hsg6ujkp",
  text: "0123456789abcdef0123456789abcdef",
  sealed:
    "YWdlLWVuY3J5cHRpb24ub3JnL3YxCi0+IFgyNTUxOSBodWV6amErTXU0ZnF0dWVRa0VlNlpYT25jdmhkbU9FcmdtSVlxNlVpem1zCjRvZWxHanVuUEFoUUlvdDh6V3NwbUR1ZHRBektyVUtjMlMwdG1ySHAwUTAKLS0tIHNXT0l4WjFaZUlnMXNqOEZxbFV4SVYzS2RTOFFwSkVsNHo2YWl0V09JSW8KE+zx9TukfOW1F/vlcq8qWzmcAfCgWbLklvsFXMuFpUEmiBneGkQ5wwimTFa626RXPEb/QpUI5vHzoywgIbJMdQ==",
} as const;
