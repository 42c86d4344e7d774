// ambit inside an application, for tests: the library in this process, the daemon in its own, on a machine of its own.
import { type Ambit, type AmbitOptions, openLibrary } from "../../src/library/library.ts";
import { root } from "../e2e/ambit.ts";
import { World } from "../state/world.ts";

export interface LibraryWorld {
  readonly world: World;
  open(options?: AmbitOptions): Promise<Ambit>;
  remove(): Promise<void>;
}

/** Records by id; each may have further lines in its front matter. */
export async function libraryWorld(
  agents: Readonly<Record<string, readonly string[] | { readonly grants: readonly string[]; readonly more: string }>>,
): Promise<LibraryWorld> {
  const world = await World.make();
  for (const [id, record] of Object.entries(agents))
    if ("grants" in record) world.agent(id, record.grants, record.more);
    else world.agent(id, record);
  await world.begin();
  const opened: Ambit[] = [];
  return {
    world,
    open: async (options = {}) => {
      const machine = { program: root, cwd: world.project, environment: world.environment, now: () => Date.now() };
      const ambit = await openLibrary(machine, options);
      opened.push(ambit);
      return ambit;
    },
    remove: async () => {
      for (const ambit of opened) await ambit.close();
      await world.remove();
    },
  };
}
