// Common setup of the attack tests: the programs compiled, ambit installed where any caller can read it.
import { chmodSync, lchownSync, mkdirSync, mkdtempSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { removeState } from "../house/remove-state.ts";
import { Ambit, type ExecOptions } from "./ambit.ts";
import type { CallerFacts } from "./callers.ts";
import { type Compiled, compile } from "./compiled.ts";
import { installInto } from "./program.ts";
import { makeScene, type Scene } from "./scene.ts";

export class AttackFixture {
  readonly folder: string = mkdtempSync(join(tmpdir(), "ambit-attack-"));
  readonly programs: Compiled;
  readonly #start: string;

  constructor() {
    chmodSync(this.folder, 0o755);
    this.programs = compile(this.folder);
    this.#start = installInto(join(this.folder, "program"));
  }

  /** A scene of this caller, trusted by it. */
  async scene(who: CallerFacts): Promise<{ readonly scene: Scene; readonly ambit: Ambit }> {
    const scene = await makeScene(who, this.programs);
    const ambit = new Ambit(this.#start, who, scene);
    await ambit.trust();
    return { scene, ambit };
  }

  /** Another agent, of a project beside the root, whose own root is this folder. */
  async agentBeside(scene: Scene, ambit: Ambit, who: CallerFacts, root: string): Promise<ExecOptions> {
    const folder = join(scene.folder, "beside");
    const agents = join(folder, ".ambit", "agents");
    mkdirSync(agents, { recursive: true });
    const record = `---\nid: beside\nsandbox: ${root}\ncapabilities:\n  - proc.exec\n---\n`;
    writeFileSync(join(agents, "beside.md"), record);
    for (const path of [folder, join(folder, ".ambit"), agents, join(agents, "beside.md")]) this.give(path, who);
    await ambit.trust(folder);
    return { agent: "beside", folder, options: ["--in", root] };
  }

  /** Gives the files we created to the caller. */
  give(path: string, { user, group }: CallerFacts): void {
    lchownSync(path, user, group);
  }

  remove(): void {
    removeState(this.folder);
  }
}
